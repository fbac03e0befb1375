// SPDX-License-Identifier: GPL-2.0-or-later
/* The replay engine on plain memory and on the fake kernel. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "pattern.h"
#include "replay.h"

#define E FAKE_EXTENT

static struct replay_opts opts;
static struct replay_result res;

/* The engine with its defaults, fast enough for a test. */
static int setup(void **state)
{
	opts = (struct replay_opts){
		.ops = &replay_mem_tide,
		.speed = 1000,
		.idle_intent = TIDE_INTENT_COLD,
		.events_fd = -1,
	};
	return fake_setup(state);
}

static int teardown(void **state)
{
	replay_result_free(&res);
	return fake_teardown(state);
}

/* Replays data/<name>; the result is in res. */
static int run(const char *name)
{
	struct tide_ctx *ctx = fake_ctx();
	struct trajectory traj;
	char path[256], err[512];
	int rc;

	snprintf(path, sizeof(path), TEST_DATA "/%s", name);
	assert_int_equal(trajectory_load(path, 1, &traj, err, sizeof(err)), 0);
	rc = replay_run(ctx, &traj, &opts, &res);
	trajectory_free(&traj);
	tide_ctx_unref(ctx);
	return rc;
}

static uint64_t wrong(void)
{
	return res.changed_bytes + res.not_zero_bytes;
}

/*
 * spike.traj in extents, harness + tool: 3, 4, [20-4=] 16, 10-4 = 6, tool ends
 * with 6, 3; then 3, 12-3 = 9, ends with 9, 4.
 */
#define SPIKE_GROWTH	((3 + 1 + 16 + 0 + 9 + 1) * E)
/* At each end of a phase 4, 4, 3, 3, 4; and the one that is freed. */
#define SPIKE_VERIFIED	((4 + 4 + 3 + 3 + 4 + 1) * E)

static void plain_memory_survives(void **state)
{
	(void)state;
	opts.ops = &replay_mem_none;
	assert_int_equal(run("spike.traj"), 0);
	assert_true(res.completed);
	assert_int_equal(wrong(), 0);
	assert_int_equal(res.errors, 0);
	assert_int_equal(res.asked_bytes, SPIKE_GROWTH);
	assert_true(res.verified_bytes > SPIKE_VERIFIED);
	assert_int_equal(res.reports.nr_latency, 0);
	assert_int_equal(fake.nr_calls, 0);
}

static void tide_hears_of_dead_and_idle(void **state)
{
	static const struct fake_call expected[] = {
		/* Within the first tool 16 fell to 6 extents; then it ends. */
		{ 2, 6 * E, 10 * E, TIDE_INTENT_DISCARD },
		{ 2, 0, 6 * E, TIDE_INTENT_DISCARD },
		{ 1, 0, 4 * E, TIDE_INTENT_COLD },
		{ 2, 0, 9 * E, TIDE_INTENT_DISCARD },
		{ 1, 0, 3 * E, TIDE_INTENT_COLD },
	};
	const struct replay_reports *r = &res.reports;

	(void)state;
	assert_int_equal(run("spike.traj"), 0);
	assert_int_equal(wrong(), 0);
	assert_int_equal(fake.nr_calls, sizeof(expected) / sizeof(expected[0]));
	assert_memory_equal(fake.calls, expected, sizeof(expected));
	assert_int_equal(r->count[TIDE_INTENT_DISCARD], 3);
	assert_int_equal(r->asked_bytes[TIDE_INTENT_DISCARD], 25 * E);
	assert_int_equal(r->acted_bytes[TIDE_INTENT_DISCARD], 25 * E);
	assert_int_equal(r->count[TIDE_INTENT_COLD], 2);
	assert_int_equal(r->nr_latency, 5);
	assert_int_equal(r->refused + r->failed, 0);
	assert_int_equal(res.asked_bytes, SPIKE_GROWTH);
	/* A tool's extents stay for the next: 16 of them, and 4 at the end. */
	assert_int_equal(fake.owned_bytes, 20 * E);
}

static void paged_out_memory_is_called_back(void **state)
{
	(void)state;
	opts.idle_intent = TIDE_INTENT_PAGEOUT;
	assert_int_equal(run("spike.traj"), 0);
	assert_int_equal(res.reports.count[TIDE_INTENT_PAGEOUT], 2);
	assert_int_equal(res.reports.count[TIDE_INTENT_COLD], 0);
	/* Not before the first tool, which no wait with a report precedes. */
	assert_int_equal(res.reports.count[TIDE_INTENT_WILLNEED], 1);
	assert_int_equal(wrong(), 0);
}

