/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must hold of every model, whatever the recording. */
#ifndef TIDE_TEST_TRAJ_CHECK_H
#define TIDE_TEST_TRAJ_CHECK_H

#include "fake.h"
#include "trajectory.h"

static inline void check_invariants(const struct trajectory *traj)
{
	size_t starts = 0, ends = 0;

	for (size_t i = 0; i < traj->nr_events; i++) {
		const struct traj_event *ev = &traj->events[i];

		starts += ev->type == TRAJ_TOOL_START;
		ends += ev->type == TRAJ_TOOL_END;
		assert_in_range(starts - ends, 0, 1);
		if (starts == ends)
			assert_int_equal(ev->tool, 0);
		if (i)
			assert_true(ev[-1].t_ms <= ev->t_ms);
		assert_true(ev->harness + ev->tool <= traj->peak_live);
	}
	assert_int_equal(starts, traj->nr_phases);
	assert_int_equal(ends, traj->nr_phases);
	assert_int_equal(traj->events[0].type, TRAJ_START);
	assert_int_equal(traj->events[traj->nr_events - 1].type, TRAJ_END);
	assert_true(traj->mean_live <= traj->peak_live);
}

#endif /* TIDE_TEST_TRAJ_CHECK_H */
