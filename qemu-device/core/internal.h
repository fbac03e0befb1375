/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of tide-core share among themselves. */
#ifndef TIDE_CORE_INTERNAL_H
#define TIDE_CORE_INTERNAL_H

#include "tide-core.h"

typedef struct TideRegs {
    uint32_t features;          /* accepted by the driver */
    uint64_t pool_base;
    uint64_t pool_size;         /* 0: any RAM */
    uint32_t status;            /* atomic: the worker sets NEEDS_RESET in it */
} TideRegs;

struct TideCore {
    TideConfig config;
    TideOps ops;
    void *opaque;
    TideHost host;
    TideRegs regs;
    TideStats stats;            /* atomic: written by the worker only */

    /* Rings. The worker's own indices; the ring memory is never believed. */
    unsigned char *rings;
    uint32_t sq_head;
    uint32_t cq_tail;
    uint32_t cq_published;      /* atomic: what the driver was shown */

    /* Taken and not answered. */
    TideRequest pending[TIDE_PENDING_MAX];
    uint32_t pending_count;
    uint64_t pending_extents;

    /* Taken before the state was saved; they come before what is in the ring. */
    TideSavedDesc loaded[TIDE_PENDING_MAX];
    uint32_t loaded_head;
    uint32_t loaded_count;

    uint32_t passes;
    uint64_t throttled_until;   /* atomic; CLOCK_MONOTONIC, ns */

    uint32_t inhibited;         /* atomic */
    uint32_t backings;          /* atomic */
    uint32_t proofs[TIDE_BACKINGS];     /* atomic, TideProof */

    bool no_populate;           /* the host kernel lacks MADV_POPULATE_* */
    bool no_vec;                /* ... or process_madvise(2) for this */
};

/* What is asked of the host for an intent on a backing. */
typedef struct TideVerb {
    int advice;
    uint32_t action;
    uint16_t flags;             /* TIDE_PCI_CPL_* of a success */
    uint8_t cost;               /* log2 of the slice's fraction */
    TideLeaves leaves;
    bool supported;
    bool nothing;               /* no call at all */
    bool punch;                 /* also make a hole in the file */
    bool vec;                   /* process_madvise(2) can do many at once */
} TideVerb;

/* Neighbours in host memory with one intent: one range for the host. */
typedef struct TideSpan {
    TideRequest **reqs;         /* sorted by host address */
    unsigned count;
    unsigned char *host;        /* of the first byte not yet done */
    uint64_t len;
} TideSpan;

/* What one call to the host covers: spans of one kind, each cut to what fits. */
typedef struct TidePass {
    TideRequest *order[TIDE_PENDING_MAX];
    TideSpan spans[TIDE_PENDING_MAX];
    struct iovec iov[TIDE_PENDING_MAX];
    unsigned count;             /* of spans */
    uint64_t len;
    TideVerb verb;
} TidePass;

/* ring.c */
void tide_ring_reset(TideCore *core);
/* Slots submitted and not taken, cut to the room for answers; -1: broken. */
int tide_ring_peek(TideCore *core, bool *no_room);
/* Copy the descriptor @ahead of the head. */
void tide_ring_copy(TideCore *core, uint32_t ahead, TideRequest *req);
/* The driver may use that many slots again. */
void tide_ring_advance(TideCore *core, uint32_t count);
/* Ask for a doorbell; true when more was submitted meanwhile. */
bool tide_ring_arm(TideCore *core);
/* Write one completion; the driver does not see it yet. */
void tide_ring_answer(TideCore *core, const TideRequest *req);
/* Show the driver all completions written; true when it wants an interrupt. */
bool tide_ring_publish(TideCore *core);

/* validate.c: TIDE_PCI_ST_OK, or why not. Holds nothing when it returns. */
uint16_t tide_validate(TideCore *core, TideRequest *req);

/* schedule.c: what to do next. At least one request must be pending. */
void tide_schedule(TideCore *core, TidePass *pass);
/* Cut the first span off sorted requests. */
TideSpan tide_next_span(TideRequest **reqs, unsigned count);

/* residency.c: TideHost.remains of the real host. */
void tide_remains(const struct iovec *iov, unsigned count, TideLeaves where,
                  int64_t *bytes);
/* TIDE_LEAVES_MAPPING on a kernel without PAGEMAP_SCAN. */
void tide_mapped(const struct iovec *iov, unsigned count, int64_t *bytes);

/* action.c */
TideVerb tide_choose(TideCore *core, const TideRequest *req, uint64_t len);
/* Do it, and note at each request what came of it; bytes acted on. */
uint64_t tide_act(TideCore *core, TidePass *pass);
/* Settle what the answer says; the caller answers. */
void tide_finish(TideCore *core, TideRequest *req, uint16_t status);

/* verify.c: which of the good spans were seen to leave. */
void tide_verify(TideCore *core, const TidePass *pass, const bool *good,
                 bool *proven);

/* stats.c */
uint64_t tide_now_ns(void);
void tide_stat_add(uint64_t *counter, uint64_t n);
void tide_stat_answer(TideCore *core, const TideRequest *req);

#endif /* TIDE_CORE_INTERNAL_H */
