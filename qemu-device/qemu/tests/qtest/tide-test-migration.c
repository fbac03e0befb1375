/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live migration, between two QEMUs that run at the same time. */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-driver.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define SLACK (4 * MiB)         /* what firmware and reset touch */
#define FILLED 96               /* extents from BASE on */
#define DEAD 80                 /* of these, the first */
#define STALE 0x77              /* what was at the destination before */
#define MEMFD "memory-backend-memfd,share=on"
#define SHM "memory-backend-file,share=on,mem-path=/dev/shm"

/* Both ends and what is between them. */
typedef struct Pair {
    Tide *from;
    Tide *to;
    char *dir;
    char *uri;
} Pair;

/* The machine's RAM is @object, with id m; NULL: as it comes. */
static char *ram_args(const char *object)
{
    return object ? g_strdup_printf(RAM_ARG "-machine memory-backend=m "
                                    "-object %s,id=m,size=%dM", object, RAM_MB) :
        g_strdup(RAM_ARG);
}

static void add_destination(Pair *p, const char *object, const char *props)
{
    g_autofree char *args = ram_args(object);

    p->to = tide_start_incoming(args, props, p->uri);
}

static Pair pair_start(const char *from, const char *to)
{
    g_autofree char *args = ram_args(from);
    Pair p = { .dir = g_dir_make_tmp("tide-migration-XXXXXX", NULL) };

    g_assert_nonnull(p.dir);
    p.uri = g_strdup_printf("unix:%s/socket", p.dir);
    p.from = tide_start(args, "");
    add_destination(&p, to, "");
    return p;
}

static void pair_stop(Pair *p)
{
    g_autofree char *socket = g_build_filename(p->dir, "socket", NULL);

    tide_stop(p->from);
    tide_stop(p->to);
    unlink(socket);
    g_assert_cmpint(rmdir(p->dir), ==, 0);
    g_free(p->dir);
    g_free(p->uri);
}

/* From here on @to is the guest. */
static void pair_arrive(Pair *p)
{
    tide_migrate_wait(p->from, "completed");
    tide_migrate_wait(p->to, "completed");
    tide_adopt(p->to, p->from);
}

static void assert_same_ram(Tide *a, Tide *b)
{
    g_autoptr(GMappedFile) ram_a = ram_copy(a);
    g_autoptr(GMappedFile) ram_b = ram_copy(b);

    g_assert_true(ram_same(ram_a, ram_b));
}

/* Of the migration that @t began; nothing before its first page. */
static uint64_t sent(Tide *t, const char *what)
{
    QDict *rsp = qtest_qmp_assert_success_ref(t->qts,
                                              "{ 'execute': 'query-migrate' }");
    QDict *ram = qdict_get_qdict(rsp, "ram");
    uint64_t value = ram ? qdict_get_int(ram, what) : 0;

    qobject_unref(rsp);
    return value;
}

static void set_bandwidth(Tide *t, uint64_t bytes)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate-set-parameters', "
                             "'arguments': { 'max-bandwidth': %" PRIu64 " } }",
                             bytes);
}

static void set_capability(Tide *t, const char *name)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate-set-capabilities', "
                             "'arguments': { 'capabilities': [ "
                             "{ 'capability': %s, 'state': true } ] } }", name);
}

/* Every extent with a byte of its own; then the first ones die. */
static void fill(Tide *t)
{
    for (unsigned i = 0; i < FILLED; i++) {
        ram_fill(t, BASE + i * EXTENT, 1, i + 1);
    }
    tide_discard(t, BASE, DEAD);
}

static void check_filled(Tide *t)
{
    g_assert_true(ram_is(t, BASE, DEAD, 0));
    for (unsigned i = DEAD; i < FILLED; i++) {
        g_assert_true(ram_is(t, BASE + i * EXTENT, 1, i + 1));
    }
}

