/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal snapshots: saved, gone on, and loaded again in the same process. */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-driver.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define SLACK (4 * MiB)         /* what firmware and reset touch */
#define MEMFD RAM_ARG "-object memory-backend-memfd,share=on,id=m,size=272M " \
    "-machine memory-backend=m "

/* Wait for a job, which must go well, and forget it. */
static void finish_job(QTestState *qts, const char *id)
{
    for (bool done = false; !done;) {
        QDict *rsp = qtest_qmp(qts, "{ 'execute': 'query-jobs' }");
        QDict *job;

        /* There is one at a time. */
        job = qobject_to(QDict, qlist_peek(qdict_get_qlist(rsp, "return")));
        g_assert_cmpstr(qdict_get_str(job, "id"), ==, id);
        g_assert_cmpstr(qdict_get_try_str(job, "error"), ==, NULL);
        done = !strcmp(qdict_get_str(job, "status"), "concluded");
        qobject_unref(rsp);
        g_usleep(1000);
    }
    qtest_qmp_assert_success(qts, "{ 'execute': 'job-dismiss', "
                             "'arguments': { 'id': %s } }", id);
}

/* A place for snapshots: node "snapshots", in a file that has no name any more. */
static void add_store(QTestState *qts)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("tide-snapshots-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-add', 'arguments': "
                             "{ 'driver': 'file', 'node-name': 'file', "
                             "'filename': %s } }", path);
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-create', 'arguments': "
                             "{ 'job-id': 'create', 'options': { 'driver': 'qcow2', "
                             "'file': 'file', 'size': 1048576 } } }");
    finish_job(qts, "create");
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-add', 'arguments': "
                             "{ 'driver': 'qcow2', 'node-name': 'snapshots', "
                             "'file': 'file' } }");
    unlink(path);
}

/* QEMU itself leaks the channel of each snapshot; sanitizers are to look for more. */
static Tide *start(const char *args, const char *props)
{
    g_autofree char *before = g_strdup(g_getenv("ASAN_OPTIONS"));
    g_autofree char *options = g_strconcat("detect_leaks=0:", before, NULL);
    Tide *t;

    g_setenv("ASAN_OPTIONS", options, true);
    t = tide_start(args, props);
    if (before) {
        g_setenv("ASAN_OPTIONS", before, true);
    } else {
        g_unsetenv("ASAN_OPTIONS");
    }
    add_store(t->qts);
    return t;
}

static void save(Tide *t)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'snapshot-save', 'arguments': "
                             "{ 'job-id': 'save', 'tag': 'one', "
                             "'vmstate': 'snapshots', 'devices': "
                             "[ 'snapshots' ] } }");
    finish_job(t->qts, "save");
}

/* Back to what it was when @driver was copied. */
static void load(Tide *t, const Tide *driver)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'snapshot-load', 'arguments': "
                             "{ 'job-id': 'load', 'tag': 'one', "
                             "'vmstate': 'snapshots', 'devices': "
                             "[ 'snapshots' ] } }");
    finish_job(t->qts, "load");
    tide_adopt(t, driver);
}

static void check_answer(Tide *t, uint64_t cookie, uint32_t done)
{
    Answer a = tide_pop(t);

    g_assert_cmpuint(a.cookie, ==, cookie);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.done, ==, done);
}

/* Queued when it was saved: done afterwards, and again after each load. */
static void test_queued(void)
{
    Tide *t = start(RAM_ARG, "");
    Tide driver;

    ram_fill(t, BASE, 8, 0x5a);
    tide_discard(t, BASE, 1);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    tide_push(t, BASE + EXTENT, 2, DISCARD);
    tide_push(t, BASE + 3 * EXTENT, 1, TIDE_PCI_INTENT_COLD);
    tide_ring_doorbell(t);
    driver = *t;
    save(t);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_true(ram_is(t, BASE + EXTENT, 7, 0x5a));
        qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
        check_answer(t, 1, 2);
        check_answer(t, 2, 1);
        g_assert_true(ram_is(t, BASE, 3, 0));
        /* What is done now is undone by the load, and the rings know. */
        for (unsigned n = 0; n < 300 * i; n++) {
            tide_discard(t, BASE + 4 * EXTENT, 1);
        }
        tide_discard(t, BASE + 4 * EXTENT, 4);
        g_assert_true(ram_is(t, BASE + 4 * EXTENT, 4, 0));
        qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
        load(t, &driver);
    }
    tide_stop(t);
}

