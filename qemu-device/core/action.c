// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intent x backing -> what is asked of the host, and what may be said of it.
 */
#include <errno.h>
#include <sys/mman.h>

#include "internal.h"

#ifndef MADV_COLD
#define MADV_COLD 20
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

typedef struct Verb {
    int advice;
    uint32_t action;            /* TIDE_PCI_ACTION_NONE: not supported */
    uint16_t flags;             /* TIDE_PCI_CPL_* of a success */
    bool leaves;                /* memory leaves: can be verified */
} Verb;

static const Verb verbs[TIDE_INTENT_SLOTS][TIDE_BACKINGS] = {
    [TIDE_PCI_INTENT_DISCARD] = {
        [TIDE_BACKING_ANON] = { MADV_DONTNEED, TIDE_PCI_ACTION_DISCARD,
                                TIDE_PCI_CPL_ZEROED, true },
    },
    [TIDE_PCI_INTENT_DISCARD_LAZY] = {
        [TIDE_BACKING_ANON] = { MADV_FREE, TIDE_PCI_ACTION_FREE, 0, false },
    },
    [TIDE_PCI_INTENT_COLD] = {
        [TIDE_BACKING_ANON] = { MADV_COLD, TIDE_PCI_ACTION_COLD, 0, false },
    },
    [TIDE_PCI_INTENT_PAGEOUT] = {
        [TIDE_BACKING_ANON] = { MADV_PAGEOUT, TIDE_PCI_ACTION_PAGEOUT, 0, true },
    },
    [TIDE_PCI_INTENT_WILLNEED] = {
        [TIDE_BACKING_ANON] = { MADV_POPULATE_WRITE, TIDE_PCI_ACTION_POPULATE,
                                0, false },
    },
};

/* Only starts reading from swap, so nothing may be claimed. */
static const Verb read_ahead = {
    MADV_WILLNEED, TIDE_PCI_ACTION_NONE, TIDE_PCI_CPL_DOWNGRADED, false
};

bool tide_backing_supported(TideBacking backing, uint16_t intent)
{
    return verbs[intent][backing].action != TIDE_PCI_ACTION_NONE;
}

/*
 * PAGEOUT without room on a block device splits every huge page and frees
 * next to nothing, so it is not even tried.
 */
static Verb choose(TideCore *core, const TideSpan *span)
{
    const TideRequest *req = span->reqs[0];
    Verb verb = verbs[req->intent][req->target.backing];

    if (req->intent == TIDE_PCI_INTENT_PAGEOUT &&
        core->host.swap_room() < span->len) {
        verb = verbs[TIDE_PCI_INTENT_COLD][req->target.backing];
        verb.flags |= TIDE_PCI_CPL_DOWNGRADED;
    }
    if (req->intent == TIDE_PCI_INTENT_WILLNEED && core->no_populate) {
        verb = read_ahead;
    }
    return verb;
}

static int call_host(TideCore *core, unsigned char *host, uint64_t len, int advice)
{
    int rc, tries = 3;

    do {
        rc = core->host.advise(host, len, advice);
        tide_stat_add(&core->stats.advise_calls, 1);
        if (core->ops.acted) {
            core->ops.acted(core->opaque, host, len, advice, rc);
        }
    } while (rc == -EINTR && --tries);
    return rc;
}

/* Bytes seen to have left; a zero return of madvise(2) proves nothing. */
static uint64_t verify(TideCore *core, unsigned char *host, uint64_t len)
{
    int64_t resident = core->host.resident(host, len);

    return resident < 0 || (uint64_t)resident > len ? 0 : len - (uint64_t)resident;
}

typedef struct Progress {
    uint64_t done;
    uint64_t verified;
} Progress;

/* In slices, so that stop and reset never wait for long. 0 or -errno. */
static int apply(TideCore *core, const Verb *verb, unsigned char *host,
                 uint64_t len, uint64_t slice, Progress *progress)
{
    while (progress->done < len) {
        unsigned char *at = host + progress->done;
        uint64_t n = len - progress->done;
        int rc;

        if (n > slice) {
            n = slice;
        }
        if (!core->ops.proceed(core->opaque)) {
            return -ECANCELED;
        }
        rc = call_host(core, at, n, verb->advice);
        if (rc) {
            return rc;
        }
        progress->done += n;
        if (verb->leaves) {
            progress->verified += verify(core, at, n);
        }
    }
    return 0;
}

static uint16_t status_of(int rc)
{
    switch (rc) {
    case 0:
        return TIDE_PCI_ST_OK;
    case -EAGAIN:
        return TIDE_PCI_ST_BUSY;
    default:
        return TIDE_PCI_ST_IO;
    }
}

static void settle(TideRequest *req, const Verb *verb, uint64_t done, int rc,
                   bool zeroed)
{
    req->done = done;
    req->status = status_of(rc);
    if (done == 0) {
        return;
    }
    req->action = verb->action;
    req->cpl_flags = verb->flags;
    if (!zeroed) {
        req->cpl_flags &= (uint16_t)~TIDE_PCI_CPL_ZEROED;
    }
    if (done < req->len) {
        req->cpl_flags |= TIDE_PCI_CPL_PARTIAL;
    }
}

static void count_verified(TideCore *core, const TideSpan *span, const Verb *verb,
                           uint64_t bytes)
{
    if (verb->leaves) {
        tide_stat_add(&core->stats.intents[span->reqs[0]->intent].verified_bytes,
                      bytes);
    }
}

/*
 * A merged call failed: find out for each request what holds for it, extent by
 * extent. madvise(2) stops at the first bad place, so nothing past it changed,
 * and repeating what was done does no harm: the device still owns the memory.
 */
static bool act_singly(TideCore *core, const TideSpan *span, const Verb *verb)
{
    for (unsigned i = 0; i < span->count; i++) {
        TideRequest *req = span->reqs[i];
        Progress p = { 0 };
        int rc = apply(core, verb, req->target.host, req->len,
                       TIDE_EXTENT_SIZE, &p);

        if (rc == -ECANCELED) {
            return false;
        }
        count_verified(core, span, verb, p.verified);
        settle(req, verb, p.done, rc, p.verified == p.done);
    }
    return true;
}

bool tide_act(TideCore *core, const TideSpan *span)
{
    Verb verb = choose(core, span);
    Progress p = { 0 };
    int rc = apply(core, &verb, span->host, span->len,
                   core->config.slice_bytes, &p);

    if (rc == -EINVAL && verb.advice == MADV_POPULATE_WRITE && p.done == 0) {
        core->no_populate = true;
        verb = read_ahead;
        rc = apply(core, &verb, span->host, span->len,
                   core->config.slice_bytes, &p);
    }
    if (rc == -ECANCELED) {
        return false;
    }
    if (rc) {
        return act_singly(core, span, &verb);
    }
    count_verified(core, span, &verb, p.verified);
    for (unsigned i = 0; i < span->count; i++) {
        settle(span->reqs[i], &verb, span->reqs[i]->len, 0, p.verified == span->len);
    }
    if (span->count > 1) {
        tide_stat_add(&core->stats.merged, span->count);
    }
    return true;
}
