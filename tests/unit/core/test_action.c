/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intent x backing -> host call, and what the answer may claim. */
#include <endian.h>
#include <errno.h>
#include <sys/mman.h>

#include "fixture.h"

static void answered(struct tide_pci_cpl cpl, uint16_t status, uint32_t done,
                     uint16_t flags, uint32_t action)
{
    assert_int_equal(le16toh(cpl.status), status);
    assert_int_equal(le32toh(cpl.done), done);
    assert_int_equal(le16toh(cpl.flags), flags);
    assert_int_equal(le32toh(cpl.action), action);
}

static void called_once(unsigned count, int advice)
{
    assert_int_equal(bench.call_count, 1);
    assert_int_equal(bench.calls[0].host, ANON_HOST);
    assert_int_equal(bench.calls[0].len, count * EXTENT);
    assert_int_equal(bench.calls[0].advice, advice);
    bench.call_count = 0;
}

static void test_discard(void **state)
{
    (void)state;
    answered(answer_to(desc(ANON_GPA, 3, TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_OK, 3, TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
    called_once(3, MADV_DONTNEED);
    assert_int_equal(stats().intents[TIDE_PCI_INTENT_DISCARD].verified_bytes,
                     3 * EXTENT);
}

/* The host said yes and the pages are still there: zero is not promised. */
static void test_discard_not_verified(void **state)
{
    (void)state;
    bench.resident = 4096;
    answered(answer_to(desc(ANON_GPA, 3, TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_OK, 3, 0, TIDE_PCI_ACTION_DISCARD);
    bench.resident = -ENOMEM;
    answered(answer_to(desc(ANON_GPA, 3, TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_OK, 3, 0, TIDE_PCI_ACTION_DISCARD);
    assert_int_equal(stats().intents[TIDE_PCI_INTENT_DISCARD].verified_bytes,
                     3 * EXTENT - 4096);
}

static void test_lazy(void **state)
{
    (void)state;
    answered(answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_DISCARD_LAZY)),
             TIDE_PCI_ST_OK, 2, 0, TIDE_PCI_ACTION_FREE);
    called_once(2, MADV_FREE);
}

static void test_cold(void **state)
{
    (void)state;
    answered(answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_COLD)),
             TIDE_PCI_ST_OK, 2, 0, TIDE_PCI_ACTION_COLD);
    called_once(2, MADV_COLD);
}

static void test_willneed(void **state)
{
    (void)state;
    answered(answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_WILLNEED)),
             TIDE_PCI_ST_OK, 2, 0, TIDE_PCI_ACTION_POPULATE);
    called_once(2, MADV_POPULATE_WRITE);
}

static void test_pageout(void **state)
{
    (void)state;
    bench.swap_room = 2 * EXTENT;
    answered(answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_PAGEOUT)),
             TIDE_PCI_ST_OK, 2, 0, TIDE_PCI_ACTION_PAGEOUT);
    called_once(2, MADV_PAGEOUT);
    assert_int_equal(stats().intents[TIDE_PCI_INTENT_PAGEOUT].verified_bytes,
                     2 * EXTENT);
}

static void test_pageout_without_room(void **state)
{
    (void)state;
    bench.swap_room = 2 * EXTENT - 1;
    answered(answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_PAGEOUT)),
             TIDE_PCI_ST_OK, 2, TIDE_PCI_CPL_DOWNGRADED, TIDE_PCI_ACTION_COLD);
    called_once(2, MADV_COLD);
    assert_int_equal(stats().intents[TIDE_PCI_INTENT_PAGEOUT].downgraded_bytes,
                     2 * EXTENT);
    assert_int_equal(stats().intents[TIDE_PCI_INTENT_PAGEOUT].verified_bytes, 0);
}

/* A kernel without MADV_POPULATE_WRITE is asked for it only once. */
static void test_old_host_kernel(void **state)
{
    (void)state;
    bench.bad_host = ANON_HOST;
    bench.bad_rc = -EINVAL;
    bench.bad_advice = MADV_POPULATE_WRITE;
    for (unsigned i = 0; i < 2; i++) {
        answered(answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_WILLNEED)),
                 TIDE_PCI_ST_OK, 2, TIDE_PCI_CPL_DOWNGRADED,
                 TIDE_PCI_ACTION_NONE);
    }
    assert_int_equal(bench.call_count, 3);
    assert_int_equal(bench.calls[1].advice, MADV_WILLNEED);
    assert_int_equal(bench.calls[2].advice, MADV_WILLNEED);
}