/* What was away is away again, though it was all in use when it was loaded. */
static void test_memory(const void *args)
{
    Tide *t = start(args, "");
    Tide driver;
    uint64_t rss;

    ram_fill(t, BASE, 64, 0x5a);
    tide_discard(t, BASE, 48);
    rss = ram_smaps(t, "Rss");
    g_assert_cmpuint(rss, <=, 16 * EXTENT + SLACK);
    driver = *t;
    save(t);
    g_assert_cmpuint(ram_smaps(t, "Rss"), <=, rss + SLACK);
    ram_fill(t, BASE, 96, 0xa5);
    tide_discard(t, BASE + 60 * EXTENT, 4);
    g_assert_cmpuint(ram_smaps(t, "Rss"), >=, 92 * EXTENT);
    load(t, &driver);
    g_assert_cmpuint(ram_smaps(t, "Rss"), >=, 16 * EXTENT);
    g_assert_cmpuint(ram_smaps(t, "Rss"), <=, rss + SLACK);
    g_assert_true(ram_is(t, BASE, 48, 0));
    g_assert_true(ram_is(t, BASE + 48 * EXTENT, 16, 0x5a));
    g_assert_true(ram_is(t, BASE + 64 * EXTENT, 32, 0));
    tide_discard(t, BASE, 64);
    tide_stop(t);
}

/* Loaded while the worker is in the middle of something: that never was. */
static void test_load_in_a_run(void)
{
    Tide *t = start(RAM_ARG, ",slice=2M");
    g_autoptr(GMappedFile) before = NULL;
    g_autoptr(GMappedFile) after = NULL;
    Tide driver;

    ram_fill(t, BASE, 32, 0x5a);
    tide_discard(t, BASE, 4);
    before = ram_copy(t);
    driver = *t;
    save(t);
    for (unsigned i = 0; i < 4; i++) {
        tide_push(t, BASE, 100, i % 2 ? DISCARD : TIDE_PCI_INTENT_WILLNEED);
    }
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == t->sq_tail);
    load(t, &driver);
    tide_settle();
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL), ==, t->cq_head);
    after = ram_copy(t);
    g_assert_true(ram_same(before, after));
    tide_discard(t, BASE, 32);
    tide_stop(t);
}

/* Saved in the middle of something: it is finished here, and after a load. */
static void test_save_in_a_run(void)
{
    Tide *t = start(RAM_ARG, ",slice=2M");
    Tide driver;

    ram_fill(t, BASE, 8, 0x5a);
    tide_push(t, BASE + 8 * EXTENT, 64, TIDE_PCI_INTENT_WILLNEED);
    tide_push(t, BASE, 8, DISCARD);
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == 2);
    driver = *t;
    save(t);
    for (unsigned i = 0; i < 2; i++) {
        bool first = false, second = false;

        for (unsigned n = 0; n < 2; n++) {
            Answer a = tide_pop(t);

            g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
            g_assert_cmpuint(a.done, ==, a.cookie ? 8 : 64);
            first |= a.cookie == 0;
            second |= a.cookie == 1;
        }
        g_assert_true(first && second);
        g_assert_true(ram_is(t, BASE, 8, 0));
        load(t, &driver);
    }
    tide_stop(t);
}

void tide_add_snapshot_tests(void)
{
    qtest_add_func("/tide/snapshot/queued", test_queued);
    qtest_add_data_func("/tide/snapshot/memory/anon", RAM_ARG, test_memory);
    qtest_add_data_func("/tide/snapshot/memory/memfd", MEMFD, test_memory);
    qtest_add_func("/tide/snapshot/load-in-a-run", test_load_in_a_run);
    qtest_add_func("/tide/snapshot/save-in-a-run", test_save_in_a_run);
}
