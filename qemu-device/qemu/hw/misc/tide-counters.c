/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tide: counters as read-only QOM properties. */

#include "qemu/osdep.h"
#include "qapi/qapi-builtin-visit.h"
#include "qapi/visitor.h"
#include "hw/misc/tide.h"

typedef struct TideCounter {
    const char *name;
    size_t offset;              /* in TideStats, or in TideState */
} TideCounter;

#define TIDE_INTENT_COUNTERS(_name, _intent)                              \
    { _name "-asked-bytes",                                               \
      offsetof(TideStats, intents[_intent].asked_bytes) },                \
    { _name "-acted-bytes",                                               \
      offsetof(TideStats, intents[_intent].acted_bytes) },                \
    { _name "-downgraded-bytes",                                          \
      offsetof(TideStats, intents[_intent].downgraded_bytes) }

static const TideCounter tide_counters[] = {
    { "requests", offsetof(TideStats, requests) },
    { "completed", offsetof(TideStats, completed) },
    { "abandoned", offsetof(TideStats, abandoned) },
    { "done-ok", offsetof(TideStats, answers[TIDE_PCI_ST_OK]) },
    { "refused-invalid", offsetof(TideStats, answers[TIDE_PCI_ST_INVALID]) },
    { "refused-range", offsetof(TideStats, answers[TIDE_PCI_ST_RANGE]) },
    { "refused-unsupported",
      offsetof(TideStats, answers[TIDE_PCI_ST_UNSUPPORTED]) },
    { "refused-inhibited", offsetof(TideStats, answers[TIDE_PCI_ST_INHIBITED]) },
    { "refused-busy", offsetof(TideStats, answers[TIDE_PCI_ST_BUSY]) },
    { "failed-io", offsetof(TideStats, answers[TIDE_PCI_ST_IO]) },
    { "madvise-calls", offsetof(TideStats, advise_calls) },
    { "merged", offsetof(TideStats, merged) },
    { "rings-broken", offsetof(TideStats, broken) },
    { "latency-max-us", offsetof(TideStats, latency_max_us) },
    TIDE_INTENT_COUNTERS("discard", TIDE_PCI_INTENT_DISCARD),
    TIDE_INTENT_COUNTERS("discard-lazy", TIDE_PCI_INTENT_DISCARD_LAZY),
    TIDE_INTENT_COUNTERS("cold", TIDE_PCI_INTENT_COLD),
    TIDE_INTENT_COUNTERS("pageout", TIDE_PCI_INTENT_PAGEOUT),
    TIDE_INTENT_COUNTERS("willneed", TIDE_PCI_INTENT_WILLNEED),
    { "discard-verified-bytes",
      offsetof(TideStats, intents[TIDE_PCI_INTENT_DISCARD].verified_bytes) },
    { "pageout-verified-bytes",
      offsetof(TideStats, intents[TIDE_PCI_INTENT_PAGEOUT].verified_bytes) },
};

static const TideCounter tide_device_counters[] = {
    { "doorbells", offsetof(TideState, doorbells) },
    { "interrupts", offsetof(TideState, interrupts) },
    { "resets", offsetof(TideState, resets) },
};

/* Counters of a device that was never realized are zero, as they should be. */
static void tide_get_stats(TideState *s, TideStats *stats)
{
    memset(stats, 0, sizeof(*stats));
    if (s->core) {
        tide_core_stats(s->core, stats);
    }
}

static void tide_get_counter(Object *obj, Visitor *v, const char *name,
                             void *opaque, Error **errp)
{
    const TideCounter *counter = opaque;
    TideStats stats;
    uint64_t value;

    tide_get_stats(TIDE(obj), &stats);
    memcpy(&value, (char *)&stats + counter->offset, sizeof(value));
    visit_type_uint64(v, name, &value, errp);
}

static void tide_get_device_counter(Object *obj, Visitor *v, const char *name,
                                    void *opaque, Error **errp)
{
    const TideCounter *counter = opaque;
    uint64_t value;

    memcpy(&value, (char *)TIDE(obj) + counter->offset, sizeof(value));
    visit_type_uint64(v, name, &value, errp);
}

static void tide_get_latency(Object *obj, Visitor *v, const char *name,
                             void *opaque, Error **errp)
{
    uint64List *list = NULL, **tail = &list;
    TideStats stats;

    tide_get_stats(TIDE(obj), &stats);
    for (unsigned i = 0; i < TIDE_LATENCY_BUCKETS; i++) {
        QAPI_LIST_APPEND(tail, stats.latency_us_log2[i]);
    }
    visit_type_uint64List(v, name, &list, errp);
    qapi_free_uint64List(list);
}

static void tide_get_depth(Object *obj, Visitor *v, const char *name,
                           void *opaque, Error **errp)
{
    TideState *s = TIDE(obj);
    uint32_t depth = s->core ? tide_core_depth(s->core) : 0;

    visit_type_uint32(v, name, &depth, errp);
}

static char *tide_get_state(Object *obj, Error **errp)
{
    TideState *s = TIDE(obj);
    uint32_t status = s->core ? tide_core_status(s->core) : 0;

    if (status & TIDE_PCI_STATUS_RESETTING) {
        return g_strdup("resetting");
    }
    if (status & TIDE_PCI_STATUS_NEEDS_RESET) {
        return g_strdup("needs-reset");
    }
    return g_strdup(status & TIDE_PCI_STATUS_ENABLED ? "enabled" : "off");
}

void tide_class_add_counters(ObjectClass *klass)
{
    for (unsigned i = 0; i < ARRAY_SIZE(tide_counters); i++) {
        object_class_property_add(klass, tide_counters[i].name, "uint64",
                                  tide_get_counter, NULL, NULL,
                                  (void *)&tide_counters[i]);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(tide_device_counters); i++) {
        object_class_property_add(klass, tide_device_counters[i].name, "uint64",
                                  tide_get_device_counter, NULL, NULL,
                                  (void *)&tide_device_counters[i]);
    }
    object_class_property_add(klass, "latency-us-log2", "uint64List",
                              tide_get_latency, NULL, NULL, NULL);
    object_class_property_add(klass, "depth", "uint32", tide_get_depth, NULL,
                              NULL, NULL);
    object_class_property_add_str(klass, "state", tide_get_state, NULL);
}
