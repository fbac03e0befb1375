/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of the tide device: registers, rings, what is refused, reset and stop.
 * What the intents do to memory is in tide-test-intents.c.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "hw/pci/pci_regs.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define WILLNEED TIDE_PCI_INTENT_WILLNEED

static void test_registers(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_MAGIC), ==, TIDE_PCI_MAGIC);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_VERSION), ==, TIDE_PCI_VERSION);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_FEATURES), ==,
                    TIDE_PCI_FEATURE_EVENT_IDX);
    g_assert_cmpuint(tide_reg(t, TIDE_PCI_REG_EXTENT_SHIFT), ==, 21);
    g_assert_cmpuint(tide_reg(t, TIDE_PCI_REG_QUEUE_SIZE), ==, 256);
    g_assert_cmpuint(tide_reg(t, TIDE_PCI_REG_MAX_EXTENTS), ==, 65536);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_INTENTS), ==, 0x3e);
    g_assert_cmphex(qpci_config_readw(t->dev, PCI_VENDOR_ID), ==,
                    TIDE_PCI_VENDOR_ID);
    g_assert_cmphex(qpci_config_readw(t->dev, PCI_DEVICE_ID), ==,
                    TIDE_PCI_DEVICE_ID);
    g_assert_cmphex(qpci_config_readl(t->dev, PCI_BASE_ADDRESS_2) & 0xf, ==,
                    PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
    g_assert_cmpuint(qpci_msix_table_size(t->dev), ==, TIDE_PCI_MSIX_VECTORS);
    tide_stop(t);
}

static void test_bad_accesses(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t doorbells = tide_counter(t, "doorbells");

    g_assert_cmphex(qpci_io_readb(t->dev, t->regs, 0), ==, 0);
    g_assert_cmphex(qpci_io_readw(t->dev, t->regs, 0), ==, 0);
    g_assert_cmphex(qpci_io_readq(t->dev, t->regs, 0), ==, 0);
    g_assert_cmphex(qpci_io_readl(t->dev, t->regs, 2), ==, 0);
    g_assert_cmphex(qpci_io_readl(t->dev, t->regs, 0xffc), ==, 0);
    qpci_io_writeb(t->dev, t->regs, TIDE_PCI_REG_DOORBELL, 1);
    qpci_io_writew(t->dev, t->regs, TIDE_PCI_REG_DOORBELL, 1);
    qpci_io_writeq(t->dev, t->regs, TIDE_PCI_REG_DOORBELL, 1);
    qpci_io_writel(t->dev, t->regs, TIDE_PCI_REG_DOORBELL + 2, 1);
    qpci_io_writel(t->dev, t->regs, TIDE_PCI_REG_MAGIC, 0);
    qpci_io_writel(t->dev, t->regs, TIDE_PCI_REG_CONTROL, 0x77);
    g_assert_cmpuint(tide_counter(t, "doorbells"), ==, doorbells);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_MAGIC), ==, TIDE_PCI_MAGIC);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_STATUS), ==,
                    TIDE_PCI_STATUS_ENABLED);
    tide_stop(t);
}

static void refused_property(QTestState *qts, const char *prop, int value)
{
    g_autofree char *command = g_strdup_printf(
        "{ 'execute': 'device_add', 'arguments': { 'driver': 'tide', "
        "'%s': %d } }", prop, value);
    QDict *rsp = qtest_qmp(qts, "%p", qobject_from_json(command, NULL));
    QDict *error = qdict_get_qdict(rsp, "error");

    g_assert_nonnull(error);
    g_assert_nonnull(strstr(qdict_get_str(error, "desc"), prop));
    qobject_unref(rsp);
}

static void test_properties(void)
{
    QTestState *qts = qtest_init("-machine pc -nodefaults");

    refused_property(qts, "queue-size", 0);
    refused_property(qts, "queue-size", 100);
    refused_property(qts, "queue-size", 8192);
    refused_property(qts, "max-extents", 0);
    refused_property(qts, "max-extents", 2000000);
    refused_property(qts, "slice", 0);
    refused_property(qts, "slice", 3145728);
    /* Nothing was left behind: it can still be had. */
    qtest_qmp_assert_success(qts, "{ 'execute': 'device_add', 'arguments': "
                             "{ 'driver': 'tide', 'queue-size': 16 } }");
    qtest_quit(qts);
}

static void test_hot_unplug(void)
{
    QTestState *qts = qtest_init("-machine pc -nodefaults");

    for (int i = 0; i < 3; i++) {
        qtest_qmp_device_add(qts, "tide", "hot", "{ 'addr': '0x6' }");
        qpci_unplug_acpi_device_test(qts, "hot", 6);
    }
    qtest_quit(qts);
}

