// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters: one writer, read from anywhere without a lock. */
#include <time.h>

#include "internal.h"

_Static_assert(sizeof(TideStats) % sizeof(uint64_t) == 0, "copied as words");

uint64_t tide_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void tide_stat_add(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static void add_latency(TideStats *stats, uint64_t us)
{
    unsigned bucket = us ? 64 - (unsigned)__builtin_clzll(us) : 0;

    if (bucket >= TIDE_LATENCY_BUCKETS) {
        bucket = TIDE_LATENCY_BUCKETS - 1;
    }
    tide_stat_add(&stats->latency_us_log2[bucket], 1);
    if (us > stats->latency_max_us) {
        __atomic_store_n(&stats->latency_max_us, us, __ATOMIC_RELAXED);
    }
}

void tide_stat_answer(TideCore *core, const TideRequest *req)
{
    TideStats *stats = &core->stats;

    tide_stat_add(&stats->completed, 1);
    tide_stat_add(&stats->answers[req->status], 1);
    add_latency(stats, (tide_now_ns() - req->taken_ns) / 1000);
    if (req->len) {
        TideIntentStats *intent = &stats->intents[req->intent];

        tide_stat_add(&intent->asked_bytes, req->len);
        tide_stat_add(&intent->acted_bytes, req->done);
        if (req->cpl_flags & TIDE_PCI_CPL_DOWNGRADED) {
            tide_stat_add(&intent->downgraded_bytes, req->done);
        }
    }
}

void tide_core_stats(const TideCore *core, TideStats *stats)
{
    const uint64_t *from = (const uint64_t *)&core->stats;
    uint64_t *to = (uint64_t *)stats;

    for (unsigned i = 0; i < sizeof(*stats) / sizeof(*from); i++) {
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    }
}
