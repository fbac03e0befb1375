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
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define ADVISE_TRIES 3

/* Costs, as measured: zapping a huge page 1, a small-paged one or a fault 30. */
#define COST_FAULT 3
#define COST_SWAP 6

#define VERB(_advice, _action, ...) \
    { .advice = (_advice), .action = TIDE_PCI_ACTION_##_action, \
      .supported = true, __VA_ARGS__ }

#define DONTNEED_ANON VERB(MADV_DONTNEED, DISCARD, .vec = true, \
    .flags = TIDE_PCI_CPL_ZEROED, .leaves = TIDE_LEAVES_BOTH)
/*
 * Through madvise(2) rather than on the file, so that whoever watches the
 * mapping with userfaultfd hears of it.
 */
#define REMOVE VERB(MADV_REMOVE, DISCARD, .cost = COST_FAULT, \
    .flags = TIDE_PCI_CPL_ZEROED, .leaves = TIDE_LEAVES_MEMORY)
/* Our copies, and what reading left in a file that is nobody else's. */
#define DONTNEED_PUNCH VERB(MADV_DONTNEED, DISCARD, .cost = COST_FAULT, \
    .punch = true, .flags = TIDE_PCI_CPL_ZEROED, .leaves = TIDE_LEAVES_MEMORY)
/* Then the file shows through: never zero for sure, and never a hole in it. */
#define DONTNEED_COPY VERB(MADV_DONTNEED, DISCARD, .cost = COST_FAULT, \
    .leaves = TIDE_LEAVES_MAPPING)
#define FREE VERB(MADV_FREE, FREE, .vec = true)
#define COLD VERB(MADV_COLD, COLD, .vec = true)
#define COLD_INSTEAD VERB(MADV_COLD, COLD, .vec = true, \
    .flags = TIDE_PCI_CPL_DOWNGRADED)
#define PAGEOUT VERB(MADV_PAGEOUT, PAGEOUT, .cost = COST_SWAP, \
    .leaves = TIDE_LEAVES_MEMORY)
/* Contents stay, nothing is gained: no reason to fail, but to say so. */
#define NOTHING VERB(0, NONE, .nothing = true, .flags = TIDE_PCI_CPL_DOWNGRADED)
#define POPULATE VERB(MADV_POPULATE_WRITE, POPULATE, .cost = COST_FAULT)
/* Writing would copy pages, or make them dirty, that are only to be there. */
#define POPULATE_READ VERB(MADV_POPULATE_READ, POPULATE, .cost = COST_FAULT)

static const TideVerb verbs[TIDE_INTENT_SLOTS][TIDE_BACKINGS] = {
    [TIDE_PCI_INTENT_DISCARD] = {
        [TIDE_BACKING_ANON] = DONTNEED_ANON,
        [TIDE_BACKING_SHMEM] = REMOVE,
        [TIDE_BACKING_PRIVATE_SHMEM] = DONTNEED_PUNCH,
        [TIDE_BACKING_HUGETLB] = REMOVE,
        [TIDE_BACKING_PRIVATE_HUGETLB] = DONTNEED_COPY,
        [TIDE_BACKING_PRIVATE_FILE] = DONTNEED_COPY,
        [TIDE_BACKING_SHARED_FILE] = REMOVE,
    },
    [TIDE_PCI_INTENT_DISCARD_LAZY] = {
        [TIDE_BACKING_ANON] = FREE,
        [TIDE_BACKING_SHMEM] = REMOVE,
        [TIDE_BACKING_PRIVATE_SHMEM] = DONTNEED_PUNCH,
        [TIDE_BACKING_HUGETLB] = REMOVE,
        [TIDE_BACKING_PRIVATE_HUGETLB] = DONTNEED_COPY,
        [TIDE_BACKING_PRIVATE_FILE] = DONTNEED_COPY,
        [TIDE_BACKING_SHARED_FILE] = REMOVE,
    },
    [TIDE_PCI_INTENT_COLD] = {
        [TIDE_BACKING_ANON] = COLD,
        [TIDE_BACKING_SHMEM] = COLD,
        [TIDE_BACKING_PRIVATE_SHMEM] = COLD,
        [TIDE_BACKING_HUGETLB] = NOTHING,
        [TIDE_BACKING_PRIVATE_HUGETLB] = NOTHING,
        [TIDE_BACKING_PRIVATE_FILE] = COLD,
        [TIDE_BACKING_SHARED_FILE] = COLD,
    },
    [TIDE_PCI_INTENT_PAGEOUT] = {
        [TIDE_BACKING_ANON] = PAGEOUT,
        [TIDE_BACKING_SHMEM] = PAGEOUT,
        [TIDE_BACKING_PRIVATE_SHMEM] = PAGEOUT,
        /* hugetlb: nothing like it; refused */
        [TIDE_BACKING_PRIVATE_FILE] = COLD_INSTEAD,
        /* The kernel leaves dirty file pages to its flusher. */
        [TIDE_BACKING_SHARED_FILE] = COLD_INSTEAD,
    },
    [TIDE_PCI_INTENT_WILLNEED] = {
        [TIDE_BACKING_ANON] = POPULATE,
        [TIDE_BACKING_SHMEM] = POPULATE,
        [TIDE_BACKING_PRIVATE_SHMEM] = POPULATE,
        [TIDE_BACKING_HUGETLB] = POPULATE,
        [TIDE_BACKING_PRIVATE_HUGETLB] = POPULATE,
        [TIDE_BACKING_PRIVATE_FILE] = POPULATE_READ,
        [TIDE_BACKING_SHARED_FILE] = POPULATE_READ,
    },
};

