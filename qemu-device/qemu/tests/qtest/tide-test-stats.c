/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator sees: the stats object, single properties, "info tide". */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define ALL_BACKINGS 9

static QDict *get_stats(Tide *t)
{
    return qtest_qmp_assert_success_ref(t->qts, "{ 'execute': 'qom-get', "
        "'arguments': { 'path': '/machine/peripheral/tide0', "
        "'property': 'stats' } }");
}

/* The number at @path in @stats, e.g. "refused.range". */
static uint64_t number_at(QDict *stats, const char *path)
{
    g_auto(GStrv) keys = g_strsplit(path, ".", 0);
    int i;

    for (i = 0; keys[i + 1]; i++) {
        stats = qdict_get_qdict(stats, keys[i]);
        g_assert_nonnull(stats);
    }
    g_assert_true(qdict_haskey(stats, keys[i]));
    return qdict_get_int(stats, keys[i]);
}

static uint64_t number(Tide *t, const char *path)
{
    QDict *stats = get_stats(t);
    uint64_t value = number_at(stats, path);

    qobject_unref(stats);
    return value;
}

typedef struct Expected {
    const char *path;
    uint64_t value;
} Expected;

static void expect(Tide *t, const Expected *all, unsigned n)
{
    QDict *stats = get_stats(t);

    for (unsigned i = 0; i < n; i++) {
        g_test_message("%s", all[i].path);
        g_assert_cmpuint(number_at(stats, all[i].path), ==, all[i].value);
    }
    qobject_unref(stats);
}

#define EXPECT(t, ...)                                                  \
    expect(t, (const Expected[]) { __VA_ARGS__ },                       \
           sizeof((const Expected[]) { __VA_ARGS__ }) / sizeof(Expected))

static void expect_text(QDict *dict, const char *key, const char *want)
{
    g_assert_cmpstr(qdict_get_str(dict, key), ==, want);
}

static void vm(Tide *t, const char *command)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': %s }", command);
}

static void ask(Tide *t, unsigned extent, uint32_t count, uint16_t intent,
                uint16_t status)
{
    g_assert_cmpuint(tide_ask(t, BASE + extent * EXTENT, count, intent).status,
                     ==, status);
}

/* Returns the sum; the highest that is not empty has to be the maximum's. */
static uint64_t check_latency(QDict *stats, uint64_t *buckets)
{
    QList *list = qdict_get_qlist(qdict_get_qdict(stats, "latency"), "log2-us");
    uint64_t max = number_at(stats, "latency.max-us");
    uint64_t sum = 0;
    unsigned n = 0, top = 0;
    const QListEntry *entry;

    g_assert_cmpuint(qlist_size(list), ==, 24);
    QLIST_FOREACH_ENTRY(list, entry) {
        buckets[n] = qnum_get_int(qobject_to(QNum, qlist_entry_obj(entry)));
        sum += buckets[n];
        top = buckets[n] ? n : top;
        n++;
    }
    g_assert_cmpuint(top, ==, max ? MIN(64 - __builtin_clzll(max), 23) : 0);
    return sum;
}