/* ---- What is refused: right status, nothing acted on, no byte changed ---- */

static void refused(Tide *t, struct tide_pci_desc desc, uint16_t status)
{
    uint64_t calls = tide_counter(t, "madvise-calls");
    Answer a;

    tide_push_raw(t, desc);
    tide_ring_doorbell(t);
    a = tide_pop(t);
    g_assert_cmpuint(a.status, ==, status);
    g_assert_cmpuint(a.done, ==, 0);
    g_assert_cmpuint(a.flags, ==, 0);
    g_assert_cmpuint(a.action, ==, TIDE_PCI_ACTION_NONE);
    g_assert_cmpuint(tide_counter(t, "madvise-calls"), ==, calls);
}

static void refused_range(Tide *t, uint64_t gpa, uint32_t count)
{
    refused(t, (struct tide_pci_desc) {
        .gpa = cpu_to_le64(gpa),
        .count = cpu_to_le32(count),
        .intent = cpu_to_le16(DISCARD),
    }, TIDE_PCI_ST_RANGE);
}

static void test_malformed(void)
{
    const struct tide_pci_desc good = {
        .gpa = cpu_to_le64(BASE),
        .count = cpu_to_le32(1),
        .intent = cpu_to_le16(DISCARD),
    };
    Tide *t = tide_start(RAM_ARG, "");
    struct tide_pci_desc d;

    ram_fill(t, BASE - EXTENT, 3, 0x5a);
    d = good, d.count = 0;
    refused(t, d, TIDE_PCI_ST_INVALID);
    d = good, d.count = cpu_to_le32(65537);
    refused(t, d, TIDE_PCI_ST_INVALID);
    d = good, d.count = UINT32_MAX;
    refused(t, d, TIDE_PCI_ST_INVALID);
    d = good, d.intent = 0;
    refused(t, d, TIDE_PCI_ST_INVALID);
    d = good, d.intent = cpu_to_le16(6);
    refused(t, d, TIDE_PCI_ST_INVALID);
    d = good, d.flags = cpu_to_le16(1);
    refused(t, d, TIDE_PCI_ST_INVALID);
    d = good, d.reserved = cpu_to_le64(1);
    refused(t, d, TIDE_PCI_ST_INVALID);
    refused_range(t, BASE + 4096, 1);
    refused_range(t, BASE + 1, 1);
    refused_range(t, -EXTENT, 1);
    refused_range(t, -EXTENT, 2);
    g_assert_true(ram_is(t, BASE - EXTENT, 3, 0x5a));
    g_assert_cmpuint(tide_counter(t, "refused-invalid"), ==, 7);
    g_assert_cmpuint(tide_counter(t, "refused-range"), ==, 4);
    tide_stop(t);
}

/* Memory that can be plain RAM to QEMU and still is not the guest's to give. */
static void test_foreign_targets(void)
{
    Tide *t = tide_start(RAM_ARG "-object memory-backend-ram,id=shm,size=4M "
                         "-device ivshmem-plain,memdev=shm,addr=5 "
                         "-device VGA,addr=6,vgamem_mb=16", ",queue-size=4096");
    QPCIDevice *other = qpci_device_find(t->bus, QPCI_DEVFN(5, 0));
    QPCIDevice *vga = qpci_device_find(t->bus, QPCI_DEVFN(6, 0));
    QPCIBar shm, vram;

    qpci_device_enable(other);
    qpci_device_enable(vga);
    shm = qpci_iomap(other, 2, NULL);
    vram = qpci_iomap(vga, 0, NULL);
    refused_range(t, shm.addr, 1);
    refused_range(t, shm.addr, 2);
    refused_range(t, vram.addr, 1);
    refused_range(t, QEMU_ALIGN_DOWN(t->rings.addr, EXTENT), 1);
    refused_range(t, QEMU_ALIGN_DOWN(t->regs.addr, EXTENT), 1);
    g_free(other);
    g_free(vga);
    tide_stop(t);
}

static void test_not_ram(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t end = RAM_MB * MiB;

    ram_fill(t, end - EXTENT, 1, 0x5a);
    refused_range(t, 0, 1);                     /* VGA window and ROMs in it */
    refused_range(t, 0, 2);
    refused_range(t, end, 1);
    refused_range(t, end - EXTENT, 2);
    refused_range(t, 4 * GiB - EXTENT, 1);      /* firmware */
    refused_range(t, 4 * GiB, 1);
    refused_range(t, UINT64_C(1) << 52, 1);
    g_assert_true(ram_is(t, end - EXTENT, 1, 0x5a));
    tide_stop(t);
}

