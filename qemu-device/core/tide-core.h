/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tide-core: the device without a VMM around it.
 *
 * Registers, rings, validation, merging, actions and counters, in plain C.
 * The embedder (QEMU's device model, a test, another VMM) gives the ring
 * memory, a way to look up guest-physical addresses and a thread.
 *
 * Threads: one worker calls tide_core_run(). Register accesses may come from
 * any thread, one at a time, also while the worker runs. tide_core_reset()
 * must be called while tide_core_run() is not running. Counters may be read at
 * any time.
 */
#ifndef TIDE_CORE_H
#define TIDE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/tide_pci.h>

#define TIDE_EXTENT_SIZE        (UINT64_C(1) << TIDE_PCI_EXTENT_SHIFT)
#define TIDE_QUEUE_SIZE_MIN     16
#define TIDE_QUEUE_SIZE_MAX     4096
/* 2 TiB in one descriptor; keeps every length far from 64 bits. */
#define TIDE_MAX_EXTENTS_LIMIT  (1u << 20)
#define TIDE_INTENTS_ALL        0x3eu
#define TIDE_STATUSES           (TIDE_PCI_ST_IO + 1)
#define TIDE_INTENT_SLOTS       (TIDE_PCI_INTENT_WILLNEED + 1)
#define TIDE_LATENCY_BUCKETS    24

typedef struct TideCore TideCore;

/* What stands behind guest memory on the host. */
typedef enum TideBacking {
    TIDE_BACKING_ANON,          /* private anonymous memory, small pages or THP */
    TIDE_BACKING_SHMEM,         /* memfd or shm, shared */
    TIDE_BACKING_HUGETLB,
    TIDE_BACKING_PRIVATE_FILE,
    TIDE_BACKING_SHARED_FILE,
    TIDE_BACKING_COMMITTED,     /* the VMM promised that it stays populated */
    TIDE_BACKINGS
} TideBacking;

typedef struct TideConfig {
    uint32_t queue_size;        /* slots of each ring, a power of two */
    uint32_t max_extents;       /* most extents in a descriptor */
    uint32_t intents;           /* bit (1 << intent): allowed */
    uint64_t slice_bytes;       /* most for one call to the host, whole extents */
} TideConfig;

/* Guest memory that was looked up: it stays mapped until it is released. */
typedef struct TideTarget {
    void *host;
    TideBacking backing;
    void *ref;                  /* the embedder's own */
} TideTarget;

/* One descriptor, copied once, and its answer. */
typedef struct TideRequest {
    uint64_t gpa;
    uint64_t cookie;
    uint64_t reserved;
    uint64_t len;               /* bytes asked for; 0 while not known to be valid */
    uint64_t done;              /* bytes acted on, from the first */
    uint64_t taken_ns;
    TideTarget target;          /* target.host is NULL when nothing is held */
    uint32_t count;
    uint32_t action;
    uint16_t intent;
    uint16_t desc_flags;
    uint16_t status;
    uint16_t cpl_flags;
} TideRequest;

typedef struct TideOps {
    /*
     * Look up [gpa, gpa + len). True only if all of it is plain writable RAM
     * in one region; then the region is kept mapped until release(). False
     * leaves the target as it was.
     */
    bool (*resolve)(void *opaque, uint64_t gpa, uint64_t len, TideTarget *target);
    void (*release)(void *opaque, TideTarget *target);
    /* Called before each call to the host; may block; false abandons the batch. */
    bool (*proceed)(void *opaque);
    /* True while no memory may be acted on; asked once a batch. */
    bool (*busy)(void *opaque);
    /* The driver wants an interrupt. */
    void (*notify)(void *opaque);
    /* For tracing; may be NULL. */
    void (*taken)(void *opaque, const TideRequest *req);
    void (*acted)(void *opaque, const void *host, uint64_t len, int advice, int rc);
    void (*answered)(void *opaque, const TideRequest *req);
} TideOps;

/* The host's side of the actions, replaceable by tests. */
typedef struct TideHost {
    /* madvise(2); 0 or -errno. */
    int (*advise)(void *host, size_t len, int advice);
    /* Bytes of the range that are in memory; -errno when that cannot be known. */
    int64_t (*resident)(void *host, size_t len);
    /* Bytes that can still be swapped to a block device. */
    uint64_t (*swap_room)(void);
} TideHost;

extern const TideHost tide_host_linux;

/* What /proc/swaps (or a file like it) says; see swap_room. */
uint64_t tide_swap_room_from(const char *path);

typedef struct TideIntentStats {
    uint64_t asked_bytes;       /* in valid descriptors */
    uint64_t acted_bytes;
    uint64_t verified_bytes;    /* seen to have left memory: DISCARD, PAGEOUT */
    uint64_t downgraded_bytes;
} TideIntentStats;

/* Plain 64-bit counters throughout: they are copied word by word. */
typedef struct TideStats {
    uint64_t requests;          /* descriptors taken */
    uint64_t completed;         /* answered, whatever the answer */
    uint64_t abandoned;         /* dropped by a reset */
    uint64_t answers[TIDE_STATUSES];
    uint64_t advise_calls;
    uint64_t merged;            /* descriptors that shared a call with another */
    uint64_t notified;
    uint64_t broken;            /* times NEEDS_RESET was set */
    uint64_t latency_max_us;    /* from taken to answered */
    uint64_t latency_us_log2[TIDE_LATENCY_BUCKETS]; /* [n]: below 2^n us */
    TideIntentStats intents[TIDE_INTENT_SLOTS];
} TideStats;

/* Bytes of ring memory for a queue size; a power of two, at least a page. */
size_t tide_core_rings_size(uint32_t queue_size);

/* NULL when the configuration is not valid or there is no memory. */
TideCore *tide_core_new(const TideConfig *config, void *rings,
                        const TideOps *ops, void *opaque, const TideHost *host);
void tide_core_free(TideCore *core);

/* Back to how the device starts; counters stay. */
void tide_core_reset(TideCore *core);

typedef enum TideRegEvent {
    TIDE_REG_NONE,
    TIDE_REG_REFUSED,           /* dropped: not now, or nothing there */
    TIDE_REG_DOORBELL,
    TIDE_REG_ENABLE,
    TIDE_REG_RESET              /* status says RESETTING; reset when drained */
} TideRegEvent;

uint32_t tide_core_reg_read(TideCore *core, uint64_t offset, unsigned size);
TideRegEvent tide_core_reg_write(TideCore *core, uint64_t offset,
                                 uint32_t value, unsigned size);
uint32_t tide_core_status(TideCore *core);

typedef enum TideRun {
    TIDE_RUN_IDLE,              /* nothing left; the doorbell is armed */
    TIDE_RUN_MORE,
    TIDE_RUN_NO_ROOM,           /* the driver has to read completions first */
    TIDE_RUN_STOPPED,           /* not enabled, or broken until reset */
    TIDE_RUN_ABANDONED          /* proceed() said so */
} TideRun;

/* Take one batch of descriptors, act on them, answer them. */
TideRun tide_core_run(TideCore *core);

void tide_core_stats(const TideCore *core, TideStats *stats);
/* Descriptors submitted and not answered, as the ring says now. */
uint32_t tide_core_depth(TideCore *core);

#endif /* TIDE_CORE_H */
