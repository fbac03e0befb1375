/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests that mean harm, or know no better: right status, bounded time and log,
 * QEMU alive, and RAM that was not named untouched.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "hw/pci/pci_regs.h"
#include "tide-driver.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define WILLNEED TIDE_PCI_INTENT_WILLNEED
#define STORM 1000000
#define LOG_LIMIT (64 * KiB)

static void still_works(Tide *t)
{
    ram_fill(t, BASE, 1, 0x5a);
    g_assert_cmpuint(tide_ask(t, BASE, 1, DISCARD).status, ==, TIDE_PCI_ST_OK);
    g_assert_true(ram_is(t, BASE, 1, 0));
}

/* Taken by the kernel with KVM, here by QEMU on its behalf; or by us. */
static void test_doorbell_storm(gconstpointer props)
{
    Tide *t = tide_start(RAM_ARG, props);
    gint64 from;

    ram_fill(t, BASE, 1, 0x5a);
    tide_push(t, BASE, 1, DISCARD);
    from = g_get_monotonic_time();
    for (unsigned i = 0; i < (g_test_slow() ? STORM : STORM / 20); i++) {
        tide_ring_doorbell(t);
    }
    g_test_message("%.2f us a doorbell, the test's own side included",
                   (double)(g_get_monotonic_time() - from) /
                   (g_test_slow() ? STORM : STORM / 20));
    g_assert_cmpuint(tide_pop(t).status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(tide_counter(t, "requests"), ==, 1);
    still_works(t);
    WAIT_FOR(tide_counter(t, "doorbells") ==
             1 + (g_test_slow() ? STORM : STORM / 20));
    tide_stop(t);
}

/* What the ring says after the device copied it is of no account. */
static void test_rewritten_descriptor(void)
{
    Tide *t = tide_start(RAM_ARG, ",slice=2M");
    struct tide_pci_desc other = {
        .gpa = cpu_to_le64(BASE + 100 * EXTENT),
        .count = cpu_to_le32(4),
        .intent = cpu_to_le16(DISCARD),
        .cookie = cpu_to_le64(99),
    };
    Answer a;

    ram_fill(t, BASE + 100 * EXTENT, 4, 0x5a);
    tide_push(t, BASE, 64, WILLNEED);
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == 1);
    qpci_memwrite(t->dev, t->rings, t->sq_offset, &other, sizeof(other));
    a = tide_pop(t);
    g_assert_cmpuint(a.cookie, ==, 0);
    g_assert_cmpuint(a.done, ==, 64);
    g_assert_cmpuint(a.action, ==, TIDE_PCI_ACTION_POPULATE);
    g_assert_true(ram_is(t, BASE + 100 * EXTENT, 4, 0x5a));
    tide_stop(t);
}

/* One after the other or at once, each is answered, and the rest is whole. */
static void test_self_overlapping(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE - EXTENT, 12, 0x5a);
    tide_push(t, BASE, 8, DISCARD);
    tide_push(t, BASE + 2 * EXTENT, 2, DISCARD);
    tide_push(t, BASE + 4 * EXTENT, 6, DISCARD);
    tide_push(t, BASE, 8, DISCARD);
    tide_ring_doorbell(t);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(tide_pop(t).status, ==, TIDE_PCI_ST_OK);
    }
    g_assert_true(ram_is(t, BASE, 10, 0));
    g_assert_true(ram_is(t, BASE - EXTENT, 1, 0x5a));
    g_assert_true(ram_is(t, BASE + 10 * EXTENT, 1, 0x5a));
    tide_stop(t);
}

/* A masked vector waits, and is not lost. */
static void test_msix_masked(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t sent;

    qpci_msix_enable(t->dev);
    g_assert_false(qpci_msix_pending(t->dev, 0));
    qpci_io_writel(t->dev, t->dev->msix_table_bar,
                   t->dev->msix_table_off + PCI_MSIX_ENTRY_VECTOR_CTRL,
                   PCI_MSIX_ENTRY_CTRL_MASKBIT);
    g_assert_cmpuint(tide_ask(t, BASE, 1, DISCARD).status, ==, TIDE_PCI_ST_OK);
    WAIT_FOR(qpci_msix_pending(t->dev, 0));
    sent = tide_counter(t, "interrupts");
    g_assert_cmpuint(sent, >=, 1);
    still_works(t);
    qpci_msix_disable(t->dev);
    tide_stop(t);
}

/* Nothing read, the ring full, and more submitted: it waits, without spinning. */
static void test_completions_never_read(void)
{
    Tide *t = tide_start(RAM_ARG, ",queue-size=16");

    for (unsigned i = 0; i < 16; i++) {
        tide_push(t, BASE + i * EXTENT, 1, DISCARD);
    }
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL) == 16);
    ram_fill(t, BASE, 1, 0x5a);
    tide_push(t, BASE, 1, DISCARD);
    tide_ring_doorbell(t);
    tide_settle();
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL), ==, 16);
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    for (unsigned i = 0; i < 17; i++) {
        g_assert_cmpuint(tide_pop(t).cookie, ==, i);
    }
    g_assert_true(ram_is(t, BASE, 1, 0));
    tide_stop(t);
}

