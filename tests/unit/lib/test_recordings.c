// SPDX-License-Identifier: GPL-2.0-or-later
/* Every recording in the folder $TIDE_TRAJECTORIES loads and makes sense. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "trajectory.h"

static void check_invariants(const struct trajectory *traj)
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

static void every_recording_of_a_folder_loads(void **state)
{
	const char *folder = getenv("TIDE_TRAJECTORIES");
	char pattern[4096];
	struct trajectory traj;
	char err[512];
	glob_t found;

	(void)state;
	assert_non_null(folder);
	snprintf(pattern, sizeof(pattern), "%s/*.traj", folder);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (trajectory_load(found.gl_pathv[i], 1, &traj, err,
				    sizeof(err)))
			fail_msg("%s", err);
		check_invariants(&traj);
		trajectory_free(&traj);
	}
	globfree(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_recording_of_a_folder_loads),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
