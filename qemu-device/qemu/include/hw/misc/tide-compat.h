/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between QEMU releases from 7.2 on, and nothing else. The device
 * is written for the newest; an older one is asked for the thing itself, and
 * for its version number only where a type or function cannot be asked for.
 */
#ifndef HW_MISC_TIDE_COMPAT_H
#define HW_MISC_TIDE_COMPAT_H

#if __has_include("hw/pci/pci_device.h")
#include "hw/pci/pci_device.h"
#else
#include "hw/pci/pci.h"
#endif
#include "hw/pci/msix.h"
#include "migration/misc.h"
#include "qapi/error.h"

#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#include "hw/core/boards.h"
#else
#include "hw/qdev-properties.h"
#include "hw/boards.h"
#endif

#if __has_include("system/memory.h")
#include "system/memory.h"
#include "system/address-spaces.h"
#include "system/ramblock.h"
#else
#include "exec/memory.h"
#include "exec/address-spaces.h"
#include "exec/cpu-common.h"
#include "exec/ramblock.h"
#endif

#if __has_include("system/ram-discard-manager.h")
#include "system/ram-discard-manager.h"
#endif

#if __has_include("system/runstate.h")
#include "system/runstate.h"
#include "system/hostmem.h"
#include "system/system.h"
#define tide_memory_locked() should_mlock(mlock_state)
#else
#include "sysemu/runstate.h"
#include "sysemu/hostmem.h"
#include "sysemu/sysemu.h"
#define tide_memory_locked() enable_mlock
#endif

/*
 * Before 8.1 a RAM block does not know whether its file has a name, and a file
 * serves from its start. There all but a memfd counts as named: what has a name
 * may be a template that others read, so that is the careful guess.
 */
#ifdef RAM_NAMED_FILE
#define tide_ram_is_named_file(rb) qemu_ram_is_named_file(rb)
#define tide_ram_fd_offset(rb) ((rb)->fd_offset)
#else
static inline bool tide_ram_is_named_file(RAMBlock *rb)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d",
                                            qemu_ram_get_fd(rb));
    g_autofree char *file = g_file_read_link(link, NULL);

    return !file || !g_str_has_prefix(file, "/memfd:");
}
#define tide_ram_fd_offset(rb) 0
#endif

/* Memory of confidential guests that the host cannot map; from 9.0 on. */
#ifdef RAM_GUEST_MEMFD
#define tide_has_guest_memfd(mr) memory_region_has_guest_memfd(mr)
#else
#define tide_has_guest_memfd(mr) false
#endif

/* False, with @errp set, if there is no memory. */
static inline bool tide_init_ram(MemoryRegion *mr, Object *owner,
                                 const char *name, uint64_t size, Error **errp)
{
#if QEMU_VERSION_MAJOR < 9
    ERRP_GUARD();

    memory_region_init_ram(mr, owner, name, size, errp);
    return !*errp;
#else
    return memory_region_init_ram(mr, owner, name, size, errp);
#endif
}

/*
 * Migration. TIDE_PRECOPY_NOTIFY(fn) is the head of a precopy notifier whose
 * parameters are n and data; tide_precopy_reason(data) is a PrecopyNotifyReason.
 */
#if QEMU_VERSION_MAJOR < 9
#define TIDE_PRECOPY_NOTIFY(fn) int fn(NotifierWithReturn *n, void *data)
#define tide_migration_running() (!migration_is_idle())
#else
#define TIDE_PRECOPY_NOTIFY(fn) \
    int fn(NotifierWithReturn *n, void *data, Error **errp)
#define tide_migration_running() migration_is_running()
#endif
#define tide_precopy_reason(data) (((PrecopyNotifyData *)(data))->reason)

/* The head of a save_setup handler whose parameters are f and opaque; 9.1 added one. */
#if QEMU_VERSION_MAJOR > 9 || (QEMU_VERSION_MAJOR == 9 && QEMU_VERSION_MINOR > 0)
#define TIDE_SAVE_SETUP(fn) int fn(QEMUFile *f, void *opaque, Error **errp)
#else
#define TIDE_SAVE_SETUP(fn) int fn(QEMUFile *f, void *opaque)
#endif

/*
 * Element types of the arrays in a VMStateDescription. The second is one that
 * converts both to what 7.2 wants and to the more const pointer of later ones.
 */
#define TIDE_VMSTATE_FIELDS const VMStateField
#define TIDE_VMSTATE_SUBSECTIONS const VMStateDescription *

/*
 * Listeners to what virtio-mem plugs and unplugs. All of ours hear of discards
 * of what was discarded already, which 11 takes for granted.
 */
#ifdef TYPE_RAM_DISCARD_SOURCE
#define TIDE_RDL_SECTION const MemoryRegionSection
#define tide_rdl_init(rdl, populate, discard) \
    ram_discard_listener_init(rdl, populate, discard)
#else
#define TIDE_RDL_SECTION MemoryRegionSection
#define tide_rdl_init(rdl, populate, discard) \
    ram_discard_listener_init(rdl, populate, discard, true)
#endif

/* What decides about plugging: a virtio-mem device. */
#ifdef TYPE_RAM_DISCARD_SOURCE
#define tide_rdm_source(rdm) OBJECT((rdm)->rds)
#else
#define tide_rdm_source(rdm) OBJECT(rdm)
#endif

/* Tells @rdl at once of all that is populated in @mr, which @rdm manages. */
static inline void tide_rdm_register(RamDiscardManager *rdm,
                                     RamDiscardListener *rdl, MemoryRegion *mr,
                                     hwaddr gpa)
{
    MemoryRegionSection all = {
        .mr = mr,
        .offset_within_address_space = gpa,
        .size = int128_make64(memory_region_size(mr)),
    };

    ram_discard_manager_register_listener(rdm, rdl, &all);
}

/* From 10.2 on accesses to @mr need not have the BQL. */
static inline void tide_enable_lockless_io(MemoryRegion *mr)
{
#if QEMU_VERSION_MAJOR > 10 || (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR > 1)
    memory_region_enable_lockless_io(mr);
#endif
}

/* QEMU 10 ends property arrays by their size, older ones by a marker. */
#ifdef DEFINE_PROP_END_OF_LIST
#define TIDE_PROPERTIES static Property
#define TIDE_PROPERTIES_END DEFINE_PROP_END_OF_LIST(),
#define tide_set_reset(dc, fn) ((dc)->reset = (fn))
#else
#define TIDE_PROPERTIES static const Property
#define TIDE_PROPERTIES_END
#define tide_set_reset(dc, fn) device_class_set_legacy_reset(dc, fn)
#endif

/*
 * 10.1 made class data and interface lists const, and has state handlers that
 * may fail beside those that do not, which is what ours is.
 */
#if __has_include("system/memory.h")
#define tide_add_vm_state_handler(dev, cb, opaque) \
    qdev_add_vm_change_state_handler(dev, cb, NULL, opaque)
#define TIDE_CLASS_DATA const void *data
#define TIDE_INTERFACES const InterfaceInfo
#else
#define tide_add_vm_state_handler(dev, cb, opaque) \
    qdev_add_vm_change_state_handler(dev, cb, opaque)
#define TIDE_CLASS_DATA void *data
#define TIDE_INTERFACES InterfaceInfo
#endif

#ifdef qemu_bh_new_guarded
#define tide_bh_new(cb, opaque) \
    qemu_bh_new_guarded(cb, opaque, &DEVICE(opaque)->mem_reentrancy_guard)
#else
#define tide_bh_new(cb, opaque) qemu_bh_new(cb, opaque)
#endif

#endif /* HW_MISC_TIDE_COMPAT_H */
