/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Tide: contract between user space and the guest module.
 *
 * THEORY OF OPERATION
 *
 * Memory is owned, reported and accounted in extents of @extent_size bytes
 * (2 MiB), aligned in guest-physical memory and on the host. An arena is a
 * file descriptor, made by TIDE_IOC_ARENA_CREATE on /dev/tide, that exclusively
 * owns a sparse set of extents. Offsets within an arena run from 0 to its
 * @max_bytes; TIDE_IOC_ALLOC commits extents to offsets, TIDE_IOC_FREE takes
 * them away. mmap(MAP_SHARED) of the arena shows the committed extents;
 * touching an offset that is not committed raises SIGBUS. Committed memory is
 * really there: it never fails later. It reads as zero when handed out.
 *
 * TIDE_IOC_REPORT tells the host what the contents of a range mean: dead, idle,
 * or coming back. It changes nothing of who owns the range.
 *
 * The arena dies with its last reference (close, mappings, passed fds), however
 * its owner dies; then the host gets all its memory back.
 *
 * RULES
 *
 * Every ioctl takes a pointer to a struct that starts with @size, its size in
 * bytes as the caller knows it, and @flags. Numbers are made with _IO(), so
 * that a struct may grow without changing its number: the kernel accepts
 * shorter structs from older callers, and longer ones whose unknown tail is
 * zero. Offsets and lengths are bytes and multiples of the extent size.
 *
 * ERRNO
 *
 * EINVAL      understood and wrong: unaligned, zero or wrapping range, unknown
 *             flag or intent, reserved or output field not zero, size too short
 * E2BIG       the struct is longer than this kernel knows, and says something
 * ENOTTY      unknown ioctl, or one that this kind of fd does not have
 * ERANGE      the range ends beyond the arena's max_bytes
 * ENXIO       the range holds an offset that is not committed
 * EEXIST      the range holds an offset that is committed already
 * ENOMEM      the pool cannot give that many extents now (see PARTIAL)
 * ENODEV      the device is gone
 * EINTR       a signal came first; no result is lost, ask again
 * EFAULT      a pointer leads nowhere
 */
#ifndef _UAPI_LINUX_TIDE_H
#define _UAPI_LINUX_TIDE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TIDE_IOC_MAGIC		0xBB

/* On /dev/tide. */
#define TIDE_IOC_INFO		_IO(TIDE_IOC_MAGIC, 0x00)
#define TIDE_IOC_ARENA_CREATE	_IO(TIDE_IOC_MAGIC, 0x01)
/* On an arena. */
#define TIDE_IOC_ALLOC		_IO(TIDE_IOC_MAGIC, 0x10)
#define TIDE_IOC_FREE		_IO(TIDE_IOC_MAGIC, 0x11)
#define TIDE_IOC_REPORT		_IO(TIDE_IOC_MAGIC, 0x12)
#define TIDE_IOC_QUERY		_IO(TIDE_IOC_MAGIC, 0x13)

/*
 * Intents.
 *
 * DISCARD       contents are dead: give the memory back now. Reads as zero or
 *               as before until written again; zero once the report is done
 *               with TIDE_RESULT_ZEROED.
 * DISCARD_LAZY  contents are dead: give it back when the host is pressed.
 * COLD          contents survive; not used for some time.
 * PAGEOUT       contents survive; not used for long (ten seconds or more).
 * WILLNEED      contents survive; used soon, bring them back.
 */
#define TIDE_INTENT_DISCARD		1
#define TIDE_INTENT_DISCARD_LAZY	2
#define TIDE_INTENT_COLD		3
#define TIDE_INTENT_PAGEOUT		4
#define TIDE_INTENT_WILLNEED		5

/* struct tide_info.backend */
#define TIDE_BACKEND_CONTIG		1	/* alloc_contig_range windows */
#define TIDE_BACKEND_CMA		2	/* a CMA area */

/* struct tide_info.device_state */
#define TIDE_DEVICE_OK			0	/* reports reach the host */
#define TIDE_DEVICE_INHIBITED		1	/* the VMM forbids discards now */
#define TIDE_DEVICE_DEGRADED		2	/* does not answer: guest only */

/**
 * struct tide_info - TIDE_IOC_INFO
 * @size: sizeof(struct tide_info)
 * @flags: must be zero
 * @features: out: zero; bits for what later versions add
 * @extent_size: out: bytes
 * @pool_bytes: out: most that may be carved
 * @carved_bytes: out: carved from the guest now, owned or not
 * @owned_bytes: out: owned by arenas now
 * @backend: out: TIDE_BACKEND_*
 * @device_state: out: TIDE_DEVICE_*
 * @intents: out: bit (1 << intent): the device takes it
 * @reserved: must be zero
 */
struct tide_info {
	__u32 size;
	__u32 flags;
	__u64 features;
	__u64 extent_size;
	__u64 pool_bytes;
	__u64 carved_bytes;
	__u64 owned_bytes;
	__u32 backend;
	__u32 device_state;
	__u32 intents;
	__u32 reserved;
};

#define TIDE_NAME_LEN		32

