// SPDX-License-Identifier: GPL-2.0-or-later
/* Trajectory files: what they mean, and what is said of broken ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"
#include "traj_check.h"

#define MIB (1ull << 20)
#define HEADER "# tide-trajectory 1\n"

static char err[512];

/* Loads a file of that text. */
static int load(const char *text, size_t len, double scale,
		struct trajectory *traj)
{
	int fd = memfd_create("trajectory", MFD_CLOEXEC), rc;
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err[0] = '\0';
	rc = trajectory_load(path, scale, traj, err, sizeof(err));
	close(fd);
	return rc;
}

static void events_follow_the_model(void **state)
{
	static const struct traj_event expected[] = {
		{ 0, 0, 0, TRAJ_START },
		{ 0, 2 * MIB, 0, TRAJ_SAMPLE },
		{ 1000, 4 * MIB, 0, TRAJ_SAMPLE },
		{ 1500, 4 * MIB, 0, TRAJ_TOOL_START },
		/* What is above the level at the start is the tool's. */
		{ 2000, 4 * MIB, 6 * MIB, TRAJ_SAMPLE },
		/* Below it, the harness shrank. */
		{ 4000, 3 * MIB, 0, TRAJ_SAMPLE },
		/* Overlapping and touching calls are one phase. */
		{ 4500, 3 * MIB, 0, TRAJ_TOOL_END },
		{ 5000, 4 * MIB + 1, 0, TRAJ_SAMPLE },
		{ 6000, 4 * MIB + 1, 0, TRAJ_END },
	};
	struct trajectory traj;

	(void)state;
	assert_int_equal(trajectory_load(TEST_DATA "/phases.traj", 1, &traj,
					 err, sizeof(err)), 0);
	assert_string_equal(traj.name, "phases");
	assert_int_equal(traj.nr_events,
			 sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < traj.nr_events; i++) {
		const struct traj_event *ev = &traj.events[i];

		if (ev->t_ms != expected[i].t_ms ||
		    ev->harness != expected[i].harness ||
		    ev->tool != expected[i].tool ||
		    ev->type != expected[i].type)
			fail_msg("event %zu: %s at %lu: %lu + %lu", i,
				 traj_type_name(ev->type), ev->t_ms,
				 ev->harness, ev->tool);
	}
	assert_int_equal(traj.nr_tools, 3);
	assert_int_equal(traj.nr_phases, 1);
	assert_int_equal(traj.duration_ms, 6000);
	assert_int_equal(traj.peak_live, 10 * MIB);
	assert_int_equal(traj.harness_peak, 4 * MIB + 1);
	assert_int_equal(traj.tool_peak, 6 * MIB);
	/* 1 s of 2, 1 of 4, 2 of 10, 1 of 3, 1 of 4 MiB and a byte. */
	assert_int_equal((uint64_t)(traj.mean_live * 6), 33 * MIB + 1);
	/* The tool's 6 MiB stay with it; 4 MiB and a byte are three extents. */
	assert_int_equal(trajectory_need(&traj, 2 * MIB), 12 * MIB);
	trajectory_free(&traj);
}

static void a_stale_sample_is_not_believed(void **state)
{
	/* The tool ends at 200; the sample of 150 still has its memory in it. */
	static const char text[] = HEADER
		"M 0 10\nT 100 200 Bash\nM 150 90\nT 250 300 Bash\nM 400 12\n";
	struct trajectory traj;

	(void)state;
	assert_int_equal(load(text, strlen(text), 1, &traj), 0);
	assert_int_equal(traj.events[4].type, TRAJ_TOOL_END);
	assert_int_equal(traj.events[4].harness, 10);
	assert_int_equal(traj.events[4].tool, 0);
	assert_int_equal(traj.events[5].type, TRAJ_TOOL_START);
	assert_int_equal(traj.events[5].harness, 10);
	assert_int_equal(traj.events[7].harness, 12);
	trajectory_free(&traj);
}

static void a_sample_on_the_border_is_outside(void **state)
{
	static const char text[] = HEADER
		"M 0 10\nM 100 20\nT 100 200 Bash\nM 200 30\n";
	struct trajectory traj;

	(void)state;
	assert_int_equal(load(text, strlen(text), 1, &traj), 0);
	assert_int_equal(traj.events[3].type, TRAJ_TOOL_START);
	assert_int_equal(traj.events[3].harness, 20);
	assert_int_equal(traj.events[4].type, TRAJ_TOOL_END);
	assert_int_equal(traj.events[5].type, TRAJ_SAMPLE);
	assert_int_equal(traj.events[5].harness, 30);
	assert_int_equal(traj.events[5].tool, 0);
	trajectory_free(&traj);
}

