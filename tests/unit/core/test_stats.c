/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters add up, and survive a reset. */
#include <errno.h>

#include "fixture.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD

static void test_requests_and_bytes(void **state)
{
    TideStats s;

    (void)state;
    answer_to(desc(ANON_GPA, 5, DISCARD));
    answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_COLD));
    answer_to(desc(0, 1, DISCARD));
    answer_to(desc(ANON_GPA, 0, DISCARD));
    answer_to(desc(COMMIT_GPA, 3, DISCARD));
    s = stats();
    assert_int_equal(s.requests, 5);
    assert_int_equal(s.completed, 5);
    assert_int_equal(s.answers[TIDE_PCI_ST_OK], 2);
    assert_int_equal(s.answers[TIDE_PCI_ST_RANGE], 1);
    assert_int_equal(s.answers[TIDE_PCI_ST_INVALID], 1);
    assert_int_equal(s.answers[TIDE_PCI_ST_UNSUPPORTED], 1);
    assert_int_equal(s.advise_calls, 2);
    assert_int_equal(s.intents[DISCARD].asked_bytes, 8 * EXTENT);
    assert_int_equal(s.intents[DISCARD].acted_bytes, 5 * EXTENT);
    assert_int_equal(s.intents[TIDE_PCI_INTENT_COLD].acted_bytes, 2 * EXTENT);
}

static void test_partial_counts_what_was_done(void **state)
{
    (void)state;
    bench.bad_host = ANON_HOST + 3 * EXTENT;
    bench.bad_rc = -EIO;
    answer_to(desc(ANON_GPA, 5, DISCARD));
    assert_int_equal(stats().answers[TIDE_PCI_ST_IO], 1);
    assert_int_equal(stats().intents[DISCARD].acted_bytes, 3 * EXTENT);
    assert_int_equal(stats().intents[DISCARD].verified_bytes, 3 * EXTENT);
}

static void test_latency_histogram(void **state)
{
    TideRequest req = { .intent = DISCARD };
    uint64_t total = 0;

    (void)state;
    req.taken_ns = tide_now_ns() - UINT64_C(3600) * 1000000000;
    tide_stat_answer(bench.core, &req);
    req.taken_ns = tide_now_ns() - UINT64_C(3000) * 1000;
    tide_stat_answer(bench.core, &req);
    req.taken_ns = tide_now_ns();
    tide_stat_answer(bench.core, &req);
    for (unsigned i = 0; i < TIDE_LATENCY_BUCKETS; i++) {
        total += stats().latency_us_log2[i];
    }
    assert_int_equal(total, 3);
    assert_true(stats().latency_us_log2[12] + stats().latency_us_log2[13] == 1);
    assert_int_equal(stats().latency_us_log2[TIDE_LATENCY_BUCKETS - 1], 1);
    assert_true(stats().latency_max_us >= 3600000000);
}

static void test_reset_keeps_counters(void **state)
{
    (void)state;
    answer_to(desc(ANON_GPA, 1, DISCARD));
    tide_core_reset(bench.core);
    assert_int_equal(stats().completed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_requests_and_bytes),
        BENCH_TEST(test_partial_counts_what_was_done),
        BENCH_TEST(test_latency_histogram),
        BENCH_TEST(test_reset_keeps_counters),
    };

    return RUN_TESTS(tests);
}
