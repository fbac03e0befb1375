/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of tide-core share among themselves. */
#ifndef TIDE_CORE_INTERNAL_H
#define TIDE_CORE_INTERNAL_H

#include "tide-core.h"

/* Most descriptors taken at once: bounds memory and work of one run. */
#define TIDE_BATCH_MAX 256

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
    uint32_t cq_published;        /* atomic: what the driver was shown */

    /* The batch in work, and the order in which it is acted on. */
    TideRequest batch[TIDE_BATCH_MAX];
    TideRequest *order[TIDE_BATCH_MAX];

    bool no_populate;           /* the host kernel lacks MADV_POPULATE_WRITE */
};

/* Neighbours in host memory with one intent: one call to the host. */
typedef struct TideSpan {
    TideRequest **reqs;         /* sorted by host address */
    unsigned count;
    unsigned char *host;
    uint64_t len;
} TideSpan;

/* ring.c */
void tide_ring_reset(TideCore *core);
/* Take what was submitted; its number, or -1 when the ring is broken. */
int tide_ring_take(TideCore *core, bool *no_room);
/* Ask for a doorbell; true when more was submitted meanwhile. */
bool tide_ring_arm(TideCore *core);
/* Write one completion; the driver does not see it yet. */
void tide_ring_answer(TideCore *core, const TideRequest *req);
/* Show the driver all completions written; true when it wants an interrupt. */
bool tide_ring_publish(TideCore *core);

/*
 * validate.c: TIDE_PCI_ST_OK, or why not. Whatever the outcome, a target that
 * was resolved is to be released.
 */
uint16_t tide_validate(TideCore *core, TideRequest *req);

/* coalesce.c */
void tide_sort(TideRequest **reqs, unsigned count);
/* Cut the first span off sorted requests. */
TideSpan tide_next_span(TideRequest **reqs, unsigned count);

/* action.c: false when the embedder abandoned the batch. */
bool tide_act(TideCore *core, const TideSpan *span);
bool tide_backing_supported(TideBacking backing, uint16_t intent);

/* stats.c */
uint64_t tide_now_ns(void);
void tide_stat_add(uint64_t *counter, uint64_t n);
void tide_stat_answer(TideCore *core, const TideRequest *req);

#endif /* TIDE_CORE_INTERNAL_H */
