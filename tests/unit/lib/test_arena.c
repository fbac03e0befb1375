// SPDX-License-Identifier: GPL-2.0-or-later
/* Arena handles against the fake kernel. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"

#define E FAKE_EXTENT

static struct tide_arena *make(struct tide_ctx *ctx, uint64_t extents)
{
	struct tide_arena *arena;

	assert_int_equal(tide_arena_create(ctx, "test", extents * E, 0,
					   &arena), 0);
	return arena;
}

static void drop(struct tide_ctx *ctx, struct tide_arena *arena)
{
	tide_arena_unref(arena);
	tide_ctx_unref(ctx);
}

static void create_says_what_is_wrong(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena;

	(void)state;
	assert_int_equal(tide_arena_create(ctx, NULL, 4096, 0, &arena),
			 -EINVAL);
	assert_contains(fake_error(ctx),
			"max_bytes 4096 is not a multiple of the extent size 2097152");
	assert_int_equal(tide_arena_create(ctx,
					   "a name of more than thirty-one bytes",
					   E, 0, &arena), -ENAMETOOLONG);
	assert_contains(fake_error(ctx), "longer than 31");
	assert_int_equal(tide_arena_create(ctx, NULL, E, 1, &arena), -EINVAL);
	fake.ioctl_errno = ENODEV;
	assert_int_equal(tide_arena_create(ctx, NULL, E, 0, &arena), -ENODEV);
	assert_contains(fake_error(ctx), "gone");
	tide_ctx_unref(ctx);
}

static void an_arena_keeps_its_context(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 1);
	struct tide_query query;

	(void)state;
	tide_ctx_unref(ctx);
	assert_ptr_equal(tide_arena_ref(arena), arena);
	tide_arena_unref(arena);
	assert_int_equal(tide_arena_query(arena, &query), 0);
	assert_string_equal(query.name, "test");
	assert_int_equal(query.max_bytes, E);
	tide_arena_unref(arena);
	assert_null(tide_arena_unref(NULL));
}

static void memory_is_mapped_once(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 2);
	void *base, *again;

	(void)state;
	assert_int_equal(tide_arena_alloc(arena, 0, 2 * E, 0, NULL), 0);
	assert_int_equal(tide_arena_map(arena, &base), 0);
	assert_int_equal(tide_arena_map(arena, &again), 0);
	assert_ptr_equal(base, again);
	memset(base, 1, 2 * E);
	drop(ctx, arena);
}

static void range_errors_name_the_value(void **state)
{
	static const struct {
		uint64_t offset, len;
		int rc;
		const char *part;
	} rows[] = {
		{ 4096, E, -EINVAL, "offset 4096 is not a multiple" },
		{ 0, 4096, -EINVAL, "length 4096 is not a multiple" },
		{ 0, 0, -EINVAL, "length is 0" },
		{ -E, 2 * E, -EINVAL, "overflows" },
		{ 0, 5 * E, -ERANGE, "beyond the arena's 8388608 bytes" },
	};
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 4);
	struct tide_range answer;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t offset = rows[i].offset, len = rows[i].len;

		assert_int_equal(tide_arena_alloc(arena, offset, len, 0, NULL),
				 rows[i].rc);
		assert_contains(fake_error(ctx), rows[i].part);
		assert_int_equal(tide_arena_free(arena, offset, len, NULL),
				 rows[i].rc);
		assert_contains(fake_error(ctx), rows[i].part);
		assert_int_equal(tide_arena_report_one(arena, offset, len,
						       TIDE_INTENT_COLD, 0,
						       &answer), rows[i].rc);
		assert_contains(fake_error(ctx), rows[i].part);
		assert_int_equal(answer.status, TIDE_STATUS_PENDING);
	}
	drop(ctx, arena);
}

static void alloc_and_free_count(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 100);
	uint64_t n;

	(void)state;
	assert_int_equal(tide_arena_alloc(arena, 0, 60 * E, 0, &n), 0);
	assert_int_equal(n, 60 * E);
	assert_int_equal(tide_arena_alloc(arena, 59 * E, 2 * E, 0, &n),
			 -EEXIST);
	assert_contains(fake_error(ctx), "committed already");
	assert_int_equal(tide_arena_alloc(arena, 60 * E, 10 * E, 0, &n),
			 -ENOMEM);
	assert_int_equal(n, 0);
	assert_contains(fake_error(ctx), "cannot give 20971520 bytes");
	assert_int_equal(tide_arena_alloc(arena, 60 * E, 10 * E,
					  TIDE_ALLOC_PARTIAL, NULL), -EINVAL);
	assert_int_equal(tide_arena_alloc(arena, 60 * E, 10 * E,
					  TIDE_ALLOC_PARTIAL, &n), 0);
	assert_int_equal(n, 4 * E);
	assert_int_equal(tide_arena_free(arena, 50 * E, 50 * E, &n), 0);
	assert_int_equal(n, 14 * E);
	drop(ctx, arena);
}

static void reports_come_back_answered(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 8);
	struct tide_range ranges[] = {
		{ .offset = 0, .len = E, .intent = TIDE_INTENT_DISCARD },
		{ .offset = 4 * E, .len = 2 * E, .intent = TIDE_INTENT_COLD,
		  /* Left from an earlier call. */
		  .status = 5, .done = 1, .result = 1 },
	};

	(void)state;
	assert_int_equal(tide_arena_alloc(arena, 0, 8 * E, 0, NULL), 0);
	fake.eintr = 2;
	assert_int_equal(tide_arena_report(arena, ranges, 2, 0), 0);
	assert_int_equal(fake.nr_calls, 2);
	assert_int_equal(ranges[0].result, TIDE_RESULT_ZEROED);
	assert_int_equal(ranges[1].status, TIDE_STATUS_OK);
	assert_int_equal(ranges[1].done, 2 * E);
	assert_int_equal(ranges[1].result, 0);
	drop(ctx, arena);
}

