// SPDX-License-Identifier: GPL-2.0-or-later
/* One batch from the submission ring to the completion ring. */
#include <stdlib.h>

#include "internal.h"

static bool config_valid(const TideConfig *c)
{
    return c->queue_size >= TIDE_QUEUE_SIZE_MIN &&
        c->queue_size <= TIDE_QUEUE_SIZE_MAX &&
        (c->queue_size & (c->queue_size - 1)) == 0 &&
        c->max_extents >= 1 && c->max_extents <= TIDE_MAX_EXTENTS_LIMIT &&
        (c->intents & ~TIDE_INTENTS_ALL) == 0 &&
        c->slice_bytes >= TIDE_EXTENT_SIZE &&
        c->slice_bytes % TIDE_EXTENT_SIZE == 0;
}

TideCore *tide_core_new(const TideConfig *config, void *rings,
                        const TideOps *ops, void *opaque, const TideHost *host)
{
    TideCore *core;

    if (!config_valid(config)) {
        return NULL;
    }
    core = calloc(1, sizeof(*core));
    if (!core) {
        return NULL;
    }
    core->config = *config;
    core->ops = *ops;
    core->opaque = opaque;
    core->host = *host;
    core->rings = rings;
    tide_core_reset(core);
    return core;
}

void tide_core_free(TideCore *core)
{
    free(core);
}

void tide_core_reset(TideCore *core)
{
    tide_ring_reset(core);
    core->regs.features = 0;
    core->regs.pool_base = 0;
    core->regs.pool_size = 0;
    /* Last: it tells the driver that all the rest is done. */
    __atomic_store_n(&core->regs.status, 0, __ATOMIC_RELEASE);
}

static void answer(TideCore *core, TideRequest *req)
{
    if (req->target.host) {
        core->ops.release(core->opaque, &req->target);
        req->target.host = NULL;
    }
    tide_ring_answer(core, req);
    tide_stat_answer(core, req);
    if (core->ops.answered) {
        core->ops.answered(core->opaque, req);
    }
}

static void publish(TideCore *core)
{
    if (tide_ring_publish(core)) {
        tide_stat_add(&core->stats.notified, 1);
        core->ops.notify(core->opaque);
    }
}

/* Answers what cannot be acted on; the rest goes to core->order. Its number. */
static unsigned sort_out(TideCore *core, unsigned taken)
{
    bool busy = core->ops.busy(core->opaque);
    unsigned valid = 0;

    for (unsigned i = 0; i < taken; i++) {
        TideRequest *req = &core->batch[i];

        tide_stat_add(&core->stats.requests, 1);
        if (core->ops.taken) {
            core->ops.taken(core->opaque, req);
        }
        req->status = tide_validate(core, req);
        if (req->status == TIDE_PCI_ST_OK && busy) {
            req->status = TIDE_PCI_ST_BUSY;
        }
        if (req->status == TIDE_PCI_ST_OK) {
            core->order[valid++] = req;
        } else {
            answer(core, req);
        }
    }
    publish(core);
    return valid;
}

static void abandon(TideCore *core, unsigned from, unsigned count)
{
    for (unsigned i = from; i < count; i++) {
        core->ops.release(core->opaque, &core->order[i]->target);
    }
    tide_stat_add(&core->stats.abandoned, count - from);
}

static bool act_on_all(TideCore *core, unsigned count)
{
    unsigned at = 0;

    tide_sort(core->order, count);
    while (at < count) {
        TideSpan span = tide_next_span(&core->order[at], count - at);

        if (!tide_act(core, &span)) {
            abandon(core, at, count);
            return false;
        }
        for (unsigned i = 0; i < span.count; i++) {
            answer(core, span.reqs[i]);
        }
        publish(core);
        at += span.count;
    }
    return true;
}

TideRun tide_core_run(TideCore *core)
{
    bool no_room = false;
    int taken;

    if ((tide_core_status(core) & (TIDE_PCI_STATUS_ENABLED |
                                   TIDE_PCI_STATUS_RESETTING |
                                   TIDE_PCI_STATUS_NEEDS_RESET)) !=
        TIDE_PCI_STATUS_ENABLED) {
        return TIDE_RUN_STOPPED;
    }
    taken = tide_ring_take(core, &no_room);
    if (taken < 0) {
        tide_stat_add(&core->stats.broken, 1);
        __atomic_fetch_or(&core->regs.status, TIDE_PCI_STATUS_NEEDS_RESET,
                          __ATOMIC_ACQ_REL);
        return TIDE_RUN_STOPPED;
    }
    if (no_room) {
        return TIDE_RUN_NO_ROOM;
    }
    if (taken == 0) {
        return tide_ring_arm(core) ? TIDE_RUN_MORE : TIDE_RUN_IDLE;
    }
    return act_on_all(core, sort_out(core, (unsigned)taken)) ?
        TIDE_RUN_MORE : TIDE_RUN_ABANDONED;
}
