/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every rule of a descriptor: broken alone, it is refused and nothing happens. */
#include <endian.h>

#include "fixture.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD

static void refused(struct tide_pci_desc d, uint16_t status)
{
    struct tide_pci_cpl cpl = answer_to(d);

    assert_int_equal(le16toh(cpl.status), status);
    assert_int_equal(cpl.done, 0);
    assert_int_equal(cpl.flags, 0);
    assert_int_equal(cpl.action, TIDE_PCI_ACTION_NONE);
    assert_int_equal(bench.call_count, 0);
}

static void test_good_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(answer_to(desc(ANON_GPA, 1, DISCARD)).status, TIDE_PCI_ST_OK);
    assert_int_equal(bench.call_count, 1);
}

static void test_unknown_intents(void **state)
{
    (void)state;
    refused(desc(ANON_GPA, 1, 0), TIDE_PCI_ST_INVALID);
    refused(desc(ANON_GPA, 1, TIDE_PCI_INTENT_WILLNEED + 1), TIDE_PCI_ST_INVALID);
    refused(desc(ANON_GPA, 1, UINT16_MAX), TIDE_PCI_ST_INVALID);
}

static void test_flags_and_reserved(void **state)
{
    struct tide_pci_desc d = desc(ANON_GPA, 1, DISCARD);

    (void)state;
    d.flags = htole16(1);
    refused(d, TIDE_PCI_ST_INVALID);
    d.flags = htole16(0x8000);
    refused(d, TIDE_PCI_ST_INVALID);
    d = desc(ANON_GPA, 1, DISCARD);
    d.reserved = htole64(1);
    refused(d, TIDE_PCI_ST_INVALID);
    d.reserved = htole64(UINT64_C(1) << 63);
    refused(d, TIDE_PCI_ST_INVALID);
}

static void test_count(void **state)
{
    TideConfig config = bench_config();

    (void)state;
    config.max_extents = 4;
    bench_configure(&config);
    refused(desc(ANON_GPA, 0, DISCARD), TIDE_PCI_ST_INVALID);
    refused(desc(ANON_GPA, 5, DISCARD), TIDE_PCI_ST_INVALID);
    refused(desc(ANON_GPA, UINT32_MAX, DISCARD), TIDE_PCI_ST_INVALID);
    assert_int_equal(answer_to(desc(ANON_GPA, 4, DISCARD)).status, TIDE_PCI_ST_OK);
}