static void a_tool_may_outlive_the_samples(void **state)
{
	static const char text[] = HEADER "M 0 10\nT 5 7 A\nT 9 100 B\n";
	struct trajectory traj;

	(void)state;
	assert_int_equal(load(text, strlen(text), 1, &traj), 0);
	assert_int_equal(traj.duration_ms, 100);
	assert_int_equal(traj.nr_phases, 2);
	assert_int_equal(traj.events[traj.nr_events - 2].type, TRAJ_TOOL_END);
	trajectory_free(&traj);
}

static void sizes_are_scaled(void **state)
{
	static const char text[] = HEADER "M 0 1000\nM 5 10\n";
	struct trajectory traj;

	(void)state;
	assert_int_equal(load(text, strlen(text), 0.25, &traj), 0);
	assert_int_equal(traj.peak_live, 250);
	assert_int_equal(traj.events[2].harness, 2);
	trajectory_free(&traj);
	assert_int_equal(load(text, strlen(text), 1e-9, &traj), -EINVAL);
	assert_contains(err, "nothing to replay");
}

static void broken_files_are_refused_by_line(void **state)
{
	static const struct {
		const char *text;
		const char *part;
	} rows[] = {
		{ "", ": empty file" },
		{ "M 0 1\n", ":1: not a trajectory" },
		{ "# tide-trajectory 2\nM 0 1\n", ":1: not a trajectory" },
		{ "# tide-trajectory 1\r\nM 0 1\n", ":1: not a trajectory" },
		{ HEADER, ": no samples" },
		{ HEADER "T 0 1 Bash\n", ": no samples" },
		{ HEADER "\nM 0 1\n", ":2: empty line" },
		{ HEADER "X 0 1\n", ":2: neither" },
		{ HEADER "Mx 0 1\n", ":2: neither" },
		{ HEADER "M\n", ":2: neither" },
		{ HEADER "M \n", ":2: time is missing" },
		{ HEADER "M 0\n", ":2: size is missing" },
		{ HEADER "M 0 1 2\n", ":2: unexpected \"2\"" },
		{ HEADER "M -1 1\n", ":2: time \"-1\" is not" },
		{ HEADER "M 0 -1\n", ":2: size \"-1\" is not" },
		{ HEADER "M 0 nan\n", ":2: size \"nan\" is not" },
		{ HEADER "M 0 1.5\n", ":2: size \"1.5\" is not" },
		{ HEADER "M 0 0x10\n", ":2: size \"0x10\" is not" },
		{ HEADER "M 0 99999999999999999999\n", ":2: size 99999999999999999999 is too large" },
		{ HEADER "M 0 9007199254740992\n", ":2: size 9007199254740992 is too large" },
		{ HEADER "M 100000000001 1\n", ":2: time 100000000001 is too large" },
		{ HEADER "M 5 1\nM 4 1\n", ":3: sample at 4 ms after one at 5 ms" },
		{ HEADER "M 0 1\nT 5 4 Bash\n", ":3: tool ends at 4 ms, before it starts at 5 ms" },
		{ HEADER "M 0 1\nT 5 6 Bash\nT 4 9 Bash\n", ":4: tool at 4 ms after one at 5 ms" },
		{ HEADER "M 0 1\nT 5 6\n", ":3: the tool's name is missing" },
		{ HEADER "M 0 1\nT 5\n", ":3: end is missing" },
		{ HEADER "M 0 1\nT 5 6 Bash x\n", ":3: unexpected \"x\"" },
		{ HEADER "# duration_ms x\nM 0 1\n", ":2: duration_ms \"x\" is not" },
		{ HEADER "# duration_ms -1\nM 0 1\n", ":2: duration_ms \"-1\" is not" },
		{ HEADER "M 0 \033[31m1\n", ":2: size \"?[31m1\" is not" },
		{ HEADER "M 0 0\n", ": peak is 0 bytes" },
	};
	struct trajectory traj;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = load(rows[i].text, strlen(rows[i].text), 1, &traj);

		if (rc != -EINVAL)
			fail_msg("row %zu (%s): %d", i, rows[i].part, rc);
		assert_contains(err, rows[i].part);
		assert_contains(err, "/proc/self/fd/");
	}
}