static void nothing_is_said_of_idle_memory_if_told_so(void **state)
{
	(void)state;
	opts.idle_intent = 0;
	assert_int_equal(run("spike.traj"), 0);
	assert_int_equal(res.reports.nr_latency, 3);
}

/* The verification can fail: one flipped bit of the last byte reported. */
static void a_changed_byte_is_found_once(void **state)
{
	(void)state;
	fake.corrupt_on = TIDE_INTENT_COLD;
	assert_int_equal(run("spike.traj"), -EILSEQ);
	assert_true(res.completed);
	/* The first in an extent that is freed before the phase ends. */
	assert_int_equal(res.changed_bytes, 2);
	assert_int_equal(res.not_zero_bytes, 0);
	assert_contains(res.err, "2 changed");
}

static void fresh_memory_must_be_zero(void **state)
{
	(void)state;
	fake.dirty_alloc = true;
	assert_int_equal(run("spike.traj"), -EILSEQ);
	assert_true(res.not_zero_bytes > 0);
	assert_int_equal(res.changed_bytes, 0);
	assert_contains(res.err, "not zero");
}

static void zeroed_must_be_true(void **state)
{
	(void)state;
	fake.lie_zeroed = true;
	assert_int_equal(run("spike.traj"), -EILSEQ);
	/*
	 * Found when the second tool writes its 9 extents, and in the 16 left
	 * over at the end: one word in each 4 KiB.
	 */
	assert_int_equal(res.not_zero_bytes, (9 + 16) * 512 * 8);
}

static void memory_that_is_not_called_zero_need_not_be(void **state)
{
	(void)state;
	fake.not_zeroed = true;
	assert_int_equal(run("spike.traj"), 0);
	assert_int_equal(wrong(), 0);
}

static void a_refusal_is_no_error(void **state)
{
	(void)state;
	fake.status = TIDE_STATUS_INHIBITED;
	assert_int_equal(run("spike.traj"), 0);
	assert_int_equal(res.reports.refused, 5);
	assert_int_equal(res.reports.acted_bytes[TIDE_INTENT_DISCARD], 0);
	assert_int_equal(res.errors, 0);
}

static void a_failed_report_is_an_error(void **state)
{
	(void)state;
	fake.status = TIDE_STATUS_IO;
	assert_int_equal(run("spike.traj"), -EIO);
	assert_true(res.completed);
	assert_int_equal(res.errors, 5);
	assert_contains(res.err, "\"io\" to a");
}

static void an_empty_pool_ends_the_replay(void **state)
{
	(void)state;
	fake.pool_bytes = 8 * E;
	assert_int_equal(run("spike.traj"), -ENOMEM);
	assert_false(res.completed);
	assert_int_equal(res.errors, 1);
	assert_contains(res.err, "the pool cannot give");
}

static void the_fit_is_checked_before(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct trajectory traj;
	char err[512];

	(void)state;
	assert_int_equal(trajectory_load(TEST_DATA "/spike.traj", 1, &traj,
					 err, sizeof(err)), 0);
	fake.pool_bytes = 20 * E;
	assert_int_equal(replay_check_fit(ctx, &traj, 1, &replay_mem_tide, err,
					  sizeof(err)), 0);
	fake.owned_bytes = E;
	assert_int_equal(replay_check_fit(ctx, &traj, 1, &replay_mem_tide, err,
					  sizeof(err)), -ENOSPC);
	assert_contains(err, "needs 40.0 MiB at scale 1, but the pool has 38.0 MiB free: use --scale=0.86 or less");
	assert_int_equal(replay_check_fit(ctx, &traj, 1, &replay_mem_none, err,
					  sizeof(err)), 0);
	fake.owned_bytes = 0;
	trajectory_free(&traj);
	tide_ctx_unref(ctx);
}

static void slow_answers_shift_and_skip_nothing(void **state)
{
	(void)state;
	opts.speed = 100;
	fake.report_delay_us = 20000;
	assert_int_equal(run("spike.traj"), 0);
	assert_int_equal(res.nominal_us, 5000);
	assert_int_equal(fake.nr_calls, 5);
	assert_true(res.actual_us >= 5 * 20000);
	for (size_t i = 0; i < res.reports.nr_latency; i++)
		assert_true(res.reports.latency_us[i] >= 20000);
}

