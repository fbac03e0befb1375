// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is done to ranges of an arena: commit, take away, report. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "private.h"

/* EINVAL says that something is wrong; find out what, for the message. */
static int fail_einval(struct tide_ctx *ctx, const char *what, uint64_t offset,
		       uint64_t len)
{
	if (offset % TIDE_EXTENT_SIZE)
		return tide_fail(ctx, -EINVAL,
				 "%s: offset %" PRIu64 " is not a multiple of the extent size %llu",
				 what, offset, TIDE_EXTENT_SIZE);
	if (len == 0)
		return tide_fail(ctx, -EINVAL, "%s: length is 0", what);
	if (len % TIDE_EXTENT_SIZE)
		return tide_fail(ctx, -EINVAL,
				 "%s: length %" PRIu64 " is not a multiple of the extent size %llu",
				 what, len, TIDE_EXTENT_SIZE);
	if (offset + len < offset)
		return tide_fail(ctx, -EINVAL,
				 "%s: offset %" PRIu64 " + length %" PRIu64 " overflows",
				 what, offset, len);
	return tide_fail(ctx, -EINVAL,
			 "%s: the module does not take it (unknown flag or intent, or ranges that overlap)",
			 what);
}

/* One sentence for each code of the ABI's errno dictionary. */
static int fail_range(struct tide_arena *arena, int rc, const char *what,
		      uint64_t offset, uint64_t len)
{
	struct tide_ctx *ctx = arena->ctx;

	switch (rc) {
	case -EINVAL:
		return fail_einval(ctx, what, offset, len);
	case -ERANGE:
		return tide_fail(ctx, rc,
				 "%s: offset %" PRIu64 " + length %" PRIu64 " ends beyond the arena's %" PRIu64 " bytes",
				 what, offset, len, arena->max_bytes);
	case -ENXIO:
		return tide_fail(ctx, rc,
				 "%s: offset %" PRIu64 ", length %" PRIu64 ": part of it is not committed",
				 what, offset, len);
	case -EEXIST:
		return tide_fail(ctx, rc,
				 "%s: offset %" PRIu64 ", length %" PRIu64 ": part of it is committed already",
				 what, offset, len);
	case -ENOMEM:
		return tide_fail(ctx, rc,
				 "%s: the pool cannot give %" PRIu64 " bytes now; see tidectl status, or take less (TIDE_ALLOC_PARTIAL)",
				 what, len);
	case -ENODEV:
		return tide_fail(ctx, rc,
				 "%s: the Tide device is gone; look at dmesg",
				 what);
	default:
		return tide_fail(ctx, rc,
				 "%s: offset %" PRIu64 ", length %" PRIu64 ": %s",
				 what, offset, len, strerror(-rc));
	}
}

TIDE_EXPORT int tide_arena_alloc(struct tide_arena *arena, uint64_t offset,
				 uint64_t len, uint32_t flags, uint64_t *got)
{
	struct tide_alloc alloc = {
		.size = sizeof(alloc),
		.flags = flags,
		.offset = offset,
		.len = len,
	};
	int rc;

	if ((flags & TIDE_ALLOC_PARTIAL) && !got)
		return tide_fail(arena->ctx, -EINVAL,
				 "alloc: TIDE_ALLOC_PARTIAL needs a place for how much it got");
	rc = tide_ioctl(arena->ctx, arena->fd, TIDE_IOC_ALLOC, &alloc);
	if (got)
		*got = rc ? 0 : alloc.allocated;
	return rc ? fail_range(arena, rc, "alloc", offset, len) : 0;
}

TIDE_EXPORT int tide_arena_free(struct tide_arena *arena, uint64_t offset,
				uint64_t len, uint64_t *freed)
{
	struct tide_free range = {
		.size = sizeof(range),
		.offset = offset,
		.len = len,
	};
	int rc = tide_ioctl(arena->ctx, arena->fd, TIDE_IOC_FREE, &range);

	if (freed)
		*freed = rc ? 0 : range.freed;
	return rc ? fail_range(arena, rc, "free", offset, len) : 0;
}

static int report_some(struct tide_arena *arena, struct tide_range *ranges,
		       size_t n, uint32_t flags)
{
	struct tide_report report = {
		.size = sizeof(report),
		.flags = flags,
		.ranges = (uintptr_t)ranges,
		.nr_ranges = n,
	};

	return tide_ioctl(arena->ctx, arena->fd, TIDE_IOC_REPORT, &report);
}

