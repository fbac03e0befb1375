// SPDX-License-Identifier: GPL-2.0-or-later
/* The replay engine, see replay.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "pattern.h"
#include "replay.h"
#include "units.h"

/* Growth up to this is checked for zero word by word, else page by page. */
#define CHECK_ALL_BYTES	(16ull << 20)
#define PAGE_WORDS	512
/* Growth is committed in turns of this. */
#define GROW_BYTES	(16ull << 20)
#define TICK_US		250000

/* One side: what it uses of its area, and the pattern's seed by extent. */
struct side {
	struct replay_area area;
	uint64_t used;
	uint64_t *seed;
};

struct replay {
	const struct trajectory *traj;
	const struct replay_opts *opts;
	struct replay_result *res;
	struct replay_mem mem;
	struct side harness, tool;
	uint64_t next_seed;
	bool paged_out;		/* the harness, in the wait that runs */
	uint64_t live;
	uint64_t start_us;
	uint64_t shift_us;	/* how far the schedule has moved by now */
};

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + EXTENT - 1) / EXTENT * EXTENT;
}

/* ---- Clock ---- */

static uint64_t scaled_us(const struct replay *r, uint64_t t_ms)
{
	return t_ms * 1000.0 / r->opts->speed;
}

static void show_progress(const struct replay *r, uint64_t t_ms)
{
	struct replay_progress progress = {
		.t_ms = t_ms,
		.duration_ms = r->traj->duration_ms,
		.live_bytes = r->live,
		.verified_bytes = r->res->verified_bytes,
	};

	if (r->opts->progress)
		r->opts->progress(r->opts->progress_data, &progress);
}

/* Sleeps up to the moment of the recording; if it has passed, all shifts. */
static void wait_for(struct replay *r, uint64_t t_ms)
{
	uint64_t due = r->start_us + scaled_us(r, t_ms) + r->shift_us;
	uint64_t now = clock_us();

	if (now > due)
		r->shift_us += now - due;
	while (now < due) {
		uint64_t us = due - now < TICK_US ? due - now : TICK_US;
		struct timespec ts = { .tv_nsec = us * 1000 };

		show_progress(r, t_ms - (due - now) / 1000.0 * r->opts->speed);
		nanosleep(&ts, NULL);
		now = clock_us();
	}
	show_progress(r, t_ms);
}

static void stop_clock(struct replay *r, uint64_t since_us)
{
	uint64_t us = clock_us() - since_us;

	r->res->verify_us += us;
	r->shift_us += us;
}

/* ---- Memory ---- */

static void verify(struct replay *r, struct side *side, uint64_t start)
{
	uint64_t begin = clock_us();

	for (uint64_t o = start; o < side->used; o += EXTENT)
		r->res->changed_bytes += pattern_verify(side->area.base + o,
							EXTENT,
							side->seed[o / EXTENT]);
	r->res->verified_bytes += side->used - start;
	stop_clock(r, begin);
}

/* Memory that is said to be zero: is it? */
static void check_zero(struct replay *r, struct side *side, uint64_t offset,
		       size_t step_words)
{
	uint64_t begin = clock_us();

	r->res->not_zero_bytes += pattern_count_nonzero(side->area.base + offset,
							EXTENT, step_words);
	r->res->verified_bytes += EXTENT / step_words;
	stop_clock(r, begin);
}

static void write_extent(struct replay *r, struct side *side, uint64_t offset,
			 size_t step_words)
{
	unsigned char *block = side->area.base + offset;
	uint64_t seed = ++r->next_seed * 0xd1342543de82ef95ull;

	/* First a write, see pattern_count_nonzero(). */
	*(volatile uint64_t *)block = seed;
	if (side->area.reads_zero[offset / EXTENT])
		check_zero(r, side, offset, step_words);
	pattern_fill(block, EXTENT, seed);
	side->seed[offset / EXTENT] = seed;
	side->area.reads_zero[offset / EXTENT] = false;
}

/*
 * Commits and writes by turns, as programs do: memory asked for long before it
 * is written would be alive by the recording and nowhere on the host.
 */