static void test_pci_hole(void)
{
    Tide *t = tide_start("-m 4G", "");

    g_assert_cmpuint(tide_ask(t, 2 * GiB - EXTENT, 1, DISCARD).status, ==,
                     TIDE_PCI_ST_OK);
    refused_range(t, 2 * GiB - EXTENT, 2);
    refused_range(t, 4 * GiB - EXTENT, 2);
    g_assert_cmpuint(tide_ask(t, 4 * GiB, 8, DISCARD).status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(tide_ask(t, 6 * GiB - EXTENT, 1, DISCARD).status, ==,
                     TIDE_PCI_ST_OK);
    refused_range(t, 6 * GiB - EXTENT, 2);
    tide_stop(t);
}

static void test_numa_nodes(void)
{
    Tide *t = tide_start("-m 128M -object memory-backend-ram,id=m0,size=64M "
                         "-object memory-backend-ram,id=m1,size=64M "
                         "-smp 2 -numa node,memdev=m0 -numa node,memdev=m1", "");

    g_assert_cmpuint(tide_ask(t, 64 * MiB - EXTENT, 1, DISCARD).status, ==,
                     TIDE_PCI_ST_OK);
    g_assert_cmpuint(tide_ask(t, 64 * MiB, 4, DISCARD).status, ==,
                     TIDE_PCI_ST_OK);
    refused_range(t, 64 * MiB - EXTENT, 2);
    tide_stop(t);
}

static void test_pool(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    tide_reset(t);
    tide_set_reg(t, TIDE_PCI_REG_POOL_BASE_LO, BASE);
    tide_set_reg(t, TIDE_PCI_REG_POOL_SIZE_LO, 4 * EXTENT);
    tide_enable(t, 0);
    tide_set_reg(t, TIDE_PCI_REG_POOL_SIZE_LO, 0);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_POOL_SIZE_LO), ==, 4 * EXTENT);

    refused_range(t, BASE - EXTENT, 1);
    refused_range(t, BASE + 3 * EXTENT, 2);
    refused_range(t, BASE + 4 * EXTENT, 1);
    g_assert_cmpuint(tide_ask(t, BASE, 4, DISCARD).status, ==, TIDE_PCI_ST_OK);
    tide_reset(t);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_POOL_BASE_LO), ==, 0);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_POOL_SIZE_LO), ==, 0);
    tide_stop(t);
}

static void test_intents_off(void)
{
    Tide *t = tide_start(RAM_ARG, ",discard=off,pageout=off");

    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_INTENTS), ==, 0x2c);
    ram_fill(t, BASE, 1, 0x5a);
    g_assert_cmpuint(tide_ask(t, BASE, 1, DISCARD).status, ==,
                     TIDE_PCI_ST_UNSUPPORTED);
    g_assert_cmpuint(tide_ask(t, BASE, 1, TIDE_PCI_INTENT_PAGEOUT).status, ==,
                     TIDE_PCI_ST_UNSUPPORTED);
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    tide_stop(t);
}

/* ---- Rings ---- */

static void test_ring_wraps(void)
{
    Tide *t = tide_start(RAM_ARG, ",queue-size=16");

    for (int i = 0; i < 50; i++) {
        Answer a = tide_ask(t, BASE + i % 8 * EXTENT, 1, DISCARD);

        g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    }
    g_assert_cmpuint(tide_counter(t, "completed"), ==, 50);
    tide_stop(t);
}

static void test_ring_full(void)
{
    Tide *t = tide_start(RAM_ARG, ",queue-size=16");
    uint32_t seen = 0;

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 16; i++) {
            tide_push(t, BASE + i * EXTENT, 1, DISCARD);
        }
        tide_ring_doorbell(t);
        for (int i = 0; i < 16; i++) {
            Answer a = tide_pop(t);

            g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
            seen |= 1u << (a.cookie & 15);
        }
        g_assert_cmphex(seen, ==, 0xffff);
    }
    tide_stop(t);
}

/* More than the contract allows: late, but neither lost nor overwritten. */
static void test_unread_completions(void)
{
    Tide *t = tide_start(RAM_ARG, ",queue-size=16");

    for (int i = 0; i < 16; i++) {
        tide_push(t, BASE, 1, DISCARD);
    }
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL) == 16);
    tide_push(t, BASE, 1, DISCARD);
    tide_ring_doorbell(t);
    tide_settle();
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL), ==, 16);
    for (int i = 0; i < 17; i++) {
        g_assert_cmpuint(tide_pop(t).cookie, ==, i);
    }
    tide_stop(t);
}

