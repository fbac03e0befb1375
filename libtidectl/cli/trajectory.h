/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trajectories: what a sandbox's memory did over time, and when tools ran.
 *
 * A file is "# tide-trajectory 1", then comments ("# ..."), samples and tools:
 *
 *   M <t_ms> <bytes>              memory of the sandbox, up to the next M
 *   T <start_ms> <end_ms> <name>  one tool call
 *
 * each kind in order of its first number.
 *
 * THE MODEL. A recording has one number for harness and tool together; the
 * model tells them apart. A tool phase is a union of overlapping tool calls.
 * Outside of them the harness holds all there is. Within one the harness holds
 * what it held at the phase's start, or all if that is less; the rest is the
 * tool's. When the phase ends the tool's memory is dead. The harness keeps its
 * level then until the next sample: the last one is stale, it was taken with
 * the tool's memory still in it.
 */
#ifndef TIDE_CLI_TRAJECTORY_H
#define TIDE_CLI_TRAJECTORY_H

#include <stddef.h>
#include <stdint.h>

enum traj_type {
	TRAJ_START,
	TRAJ_SAMPLE,
	TRAJ_TOOL_START,
	TRAJ_TOOL_END,
	TRAJ_END,
};

/**
 * struct traj_event - one moment, and what is alive from then on
 * @t_ms: milliseconds of the recording
 * @harness: bytes that the harness holds, scaled, not rounded
 * @tool: bytes that the tool holds
 * @type: what happens
 */
struct traj_event {
	uint64_t t_ms;
	uint64_t harness;
	uint64_t tool;
	enum traj_type type;
};

/**
 * struct trajectory - the model of one recording
 * @name: the file's, without folder and .traj
 * @duration_ms: up to TRAJ_END
 * @events: from TRAJ_START to TRAJ_END, in order of time
 * @nr_events: how many
 * @nr_tools: tool calls recorded
 * @nr_phases: tool phases
 * @peak_live: most bytes alive at a time
 * @mean_live: their mean over time
 * @harness_peak: most that the harness holds
 * @tool_peak: most that a tool holds
 */
struct trajectory {
	char name[128];
	uint64_t duration_ms;
	struct traj_event *events;
	size_t nr_events;
	size_t nr_tools;
	size_t nr_phases;
	uint64_t peak_live;
	double mean_live;
	uint64_t harness_peak;
	uint64_t tool_peak;
};

/**
 * trajectory_load - read a file and model it
 * @path: the file
 * @scale: factor for all bytes, above 0
 * @traj: out; free with trajectory_free()
 * @err: out: one line "FILE:LINE: what is wrong" on failure
 * @err_size: of @err
 *
 * Stops at the first bad line, holds no more of the file than its records.
 *
 * Returns 0 or -errno; -EINVAL for a broken file.
 */
int trajectory_load(const char *path, double scale, struct trajectory *traj,
		    char *err, size_t err_size);

void trajectory_free(struct trajectory *traj);

/*
 * Memory that a replay needs at most: levels rounded up to @unit, and what one
 * tool had stays for the next.
 */
uint64_t trajectory_need(const struct trajectory *traj, uint64_t unit);

const char *traj_type_name(enum traj_type type);

#endif /* TIDE_CLI_TRAJECTORY_H */