/* The single properties and the members of the object are the same counters. */
static void check_properties(Tide *t)
{
    static const struct {
        const char *property, *path;
    } same[] = {
        { "requests", "requests" },
        { "completed", "completed" },
        { "abandoned", "abandoned" },
        { "depth", "depth" },
        { "discarded-now-bytes", "discarded-now-bytes" },
        { "done-ok", "done-ok" },
        { "refused-invalid", "refused.invalid" },
        { "refused-range", "refused.range" },
        { "refused-unsupported", "refused.unsupported" },
        { "refused-inhibited", "refused.inhibited" },
        { "refused-busy", "refused.busy" },
        { "failed-io", "refused.io" },
        { "madvise-calls", "host-calls" },
        { "vectors", "vectors" },
        { "merged", "merged" },
        { "interrupts", "interrupts.sent" },
        { "suppressed", "interrupts.suppressed" },
        { "doorbells", "doorbells" },
        { "resets", "resets" },
        { "rings-broken", "rings-broken" },
        { "throttled", "throttled" },
        { "latency-max-us", "latency.max-us" },
        { "discard-acted-bytes", "intents.discard.acted-bytes" },
        { "discard-verified-bytes", "intents.discard.verified-bytes" },
        { "discard-lazy-asked-bytes", "intents.discard-lazy.asked-bytes" },
        { "discard-lazy-verified-bytes", "intents.discard-lazy.verified-bytes" },
        { "cold-acted-bytes", "intents.cold.acted-bytes" },
        { "pageout-downgraded-bytes", "intents.pageout.downgraded-bytes" },
        { "pageout-verified-bytes", "intents.pageout.verified-bytes" },
        { "willneed-acted-bytes", "intents.willneed.acted-bytes" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(same); i++) {
        g_test_message("%s", same[i].property);
        g_assert_cmpuint(tide_counter(t, same[i].property), ==,
                         number(t, same[i].path));
    }
}

static void test_work(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t resets = number(t, "resets");
    uint64_t buckets[24];
    QDict *stats;

    ram_fill(t, BASE, 16, 0x5a);
    ask(t, 0, 8, DISCARD, TIDE_PCI_ST_OK);
    ask(t, 8, 2, TIDE_PCI_INTENT_DISCARD_LAZY, TIDE_PCI_ST_OK);
    ask(t, 10, 1, TIDE_PCI_INTENT_COLD, TIDE_PCI_ST_OK);
    ask(t, 11, 1, TIDE_PCI_INTENT_WILLNEED, TIDE_PCI_ST_OK);
    EXPECT(t, { "version", 1 }, { "requests", 4 }, { "completed", 4 },
           { "abandoned", 0 }, { "depth", 0 }, { "done-ok", 4 },
           { "intents.discard.asked-bytes", 8 * EXTENT },
           { "intents.discard.acted-bytes", 8 * EXTENT },
           { "intents.discard.verified-bytes", 8 * EXTENT },
           { "intents.discard.downgraded-bytes", 0 },
           { "intents.discard-lazy.asked-bytes", 2 * EXTENT },
           { "intents.discard-lazy.acted-bytes", 2 * EXTENT },
           { "intents.discard-lazy.verified-bytes", 0 },
           { "intents.cold.asked-bytes", EXTENT },
           { "intents.cold.acted-bytes", EXTENT },
           { "intents.pageout.asked-bytes", 0 },
           { "intents.willneed.acted-bytes", EXTENT },
           { "host-calls", 4 }, { "vectors", 0 }, { "merged", 0 },
           { "interrupts.sent", 0 }, { "interrupts.suppressed", 0 },
           { "doorbells", 4 }, { "resets", resets }, { "rings-broken", 0 },
           { "throttled", 0 });
    stats = get_stats(t);
    expect_text(stats, "state", "enabled");
    g_assert_false(qdict_get_bool(stats, "inhibited"));
    g_assert_cmpuint(check_latency(stats, buckets), ==, 4);
    /* Nothing is to leave there: a number would say that nothing did. */
    g_assert_false(qdict_haskey(qdict_get_qdict(qdict_get_qdict(stats, "intents"),
                                                "cold"), "verified-bytes"));
    qobject_unref(stats);
    check_properties(t);
    tide_stop(t);
}

static void test_refused(void)
{
    Tide *t = tide_start(RAM_ARG "-device tide-testdev,id=inhibitor ",
                         ",cold=off,exclusive=off");
    uint64_t busy = 0, ok = 0;
    QDict *stats;

    ram_fill(t, BASE, 16, 0x5a);
    ask(t, 0, 1, 99, TIDE_PCI_ST_INVALID);
    for (unsigned i = 0; i < 2; i++) {
        ask(t, RAM_MB / 2, 1, DISCARD, TIDE_PCI_ST_RANGE);
    }
    for (unsigned i = 0; i < 3; i++) {
        ask(t, 0, 1, TIDE_PCI_INTENT_COLD, TIDE_PCI_ST_UNSUPPORTED);
    }
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'qom-set', 'arguments': "
        "{ 'path': '/machine/peripheral/inhibitor', 'property': 'inhibit', "
        "'value': true } }");
    for (unsigned i = 0; i < 4; i++) {
        ask(t, 0, 1, DISCARD, TIDE_PCI_ST_INHIBITED);
    }
    stats = get_stats(t);
    g_assert_true(qdict_get_bool(stats, "inhibited"));
    qobject_unref(stats);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'qom-set', 'arguments': "
        "{ 'path': '/machine/peripheral/inhibitor', 'property': 'inhibit', "
        "'value': false } }");

    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate-set-parameters', "
                             "'arguments': { 'max-bandwidth': 65536 } }");
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate', 'arguments': "
                             "{ 'uri': 'exec:cat >/dev/null' } }");
    while (busy < 5) {
        uint16_t status = tide_ask(t, BASE, 1, DISCARD).status;

        g_assert_true(status == TIDE_PCI_ST_OK || status == TIDE_PCI_ST_BUSY);
        busy += status == TIDE_PCI_ST_BUSY;
        ok += status == TIDE_PCI_ST_OK;
    }
    EXPECT(t, { "refused.invalid", 1 }, { "refused.range", 2 },
           { "refused.unsupported", 3 }, { "refused.inhibited", 4 },
           { "refused.busy", 5 }, { "refused.io", 0 }, { "done-ok", ok },
           { "completed", 15 + ok }, { "intents.discard.acted-bytes", ok * EXTENT });
    check_properties(t);
    tide_stop(t);
}

