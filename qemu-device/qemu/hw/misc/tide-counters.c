/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tide: counters as read-only QOM properties, one by one for those who watch
 * a few, and all of them at once as "stats".
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-builtin-visit.h"
#include "qapi/visitor.h"
#include "hw/misc/tide-stats.h"

/* Of the stats object: a member is never renamed or removed within a version. */
#define TIDE_STATS_VERSION 1

const TideIntentName tide_intent_names[TIDE_INTENT_NAMES] = {
    { "discard", TIDE_PCI_INTENT_DISCARD, true },
    { "discard-lazy", TIDE_PCI_INTENT_DISCARD_LAZY, true },
    { "cold", TIDE_PCI_INTENT_COLD, false },
    { "pageout", TIDE_PCI_INTENT_PAGEOUT, true },
    { "willneed", TIDE_PCI_INTENT_WILLNEED, false },
};

const TideStatusName tide_refusal_names[TIDE_STATUSES - 1] = {
    { "invalid", TIDE_PCI_ST_INVALID },
    { "range", TIDE_PCI_ST_RANGE },
    { "unsupported", TIDE_PCI_ST_UNSUPPORTED },
    { "inhibited", TIDE_PCI_ST_INHIBITED },
    { "busy", TIDE_PCI_ST_BUSY },
    { "io", TIDE_PCI_ST_IO },
};

void tide_get_stats(TideState *s, TideStats *stats)
{
    memset(stats, 0, sizeof(*stats));
    if (s->core) {
        tide_core_stats(s->core, stats);
    }
}

uint64_t tide_get_signals(TideState *s, const uint64_t *counter)
{
    QEMU_LOCK_GUARD(&s->lock);
    return *counter;
}

uint32_t tide_get_status(TideState *s)
{
    return s->core ? tide_core_status(s->core) : 0;
}

uint32_t tide_get_queued(TideState *s)
{
    return s->core ? tide_core_depth(s->core) : 0;
}

const char *tide_state_name(TideState *s)
{
    uint32_t status = tide_get_status(s);

    if (status & TIDE_PCI_STATUS_RESETTING) {
        return "resetting";
    }
    if (status & TIDE_PCI_STATUS_NEEDS_RESET) {
        return "needs-reset";
    }
    return status & TIDE_PCI_STATUS_ENABLED ? "enabled" : "off";
}

const char *tide_reclaim_name(TideState *s)
{
    switch (s->core ? tide_core_reclaim(s->core) : TIDE_PCI_RECLAIM_NONE) {
    case TIDE_PCI_RECLAIM_ALL:
        return "all";
    case TIDE_PCI_RECLAIM_PARTLY:
        return "partly";
    default:
        return "none";
    }
}

uint32_t tide_get_backings(TideState *s)
{
    return s->ram ? tide_ram_backings(s->ram) : 0;
}

const char *tide_proof_name(TideState *s, TideBacking backing)
{
    switch (s->core ? tide_core_proof(s->core, backing) : TIDE_PROOF_UNKNOWN) {
    case TIDE_PROOF_OK:
        return "ok";
    case TIDE_PROOF_FAILED:
        return "failed";
    default:
        return "unknown";
    }
}

/* ---- One by one ---- */

typedef struct TideCounter {
    const char *name;
    size_t offset;              /* in TideStats, or in TideState */
    const char *text;
} TideCounter;

#define TIDE_INTENT_COUNTERS(_name, _intent)                              \
    { _name "-asked-bytes",                                               \
      offsetof(TideStats, intents[_intent].asked_bytes),                  \
      "bytes of guest memory in valid requests to " _name },              \
    { _name "-acted-bytes",                                               \
      offsetof(TideStats, intents[_intent].acted_bytes),                  \
      "bytes of those requests that were acted on: " _name },                  \
    { _name "-downgraded-bytes",                                          \
      offsetof(TideStats, intents[_intent].downgraded_bytes),             \
      "bytes on which less was done than " _name " asks for" }