static void time_runs_as_recorded(void **state)
{
	(void)state;
	opts.speed = 1;
	opts.ops = &replay_mem_none;
	assert_int_equal(run("spike.traj"), 0);
	assert_int_equal(res.nominal_us, 500000);
	/* The clock stands while verifying. */
	assert_true(res.actual_us >= res.nominal_us + res.verify_us);
}

static int64_t member(struct json_object *line, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(line, key, &value));
	return json_object_get_int64(value);
}

static void events_are_lines_of_json(void **state)
{
	static const struct {
		const char *event;
		int64_t t_ms, live;
	} expected[] = {
		{ "start", 0, 0 },
		{ "sample", 0, 6291456 },
		{ "sample", 50, 8388608 },
		{ "tool-start", 100, 8388608 },
		{ "sample", 120, 41943040 },
		{ "sample", 170, 20971520 },
		{ "tool-end", 200, 8388608 },
		{ "sample", 210, 6291456 },
		{ "tool-start", 250, 6291456 },
		{ "sample", 300, 25165824 },
		{ "tool-end", 400, 6291456 },
		{ "sample", 450, 8388608 },
		{ "end", 500, 8388608 },
	};
	char text[256];
	FILE *f = tmpfile();
	int64_t last_us = 0;
	size_t n = 0;

	(void)state;
	assert_non_null(f);
	opts.events_fd = fileno(f);
	assert_int_equal(run("spike.traj"), 0);
	rewind(f);
	for (; fgets(text, sizeof(text), f); n++) {
		struct json_object *line = json_tokener_parse(text), *event;

		assert_non_null(line);
		assert_in_range(n, 0, sizeof(expected) / sizeof(expected[0]) - 1);
		assert_true(json_object_object_get_ex(line, "event", &event));
		assert_string_equal(json_object_get_string(event),
				    expected[n].event);
		assert_int_equal(member(line, "t_ms"), expected[n].t_ms);
		assert_int_equal(member(line, "live_bytes"), expected[n].live);
		assert_true(member(line, "mono_us") >= last_us);
		last_us = member(line, "mono_us");
		json_object_put(line);
	}
	assert_int_equal(n, sizeof(expected) / sizeof(expected[0]));
	fclose(f);
}

static void events_nobody_reads_end_the_replay(void **state)
{
	int fds[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	opts.events_fd = fds[1];
	assert_int_equal(run("spike.traj"), -EPIPE);
	assert_contains(res.err, "writing events: Broken pipe");
	close(fds[1]);
}

static void a_device_that_goes_ends_the_replay(void **state)
{
	(void)state;
	fake.ioctl_errno = ENODEV;
	assert_int_equal(run("spike.traj"), -ENODEV);
	assert_contains(res.err, "gone");
}

static void every_wrong_byte_counts(void **state)
{
	static uint64_t block[1024];
	unsigned char *bytes = (unsigned char *)block;
	uint64_t swap;

	(void)state;
	pattern_fill(block, sizeof(block), 42);
	assert_int_equal(pattern_verify(block, sizeof(block), 42), 0);
	assert_true(pattern_verify(block, sizeof(block), 43) > 0);
	pattern_fill(block, sizeof(block), 42);
	for (size_t i = 0; i < sizeof(block); i++) {
		bytes[i] ^= 0x80;
		assert_int_equal(pattern_verify(block, sizeof(block), 42), 1);
		assert_int_equal(pattern_verify(block, sizeof(block), 42), 0);
	}
	/* Words that changed places. */
	swap = block[8];
	block[8] = block[12];
	block[12] = swap;
	assert_true(pattern_verify(block, sizeof(block), 42) > 0);
}

#define REPLAY(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPLAY(plain_memory_survives),
		REPLAY(tide_hears_of_dead_and_idle),
		REPLAY(paged_out_memory_is_called_back),
		REPLAY(nothing_is_said_of_idle_memory_if_told_so),
		REPLAY(a_changed_byte_is_found_once),
		REPLAY(fresh_memory_must_be_zero),
		REPLAY(zeroed_must_be_true),
		REPLAY(memory_that_is_not_called_zero_need_not_be),
		REPLAY(a_refusal_is_no_error),
		REPLAY(a_failed_report_is_an_error),
		REPLAY(an_empty_pool_ends_the_replay),
		REPLAY(the_fit_is_checked_before),
		REPLAY(slow_answers_shift_and_skip_nothing),
		REPLAY(time_runs_as_recorded),
		REPLAY(events_are_lines_of_json),
		REPLAY(events_nobody_reads_end_the_replay),
		REPLAY(a_device_that_goes_ends_the_replay),
		cmocka_unit_test(every_wrong_byte_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