static int grow(struct replay *r, struct side *side, uint64_t end)
{
	uint64_t growth = end > side->used ? end - side->used : 0;
	size_t words = growth <= CHECK_ALL_BYTES ? 1 : PAGE_WORDS;

	while (side->used < end) {
		uint64_t turn = side->used + GROW_BYTES;
		int rc = 0;

		if (turn > end)
			turn = end;
		if (turn > side->area.committed)
			rc = r->mem.ops->commit(&r->mem, &side->area, turn);
		if (rc)
			return rc;
		for (; side->used < turn; side->used += EXTENT)
			write_extent(r, side, side->used, words);
	}
	r->res->asked_bytes += growth;
	return 0;
}

/* A harness that shrinks frees the memory, which was to survive up to here. */
static int shrink_harness(struct replay *r, uint64_t end)
{
	struct side *side = &r->harness;

	if (end >= side->used)
		return 0;
	verify(r, side, end);
	side->used = end;
	return r->mem.ops->release(&r->mem, &side->area, end);
}

/* A tool's memory dies, but stays at hand for the next tool. */
static int shrink_tool(struct replay *r, uint64_t end)
{
	struct side *side = &r->tool;
	uint64_t used = side->used;

	if (end >= used)
		return 0;
	side->used = end;
	return r->mem.ops->dead(&r->mem, &side->area, end, used);
}

static int tell_host(struct replay *r, uint32_t intent)
{
	if (!r->mem.ops->intent || !r->harness.used)
		return 0;
	return r->mem.ops->intent(&r->mem, &r->harness.area, r->harness.used,
				  intent);
}

/* ---- Events ---- */

static int write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		len -= n;
	}
	return 0;
}

/* One write() a line: whoever correlates goes by when it arrives. */
static int emit(struct replay *r, const struct traj_event *ev)
{
	char line[192];
	int n, rc;

	if (r->opts->events_fd < 0)
		return 0;
	n = snprintf(line, sizeof(line),
		     "{\"t_ms\":%" PRIu64 ",\"event\":\"%s\",\"live_bytes\":%" PRIu64 ",\"mono_us\":%" PRIu64 "}\n",
		     ev->t_ms, traj_type_name(ev->type),
		     ev->harness + ev->tool, clock_us());
	rc = write_all(r->opts->events_fd, line, n);
	if (rc)
		snprintf(r->mem.err, sizeof(r->mem.err),
			 "writing events: %s", strerror(-rc));
	return rc;
}

/* What belongs to the end of a phase, before anything changes. */
static int end_phase(struct replay *r, const struct traj_event *ev)
{
	int rc = 0;

	if (ev->type != TRAJ_TOOL_START && ev->type != TRAJ_TOOL_END &&
	    ev->type != TRAJ_END)
		return 0;
	if (ev->type == TRAJ_TOOL_START && r->paged_out)
		rc = tell_host(r, TIDE_INTENT_WILLNEED);
	r->paged_out = false;
	verify(r, &r->harness, 0);
	return rc;
}

/* Shrinks before it grows, so that the pool never has to hold both. */
static int apply_levels(struct replay *r, const struct traj_event *ev)
{
	uint64_t harness = round_up(ev->harness), tool = round_up(ev->tool);
	int rc;

	rc = shrink_tool(r, tool);
	if (!rc)
		rc = shrink_harness(r, harness);
	if (!rc)
		rc = grow(r, &r->harness, harness);
	if (!rc)
		rc = grow(r, &r->tool, tool);
	return rc;
}

static int begin_wait(struct replay *r)
{
	if (!r->opts->idle_intent)
		return 0;
	r->paged_out = r->opts->idle_intent == TIDE_INTENT_PAGEOUT;
	return tell_host(r, r->opts->idle_intent);
}

static int step(struct replay *r, const struct traj_event *ev)
{
	int rc;

	wait_for(r, ev->t_ms);
	rc = end_phase(r, ev);
	if (rc)
		return rc;
	r->live = ev->harness + ev->tool;
	rc = emit(r, ev);
	if (!rc)
		rc = apply_levels(r, ev);
	if (!rc && ev->type == TRAJ_TOOL_END)
		rc = begin_wait(r);
	return rc;
}

