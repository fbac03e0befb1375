/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtidectl: arenas of guest memory whose contents the host hears about.
 *
 * Every function that can fail returns 0 or a negative errno; the context then
 * holds one sentence that names what was wrong and the next thing to do, see
 * tide_ctx_error(). The library never prints, never exits, keeps no global
 * state and restarts calls that a signal interrupted.
 *
 * Sizes and offsets are bytes; those of ranges are multiples of the extent
 * size that tide_info() gives. TIDE_* constants, struct tide_info, struct
 * tide_range and struct tide_query are those of <linux/tide.h>.
 *
 * Threads: all functions may be called on one context or arena at the same
 * time. The error text is one per context: threads that each want their own
 * make a context each.
 */
#ifndef TIDECTL_LIBTIDECTL_H
#define TIDECTL_LIBTIDECTL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/tide.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tide_ctx;
struct tide_arena;

/**
 * tide_ctx_new - make a context
 * @ctx: out: the context, one reference; drop it with tide_ctx_unref()
 *
 * Opens nothing: /dev/tide is opened by the first call that needs it.
 *
 * Returns 0 or -ENOMEM.
 * Since: 0.1
 */
int tide_ctx_new(struct tide_ctx **ctx);

/**
 * tide_ctx_ref, tide_ctx_unref - take and drop a reference
 * @ctx: the context; NULL is passed over
 *
 * An arena keeps its context alive. Both return what the caller may still use:
 * tide_ctx_ref() @ctx, tide_ctx_unref() NULL.
 * Since: 0.1
 */
struct tide_ctx *tide_ctx_ref(struct tide_ctx *ctx);
struct tide_ctx *tide_ctx_unref(struct tide_ctx *ctx);

/**
 * tide_ctx_set_device - use another device node than /dev/tide
 * @ctx: the context
 * @path: copied
 *
 * Returns 0, -EBUSY once the device was opened, or -ENOMEM.
 * Since: 0.1
 */
int tide_ctx_set_device(struct tide_ctx *ctx, const char *path);

/**
 * tide_ctx_set_root - look for dev, sys and proc below a folder
 * @ctx: the context
 * @root: copied; "" is the system's own root
 *
 * Returns 0, -EBUSY once the device was opened, or -ENOMEM.
 * Since: 0.1
 */
int tide_ctx_set_root(struct tide_ctx *ctx, const char *root);

/**
 * tide_ctx_error - what the last failed call of the context was about
 * @ctx: the context
 * @buf: out: one line without a newline, NUL-terminated; empty if none failed
 * @size: of @buf, at least 1; 256 holds every message
 *
 * Since: 0.1
 */
void tide_ctx_error(struct tide_ctx *ctx, char *buf, size_t size);

/**
 * tide_info - facts of the device and the pool
 * @ctx: the context
 * @info: out; @size and @flags are filled in for you
 *
 * Returns 0, -ENOENT without module or device, -EACCES, -ENODEV.
 * Since: 0.1
 */
int tide_info(struct tide_ctx *ctx, struct tide_info *info);

/**
 * tide_attr_read - one sysfs attribute of the device
 * @ctx: the context
 * @name: folder and file, such as "tide_pool/backend"
 * @buf: out: the value without its newline
 * @size: of @buf
 *
 * Returns 0; -ENOENT if this module has no such attribute: its value is then
 * unknown, which is not 0; -EOVERFLOW if it does not fit; or what read() said.
 * Since: 0.1
 */
int tide_attr_read(struct tide_ctx *ctx, const char *name, char *buf,
		   size_t size);

/**
 * tide_attr_u64 - one sysfs attribute that is a number
 * @ctx: the context
 * @name: as tide_attr_read()
 * @value: out
 *
 * Returns as tide_attr_read(), or -EINVAL if it is not a number.
 * Since: 0.1
 */
int tide_attr_u64(struct tide_ctx *ctx, const char *name, uint64_t *value);

