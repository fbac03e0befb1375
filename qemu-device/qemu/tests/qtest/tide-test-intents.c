/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each intent does to guest memory, as the host sees it. */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-test.h"

static void answered(Answer a, uint32_t done, uint16_t flags, uint32_t action)
{
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.done, ==, done);
    g_assert_cmphex(a.flags, ==, flags);
    g_assert_cmpuint(a.action, ==, action);
}

static void test_discard(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t rss;

    ram_fill(t, BASE, 10, 0x5a);
    rss = ram_smaps(t, "Rss");
    answered(tide_ask(t, BASE + EXTENT, 8, TIDE_PCI_INTENT_DISCARD), 8,
             TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
    g_assert_cmpuint(ram_present(t, BASE + EXTENT, 8), ==, 0);
    g_assert_cmpuint(rss - ram_smaps(t, "Rss"), ==, 8 * EXTENT);
    g_assert_true(ram_is(t, BASE + EXTENT, 8, 0));
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    g_assert_true(ram_is(t, BASE + 9 * EXTENT, 1, 0x5a));
    g_assert_cmpuint(tide_counter(t, "discard-asked-bytes"), ==, 8 * EXTENT);
    g_assert_cmpuint(tide_counter(t, "discard-acted-bytes"), ==, 8 * EXTENT);
    g_assert_cmpuint(tide_counter(t, "discard-verified-bytes"), ==, 8 * EXTENT);
    tide_stop(t);
}

static void test_discard_untouched(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    answered(tide_ask(t, BASE, 64, TIDE_PCI_INTENT_DISCARD), 64,
             TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
    tide_stop(t);
}

/* Gone or not yet gone, but nothing else; and back in use once written. */
static void test_discard_lazy(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 4, 0x5a);
    answered(tide_ask(t, BASE, 4, TIDE_PCI_INTENT_DISCARD_LAZY), 4, 0,
             TIDE_PCI_ACTION_FREE);
    g_assert_cmpuint(ram_smaps(t, "LazyFree"), ==, ram_present(t, BASE, 4));
    for (int i = 0; i < 4; i++) {
        g_assert_true(ram_is(t, BASE + i * EXTENT, 1, 0x5a) ||
                      ram_is(t, BASE + i * EXTENT, 1, 0));
    }
    ram_fill(t, BASE, 4, 0xa5);
    g_assert_true(ram_is(t, BASE, 4, 0xa5));
    tide_stop(t);
}

static void test_cold(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 4, 0x5a);
    answered(tide_ask(t, BASE, 4, TIDE_PCI_INTENT_COLD), 4, 0,
             TIDE_PCI_ACTION_COLD);
    g_assert_true(ram_is(t, BASE, 4, 0x5a));
    tide_stop(t);
}

/* Free bytes of swap on block devices; files are not counted. */
static uint64_t block_swap(void)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    uint64_t free_kib = 0;

    g_assert_true(g_file_get_contents("/proc/swaps", &text, NULL, NULL));
    lines = g_strsplit(text, "\n", 0);
    for (int i = 1; lines[i]; i++) {
        uint64_t size, used;

        if (sscanf(lines[i], "%*s partition %" SCNu64 " %" SCNu64,
                   &size, &used) == 2) {
            free_kib += size - used;
        }
    }
    return free_kib * KiB;
}

static void pageout_without_swap(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 4, 0x5a);
    answered(tide_ask(t, BASE, 4, TIDE_PCI_INTENT_PAGEOUT), 4,
             TIDE_PCI_CPL_DOWNGRADED, TIDE_PCI_ACTION_COLD);
    g_assert_cmpuint(ram_present(t, BASE, 4), ==, 4 * EXTENT);
    g_assert_true(ram_is(t, BASE, 4, 0x5a));
    g_assert_cmpuint(tide_counter(t, "pageout-downgraded-bytes"), ==, 4 * EXTENT);
    g_assert_cmpuint(tide_counter(t, "pageout-verified-bytes"), ==, 0);
    tide_stop(t);
}

static void pageout_to_swap(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 4, 0x5a);
    answered(tide_ask(t, BASE, 4, TIDE_PCI_INTENT_PAGEOUT), 4, 0,
             TIDE_PCI_ACTION_PAGEOUT);
    g_assert_cmpuint(ram_smaps(t, "Swap"), >, 0);
    answered(tide_ask(t, BASE, 4, TIDE_PCI_INTENT_WILLNEED), 4, 0,
             TIDE_PCI_ACTION_POPULATE);
    g_assert_cmpuint(ram_present(t, BASE, 4), ==, 4 * EXTENT);
    g_assert_true(ram_is(t, BASE, 4, 0x5a));
    tide_stop(t);
}

/* What is right depends on the host; check-swap.sh makes it one with swap. */
static void test_pageout(void)
{
    uint64_t room = block_swap();

    if (room >= 64 * MiB) {
        g_test_message("to block swap");
        pageout_to_swap();
    } else if (!room) {
        g_test_message("without block swap");
        pageout_without_swap();
    } else {
        g_test_skip("this host has block swap, but less than 64 MiB of it free");
    }
}

