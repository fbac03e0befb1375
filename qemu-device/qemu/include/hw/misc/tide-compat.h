/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between QEMU releases, and nothing else. The device is written
 * for 10.x; where a release differs, it is asked for the thing itself, not for
 * its version number.
 */
#ifndef HW_MISC_TIDE_COMPAT_H
#define HW_MISC_TIDE_COMPAT_H

#if __has_include("hw/pci/pci_device.h")
#include "hw/pci/pci_device.h"
#else
#include "hw/pci/pci.h"
#endif
#include "hw/pci/msix.h"

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

/* Before 8.1 nobody tells whether a file has a name: then it may. */
#ifdef RAM_NAMED_FILE
#define tide_ram_is_named_file(rb) qemu_ram_is_named_file(rb)
#else
#define tide_ram_is_named_file(rb) true
#endif

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

/* 10.1 made class data and interface lists const. */
#if __has_include("system/memory.h")
#define TIDE_CLASS_DATA const void *data
#define TIDE_INTERFACES const InterfaceInfo
#else
#define TIDE_CLASS_DATA void *data
#define TIDE_INTERFACES InterfaceInfo
#endif

#ifdef qemu_bh_new_guarded
#define tide_bh_new(cb, opaque) \
    qemu_bh_new_guarded(cb, opaque, &DEVICE(opaque)->mem_reentrancy_guard)
#else
#define tide_bh_new(cb, opaque) qemu_bh_new(cb, opaque)
#endif

/* Where in its file a RAM block begins. */
#define tide_ram_fd_offset(rb) ((rb)->fd_offset)

#define TIDE_VMSTATE_FIELDS const VMStateField

#endif /* HW_MISC_TIDE_COMPAT_H */
