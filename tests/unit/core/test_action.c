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
    assert_int_equal(bench.call_count, 2);
    assert_int_equal(bench.calls[1].host, ANON_HOST + EXTENT);
    assert_int_equal(bench.calls[1].len, EXTENT);
    assert_int_equal(bench.calls[1].advice, MADV_PAGEOUT);
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

/* The swap fills up, then has room again: the weakest action is what is told. */
static void test_pageout_runs_out_of_room(void **state)
{
    (void)state;
    bench.swap_room = 3 * EXTENT;
    submit(desc(ANON_GPA, 3, TIDE_PCI_INTENT_PAGEOUT));
    assert_int_equal(step(), TIDE_RUN_MORE);
    assert_int_equal(bench.calls[0].advice, MADV_PAGEOUT);
    bench.swap_room = 0;
    assert_int_equal(run(), TIDE_RUN_IDLE);
    answered(complete(), TIDE_PCI_ST_OK, 3, TIDE_PCI_CPL_DOWNGRADED,
             TIDE_PCI_ACTION_COLD);
}

/* What the host refused does not count towards the rate. */
static void test_failures_are_not_throttled(void **state)
{
    TideConfig config = bench_config();

    (void)state;
    config.max_bytes_per_s = EXTENT;
    bench_configure(&config);
    bench.bad_host = ANON_HOST;
    bench.bad_rc = -EIO;
    answered(answer_to(desc(ANON_GPA, 1, TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_IO, 0, 0, TIDE_PCI_ACTION_NONE);
    assert_int_equal(tide_core_wait_ns(bench.core), 0);
    answered(answer_to(desc(ANON_GPA + EXTENT, 1, TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_OK, 1, TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
    assert_true(tide_core_wait_ns(bench.core) > 0);
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
    for (unsigned i = 0; i < 3; i++) {
        struct tide_pci_cpl cpl = complete();

        if (le64toh(cpl.cookie) == 1) {
            answered(cpl, TIDE_PCI_ST_IO, 2, TIDE_PCI_CPL_ZEROED | TIDE_PCI_CPL_PARTIAL,
                     TIDE_PCI_ACTION_DISCARD);
        } else {
            answered(cpl, TIDE_PCI_ST_OK, 4, TIDE_PCI_CPL_ZEROED,
                     TIDE_PCI_ACTION_DISCARD);
        }
    }
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
    assert_int_equal(bench.call_count, 3);
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

/* What is left of a request is answered too when its memory goes away. */
static void test_memory_goes_away(void **state)
{
    (void)state;
    submit(desc(ANON_GPA, 100, TIDE_PCI_INTENT_DISCARD));
    step();
    bench.gone = ANON_GPA + 99 * EXTENT;
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(bench.call_count, 1);
    answered(complete(), TIDE_PCI_ST_RANGE, 64,
             TIDE_PCI_CPL_ZEROED | TIDE_PCI_CPL_PARTIAL, TIDE_PCI_ACTION_DISCARD);
}

/* Other memory at the same address is not what the descriptor named. */
static void test_memory_is_replaced(void **state)
{
    (void)state;
    submit(desc(ANON_GPA, 100, TIDE_PCI_INTENT_DISCARD));
    step();
    bench.moved = 64 * GIB;
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(bench.call_count, 1);
    assert_int_equal(le16toh(complete().status), TIDE_PCI_ST_RANGE);
    assert_int_equal(bench.held, 0);
}

static void test_refused_midway(void **state)
{
    static const uint16_t why[] = { TIDE_PCI_ST_BUSY, TIDE_PCI_ST_INHIBITED };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        submit(desc(ANON_GPA, 100, TIDE_PCI_INTENT_DISCARD));
        step();
        bench.begin = why[i];
        assert_int_equal(run(), TIDE_RUN_IDLE);
        assert_int_equal(bench.call_count, i + 1);
        answered(complete(), why[i], 64,
                 TIDE_PCI_CPL_ZEROED | TIDE_PCI_CPL_PARTIAL, TIDE_PCI_ACTION_DISCARD);
        assert_int_equal(!!(tide_core_status(bench.core) & TIDE_PCI_STATUS_INHIBITED), i);
        bench.begin = TIDE_PCI_ST_OK;
    }
}

/* One bad place in a vector: the rest is done, and each answer is exact. */
static void test_vector_fails_in_the_middle(void **state)
{
    (void)state;
    bench.can_vec = true;
    bench.bad_host = ANON_HOST + 4 * EXTENT;
    bench.bad_rc = -EIO;
    for (unsigned i = 0; i < 4; i++) {
        submit(desc(ANON_GPA + 2 * i * EXTENT, 1, TIDE_PCI_INTENT_DISCARD));
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    for (unsigned i = 0; i < 4; i++) {
        struct tide_pci_cpl cpl = complete();
        bool bad = le64toh(cpl.cookie) == 2;

        answered(cpl, bad ? TIDE_PCI_ST_IO : TIDE_PCI_ST_OK, !bad,
                 bad ? 0 : TIDE_PCI_CPL_ZEROED,
                 bad ? TIDE_PCI_ACTION_NONE : TIDE_PCI_ACTION_DISCARD);
    }
    assert_int_equal(bench.vectors, 1);
}

/* One look at all ranges of a call, and each answer is about its own. */
static void test_one_look_for_many(void **state)
{
    (void)state;
    bench.stays = ANON_HOST + 4 * EXTENT;
    for (unsigned i = 0; i < 4; i++) {
        submit(desc(ANON_GPA + 2 * i * EXTENT, 1, TIDE_PCI_INTENT_DISCARD));
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(bench.looks, 1);
    for (unsigned i = 0; i < 4; i++) {
        answered(complete(), TIDE_PCI_ST_OK, 1, i == 2 ? 0 : TIDE_PCI_CPL_ZEROED,
                 TIDE_PCI_ACTION_DISCARD);
    }
    assert_int_equal(stats().intents[TIDE_PCI_INTENT_DISCARD].verified_bytes,
                     3 * EXTENT);
}

/* A kernel that takes no vectors is not asked again. */
static void test_kernel_without_vectors(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 4; i++) {
            submit(desc(ANON_GPA + 2 * i * EXTENT, 1, TIDE_PCI_INTENT_DISCARD));
        }
        assert_int_equal(run(), TIDE_RUN_IDLE);
        for (unsigned i = 0; i < 4; i++) {
            answered(complete(), TIDE_PCI_ST_OK, 1, TIDE_PCI_CPL_ZEROED,
                     TIDE_PCI_ACTION_DISCARD);
        }
    }
    assert_int_equal(bench.vectors, 1);
    assert_int_equal(bench.call_count, 12);
}

typedef struct Cell {
    uint16_t intent;
    TideBacking backing;
    int advice;                 /* 0: no call */
    uint32_t action;
    uint16_t flags;
} Cell;

static void check_cell(const Cell *cell)
{
    bool punches = cell->backing == TIDE_BACKING_PRIVATE_SHMEM &&
        cell->action == TIDE_PCI_ACTION_DISCARD;
    uint64_t at = 5 * EXTENT;

    bench.call_count = 0;
    answered(answer_to(desc(BACKING_GPA(cell->backing) + at, 1, cell->intent)),
             TIDE_PCI_ST_OK, 1, cell->flags, cell->action);
    assert_int_equal(bench.call_count, (cell->advice != 0) + punches);
    if (cell->advice) {
        assert_int_equal(bench.calls[0].host, BACKING_HOST(cell->backing) + at);
        assert_int_equal(bench.calls[0].len, EXTENT);
        assert_int_equal(bench.calls[0].advice, cell->advice);
    }
    if (punches) {
        assert_int_equal(bench.calls[1].host, at);
        assert_int_equal(bench.calls[1].len, EXTENT);
        assert_int_equal(bench.calls[1].advice, PUNCH);
    }
}

/* The table of the specification; anonymous memory has its own tests above. */
static void test_every_backing(void **state)
{
#define ROW(_intent, _backing, _advice, _action, _flags) \
    { TIDE_PCI_INTENT_##_intent, TIDE_BACKING_##_backing, _advice, \
      TIDE_PCI_ACTION_##_action, _flags }
#define Z TIDE_PCI_CPL_ZEROED
#define D TIDE_PCI_CPL_DOWNGRADED
    static const Cell cells[] = {
        ROW(DISCARD, SHMEM, MADV_REMOVE, DISCARD, Z),
        ROW(DISCARD, PRIVATE_SHMEM, MADV_DONTNEED, DISCARD, Z),
        ROW(DISCARD, HUGETLB, MADV_REMOVE, DISCARD, Z),
        ROW(DISCARD, PRIVATE_HUGETLB, MADV_DONTNEED, DISCARD, 0),
        ROW(DISCARD, PRIVATE_FILE, MADV_DONTNEED, DISCARD, 0),
        ROW(DISCARD, SHARED_FILE, MADV_REMOVE, DISCARD, Z),
        ROW(DISCARD_LAZY, SHMEM, MADV_REMOVE, DISCARD, Z),
        ROW(DISCARD_LAZY, PRIVATE_SHMEM, MADV_DONTNEED, DISCARD, Z),
        ROW(DISCARD_LAZY, HUGETLB, MADV_REMOVE, DISCARD, Z),
        ROW(DISCARD_LAZY, PRIVATE_HUGETLB, MADV_DONTNEED, DISCARD, 0),
        ROW(DISCARD_LAZY, PRIVATE_FILE, MADV_DONTNEED, DISCARD, 0),
        ROW(DISCARD_LAZY, SHARED_FILE, MADV_REMOVE, DISCARD, Z),
        ROW(COLD, SHMEM, MADV_COLD, COLD, 0),
        ROW(COLD, PRIVATE_SHMEM, MADV_COLD, COLD, 0),
        ROW(COLD, HUGETLB, 0, NONE, D),
        ROW(COLD, PRIVATE_HUGETLB, 0, NONE, D),
        ROW(COLD, PRIVATE_FILE, MADV_COLD, COLD, 0),
        ROW(COLD, SHARED_FILE, MADV_COLD, COLD, 0),
        ROW(PAGEOUT, SHMEM, MADV_PAGEOUT, PAGEOUT, 0),
        ROW(PAGEOUT, PRIVATE_SHMEM, MADV_PAGEOUT, PAGEOUT, 0),
        ROW(PAGEOUT, PRIVATE_FILE, MADV_COLD, COLD, D),
        ROW(PAGEOUT, SHARED_FILE, MADV_COLD, COLD, D),
        ROW(WILLNEED, SHMEM, MADV_POPULATE_WRITE, POPULATE, 0),
        ROW(WILLNEED, PRIVATE_SHMEM, MADV_POPULATE_WRITE, POPULATE, 0),
        ROW(WILLNEED, HUGETLB, MADV_POPULATE_WRITE, POPULATE, 0),
        ROW(WILLNEED, PRIVATE_HUGETLB, MADV_POPULATE_WRITE, POPULATE, 0),
        ROW(WILLNEED, PRIVATE_FILE, MADV_POPULATE_READ, POPULATE, 0),
        ROW(WILLNEED, SHARED_FILE, MADV_POPULATE_READ, POPULATE, 0),
    };

    (void)state;
    bench.swap_room = GIB;
    for (unsigned i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        check_cell(&cells[i]);
    }
}

/* A filesystem without holes: said so, and nothing is claimed. */
static void test_no_holes(void **state)
{
    (void)state;
    bench.bad_rc = -EOPNOTSUPP;
    bench.bad_host = BACKING_HOST(TIDE_BACKING_SHARED_FILE);
    answered(answer_to(desc(BACKING_GPA(TIDE_BACKING_SHARED_FILE), 1,
                            TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_UNSUPPORTED, 0, 0, TIDE_PCI_ACTION_NONE);
    bench.bad_host = 0;
    bench.bad_advice = PUNCH;
    answered(answer_to(desc(BACKING_GPA(TIDE_BACKING_PRIVATE_SHMEM), 1,
                            TIDE_PCI_INTENT_DISCARD)),
             TIDE_PCI_ST_UNSUPPORTED, 0, 0, TIDE_PCI_ACTION_NONE);
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
        BENCH_TEST(test_pageout_runs_out_of_room),
        BENCH_TEST(test_failures_are_not_throttled),
        BENCH_TEST(test_old_host_kernel),
        BENCH_TEST(test_failure_is_pinned_down),
        BENCH_TEST(test_failure_at_once),
        BENCH_TEST(test_interrupted),
        BENCH_TEST(test_live_stays_live),
        BENCH_TEST(test_memory_goes_away),
        BENCH_TEST(test_memory_is_replaced),
        BENCH_TEST(test_refused_midway),
        BENCH_TEST(test_vector_fails_in_the_middle),
        BENCH_TEST(test_one_look_for_many),
        BENCH_TEST(test_kernel_without_vectors),
        BENCH_TEST(test_every_backing),
        BENCH_TEST(test_no_holes),
    };

    return RUN_TESTS(tests);
}