static void scaled_sizes_may_be_too_large(void **state)
{
	static const char text[] = HEADER "M 0 1000000\n";
	struct trajectory traj;

	(void)state;
	assert_int_equal(load(text, strlen(text), 1e300, &traj), -EINVAL);
	assert_contains(err, ":2: 1000000 bytes x scale 1e+300 is too large");
}

static void binary_and_endless_lines_are_refused(void **state)
{
	static char text[4096];
	struct trajectory traj;

	(void)state;
	memcpy(text, HEADER, strlen(HEADER));
	memcpy(text + strlen(HEADER), "M 0\0 1\n", 7);
	assert_int_equal(load(text, strlen(HEADER) + 7, 1, &traj), -EINVAL);
	assert_contains(err, ":2: a NUL byte");

	memset(text + strlen(HEADER), '#', sizeof(text) - strlen(HEADER));
	assert_int_equal(load(text, sizeof(text), 1, &traj), -EINVAL);
	assert_contains(err, ":2: line longer than 512 bytes");

	memset(text, 0, sizeof(text));
	assert_int_equal(load(text, sizeof(text), 1, &traj), -EINVAL);
	assert_contains(err, ":1: a NUL byte");

	memset(text, 'x', sizeof(text));
	assert_int_equal(load(text, sizeof(text), 1, &traj), -EINVAL);
	assert_contains(err, ":1: line longer than 512 bytes");
}

static void files_that_cannot_be_read(void **state)
{
	struct trajectory traj;

	(void)state;
	assert_int_equal(trajectory_load("/nonexistent/x", 1, &traj, err,
					 sizeof(err)), -ENOENT);
	assert_string_equal(err, "/nonexistent/x: No such file or directory");
	assert_int_equal(trajectory_load("/tmp", 1, &traj, err, sizeof(err)),
			 -EISDIR);
	assert_string_equal(err, "/tmp: Is a directory");
}

/* Whatever becomes of a good file, it is loaded or refused with a line. */
static void mutations_are_loaded_or_refused(void **state)
{
	static const char alphabet[] = "MT# \n\t0123456789-+.eExX\0\177\377";
	static const char good[] = HEADER
		"# duration_ms 900\nM 0 4194304\nT 10 20 Bash\nM 15 9000000\n"
		"T 18 300 Read\nM 400 5000000\n";
	struct trajectory traj;
	int loaded = 0, refused = 0;

	(void)state;
	srandom(1);
	for (int i = 0; i < 3000; i++) {
		char text[sizeof(good)];
		size_t len = sizeof(good) - 1;

		memcpy(text, good, sizeof(good));
		for (int n = random() % 3; n >= 0; n--)
			text[random() % len] =
				alphabet[random() % (sizeof(alphabet) - 1)];
		if (random() % 8 == 0)
			len = random() % len;
		if (load(text, len, 1, &traj) == 0) {
			check_invariants(&traj);
			trajectory_free(&traj);
			loaded++;
		} else {
			assert_contains(err, "/proc/self/fd/");
			assert_null(strchr(err, '\n'));
			refused++;
		}
	}
	assert_true(loaded > 100);
	assert_true(refused > 100);
}

/* No newline at the end is no fault. */
static void the_last_line_may_be_open(void **state)
{
	static const char text[] = HEADER "M 0 7";
	struct trajectory traj;

	(void)state;
	assert_int_equal(load(text, strlen(text), 1, &traj), 0);
	assert_int_equal(traj.peak_live, 7);
	assert_int_equal(traj.duration_ms, 0);
	trajectory_free(&traj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_follow_the_model),
		cmocka_unit_test(a_stale_sample_is_not_believed),
		cmocka_unit_test(a_sample_on_the_border_is_outside),
		cmocka_unit_test(a_tool_may_outlive_the_samples),
		cmocka_unit_test(sizes_are_scaled),
		cmocka_unit_test(broken_files_are_refused_by_line),
		cmocka_unit_test(scaled_sizes_may_be_too_large),
		cmocka_unit_test(binary_and_endless_lines_are_refused),
		cmocka_unit_test(files_that_cannot_be_read),
		cmocka_unit_test(mutations_are_loaded_or_refused),
		cmocka_unit_test(the_last_line_may_be_open),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