static void test_broken_ring(void)
{
    static const struct {
        unsigned index;
        uint32_t value;
    } cases[] = {
        { TIDE_PCI_INDEX_SQ_TAIL, 257 },
        { TIDE_PCI_INDEX_SQ_TAIL, UINT32_MAX },
        { TIDE_PCI_INDEX_SQ_TAIL, 0x80000000 },
        { TIDE_PCI_INDEX_CQ_HEAD, 1 },
    };
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 1, 0x5a);
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        tide_set_index(t, cases[i].index, cases[i].value);
        tide_ring_doorbell(t);
        WAIT_FOR(tide_reg(t, TIDE_PCI_REG_STATUS) & TIDE_PCI_STATUS_NEEDS_RESET);
        tide_set_index(t, cases[i].index, 0);
        tide_push(t, BASE, 1, DISCARD);
        tide_ring_doorbell(t);
        tide_settle();
        g_assert_true(ram_is(t, BASE, 1, 0x5a));
        tide_reset(t);
        tide_enable(t, 0);
    }
    g_assert_cmpuint(tide_counter(t, "rings-broken"), ==, ARRAY_SIZE(cases));
    g_assert_cmpuint(tide_ask(t, BASE, 1, DISCARD).status, ==, TIDE_PCI_ST_OK);
    tide_stop(t);
}

static void test_not_enabled(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 1, 0x5a);
    tide_reset(t);
    tide_push(t, BASE, 1, DISCARD);
    tide_ring_doorbell(t);
    tide_settle();
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD), ==, 0);
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    tide_enable(t, 0);
    g_assert_cmpuint(tide_pop(t).status, ==, TIDE_PCI_ST_OK);
    tide_stop(t);
}

static void test_interrupts(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    qpci_msix_enable(t->dev);
    for (uint64_t i = 1; i <= 3; i++) {
        tide_ask(t, BASE, 1, DISCARD);
        WAIT_FOR(tide_counter(t, "interrupts") == i);
    }
    qpci_msix_disable(t->dev);
    tide_stop(t);
}

static void test_event_index(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    qpci_msix_enable(t->dev);
    tide_reset(t);
    tide_enable(t, TIDE_PCI_FEATURE_EVENT_IDX);
    tide_set_index(t, TIDE_PCI_INDEX_CQ_EVENT, 2);
    tide_ask(t, BASE, 1, DISCARD);
    tide_ask(t, BASE, 1, DISCARD);
    tide_settle();
    g_assert_cmpuint(tide_counter(t, "interrupts"), ==, 0);
    tide_ask(t, BASE, 1, DISCARD);
    WAIT_FOR(tide_counter(t, "interrupts") == 1);
    tide_ask(t, BASE, 1, DISCARD);
    tide_settle();
    g_assert_cmpuint(tide_counter(t, "interrupts"), ==, 1);
    /* The device asks to be told of the next one. */
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_EVENT) == 4);
    qpci_msix_disable(t->dev);
    tide_stop(t);
}

/* ---- Stop and reset ---- */

static void vm(Tide *t, const char *command)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': %s }", command);
}

static void test_stop_and_cont(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 1, 0x5a);
    vm(t, "stop");
    tide_push(t, BASE, 1, DISCARD);
    tide_ring_doorbell(t);
    tide_settle();
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD), ==, 0);
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    vm(t, "cont");
    g_assert_cmpuint(tide_pop(t).status, ==, TIDE_PCI_ST_OK);
    g_assert_true(ram_is(t, BASE, 1, 0));
    tide_stop(t);
}

/* A stop in the middle of a run freezes it; nothing is lost. */
static void test_stop_in_a_batch(void)
{
    Tide *t = tide_start(RAM_ARG, ",slice=2M");
    uint64_t before;

    tide_push(t, BASE, 64, WILLNEED);
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == 1);
    vm(t, "stop");
    before = ram_present(t, BASE, 64);
    tide_settle();
    g_assert_cmpuint(ram_present(t, BASE, 64), ==, before);
    vm(t, "cont");
    g_assert_cmpuint(tide_pop(t).done, ==, 64);
    g_assert_cmpuint(ram_present(t, BASE, 64), ==, 64 * EXTENT);
    tide_stop(t);
}

static void test_reset_with_work_queued(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 1, 0x5a);
    vm(t, "stop");
    tide_push(t, BASE, 1, DISCARD);
    tide_ring_doorbell(t);
    tide_set_reg(t, TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_RESET);
    g_assert_true(tide_reg(t, TIDE_PCI_REG_STATUS) & TIDE_PCI_STATUS_RESETTING);
    vm(t, "cont");
    tide_reset(t);
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_SQ_TAIL), ==, 0);
    tide_enable(t, 0);
    tide_ring_doorbell(t);
    tide_settle();
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    g_assert_cmpuint(tide_counter(t, "requests"), ==, 0);
    tide_stop(t);
}

