/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tide: how much of what was discarded the host still does without.
 *
 * Nobody tells us when a guest touches an extent again, so the device remembers
 * what it discarded, by guest-physical extent, and looks when it is asked.
 */

#include "qemu/osdep.h"
#include "qemu/bitmap.h"
#include "hw/misc/tide.h"

#define LOOK_MAX 256

/* On the worker. */
void tide_discarded_add(TideState *s, hwaddr gpa, uint64_t len)
{
    uint64_t first = gpa >> TIDE_PCI_EXTENT_SHIFT;
    uint64_t end = first + (len >> TIDE_PCI_EXTENT_SHIFT);

    QEMU_LOCK_GUARD(&s->lock);
    if (end > s->discarded_size) {
        s->discarded = bitmap_zero_extend(s->discarded, s->discarded_size, end);
        s->discarded_size = end;
    }
    bitmap_set(s->discarded, first, end - first);
    s->discards++;
}

/* Other memory may come to be there. */
void tide_discarded_forget(TideState *s, hwaddr gpa, uint64_t len)
{
    uint64_t first = gpa >> TIDE_PCI_EXTENT_SHIFT;
    uint64_t end;

    QEMU_LOCK_GUARD(&s->lock);
    end = MIN((gpa + len) >> TIDE_PCI_EXTENT_SHIFT, s->discarded_size);
    if (first < end) {
        bitmap_clear(s->discarded, first, end - first);
    }
    s->discards++;
}

typedef struct TideLook {
    struct iovec iov[LOOK_MAX];
    long extents[LOOK_MAX];
    unsigned count;
    TideLeaves where;
    uint64_t bytes;             /* found to be away */
    unsigned long *back;        /* extents that are no longer away */
} TideLook;

static void tide_look(TideLook *look)
{
    int64_t remains[LOOK_MAX];

    tide_host_linux.remains(look->iov, look->count, look->where, remains);
    for (unsigned i = 0; i < look->count; i++) {
        if (remains[i] < 0 || remains[i] == TIDE_EXTENT_SIZE) {
            set_bit(look->extents[i], look->back);
        }
        if (remains[i] >= 0) {
            look->bytes += TIDE_EXTENT_SIZE - remains[i];
        }
    }
    look->count = 0;
}

static void tide_look_at_region(const TideRam *ram, const unsigned long *away,
                                long size, TideLook *look)
{
    long first = DIV_ROUND_UP(ram->gpa, TIDE_EXTENT_SIZE);
    long end = MIN(size, (ram->gpa + ram->size) >> TIDE_PCI_EXTENT_SHIFT);

    look->where = tide_backing_leaves(ram->backing);
    if (look->where == TIDE_LEAVES_NOTHING) {
        return;
    }
    for (long i = find_next_bit(away, end, first); i < end;
         i = find_next_bit(away, end, i + 1)) {
        if (!tide_ram_covers(ram, i * TIDE_EXTENT_SIZE, TIDE_EXTENT_SIZE)) {
            continue;
        }
        look->extents[look->count] = i;
        look->iov[look->count++] = (struct iovec) {
            .iov_base = ram->host + i * TIDE_EXTENT_SIZE - ram->gpa,
            .iov_len = TIDE_EXTENT_SIZE,
        };
        if (look->count == LOOK_MAX) {
            tide_look(look);
        }
    }
    if (look->count) {
        tide_look(look);
    }
}

/*
 * Bytes; under the BQL, which keeps the RAM map as it is. What is back in memory
 * is not looked at again, unless the worker discarded something meanwhile.
 */
uint64_t tide_discarded_now(TideState *s)
{
    g_autofree unsigned long *away = NULL, *back = NULL;
    g_autofree TideLook *look = g_new0(TideLook, 1);
    uint64_t discards;
    long size;

    WITH_QEMU_LOCK_GUARD(&s->lock) {
        size = s->discarded_size;
        discards = s->discards;
        away = g_memdup2(s->discarded, BITS_TO_LONGS(size) * sizeof(*away));
    }
    if (!size) {
        return 0;
    }
    look->back = back = bitmap_new(size);
    for (unsigned i = 0; s->ram && i < s->ram->len; i++) {
        tide_look_at_region(&g_array_index(s->ram, TideRam, i), away, size, look);
    }
    WITH_QEMU_LOCK_GUARD(&s->lock) {
        if (discards == s->discards) {
            bitmap_andnot(s->discarded, away, back, size);
        }
    }
    return look->bytes;
}