#define TIDE_VERIFIED_COUNTER(_name, _intent)                             \
    { _name "-verified-bytes",                                            \
      offsetof(TideStats, intents[_intent].verified_bytes),               \
      "bytes seen to have left the host's memory by " _name }

static const TideCounter tide_counters[] = {
    { "requests", offsetof(TideStats, requests),
      "descriptors taken from the ring" },
    { "completed", offsetof(TideStats, completed),
      "descriptors answered, whatever the answer" },
    { "abandoned", offsetof(TideStats, abandoned),
      "descriptors taken and dropped by a reset" },
    { "done-ok", offsetof(TideStats, answers[TIDE_PCI_ST_OK]),
      "descriptors answered OK" },
    { "refused-invalid", offsetof(TideStats, answers[TIDE_PCI_ST_INVALID]),
      "descriptors refused: a field has a value that it may not have" },
    { "refused-range", offsetof(TideStats, answers[TIDE_PCI_ST_RANGE]),
      "descriptors refused: not whole extents of guest RAM, or not the pool's" },
    { "refused-unsupported",
      offsetof(TideStats, answers[TIDE_PCI_ST_UNSUPPORTED]),
      "descriptors refused: not possible on this memory, or not allowed" },
    { "refused-inhibited", offsetof(TideStats, answers[TIDE_PCI_ST_INHIBITED]),
      "descriptors refused: an assigned device or the like forbids discards" },
    { "refused-busy", offsetof(TideStats, answers[TIDE_PCI_ST_BUSY]),
      "descriptors refused: a migration or a snapshot was under way" },
    { "failed-io", offsetof(TideStats, answers[TIDE_PCI_ST_IO]),
      "descriptors that failed: the host refused the call" },
    { "madvise-calls", offsetof(TideStats, advise_calls),
      "calls to the host, one for many ranges counting once" },
    { "vectors", offsetof(TideStats, vectors),
      "calls to the host that were for more than one range" },
    { "merged", offsetof(TideStats, merged),
      "descriptors that shared a range of a call with another" },
    { "suppressed", offsetof(TideStats, suppressed),
      "times that completions were published and no interrupt was wanted" },
    { "throttled", offsetof(TideStats, throttled),
      "times that max-bytes-per-second made the device wait" },
    { "rings-broken", offsetof(TideStats, broken),
      "times that the driver's indices were out of bounds" },
    { "latency-max-us", offsetof(TideStats, latency_max_us),
      "longest time from taking a descriptor to answering it, microseconds" },
    TIDE_INTENT_COUNTERS("discard", TIDE_PCI_INTENT_DISCARD),
    TIDE_INTENT_COUNTERS("discard-lazy", TIDE_PCI_INTENT_DISCARD_LAZY),
    TIDE_INTENT_COUNTERS("cold", TIDE_PCI_INTENT_COLD),
    TIDE_INTENT_COUNTERS("pageout", TIDE_PCI_INTENT_PAGEOUT),
    TIDE_INTENT_COUNTERS("willneed", TIDE_PCI_INTENT_WILLNEED),
    TIDE_VERIFIED_COUNTER("discard", TIDE_PCI_INTENT_DISCARD),
    TIDE_VERIFIED_COUNTER("discard-lazy", TIDE_PCI_INTENT_DISCARD_LAZY),
    TIDE_VERIFIED_COUNTER("pageout", TIDE_PCI_INTENT_PAGEOUT),
};

static const TideCounter tide_device_counters[] = {
    { "doorbells", offsetof(TideState, doorbells),
      "times that the driver rang" },
    { "interrupts", offsetof(TideState, interrupts),
      "interrupts sent to the driver" },
    { "resets", offsetof(TideState, resets),
      "resets of the device, whoever asked" },
};

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
    TideState *s = TIDE(obj);
    uint64_t value = tide_get_signals(s, (void *)((char *)s + counter->offset));

    visit_type_uint64(v, name, &value, errp);
}