/**
 * tide_arena_create - make an arena
 * @ctx: the context
 * @name: for people, shorter than TIDE_NAME_LEN; may be NULL
 * @max_bytes: size of the offset space; 0 means the pool's size
 * @flags: must be 0
 * @arena: out: one reference; drop it with tide_arena_unref()
 *
 * Commits no memory.
 *
 * Returns 0, -EINVAL, -ENAMETOOLONG, -ENOMEM, or as tide_info().
 * Since: 0.1
 */
int tide_arena_create(struct tide_ctx *ctx, const char *name,
		      uint64_t max_bytes, uint32_t flags,
		      struct tide_arena **arena);

/**
 * tide_arena_from_fd - handle for an arena that is open already
 * @ctx: the context
 * @fd: its descriptor; it stays the caller's, the handle has a duplicate
 * @arena: out: one reference
 *
 * Returns 0, -EBADF, or -ENOTTY if @fd is not an arena.
 * Since: 0.1
 */
int tide_arena_from_fd(struct tide_ctx *ctx, int fd,
		       struct tide_arena **arena);

/**
 * tide_arena_from_pid - handle for an arena of another process
 * @ctx: the context
 * @pid: the process
 * @fd: number of the descriptor there
 * @arena: out: one reference; it keeps the arena's memory alive
 *
 * Needs the right to trace the process.
 *
 * Returns 0, -ESRCH, -EBADF, -EPERM, -ENOTTY if that is not an arena.
 * Since: 0.1
 */
int tide_arena_from_pid(struct tide_ctx *ctx, pid_t pid, int fd,
			struct tide_arena **arena);

/**
 * tide_arena_ref, tide_arena_unref - take and drop a reference
 * @arena: the arena; NULL is passed over
 *
 * With the last reference the mapping goes and the descriptor is closed; if
 * nobody else has the arena open or mapped, its memory is the host's again.
 * Since: 0.1
 */
struct tide_arena *tide_arena_ref(struct tide_arena *arena);
struct tide_arena *tide_arena_unref(struct tide_arena *arena);

/**
 * tide_arena_fd - the descriptor, for poll() or to pass on
 * @arena: the arena
 *
 * It belongs to the handle: do not close it.
 * Since: 0.1
 */
int tide_arena_fd(const struct tide_arena *arena);

/**
 * tide_arena_map - map the whole offset space
 * @arena: the arena
 * @base: out: address of offset 0, aligned to the extent size
 *
 * The first call maps, later ones give the same address. Touching an offset
 * that is not committed raises SIGBUS. The mapping lives as long as the handle.
 *
 * Returns 0 or what mmap() said.
 * Since: 0.1
 */
int tide_arena_map(struct tide_arena *arena, void **base);

/**
 * tide_arena_alloc - commit extents
 * @arena: the arena
 * @offset: start of the range
 * @len: its length
 * @flags: TIDE_ALLOC_PARTIAL: take what can be had, from @offset on
 * @got: out: bytes committed; may be NULL without TIDE_ALLOC_PARTIAL
 *
 * Committed memory reads as zero.
 *
 * Returns 0, -EINVAL, -ERANGE, -EEXIST, -ENOMEM, -ENODEV.
 * Since: 0.1
 */
int tide_arena_alloc(struct tide_arena *arena, uint64_t offset, uint64_t len,
		     uint32_t flags, uint64_t *got);

/**
 * tide_arena_free - take extents away
 * @arena: the arena
 * @offset: start of the range; holes in it are passed over
 * @len: its length
 * @freed: out: bytes that were committed; may be NULL
 *
 * Returns 0, -EINVAL, -ERANGE, -ENODEV.
 * Since: 0.1
 */
int tide_arena_free(struct tide_arena *arena, uint64_t offset, uint64_t len,
		    uint64_t *freed);

/**
 * tide_arena_report - tell the host what the contents of ranges mean
 * @arena: the arena
 * @ranges: offset, len and intent of each; out: status, done and result
 * @n: how many; more than TIDE_REPORT_MAX_RANGES go in several calls
 * @flags: TIDE_REPORT_NOWAIT: do not wait for the host's answers
 *
 * Returns 0 once every range was answered, whatever the answers: look at
 * each @status. Else -EINVAL, -ERANGE, -ENXIO if part of a range is not
 * committed, -ENODEV. On failure the ranges of earlier calls are answered,
 * the status of the others is TIDE_STATUS_PENDING.
 * Since: 0.1
 */