/* Two ranges that touch are one; two that do not are one call where it can be. */
static void test_merged_and_vectors(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t calls;

    ram_fill(t, BASE, 16, 0x5a);
    vm(t, "stop");
    tide_push(t, BASE, 1, DISCARD);
    tide_push(t, BASE + EXTENT, 1, DISCARD);
    tide_ring_doorbell(t);
    EXPECT(t, { "depth", 2 }, { "requests", 0 });
    vm(t, "cont");
    tide_pop(t);
    tide_pop(t);
    EXPECT(t, { "depth", 0 }, { "merged", 2 }, { "host-calls", 1 },
           { "vectors", 0 });

    vm(t, "stop");
    tide_push(t, BASE + 4 * EXTENT, 1, DISCARD);
    tide_push(t, BASE + 8 * EXTENT, 1, DISCARD);
    tide_ring_doorbell(t);
    vm(t, "cont");
    tide_pop(t);
    tide_pop(t);
    calls = number(t, "host-calls");
    g_test_message("%" PRIu64 " calls", calls);
    if (calls == 2) {
        EXPECT(t, { "merged", 2 }, { "vectors", 1 });
    } else {
        EXPECT(t, { "merged", 2 }, { "vectors", 0 }, { "host-calls", 3 });
    }
    check_properties(t);
    tide_stop(t);
}

/* What was discarded and written again is not away any more. */
static void test_discarded_now(gconstpointer ram)
{
    Tide *t = tide_start(ram, "");

    EXPECT(t, { "discarded-now-bytes", 0 });
    ram_fill(t, BASE, 16, 0x5a);
    ask(t, 0, 8, DISCARD, TIDE_PCI_ST_OK);
    EXPECT(t, { "discarded-now-bytes", 8 * EXTENT });
    ram_fill(t, BASE + 3 * EXTENT, 2, 0x5a);
    EXPECT(t, { "discarded-now-bytes", 6 * EXTENT });
    ask(t, 4, 8, DISCARD, TIDE_PCI_ST_OK);
    EXPECT(t, { "discarded-now-bytes", 11 * EXTENT });
    ask(t, 12, 2, TIDE_PCI_INTENT_DISCARD_LAZY, TIDE_PCI_ST_OK);
    ask(t, 14, 2, TIDE_PCI_INTENT_COLD, TIDE_PCI_ST_OK);
    g_assert_cmpuint(number(t, "discarded-now-bytes"), >=, 11 * EXTENT);
    g_assert_cmpuint(number(t, "discarded-now-bytes"), <=, 13 * EXTENT);
    ram_fill(t, BASE, 16, 0x5a);
    EXPECT(t, { "discarded-now-bytes", 0 });
    check_properties(t);
    tide_stop(t);
}

static void test_signals(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    uint64_t resets = number(t, "resets");
    QDict *stats;

    qpci_msix_enable(t->dev);
    ask(t, 0, 1, DISCARD, TIDE_PCI_ST_OK);
    WAIT_FOR(number(t, "interrupts.sent") == 1);
    tide_reset(t);
    tide_enable(t, TIDE_PCI_FEATURE_EVENT_IDX);
    tide_set_index(t, TIDE_PCI_INDEX_CQ_EVENT, 100);
    ask(t, 0, 1, DISCARD, TIDE_PCI_ST_OK);
    WAIT_FOR(number(t, "interrupts.suppressed") == 1);
    EXPECT(t, { "interrupts.sent", 1 }, { "doorbells", 2 },
           { "resets", resets + 1 });

    tide_set_index(t, TIDE_PCI_INDEX_SQ_TAIL, 100000);
    tide_ring_doorbell(t);
    WAIT_FOR(tide_reg(t, TIDE_PCI_REG_STATUS) & TIDE_PCI_STATUS_NEEDS_RESET);
    stats = get_stats(t);
    expect_text(stats, "state", "needs-reset");
    qobject_unref(stats);
    EXPECT(t, { "rings-broken", 1 }, { "doorbells", 3 });
    check_properties(t);
    qpci_msix_disable(t->dev);
    tide_stop(t);
}

