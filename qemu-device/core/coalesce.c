// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merging: every call to the host costs a TLB flush of all vCPUs, so requests
 * that touch in host memory and want the same become one call.
 */
#include <stdlib.h>

#include "internal.h"

/* Quick ones and those somebody waits for first. */
static const uint8_t urgency[TIDE_INTENT_SLOTS] = {
    [TIDE_PCI_INTENT_DISCARD] = 0,
    [TIDE_PCI_INTENT_DISCARD_LAZY] = 1,
    [TIDE_PCI_INTENT_WILLNEED] = 2,
    [TIDE_PCI_INTENT_COLD] = 3,
    [TIDE_PCI_INTENT_PAGEOUT] = 4,
};

static int compare(const void *left, const void *right)
{
    const TideRequest *a = *(TideRequest *const *)left;
    const TideRequest *b = *(TideRequest *const *)right;
    uintptr_t host_a = (uintptr_t)a->target.host;
    uintptr_t host_b = (uintptr_t)b->target.host;

    if (a->intent != b->intent) {
        return urgency[a->intent] - urgency[b->intent];
    }
    if (host_a != host_b) {
        return host_a < host_b ? -1 : 1;
    }
    return a->len < b->len ? -1 : a->len > b->len;
}

void tide_sort(TideRequest **reqs, unsigned count)
{
    qsort(reqs, count, sizeof(*reqs), compare);
}

/* One region per call: two mappings that happen to touch stay apart. */
static bool same_kind(const TideRequest *a, const TideRequest *b)
{
    return a->intent == b->intent && a->target.backing == b->target.backing &&
        a->target.ref == b->target.ref;
}

TideSpan tide_next_span(TideRequest **reqs, unsigned count)
{
    TideSpan span = {
        .reqs = reqs,
        .count = 1,
        .host = reqs[0]->target.host,
        .len = reqs[0]->len,
    };

    while (span.count < count && same_kind(reqs[0], reqs[span.count])) {
        const TideRequest *next = reqs[span.count];
        uint64_t from = (uint64_t)((unsigned char *)next->target.host - span.host);

        if (from > span.len) {
            break;
        }
        if (from + next->len > span.len) {
            span.len = from + next->len;
        }
        span.count++;
    }
    return span;
}
