/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tide: memory that was given back stays away over snapshots and migration.
 *
 * QEMU reads every page to learn that it is zero. In a file in memory the read
 * puts a page there, on both sides: a migration would bring all back that the
 * guest has given. And a snapshot loaded over memory in use writes zeros where
 * there was nothing. So what is a hole when saving begins is not sent, but named:
 * ours is a section of the stream, behind RAM's set-up and before its pages.
 *
 * No zero is lost by that. The other side's memory may be anything (a file with
 * contents, what an attempt before this left, the present when a snapshot is
 * loaded over it), so it is made zero there, before the first page arrives.
 *
 * No write is lost either. A hole is what sending a page is, with zeros: first
 * its dirty bits are cleared, then it is looked at. What is written afterwards
 * sets the bits again, and is sent as for any page; what was written before the
 * look is no hole, and is marked dirty again. No hole is made meanwhile: the
 * worker was stopped before, and until the end it begins nothing.
 */

#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-migration.h"
#include "migration/misc.h"
#include "migration/qemu-file-types.h"
#include "migration/register.h"
#include "hw/misc/tide.h"
#include "trace.h"
#include <linux/magic.h>
#include <sys/vfs.h>

#define TIDE_HOLES_ID "tide-holes"

/* ---- What is there ---- */

/*
 * Elsewhere a hole cannot be told for sure (huge pages, network file systems,
 * private copies over a file), or costs nothing to read (the page cache).
 */
static bool tide_can_have_holes(const TideTarget *target)
{
    struct statfs fs;

    switch (target->backing) {
    case TIDE_BACKING_ANON:
        return true;
    case TIDE_BACKING_SHMEM:
    case TIDE_BACKING_SHARED_FILE:
        return target->fd >= 0 && !fstatfs(target->fd, &fs) &&
            fs.f_type == TMPFS_MAGIC;
    default:
        return false;
    }
}

/* Nothing in memory and nothing in swap: it reads as zero. */
static bool tide_is_hole(const TideTarget *target)
{
    struct iovec iov = { target->host, TIDE_EXTENT_SIZE };
    int64_t bytes;
    off_t data;

    if (!tide_can_have_holes(target)) {
        return false;
    }
    if (target->backing == TIDE_BACKING_ANON) {
        tide_host_linux.remains(&iov, 1, TIDE_LEAVES_MAPPING, &bytes);
        return bytes == 0;
    }
    data = lseek(target->fd, target->fd_offset, SEEK_DATA);
    if (data < 0) {
        return errno == ENXIO;
    }
    return data >= target->fd_offset + TIDE_EXTENT_SIZE;
}

/* ---- Saving ---- */

/*
 * Without a bitmap this migration leaves the memory alone, as it stays where it
 * is. What virtio-mem has plugged the other side does not know of as yet.
 */
static bool tide_may_skip(MemoryRegion *mr)
{
    return mr->ram_block->bmap && !memory_region_has_ram_discard_manager(mr);
}

/* True if it will not be sent, though it may be written to from now on. */
static bool tide_skip(const TideTarget *target)
{
    MemoryRegion *mr = target->ref;

    if (!tide_may_skip(mr) || !tide_is_hole(target)) {
        return false;
    }
    qemu_guest_free_page_hint(target->host, TIDE_EXTENT_SIZE);
    if (tide_is_hole(target)) {
        return true;
    }
    memory_region_set_dirty(mr, (uint8_t *)target->host -
                            (uint8_t *)memory_region_get_ram_ptr(mr),
                            TIDE_EXTENT_SIZE);
    return false;
}

static bool tide_skip_at(TideState *s, uint64_t gpa)
{
    TideTarget target;
    bool skipped;

    if (!tide_ram_resolve(s, gpa, TIDE_EXTENT_SIZE, &target)) {
        return false;
    }
    skipped = tide_skip(&target);
    tide_ram_release(s, &target);
    return skipped;
}

static void tide_put_run(QEMUFile *f, uint64_t gpa, uint64_t extents)
{
    qemu_put_be64(f, gpa);
    qemu_put_be64(f, extents);
}

/* Runs of extents that are holes in [gpa, end); how many extents. */
static uint64_t tide_save_holes_in(TideState *s, QEMUFile *f, uint64_t gpa,
                                   uint64_t end)
{
    uint64_t run = 0, total = 0;

    for (; gpa + TIDE_EXTENT_SIZE <= end; gpa += TIDE_EXTENT_SIZE) {
        if (tide_skip_at(s, gpa)) {
            run++;
        } else if (run) {
            tide_put_run(f, gpa - run * TIDE_EXTENT_SIZE, run);
            total += run;
            run = 0;
        }
    }
    if (run) {
        tide_put_run(f, gpa - run * TIDE_EXTENT_SIZE, run);
    }
    return total + run;
}

typedef struct TideRange {
    uint64_t gpa;
    uint64_t end;
} TideRange;

