// SPDX-License-Identifier: GPL-2.0-or-later
/* Contexts: what they say when something is missing, sysfs, fdinfo. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake.h"

static char root[64];

static int make_root(void **state)
{
	snprintf(root, sizeof(root), "/tmp/tide-test-%d", (int)getpid());
	assert_int_equal(mkdir(root, 0700), 0);
	return fake_setup(state);
}

static int drop_root(void **state)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	assert_int_equal(system(cmd), 0);
	return fake_teardown(state);
}

/* Writes a file below the root, with the folders it needs. */
static void put(const char *path, const char *text)
{
	char full[256], cmd[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	snprintf(cmd, sizeof(cmd), "mkdir -p $(dirname %s)", full);
	assert_int_equal(system(cmd), 0);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static struct tide_ctx *root_ctx(void)
{
	struct tide_ctx *ctx = fake_ctx();

	assert_int_equal(tide_ctx_set_root(ctx, root), 0);
	return ctx;
}

static void open_errors_name_the_next_step(void **state)
{
	static const struct {
		int err;
		const char *part;
	} rows[] = {
		{ ENOENT, "/dev/tide: module not loaded; run modprobe tide" },
		{ EACCES, "group tide" },
		{ ENODEV, "dmesg" },
		{ ENXIO, "dmesg" },
		{ EMFILE, "Too many open files" },
	};
	struct tide_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tide_ctx *ctx = root_ctx();

		fake.open_errno = rows[i].err;
		assert_int_equal(tide_info(ctx, &info), -rows[i].err);
		assert_contains(fake_error(ctx), rows[i].part);
		tide_ctx_unref(ctx);
	}
}

static void a_loaded_module_without_device_is_told_apart(void **state)
{
	struct tide_ctx *ctx = root_ctx();
	struct tide_info info;

	(void)state;
	put("/sys/module/tide/version", "0.1.0\n");
	fake.open_errno = ENOENT;
	assert_int_equal(tide_info(ctx, &info), -ENOENT);
	assert_contains(fake_error(ctx), "-device tide");
	tide_ctx_unref(ctx);
}

static void info_errors(void **state)
{
	static const struct {
		int err;
		const char *part;
	} rows[] = {
		{ ENOTTY, "not a Tide device" },
		{ ENODEV, "gone" },
		{ EIO, "Input/output error" },
	};
	struct tide_ctx *ctx = fake_ctx();
	struct tide_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.ioctl_errno = rows[i].err;
		assert_int_equal(tide_info(ctx, &info), -rows[i].err);
		assert_contains(fake_error(ctx), rows[i].part);
	}
	tide_ctx_unref(ctx);
}

static void info_is_restarted_after_signals(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_info info;

	(void)state;
	fake.eintr = 3;
	assert_int_equal(tide_info(ctx, &info), 0);
	assert_int_equal(info.pool_bytes, fake.pool_bytes);
	assert_int_equal(fake.eintr, 0);
	tide_ctx_unref(ctx);
}

static void the_device_is_opened_once(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_info info;

	(void)state;
	assert_int_equal(fake.open_fds, 0);
	assert_int_equal(tide_info(ctx, &info), 0);
	assert_int_equal(tide_info(ctx, &info), 0);
	assert_int_equal(fake.open_fds, 1);
	assert_int_equal(tide_ctx_set_device(ctx, "/dev/other"), -EBUSY);
	tide_ctx_unref(ctx);
}

static void another_device_is_named_in_messages(void **state)
{
	struct tide_ctx *ctx = root_ctx();
	struct tide_info info;

	(void)state;
	assert_int_equal(tide_ctx_set_device(ctx, "/dev/other"), 0);
	fake.open_errno = EACCES;
	assert_int_equal(tide_info(ctx, &info), -EACCES);
	assert_contains(fake_error(ctx), "/dev/other");
	tide_ctx_unref(ctx);
}

static void references_are_counted(void **state)
{
	struct tide_ctx *ctx = fake_ctx();

	(void)state;
	assert_ptr_equal(tide_ctx_ref(ctx), ctx);
	assert_null(tide_ctx_unref(ctx));
	assert_string_equal(fake_error(ctx), "");
	assert_null(tide_ctx_unref(ctx));
	assert_null(tide_ctx_unref(NULL));
	assert_null(tide_ctx_ref(NULL));
}

#define DEVICE "/sys/class/misc/tide/device/"

