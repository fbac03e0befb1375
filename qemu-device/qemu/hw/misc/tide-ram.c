/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tide: which guest-physical memory may be acted on, and where it is.
 *
 * A memory listener keeps a list of the usable parts of system memory, with a
 * reference to each region. It changes under the BQL; the worker looks up in it
 * under the device's lock, and takes a reference of its own for as long as it
 * acts: so it needs neither the BQL nor RCU.
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/cutils.h"
#include "qapi/error.h"
#include "hw/mem/pc-dimm.h"
#include "hw/misc/tide.h"

static bool tide_committed(MemoryRegion *mr)
{
    Object *owner = memory_region_owner(mr);
    RamDiscardManager *rdm = memory_region_get_ram_discard_manager(mr);

    return (owner && object_dynamic_cast(owner, TYPE_MEMORY_BACKEND) &&
            object_property_get_bool(owner, "prealloc", NULL)) ||
        (rdm && object_property_get_bool(tide_rdm_source(rdm), "prealloc", NULL));
}

static TideBacking tide_backing(MemoryRegion *mr)
{
    RAMBlock *rb = mr->ram_block;
    bool shared = qemu_ram_is_shared(rb);
    size_t page = qemu_ram_pagesize(rb);

    if (tide_committed(mr)) {
        return TIDE_BACKING_COMMITTED;
    }
    if (page > TIDE_EXTENT_SIZE) {
        return TIDE_BACKING_COARSE;
    }
    if (page != qemu_real_host_page_size()) {
        return shared ? TIDE_BACKING_HUGETLB : TIDE_BACKING_PRIVATE_HUGETLB;
    }
    if (qemu_ram_get_fd(rb) < 0) {
        return shared ? TIDE_BACKING_SHMEM : TIDE_BACKING_ANON;
    }
    if (tide_ram_is_named_file(rb)) {
        return shared ? TIDE_BACKING_SHARED_FILE : TIDE_BACKING_PRIVATE_FILE;
    }
    return shared ? TIDE_BACKING_SHMEM : TIDE_BACKING_PRIVATE_SHMEM;
}

static int tide_dimm_uses(Object *device, void *backend)
{
    return object_dynamic_cast(device, TYPE_PC_DIMM) &&
        object_property_get_link(device, PC_DIMM_MEMDEV_PROP, NULL) == backend;
}

/* Not the memory of a virtio-pmem device, say, which outlives the guest. */
static bool tide_is_dimm(MachineState *machine, Object *backend)
{
    static const char *const places[] = { "peripheral", "peripheral-anon" };

    for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
        Object *devices = object_resolve_path_component(OBJECT(machine), places[i]);

        if (devices && object_child_foreach(devices, tide_dimm_uses, backend)) {
            return true;
        }
    }
    return false;
}

/*
 * virtio-mem maps its memory as one region, or (dynamic-memslots=on) parts of
 * it through aliases.
 */
static bool tide_is_virtio_mem(const MemoryRegion *hotplug,
                               const MemoryRegionSection *section)
{
    return memory_region_has_ram_discard_manager(section->mr) &&
        section->offset_within_address_space >= hotplug->addr &&
        section->offset_within_address_space - hotplug->addr <
        int128_get64(hotplug->size);
}

/*
 * Only what the machine calls its RAM: one region, or a container with one
 * region per NUMA node; and memory that was plugged into it, as a DIMM or by
 * virtio-mem. Other devices' memory can be plain RAM too, and is not the
 * guest's to give away.
 */
static bool tide_is_machine_ram(const MemoryRegionSection *section)
{
    MachineState *machine = MACHINE(qdev_get_machine());
    MemoryRegion *ram = machine->ram;
    MemoryRegion *mr = section->mr;
    Object *owner = memory_region_owner(mr);
    MemoryRegion *hotplug;

    if (ram && (mr == ram || mr->container == ram)) {
        return !memory_region_has_ram_discard_manager(mr);
    }
    if (!machine->device_memory || !owner ||
        !object_dynamic_cast(owner, TYPE_MEMORY_BACKEND)) {
        return false;
    }
    hotplug = &machine->device_memory->mr;
    return tide_is_virtio_mem(hotplug, section) ||
        (mr->container == hotplug && tide_is_dimm(machine, owner));
}

static bool tide_section_usable(MemoryRegionSection *section)
{
    MemoryRegion *mr = section->mr;

    return tide_is_machine_ram(section) &&
        memory_region_is_ram(mr) && !memory_region_is_ram_device(mr) &&
        !memory_region_is_rom(mr) && !memory_region_is_romd(mr) &&
        !section->readonly && !section->nonvolatile &&
        !memory_region_is_protected(mr) &&
        !tide_has_guest_memfd(mr) &&
        section->offset_within_region + int128_get64(section->size) <=
        qemu_ram_get_used_length(mr->ram_block);
}

static void tide_ram_unref(void *data)
{
    memory_region_unref(((TideRam *)data)->mr);
}

static void tide_ram_begin(MemoryListener *listener)
{
    TideState *s = container_of(listener, TideState, listener);

    s->next_ram = g_array_new(false, false, sizeof(TideRam));
    g_array_set_clear_func(s->next_ram, tide_ram_unref);
}

/* True if @next was only the rest of what is last in the map. */
static bool tide_ram_extend(GArray *map, const TideRam *next)
{
    TideRam *last = map->len ? &g_array_index(map, TideRam, map->len - 1) : NULL;

    if (!last || last->mr != next->mr || last->gpa + last->size != next->gpa ||
        last->offset + last->size != next->offset) {
        return false;
    }
    last->size += next->size;
    return true;
}