/* From the moment that the reset is done, the memory stands still. */
static void test_reset_in_a_batch(void)
{
    Tide *t = tide_start(RAM_ARG, ",slice=2M");
    uint64_t before;

    tide_push(t, BASE, 64, WILLNEED);
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == 1);
    tide_reset(t);
    before = ram_present(t, BASE, 64);
    tide_settle();
    g_assert_cmpuint(ram_present(t, BASE, 64), ==, before);
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL), ==, 0);
    tide_enable(t, 0);
    g_assert_cmpuint(tide_ask(t, BASE, 64, DISCARD).status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(ram_present(t, BASE, 64), ==, 0);
    tide_stop(t);
}

static void test_system_reset(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 1, 0x5a);
    vm(t, "stop");
    tide_push(t, BASE, 1, DISCARD);
    tide_ring_doorbell(t);
    qtest_system_reset(t->qts);
    vm(t, "cont");
    tide_probe(t);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_STATUS), ==, 0);
    tide_enable(t, 0);
    tide_ring_doorbell(t);
    tide_settle();
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    g_assert_cmpuint(tide_ask(t, BASE, 1, DISCARD).status, ==, TIDE_PCI_ST_OK);
    tide_stop(t);
}

/* What a kexec does: the old kernel's work must not wake up with the new. */
static void test_bus_master_off(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint16_t command = qpci_config_readw(t->dev, PCI_COMMAND);

    ram_fill(t, BASE, 1, 0x5a);
    vm(t, "stop");
    tide_push(t, BASE, 1, DISCARD);
    tide_ring_doorbell(t);
    qpci_config_writew(t->dev, PCI_COMMAND, command & ~PCI_COMMAND_MASTER);
    g_assert_cmphex(tide_reg(t, TIDE_PCI_REG_STATUS), ==, 0);
    qpci_config_writew(t->dev, PCI_COMMAND, command);
    vm(t, "cont");
    tide_settle();
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    tide_reset(t);
    tide_enable(t, 0);
    g_assert_cmpuint(tide_ask(t, BASE, 1, DISCARD).status, ==, TIDE_PCI_ST_OK);
    tide_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/tide/registers", test_registers);
    qtest_add_func("/tide/bad-accesses", test_bad_accesses);
    qtest_add_func("/tide/properties", test_properties);
    qtest_add_func("/tide/hot-unplug", test_hot_unplug);
    qtest_add_func("/tide/refuse/malformed", test_malformed);
    qtest_add_func("/tide/refuse/foreign-targets", test_foreign_targets);
    qtest_add_func("/tide/refuse/not-ram", test_not_ram);
    qtest_add_func("/tide/refuse/pci-hole", test_pci_hole);
    qtest_add_func("/tide/refuse/numa-nodes", test_numa_nodes);
    qtest_add_func("/tide/refuse/outside-pool", test_pool);
    qtest_add_func("/tide/refuse/intents-off", test_intents_off);
    qtest_add_func("/tide/ring/wraps", test_ring_wraps);
    qtest_add_func("/tide/ring/full", test_ring_full);
    qtest_add_func("/tide/ring/unread-completions", test_unread_completions);
    qtest_add_func("/tide/ring/broken", test_broken_ring);
    qtest_add_func("/tide/ring/not-enabled", test_not_enabled);
    qtest_add_func("/tide/ring/interrupts", test_interrupts);
    qtest_add_func("/tide/ring/event-index", test_event_index);
    qtest_add_func("/tide/stop/and-cont", test_stop_and_cont);
    qtest_add_func("/tide/stop/in-a-batch", test_stop_in_a_batch);
    qtest_add_func("/tide/reset/with-work-queued", test_reset_with_work_queued);
    qtest_add_func("/tide/reset/in-a-batch", test_reset_in_a_batch);
    qtest_add_func("/tide/reset/system", test_system_reset);
    qtest_add_func("/tide/reset/bus-master-off", test_bus_master_off);
    tide_add_intent_tests();
    tide_add_backing_tests();
    tide_add_life_tests();
    tide_add_migration_tests();
    tide_add_snapshot_tests();
    tide_add_inhibit_tests();
    tide_add_hostile_tests();
    tide_add_stats_tests();
    tide_add_rate_tests();
    tide_add_virtio_mem_tests();
    return g_test_run();
}
