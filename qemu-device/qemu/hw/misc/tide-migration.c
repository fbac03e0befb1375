/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tide: snapshots and migration.
 *
 * The rings are RAM and go with it. What the worker took and did not answer
 * goes along as descriptors, which the other side does from their start: the
 * guest does not own that memory before the answer, so doing it twice is right.
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "migration/misc.h"
#include "hw/misc/tide.h"

/* Saving happens with the VM stopped, loading after a reset: no worker in it. */
static int tide_pre_save(void *opaque)
{
    TideState *s = opaque;

    tide_core_save(s->core, &s->saved);
    return 0;
}

static int tide_pre_load(void *opaque)
{
    TideState *s = opaque;

    memset(&s->saved, 0, sizeof(s->saved));
    return 0;
}

static int tide_post_load(void *opaque, int version_id)
{
    TideState *s = opaque;
    uint16_t command = pci_get_word(PCI_DEVICE(s)->config + PCI_COMMAND);
    bool ok;

    tide_quiesce(s);
    qemu_mutex_lock(&s->lock);
    ok = tide_core_load(s->core, &s->saved);
    if (ok) {
        s->bus_master = command & PCI_COMMAND_MASTER;
        s->reset_requested = s->saved.status & TIDE_PCI_STATUS_RESETTING;
    }
    qemu_mutex_unlock(&s->lock);
    tide_resume(s);
    if (!ok) {
        error_report("tide: the saved state is damaged, or of a device with "
                     "a larger queue-size");
        return -EINVAL;
    }
    return 0;
}

/*
 * From the first look at what is dirty on, the worker begins nothing: asked
 * before each call, tide_migration_running() says so. What is left is the call it
 * is in: a page sent before it ends would keep its old bytes on the other side.
 */
static TIDE_PRECOPY_NOTIFY(tide_precopy)
{
    TideState *s = container_of(n, TideState, precopy);

    if (tide_precopy_reason(data) == PRECOPY_NOTIFY_BEFORE_BITMAP_SYNC) {
        tide_quiesce(s);
        tide_resume(s);
    }
    return 0;
}

void tide_migration_start(TideState *s)
{
    s->precopy.notify = tide_precopy;
    precopy_add_notifier(&s->precopy);
    tide_holes_start(s);
}

void tide_migration_stop(TideState *s)
{
    tide_holes_stop(s);
    precopy_remove_notifier(&s->precopy);
}

static const VMStateDescription tide_vmstate_desc = {
    .name = "tide/descriptor",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (TIDE_VMSTATE_FIELDS[]) {
        VMSTATE_UINT64(gpa, TideSavedDesc),
        VMSTATE_UINT64(cookie, TideSavedDesc),
        VMSTATE_UINT64(reserved, TideSavedDesc),
        VMSTATE_UINT32(count, TideSavedDesc),
        VMSTATE_UINT16(intent, TideSavedDesc),
        VMSTATE_UINT16(flags, TideSavedDesc),
        VMSTATE_END_OF_LIST()
    },
};

/*
 * The driver has read the geometry and the limits, so they must be the same on
 * both sides: a property that differs is named and refused.
 */
const VMStateDescription tide_vmstate = {
    .name = TYPE_TIDE,
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = tide_pre_save,
    .pre_load = tide_pre_load,
    .post_load = tide_post_load,
    .fields = (TIDE_VMSTATE_FIELDS[]) {
        VMSTATE_PCI_DEVICE(parent_obj, TideState),
        VMSTATE_MSIX(parent_obj, TideState),
        VMSTATE_UINT32_EQUAL(config.queue_size, TideState,
                             "property 'queue-size' differs"),
        VMSTATE_UINT32_EQUAL(config.max_extents, TideState,
                             "property 'max-extents' differs"),
        VMSTATE_UINT32_EQUAL(config.intents, TideState,
                             "the intents allowed by properties differ"),
        VMSTATE_UINT64(saved.pool_base, TideState),
        VMSTATE_UINT64(saved.pool_size, TideState),
        VMSTATE_UINT32(saved.status, TideState),
        VMSTATE_UINT32(saved.features, TideState),
        VMSTATE_UINT32(saved.sq_head, TideState),
        VMSTATE_UINT32(saved.cq_tail, TideState),
        VMSTATE_UINT32(saved.pending_count, TideState),
        VMSTATE_STRUCT_ARRAY(saved.pending, TideState, TIDE_PENDING_MAX, 1,
                             tide_vmstate_desc, TideSavedDesc),
        VMSTATE_END_OF_LIST()
    },
};