/* Only starts reading from swap, so nothing may be claimed. */
static const TideVerb read_ahead = VERB(MADV_WILLNEED, NONE,
                                        .flags = TIDE_PCI_CPL_DOWNGRADED);
static const TideVerb cold_instead = COLD_INSTEAD;

bool tide_backing_supported(TideBacking backing, uint16_t intent)
{
    return verbs[intent][backing].supported;
}

TideLeaves tide_backing_leaves(TideBacking backing)
{
    return verbs[TIDE_PCI_INTENT_DISCARD][backing].leaves;
}

static bool populates(const TideVerb *verb)
{
    return verb->action == TIDE_PCI_ACTION_POPULATE;
}

/*
 * PAGEOUT without room on a block device splits every huge page and frees
 * next to nothing, so it is not even tried.
 */
TideVerb tide_choose(TideCore *core, const TideRequest *req, uint64_t len)
{
    const TideVerb *verb = &verbs[req->intent][req->target.backing];

    if (verb->action == TIDE_PCI_ACTION_PAGEOUT && core->host.swap_room() < len) {
        return cold_instead;
    }
    return populates(verb) && core->no_populate ? read_ahead : *verb;
}

static void trace_acted(TideCore *core, const struct iovec *iov, int advice, int rc)
{
    if (core->ops.acted) {
        core->ops.acted(core->opaque, iov->iov_base, iov->iov_len, advice, rc);
    }
}

static int advise_one(TideCore *core, const struct iovec *iov, int advice)
{
    int rc, tries = ADVISE_TRIES;

    do {
        rc = core->host.advise(iov->iov_base, iov->iov_len, advice);
        tide_stat_add(&core->stats.advise_calls, 1);
        trace_acted(core, iov, advice, rc);
    } while (rc == -EINTR && --tries);
    return rc;
}

/* How many ranges, from the first on, one call did whole. */
static unsigned advise_many(TideCore *core, const TidePass *pass)
{
    unsigned n = 0;
    int64_t bytes;

    if (!pass->verb.vec || pass->count < 2 || core->no_vec) {
        return 0;
    }
    bytes = core->host.advise_vec(pass->iov, pass->count, pass->verb.advice);
    tide_stat_add(&core->stats.advise_calls, 1);
    tide_stat_add(&core->stats.vectors, 1);
    while (n < pass->count && bytes >= (int64_t)pass->iov[n].iov_len) {
        bytes -= (int64_t)pass->iov[n].iov_len;
        trace_acted(core, &pass->iov[n++], pass->verb.advice, 0);
    }
    return n;
}

static uint16_t status_of(int rc)
{
    switch (rc) {
    case 0:
        return TIDE_PCI_ST_OK;
    case -EAGAIN:
        return TIDE_PCI_ST_BUSY;
    case -EOPNOTSUPP:
    case -ENOSYS:
        return TIDE_PCI_ST_UNSUPPORTED;
    default:
        return TIDE_PCI_ST_IO;
    }
}