/*
 * Discarded memory is checked when a tool writes it again; what none did is
 * read here, where the reading can disturb no measurement any more.
 */
static void check_left_over(struct replay *r)
{
	struct side *side = &r->tool;

	for (uint64_t o = side->used; o < side->area.committed; o += EXTENT)
		if (side->area.reads_zero[o / EXTENT])
			check_zero(r, side, o, PAGE_WORDS);
}

/* ---- The whole ---- */

static int open_side(struct replay *r, struct side *side, const char *name,
		     uint64_t peak)
{
	int rc = replay_area_open(&r->mem, &side->area, name, peak);

	if (rc)
		return rc;
	side->seed = calloc(side->area.max / EXTENT, sizeof(*side->seed));
	if (!side->seed) {
		snprintf(r->mem.err, sizeof(r->mem.err), "out of memory");
		replay_area_close(&r->mem, &side->area);
		return -ENOMEM;
	}
	return 0;
}

static void close_side(struct replay *r, struct side *side)
{
	replay_area_close(&r->mem, &side->area);
	free(side->seed);
}

static int run_events(struct replay *r)
{
	int rc = 0;

	r->start_us = clock_us();
	for (size_t i = 0; !rc && i < r->traj->nr_events; i++)
		rc = step(r, &r->traj->events[i]);
	if (!rc) {
		r->res->completed = true;
		check_left_over(r);
	}
	r->res->actual_us = clock_us() - r->start_us;
	return rc;
}

static int run_sides(struct replay *r)
{
	int rc;

	rc = open_side(r, &r->harness, "harness", r->traj->harness_peak);
	if (rc)
		return rc;
	rc = open_side(r, &r->tool, "tool", r->traj->tool_peak);
	if (rc)
		goto out_harness;
	rc = run_events(r);
	close_side(r, &r->tool);
out_harness:
	close_side(r, &r->harness);
	return rc;
}

/* A run that went to its end may still have found something wrong. */
static int judge(struct replay_result *res)
{
	uint64_t wrong = res->changed_bytes + res->not_zero_bytes;

	if (wrong)
		snprintf(res->err, sizeof(res->err),
			 "%" PRIu64 " wrong bytes: %" PRIu64 " changed, %" PRIu64 " not zero",
			 wrong, res->changed_bytes, res->not_zero_bytes);
	return wrong ? -EILSEQ : res->errors ? -EIO : 0;
}

int replay_run(struct tide_ctx *ctx, const struct trajectory *traj,
	       const struct replay_opts *opts, struct replay_result *res)
{
	struct replay r = {
		.traj = traj,
		.opts = opts,
		.res = res,
		.mem = { .ops = opts->ops, .ctx = ctx },
	};
	int rc;

	memset(res, 0, sizeof(*res));
	res->nominal_us = scaled_us(&r, traj->duration_ms);
	rc = run_sides(&r);
	res->reports = r.mem.reports;
	res->errors = r.mem.reports.failed + (rc != 0);
	memcpy(res->err, r.mem.err, sizeof(res->err));
	return rc ? rc : judge(res);
}

int replay_check_fit(struct tide_ctx *ctx, const struct trajectory *traj,
		     double scale, const struct replay_mem_ops *ops, char *err,
		     size_t err_size)
{
	struct replay_mem mem = { .ops = ops, .ctx = ctx };
	uint64_t need = trajectory_need(traj, EXTENT);
	uint64_t have = ops->capacity(&mem);
	char need_text[16], have_text[16];

	if (need <= have)
		return 0;
	units_format_bytes(need_text, sizeof(need_text), need);
	units_format_bytes(have_text, sizeof(have_text), have);
	/* A tenth less than fits, since each level is rounded up to extents. */
	snprintf(err, err_size,
		 "%s needs %s at scale %g, but %s has %s free: use --scale=%.2g or less, or give it more memory",
		 traj->name, need_text, scale,
		 ops == &replay_mem_tide ? "the pool" : "this machine",
		 have_text, 0.9 * scale * have / need);
	return -ENOSPC;
}

void replay_result_free(struct replay_result *result)
{
	free(result->reports.latency_us);
	result->reports.latency_us = NULL;
}
