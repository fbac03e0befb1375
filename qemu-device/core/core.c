// SPDX-License-Identifier: GPL-2.0-or-later
/* From the submission ring to the completion ring, one call to the host a run. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define RUNNING_MASK (TIDE_PCI_STATUS_ENABLED | TIDE_PCI_STATUS_RESETTING | \
                      TIDE_PCI_STATUS_NEEDS_RESET)
#define NS_PER_S UINT64_C(1000000000)

static bool config_valid(const TideConfig *c)
{
    return c->queue_size >= TIDE_QUEUE_SIZE_MIN &&
        c->queue_size <= TIDE_QUEUE_SIZE_MAX &&
        (c->queue_size & (c->queue_size - 1)) == 0 &&
        c->max_extents >= 1 && c->max_extents <= TIDE_MAX_EXTENTS_LIMIT &&
        (c->intents & ~TIDE_INTENTS_ALL) == 0 &&
        c->slice_bytes >= TIDE_EXTENT_SIZE && c->slice_bytes <= NS_PER_S * 8 &&
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
    core->no_vec = !host->advise_vec;
    core->rings = rings;
    tide_core_reset(core);
    return core;
}

void tide_core_free(TideCore *core)
{
    free(core);
}

static void abandon(TideCore *core)
{
    tide_stat_add(&core->stats.abandoned, core->pending_count + core->loaded_count);
    core->pending_count = 0;
    core->pending_extents = 0;
    core->loaded_count = 0;
}

void tide_core_reset(TideCore *core)
{
    abandon(core);
    tide_ring_reset(core);
    core->regs.features = 0;
    core->regs.pool_base = 0;
    core->regs.pool_size = 0;
    /* Last: it tells the driver that all the rest is done. */
    __atomic_store_n(&core->regs.status, 0, __ATOMIC_RELEASE);
}

/* ---- Taking ---- */

static void answer(TideCore *core, const TideRequest *req)
{
    tide_ring_answer(core, req);
    tide_stat_answer(core, req);
    if (req->merged) {
        tide_stat_add(&core->stats.merged, 1);
    }
    if (core->ops.answered) {
        core->ops.answered(core->opaque, req);
    }
}

static bool fits(const TideCore *core, const TideRequest *req)
{
    return core->config.max_pending_extents == 0 || core->pending_count == 0 ||
        core->pending_extents + req->count <= core->config.max_pending_extents;
}

/* Into pending[], or answered at once. */
static void accept(TideCore *core, const TideRequest *from, uint64_t now)
{
    TideRequest *req = &core->pending[core->pending_count];

    *req = *from;
    req->taken_ns = now;
    if (core->ops.taken) {
        core->ops.taken(core->opaque, req);
    }
    req->status = tide_validate(core, req);
    if (req->status == TIDE_PCI_ST_OK) {
        core->pending_count++;
        core->pending_extents += req->count;
    } else {
        answer(core, req);
    }
}

/*
 * What was pending when the state was saved is as little trusted as the ring,
 * and has to fit here. While some of it waits, something is pending.
 */
static void take_loaded(TideCore *core)
{
    uint64_t now = tide_now_ns();

    while (core->loaded_count) {
        const TideSavedDesc *desc = &core->loaded[core->loaded_head];
        TideRequest req = {
            .gpa = desc->gpa,
            .cookie = desc->cookie,
            .reserved = desc->reserved,
            .count = desc->count,
            .intent = desc->intent,
            .desc_flags = desc->flags,
        };

        if (!fits(core, &req)) {
            break;
        }
        core->loaded_head++;
        core->loaded_count--;
        accept(core, &req, now);
    }
}

