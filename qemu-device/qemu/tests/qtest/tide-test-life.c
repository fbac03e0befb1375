/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots and migration: to a file, and on in another QEMU. */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-driver.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define RSS_SLACK (4 * MiB)     /* what firmware and reset touch */

static void wait_for_migration(QTestState *qts)
{
    for (;;) {
        QDict *rsp = qtest_qmp_assert_success_ref(qts,
                                                  "{ 'execute': 'query-migrate' }");
        const char *status = qdict_get_try_str(rsp, "status");
        bool done = status && !strcmp(status, "completed");

        g_assert_false(status && !strcmp(status, "failed"));
        qobject_unref(rsp);
        if (done) {
            return;
        }
        g_usleep(1000);
    }
}

void tide_save(Tide *t, const char *path)
{
    g_autofree char *uri = g_strdup_printf("exec:cat >%s", path);

    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate', 'arguments': "
                             "{ 'uri': %s } }", uri);
    wait_for_migration(t->qts);
}

Tide *tide_restore(const char *args, const char *props, const char *path,
                   uint32_t sq_tail, uint32_t cq_head)
{
    Tide *t = g_new0(Tide, 1);

    t->qts = qtest_initf("-machine q35 -nodefaults %s -incoming 'exec:cat %s' "
                         "-device tide,id=tide0,addr=4%s", args, path, props);
    wait_for_migration(t->qts);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    tide_probe(t);
    t->sq_tail = sq_tail;
    t->cq_head = cq_head;
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
    uint32_t sq_tail, cq_head;
    uint64_t rss;
    Answer a;

    ram_fill(t, BASE, 32, 0x5a);
    g_assert_cmpuint(tide_ask(t, BASE, 24, DISCARD).status, ==, TIDE_PCI_ST_OK);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    tide_push(t, BASE + 24 * EXTENT, 4, DISCARD);
    tide_ring_doorbell(t);
    rss = ram_smaps(t, "Rss");
    sq_tail = t->sq_tail;
    cq_head = t->cq_head;
    tide_save(t, path);
    g_assert_cmpuint(ram_smaps(t, "Rss"), <=, rss + RSS_SLACK);
    tide_stop(t);

    t = tide_restore(RAM_ARG, "", path, sq_tail, cq_head);
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
    tide_stop(t);

    t = tide_restore(RAM_ARG, ",slice=2M", path, 1, 0);
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
        uint32_t sq_tail, cq_head;
        uint64_t rss;

        ram_fill(t, BASE + EXTENT, 31, 0x5a);
        g_assert_cmpuint(tide_ask(t, BASE + EXTENT, 31, DISCARD).status, ==,
                         TIDE_PCI_ST_OK);
        sq_tail = t->sq_tail;
        cq_head = t->cq_head;
        tide_save(t, path);
        tide_stop(t);
        t = tide_restore(RAM_ARG, "", path, sq_tail, cq_head);
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
