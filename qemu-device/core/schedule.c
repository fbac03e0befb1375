// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is done next, and together.
 *
 * Merging: every range costs the host a lock and a TLB flush of all vCPUs, so
 * requests that touch in host memory and want the same become one range, and
 * ranges of one kind become one call.
 *
 * Order: one call covers at most a slice, then it is decided anew. Who had the
 * fewest slices comes first, so that a small report passes a large one; among
 * equals, what somebody waits for comes first. Every fourth call goes to the
 * oldest, so that nothing waits for ever.
 */
#include <stdlib.h>

#include "internal.h"

#define OLDEST_EVERY 4

static const uint8_t urgency[TIDE_INTENT_SLOTS] = {
    [TIDE_PCI_INTENT_WILLNEED] = 0,
    [TIDE_PCI_INTENT_DISCARD] = 1,
    [TIDE_PCI_INTENT_DISCARD_LAZY] = 2,
    [TIDE_PCI_INTENT_COLD] = 3,
    [TIDE_PCI_INTENT_PAGEOUT] = 4,
};

static unsigned char *rest_host(const TideRequest *req)
{
    return (unsigned char *)req->target.host + req->done;
}

/* By kind, then by address: neighbours that can be merged come together. */
static int compare(const void *left, const void *right)
{
    const TideRequest *a = *(TideRequest *const *)left;
    const TideRequest *b = *(TideRequest *const *)right;
    uintptr_t host_a = (uintptr_t)rest_host(a);
    uintptr_t host_b = (uintptr_t)rest_host(b);

    if (a->intent != b->intent) {
        return a->intent < b->intent ? -1 : 1;
    }
    if (host_a != host_b) {
        return host_a < host_b ? -1 : 1;
    }
    return a->careful - b->careful;
}

static bool before(const TideRequest *a, const TideRequest *b)
{
    if (a->slices != b->slices) {
        return a->slices < b->slices;
    }
    if (a->intent != b->intent) {
        return urgency[a->intent] < urgency[b->intent];
    }
    return rest_host(a) < rest_host(b);
}

static const TideRequest *pick(const TideCore *core)
{
    bool oldest = core->passes % OLDEST_EVERY == OLDEST_EVERY - 1;
    const TideRequest *best = &core->pending[0];

    for (unsigned i = 1; i < core->pending_count; i++) {
        const TideRequest *req = &core->pending[i];

        if (oldest ? req->taken_ns < best->taken_ns : before(req, best)) {
            best = req;
        }
    }
    return best;
}

/* One region per range: two mappings that happen to touch stay apart. */
static bool mergeable(const TideRequest *a, const TideRequest *b)
{
    return a->intent == b->intent && a->target.backing == b->target.backing &&
        a->target.ref == b->target.ref && !a->careful && !b->careful;
}

TideSpan tide_next_span(TideRequest **reqs, unsigned count)
{
    TideSpan span = {
        .reqs = reqs,
        .count = 1,
        .host = rest_host(reqs[0]),
        .len = reqs[0]->len - reqs[0]->done,
    };

    while (span.count < count && mergeable(reqs[0], reqs[span.count])) {
        const TideRequest *next = reqs[span.count];
        uint64_t from = (uint64_t)(rest_host(next) - span.host);
        uint64_t rest = next->len - next->done;

        if (from > span.len) {
            break;
        }
        if (from + rest > span.len) {
            span.len = from + rest;
        }
        span.count++;
    }
    return span;
}

static bool holds(const TideSpan *span, const TideRequest *req)
{
    for (unsigned i = 0; i < span->count; i++) {
        if (span->reqs[i] == req) {
            return true;
        }
    }
    return false;
}

static uint64_t budget(const TideCore *core, const TideVerb *verb, bool careful)
{
    uint64_t bytes = core->config.slice_bytes >> verb->cost;

    bytes -= bytes % TIDE_EXTENT_SIZE;
    return careful || bytes < TIDE_EXTENT_SIZE ? TIDE_EXTENT_SIZE : bytes;
}

/* Requests behind the cut have no part in this call. */
static void cut(TideSpan *span, uint64_t len)
{
    if (span->len <= len) {
        return;
    }
    span->len = len;
    while (rest_host(span->reqs[span->count - 1]) >= span->host + len) {
        span->count--;
    }
}

static void add(TidePass *pass, TideSpan span, uint64_t left)
{
    cut(&span, left);
    pass->iov[pass->count].iov_base = span.host;
    pass->iov[pass->count].iov_len = span.len;
    pass->spans[pass->count++] = span;
    pass->len += span.len;
}

void tide_schedule(TideCore *core, TidePass *pass)
{
    const TideRequest *lead = pick(core);
    unsigned count = core->pending_count, at = 0;
    uint64_t most;
    TideSpan span;

    for (unsigned i = 0; i < count; i++) {
        pass->order[i] = &core->pending[i];
    }
    qsort(pass->order, count, sizeof(pass->order[0]), compare);
    do {
        span = tide_next_span(&pass->order[at], count - at);
        at += span.count;
    } while (!holds(&span, lead));

    pass->count = 0;
    pass->len = 0;
    pass->verb = tide_choose(core, lead, span.len);
    most = budget(core, &pass->verb, lead->careful);
    add(pass, span, most);
    while (pass->len < most && at < count && !lead->careful) {
        span = tide_next_span(&pass->order[at], count - at);
        if (span.reqs[0]->intent != lead->intent ||
            span.reqs[0]->target.backing != lead->target.backing ||
            span.reqs[0]->careful) {
            break;
        }
        at += span.count;
        add(pass, span, most - pass->len);
    }
    core->passes++;
}
