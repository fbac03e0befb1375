/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tide: a PCI device through which a guest tells what its memory contents mean.
 * See docs/specs/tide.rst.
 */
#ifndef HW_MISC_TIDE_H
#define HW_MISC_TIDE_H

#include "hw/misc/tide-compat.h"
#include "qemu/event_notifier.h"
#include "qemu/notify.h"
#include "qemu/thread.h"
#include "qom/object.h"
#include "migration/vmstate.h"
#include "hw/misc/tide-core/tide-core.h"

#define TYPE_TIDE "tide"
OBJECT_DECLARE_SIMPLE_TYPE(TideState, TIDE)

#define TIDE_QUEUE_SIZE_PROP "queue-size"
#define TIDE_MAX_EXTENTS_PROP "max-extents"
#define TIDE_SLICE_PROP "slice"

/* Which blocks of a region the guest may use. */
typedef struct TidePlugged TidePlugged;

/* Part of the machine's RAM as the guest sees it, with a reference to @mr. */
typedef struct TideRam {
    hwaddr gpa;
    uint64_t size;
    uint64_t offset;            /* in @mr */
    TidePlugged *plugged;       /* NULL: all of it */
    uint8_t *host;
    MemoryRegion *mr;
    TideBacking backing;
    int fd;
    uint64_t fd_offset;         /* of @host in @fd */
} TideRam;

struct TideState {
    PCIDevice parent_obj;

    /* Properties. */
    TideConfig config;
    bool exclusive;
    bool ioeventfd;

    TideCore *core;
    MemoryRegion regs;
    MemoryRegion rings;
    QEMUBH *irq_bh;
    VMChangeStateEntry *vm_state;

    /* RAM map: @ram is the worker's, under @lock; @next_ram is built beside it. */
    MemoryListener listener;
    GArray *ram;
    GArray *next_ram;
    QLIST_HEAD(, TidePlugged) plugged;
    uint32_t backings_seen;     /* checked, as bits (1 << backing) */

    /*
     * @lock orders the register file, the main loop and the worker; it is
     * never held across a call to the host. Order: BQL, then @lock. The worker
     * never takes the BQL, so that waiting for it with the BQL held is safe.
     */
    QemuThread thread;
    QemuMutex lock;
    EventNotifier wake;         /* to the worker: look again */
    EventNotifier doorbell;     /* the same, from the guest */
    QemuCond parked;            /* from the worker: no longer busy */
    bool busy;                  /* the worker may be in madvise */
    unsigned hold;              /* it must not begin anything */
    bool kicked;                /* there may be something in the ring */
    bool vm_running;
    bool bus_master;
    bool reset_requested;       /* by the guest; the worker does it */
    bool exiting;

    unsigned empty_runs;        /* since one that found something */
    uint64_t doorbells;
    uint64_t resets;

    unsigned long *discarded;   /* extents, by guest-physical address */
    long discarded_size;        /* bits */
    uint64_t discards;          /* changes of @discarded */

    bool irq_pending;           /* atomic */
    uint64_t interrupts;        /* under the BQL */

    NotifierWithReturn precopy;
    TideSaved saved;            /* on its way to or from another host */
};

/* tide.c: keep the worker out of the host, and let it go on. */
void tide_quiesce(TideState *s);
void tide_resume(TideState *s);

/* tide-ram.c */
void tide_ram_start(TideState *s);
uint32_t tide_ram_backings(GArray *ram);
bool tide_ram_check(TideState *s, Error **errp);
void tide_ram_stop(TideState *s);
/* All of it, and plugged; with the lock or the BQL held. */
bool tide_ram_covers(const TideRam *ram, uint64_t gpa, uint64_t len);
bool tide_ram_resolve(void *opaque, uint64_t gpa, uint64_t len,
                      TideTarget *target);
void tide_ram_release(void *opaque, TideTarget *target);

/* tide-discarded.c */
void tide_discarded_add(TideState *s, hwaddr gpa, uint64_t len);
void tide_discarded_forget(TideState *s, hwaddr gpa, uint64_t len);
uint64_t tide_discarded_now(TideState *s);

/*
 * tide-virtio-mem.c: find or begin to follow what is plugged of the region that
 * @part is of, while a map with it is built; forget the regions that the map now
 * in use lacks; whether all of a range is plugged, with the lock or the BQL held.
 */
TidePlugged *tide_plugged_map(TideState *s, const MemoryRegionSection *part);
void tide_plugged_sweep(TideState *s);
bool tide_plugged_covers(const TidePlugged *p, uint64_t offset, uint64_t len);

/* tide-migration.c */
extern const VMStateDescription tide_vmstate;
void tide_migration_start(TideState *s);
void tide_migration_stop(TideState *s);

/* tide-holes.c */
void tide_holes_start(TideState *s);
void tide_holes_stop(TideState *s);

/* tide-counters.c */
void tide_class_add_counters(ObjectClass *klass);

#endif /* HW_MISC_TIDE_H */