int tide_arena_report(struct tide_arena *arena, struct tide_range *ranges,
		      size_t n, uint32_t flags);

/**
 * tide_arena_report_one - tide_arena_report() for a single range
 * @arena: the arena
 * @offset: start of the range
 * @len: its length
 * @intent: TIDE_INTENT_*
 * @flags: as tide_arena_report()
 * @answer: out: the answered range; may be NULL
 *
 * Returns as tide_arena_report().
 * Since: 0.1
 */
int tide_arena_report_one(struct tide_arena *arena, uint64_t offset,
			  uint64_t len, uint32_t intent, uint32_t flags,
			  struct tide_range *answer);

/**
 * tide_arena_report_committed - report all that is committed in a range
 * @arena: the arena
 * @offset: start of the range
 * @len: its length; 0 means up to the end of the arena
 * @intent: TIDE_INTENT_*
 * @total: out: len and done summed up, the first status that was not OK, the
 *         result bits that all answers share
 *
 * Finds the committed runs by asking, so it costs calls where there are holes.
 *
 * Returns as tide_arena_report(), but never -ENXIO.
 * Since: 0.1
 */
int tide_arena_report_committed(struct tide_arena *arena, uint64_t offset,
				uint64_t len, uint32_t intent,
				struct tide_range *total);

/**
 * tide_arena_query - what the module knows of the arena
 * @arena: the arena
 * @query: out; @size and @flags are filled in for you
 *
 * Since: 0.1
 */
int tide_arena_query(struct tide_arena *arena, struct tide_query *query);

/**
 * struct tide_arena_entry - an arena as its owner's fdinfo shows it
 * @fd: number of the descriptor in that process
 * @id: number of the arena
 * @max_bytes: size of its offset space
 * @committed_bytes: owned by it now
 * @in_flight_bytes: of those, being acted on by the host now
 * @reports: ranges reported so far
 * @reported_bytes: bytes of those
 * @acted_bytes: bytes that the host said it acted on
 * @name: as created
 *
 * Only the library makes these; later versions may add members at the end.
 */
struct tide_arena_entry {
	int fd;
	uint64_t id;
	uint64_t max_bytes;
	uint64_t committed_bytes;
	uint64_t in_flight_bytes;
	uint64_t reports;
	uint64_t reported_bytes;
	uint64_t acted_bytes;
	char name[TIDE_NAME_LEN];
};

/**
 * tide_arena_foreach - the arenas that a process has open
 * @ctx: the context
 * @pid: the process
 * @fn: called for each; a value other than 0 ends the walk and is returned
 * @data: handed to @fn
 *
 * An arena that is open twice comes twice, with the same @id.
 *
 * Returns 0, what @fn said, -ESRCH or -EPERM.
 * Since: 0.1
 */
int tide_arena_foreach(struct tide_ctx *ctx, pid_t pid,
		       int (*fn)(const struct tide_arena_entry *entry,
				 void *data),
		       void *data);

/**
 * tide_intent_name, tide_status_name, tide_backend_name, tide_state_name -
 * words for the numbers of <linux/tide.h>
 *
 * Static strings; "unknown" for a number that this library does not know.
 * Since: 0.1
 */
const char *tide_intent_name(uint32_t intent);
const char *tide_status_name(uint32_t status);
const char *tide_backend_name(uint32_t backend);
const char *tide_state_name(uint32_t device_state);

/**
 * tide_intent_parse - the number of an intent's name
 * @name: "discard", "lazy", "cold", "pageout" or "willneed"
 *
 * Returns TIDE_INTENT_* or -EINVAL.
 * Since: 0.1
 */
int tide_intent_parse(const char *name);

#ifdef __cplusplus
}
#endif

#endif /* TIDECTL_LIBTIDECTL_H */