static void long_vectors_are_cut(void **state)
{
	enum { N = 2 * TIDE_REPORT_MAX_RANGES + 3 };
	static struct tide_range ranges[N];
	struct tide_ctx *ctx;
	struct tide_arena *arena;

	(void)state;
	fake.pool_bytes = 4096 * E;
	ctx = fake_ctx();
	arena = make(ctx, N);
	assert_int_equal(tide_arena_alloc(arena, 0, N * E, 0, NULL), 0);
	for (size_t i = 0; i < N; i++)
		ranges[i] = (struct tide_range){
			.offset = i * E,
			.len = E,
			.intent = TIDE_INTENT_COLD,
		};
	assert_int_equal(tide_arena_report(arena, ranges, N, 0), 0);
	assert_int_equal(fake.nr_calls, N);
	assert_int_equal(ranges[N - 1].done, E);

	/* A refusal in the third call leaves the first two answered. */
	ranges[N - 2].offset = 1;
	assert_int_equal(tide_arena_report(arena, ranges, N, 0), -EINVAL);
	assert_contains(fake_error(ctx), "offset 1 is not");
	assert_int_equal(ranges[0].status, TIDE_STATUS_OK);
	assert_int_equal(ranges[N - 3].status, TIDE_STATUS_PENDING);
	drop(ctx, arena);
}

static void report_refuses(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 8);

	(void)state;
	assert_int_equal(tide_arena_report(arena, NULL, 0, 0), -EINVAL);
	assert_contains(fake_error(ctx), "no ranges");
	assert_int_equal(tide_arena_report_one(arena, 0, E, TIDE_INTENT_COLD,
					       0, NULL), -ENXIO);
	assert_contains(fake_error(ctx), "not committed");
	assert_int_equal(tide_arena_alloc(arena, 0, E, 0, NULL), 0);
	assert_int_equal(tide_arena_report_one(arena, 0, E, 77, 0, NULL),
			 -EINVAL);
	assert_contains(fake_error(ctx), "unknown flag or intent");
	assert_int_equal(tide_arena_report_one(arena, 0, E, TIDE_INTENT_COLD,
					       1u << 30, NULL), -EINVAL);
	drop(ctx, arena);
}