static void tide_visit_latency(const TideStats *stats, Visitor *v,
                               const char *name, Error **errp)
{
    uint64List *list = NULL, **tail = &list;

    for (unsigned i = 0; i < TIDE_LATENCY_BUCKETS; i++) {
        QAPI_LIST_APPEND(tail, stats->latency_us_log2[i]);
    }
    visit_type_uint64List(v, name, &list, errp);
    qapi_free_uint64List(list);
}

static void tide_get_latency(Object *obj, Visitor *v, const char *name,
                             void *opaque, Error **errp)
{
    TideStats stats;

    tide_get_stats(TIDE(obj), &stats);
    tide_visit_latency(&stats, v, name, errp);
}

static void tide_get_discarded_now(Object *obj, Visitor *v, const char *name,
                                   void *opaque, Error **errp)
{
    uint64_t value = tide_discarded_now(TIDE(obj));

    visit_type_uint64(v, name, &value, errp);
}

static void tide_get_depth(Object *obj, Visitor *v, const char *name,
                           void *opaque, Error **errp)
{
    uint32_t queued = tide_get_queued(TIDE(obj));

    visit_type_uint32(v, name, &queued, errp);
}

static char *tide_get_state(Object *obj, Error **errp)
{
    return g_strdup(tide_state_name(TIDE(obj)));
}

static char *tide_get_reclaim(Object *obj, Error **errp)
{
    return g_strdup(tide_reclaim_name(TIDE(obj)));
}

/* ---- All at once; an output visitor does not fail for what we give it ---- */

static void tide_put_u64(Visitor *v, const char *name, uint64_t value)
{
    visit_type_uint64(v, name, &value, &error_abort);
}

static void tide_put_str(Visitor *v, const char *name, const char *value)
{
    char *text = (char *)value;

    visit_type_str(v, name, &text, &error_abort);
}

static void tide_put_bool(Visitor *v, const char *name, bool value)
{
    visit_type_bool(v, name, &value, &error_abort);
}

static void tide_begin_object(Visitor *v, const char *name)
{
    visit_start_struct(v, name, NULL, 0, &error_abort);
}

static void tide_end_object(Visitor *v)
{
    visit_end_struct(v, NULL);
}

static void tide_put_refused(Visitor *v, const TideStats *stats)
{
    tide_begin_object(v, "refused");
    for (unsigned i = 0; i < ARRAY_SIZE(tide_refusal_names); i++) {
        tide_put_u64(v, tide_refusal_names[i].name,
                     stats->answers[tide_refusal_names[i].status]);
    }
    tide_end_object(v);
}

/* Where nothing can leave memory there is nothing to verify: no 0 says so. */
static void tide_put_intents(Visitor *v, const TideStats *stats)
{
    tide_begin_object(v, "intents");
    for (unsigned i = 0; i < TIDE_INTENT_NAMES; i++) {
        const TideIntentName *name = &tide_intent_names[i];
        const TideIntentStats *intent = &stats->intents[name->intent];

        tide_begin_object(v, name->name);
        tide_put_u64(v, "asked-bytes", intent->asked_bytes);
        tide_put_u64(v, "acted-bytes", intent->acted_bytes);
        if (name->leaves) {
            tide_put_u64(v, "verified-bytes", intent->verified_bytes);
        }
        tide_put_u64(v, "downgraded-bytes", intent->downgraded_bytes);
        tide_end_object(v);
    }
    tide_end_object(v);
}

static void tide_put_interrupts(Visitor *v, TideState *s, const TideStats *stats)
{
    tide_begin_object(v, "interrupts");
    tide_put_u64(v, "sent", tide_get_signals(s, &s->interrupts));
    tide_put_u64(v, "suppressed", stats->suppressed);
    tide_end_object(v);
}

static void tide_put_latency(Visitor *v, const TideStats *stats)
{
    tide_begin_object(v, "latency");
    tide_put_u64(v, "max-us", stats->latency_max_us);
    tide_visit_latency(stats, v, "log2-us", &error_abort);
    tide_end_object(v);
}

