/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tide: "info tide" in the human monitor. */

#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/module.h"
#include "qapi/type-helpers.h"
#include "monitor/monitor.h"
#include "hw/misc/tide-stats.h"

#define LABEL "  %-13s "

/*
 * The histogram knows a request's time by its power of two: what is said is
 * that @percent of the requests took at most so long.
 */
static uint64_t tide_percentile_us(const TideStats *stats, unsigned percent)
{
    uint64_t all = 0, below = 0;

    for (unsigned i = 0; i < TIDE_LATENCY_BUCKETS; i++) {
        all += stats->latency_us_log2[i];
    }
    for (unsigned i = 0; i < TIDE_LATENCY_BUCKETS - 1; i++) {
        below += stats->latency_us_log2[i];
        if (below * 100 >= all * percent) {
            return MIN((UINT64_C(1) << i) - 1, stats->latency_max_us);
        }
    }
    return stats->latency_max_us;
}

static void tide_print_refused(GString *buf, const TideStats *stats)
{
    const char *comma = "";

    g_string_append_printf(buf, LABEL, "refused");
    for (unsigned i = 0; i < ARRAY_SIZE(tide_refusal_names); i++) {
        g_string_append_printf(buf, "%s%" PRIu64 " %s", comma,
                               stats->answers[tide_refusal_names[i].status],
                               tide_refusal_names[i].name);
        comma = ", ";
    }
    g_string_append_c(buf, '\n');
}

static void tide_print_size(GString *buf, const char *comma, uint64_t bytes,
                            const char *what)
{
    g_autofree char *size = size_to_str(bytes);

    g_string_append_printf(buf, "%s%s %s", comma, size, what);
}

static void tide_print_intents(GString *buf, const TideStats *stats)
{
    for (unsigned i = 0; i < TIDE_INTENT_NAMES; i++) {
        const TideIntentName *name = &tide_intent_names[i];
        const TideIntentStats *intent = &stats->intents[name->intent];

        g_string_append_printf(buf, LABEL, name->name);
        tide_print_size(buf, "", intent->asked_bytes, "asked");
        tide_print_size(buf, ", ", intent->acted_bytes, "acted on");
        if (name->leaves) {
            tide_print_size(buf, ", ", intent->verified_bytes, "seen to leave");
        }
        tide_print_size(buf, ", ", intent->downgraded_bytes, "downgraded");
        g_string_append_c(buf, '\n');
    }
}

static void tide_print_latency(GString *buf, const TideStats *stats)
{
    g_string_append_printf(buf, LABEL, "latency");
    if (!stats->completed) {
        g_string_append(buf, "not known: nothing was answered yet\n");
        return;
    }
    g_string_append_printf(buf, "p50 <= %" PRIu64 " us, p99 <= %" PRIu64
                           " us, max %" PRIu64 " us\n",
                           tide_percentile_us(stats, 50),
                           tide_percentile_us(stats, 99),
                           stats->latency_max_us);
}

static void tide_print_backings(GString *buf, TideState *s)
{
    uint32_t present = tide_get_backings(s);
    const char *comma = "";

    g_string_append_printf(buf, LABEL "%s (", "reclaim",
                           tide_reclaim_name(s));
    for (unsigned i = 0; i < TIDE_BACKINGS; i++) {
        if (present & (1u << i)) {
            g_string_append_printf(buf, "%s%s: %s", comma, tide_backing_name(i),
                                   tide_proof_name(s, i));
            comma = ", ";
        }
    }
    g_string_append(buf, ")\n");
}

static void tide_print_discarded(GString *buf, TideState *s)
{
    g_autofree char *bytes = size_to_str(tide_discarded_now(s));

    g_string_append_printf(buf, LABEL "%s\n", "discarded now", bytes);
}

static void tide_print(GString *buf, TideState *s)
{
    g_autofree char *path = object_get_canonical_path(OBJECT(s));
    TideStats stats;

    tide_get_stats(s, &stats);
    g_string_append_printf(buf, "%s: %s%s\n", path, tide_state_name(s),
                           tide_get_status(s) & TIDE_PCI_STATUS_INHIBITED ?
                           ", inhibited" : "");
    g_string_append_printf(buf, LABEL "%" PRIu64 " taken, %" PRIu64
                           " answered, %" PRIu64 " of them OK, %" PRIu64
                           " abandoned, %" PRIu32 " queued\n", "requests",
                           stats.requests, stats.completed,
                           stats.answers[TIDE_PCI_ST_OK], stats.abandoned,
                           tide_get_queued(s));
    tide_print_refused(buf, &stats);
    tide_print_intents(buf, &stats);
    tide_print_discarded(buf, s);
    g_string_append_printf(buf, LABEL "%" PRIu64 ", of them %" PRIu64
                           " for several ranges; %" PRIu64 " requests merged, "
                           "throttled %" PRIu64 " times\n", "host calls",
                           stats.advise_calls, stats.vectors, stats.merged,
                           stats.throttled);
    tide_print_latency(buf, &stats);
    g_string_append_printf(buf, LABEL "%" PRIu64 " doorbells, %" PRIu64
                           " interrupts, %" PRIu64 " suppressed\n", "signals",
                           tide_get_signals(s, &s->doorbells),
                           tide_get_signals(s, &s->interrupts), stats.suppressed);
    g_string_append_printf(buf, LABEL "%" PRIu64 ", rings broken %" PRIu64
                           " times\n", "resets", tide_get_signals(s, &s->resets),
                           stats.broken);
    tide_print_backings(buf, s);
}

static int tide_print_if_tide(Object *obj, void *opaque)
{
    if (object_dynamic_cast(obj, TYPE_TIDE)) {
        tide_print(opaque, TIDE(obj));
    }
    return 0;
}

static HumanReadableText *tide_info_text(Error **errp)
{
    g_autoptr(GString) buf = g_string_new("");

    object_child_foreach_recursive(object_get_root(), tide_print_if_tide, buf);
    if (!buf->len) {
        g_string_append(buf, "This machine has no tide device.\n");
    }
    return human_readable_text_from_str(buf);
}

static void tide_info_register(void)
{
    monitor_register_hmp_info_hrt("tide", tide_info_text);
}

type_init(tide_info_register)
