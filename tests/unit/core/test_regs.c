/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The register file: constants, access rules, what may change when. */
#include "fixture.h"

static uint32_t reg(uint64_t offset)
{
    return tide_core_reg_read(bench.core, offset, 4);
}

static TideRegEvent set(uint64_t offset, uint32_t value)
{
    return tide_core_reg_write(bench.core, offset, value, 4);
}

static void test_constants(void **state)
{
    (void)state;
    assert_int_equal(reg(TIDE_PCI_REG_MAGIC), TIDE_PCI_MAGIC);
    assert_int_equal(reg(TIDE_PCI_REG_VERSION), TIDE_PCI_VERSION);
    assert_int_equal(reg(TIDE_PCI_REG_FEATURES), TIDE_PCI_FEATURE_EVENT_IDX);
    assert_int_equal(reg(TIDE_PCI_REG_EXTENT_SHIFT), 21);
    assert_int_equal(reg(TIDE_PCI_REG_QUEUE_SIZE), QUEUE);
    assert_int_equal(reg(TIDE_PCI_REG_MAX_EXTENTS), 1024);
    assert_int_equal(reg(TIDE_PCI_REG_INTENTS), 0x3e);
    assert_int_equal(reg(TIDE_PCI_REG_CONTROL), 0);
    assert_int_equal(reg(TIDE_PCI_REG_DOORBELL), 0);
    for (uint64_t offset = 0x38; offset < TIDE_PCI_REGS_SIZE; offset += 4) {
        assert_int_equal(reg(offset), 0);
    }
}

static void test_geometry(void **state)
{
    (void)state;
    for (uint32_t size = TIDE_QUEUE_SIZE_MIN; size <= TIDE_QUEUE_SIZE_MAX; size *= 2) {
        TideConfig config = bench_config();
        size_t bar = tide_core_rings_size(size);

        config.queue_size = size;
        bench_configure(&config);
        assert_int_equal(reg(TIDE_PCI_REG_INDEX_OFFSET), 0);
        assert_true(reg(TIDE_PCI_REG_SQ_OFFSET) >= TIDE_PCI_INDEX_SIZE);
        assert_true(reg(TIDE_PCI_REG_CQ_OFFSET) >=
                    reg(TIDE_PCI_REG_SQ_OFFSET) + size * 32);
        assert_true(bar >= reg(TIDE_PCI_REG_CQ_OFFSET) + size * 32);
        assert_int_equal(bar & (bar - 1), 0);
    }
}

static void test_odd_accesses(void **state)
{
    (void)state;
    for (unsigned size = 1; size <= 8; size++) {
        for (unsigned offset = 0; offset < 8; offset++) {
            if (size == 4 && offset % 4 == 0) {
                continue;
            }
            assert_int_equal(tide_core_reg_read(bench.core, offset, size), 0);
            assert_int_equal(tide_core_reg_write(bench.core,
                                                 TIDE_PCI_REG_DOORBELL + offset,
                                                 1, size), TIDE_REG_REFUSED);
        }
    }
}

static void test_read_only(void **state)
{
    static const uint64_t ro[] = {
        TIDE_PCI_REG_MAGIC, TIDE_PCI_REG_VERSION, TIDE_PCI_REG_FEATURES,
        TIDE_PCI_REG_STATUS, TIDE_PCI_REG_QUEUE_SIZE, TIDE_PCI_REG_INTENTS,
        0x38, TIDE_PCI_REGS_SIZE - 4,
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(ro) / sizeof(ro[0]); i++) {
        uint32_t before = reg(ro[i]);

        assert_int_equal(set(ro[i], ~before), TIDE_REG_REFUSED);
        assert_int_equal(reg(ro[i]), before);
    }
}