/* A bad place in the middle: exact numbers for each, and nobody else suffers. */
static void test_failure_is_pinned_down(void **state)
{
    (void)state;
    submit(desc(ANON_GPA, 4, TIDE_PCI_INTENT_DISCARD));
    submit(desc(ANON_GPA + 4 * EXTENT, 4, TIDE_PCI_INTENT_DISCARD));
    submit(desc(ANON_GPA + 8 * EXTENT, 4, TIDE_PCI_INTENT_DISCARD));
    bench.bad_host = ANON_HOST + 6 * EXTENT;
    bench.bad_rc = -EINVAL;
    assert_int_equal(run(), TIDE_RUN_IDLE);
    answered(complete(), TIDE_PCI_ST_OK, 4, TIDE_PCI_CPL_ZEROED,
             TIDE_PCI_ACTION_DISCARD);
    answered(complete(), TIDE_PCI_ST_IO, 2,
             TIDE_PCI_CPL_ZEROED | TIDE_PCI_CPL_PARTIAL, TIDE_PCI_ACTION_DISCARD);
    answered(complete(), TIDE_PCI_ST_OK, 4, TIDE_PCI_CPL_ZEROED,
             TIDE_PCI_ACTION_DISCARD);
}

static void test_failure_at_once(void **state)
{
    (void)state;
    bench.bad_host = ANON_HOST;
    bench.bad_rc = -EIO;
    answered(answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_IO, 0, 0, TIDE_PCI_ACTION_NONE);
    bench.bad_rc = -EAGAIN;
    answered(answer_to(desc(ANON_GPA, 2, TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_BUSY, 0, 0, TIDE_PCI_ACTION_NONE);
}

/* Interrupted calls are repeated, but not for ever. */
static void test_interrupted(void **state)
{
    (void)state;
    bench.bad_host = ANON_HOST;
    bench.bad_rc = -EINTR;
    answered(answer_to(desc(ANON_GPA, 1, TIDE_PCI_INTENT_COLD)),
             TIDE_PCI_ST_IO, 0, 0, TIDE_PCI_ACTION_NONE);
    assert_int_equal(bench.call_count, 6);
}

/* COLD, PAGEOUT and WILLNEED never reach a verb that loses contents. */
static void test_live_stays_live(void **state)
{
    static const uint16_t live[] = { TIDE_PCI_INTENT_COLD, TIDE_PCI_INTENT_PAGEOUT,
                                     TIDE_PCI_INTENT_WILLNEED };

    (void)state;
    bench.bad_rc = -EINVAL;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned fail = 0; fail < 2; fail++) {
            for (unsigned room = 0; room < 2; room++) {
                bench.bad_host = fail ? ANON_HOST + EXTENT : UINT64_MAX;
                bench.swap_room = room * GIB;
                answer_to(desc(ANON_GPA, 2, live[i]));
            }
        }
    }
    for (unsigned i = 0; i < bench.call_count; i++) {
        assert_int_not_equal(bench.calls[i].advice, MADV_DONTNEED);
        assert_int_not_equal(bench.calls[i].advice, MADV_FREE);
        assert_int_not_equal(bench.calls[i].advice, MADV_REMOVE);
    }
}

static void test_abandoned_while_pinning_down(void **state)
{
    (void)state;
    submit(desc(ANON_GPA, 4, TIDE_PCI_INTENT_DISCARD));
    bench.bad_host = ANON_HOST + 2 * EXTENT;
    bench.bad_rc = -EINVAL;
    bench.proceed_for = 2;
    assert_int_equal(run(), TIDE_RUN_ABANDONED);
    assert_int_equal(index_read(TIDE_PCI_INDEX_CQ_TAIL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_discard),
        BENCH_TEST(test_discard_not_verified),
        BENCH_TEST(test_lazy),
        BENCH_TEST(test_cold),
        BENCH_TEST(test_willneed),
        BENCH_TEST(test_pageout),
        BENCH_TEST(test_pageout_without_room),
        BENCH_TEST(test_old_host_kernel),
        BENCH_TEST(test_failure_is_pinned_down),
        BENCH_TEST(test_failure_at_once),
        BENCH_TEST(test_interrupted),
        BENCH_TEST(test_live_stays_live),
        BENCH_TEST(test_abandoned_while_pinning_down),
    };

    return RUN_TESTS(tests);
}
