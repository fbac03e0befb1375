/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A state that is saved goes on where it was, here or on another host. */
#include <endian.h>

#include "fixture.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD

static TideSaved saved;

/* Another host: the same ring memory, a new device. */
static void move(void)
{
    size_t size = tide_core_rings_size(QUEUE);
    TideConfig config = bench_config();
    unsigned char *rings = malloc(size);

    tide_core_save(bench.core, &saved);
    memcpy(rings, bench.rings, size);
    bench_configure(&config);
    tide_core_reset(bench.core);
    memcpy(bench.rings, rings, size);
    free(rings);
    assert_true(tide_core_load(bench.core, &saved));
}

static void test_rings_continue(void **state)
{
    (void)state;
    for (unsigned i = 0; i < QUEUE + 3; i++) {
        answer_to(desc(ANON_GPA, 1, DISCARD));
    }
    submit(desc(ANON_GPA, 1, DISCARD));
    move();
    assert_int_equal(tide_core_status(bench.core), TIDE_PCI_STATUS_ENABLED);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(le64toh(complete().cookie), QUEUE + 3);
    assert_int_equal(answer_to(desc(ANON_GPA, 1, DISCARD)).status, TIDE_PCI_ST_OK);
}

static void test_pending_goes_on(void **state)
{
    struct tide_pci_cpl cpl;

    (void)state;
    submit(desc(ANON_GPA, 100, DISCARD));
    submit(desc(ANON_GPA + 200 * EXTENT, 3, TIDE_PCI_INTENT_COLD));
    step();
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_HEAD), 2);
    move();
    assert_int_equal(saved.pending_count, 2);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    for (unsigned i = 0; i < 2; i++) {
        cpl = complete();
        assert_int_equal(cpl.status, TIDE_PCI_ST_OK);
        assert_int_equal(le32toh(cpl.done), le64toh(cpl.cookie) ? 3 : 100);
    }
}

/* Saved again before it ran: nothing is lost. */
static void test_moved_twice(void **state)
{
    (void)state;
    submit(desc(ANON_GPA, 100, DISCARD));
    step();
    move();
    move();
    assert_int_equal(saved.pending_count, 1);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(le32toh(complete().done), 100);
}

/* The new host has less: refused with a status, like any descriptor. */
static void test_pending_is_validated_again(void **state)
{
    (void)state;
    submit(desc(ANON_GPA, 100, DISCARD));
    step();
    bench.gone = ANON_GPA;
    tide_core_save(bench.core, &saved);
    saved.pending[0].flags = 1;
    saved.pending[1] = (TideSavedDesc) { .gpa = ANON_GPA, .count = 1, .intent = DISCARD };
    saved.pending[2] = (TideSavedDesc) { .gpa = ANON_GPA + EXTENT, .count = 1,
                                         .intent = DISCARD };
    saved.pending_count = 3;
    bench.call_count = 0;
    assert_true(tide_core_load(bench.core, &saved));
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(complete().status, TIDE_PCI_ST_INVALID);
    assert_int_equal(complete().status, TIDE_PCI_ST_RANGE);
    assert_int_equal(complete().status, TIDE_PCI_ST_OK);
    assert_int_equal(bench.call_count, 1);
}

/* Nothing comes out that did not go in. */
static void test_counters_balance(void **state)
{
    (void)state;
    submit(desc(ANON_GPA, 100, DISCARD));
    submit(desc(ANON_GPA + 200 * EXTENT, 3, DISCARD));
    step();
    move();
    assert_int_equal(stats().requests, 2);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(stats().completed, 2);
    submit(desc(ANON_GPA, 100, DISCARD));
    step();
    tide_core_save(bench.core, &saved);
    assert_true(tide_core_load(bench.core, &saved));
    assert_int_equal(stats().abandoned, 1);
    tide_core_reset(bench.core);
    assert_int_equal(stats().abandoned, 2);
    assert_int_equal(stats().requests, 4);
    assert_int_equal(stats().completed, 2);
}

