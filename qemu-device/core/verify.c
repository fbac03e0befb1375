// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether memory left: a zero return of madvise(2) proves nothing. */
#include "internal.h"

/* All at once: a look at each range costs as much as a tenth of its discard. */
static void look(TideCore *core, const TidePass *pass, const bool *good,
                 int64_t *bytes)
{
    struct iovec iov[TIDE_PENDING_MAX];
    int64_t found[TIDE_PENDING_MAX];
    unsigned count = 0;

    for (unsigned i = 0; i < pass->count; i++) {
        if (good[i]) {
            iov[count].iov_base = pass->spans[i].host;
            iov[count++].iov_len = pass->spans[i].len;
        }
    }
    core->host.remains(iov, count, pass->verb.leaves, found);
    for (unsigned i = pass->count; i--; ) {
        if (good[i]) {
            bytes[i] = found[--count];
        }
    }
}

/* False if some of it was not seen to leave. */
static bool count_left(TideCore *core, const TideVerb *verb, const TideSpan *span,
                       int64_t bytes)
{
    const TideRequest *req = span->reqs[0];
    uint64_t left = bytes < 0 || (uint64_t)bytes > span->len ? 0 :
        span->len - (uint64_t)bytes;

    tide_stat_add(&core->stats.intents[req->intent].verified_bytes, left);
    if (left == span->len && verb->action == TIDE_PCI_ACTION_DISCARD &&
        tide_core_proof(core, req->target.backing) == TIDE_PROOF_UNKNOWN) {
        tide_core_set_proof(core, req->target.backing, TIDE_PROOF_OK);
    }
    return left == span->len;
}

void tide_verify(TideCore *core, const TidePass *pass, const bool *good,
                 bool *proven)
{
    int64_t bytes[TIDE_PENDING_MAX];

    if (pass->verb.leaves != TIDE_LEAVES_NOTHING) {
        look(core, pass, good, bytes);
    }
    for (unsigned i = 0; i < pass->count; i++) {
        proven[i] = good[i] && pass->verb.leaves != TIDE_LEAVES_NOTHING &&
            count_left(core, &pass->verb, &pass->spans[i], bytes[i]);
    }
}
