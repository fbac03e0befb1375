/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots and migration: to a file, and on in another QEMU. */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-driver.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define RSS_SLACK (4 * MiB)     /* what firmware and reset touch */

void tide_save(Tide *t, const char *path)
{
    g_autofree char *uri = g_strdup_printf("exec:cat >%s", path);

    tide_migrate(t, uri);
    tide_migrate_wait(t, "completed");
}

Tide *tide_restore(Tide *saved, const char *args, const char *props,
                   const char *path)
{
    g_autofree char *uri = g_strdup_printf("exec:cat %s", path);
    Tide *t = tide_start_incoming(args, props, uri);

    tide_migrate_wait(t, "completed");
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    tide_adopt(t, saved);
    tide_stop(saved);
    return t;
}

char *tide_scratch_path(void)
{
    char *path = NULL;
    int fd = g_file_open_tmp("tide-snapshot-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    return path;
}

/* Queued while stopped, answered after the restore; what was dead stays away. */
static void test_snapshot(void)
{
    g_autofree char *path = tide_scratch_path();
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t rss;
    Answer a;

    ram_fill(t, BASE, 32, 0x5a);
    g_assert_cmpuint(tide_ask(t, BASE, 24, DISCARD).status, ==, TIDE_PCI_ST_OK);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    tide_push(t, BASE + 24 * EXTENT, 4, DISCARD);
    tide_ring_doorbell(t);
    rss = ram_smaps(t, "Rss");
    tide_save(t, path);
    g_assert_cmpuint(ram_smaps(t, "Rss"), <=, rss + RSS_SLACK);

    t = tide_restore(t, RAM_ARG, "", path);
    a = tide_pop(t);
    g_assert_cmpuint(a.cookie, ==, 1);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.done, ==, 4);
    g_assert_cmpuint(ram_smaps(t, "Rss"), <=, rss - 4 * EXTENT + RSS_SLACK);
    g_assert_true(ram_is(t, BASE, 28, 0));
    g_assert_true(ram_is(t, BASE + 28 * EXTENT, 4, 0x5a));
    g_assert_cmpuint(tide_ask(t, BASE, 1, DISCARD).status, ==, TIDE_PCI_ST_OK);
    tide_stop(t);
    unlink(path);
}

/* Taken, in work, and then moved: the other side finishes it. */
static void test_snapshot_in_a_run(void)
{
    g_autofree char *path = tide_scratch_path();
    Tide *t = tide_start(RAM_ARG, ",slice=2M");
    Answer a;

    tide_push(t, BASE, 64, TIDE_PCI_INTENT_WILLNEED);
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == 1);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL), ==, 0);
    tide_save(t, path);

    t = tide_restore(t, RAM_ARG, ",slice=2M", path);
    a = tide_pop(t);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.done, ==, 64);
    g_assert_cmpuint(ram_present(t, BASE, 64), ==, 64 * EXTENT);
    tide_stop(t);
    unlink(path);
}

/* Spike, release, snapshot, restore, verify; ever on from where it was. */
static void test_snapshot_rounds(void)
{
    unsigned rounds = g_test_slow() ? 200 : 10;
    g_autofree char *path = tide_scratch_path();
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t first = 0;

    ram_fill(t, BASE, 1, 0xc3);
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t rss;

        ram_fill(t, BASE + EXTENT, 31, 0x5a);
        tide_discard(t, BASE + EXTENT, 31);
        tide_save(t, path);
        t = tide_restore(t, RAM_ARG, "", path);
        rss = ram_smaps(t, "Rss");
        first = first ? first : rss;
        g_assert_cmpuint(rss, <=, first + RSS_SLACK);
        g_assert_true(ram_is(t, BASE, 1, 0xc3));
        g_assert_true(ram_is(t, BASE + EXTENT, 31, 0));
    }
    tide_stop(t);
    unlink(path);
}

/* While memory is being sent nothing may vanish behind the sender's back. */
static void test_busy_while_migrating(void)
{
    Tide *t = tide_start(RAM_ARG, "");

    ram_fill(t, BASE, 16, 0x5a);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate-set-parameters', "
                             "'arguments': { 'max-bandwidth': 65536 } }");
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate', 'arguments': "
                             "{ 'uri': 'exec:cat >/dev/null' } }");
    WAIT_FOR(tide_ask(t, BASE, 1, DISCARD).status == TIDE_PCI_ST_BUSY);
    g_assert_true(ram_is(t, BASE + EXTENT, 1, 0x5a));
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate_cancel' }");
    WAIT_FOR(tide_ask(t, BASE, 1, DISCARD).status == TIDE_PCI_ST_OK);
    tide_stop(t);
}

void tide_add_life_tests(void)
{
    qtest_add_func("/tide/life/snapshot", test_snapshot);
    qtest_add_func("/tide/life/snapshot-in-a-run", test_snapshot_in_a_run);
    qtest_add_func("/tide/life/snapshot-rounds", test_snapshot_rounds);
    qtest_add_func("/tide/life/busy-while-migrating", test_busy_while_migrating);
}