static void test_throttled(void)
{
    Tide *t = tide_start(RAM_ARG, ",slice=16M,max-bytes-per-second=256M");

    ask(t, 0, 8, DISCARD, TIDE_PCI_ST_OK);
    EXPECT(t, { "throttled", 0 });
    ask(t, 8, 8, DISCARD, TIDE_PCI_ST_OK);
    g_assert_cmpuint(number(t, "throttled"), >, 0);
    check_properties(t);
    tide_stop(t);
}

/* The one backing, or two, that are there; and what their proofs come to. */
static void check_reclaim(Tide *t, const char *reclaim, const char *present,
                          const char *proof, const char *also)
{
    QDict *stats = get_stats(t);
    QList *list = qdict_get_qlist(stats, "backings");
    QDict *rsp = qtest_qmp(t->qts, "{ 'execute': 'qom-get', 'arguments': { "
                           "'path': '/machine/peripheral/tide0', "
                           "'property': 'reclaim-verified' } }");
    const QListEntry *entry;
    unsigned found = 0;

    expect_text(stats, "reclaim", reclaim);
    expect_text(rsp, "return", reclaim);
    g_assert_cmpuint(qlist_size(list), ==, ALL_BACKINGS);
    QLIST_FOREACH_ENTRY(list, entry) {
        QDict *backing = qobject_to(QDict, qlist_entry_obj(entry));
        const char *name = qdict_get_str(backing, "name");
        bool is = !strcmp(name, present);

        g_assert_true(qdict_get_bool(backing, "present") ==
                      (is || !g_strcmp0(name, also)));
        if (is) {
            expect_text(backing, "proof", proof);
            found++;
        }
    }
    g_assert_cmpuint(found, ==, 1);
    qobject_unref(rsp);
    qobject_unref(stats);
}

static void test_reclaim(void)
{
    Tide *t = tide_start("-m 272M,slots=2,maxmem=2G", "");

    check_reclaim(t, "all", "anonymous", "ok", NULL);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'object-add', 'arguments': "
        "{ 'qom-type': 'memory-backend-ram', 'id': 'm1', 'size': 134217728, "
        "'prealloc': true } }");
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'device_add', 'arguments': "
        "{ 'driver': 'pc-dimm', 'id': 'd1', 'memdev': 'm1' } }");
    check_reclaim(t, "partly", "anonymous", "ok", "committed");
    tide_stop(t);

    t = tide_start(RAM_ARG "-machine memory-backend=m -object "
                   "memory-backend-ram,id=m,size=272M,prealloc=on", "");
    check_reclaim(t, "none", "committed", "failed", NULL);
    tide_stop(t);
}

static QList *properties_of(QTestState *qts, const char *command,
                            const char *type)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': %s, 'arguments': "
                           "{ 'typename': %s } }", command, type);
    QList *list = qdict_get_qlist(rsp, "return");

    g_assert_nonnull(list);
    qobject_ref(list);
    qobject_unref(rsp);
    return list;
}

static bool has_property(QList *list, const char *name)
{
    const QListEntry *entry;

    QLIST_FOREACH_ENTRY(list, entry) {
        QDict *prop = qobject_to(QDict, qlist_entry_obj(entry));

        if (!strcmp(qdict_get_str(prop, "name"), name)) {
            return true;
        }
    }
    return false;
}

/* Whatever a tide device has that other PCI devices do not says what it is. */
static void test_descriptions(void)
{
    QTestState *qts = qtest_init("-machine none");
    QList *all = properties_of(qts, "device-list-properties", "tide");
    QList *pci = properties_of(qts, "qom-list-properties", "pci-device");
    const QListEntry *entry;
    unsigned described = 0;

    QLIST_FOREACH_ENTRY(all, entry) {
        QDict *prop = qobject_to(QDict, qlist_entry_obj(entry));
        const char *name = qdict_get_str(prop, "name");

        if (!has_property(pci, name)) {
            g_test_message("%s", name);
            g_assert_nonnull(qdict_get_try_str(prop, "description"));
            described++;
        }
    }
    g_assert_cmpuint(described, >=, 50);
    g_assert_true(has_property(all, "stats"));
    g_assert_true(has_property(all, "reclaim-verified"));
    qobject_unref(pci);
    qobject_unref(all);
    qtest_quit(qts);
}

static void says(const char *text, const char *want)
{
    if (!strstr(text, want)) {
        g_error("no '%s' in:\n%s", want, text);
    }
}

