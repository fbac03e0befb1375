/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tide-core: the device without a VMM around it.
 *
 * Registers, rings, validation, scheduling, merging, actions and counters, in
 * plain C. The embedder (QEMU's device model, a vfio-user server, a test) gives
 * the ring memory, a way to look up guest-physical addresses and a thread.
 *
 * Threads: one worker calls tide_core_run(), again and again while it answers
 * TIDE_RUN_MORE. Register accesses may come from any thread, one at a time, also
 * while the worker runs. tide_core_reset(), _save() and _load() must be called
 * while tide_core_run() is not running. The rest may be called at any time.
 */
#ifndef TIDE_CORE_H
#define TIDE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

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
/* Most descriptors taken and not answered: bounds memory and the work of one run. */
#define TIDE_PENDING_MAX        256

typedef struct TideCore TideCore;

/* What stands behind guest memory on the host. */
typedef enum TideBacking {
    TIDE_BACKING_ANON,          /* private anonymous memory, small pages or THP */
    TIDE_BACKING_SHMEM,         /* shared memory without a name: memfd, shm */
    TIDE_BACKING_PRIVATE_SHMEM, /* private mapping of such; nobody else writes it */
    TIDE_BACKING_HUGETLB,       /* huge pages no larger than an extent, shared */
    TIDE_BACKING_PRIVATE_HUGETLB,
    TIDE_BACKING_PRIVATE_FILE,  /* private mapping of a file others may use too */
    TIDE_BACKING_SHARED_FILE,
    TIDE_BACKING_COMMITTED,     /* the VMM promised that it stays populated */
    TIDE_BACKING_COARSE,        /* host pages larger than an extent */
    TIDE_BACKINGS
} TideBacking;

/* Whether giving back memory of a backing was seen to work on this host. */
typedef enum TideProof {
    TIDE_PROOF_UNKNOWN,
    TIDE_PROOF_OK,
    TIDE_PROOF_FAILED
} TideProof;

typedef struct TideConfig {
    uint32_t queue_size;        /* slots of each ring, a power of two */
    uint32_t max_extents;       /* most extents in a descriptor */
    uint32_t intents;           /* bit (1 << intent): allowed */
    /*
     * Most for one call to the host, whole extents. What costs more per byte
     * than zapping huge pages gets a fraction of it.
     */
    uint64_t slice_bytes;
    uint64_t max_pending_extents;   /* most taken and not answered; 0: no limit */
    uint64_t max_bytes_per_s;       /* most acted on; 0: no limit */
} TideConfig;

/* Guest memory that was looked up: it stays mapped until it is released. */
typedef struct TideTarget {
    void *host;
    TideBacking backing;
    int fd;                     /* of the file behind it, -1: none */
    uint64_t fd_offset;
    void *ref;                  /* the embedder's own, the same for one region */
} TideTarget;

/* One descriptor, copied once, and how far it got. */
typedef struct TideRequest {
    uint64_t gpa;
    uint64_t cookie;
    uint64_t reserved;
    uint64_t len;               /* bytes asked for; 0 while not known to be valid */
    uint64_t done;              /* bytes acted on, from the first */
    uint64_t taken_ns;
    TideTarget target;          /* where [gpa, gpa + len) was when last looked up */
    uint32_t count;
    uint32_t action;
    uint32_t slices;            /* calls to the host it had a part in */
    uint16_t intent;
    uint16_t desc_flags;
    uint16_t status;
    uint16_t cpl_flags;
    bool careful;               /* a call failed: go extent by extent, alone */
    bool unproven;              /* some of it was not seen to leave */
    bool merged;
    bool finished;
} TideRequest;

typedef struct TideOps {
    /*
     * Look up [gpa, gpa + len). True only if all of it is plain writable RAM
     * in one region; then the region is kept mapped until release().
     */
    bool (*resolve)(void *opaque, uint64_t gpa, uint64_t len, TideTarget *target);
    void (*release)(void *opaque, TideTarget *target);
    /*
     * Asked before each call to the host: TIDE_PCI_ST_OK, or the status with
     * which everything pending is answered (INHIBITED, BUSY). After OK, end()
     * follows the call. What it promises must hold in between.
     */
    uint16_t (*begin)(void *opaque);
    void (*end)(void *opaque);
    /* The driver wants an interrupt. */
    void (*notify)(void *opaque);
    /* For tracing; may be NULL. */
    void (*taken)(void *opaque, const TideRequest *req);
    void (*acted)(void *opaque, const void *host, uint64_t len, int advice, int rc);
    void (*answered)(void *opaque, const TideRequest *req);
} TideOps;

/* What an action takes memory out of, and so where to look for what remains. */
typedef enum TideLeaves {
    TIDE_LEAVES_NOTHING,
    TIDE_LEAVES_MEMORY,         /* RAM, whoever has it there */
    TIDE_LEAVES_MAPPING,        /* our mapping, in RAM or in swap; the file may stay */
    TIDE_LEAVES_BOTH            /* ... of memory that is nobody else's: the same */
} TideLeaves;

/* The host's side of the actions, replaceable by tests. */
typedef struct TideHost {
    /* madvise(2); 0 or -errno. */
    int (*advise)(void *host, size_t len, int advice);
    /*
     * The same advice for many ranges: bytes done from the first on, or
     * -errno. -ENOSYS or -EINVAL for the first call: not on this kernel.
     * May be NULL.
     */
    int64_t (*advise_vec)(const struct iovec *iov, unsigned count, int advice);
    /* Make a hole in a file; 0 or -errno. */
    int (*punch)(int fd, uint64_t offset, uint64_t len);
    /*
     * For each range, by rising address, the bytes that remain there; -errno
     * when that cannot be known.
     */
    void (*remains)(const struct iovec *iov, unsigned count, TideLeaves where,
                    int64_t *bytes);
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
    uint64_t requests;          /* descriptors taken, also those that were loaded */
    uint64_t completed;         /* answered, whatever the answer */
    uint64_t abandoned;         /* dropped by a reset or a load */
    uint64_t answers[TIDE_STATUSES];
    uint64_t advise_calls;      /* calls to the host, a vector counting once */
    uint64_t vectors;           /* ... of these, with more than one range */
    uint64_t merged;            /* descriptors that shared a range with another */
    uint64_t notified;
    uint64_t suppressed;        /* publications for which no interrupt was wanted */
    uint64_t throttled;         /* times that max_bytes_per_s made it wait */
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
    TIDE_RUN_WAIT,              /* not before tide_core_wait_ns() have passed */
    TIDE_RUN_NO_ROOM,           /* the driver has to read completions first */
    TIDE_RUN_STOPPED            /* not enabled, or broken until reset */
} TideRun;

/*
 * Take what was submitted, make at most one call to the host, answer what is
 * finished. Between two runs nothing of the guest's is held, and the embedder
 * may stop, reset or save: what is pending goes on with the next run.
 */
TideRun tide_core_run(TideCore *core);
uint64_t tide_core_wait_ns(const TideCore *core);

void tide_core_stats(const TideCore *core, TideStats *stats);
/* Descriptors submitted and not answered, as the ring says now. */
uint32_t tide_core_depth(TideCore *core);

/*
 * Set or clear INHIBITED in the status; begin() does so by its answer. True if
 * that is a change.
 */
bool tide_core_set_inhibited(TideCore *core, bool on);

/* Backings that guest RAM has now, as bits (1 << backing). */
void tide_core_set_backings(TideCore *core, uint32_t mask);
void tide_core_set_proof(TideCore *core, TideBacking backing, TideProof proof);
TideProof tide_core_proof(const TideCore *core, TideBacking backing);
/* TIDE_PCI_RECLAIM_*: what the backings present and their proofs come to. */
uint32_t tide_core_reclaim(const TideCore *core);
bool tide_backing_supported(TideBacking backing, uint16_t intent);
/* Where to look for what remains of discarded memory. */
TideLeaves tide_backing_leaves(TideBacking backing);
/* A short name for messages, e.g. "private-file". */
const char *tide_backing_name(TideBacking backing);
/* Try DISCARD on scratch memory of that kind: it must leave, and its neighbours stay. */
TideProof tide_selfcheck(TideBacking backing, const TideHost *host);

/* ---- Saving and loading, for snapshots and migration ---- */

typedef struct TideSavedDesc {
    uint64_t gpa;
    uint64_t cookie;
    uint64_t reserved;
    uint32_t count;
    uint16_t intent;
    uint16_t flags;
} TideSavedDesc;

/* All that is not in ring memory. Fixed-width, so that it can be a wire format. */
typedef struct TideSaved {
    uint64_t pool_base;
    uint64_t pool_size;
    uint32_t status;
    uint32_t features;
    uint32_t sq_head;
    uint32_t cq_tail;
    uint32_t pending_count;
    TideSavedDesc pending[TIDE_PENDING_MAX];
} TideSaved;

void tide_core_save(const TideCore *core, TideSaved *saved);
/* False, and nothing changed, when that is no state a device can be in. */
bool tide_core_load(TideCore *core, const TideSaved *saved);

#endif /* TIDE_CORE_H */
