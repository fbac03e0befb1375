/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tide: what the operator sees, in QMP and in the human monitor alike. */
#ifndef HW_MISC_TIDE_STATS_H
#define HW_MISC_TIDE_STATS_H

#include "hw/misc/tide.h"

typedef struct TideIntentName {
    const char *name;
    unsigned intent;
    bool leaves;                /* so that bytes can be seen to have left */
} TideIntentName;

#define TIDE_INTENT_NAMES 5
extern const TideIntentName tide_intent_names[TIDE_INTENT_NAMES];

typedef struct TideStatusName {
    const char *name;
    unsigned status;
} TideStatusName;

/* All statuses but OK. */
extern const TideStatusName tide_refusal_names[TIDE_STATUSES - 1];

/*
 * All are for the main loop, under the BQL, and answer for a device that was
 * never realized too: it is off and has counted nothing.
 */
void tide_get_stats(TideState *s, TideStats *stats);
/* One of @s's own counters: doorbells, interrupts, resets. */
uint64_t tide_get_signals(TideState *s, const uint64_t *counter);
uint32_t tide_get_status(TideState *s);
uint32_t tide_get_queued(TideState *s);
const char *tide_state_name(TideState *s);
const char *tide_reclaim_name(TideState *s);
/* Kinds of memory that guest RAM is of now, as bits (1 << backing). */
uint32_t tide_get_backings(TideState *s);
const char *tide_proof_name(TideState *s, TideBacking backing);

#endif /* HW_MISC_TIDE_STATS_H */
