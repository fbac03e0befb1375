/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the records of a file to the events of a replay: pure, no input. */
#ifndef TIDE_CLI_TRAJ_MODEL_H
#define TIDE_CLI_TRAJ_MODEL_H

#include "trajectory.h"

struct traj_sample {
	uint64_t t_ms;
	uint64_t bytes;		/* scaled */
};

struct traj_tool {
	uint64_t start_ms;
	uint64_t end_ms;
};

/* In order of t_ms and of start_ms, at least one sample. */
struct traj_records {
	struct traj_sample *samples;
	size_t nr_samples;
	struct traj_tool *tools;
	size_t nr_tools;
};

/* Fills all of @traj but the name; 0 or -ENOMEM. Merges the tools in place. */
int traj_model(struct traj_records *rec, uint64_t duration_ms,
	       struct trajectory *traj);

#endif /* TIDE_CLI_TRAJ_MODEL_H */