/* At least @percent are in the bucket of @us or below, and fewer are below. */
static void check_percentile(const uint64_t *buckets, uint64_t us,
                             unsigned percent)
{
    unsigned bucket = us ? 64 - __builtin_clzll(us) : 0;
    uint64_t below = 0, all = 0;

    for (unsigned i = 0; i < 24; i++) {
        all += buckets[i];
        below += i < bucket ? buckets[i] : 0;
    }
    g_assert_cmpuint((below + buckets[bucket]) * 100, >=, all * percent);
    g_assert_cmpuint(below * 100, <, all * percent);
}

static void test_info(void)
{
    Tide *t = tide_start(RAM_ARG, "");
    g_autofree char *before = qtest_hmp(t->qts, "info tide");
    g_autofree char *after = NULL;
    uint64_t buckets[24], p50, p99, max;
    const char *latency;
    QDict *stats;

    says(before, "/machine/peripheral/tide0: enabled");
    says(before, "latency       not known");
    ram_fill(t, BASE, 16, 0x5a);
    for (unsigned i = 0; i < 16; i++) {
        ask(t, i, 1, i < 12 ? DISCARD : TIDE_PCI_INTENT_COLD, TIDE_PCI_ST_OK);
    }
    ask(t, 0, 1, 99, TIDE_PCI_ST_INVALID);
    after = qtest_hmp(t->qts, "info tide");
    g_test_message("%s", after);
    says(after, "requests      17 taken, 17 answered, 16 of them OK, "
         "0 abandoned, 0 queued");
    says(after, "refused       1 invalid, 0 range, 0 unsupported, 0 inhibited, "
         "0 busy, 0 io");
    says(after, "discard       24 MiB asked, 24 MiB acted on, "
         "24 MiB seen to leave, 0 B downgraded");
    says(after, "cold          8 MiB asked, 8 MiB acted on, 0 B downgraded");
    says(after, "discarded now 24 MiB");
    says(after, "host calls    16, of them 0 for several ranges; "
         "0 requests merged, throttled 0 times");
    says(after, "signals       17 doorbells, 0 interrupts, 0 suppressed");
    says(after, "reclaim       all (anonymous: ok)");

    latency = strstr(after, "p50 <=");
    g_assert_nonnull(latency);
    g_assert_cmpint(sscanf(latency, "p50 <= %" SCNu64 " us, p99 <= %" SCNu64
                           " us, max %" SCNu64 " us", &p50, &p99, &max), ==, 3);
    stats = get_stats(t);
    g_assert_cmpuint(check_latency(stats, buckets), ==, 17);
    g_assert_cmpuint(max, ==, number_at(stats, "latency.max-us"));
    g_assert_cmpuint(p50, <=, p99);
    g_assert_cmpuint(p99, <=, max);
    check_percentile(buckets, p50, 50);
    check_percentile(buckets, p99, 99);
    qobject_unref(stats);
    tide_stop(t);
}

static void test_info_devices(void)
{
    QTestState *qts = qtest_init("-machine q35 -nodefaults");
    g_autofree char *none = qtest_hmp(qts, "info tide");
    g_autofree char *two = NULL;

    says(none, "This machine has no tide device");
    qtest_quit(qts);

    qts = qtest_init("-machine q35 -nodefaults -device tide,id=a -device tide,id=b");
    two = qtest_hmp(qts, "info tide");
    says(two, "/machine/peripheral/a: off");
    says(two, "/machine/peripheral/b: off");
    qtest_quit(qts);
}

void tide_add_stats_tests(void)
{
    qtest_add_func("/tide/stats/work", test_work);
    qtest_add_func("/tide/stats/refused", test_refused);
    qtest_add_func("/tide/stats/merged-and-vectors", test_merged_and_vectors);
    qtest_add_data_func("/tide/stats/discarded-now/anonymous", RAM_ARG,
                        test_discarded_now);
    qtest_add_data_func("/tide/stats/discarded-now/memfd", RAM_ARG
                        "-machine memory-backend=m -object memory-backend-memfd,"
                        "id=m,size=272M,share=on", test_discarded_now);
    qtest_add_func("/tide/stats/signals", test_signals);
    qtest_add_func("/tide/stats/throttled", test_throttled);
    qtest_add_func("/tide/stats/reclaim", test_reclaim);
    qtest_add_func("/tide/stats/descriptions", test_descriptions);
    qtest_add_func("/tide/stats/info", test_info);
    qtest_add_func("/tide/stats/info-devices", test_info_devices);
}