static void test_willneed(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 1, 0x5a);
    answered(tide_ask(t, BASE, 4, TIDE_PCI_INTENT_WILLNEED), 4, 0,
             TIDE_PCI_ACTION_POPULATE);
    g_assert_cmpuint(ram_present(t, BASE, 4), ==, 4 * EXTENT);
    g_assert_true(ram_is(t, BASE, 1, 0x5a));
    g_assert_true(ram_is(t, BASE + EXTENT, 3, 0));
    tide_stop(t);
}

/* Huge pages go and come back whole. */
static void test_huge_pages_stay_whole(void)
{
    g_autofree char *thp = NULL;
    Tide *t;

    if (!g_file_get_contents("/sys/kernel/mm/transparent_hugepage/enabled", &thp,
                             NULL, NULL) || strstr(thp, "[never]")) {
        g_test_skip("this host has no transparent huge pages");
        return;
    }
    t = tide_start(RAM_ARG, "");
    ram_fill(t, BASE, 32, 0x5a);
    for (int i = 0; i < 32; i += 3) {
        answered(tide_ask(t, BASE + i * EXTENT, 1, TIDE_PCI_INTENT_DISCARD), 1,
                 TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
        tide_ask(t, BASE + (i + 1) % 32 * EXTENT, 1, TIDE_PCI_INTENT_COLD);
    }
    /* Below BASE, firmware may have touched single pages. */
    g_assert_cmpuint(ram_smaps(t, "Rss") - ram_smaps(t, "AnonHugePages"), <,
                     4 * MiB);
    g_assert_cmpuint(ram_present(t, BASE, 32), ==, 21 * EXTENT);
    g_assert_cmpuint(ram_smaps(t, "AnonHugePages"), >=, 21 * EXTENT);
    tide_stop(t);
}

static void test_merged_run(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 64, 0x5a);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    for (int i = 63; i >= 0; i--) {
        tide_push(t, BASE + i * EXTENT, 1, TIDE_PCI_INTENT_DISCARD);
    }
    tide_ring_doorbell(t);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    for (int i = 0; i < 64; i++) {
        answered(tide_pop(t), 1, TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
    }
    g_assert_cmpuint(tide_counter(t, "madvise-calls"), ==, 1);
    g_assert_cmpuint(tide_counter(t, "merged"), ==, 64);
    g_assert_cmpuint(ram_present(t, BASE, 64), ==, 0);
    tide_stop(t);
}

static void test_slices(void)
{
    Tide *t = tide_start(RAM_ARG, ",slice=16M");

    ram_fill(t, BASE, 64, 0x5a);
    answered(tide_ask(t, BASE, 64, TIDE_PCI_INTENT_DISCARD), 64,
             TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
    g_assert_cmpuint(tide_counter(t, "madvise-calls"), ==, 8);
    g_assert_cmpuint(ram_present(t, BASE, 64), ==, 0);
    tide_stop(t);
}

/* Two devices over the same RAM do not disturb each other. */
static void test_two_devices(void)
{
    Tide *t = tide_start(RAM_ARG "-device tide,addr=7,queue-size=16", "");
    Tide second = { .qts = t->qts };

    second.dev = qpci_device_find(t->bus, QPCI_DEVFN(7, 0));
    qpci_device_enable(second.dev);
    second.regs = qpci_iomap(second.dev, TIDE_PCI_BAR_REGS, NULL);
    second.rings = qpci_iomap(second.dev, TIDE_PCI_BAR_RINGS, NULL);
    second.queue_size = tide_reg(&second, TIDE_PCI_REG_QUEUE_SIZE);
    second.sq_offset = tide_reg(&second, TIDE_PCI_REG_SQ_OFFSET);
    second.cq_offset = tide_reg(&second, TIDE_PCI_REG_CQ_OFFSET);
    tide_enable(&second, 0);

    ram_fill(t, BASE, 2, 0x5a);
    tide_push(t, BASE, 1, TIDE_PCI_INTENT_DISCARD);
    tide_push(&second, BASE + EXTENT, 1, TIDE_PCI_INTENT_DISCARD);
    tide_ring_doorbell(t);
    tide_ring_doorbell(&second);
    answered(tide_pop(&second), 1, TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
    answered(tide_pop(t), 1, TIDE_PCI_CPL_ZEROED, TIDE_PCI_ACTION_DISCARD);
    g_assert_cmpuint(ram_present(t, BASE, 2), ==, 0);
    g_assert_cmpuint(tide_counter(t, "requests"), ==, 1);
    g_free(second.dev);
    tide_stop(t);
}

void tide_add_intent_tests(void)
{
    qtest_add_func("/tide/intent/discard", test_discard);
    qtest_add_func("/tide/intent/discard-untouched", test_discard_untouched);
    qtest_add_func("/tide/intent/discard-lazy", test_discard_lazy);
    qtest_add_func("/tide/intent/cold", test_cold);
    qtest_add_func("/tide/intent/pageout", test_pageout);
    qtest_add_func("/tide/intent/willneed", test_willneed);
    qtest_add_func("/tide/intent/huge-pages", test_huge_pages_stay_whole);
    qtest_add_func("/tide/intent/merged-run", test_merged_run);
    qtest_add_func("/tide/intent/slices", test_slices);
    qtest_add_func("/tide/two-devices", test_two_devices);
}