void tide_finish(TideCore *core, TideRequest *req, uint16_t status)
{
    req->finished = true;
    req->status = status;
    if (req->done == 0) {
        req->action = TIDE_PCI_ACTION_NONE;
        req->cpl_flags = 0;
        return;
    }
    if (req->unproven ||
        tide_core_proof(core, req->target.backing) == TIDE_PROOF_FAILED) {
        req->cpl_flags &= (uint16_t)~TIDE_PCI_CPL_ZEROED;
    }
    if (req->done < req->len) {
        req->cpl_flags |= TIDE_PCI_CPL_PARTIAL;
    }
}

static void advance(TideCore *core, const TideVerb *verb, const TideSpan *span,
                    bool proven)
{
    for (unsigned i = 0; i < span->count; i++) {
        TideRequest *req = span->reqs[i];
        uint64_t reach = (uint64_t)(span->host + span->len -
                                    (unsigned char *)req->target.host);

        req->done = reach < req->len ? reach : req->len;
        req->slices++;
        /* Once less was done than asked for, that is what is said of it all. */
        if (!(req->cpl_flags & TIDE_PCI_CPL_DOWNGRADED)) {
            req->action = verb->action;
        }
        req->cpl_flags |= verb->flags;
        req->unproven |= !proven;
        req->merged |= span->count > 1;
        if (req->done == req->len) {
            tide_finish(core, req, TIDE_PCI_ST_OK);
        }
    }
}

/*
 * A call failed. If it was for one extent of one request, that is the answer.
 * Else find out for each request, extent by extent, what holds for it. The
 * kernel stops at the first bad place, so nothing past it changed, and
 * repeating what was done does no harm: the device still owns the memory.
 */
static void failed(TideCore *core, const TideSpan *span, int rc)
{
    if (span->count == 1 && span->len == TIDE_EXTENT_SIZE) {
        tide_finish(core, span->reqs[0], status_of(rc));
        return;
    }
    for (unsigned i = 0; i < span->count; i++) {
        span->reqs[i]->careful = true;
        span->reqs[i]->slices++;
    }
}

static int punch(TideCore *core, const TideSpan *span)
{
    const TideTarget *target = &span->reqs[0]->target;

    return core->host.punch(target->fd, target->fd_offset +
                            (uint64_t)(span->host - (unsigned char *)target->host),
                            span->len);
}

static int act_on(TideCore *core, const TideVerb *verb, const TideSpan *span)
{
    struct iovec iov = { span->host, span->len };
    int rc = advise_one(core, &iov, verb->advice);

    return !rc && verb->punch ? punch(core, span) : rc;
}

uint64_t tide_act(TideCore *core, TidePass *pass)
{
    const TideVerb *verb = &pass->verb;
    bool good[TIDE_PENDING_MAX], proven[TIDE_PENDING_MAX];
    unsigned many = 0, count = 0;
    uint64_t bytes = 0;
    int rc[TIDE_PENDING_MAX];

    if (!verb->nothing) {
        many = advise_many(core, pass);
    }
    for (unsigned i = 0; i < pass->count; i++) {
        TideSpan *span = &pass->spans[i];

        rc[i] = i < many || verb->nothing ? 0 : act_on(core, verb, span);
        if (rc[i] == -EINVAL && populates(verb) && !core->no_populate &&
            !span->reqs[0]->done) {
            /* Chosen anew in the next pass. */
            core->no_populate = true;
            return 0;
        }
        good[i] = !rc[i];
        count += good[i];
    }
    /* Refused as a vector, and each went well alone: this kernel can't. */
    if (verb->vec && pass->count > 1 && many == 0 && count == pass->count) {
        core->no_vec = true;
    }

    tide_verify(core, pass, good, proven);
    for (unsigned i = 0; i < pass->count; i++) {
        if (good[i]) {
            advance(core, verb, &pass->spans[i], proven[i]);
            bytes += pass->spans[i].len;
        } else {
            failed(core, &pass->spans[i], rc[i]);
        }
    }
    return bytes;
}