/* What was queued is answered over there, in order, and the rings go round. */
static void test_rings(void)
{
    Pair p = pair_start(NULL, NULL);

    ram_fill(p.from, BASE, 8, 0x5a);
    for (unsigned i = 0; i < 300; i++) {
        tide_discard(p.from, BASE, 1);
    }
    qtest_qmp_assert_success(p.from->qts, "{ 'execute': 'stop' }");
    for (unsigned i = 0; i < 3; i++) {
        tide_push(p.from, BASE + (1 + i) * EXTENT, 1, DISCARD);
    }
    tide_ring_doorbell(p.from);
    tide_migrate(p.from, p.uri);
    pair_arrive(&p);
    g_assert_true(ram_is(p.to, BASE + EXTENT, 7, 0x5a));
    qtest_qmp_assert_success(p.to->qts, "{ 'execute': 'cont' }");
    for (unsigned i = 0; i < 3; i++) {
        Answer a = tide_pop(p.to);

        g_assert_cmpuint(a.cookie, ==, 300 + i);
        g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
        g_assert_cmpuint(a.done, ==, 1);
    }
    g_assert_true(ram_is(p.to, BASE, 4, 0));
    g_assert_true(ram_is(p.to, BASE + 4 * EXTENT, 4, 0x5a));
    for (unsigned i = 0; i < 300; i++) {
        tide_discard(p.to, BASE + 4 * EXTENT, 1);
    }
    g_assert_cmpuint(tide_counter(p.to, "requests"), ==, 303);
    g_assert_cmpuint(tide_counter(p.to, "completed"), ==, 303);
    pair_stop(&p);
}

/* Neither sent, nor brought back on either side by looking at it. */
static void test_memory(const void *object)
{
    Pair p = pair_start(object, object);
    uint64_t live = (FILLED - DEAD) * EXTENT;
    uint64_t rss, there;

    fill(p.from);
    rss = ram_smaps(p.from, "Rss");
    g_assert_cmpuint(rss, <=, live + SLACK);
    tide_migrate(p.from, p.uri);
    pair_arrive(&p);

    g_assert_cmpuint(sent(p.from, "normal-bytes"), >=, live);
    g_assert_cmpuint(sent(p.from, "normal-bytes"), <=, live + SLACK);
    g_assert_cmpuint(sent(p.from, "transferred"), <=, live + SLACK);
    g_assert_cmpuint(ram_smaps(p.from, "Rss"), <=, rss + SLACK);
    there = ram_smaps(p.to, "Rss");
    g_assert_cmpuint(there, >=, live);
    g_assert_cmpuint(there, <=, rss + SLACK);

    check_filled(p.to);
    assert_same_ram(p.from, p.to);
    tide_discard(p.to, BASE, FILLED);
    pair_stop(&p);
}

/* A file in memory or on disk that is all bytes of somebody else's. */
static char *stale_file(const char *dir)
{
    g_autofree char *bytes = g_malloc(RAM_MB * MiB);
    char *path = g_strdup_printf("%s/tide-stale-XXXXXX", dir);
    int fd = g_mkstemp(path);

    g_assert_cmpint(fd, >=, 0);
    memset(bytes, STALE, RAM_MB * MiB);
    g_assert_cmpint(qemu_write_full(fd, bytes, RAM_MB * MiB), ==, RAM_MB * MiB);
    close(fd);
    return path;
}

typedef struct Stale {
    const char *object;
    const char *dir;
} Stale;

/* What was there before must not show through where nothing is sent. */
static void test_stale_destination(const void *opaque)
{
    const Stale *stale = opaque;
    g_autofree char *path = stale_file(stale->dir ?: g_get_tmp_dir());
    g_autofree char *object = g_strdup_printf(stale->object, path);
    Pair p = pair_start(MEMFD, object);

    unlink(path);
    fill(p.from);
    tide_migrate(p.from, p.uri);
    pair_arrive(&p);
    g_assert_cmpuint(sent(p.from, "normal-bytes"), <=,
                     (FILLED - DEAD) * EXTENT + SLACK);
    check_filled(p.to);
    assert_same_ram(p.from, p.to);
    pair_stop(&p);
}

