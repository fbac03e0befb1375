/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings: wrap, full, garbage, event indices, reset. */
#include <endian.h>

#include "fixture.h"

#define COLD TIDE_PCI_INTENT_COLD
#define EVENT_IDX TIDE_PCI_FEATURE_EVENT_IDX

static struct tide_pci_desc cold(unsigned extent)
{
    return desc(ANON_GPA + extent * EXTENT, 1, COLD);
}

/* Let the free-running indices start anywhere, as if long in use. */
static void start_at(uint32_t index)
{
    bench.core->sq_head = index;
    bench.core->cq_tail = index;
    bench.core->cq_published = index;
    for (unsigned at = TIDE_PCI_INDEX_SQ_TAIL; at <= TIDE_PCI_INDEX_CQ_HEAD;
         at += TIDE_PCI_INDEX_LINE) {
        index_write(at, index);
    }
}

static void broken(void)
{
    uint32_t head = index_read(TIDE_PCI_INDEX_SQ_HEAD);
    uint32_t tail = index_read(TIDE_PCI_INDEX_CQ_TAIL);

    assert_int_equal(run(), TIDE_RUN_STOPPED);
    assert_true(tide_core_status(bench.core) & TIDE_PCI_STATUS_NEEDS_RESET);
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_HEAD), head);
    assert_int_equal(index_read(TIDE_PCI_INDEX_CQ_TAIL), tail);
    assert_int_equal(bench.call_count, 0);
    assert_int_equal(stats().broken, 1);
    /* It stays so, even if the index is repaired. */
    index_write(TIDE_PCI_INDEX_SQ_TAIL, head);
    assert_int_equal(run(), TIDE_RUN_STOPPED);
}

static void test_empty(void **state)
{
    (void)state;
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(bench.notified, 0);
    assert_int_equal(stats().requests, 0);
}

static void test_not_enabled(void **state)
{
    (void)state;
    tide_core_reset(bench.core);
    submit(cold(0));
    assert_int_equal(run(), TIDE_RUN_STOPPED);
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_HEAD), 0);
    bench_enable(0);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(complete().status, TIDE_PCI_ST_OK);
}

static void test_many_times_round(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5 * QUEUE + 3; i++) {
        struct tide_pci_cpl cpl = answer_to(cold(i % 8));

        assert_int_equal(cpl.status, TIDE_PCI_ST_OK);
        assert_int_equal(le32toh(cpl.done), 1);
    }
}

static void test_index_wrap(void **state)
{
    (void)state;
    start_at(UINT32_MAX - 5);
    for (unsigned i = 0; i < QUEUE; i++) {
        submit(cold(2 * i));
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_HEAD), QUEUE - 6);
    assert_int_equal(index_read(TIDE_PCI_INDEX_CQ_TAIL), QUEUE - 6);
    for (unsigned i = 0; i < QUEUE; i++) {
        assert_int_equal(complete().status, TIDE_PCI_ST_OK);
    }
}