static void attributes_are_read(void **state)
{
	struct tide_ctx *ctx = root_ctx();
	uint64_t value = 7;
	char buf[16];

	(void)state;
	put(DEVICE "tide_pool/size_bytes", "18446744073709551615\n");
	put(DEVICE "tide_pool/backend", "contig\n");
	put(DEVICE "tide_pool/negative", "-1\n");
	put(DEVICE "tide_pool/empty", "");
	put(DEVICE "tide_pool/long", "0123456789abcdef\n");
	assert_int_equal(tide_attr_u64(ctx, "tide_pool/size_bytes", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(tide_attr_read(ctx, "tide_pool/backend", buf,
					sizeof(buf)), 0);
	assert_string_equal(buf, "contig");
	assert_int_equal(tide_attr_u64(ctx, "tide_pool/backend", &value),
			 -EINVAL);
	assert_contains(fake_error(ctx), "\"contig\" is not a number");
	assert_int_equal(tide_attr_u64(ctx, "tide_pool/negative", &value),
			 -EINVAL);
	assert_int_equal(tide_attr_u64(ctx, "tide_pool/empty", &value),
			 -EINVAL);
	assert_int_equal(tide_attr_read(ctx, "tide_pool/long", buf,
					sizeof(buf)), -EOVERFLOW);
	tide_ctx_unref(ctx);
}

static void a_missing_attribute_is_unknown(void **state)
{
	struct tide_ctx *ctx = root_ctx();
	uint64_t value = 7;

	(void)state;
	assert_int_equal(tide_attr_u64(ctx, "tide_pool/size_bytes", &value),
			 -ENOENT);
	assert_int_equal(value, 7);
	assert_contains(fake_error(ctx), "tide_pool/size_bytes");
	tide_ctx_unref(ctx);
}

struct seen {
	struct tide_arena_entry entry[4];
	int n;
	int stop;
};

static int see(const struct tide_arena_entry *entry, void *data)
{
	struct seen *seen = data;

	assert_in_range(seen->n, 0, 3);
	seen->entry[seen->n++] = *entry;
	return seen->stop;
}

static void arenas_of_a_process_are_found(void **state)
{
	struct tide_ctx *ctx = root_ctx();
	struct seen seen = { .n = 0 };

	(void)state;
	put("/proc/42/fdinfo/0", "pos:\t0\nflags:\t02\n");
	put("/proc/42/fdinfo/5",
	    "pos:\t0\nflags:\t02\nmnt_id:\t9\ntide-arena:\t3\n"
	    "tide-name:\ttool: the 2nd\ntide-max-bytes:\t8388608\n"
	    "tide-committed-bytes:\t4194304\ntide-in-flight-bytes:\t2097152\n"
	    "tide-reports:\t11\ntide-reported-bytes:\t12\n"
	    "tide-acted-bytes:\t13\n");
	assert_int_equal(tide_arena_foreach(ctx, 42, see, &seen), 0);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.entry[0].fd, 5);
	assert_int_equal(seen.entry[0].id, 3);
	assert_string_equal(seen.entry[0].name, "tool: the 2nd");
	assert_int_equal(seen.entry[0].max_bytes, 8388608);
	assert_int_equal(seen.entry[0].committed_bytes, 4194304);
	assert_int_equal(seen.entry[0].in_flight_bytes, 2097152);
	assert_int_equal(seen.entry[0].reports, 11);
	assert_int_equal(seen.entry[0].reported_bytes, 12);
	assert_int_equal(seen.entry[0].acted_bytes, 13);
	tide_ctx_unref(ctx);
}

static void the_walk_stops_when_told(void **state)
{
	struct tide_ctx *ctx = root_ctx();
	struct seen seen = { .stop = 77 };

	(void)state;
	put("/proc/42/fdinfo/5", "tide-arena:\t1\n");
	put("/proc/42/fdinfo/6", "tide-arena:\t2\n");
	assert_int_equal(tide_arena_foreach(ctx, 42, see, &seen), 77);
	assert_int_equal(seen.n, 1);
	tide_ctx_unref(ctx);
}

static void no_such_process(void **state)
{
	struct tide_ctx *ctx = root_ctx();
	struct seen seen = { .n = 0 };

	(void)state;
	assert_int_equal(tide_arena_foreach(ctx, 42, see, &seen), -ESRCH);
	assert_contains(fake_error(ctx), "no process 42");
	tide_ctx_unref(ctx);
}

static void names_and_numbers_agree(void **state)
{
	(void)state;
	for (int i = TIDE_INTENT_DISCARD; i <= TIDE_INTENT_WILLNEED; i++)
		assert_int_equal(tide_intent_parse(tide_intent_name(i)), i);
	assert_int_equal(tide_intent_parse("unknown"), -EINVAL);
	assert_int_equal(tide_intent_parse(""), -EINVAL);
	assert_string_equal(tide_intent_name(0), "unknown");
	assert_string_equal(tide_intent_name(99), "unknown");
	assert_string_equal(tide_status_name(TIDE_STATUS_NO_ANSWER),
			    "no-answer");
	assert_string_equal(tide_status_name(7), "unknown");
	assert_string_equal(tide_backend_name(TIDE_BACKEND_CMA), "cma");
	assert_string_equal(tide_state_name(TIDE_DEVICE_DEGRADED), "degraded");
}

#define ROOT_TEST(f) \
	cmocka_unit_test_setup_teardown(f, make_root, drop_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(open_errors_name_the_next_step),
		ROOT_TEST(a_loaded_module_without_device_is_told_apart),
		TEST(info_errors),
		TEST(info_is_restarted_after_signals),
		TEST(the_device_is_opened_once),
		ROOT_TEST(another_device_is_named_in_messages),
		TEST(references_are_counted),
		ROOT_TEST(attributes_are_read),
		ROOT_TEST(a_missing_attribute_is_unknown),
		ROOT_TEST(arenas_of_a_process_are_found),
		ROOT_TEST(the_walk_stops_when_told),
		ROOT_TEST(no_such_process),
		TEST(names_and_numbers_agree),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
