/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The replay engine: does what a trajectory says, in real memory.
 *
 * The harness's memory carries a pattern, verified in full at the end of every
 * phase. A tool's memory is written in full and dead when its phase ends.
 *
 * The clock stands while the replay verifies, so that a phase keeps its
 * recorded length however slow the machine is at verifying; any other delay
 * shifts all that follows. Events are never skipped.
 */
#ifndef TIDE_CLI_REPLAY_H
#define TIDE_CLI_REPLAY_H

#include "replay_mem.h"
#include "trajectory.h"

/**
 * struct replay_progress - where a replay is
 * @t_ms: time of the recording
 * @duration_ms: its length
 * @live_bytes: alive now, by the recording
 * @verified_bytes: looked at so far
 */
struct replay_progress {
	uint64_t t_ms;
	uint64_t duration_ms;
	uint64_t live_bytes;
	uint64_t verified_bytes;
};

/**
 * struct replay_opts - how to replay
 * @ops: the kind of memory
 * @speed: factor on time
 * @idle_intent: what to say of the harness when a wait begins; 0: nothing
 * @events_fd: where one line an event goes; -1: nowhere
 * @progress: called some times a second; may be NULL
 * @progress_data: handed to it
 */
struct replay_opts {
	const struct replay_mem_ops *ops;
	double speed;
	uint32_t idle_intent;
	int events_fd;
	void (*progress)(void *data, const struct replay_progress *progress);
	void *progress_data;
};

/**
 * struct replay_result - how it went
 * @completed: reached the end of the recording
 * @nominal_us: length of the recording at that speed
 * @actual_us: time it took, verifying included
 * @verify_us: of that, time spent on verifying
 * @asked_bytes: sum of all growth, whole extents
 * @verified_bytes: bytes compared, and memory checked to read as zero
 * @changed_bytes: bytes of surviving memory that had changed
 * @not_zero_bytes: bytes that should have read as zero and did not
 * @errors: calls and reports that failed
 * @reports: of all areas; free with replay_result_free()
 * @err: the last error, one line
 */
struct replay_result {
	bool completed;
	uint64_t nominal_us;
	uint64_t actual_us;
	uint64_t verify_us;
	uint64_t asked_bytes;
	uint64_t verified_bytes;
	uint64_t changed_bytes;
	uint64_t not_zero_bytes;
	uint64_t errors;
	struct replay_reports reports;
	char err[320];
};

/*
 * Runs all of it. Returns 0 if it went to its end, without errors or wrong
 * bytes; else -errno with @result->err set. @result is filled in either way.
 */
int replay_run(struct tide_ctx *ctx, const struct trajectory *traj,
	       const struct replay_opts *opts, struct replay_result *result);

/* Is there memory enough? 0, or -ENOSPC with one line that says what to do. */
int replay_check_fit(struct tide_ctx *ctx, const struct trajectory *traj,
		     double scale, const struct replay_mem_ops *ops, char *err,
		     size_t err_size);

void replay_result_free(struct replay_result *result);

#endif /* TIDE_CLI_REPLAY_H */