/**
 * struct tide_arena_create - TIDE_IOC_ARENA_CREATE
 * @size: sizeof(struct tide_arena_create)
 * @flags: must be zero
 * @max_bytes: size of the offset space, a multiple of the extent size;
 *             0 means the pool's size. Commits nothing.
 * @name: for people, NUL-terminated; may be empty
 * @fd: out: the arena, with O_CLOEXEC; must be zero on entry
 * @reserved: must be zero
 */
struct tide_arena_create {
	__u32 size;
	__u32 flags;
	__u64 max_bytes;
	char name[TIDE_NAME_LEN];
	__s32 fd;
	__u32 reserved;
};

/* Commit what can be had, from the start of the range, instead of ENOMEM. */
#define TIDE_ALLOC_PARTIAL	(1u << 0)

/**
 * struct tide_alloc - TIDE_IOC_ALLOC
 * @size: sizeof(struct tide_alloc)
 * @flags: TIDE_ALLOC_*
 * @offset: start of the range to commit
 * @len: its length
 * @allocated: out: bytes committed, from @offset; must be zero on entry.
 *             Less than @len only with TIDE_ALLOC_PARTIAL, then may be zero.
 */
struct tide_alloc {
	__u32 size;
	__u32 flags;
	__u64 offset;
	__u64 len;
	__u64 allocated;
};

/**
 * struct tide_free - TIDE_IOC_FREE
 * @size: sizeof(struct tide_free)
 * @flags: must be zero
 * @offset: start of the range to take away; holes in it are passed over
 * @len: its length
 * @freed: out: bytes that were committed; must be zero on entry
 *
 * Mappings of the range are removed first; then the host gets the memory back.
 * It returns without waiting for the host.
 */
struct tide_free {
	__u32 size;
	__u32 flags;
	__u64 offset;
	__u64 len;
	__u64 freed;
};

/*
 * What became of a range. PENDING: not waited for, see TIDE_REPORT_NOWAIT.
 * The others as TIDE_PCI_ST_* in tide_pci.h; NO_ANSWER: the device was reset
 * before it answered, so that nothing is known.
 */
#define TIDE_STATUS_OK			0
#define TIDE_STATUS_INVALID		1
#define TIDE_STATUS_RANGE		2
#define TIDE_STATUS_UNSUPPORTED		3
#define TIDE_STATUS_INHIBITED		4
#define TIDE_STATUS_BUSY		5
#define TIDE_STATUS_IO			6
#define TIDE_STATUS_PENDING		64
#define TIDE_STATUS_NO_ANSWER		65

#define TIDE_RESULT_ZEROED		(1u << 0)	/* all of it reads as zero */
#define TIDE_RESULT_DOWNGRADED		(1u << 2)	/* a weaker action was taken */

/**
 * struct tide_range - one report
 * @offset: start, bytes in the arena
 * @len: length in bytes
 * @intent: TIDE_INTENT_*
 * @status: out: TIDE_STATUS_*, the first that was not OK; zero on entry
 * @done: out: bytes that the host acted on; zero on entry
 * @result: out: TIDE_RESULT_*; zero on entry
 * @reserved: must be zero
 */
struct tide_range {
	__u64 offset;
	__u64 len;
	__u32 intent;
	__u32 status;
	__u64 done;
	__u32 result;
	__u32 reserved;
};

/* Return once the host has been told; the outcome shows in the counters. */
#define TIDE_REPORT_NOWAIT	(1u << 0)

#define TIDE_REPORT_MAX_RANGES	1024

/**
 * struct tide_report - TIDE_IOC_REPORT
 * @size: sizeof(struct tide_report)
 * @flags: TIDE_REPORT_*
 * @ranges: pointer to @nr_ranges of struct tide_range
 * @nr_ranges: 1 to TIDE_REPORT_MAX_RANGES
 * @reserved: must be zero
 *
 * All ranges are checked before any is sent; ranges of one vector must not
 * overlap. One doorbell for the vector. A range still in flight from an
 * earlier report is waited for first. Returns 0 when every range was answered,
 * whatever the answers: look at each @status.
 */
struct tide_report {
	__u32 size;
	__u32 flags;
	__u64 ranges;
	__u32 nr_ranges;
	__u32 reserved;
};

/**
 * struct tide_query - TIDE_IOC_QUERY
 * @size: sizeof(struct tide_query)
 * @flags: must be zero
 * @id: out: number of the arena, never reused while the module is loaded
 * @max_bytes: out: as created
 * @committed_bytes: out: owned by the arena now
 * @in_flight_bytes: out: of those, being acted on by the host now
 * @reports: out: ranges reported so far
 * @reported_bytes: out: bytes of those
 * @acted_bytes: out: bytes that the host said it acted on
 * @failed_reports: out: ranges with a status other than OK
 * @name: out: as created
 */
struct tide_query {
	__u32 size;
	__u32 flags;
	__u64 id;
	__u64 max_bytes;
	__u64 committed_bytes;
	__u64 in_flight_bytes;
	__u64 reports;
	__u64 reported_bytes;
	__u64 acted_bytes;
	__u64 failed_reports;
	char name[TIDE_NAME_LEN];
};

#endif /* _UAPI_LINUX_TIDE_H */
