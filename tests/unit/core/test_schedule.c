/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes one call to the host, and what must not. */
#include <endian.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define COLD TIDE_PCI_INTENT_COLD

static void submit_at(unsigned extent, unsigned count, uint16_t intent)
{
    submit(desc(ANON_GPA + extent * EXTENT, count, intent));
}

/* All descriptors answered OK, each for as many extents as it asked. */
static void run_all_ok(unsigned descs, unsigned extents)
{
    unsigned done = 0;

    assert_int_equal(run(), TIDE_RUN_IDLE);
    for (unsigned i = 0; i < descs; i++) {
        struct tide_pci_cpl cpl = complete();

        assert_int_equal(cpl.status, TIDE_PCI_ST_OK);
        done += cpl.done;
    }
    assert_int_equal(done, extents);
    assert_int_equal(index_read(TIDE_PCI_INDEX_CQ_TAIL),
                     index_read(TIDE_PCI_INDEX_CQ_HEAD));
}

static void called(unsigned i, unsigned extent, unsigned count, int advice)
{
    assert_true(i < bench.call_count);
    assert_int_equal(bench.calls[i].host, ANON_HOST + extent * EXTENT);
    assert_int_equal(bench.calls[i].len, count * EXTENT);
    assert_int_equal(bench.calls[i].advice, advice);
}

static void test_adjacent(void **state)
{
    (void)state;
    submit_at(0, 1, DISCARD);
    submit_at(1, 3, DISCARD);
    submit_at(4, 2, DISCARD);
    run_all_ok(3, 6);
    assert_int_equal(bench.call_count, 1);
    called(0, 0, 6, MADV_DONTNEED);
    assert_int_equal(stats().merged, 3);
}

static void test_reversed(void **state)
{
    (void)state;
    for (unsigned i = QUEUE; i-- > 0;) {
        submit_at(i, 1, DISCARD);
    }
    run_all_ok(QUEUE, QUEUE);
    assert_int_equal(bench.call_count, 1);
    called(0, 0, QUEUE, MADV_DONTNEED);
}

static void test_overlapping(void **state)
{
    (void)state;
    submit_at(0, 8, DISCARD);
    submit_at(2, 2, DISCARD);
    submit_at(6, 4, DISCARD);
    submit_at(0, 8, DISCARD);
    run_all_ok(4, 22);
    assert_int_equal(bench.call_count, 1);
    called(0, 0, 10, MADV_DONTNEED);
}

static void test_gap(void **state)
{
    (void)state;
    submit_at(0, 1, DISCARD);
    submit_at(2, 1, DISCARD);
    run_all_ok(2, 2);
    assert_int_equal(bench.call_count, 2);
    called(0, 0, 1, MADV_DONTNEED);
    called(1, 2, 1, MADV_DONTNEED);
    assert_int_equal(stats().merged, 0);
}

static void test_intents_stay_apart(void **state)
{
    (void)state;
    submit_at(0, 1, DISCARD);
    submit_at(1, 1, COLD);
    submit_at(2, 1, DISCARD);
    submit_at(3, 1, COLD);
    run_all_ok(4, 4);
    assert_int_equal(bench.call_count, 4);
    called(0, 0, 1, MADV_DONTNEED);
    called(1, 2, 1, MADV_DONTNEED);
    called(2, 1, 1, MADV_COLD);
    called(3, 3, 1, MADV_COLD);
}

/* Somebody waits for WILLNEED; nobody for COLD. */
static void test_urgent_first(void **state)
{
    (void)state;
    bench.swap_room = GIB;
    submit_at(0, 1, TIDE_PCI_INTENT_PAGEOUT);
    submit_at(1, 1, COLD);
    submit_at(2, 1, TIDE_PCI_INTENT_WILLNEED);
    submit_at(3, 1, DISCARD);
    run_all_ok(4, 4);
    called(0, 2, 1, MADV_POPULATE_WRITE);
    called(1, 3, 1, MADV_DONTNEED);
    called(2, 1, 1, MADV_COLD);
    called(3, 0, 1, MADV_PAGEOUT);
}

static void test_slices(void **state)
{
    (void)state;
    submit_at(0, 100, DISCARD);
    submit_at(100, 50, DISCARD);
    run_all_ok(2, 150);
    assert_int_equal(bench.call_count, 3);
    called(0, 0, 64, MADV_DONTNEED);
    called(1, 64, 64, MADV_DONTNEED);
    called(2, 128, 22, MADV_DONTNEED);
}

/* What costs more per byte gets a smaller slice. */
static void test_costly_slices(void **state)
{
    (void)state;
    bench.swap_room = GIB;
    submit_at(0, 16, TIDE_PCI_INTENT_WILLNEED);
    run_all_ok(1, 16);
    called(0, 0, 8, MADV_POPULATE_WRITE);
    called(1, 8, 8, MADV_POPULATE_WRITE);
    bench.call_count = 0;
    submit_at(0, 3, TIDE_PCI_INTENT_PAGEOUT);
    run_all_ok(1, 3);
    assert_int_equal(bench.call_count, 3);
    called(2, 2, 1, MADV_PAGEOUT);
}

static void submit_one_of(unsigned extent, uint16_t intent)
{
    submit_at(extent, 1, intent);
}

