// SPDX-License-Identifier: GPL-2.0-or-later
/* Every recording in the folder $TIDE_TRAJECTORIES loads and makes sense. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "traj_check.h"

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