/* The out fields must be zero on entry; the caller's may be of an earlier call. */
static void clear_answers(struct tide_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ranges[i].status = 0;
		ranges[i].done = 0;
		ranges[i].result = 0;
		ranges[i].reserved = 0;
	}
}

static void mark_pending(struct tide_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ranges[i].status = TIDE_STATUS_PENDING;
}

/* The kernel does not say which range it refused; name the first suspect. */
static int fail_report(struct tide_arena *arena, int rc,
		       const struct tide_range *ranges, size_t n)
{
	const struct tide_range *bad = ranges;

	for (size_t i = 0; i < n; i++) {
		const struct tide_range *r = &ranges[i];
		uint64_t end = r->offset + r->len;

		if (r->offset % TIDE_EXTENT_SIZE || r->len % TIDE_EXTENT_SIZE ||
		    r->len == 0 || end < r->offset || end > arena->max_bytes) {
			bad = r;
			break;
		}
	}
	return fail_range(arena, rc, "report", bad->offset, bad->len);
}

TIDE_EXPORT int tide_arena_report(struct tide_arena *arena,
				  struct tide_range *ranges, size_t n,
				  uint32_t flags)
{
	if (n == 0)
		return tide_fail(arena->ctx, -EINVAL, "report: no ranges");
	clear_answers(ranges, n);
	for (size_t i = 0; i < n; i += TIDE_REPORT_MAX_RANGES) {
		size_t some = n - i;
		int rc;

		if (some > TIDE_REPORT_MAX_RANGES)
			some = TIDE_REPORT_MAX_RANGES;
		rc = report_some(arena, ranges + i, some, flags);
		if (rc) {
			mark_pending(ranges + i, n - i);
			return fail_report(arena, rc, ranges + i, some);
		}
	}
	return 0;
}

TIDE_EXPORT int tide_arena_report_one(struct tide_arena *arena, uint64_t offset,
				      uint64_t len, uint32_t intent,
				      uint32_t flags, struct tide_range *answer)
{
	struct tide_range range = {
		.offset = offset,
		.len = len,
		.intent = intent,
	};
	int rc = tide_arena_report(arena, &range, 1, flags);

	if (answer)
		*answer = range;
	return rc;
}

struct committed_walk {
	struct tide_arena *arena;
	struct tide_range *total;
	uint64_t left;		/* committed bytes not met yet */
	bool first;
};

static void add_answer(struct committed_walk *walk,
		       const struct tide_range *answer)
{
	struct tide_range *total = walk->total;

	total->len += answer->len;
	total->done += answer->done;
	if (total->status == TIDE_STATUS_OK)
		total->status = answer->status;
	total->result = walk->first ? answer->result :
				      total->result & answer->result;
	walk->first = false;
	walk->left -= answer->len < walk->left ? answer->len : walk->left;
}

/*
 * Asks for the whole range; where there is a hole in it, for each half. All is
 * checked before anything is sent, so a refused range had no effect.
 */
static int report_halves(struct committed_walk *walk, uint64_t offset,
			 uint64_t len)
{
	struct tide_range range = {
		.offset = offset,
		.len = len,
		.intent = walk->total->intent,
	};
	uint64_t half;
	int rc;

	if (walk->left == 0)
		return 0;
	rc = report_some(walk->arena, &range, 1, 0);
	if (rc == 0) {
		add_answer(walk, &range);
		return 0;
	}
	if (rc != -ENXIO)
		return fail_range(walk->arena, rc, "report", offset, len);
	if (len == TIDE_EXTENT_SIZE)
		return 0;
	half = len / TIDE_EXTENT_SIZE / 2 * TIDE_EXTENT_SIZE;
	rc = report_halves(walk, offset, half);
	return rc ? rc : report_halves(walk, offset + half, len - half);
}

TIDE_EXPORT int tide_arena_report_committed(struct tide_arena *arena,
					    uint64_t offset, uint64_t len,
					    uint32_t intent,
					    struct tide_range *total)
{
	struct committed_walk walk = {
		.arena = arena,
		.total = total,
		.first = true,
	};
	struct tide_query query;
	int rc = tide_arena_query(arena, &query);

	if (rc)
		return rc;
	if (offset > arena->max_bytes)
		return fail_range(arena, -ERANGE, "report", offset, len);
	if (len == 0)
		len = arena->max_bytes - offset;
	walk.left = query.committed_bytes;
	memset(total, 0, sizeof(*total));
	total->offset = offset;
	total->intent = intent;
	return report_halves(&walk, offset, len);
}