static void test_alignment(void **state)
{
    (void)state;
    refused(desc(ANON_GPA + 1, 1, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(ANON_GPA + 4096, 1, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(ANON_GPA + EXTENT / 2, 1, DISCARD), TIDE_PCI_ST_RANGE);
    /* Aligned on the host is not enough. */
    refused(desc(ODD_GPA + EXTENT - 4096, 1, DISCARD), TIDE_PCI_ST_RANGE);
}

static void test_wrap(void **state)
{
    (void)state;
    refused(desc(-EXTENT, 1, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(-EXTENT, 2, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(-EXTENT * 512, 1024, DISCARD), TIDE_PCI_ST_RANGE);
}

static void test_not_ram(void **state)
{
    (void)state;
    refused(desc(0, 1, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(ANON_GPA - EXTENT, 1, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(ANON_GPA - EXTENT, 2, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(SHMEM_GPA - EXTENT, 2, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(UINT64_C(1) << 60, 1, DISCARD), TIDE_PCI_ST_RANGE);
}

static void test_host_alignment(void **state)
{
    (void)state;
    refused(desc(ODD_GPA, 1, DISCARD), TIDE_PCI_ST_RANGE);
}

static void test_intent_not_allowed(void **state)
{
    TideConfig config = bench_config();

    (void)state;
    for (uint16_t i = DISCARD; i <= TIDE_PCI_INTENT_WILLNEED; i++) {
        config.intents = TIDE_INTENTS_ALL & ~(1u << i);
        bench_configure(&config);
        refused(desc(ANON_GPA, 1, i), TIDE_PCI_ST_UNSUPPORTED);
    }
}

static void test_backing(void **state)
{
    (void)state;
    for (uint16_t i = DISCARD; i <= TIDE_PCI_INTENT_WILLNEED; i++) {
        refused(desc(BACKING_GPA(TIDE_BACKING_COARSE), 1, i), TIDE_PCI_ST_UNSUPPORTED);
        refused(desc(COMMIT_GPA, 1, i), TIDE_PCI_ST_UNSUPPORTED);
    }
    refused(desc(BACKING_GPA(TIDE_BACKING_HUGETLB), 1, TIDE_PCI_INTENT_PAGEOUT),
            TIDE_PCI_ST_UNSUPPORTED);
}

static void test_busy(void **state)
{
    (void)state;
    bench.begin = TIDE_PCI_ST_BUSY;
    refused(desc(ANON_GPA, 1, DISCARD), TIDE_PCI_ST_BUSY);
    refused(desc(ANON_GPA, 0, DISCARD), TIDE_PCI_ST_INVALID);
    bench.begin = TIDE_PCI_ST_OK;
    assert_int_equal(answer_to(desc(ANON_GPA, 1, DISCARD)).status, TIDE_PCI_ST_OK);
}

static void set_pool(uint64_t base, uint64_t size)
{
    tide_core_reset(bench.core);
    tide_core_reg_write(bench.core, TIDE_PCI_REG_POOL_BASE_LO, (uint32_t)base, 4);
    tide_core_reg_write(bench.core, TIDE_PCI_REG_POOL_BASE_HI, base >> 32, 4);
    tide_core_reg_write(bench.core, TIDE_PCI_REG_POOL_SIZE_LO, (uint32_t)size, 4);
    tide_core_reg_write(bench.core, TIDE_PCI_REG_POOL_SIZE_HI, size >> 32, 4);
    bench_enable(0);
}

static void test_pool(void **state)
{
    uint64_t base = ANON_GPA + 8 * EXTENT;

    (void)state;
    set_pool(base, 4 * EXTENT);
    refused(desc(base - EXTENT, 1, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(base - EXTENT, 2, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(base + 4 * EXTENT, 1, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(base + 3 * EXTENT, 2, DISCARD), TIDE_PCI_ST_RANGE);
    refused(desc(base, 5, DISCARD), TIDE_PCI_ST_RANGE);
    assert_int_equal(answer_to(desc(base, 4, DISCARD)).status, TIDE_PCI_ST_OK);
    assert_int_equal(answer_to(desc(base + 3 * EXTENT, 1, DISCARD)).status,
                     TIDE_PCI_ST_OK);
}

static void test_pool_that_wraps(void **state)
{
    (void)state;
    set_pool(ANON_GPA, UINT64_MAX);
    assert_int_equal(answer_to(desc(ANON_GPA, 1, DISCARD)).status, TIDE_PCI_ST_OK);
    bench.call_count = 0;
    set_pool(ANON_GPA + 8 * EXTENT, UINT64_MAX);
    refused(desc(ANON_GPA, 1, DISCARD), TIDE_PCI_ST_RANGE);
    set_pool(ANON_GPA, EXTENT - 1);
    refused(desc(ANON_GPA, 1, DISCARD), TIDE_PCI_ST_RANGE);
}

/* The answer carries the cookie of the descriptor refused, whatever it is. */
static void test_bad_among_good(void **state)
{
    unsigned ok = 0;

    (void)state;
    for (unsigned i = 0; i < QUEUE; i++) {
        submit(desc(ANON_GPA + i * EXTENT, i % 2, DISCARD));
    }
    assert_int_equal(run(), TIDE_RUN_IDLE);
    for (unsigned i = 0; i < QUEUE; i++) {
        struct tide_pci_cpl cpl = complete();

        assert_int_equal(le16toh(cpl.status), le64toh(cpl.cookie) % 2 ?
                         TIDE_PCI_ST_OK : TIDE_PCI_ST_INVALID);
        ok += cpl.status == TIDE_PCI_ST_OK;
    }
    assert_int_equal(ok, QUEUE / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_good_is_accepted),
        BENCH_TEST(test_unknown_intents),
        BENCH_TEST(test_flags_and_reserved),
        BENCH_TEST(test_count),
        BENCH_TEST(test_alignment),
        BENCH_TEST(test_wrap),
        BENCH_TEST(test_not_ram),
        BENCH_TEST(test_host_alignment),
        BENCH_TEST(test_intent_not_allowed),
        BENCH_TEST(test_backing),
        BENCH_TEST(test_busy),
        BENCH_TEST(test_pool),
        BENCH_TEST(test_pool_that_wraps),
        BENCH_TEST(test_bad_among_good),
    };

    return RUN_TESTS(tests);
}