/* Not always under the BQL: the map may change while we look. */
static GArray *tide_ram_ranges(TideState *s)
{
    GArray *ranges = g_array_new(false, false, sizeof(TideRange));

    QEMU_LOCK_GUARD(&s->lock);
    for (unsigned i = 0; i < s->ram->len; i++) {
        TideRam *ram = &g_array_index(s->ram, TideRam, i);
        TideRange range = {
            .gpa = ROUND_UP(ram->gpa, TIDE_EXTENT_SIZE),
            .end = ram->gpa + ram->size,
        };

        g_array_append_val(ranges, range);
    }
    return ranges;
}

static TIDE_SAVE_SETUP(tide_holes_save)
{
    TideState *s = opaque;
    g_autoptr(GArray) ranges = tide_ram_ranges(s);
    uint64_t extents = 0;

    for (unsigned i = 0; i < ranges->len; i++) {
        TideRange *range = &g_array_index(ranges, TideRange, i);

        extents += tide_save_holes_in(s, f, range->gpa, range->end);
    }
    tide_put_run(f, 0, 0);
    trace_tide_holes_save(s, extents);
    return 0;
}

/*
 * What sends each page once, in the stream and behind us, or again when it is
 * written to. Not multifd, whose channels overtake us; postcopy, where the other
 * side asks for what it misses; files at fixed places; or what is not known here.
 */
static const MigrationCapability tide_holes_capabilities[] = {
    MIGRATION_CAPABILITY_XBZRLE,
    MIGRATION_CAPABILITY_AUTO_CONVERGE,
    MIGRATION_CAPABILITY_EVENTS,
    MIGRATION_CAPABILITY_RETURN_PATH,
    MIGRATION_CAPABILITY_PAUSE_BEFORE_SWITCHOVER,
    MIGRATION_CAPABILITY_DIRTY_BITMAPS,
    MIGRATION_CAPABILITY_LATE_BLOCK_ACTIVATE,
    MIGRATION_CAPABILITY_VALIDATE_UUID,
};

static bool tide_holes_may_have(MigrationCapability capability)
{
    for (unsigned i = 0; i < ARRAY_SIZE(tide_holes_capabilities); i++) {
        if (tide_holes_capabilities[i] == capability) {
            return true;
        }
    }
    return false;
}

static bool tide_holes_active(void *opaque)
{
    g_autoptr(MigrationCapabilityStatusList) list =
        qmp_query_migrate_capabilities(&error_abort);

    for (MigrationCapabilityStatusList *c = list; c; c = c->next) {
        if (c->value->state && !tide_holes_may_have(c->value->capability)) {
            return false;
        }
    }
    return true;
}

/* ---- Loading ---- */

/* @discard: nobody has pinned guest memory. */
static void tide_make_zero(const TideTarget *target, bool discard)
{
    bool anon = target->backing == TIDE_BACKING_ANON;
    size_t page = qemu_real_host_page_size();

    if (tide_is_hole(target)) {
        return;
    }
    if (discard && tide_can_have_holes(target)) {
        tide_host_linux.advise(target->host, TIDE_EXTENT_SIZE,
                               anon ? MADV_DONTNEED : MADV_REMOVE);
        if (tide_is_hole(target)) {
            return;
        }
    }
    for (size_t at = 0; at < TIDE_EXTENT_SIZE; at += page) {
        uint8_t *p = (uint8_t *)target->host + at;

        if (!buffer_is_zero(p, page)) {
            memset(p, 0, page);
        }
    }
}

static bool tide_load_run(TideState *s, uint64_t gpa, uint64_t extents,
                          bool discard)
{
    TideTarget target;

    if (gpa % TIDE_EXTENT_SIZE) {
        return false;
    }
    for (; extents; extents--, gpa += TIDE_EXTENT_SIZE) {
        if (!tide_ram_resolve(s, gpa, TIDE_EXTENT_SIZE, &target)) {
            return false;
        }
        tide_make_zero(&target, discard);
        tide_ram_release(s, &target);
    }
    return true;
}

/* The VM is stopped, and so is the worker. */
static int tide_holes_load(QEMUFile *f, void *opaque, int version_id)
{
    TideState *s = opaque;
    bool discard = s->exclusive || !ram_block_discard_require(true);
    uint64_t gpa, extents, total = 0;
    bool ok;

    do {
        gpa = qemu_get_be64(f);
        extents = qemu_get_be64(f);
        ok = !qemu_file_get_error(f) && tide_load_run(s, gpa, extents, discard);
        total += extents;
    } while (ok && extents);

    if (discard && !s->exclusive) {
        ram_block_discard_require(false);
    }
    trace_tide_holes_load(s, total);
    if (!ok) {
        error_report("tide: the saved state names RAM that is not here");
        return -EINVAL;
    }
    return 0;
}

static const SaveVMHandlers tide_holes_handlers = {
    .is_active = tide_holes_active,
    .save_setup = tide_holes_save,
    .load_state = tide_holes_load,
};

/* RAM registers itself before there is any device, so its set-up comes first. */
void tide_holes_start(TideState *s)
{
    g_autofree char *path = vmstate_if_get_id(VMSTATE_IF(s));
    g_autofree char *id = g_strconcat(path, "/" TIDE_HOLES_ID, NULL);

    register_savevm_live(id, 0, 1, &tide_holes_handlers, s);
}

void tide_holes_stop(TideState *s)
{
    unregister_savevm(VMSTATE_IF(s), TIDE_HOLES_ID, s);
}