static void committed_runs_are_found(void **state)
{
	/* Holes at the start, between and at the end. */
	static const uint64_t at[] = { 1, 2, 5, 11, 12, 13, 40 };
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 63);
	struct tide_range total;
	bool told[63] = { false };

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		assert_int_equal(tide_arena_alloc(arena, at[i] * E, E, 0,
						  NULL), 0);
	assert_int_equal(tide_arena_report_committed(arena, 0, 0,
						     TIDE_INTENT_DISCARD,
						     &total), 0);
	assert_int_equal(total.len, sizeof(at) / sizeof(at[0]) * E);
	assert_int_equal(total.done, total.len);
	assert_int_equal(total.result, TIDE_RESULT_ZEROED);
	for (size_t i = 0; i < fake.nr_calls; i++)
		for (uint64_t o = 0; o < fake.calls[i].len; o += E) {
			uint64_t n = (fake.calls[i].offset + o) / E;

			assert_false(told[n]);
			told[n] = true;
		}
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		assert_true(told[at[i]]);
	drop(ctx, arena);
}

static void committed_in_a_range_only(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 16);
	struct tide_range total;

	(void)state;
	assert_int_equal(tide_arena_alloc(arena, 0, 16 * E, 0, NULL), 0);
	fake.status = TIDE_STATUS_INHIBITED;
	assert_int_equal(tide_arena_report_committed(arena, 3 * E, 2 * E,
						     TIDE_INTENT_COLD, &total),
			 0);
	assert_int_equal(total.len, 2 * E);
	assert_int_equal(total.done, 0);
	assert_int_equal(total.status, TIDE_STATUS_INHIBITED);
	assert_int_equal(tide_arena_report_committed(arena, 17 * E, 0,
						     TIDE_INTENT_COLD, &total),
			 -ERANGE);
	drop(ctx, arena);
}

static void other_descriptors_are_no_arenas(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 1), *again;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_int_equal(tide_arena_from_fd(ctx, null, &again), -ENOTTY);
	assert_contains(fake_error(ctx), "not a Tide arena");
	close(null);
	assert_int_equal(tide_arena_from_fd(ctx, null, &again), -EBADF);
	assert_int_equal(tide_arena_from_fd(ctx, tide_arena_fd(arena), &again),
			 0);
	assert_int_not_equal(tide_arena_fd(arena), tide_arena_fd(again));
	tide_arena_unref(again);
	drop(ctx, arena);
}

static void descriptors_of_processes(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	struct tide_arena *arena = make(ctx, 1), *again;

	(void)state;
	assert_int_equal(tide_arena_from_pid(ctx, getpid(), 9999, &again),
			 -EBADF);
	assert_contains(fake_error(ctx), "no descriptor 9999");
	assert_int_equal(tide_arena_from_pid(ctx, 0x3fffffff, 0, &again),
			 -ESRCH);
	assert_contains(fake_error(ctx), "no process");
	assert_int_equal(tide_arena_from_pid(ctx, getpid(),
					     tide_arena_fd(arena), &again), 0);
	fake.open_fds++;	/* came from the real kernel */
	tide_arena_unref(again);
	drop(ctx, arena);
}

static void *hammer(void *data)
{
	struct tide_ctx *ctx = data;

	for (int i = 0; i < 50; i++) {
		struct tide_arena *arena;
		void *base;

		if (tide_arena_create(ctx, NULL, E, 0, &arena))
			return NULL;
		if (tide_arena_alloc(arena, 0, E, 0, NULL) ||
		    tide_arena_map(arena, &base) ||
		    tide_arena_free(arena, 1, E, NULL) != -EINVAL)
			return NULL;
		tide_arena_free(arena, 0, E, NULL);
		tide_arena_unref(arena);
	}
	return data;
}

static void threads_may_share_a_context(void **state)
{
	struct tide_ctx *ctx = fake_ctx();
	pthread_t threads[4];
	void *result;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hammer,
						ctx), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		assert_ptr_equal(result, ctx);
	}
	assert_int_equal(fake.open_fds, 1);
	tide_ctx_unref(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(create_says_what_is_wrong),
		TEST(an_arena_keeps_its_context),
		TEST(memory_is_mapped_once),
		TEST(range_errors_name_the_value),
		TEST(alloc_and_free_count),
		TEST(reports_come_back_answered),
		TEST(long_vectors_are_cut),
		TEST(report_refuses),
		TEST(committed_runs_are_found),
		TEST(committed_in_a_range_only),
		TEST(other_descriptors_are_no_arenas),
		TEST(descriptors_of_processes),
		TEST(threads_may_share_a_context),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