static void test_settings(void **state)
{
    (void)state;
    tide_core_reset(bench.core);
    assert_int_equal(set(TIDE_PCI_REG_POOL_BASE_HI, 0x11111111), TIDE_REG_NONE);
    assert_int_equal(set(TIDE_PCI_REG_POOL_BASE_LO, 0x22222222), TIDE_REG_NONE);
    assert_int_equal(set(TIDE_PCI_REG_POOL_SIZE_LO, 0x33333333), TIDE_REG_NONE);
    assert_int_equal(set(TIDE_PCI_REG_POOL_SIZE_HI, 0x44444444), TIDE_REG_NONE);
    assert_int_equal(reg(TIDE_PCI_REG_POOL_BASE_HI), 0x11111111);
    assert_int_equal(reg(TIDE_PCI_REG_POOL_BASE_LO), 0x22222222);
    assert_int_equal(reg(TIDE_PCI_REG_POOL_SIZE_LO), 0x33333333);
    assert_int_equal(reg(TIDE_PCI_REG_POOL_SIZE_HI), 0x44444444);
    assert_int_equal(set(TIDE_PCI_REG_DRIVER_FEATURES, UINT32_MAX), TIDE_REG_NONE);
    assert_int_equal(reg(TIDE_PCI_REG_DRIVER_FEATURES), TIDE_PCI_FEATURE_EVENT_IDX);

    bench_enable(0);
    assert_int_equal(set(TIDE_PCI_REG_POOL_BASE_LO, 0), TIDE_REG_REFUSED);
    assert_int_equal(reg(TIDE_PCI_REG_POOL_BASE_LO), 0x22222222);
    assert_int_equal(set(TIDE_PCI_REG_DRIVER_FEATURES, 1), TIDE_REG_REFUSED);

    tide_core_reset(bench.core);
    assert_int_equal(reg(TIDE_PCI_REG_POOL_BASE_LO), 0);
    assert_int_equal(reg(TIDE_PCI_REG_POOL_SIZE_HI), 0);
    assert_int_equal(reg(TIDE_PCI_REG_DRIVER_FEATURES), 0);
}

static void test_control(void **state)
{
    (void)state;
    assert_int_equal(reg(TIDE_PCI_REG_STATUS), TIDE_PCI_STATUS_ENABLED);
    assert_int_equal(set(TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_ENABLE),
                     TIDE_REG_REFUSED);
    assert_int_equal(set(TIDE_PCI_REG_CONTROL, 0), TIDE_REG_REFUSED);
    assert_int_equal(set(TIDE_PCI_REG_CONTROL, 3), TIDE_REG_REFUSED);
    assert_int_equal(set(TIDE_PCI_REG_DOORBELL, 0), TIDE_REG_DOORBELL);

    assert_int_equal(set(TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_RESET),
                     TIDE_REG_RESET);
    assert_true(reg(TIDE_PCI_REG_STATUS) & TIDE_PCI_STATUS_RESETTING);
    assert_int_equal(set(TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_ENABLE),
                     TIDE_REG_REFUSED);
    assert_int_equal(set(TIDE_PCI_REG_POOL_BASE_LO, 1), TIDE_REG_REFUSED);
    assert_int_equal(tide_core_run(bench.core), TIDE_RUN_STOPPED);
    tide_core_reset(bench.core);
    assert_int_equal(reg(TIDE_PCI_REG_STATUS), 0);
}

static void test_bad_configurations(void **state)
{
    static const uint32_t sizes[] = { 0, 1, 8, 17, 255, 8192 };
    TideOps ops = { 0 };
    TideConfig c;

    (void)state;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        c = bench_config();
        c.queue_size = sizes[i];
        assert_null(tide_core_new(&c, bench.rings, &ops, NULL, &tide_host_linux));
    }
    c = bench_config();
    c.max_extents = 0;
    assert_null(tide_core_new(&c, bench.rings, &ops, NULL, &tide_host_linux));
    c.max_extents = TIDE_MAX_EXTENTS_LIMIT + 1;
    assert_null(tide_core_new(&c, bench.rings, &ops, NULL, &tide_host_linux));
    c = bench_config();
    c.slice_bytes = EXTENT + 4096;
    assert_null(tide_core_new(&c, bench.rings, &ops, NULL, &tide_host_linux));
    c = bench_config();
    c.intents = 1;
    assert_null(tide_core_new(&c, bench.rings, &ops, NULL, &tide_host_linux));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_constants),
        BENCH_TEST(test_geometry),
        BENCH_TEST(test_odd_accesses),
        BENCH_TEST(test_read_only),
        BENCH_TEST(test_settings),
        BENCH_TEST(test_control),
        BENCH_TEST(test_bad_configurations),
    };

    return RUN_TESTS(tests);
}
