/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tide: memory that virtio-mem plugs and unplugs.
 *
 * Its region is mapped whole from the start; which blocks of it the guest may
 * use comes as notifications, under the BQL. They are kept per region, as a
 * bitmap that the worker looks into under the device's lock.
 */

#include "qemu/osdep.h"
#include "qemu/bitmap.h"
#include "hw/misc/tide.h"

struct TidePlugged {
    RamDiscardListener listener;
    TideState *s;
    MemoryRegion *mr;
    RamDiscardManager *manager;
    uint64_t block_size;
    unsigned long *blocks;      /* under the lock: plugged */
    bool mapped;                /* in the map that is being built */
    bool leaving;               /* it is us who go, not the memory */
    QLIST_ENTRY(TidePlugged) next;
};

static int tide_plugged_populate(RamDiscardListener *listener,
                                 TIDE_RDL_SECTION *section)
{
    TidePlugged *p = container_of(listener, TidePlugged, listener);
    uint64_t size = int128_get64(section->size);

    tide_discarded_forget(p->s, section->offset_within_address_space, size);
    QEMU_LOCK_GUARD(&p->s->lock);
    bitmap_set(p->blocks, section->offset_within_region / p->block_size,
               size / p->block_size);
    return 0;
}

/*
 * virtio-mem has emptied the memory, and only then tells: the worker may have
 * populated some of it in between.
 */
static void tide_plugged_discard(RamDiscardListener *listener,
                                 TIDE_RDL_SECTION *section)
{
    TidePlugged *p = container_of(listener, TidePlugged, listener);
    uint64_t offset = section->offset_within_region;
    uint64_t size = int128_get64(section->size);

    tide_quiesce(p->s);
    qemu_mutex_lock(&p->s->lock);
    bitmap_clear(p->blocks, offset / p->block_size, size / p->block_size);
    qemu_mutex_unlock(&p->s->lock);
    if (!p->leaving) {
        ram_block_discard_range(p->mr->ram_block, offset, size);
    }
    tide_resume(p->s);
}

static TidePlugged *tide_plugged_new(TideState *s, const MemoryRegionSection *part)
{
    TidePlugged *p = g_new0(TidePlugged, 1);
    MemoryRegion *mr = part->mr;

    p->s = s;
    p->mr = mr;
    p->manager = memory_region_get_ram_discard_manager(mr);
    p->block_size = ram_discard_manager_get_min_granularity(p->manager, mr);
    p->blocks = bitmap_new(memory_region_size(mr) / p->block_size);
    memory_region_ref(mr);
    QLIST_INSERT_HEAD(&s->plugged, p, next);
    tide_rdl_init(&p->listener, tide_plugged_populate, tide_plugged_discard);
    tide_rdm_register(p->manager, &p->listener, mr,
                      part->offset_within_address_space -
                      part->offset_within_region);
    return p;
}

TidePlugged *tide_plugged_map(TideState *s, const MemoryRegionSection *part)
{
    TidePlugged *p;

    QLIST_FOREACH(p, &s->plugged, next) {
        if (p->mr == part->mr) {
            break;
        }
    }
    if (!p) {
        p = tide_plugged_new(s, part);
    }
    p->mapped = true;
    return p;
}

void tide_plugged_sweep(TideState *s)
{
    TidePlugged *p, *next;

    QLIST_FOREACH_SAFE(p, &s->plugged, next, next) {
        if (p->mapped) {
            p->mapped = false;
            continue;
        }
        p->leaving = true;
        ram_discard_manager_unregister_listener(p->manager, &p->listener);
        QLIST_REMOVE(p, next);
        memory_region_unref(p->mr);
        g_free(p->blocks);
        g_free(p);
    }
}

bool tide_plugged_covers(const TidePlugged *p, uint64_t offset, uint64_t len)
{
    unsigned long first = offset / p->block_size;
    unsigned long end = DIV_ROUND_UP(offset + len, p->block_size);

    return find_next_zero_bit(p->blocks, end, first) >= end;
}