/* False if the ring is broken. */
static bool take(TideCore *core, bool *no_room)
{
    int submitted = tide_ring_peek(core, no_room);
    uint64_t now = tide_now_ns();
    uint32_t taken = 0;
    TideRequest req;

    if (submitted < 0) {
        return false;
    }
    if (core->loaded_count) {
        return true;
    }
    while (taken < (uint32_t)submitted && core->pending_count < TIDE_PENDING_MAX &&
           taken < TIDE_PENDING_MAX) {
        tide_ring_copy(core, taken, &req);
        if (!fits(core, &req)) {
            break;
        }
        taken++;
        tide_stat_add(&core->stats.requests, 1);
        accept(core, &req, now);
    }
    tide_ring_advance(core, taken);
    return true;
}

/* ---- Acting ---- */

static void publish(TideCore *core)
{
    uint32_t before = core->cq_published;

    if (tide_ring_publish(core)) {
        tide_stat_add(&core->stats.notified, 1);
        core->ops.notify(core->opaque);
    } else if (core->cq_published != before) {
        tide_stat_add(&core->stats.suppressed, 1);
    }
}

/* Everybody hears why nothing can be done now. */
static void refuse_all(TideCore *core, uint16_t status)
{
    for (uint32_t i = 0; i < core->pending_count; i++) {
        tide_finish(core, &core->pending[i], status);
    }
}

/*
 * Memory can go, or move, between two calls. True if all that the pass names
 * is where it was thought to be. What was found is held, whatever the answer.
 */
static bool same_place(const TideTarget *a, const TideTarget *b)
{
    return a->host == b->host && a->backing == b->backing && a->fd == b->fd &&
        a->fd_offset == b->fd_offset;
}

static bool hold(TideCore *core, TidePass *pass, TideTarget *held, unsigned *count)
{
    bool same = true;

    *count = 0;
    for (unsigned s = 0; s < pass->count; s++) {
        for (unsigned i = 0; i < pass->spans[s].count; i++) {
            TideRequest *req = pass->spans[s].reqs[i];
            TideTarget target;

            if (!core->ops.resolve(core->opaque, req->gpa, req->len, &target)) {
                tide_finish(core, req, TIDE_PCI_ST_RANGE);
                same = false;
                continue;
            }
            held[(*count)++] = target;
            if (!same_place(&target, &req->target)) {
                /* Other memory now: what was done was done to what is gone. */
                tide_finish(core, req, TIDE_PCI_ST_RANGE);
                same = false;
            }
        }
    }
    return same;
}

/* In the order they were taken. */
static void answer_finished(TideCore *core)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < core->pending_count; i++) {
        TideRequest *req = &core->pending[i];

        if (req->finished) {
            answer(core, req);
            core->pending_extents -= req->count;
        } else if (i != left++) {
            core->pending[left - 1] = *req;
        }
    }
    core->pending_count = left;
}

static void throttle(TideCore *core, uint64_t bytes)
{
    uint64_t now = tide_now_ns();
    uint64_t from = core->throttled_until > now ? core->throttled_until : now;

    if (core->config.max_bytes_per_s) {
        from += (uint64_t)((unsigned __int128)bytes * NS_PER_S /
                           core->config.max_bytes_per_s);
        __atomic_store_n(&core->throttled_until, from, __ATOMIC_RELAXED);
    }
}

uint64_t tide_core_wait_ns(const TideCore *core)
{
    uint64_t until = __atomic_load_n(&core->throttled_until, __ATOMIC_RELAXED);
    uint64_t now = tide_now_ns();

    return until > now ? until - now : 0;
}

static void act(TideCore *core)
{
    TideTarget held[TIDE_PENDING_MAX];
    unsigned count;
    TidePass pass;

    tide_schedule(core, &pass);
    if (hold(core, &pass, held, &count)) {
        throttle(core, tide_act(core, &pass));
    }
    while (count) {
        core->ops.release(core->opaque, &held[--count]);
    }
}

static void broken(TideCore *core)
{
    tide_stat_add(&core->stats.broken, 1);
    __atomic_fetch_or(&core->regs.status, TIDE_PCI_STATUS_NEEDS_RESET,
                      __ATOMIC_ACQ_REL);
}