static void test_full(void **state)
{
    (void)state;
    for (unsigned i = 0; i < QUEUE; i++) {
        submit(cold(i));
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(stats().completed, QUEUE);
}

/* Unread completions are never overwritten, whatever is submitted. */
static void test_no_room(void **state)
{
    (void)state;
    for (unsigned i = 0; i < QUEUE; i++) {
        submit(cold(i));
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    submit(cold(0));
    assert_int_equal(run(), TIDE_RUN_NO_ROOM);
    assert_int_equal(stats().completed, QUEUE);
    for (unsigned i = 0; i < QUEUE; i++) {
        assert_int_equal(le64toh(complete().cookie), i);
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(le64toh(complete().cookie), QUEUE);
}

static void test_some_room(void **state)
{
    (void)state;
    for (unsigned i = 0; i < QUEUE; i++) {
        submit(cold(i));
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    complete();
    complete();
    for (unsigned i = 0; i < 3; i++) {
        submit(cold(i));
    }
    assert_int_equal(run(), TIDE_RUN_NO_ROOM);
    assert_int_equal(stats().completed, QUEUE + 2);
}

static void test_submission_delta_too_large(void **state)
{
    (void)state;
    index_write(TIDE_PCI_INDEX_SQ_TAIL, QUEUE + 1);
    broken();
}

static void test_submission_backwards(void **state)
{
    (void)state;
    index_write(TIDE_PCI_INDEX_SQ_TAIL, UINT32_MAX);
    broken();
}

static void test_completion_head_ahead(void **state)
{
    (void)state;
    index_write(TIDE_PCI_INDEX_CQ_HEAD, 1);
    broken();
}

static void test_completion_head_far_behind(void **state)
{
    (void)state;
    start_at(100);
    index_write(TIDE_PCI_INDEX_CQ_HEAD, 100 - QUEUE - 1);
    broken();
}

/* What the driver does to the device's own lines changes nothing. */
static void test_device_lines_overwritten(void **state)
{
    (void)state;
    answer_to(cold(0));
    index_write(TIDE_PCI_INDEX_SQ_HEAD, 0xdeadbeef);
    index_write(TIDE_PCI_INDEX_CQ_TAIL, 0xdeadbeef);
    submit(cold(1));
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_HEAD), 2);
    assert_int_equal(index_read(TIDE_PCI_INDEX_CQ_TAIL), 2);
}

static void test_reset_recovers(void **state)
{
    (void)state;
    test_submission_delta_too_large(state);
    tide_core_reset(bench.core);
    assert_int_equal(tide_core_status(bench.core), 0);
    for (unsigned at = 0; at < TIDE_PCI_INDEX_SIZE; at += 4) {
        assert_int_equal(index_read(at), 0);
    }
    bench_enable(0);
    assert_int_equal(answer_to(cold(0)).status, TIDE_PCI_ST_OK);
}

/* A reset between two calls: what is left is dropped, not answered. */
static void test_reset_drops_pending(void **state)
{
    (void)state;
    submit(desc(ANON_GPA, 100, COLD));
    submit(desc(ANON_GPA + 200 * EXTENT, 100, COLD));
    step();
    step();
    assert_int_equal(index_read(TIDE_PCI_INDEX_CQ_TAIL), 0);
    tide_core_reset(bench.core);
    assert_int_equal(stats().abandoned, 2);
    bench_enable(0);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(bench.call_count, 2);
    assert_int_equal(index_read(TIDE_PCI_INDEX_CQ_TAIL), 0);
}

static void test_every_publication_is_signalled(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        answer_to(cold(i));
    }
    assert_int_equal(bench.notified, 3);
    assert_int_equal(stats().notified, 3);
}

static void test_completion_event(void **state)
{
    (void)state;
    tide_core_reset(bench.core);
    bench_enable(EVENT_IDX);
    index_write(TIDE_PCI_INDEX_CQ_EVENT, 2);
    answer_to(cold(0));
    answer_to(cold(1));
    assert_int_equal(bench.notified, 0);
    answer_to(cold(2));
    assert_int_equal(bench.notified, 1);
    answer_to(cold(3));
    assert_int_equal(bench.notified, 1);
}

static void test_completion_event_within_batch(void **state)
{
    (void)state;
    tide_core_reset(bench.core);
    bench_enable(EVENT_IDX);
    start_at(UINT32_MAX - 1);
    index_write(TIDE_PCI_INDEX_CQ_EVENT, 0);
    for (unsigned i = 0; i < 4; i++) {
        submit(cold(i));
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(bench.notified, 1);
}

/* The doorbell is armed only once the ring was found empty. */
static void test_submission_event(void **state)
{
    (void)state;
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_EVENT), 0);
    submit(cold(0));
    submit(cold(1));
    assert_int_equal(tide_core_run(bench.core), TIDE_RUN_MORE);
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_EVENT), 0);
    assert_int_equal(tide_core_run(bench.core), TIDE_RUN_IDLE);
    assert_int_equal(index_read(TIDE_PCI_INDEX_SQ_EVENT), 2);
}

static void test_batches_are_bounded(void **state)
{
    TideConfig config = bench_config();

    (void)state;
    config.queue_size = TIDE_QUEUE_SIZE_MAX;
    bench_configure(&config);
    for (unsigned i = 0; i < TIDE_PENDING_MAX + 1; i++) {
        submit(cold(0));
    }
    assert_int_equal(tide_core_run(bench.core), TIDE_RUN_MORE);
    assert_int_equal(stats().completed, TIDE_PENDING_MAX);
    assert_int_equal(tide_core_depth(bench.core), 1);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    assert_int_equal(stats().completed, TIDE_PENDING_MAX + 1);
}

static void test_depth_is_clamped(void **state)
{
    (void)state;
    assert_int_equal(tide_core_depth(bench.core), 0);
    submit(cold(0));
    assert_int_equal(tide_core_depth(bench.core), 1);
    index_write(TIDE_PCI_INDEX_SQ_TAIL, 0x80000000);
    assert_int_equal(tide_core_depth(bench.core), QUEUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_empty),
        BENCH_TEST(test_not_enabled),
        BENCH_TEST(test_many_times_round),
        BENCH_TEST(test_index_wrap),
        BENCH_TEST(test_full),
        BENCH_TEST(test_no_room),
        BENCH_TEST(test_some_room),
        BENCH_TEST(test_submission_delta_too_large),
        BENCH_TEST(test_submission_backwards),
        BENCH_TEST(test_completion_head_ahead),
        BENCH_TEST(test_completion_head_far_behind),
        BENCH_TEST(test_device_lines_overwritten),
        BENCH_TEST(test_reset_recovers),
        BENCH_TEST(test_reset_drops_pending),
        BENCH_TEST(test_every_publication_is_signalled),
        BENCH_TEST(test_completion_event),
        BENCH_TEST(test_completion_event_within_batch),
        BENCH_TEST(test_submission_event),
        BENCH_TEST(test_batches_are_bounded),
        BENCH_TEST(test_depth_is_clamped),
    };

    return RUN_TESTS(tests);
}