/* Unplugged in the middle of a run: from then on the memory stands still. */
static void test_unplug_during_work(void)
{
    Tide *t = g_new0(Tide, 1);
    uint64_t before;

    t->qts = qtest_init("-machine pc -nodefaults " RAM_ARG
                        "-device tide,id=tide0,addr=4,slice=2M");
    t->pid = qtest_pid(t->qts);
    tide_probe(t);
    tide_enable(t, 0);
    for (unsigned i = 0; i < 100; i++) {
        tide_push(t, BASE, 64, i % 2 ? DISCARD : WILLNEED);
    }
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == 100);
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL), <, 100);
    qpci_unplug_acpi_device_test(t->qts, "tide0", 4);
    before = ram_present(t, BASE, 64);
    tide_settle();
    g_assert_cmpuint(ram_present(t, BASE, 64), ==, before);
    tide_stop(t);
}

/* A million bad descriptors would fill a disk, if each were worth a line. */
static void test_log_is_bounded(void)
{
    g_autofree char *path = NULL;
    g_autofree char *args = NULL;
    int fd = g_file_open_tmp("tide-log-XXXXXX", &path, NULL);
    struct stat st;
    Tide *t;

    close(fd);
    args = g_strdup_printf(RAM_ARG "-D %s", path);
    t = tide_start(args, "");
    for (unsigned i = 0; i < 2000; i++) {
        g_assert_cmpuint(tide_ask(t, BASE + 1, UINT32_MAX, DISCARD).status, ==,
                         TIDE_PCI_ST_INVALID);
    }
    still_works(t);
    tide_stop(t);
    g_assert_cmpint(stat(path, &st), ==, 0);
    g_assert_cmpint(st.st_size, <=, LOG_LIMIT);
    unlink(path);
}

static uint64_t host_splits(void)
{
    g_autofree char *text = NULL;
    char *at;

    g_assert_true(g_file_get_contents("/proc/vmstat", &text, NULL, NULL));
    at = strstr(text, "\nthp_split_page ");
    return at ? g_ascii_strtoull(at + strlen("\nthp_split_page "), NULL, 10) : 0;
}

/* Random rounds of giving back and filling again split no huge page. */
static void test_no_split(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t before = host_splits();

    for (unsigned round = 0; round < 1000; round++) {
        uint32_t first = g_test_rand_int_range(0, 60);
        uint32_t count = g_test_rand_int_range(1, 5);
        bool lazy = g_test_rand_bit();

        g_assert_cmpuint(tide_ask(t, BASE + first * EXTENT, count, lazy ?
                                  TIDE_PCI_INTENT_DISCARD_LAZY : DISCARD).status,
                         ==, TIDE_PCI_ST_OK);
        ram_fill(t, BASE + first * EXTENT, count, (uint8_t)round);
    }
    g_assert_cmpuint(ram_smaps(t, "AnonHugePages"), >=, 60 * EXTENT);
    g_assert_true(ram_smaps(t, "Rss") - ram_smaps(t, "AnonHugePages") <
                  2 * EXTENT);
    g_assert_cmpuint(host_splits(), ==, before);
    tide_stop(t);
}

/* Limits of the operator's hold, whatever the guest asks. */
static void test_rate_limit(void)
{
    Tide *t = tide_start(RAM_ARG, ",slice=16M,max-bytes-per-second=256M,"
                         "max-pending-extents=16");
    gint64 from = g_get_monotonic_time();

    for (unsigned i = 0; i < 4; i++) {
        tide_push(t, BASE + i * 16 * EXTENT, 16, DISCARD);
    }
    tide_ring_doorbell(t);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(tide_pop(t).status, ==, TIDE_PCI_ST_OK);
    }
    /* 128 MiB at 256 MiB/s, the first slice for free. */
    g_assert_cmpint(g_get_monotonic_time() - from, >=, 400000);
    tide_stop(t);
}

void tide_add_hostile_tests(void)
{
    qtest_add_data_func("/tide/hostile/doorbell-storm", "", test_doorbell_storm);
    qtest_add_data_func("/tide/hostile/doorbell-storm/no-ioeventfd",
                        ",ioeventfd=off", test_doorbell_storm);
    qtest_add_func("/tide/hostile/rewritten-descriptor", test_rewritten_descriptor);
    qtest_add_func("/tide/hostile/self-overlapping", test_self_overlapping);
    qtest_add_func("/tide/hostile/msix-masked", test_msix_masked);
    qtest_add_func("/tide/hostile/completions-never-read",
                   test_completions_never_read);
    qtest_add_func("/tide/hostile/unplug-during-work", test_unplug_during_work);
    qtest_add_func("/tide/hostile/log-is-bounded", test_log_is_bounded);
    qtest_add_func("/tide/hostile/no-split", test_no_split);
    qtest_add_func("/tide/hostile/rate-limit", test_rate_limit);
}