static void one_call(TideCore *core)
{
    uint16_t status = core->ops.begin(core->opaque);

    /* BUSY says nothing about an inhibitor. */
    if (status != TIDE_PCI_ST_BUSY) {
        tide_core_set_inhibited(core, status == TIDE_PCI_ST_INHIBITED);
    }
    if (status != TIDE_PCI_ST_OK) {
        refuse_all(core, status);
    } else {
        act(core);
        core->ops.end(core->opaque);
    }
    answer_finished(core);
}

TideRun tide_core_run(TideCore *core)
{
    bool no_room = false;
    TideRun result = TIDE_RUN_MORE;

    if ((tide_core_status(core) & RUNNING_MASK) != TIDE_PCI_STATUS_ENABLED) {
        return TIDE_RUN_STOPPED;
    }
    take_loaded(core);
    if (!take(core, &no_room)) {
        broken(core);
        return TIDE_RUN_STOPPED;
    }
    if (core->pending_count == 0 && core->cq_published == core->cq_tail) {
        if (no_room) {
            return TIDE_RUN_NO_ROOM;
        }
        return tide_ring_arm(core) ? TIDE_RUN_MORE : TIDE_RUN_IDLE;
    }
    if (core->pending_count && tide_core_wait_ns(core)) {
        tide_stat_add(&core->stats.throttled, 1);
        result = TIDE_RUN_WAIT;
    } else if (core->pending_count) {
        one_call(core);
    }
    publish(core);
    return result;
}

/* ---- Saving and loading ---- */

void tide_core_save(const TideCore *core, TideSaved *saved)
{
    *saved = (TideSaved) {
        .pool_base = core->regs.pool_base,
        .pool_size = core->regs.pool_size,
        .status = __atomic_load_n(&core->regs.status, __ATOMIC_ACQUIRE),
        .features = core->regs.features,
        .sq_head = core->sq_head,
        .cq_tail = core->cq_tail,
        .pending_count = core->pending_count + core->loaded_count,
    };
    for (uint32_t i = 0; i < core->pending_count; i++) {
        const TideRequest *req = &core->pending[i];

        saved->pending[i] = (TideSavedDesc) {
            .gpa = req->gpa,
            .cookie = req->cookie,
            .reserved = req->reserved,
            .count = req->count,
            .intent = req->intent,
            .flags = req->desc_flags,
        };
    }
    memcpy(&saved->pending[core->pending_count], &core->loaded[core->loaded_head],
           core->loaded_count * sizeof(core->loaded[0]));
}

static bool saved_valid(const TideCore *core, const TideSaved *saved)
{
    return !(saved->status & ~(uint32_t)RUNNING_MASK) &&
        !(saved->features & ~TIDE_PCI_FEATURE_EVENT_IDX) &&
        saved->pending_count <= TIDE_PENDING_MAX &&
        saved->pending_count <= core->config.queue_size;
}

/* Guest RAM may not be whole yet, so it is the next run that looks at them. */
bool tide_core_load(TideCore *core, const TideSaved *saved)
{
    if (!saved_valid(core, saved)) {
        return false;
    }
    abandon(core);
    core->regs.pool_base = saved->pool_base;
    core->regs.pool_size = saved->pool_size;
    core->regs.features = saved->features;
    core->sq_head = saved->sq_head;
    core->cq_tail = saved->cq_tail;
    __atomic_store_n(&core->cq_published, saved->cq_tail, __ATOMIC_RELAXED);
    core->loaded_head = 0;
    core->loaded_count = saved->pending_count;
    memcpy(core->loaded, saved->pending,
           saved->pending_count * sizeof(core->loaded[0]));
    tide_stat_add(&core->stats.requests, saved->pending_count);
    __atomic_store_n(&core->regs.status, saved->status, __ATOMIC_RELEASE);
    return true;
}