/* A guest that asks and writes all the while. */
static void test_meanwhile(const void *object)
{
    uint64_t page = qemu_real_host_page_size();
    Pair p = pair_start(object, object);

    fill(p.from);
    set_bandwidth(p.from, 64 * KiB);
    tide_migrate(p.from, p.uri);
    WAIT_FOR(tide_ask(p.from, BASE, 1, DISCARD).status == TIDE_PCI_ST_BUSY);
    WAIT_FOR(sent(p.from, "transferred") > 0);
    /* Into what is dead: a whole extent, single pages, and zeros again. */
    ram_fill(p.from, BASE + 2 * EXTENT, 1, 0xa5);
    for (unsigned i = 4; i < DEAD; i += 4) {
        qtest_memset(p.from->qts, BASE + i * EXTENT + i * page, 0xc3, page + 1);
    }
    ram_fill(p.from, BASE + 2 * EXTENT, 1, 0);
    ram_fill(p.from, BASE + 3 * EXTENT, 1, 0xb4);
    ram_fill(p.from, BASE + DEAD * EXTENT, 1, 0);
    g_assert_cmpuint(tide_ask(p.from, BASE + DEAD * EXTENT, 1, DISCARD).status, ==,
                     TIDE_PCI_ST_BUSY);
    set_bandwidth(p.from, GiB);
    pair_arrive(&p);
    assert_same_ram(p.from, p.to);
    g_assert_true(ram_is(p.to, BASE + 2 * EXTENT, 1, 0));
    g_assert_true(ram_is(p.to, BASE + 3 * EXTENT, 1, 0xb4));
    g_assert_true(ram_is(p.to, BASE + (DEAD + 1) * EXTENT, 1, DEAD + 2));
    tide_discard(p.to, BASE, FILLED);
    g_assert_true(ram_is(p.to, BASE, FILLED, 0));
    pair_stop(&p);
}

/* It exits, as nobody told it otherwise, with 1. */
static void lose_destination(Pair *p)
{
    WAIT_FOR(!qtest_probe_child(p->to->qts));
    tide_stop(p->to);
}

/* The guest that stayed is whole, and can be moved once more. */
static void check_and_move(Pair *p, const char *object)
{
    WAIT_FOR(tide_ask(p->from, BASE, 1, DISCARD).status == TIDE_PCI_ST_OK);
    check_filled(p->from);
    add_destination(p, object, "");
    ram_fill(p->from, BASE, 1, 0xee);
    tide_discard(p->from, BASE + DEAD * EXTENT, 1);
    set_bandwidth(p->from, GiB);
    tide_migrate(p->from, p->uri);
    pair_arrive(p);
    g_assert_true(ram_is(p->to, BASE, 1, 0xee));
    g_assert_true(ram_is(p->to, BASE + DEAD * EXTENT, 1, 0));
    assert_same_ram(p->from, p->to);
    tide_discard(p->to, BASE, 1);
}

static void test_cancelled(const void *object)
{
    Pair p = pair_start(object, object);

    qtest_set_expected_status(p.to->qts, EXIT_FAILURE);
    fill(p.from);
    set_bandwidth(p.from, 64 * KiB);
    tide_migrate(p.from, p.uri);
    WAIT_FOR(tide_ask(p.from, BASE, 1, DISCARD).status == TIDE_PCI_ST_BUSY);
    WAIT_FOR(sent(p.from, "transferred") > 0);
    qtest_qmp_assert_success(p.from->qts, "{ 'execute': 'migrate_cancel' }");
    tide_migrate_wait(p.from, "cancelled");
    lose_destination(&p);
    check_and_move(&p, object);
    pair_stop(&p);
}

typedef struct Refusal {
    const char *object;
    const char *props;
} Refusal;

static void test_refused(const void *opaque)
{
    const Refusal *refusal = opaque;
    Pair p = pair_start(refusal->object, refusal->object);

    tide_stop(p.to);
    add_destination(&p, refusal->object, refusal->props);
    qtest_set_expected_status(p.to->qts, EXIT_FAILURE);
    /* So that the source hears of it: without, it has sent all and is done. */
    set_capability(p.from, "return-path");
    set_capability(p.to, "return-path");
    fill(p.from);
    tide_migrate(p.from, p.uri);
    tide_migrate_wait(p.from, "failed");
    lose_destination(&p);
    check_and_move(&p, refusal->object);
    pair_stop(&p);
}