static void tide_put_backings(Visitor *v, TideState *s)
{
    uint32_t present = tide_get_backings(s);

    visit_start_list(v, "backings", NULL, 0, &error_abort);
    for (unsigned i = 0; i < TIDE_BACKINGS; i++) {
        tide_begin_object(v, NULL);
        tide_put_str(v, "name", tide_backing_name(i));
        tide_put_bool(v, "present", present & (1u << i));
        tide_put_str(v, "proof", tide_proof_name(s, i));
        tide_end_object(v);
    }
    visit_end_list(v, NULL);
}

static void tide_get_all(Object *obj, Visitor *v, const char *name,
                         void *opaque, Error **errp)
{
    TideState *s = TIDE(obj);
    TideStats stats;

    if (!visit_start_struct(v, name, NULL, 0, errp)) {
        return;
    }
    tide_get_stats(s, &stats);
    tide_put_u64(v, "version", TIDE_STATS_VERSION);
    tide_put_str(v, "state", tide_state_name(s));
    tide_put_bool(v, "inhibited",
                  tide_get_status(s) & TIDE_PCI_STATUS_INHIBITED);
    tide_put_u64(v, "requests", stats.requests);
    tide_put_u64(v, "completed", stats.completed);
    tide_put_u64(v, "abandoned", stats.abandoned);
    tide_put_u64(v, "depth", tide_get_queued(s));
    tide_put_u64(v, "done-ok", stats.answers[TIDE_PCI_ST_OK]);
    tide_put_refused(v, &stats);
    tide_put_intents(v, &stats);
    tide_put_u64(v, "discarded-now-bytes", tide_discarded_now(s));
    tide_put_u64(v, "host-calls", stats.advise_calls);
    tide_put_u64(v, "vectors", stats.vectors);
    tide_put_u64(v, "merged", stats.merged);
    tide_put_interrupts(v, s, &stats);
    tide_put_u64(v, "doorbells", tide_get_signals(s, &s->doorbells));
    tide_put_u64(v, "resets", tide_get_signals(s, &s->resets));
    tide_put_u64(v, "rings-broken", stats.broken);
    tide_put_u64(v, "throttled", stats.throttled);
    tide_put_latency(v, &stats);
    tide_put_str(v, "reclaim", tide_reclaim_name(s));
    tide_put_backings(v, s);
    tide_end_object(v);
}

/* ---- Registration ---- */

static void tide_add(ObjectClass *klass, const char *name, const char *type,
                     ObjectPropertyAccessor *get, const TideCounter *counter,
                     const char *text)
{
    object_class_property_add(klass, name, type, get, NULL, NULL,
                              (void *)counter);
    object_class_property_set_description(klass, name, text);
}

static void tide_add_str(ObjectClass *klass, const char *name,
                         char *(*get)(Object *, Error **), const char *text)
{
    object_class_property_add_str(klass, name, get, NULL);
    object_class_property_set_description(klass, name, text);
}

void tide_class_add_counters(ObjectClass *klass)
{
    for (unsigned i = 0; i < ARRAY_SIZE(tide_counters); i++) {
        const TideCounter *c = &tide_counters[i];

        tide_add(klass, c->name, "uint64", tide_get_counter, c, c->text);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(tide_device_counters); i++) {
        const TideCounter *c = &tide_device_counters[i];

        tide_add(klass, c->name, "uint64", tide_get_device_counter, c, c->text);
    }
    tide_add(klass, "latency-us-log2", "uint64List", tide_get_latency, NULL,
             "descriptors answered by time: element n counts those below 2^n "
             "microseconds, the last one all beyond");
    tide_add(klass, "depth", "uint32", tide_get_depth, NULL,
             "descriptors submitted and not answered now");
    tide_add(klass, "discarded-now-bytes", "uint64", tide_get_discarded_now, NULL,
             "bytes that were discarded and that the host still does without");
    tide_add(klass, "stats", "TideStats", tide_get_all, NULL,
             "all counters, the state and the kinds of memory as one object");
    tide_add_str(klass, "state", tide_get_state,
                 "off, enabled, resetting or needs-reset");
    tide_add_str(klass, "reclaim-verified", tide_get_reclaim,
                 "giving memory back was seen to work here: for none, partly "
                 "(some) or all of guest RAM");
}