static void tide_ram_add(MemoryListener *listener, MemoryRegionSection *section)
{
    TideState *s = container_of(listener, TideState, listener);
    MemoryRegion *mr = section->mr;
    TideRam ram;

    if (!tide_section_usable(section)) {
        return;
    }
    ram = (TideRam) {
        .gpa = section->offset_within_address_space,
        .size = int128_get64(section->size),
        .offset = section->offset_within_region,
        .host = (uint8_t *)memory_region_get_ram_ptr(mr) +
            section->offset_within_region,
        .mr = mr,
        .backing = tide_backing(mr),
        .fd = qemu_ram_get_fd(mr->ram_block),
        .fd_offset = section->offset_within_region +
            tide_ram_fd_offset(mr->ram_block),
    };
    if (tide_ram_extend(s->next_ram, &ram)) {
        return;
    }
    if (memory_region_has_ram_discard_manager(mr)) {
        ram.plugged = tide_plugged_map(s, section);
    }
    memory_region_ref(mr);
    g_array_append_val(s->next_ram, ram);
}

static void tide_ram_del(MemoryListener *listener, MemoryRegionSection *section)
{
    tide_discarded_forget(container_of(listener, TideState, listener),
                          section->offset_within_address_space,
                          int128_get64(section->size));
}

uint32_t tide_ram_backings(GArray *ram)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < ram->len; i++) {
        mask |= 1u << g_array_index(ram, TideRam, i).backing;
    }
    return mask;
}

/* A scratch copy of each backing that is new here shows whether discards work. */
static void tide_ram_prove(TideState *s, uint32_t mask)
{
    for (unsigned i = 0; i < TIDE_BACKINGS; i++) {
        if ((mask & ~s->backings_seen & (1u << i)) &&
            tide_core_proof(s->core, i) == TIDE_PROOF_UNKNOWN) {
            tide_core_set_proof(s->core, i, tide_selfcheck(i, &tide_host_linux));
        }
    }
    s->backings_seen |= mask;
    tide_core_set_backings(s->core, mask);
}

/*
 * Memory may be on its way out: whoever unplugged it must not find it acted on
 * afterwards. A pending request looks it up again before each call.
 */
static void tide_ram_commit(MemoryListener *listener)
{
    TideState *s = container_of(listener, TideState, listener);
    GArray *old = s->ram;

    tide_quiesce(s);
    qemu_mutex_lock(&s->lock);
    s->ram = s->next_ram;
    qemu_mutex_unlock(&s->lock);
    tide_resume(s);
    s->next_ram = NULL;
    if (old) {
        g_array_unref(old);
    }
    tide_plugged_sweep(s);
    tide_ram_prove(s, tide_ram_backings(s->ram));
}

static bool tide_ram_aligned(const TideRam *ram)
{
    if (ram->fd < 0) {
        return ((uintptr_t)ram->host - ram->gpa) % TIDE_EXTENT_SIZE == 0;
    }
    return (ram->fd_offset - ram->gpa) % TIDE_EXTENT_SIZE == 0;
}

bool tide_ram_check(TideState *s, Error **errp)
{
    for (unsigned i = 0; i < s->ram->len; i++) {
        TideRam *ram = &g_array_index(s->ram, TideRam, i);

        if (ram->backing == TIDE_BACKING_COARSE) {
            g_autofree char *page = size_to_str(qemu_ram_pagesize(ram->mr->ram_block));

            error_setg(errp, "guest RAM '%s' has host pages of %s, and tide gives "
                       "memory back in extents of 2 MiB; use huge pages of 2 MiB "
                       "(hugetlbsize=2M, or another mem-path)",
                       memory_region_name(ram->mr), page);
            return false;
        }
        if (!tide_ram_aligned(ram)) {
            warn_report("tide: guest RAM at 0x%" HWADDR_PRIx " and its host "
                        "memory differ modulo 2 MiB: reports for it will be "
                        "refused", ram->gpa);
        }
    }
    return true;
}

bool tide_ram_covers(const TideRam *ram, uint64_t gpa, uint64_t len)
{
    return gpa >= ram->gpa && len <= ram->size &&
        gpa - ram->gpa <= ram->size - len &&
        (!ram->plugged ||
         tide_plugged_covers(ram->plugged, ram->offset + (gpa - ram->gpa), len));
}

bool tide_ram_resolve(void *opaque, uint64_t gpa, uint64_t len,
                      TideTarget *target)
{
    TideState *s = opaque;

    QEMU_LOCK_GUARD(&s->lock);
    for (unsigned i = 0; i < s->ram->len; i++) {
        TideRam *ram = &g_array_index(s->ram, TideRam, i);

        if (tide_ram_covers(ram, gpa, len)) {
            memory_region_ref(ram->mr);
            target->host = ram->host + (gpa - ram->gpa);
            target->backing = ram->backing;
            target->fd = ram->fd;
            target->fd_offset = ram->fd_offset + (gpa - ram->gpa);
            target->ref = ram->mr;
            return true;
        }
    }
    return false;
}

void tide_ram_release(void *opaque, TideTarget *target)
{
    memory_region_unref(target->ref);
}

void tide_ram_start(TideState *s)
{
    s->listener = (MemoryListener) {
        .name = "tide",
        .begin = tide_ram_begin,
        .region_add = tide_ram_add,
        .region_nop = tide_ram_add,
        .region_del = tide_ram_del,
        .commit = tide_ram_commit,
    };
    memory_listener_register(&s->listener, &address_space_memory);
}

void tide_ram_stop(TideState *s)
{
    memory_listener_unregister(&s->listener);
    g_clear_pointer(&s->ram, g_array_unref);
    g_clear_pointer(&s->next_ram, g_array_unref);
}