/*
 * The new host allows less at a time: what does not fit waits, comes before what
 * is in the ring, and is not lost if the state is saved once more.
 */
static void test_pending_has_to_fit(void **state)
{
    TideConfig config = bench_config();
    TideRun last;

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        submit(desc(ANON_GPA + i * 80 * EXTENT, 70, DISCARD));
    }
    step();
    tide_core_save(bench.core, &saved);
    assert_int_equal(saved.pending_count, 6);
    config.max_pending_extents = 150;
    bench_configure(&config);
    index_write(TIDE_PCI_INDEX_SQ_TAIL, 6);
    assert_true(tide_core_load(bench.core, &saved));
    submit(desc(ANON_GPA, 1, DISCARD));
    step();
    assert_int_equal(bench.core->pending_extents, 2 * 70);
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_HEAD), 0);
    tide_core_save(bench.core, &saved);
    assert_int_equal(saved.pending_count, 6);
    assert_int_equal(saved.sq_head, 6);
    tide_core_reset(bench.core);
    index_write(TIDE_PCI_INDEX_SQ_TAIL, 7);
    assert_true(tide_core_load(bench.core, &saved));
    do {
        last = tide_core_run(bench.core);
        assert_true(bench.core->pending_extents <= 150);
    } while (last == TIDE_RUN_MORE);
    assert_int_equal(last, TIDE_RUN_IDLE);
    for (unsigned i = 0; i < 7; i++) {
        struct tide_pci_cpl cpl = complete();

        assert_int_equal(cpl.status, TIDE_PCI_ST_OK);
        assert_int_equal(le32toh(cpl.done), le64toh(cpl.cookie) == 6 ? 1 : 70);
    }
    assert_int_equal(stats().requests, stats().completed + stats().abandoned);
}

static void test_settings_are_kept(void **state)
{
    (void)state;
    tide_core_reset(bench.core);
    tide_core_reg_write(bench.core, TIDE_PCI_REG_POOL_BASE_LO, ANON_GPA, 4);
    tide_core_reg_write(bench.core, TIDE_PCI_REG_POOL_SIZE_LO, 4 * EXTENT, 4);
    bench_enable(TIDE_PCI_FEATURE_EVENT_IDX);
    move();
    assert_int_equal(tide_core_reg_read(bench.core, TIDE_PCI_REG_DRIVER_FEATURES, 4),
                     TIDE_PCI_FEATURE_EVENT_IDX);
    assert_int_equal(answer_to(desc(ANON_GPA + 4 * EXTENT, 1, DISCARD)).status,
                     TIDE_PCI_ST_RANGE);
}

static void test_nonsense_is_refused(void **state)
{
    TideSaved bad;

    (void)state;
    tide_core_save(bench.core, &saved);
    bad = saved;
    bad.pending_count = QUEUE + 1;
    assert_false(tide_core_load(bench.core, &bad));
    bad.pending_count = UINT32_MAX;
    assert_false(tide_core_load(bench.core, &bad));
    bad = saved;
    bad.status = 0x80000001;
    assert_false(tide_core_load(bench.core, &bad));
    bad = saved;
    bad.features = 2;
    assert_false(tide_core_load(bench.core, &bad));
    assert_int_equal(answer_to(desc(ANON_GPA, 1, DISCARD)).status, TIDE_PCI_ST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_rings_continue),
        BENCH_TEST(test_pending_goes_on),
        BENCH_TEST(test_moved_twice),
        BENCH_TEST(test_pending_is_validated_again),
        BENCH_TEST(test_counters_balance),
        BENCH_TEST(test_pending_has_to_fit),
        BENCH_TEST(test_settings_are_kept),
        BENCH_TEST(test_nonsense_is_refused),
    };

    return RUN_TESTS(tests);
}