/* Stopped, gone on, moved: not a byte changes. */
static void test_same_bytes(void)
{
    Pair p = pair_start(MEMFD, MEMFD);
    g_autoptr(GMappedFile) before = NULL;
    g_autoptr(GMappedFile) after = NULL;
    g_autoptr(GMappedFile) moved = NULL;

    fill(p.from);
    before = ram_copy(p.from);
    tide_ask(p.from, BASE + DEAD * EXTENT, 8, TIDE_PCI_INTENT_COLD);
    tide_ask(p.from, BASE, 8, TIDE_PCI_INTENT_WILLNEED);
    qtest_qmp_assert_success(p.from->qts, "{ 'execute': 'stop' }");
    qtest_qmp_assert_success(p.from->qts, "{ 'execute': 'cont' }");
    tide_settle();
    after = ram_copy(p.from);
    g_assert_true(ram_same(before, after));
    qtest_qmp_assert_success(p.from->qts, "{ 'execute': 'stop' }");
    tide_migrate(p.from, p.uri);
    pair_arrive(&p);
    qtest_qmp_assert_success(p.to->qts, "{ 'execute': 'cont' }");
    tide_settle();
    moved = ram_copy(p.to);
    g_assert_true(ram_same(before, moved));
    pair_stop(&p);
}

/* Its channels are not in order with the rest: all is sent, and right. */
static void test_multifd(void)
{
    g_autofree char *args = ram_args(MEMFD);
    Pair p = pair_start(MEMFD, NULL);

    tide_stop(p.to);
    p.to = tide_start_incoming(args, "", "defer");
    set_capability(p.from, "multifd");
    set_capability(p.to, "multifd");
    qtest_qmp_assert_success(p.to->qts, "{ 'execute': 'migrate-incoming', "
                             "'arguments': { 'uri': %s } }", p.uri);
    fill(p.from);
    tide_migrate(p.from, p.uri);
    pair_arrive(&p);
    check_filled(p.to);
    assert_same_ram(p.from, p.to);
    pair_stop(&p);
}

static const Stale stale_shared_memory = {
    "memory-backend-file,share=on,mem-path=%s", "/dev/shm"
};
static const Stale stale_private_memory = {
    "memory-backend-file,share=off,mem-path=%s", "/dev/shm"
};
static const Stale stale_shared_disk = {
    "memory-backend-file,share=on,mem-path=%s", NULL
};
static const Stale stale_private_disk = {
    "memory-backend-file,share=off,mem-path=%s", NULL
};

/* Before memory, as BAR2 is not as large; and after it. */
static const Refusal refused_at_once = { NULL, ",queue-size=64" };
static const Refusal refused_late = { MEMFD, ",max-extents=64" };

void tide_add_migration_tests(void)
{
    qtest_add_func("/tide/migration/rings", test_rings);
    qtest_add_data_func("/tide/migration/memory/anon", NULL, test_memory);
    qtest_add_data_func("/tide/migration/memory/memfd", MEMFD, test_memory);
    qtest_add_data_func("/tide/migration/memory/shm", SHM, test_memory);
    qtest_add_data_func("/tide/migration/stale/shared-shm", &stale_shared_memory,
                        test_stale_destination);
    qtest_add_data_func("/tide/migration/stale/private-shm", &stale_private_memory,
                        test_stale_destination);
    qtest_add_data_func("/tide/migration/stale/shared-file", &stale_shared_disk,
                        test_stale_destination);
    qtest_add_data_func("/tide/migration/stale/private-file", &stale_private_disk,
                        test_stale_destination);
    qtest_add_data_func("/tide/migration/meanwhile/anon", NULL, test_meanwhile);
    qtest_add_data_func("/tide/migration/meanwhile/memfd", MEMFD, test_meanwhile);
    qtest_add_data_func("/tide/migration/cancelled/anon", NULL, test_cancelled);
    qtest_add_data_func("/tide/migration/cancelled/memfd", MEMFD, test_cancelled);
    qtest_add_data_func("/tide/migration/refused/at-once", &refused_at_once,
                        test_refused);
    qtest_add_data_func("/tide/migration/refused/late", &refused_late, test_refused);
    qtest_add_func("/tide/migration/same-bytes", test_same_bytes);
    qtest_add_func("/tide/migration/multifd", test_multifd);
}