/* A large one in work: who comes later does not wait for its end. */
static void test_small_passes_large(void **state)
{
    (void)state;
    submit_at(0, 384, DISCARD);
    assert_int_equal(step(), TIDE_RUN_MORE);
    submit_one_of(400, DISCARD);
    submit_one_of(402, TIDE_PCI_INTENT_WILLNEED);
    submit_one_of(404, COLD);
    assert_int_equal(step(), TIDE_RUN_MORE);
    called(1, 402, 1, MADV_POPULATE_WRITE);
    assert_int_equal(step(), TIDE_RUN_MORE);
    called(2, 400, 1, MADV_DONTNEED);
    assert_int_equal(le64toh(complete().cookie), 2);
    assert_int_equal(le64toh(complete().cookie), 1);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(stats().completed, 4);
}

/* ... and a stream of small ones does not keep the large one from its end. */
static void test_large_is_not_starved(void **state)
{
    unsigned rounds = 0;

    (void)state;
    submit_at(0, 320, DISCARD);
    while (stats().intents[DISCARD].acted_bytes < 320 * EXTENT) {
        submit_one_of(400 + 2 * (rounds % 8), COLD);
        step();
        while (index_read(TIDE_PCI_INDEX_CQ_TAIL) != index_read(TIDE_PCI_INDEX_CQ_HEAD)) {
            complete();
        }
        assert_true(++rounds <= 5 * 4);
    }
}

static void test_vector(void **state)
{
    (void)state;
    bench.can_vec = true;
    for (unsigned i = 0; i < QUEUE; i++) {
        submit_one_of(2 * i, DISCARD);
    }
    run_all_ok(QUEUE, QUEUE);
    assert_int_equal(bench.vectors, 1);
    assert_int_equal(stats().advise_calls, 1);
    assert_int_equal(stats().vectors, 1);
}

/* A vector is no larger than a slice either. */
static void test_vector_is_cut(void **state)
{
    (void)state;
    bench.can_vec = true;
    submit_at(0, 40, DISCARD);
    submit_at(100, 40, DISCARD);
    run_all_ok(2, 80);
    called(0, 0, 40, MADV_DONTNEED);
    called(1, 100, 24, MADV_DONTNEED);
    called(2, 124, 16, MADV_DONTNEED);
}

static void test_rate_limit(void **state)
{
    TideConfig config = bench_config();

    (void)state;
    config.max_bytes_per_s = 1024 * EXTENT;
    bench_configure(&config);
    submit_at(0, 128, DISCARD);
    assert_int_equal(run(), TIDE_RUN_WAIT);
    assert_int_equal(bench.call_count, 1);
    /* 64 extents of 1024 a second. */
    assert_true(tide_core_wait_ns(bench.core) > 20000000);
    assert_true(tide_core_wait_ns(bench.core) <= 62500000);
    assert_true(stats().throttled >= 1);
    while (run() == TIDE_RUN_WAIT) {
        usleep(1000);
    }
    assert_int_equal(bench.call_count, 2);
    assert_int_equal(complete().status, TIDE_PCI_ST_OK);
}

/* The ring waits while enough is in work; one descriptor is always taken. */
static void test_pending_limit(void **state)
{
    TideConfig config = bench_config();

    (void)state;
    config.max_pending_extents = 100;
    bench_configure(&config);
    submit_at(0, 128, DISCARD);
    submit_at(200, 64, DISCARD);
    step();
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_HEAD), 1);
    step();
    step();
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_HEAD), 2);
    run_all_ok(2, 192);
}

/* Two regions that touch on the host are still two mappings. */
static void test_regions_stay_apart(void **state)
{
    TideRequest reqs[2] = {
        { .intent = DISCARD, .len = EXTENT,
          .target = { (void *)ANON_HOST, TIDE_BACKING_ANON, -1, 0, reqs } },
        { .intent = DISCARD, .len = EXTENT,
          .target = { (void *)(ANON_HOST + EXTENT), TIDE_BACKING_ANON, -1, 0,
                      reqs + 1 } },
    };
    TideRequest *order[] = { &reqs[0], &reqs[1] };

    (void)state;
    assert_int_equal(tide_next_span(order, 2).count, 1);
    reqs[1].target.ref = reqs;
    assert_int_equal(tide_next_span(order, 2).count, 2);
    reqs[1].target.backing = TIDE_BACKING_SHMEM;
    assert_int_equal(tide_next_span(order, 2).count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_adjacent),
        BENCH_TEST(test_reversed),
        BENCH_TEST(test_overlapping),
        BENCH_TEST(test_gap),
        BENCH_TEST(test_intents_stay_apart),
        BENCH_TEST(test_urgent_first),
        BENCH_TEST(test_slices),
        BENCH_TEST(test_costly_slices),
        BENCH_TEST(test_small_passes_large),
        BENCH_TEST(test_large_is_not_starved),
        BENCH_TEST(test_vector),
        BENCH_TEST(test_vector_is_cut),
        BENCH_TEST(test_rate_limit),
        BENCH_TEST(test_pending_limit),
        BENCH_TEST(test_regions_stay_apart),
    };

    return RUN_TESTS(tests);
}
