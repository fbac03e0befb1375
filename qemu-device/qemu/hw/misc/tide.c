/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tide: a PCI device through which a guest tells what its memory contents mean.
 *
 * What a descriptor means is in tide-core; here is what ties it to QEMU: BARs,
 * the worker thread, interrupts, stop and reset. Guest RAM is in tide-ram.c,
 * what virtio-mem plugged of it in tide-virtio-mem.c, counters are in
 * tide-counters.c.
 *
 * A doorbell only wakes the worker, and with KVM the kernel does that itself.
 * The worker runs without the BQL and never takes it: interrupts go through a
 * bottom half, the RAM map is handed to it by a memory listener. Stop, reset and
 * unplug wait, with the BQL held, until it is out of madvise, which one slice
 * bounds.
 */

#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "migration/misc.h"
#include "hw/misc/tide.h"
#include "trace.h"

/* ---- What tide-core asks of us; on the worker ---- */

/*
 * A page that migration has sent already would keep its old bytes on the other
 * side, and a background snapshot relies on pages being there. Incoming
 * postcopy is different: there a discarded page would be asked for once more.
 */
static uint16_t tide_begin(void *opaque)
{
    TideState *s = opaque;

    if (migration_in_incoming_postcopy()) {
        return TIDE_PCI_ST_INHIBITED;
    }
    if (tide_migration_running() || migration_in_bg_snapshot()) {
        return TIDE_PCI_ST_BUSY;
    }
    if (!s->exclusive && ram_block_discard_require(true)) {
        return TIDE_PCI_ST_INHIBITED;
    }
    return TIDE_PCI_ST_OK;
}

static void tide_end(void *opaque)
{
    TideState *s = opaque;

    if (!s->exclusive) {
        ram_block_discard_require(false);
    }
}

#define TIDE_INHIBITED_POLL_MS 100
#define TIDE_EMPTY_RUNS 64

static void tide_notify(void *opaque)
{
    TideState *s = opaque;

    qatomic_set(&s->irq_pending, true);
    qemu_bh_schedule(s->irq_bh);
}

static void tide_taken(void *opaque, const TideRequest *req)
{
    trace_tide_desc(opaque, req->gpa, req->count, req->intent, req->cookie);
}

static void tide_acted(void *opaque, const void *host, uint64_t len,
                       int advice, int rc)
{
    trace_tide_action(opaque, host, len, advice, rc);
}

static void tide_answered(void *opaque, const TideRequest *req)
{
    if (req->action == TIDE_PCI_ACTION_DISCARD) {
        tide_discarded_add(opaque, req->gpa, req->done);
    }
    trace_tide_completion(opaque, req->cookie, req->status,
                          req->done >> TIDE_PCI_EXTENT_SHIFT, req->cpl_flags,
                          req->action);
    if (req->status == TIDE_PCI_ST_INVALID || req->status == TIDE_PCI_ST_RANGE) {
        qemu_log_mask(LOG_GUEST_ERROR, "tide: refused descriptor: gpa 0x%"
                      PRIx64 " count %u intent %u flags 0x%x: status %u\n",
                      req->gpa, req->count, req->intent, req->desc_flags,
                      req->status);
    }
}

static const TideOps tide_ops = {
    .resolve = tide_ram_resolve,
    .release = tide_ram_release,
    .begin = tide_begin,
    .end = tide_end,
    .notify = tide_notify,
    .taken = tide_taken,
    .acted = tide_acted,
    .answered = tide_answered,
};

/* ---- Worker ---- */

/* The kernel counts those that came while nobody looked. */
static void tide_hear_doorbells(TideState *s)
{
    uint64_t count;

    if (read(event_notifier_get_fd(&s->doorbell), &count, sizeof(count)) ==
        sizeof(count)) {
        trace_tide_doorbell(s, count);
        s->doorbells += count;
        s->kicked = true;
    }
}

/* With @lock held; it is let go of while waiting. @ns below 0: until woken. */
static void tide_sleep(TideState *s, int64_t ns, bool hear_doorbells)
{
    GPollFD fds[] = {
        { .fd = event_notifier_get_fd(&s->wake), .events = G_IO_IN },
        { .fd = event_notifier_get_fd(&s->doorbell), .events = G_IO_IN },
    };

    qemu_mutex_unlock(&s->lock);
    qemu_poll_ns(fds, hear_doorbells ? 2 : 1, ns);
    qemu_mutex_lock(&s->lock);
    event_notifier_test_and_clear(&s->wake);
    tide_hear_doorbells(s);
}

/* Nobody tells us that the host allows discards again: look now and then. */
static void tide_watch_inhibitor(TideState *s)
{
    tide_sleep(s, TIDE_INHIBITED_POLL_MS * SCALE_MS, true);
    if (!ram_block_discard_is_disabled() && !migration_in_incoming_postcopy() &&
        tide_core_set_inhibited(s->core, false)) {
        tide_notify(s);
    }
}

/*
 * A guest that rings for nothing, again and again, gets a look a millisecond:
 * else it would keep this thread busy and, with it, a host's processor.
 */
static void tide_count_empty_run(TideState *s)
{
    if (++s->empty_runs > TIDE_EMPTY_RUNS) {
        tide_sleep(s, SCALE_MS, false);
    }
}

/* Called and returns with @lock held. */
static void tide_run_once(TideState *s)
{
    TideRun run;

    s->kicked = false;
    s->busy = true;
    qemu_mutex_unlock(&s->lock);
    run = tide_core_run(s->core);
    qemu_mutex_lock(&s->lock);
    s->busy = false;
    qemu_cond_broadcast(&s->parked);

    trace_tide_run(s, run);
    switch (run) {
    case TIDE_RUN_MORE:
        s->empty_runs = 0;
        s->kicked = true;
        break;
    case TIDE_RUN_WAIT:
        tide_sleep(s, MIN(tide_core_wait_ns(s->core), NANOSECONDS_PER_SECOND), true);
        s->kicked = true;
        break;
    case TIDE_RUN_NO_ROOM:
        /* Nobody tells us that completions were read. */
        tide_sleep(s, SCALE_MS, false);
        s->kicked = true;
        break;
    case TIDE_RUN_IDLE:
        tide_count_empty_run(s);
        break;
    default:
        break;
    }
}

static void *tide_worker(void *opaque)
{
    TideState *s = opaque;

    rcu_register_thread();
    qemu_mutex_lock(&s->lock);
    while (!s->exiting) {
        if (s->reset_requested && s->vm_running && !s->hold) {
            tide_core_reset(s->core);
            s->reset_requested = false;
            trace_tide_reset(s, "guest");
        } else if (s->kicked && s->vm_running && s->bus_master && !s->hold) {
            tide_run_once(s);
        } else if (tide_core_status(s->core) & TIDE_PCI_STATUS_INHIBITED) {
            tide_watch_inhibitor(s);
        } else {
            tide_sleep(s, -1, true);
        }
    }
    qemu_mutex_unlock(&s->lock);
    rcu_unregister_thread();
    return NULL;
}

static void tide_kick(TideState *s)
{
    s->kicked = true;
    event_notifier_set(&s->wake);
}

static void tide_raise_irq(void *opaque)
{
    TideState *s = opaque;
    PCIDevice *pci = PCI_DEVICE(s);

    if (qatomic_xchg(&s->irq_pending, false) && msix_enabled(pci)) {
        s->interrupts++;
        msix_notify(pci, 0);
    }
}

/*
 * Wait, with the BQL held, until the worker is out of the host: one slice at
 * most. It starts nothing while @hold, and never takes the BQL itself.
 */
void tide_quiesce(TideState *s)
{
    qemu_mutex_lock(&s->lock);
    s->hold++;
    while (s->busy) {
        qemu_cond_wait(&s->parked, &s->lock);
    }
    qemu_mutex_unlock(&s->lock);
}

void tide_resume(TideState *s)
{
    qemu_mutex_lock(&s->lock);
    s->hold--;
    tide_kick(s);
    qemu_mutex_unlock(&s->lock);
}

static void tide_vm_state(void *opaque, bool running, RunState state)
{
    TideState *s = opaque;

    tide_quiesce(s);
    qemu_mutex_lock(&s->lock);
    s->vm_running = running;
    qemu_mutex_unlock(&s->lock);
    tide_resume(s);
    trace_tide_vm_state(s, running);
    if (!running) {
        /* What was published before the stop belongs before the stop. */
        tide_raise_irq(s);
        /* The worker writes through the host's mapping: no log sees that. */
        memory_region_set_dirty(&s->rings, 0, memory_region_size(&s->rings));
    }
}

/* Nothing taken before acts, or is answered, after this returned. */
static void tide_reset_now(TideState *s, const char *why)
{
    tide_quiesce(s);
    qemu_mutex_lock(&s->lock);
    tide_core_reset(s->core);
    s->reset_requested = false;
    s->resets++;
    qemu_mutex_unlock(&s->lock);
    tide_resume(s);

    qatomic_set(&s->irq_pending, false);
    trace_tide_reset(s, why);
}

/* ---- Registers, which may come without the BQL, and configuration space ---- */

static uint64_t tide_reg_read(void *opaque, hwaddr offset, unsigned size)
{
    TideState *s = opaque;
    uint32_t value;

    qemu_mutex_lock(&s->lock);
    value = tide_core_reg_read(s->core, offset, size);
    qemu_mutex_unlock(&s->lock);
    trace_tide_reg_read(s, offset, value);
    return value;
}

static void tide_reg_write(void *opaque, hwaddr offset, uint64_t value,
                           unsigned size)
{
    TideState *s = opaque;
    TideRegEvent event;

    trace_tide_reg_write(s, offset, value);
    qemu_mutex_lock(&s->lock);
    event = tide_core_reg_write(s->core, offset, value, size);
    switch (event) {
    case TIDE_REG_DOORBELL:
        event_notifier_set(&s->doorbell);
        break;
    case TIDE_REG_ENABLE:
        tide_kick(s);
        break;
    case TIDE_REG_RESET:
        s->resets++;
        s->reset_requested = true;
        event_notifier_set(&s->wake);
        break;
    default:
        break;
    }
    qemu_mutex_unlock(&s->lock);
    if (event == TIDE_REG_REFUSED) {
        qemu_log_mask(LOG_GUEST_ERROR, "tide: dropped write of 0x%" PRIx64
                      " (%u bytes) to register 0x%" HWADDR_PRIx "\n",
                      value, size, offset);
    }
}

/* Every access reaches us, so that odd ones read zero instead of half a word. */
static const MemoryRegionOps tide_reg_ops = {
    .read = tide_reg_read,
    .write = tide_reg_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

static void tide_set_bus_master(TideState *s, bool on)
{
    qemu_mutex_lock(&s->lock);
    s->bus_master = on;
    tide_kick(s);
    qemu_mutex_unlock(&s->lock);
}

/*
 * A kernel that goes away (kexec, shutdown of the driver) clears the bus master
 * bit, and the next one sets it before it knows of us: what was queued must not
 * come alive then.
 */
static void tide_config_write(PCIDevice *pci, uint32_t addr, uint32_t val, int len)
{
    TideState *s = TIDE(pci);
    bool was = s->bus_master;
    bool now;

    pci_default_write_config(pci, addr, val, len);
    now = pci_get_word(pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
    if (was == now) {
        return;
    }
    tide_set_bus_master(s, now);
    if (was) {
        tide_reset_now(s, "bus master off");
    }
}

static void tide_device_reset(DeviceState *dev)
{
    TideState *s = TIDE(dev);

    /* PCI's own reset clears the bit behind our back. */
    tide_set_bus_master(s, false);
    tide_reset_now(s, "device");
}

/* ---- Realize and exit ---- */

static bool tide_check_properties(TideState *s, Error **errp)
{
    TideConfig *c = &s->config;

    if (c->queue_size < TIDE_QUEUE_SIZE_MIN || !is_power_of_2(c->queue_size) ||
        c->queue_size > TIDE_QUEUE_SIZE_MAX) {
        error_setg(errp, "property '" TIDE_QUEUE_SIZE_PROP "' is %u: it must be "
                   "a power of two from %u to %u", c->queue_size,
                   TIDE_QUEUE_SIZE_MIN, TIDE_QUEUE_SIZE_MAX);
        return false;
    }
    if (c->max_extents < 1 || c->max_extents > TIDE_MAX_EXTENTS_LIMIT) {
        error_setg(errp, "property '" TIDE_MAX_EXTENTS_PROP "' is %u: it must be "
                   "from 1 to %u", c->max_extents, TIDE_MAX_EXTENTS_LIMIT);
        return false;
    }
    if (c->slice_bytes < TIDE_EXTENT_SIZE || c->slice_bytes > GiB ||
        c->slice_bytes % TIDE_EXTENT_SIZE) {
        error_setg(errp, "property '" TIDE_SLICE_PROP "' is %" PRIu64 " bytes: "
                   "it must be a multiple of 2 MiB from 2 MiB to 1 GiB",
                   c->slice_bytes);
        return false;
    }
    return true;
}

static bool tide_check_machine(Error **errp)
{
    if (tide_memory_locked()) {
        error_setg(errp, "tide cannot give back locked memory: remove "
                   "'-overcommit mem-lock'");
        return false;
    }
    if (MACHINE(qdev_get_machine())->cgs) {
        error_setg(errp, "tide cannot give back memory of a confidential guest: "
                   "remove 'confidential-guest-support'");
        return false;
    }
    return true;
}

static bool tide_init_bars(TideState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);

    if (!tide_init_ram(&s->rings, OBJECT(s), "tide-rings",
                       tide_core_rings_size(s->config.queue_size), errp)) {
        return false;
    }
    memory_region_init_io(&s->regs, OBJECT(s), &tide_reg_ops, s, "tide-regs",
                          TIDE_PCI_REGS_SIZE);
    tide_enable_lockless_io(&s->regs);
    pci_register_bar(pci, TIDE_PCI_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY,
                     &s->regs);
    pci_register_bar(pci, TIDE_PCI_BAR_RINGS, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &s->rings);
    if (msix_init_exclusive_bar(pci, TIDE_PCI_MSIX_VECTORS, TIDE_PCI_BAR_MSIX,
                                errp) < 0) {
        return false;
    }
    msix_vector_use(pci, 0);
    return true;
}

static bool tide_init_notifiers(TideState *s, Error **errp)
{
    int rc = event_notifier_init(&s->wake, 0);

    rc = rc ?: event_notifier_init(&s->doorbell, 0);
    if (rc) {
        error_setg_errno(errp, -rc, "tide cannot make an eventfd");
    }
    return !rc;
}

static void tide_start(TideState *s)
{
    s->core = tide_core_new(&s->config, memory_region_get_ram_ptr(&s->rings),
                            &tide_ops, s, &tide_host_linux);
    /* The properties were checked: what is left is memory, and g_malloc's way. */
    g_assert(s->core);
    s->irq_bh = tide_bh_new(tide_raise_irq, s);
    tide_ram_start(s);
    if (s->ioeventfd) {
        memory_region_add_eventfd(&s->regs, TIDE_PCI_REG_DOORBELL, 4, false, 0,
                                  &s->doorbell);
    }

    s->vm_running = runstate_is_running();
    s->vm_state = tide_add_vm_state_handler(DEVICE(s), tide_vm_state, s);
    tide_migration_start(s);
    qemu_thread_create(&s->thread, "tide", tide_worker, s, QEMU_THREAD_JOINABLE);
}

static void tide_exit(PCIDevice *pci)
{
    TideState *s = TIDE(pci);

    qemu_mutex_lock(&s->lock);
    s->exiting = true;
    event_notifier_set(&s->wake);
    qemu_mutex_unlock(&s->lock);
    qemu_thread_join(&s->thread);

    tide_migration_stop(s);
    qemu_del_vm_change_state_handler(s->vm_state);
    tide_ram_stop(s);
    qemu_bh_delete(s->irq_bh);
    if (s->ioeventfd) {
        memory_region_del_eventfd(&s->regs, TIDE_PCI_REG_DOORBELL, 4, false, 0,
                                  &s->doorbell);
    }
    if (s->exclusive) {
        ram_block_discard_require(false);
    }
    msix_uninit_exclusive_bar(pci);
}

static void tide_realize(PCIDevice *pci, Error **errp)
{
    TideState *s = TIDE(pci);

    if (!tide_check_properties(s, errp) || !tide_check_machine(errp) ||
        !tide_init_notifiers(s, errp) || !tide_init_bars(s, errp)) {
        return;
    }
    /*
     * Held for the device's whole life, or around each call to the host, but
     * never only tested for: between a test and the discard, a device assigned
     * meanwhile could pin the pages.
     */
    if (s->exclusive && ram_block_discard_require(true)) {
        error_setg(errp, "tide cannot discard memory here: an assigned device "
                   "or another user of pinned memory forbids it; remove it, or "
                   "set exclusive=off to wait for it to go");
        msix_uninit_exclusive_bar(pci);
        return;
    }
    tide_start(s);
    if (!tide_ram_check(s, errp)) {
        tide_exit(pci);
    }
}

/* ---- QOM ---- */

#define TIDE_INTENT_PROP(_name, _intent) \
    DEFINE_PROP_BIT(_name, TideState, config.intents, _intent, true)

TIDE_PROPERTIES tide_properties[] = {
    DEFINE_PROP_UINT32(TIDE_QUEUE_SIZE_PROP, TideState, config.queue_size, 256),
    DEFINE_PROP_UINT32(TIDE_MAX_EXTENTS_PROP, TideState, config.max_extents,
                       65536),
    DEFINE_PROP_SIZE(TIDE_SLICE_PROP, TideState, config.slice_bytes, 128 * MiB),
    DEFINE_PROP_UINT64("max-pending-extents", TideState,
                       config.max_pending_extents, 0),
    DEFINE_PROP_SIZE("max-bytes-per-second", TideState, config.max_bytes_per_s, 0),
    DEFINE_PROP_BOOL("exclusive", TideState, exclusive, true),
    DEFINE_PROP_BOOL("ioeventfd", TideState, ioeventfd, true),
    TIDE_INTENT_PROP("discard", TIDE_PCI_INTENT_DISCARD),
    TIDE_INTENT_PROP("discard-lazy", TIDE_PCI_INTENT_DISCARD_LAZY),
    TIDE_INTENT_PROP("cold", TIDE_PCI_INTENT_COLD),
    TIDE_INTENT_PROP("pageout", TIDE_PCI_INTENT_PAGEOUT),
    TIDE_INTENT_PROP("willneed", TIDE_PCI_INTENT_WILLNEED),
    TIDE_PROPERTIES_END
};

static const struct {
    const char *name, *text;
} tide_descriptions[] = {
    { TIDE_QUEUE_SIZE_PROP, "slots of each ring, a power of two from 16 to 4096" },
    { TIDE_MAX_EXTENTS_PROP, "most 2 MiB extents in one descriptor" },
    { TIDE_SLICE_PROP, "most bytes of guest memory in one call to the host" },
    { "max-pending-extents",
      "most extents in work at a time, the ring waits beyond; 0: no limit" },
    { "max-bytes-per-second", "most bytes acted on in a second; 0: no limit" },
    { "exclusive", "keep devices away that pin guest memory (VFIO); off: answer "
      "INHIBITED while there is one" },
    { "ioeventfd", "with KVM, let the kernel take doorbells without leaving the guest "
      "for QEMU" },
    { "discard", "allow giving back dead memory at once" },
    { "discard-lazy", "allow giving back dead memory under pressure" },
    { "cold", "allow marking idle memory first in line for reclaim" },
    { "pageout", "allow handing idle memory to swap" },
    { "willneed", "allow populating memory ahead of its use" },
};

static void tide_instance_init(Object *obj)
{
    TideState *s = TIDE(obj);

    qemu_mutex_init(&s->lock);
    qemu_cond_init(&s->parked);
}

/* Only now is no vCPU left that was on its way to a register. */
static void tide_instance_finalize(Object *obj)
{
    TideState *s = TIDE(obj);

    tide_core_free(s->core);
    g_free(s->discarded);
    event_notifier_cleanup(&s->doorbell);
    event_notifier_cleanup(&s->wake);
    qemu_cond_destroy(&s->parked);
    qemu_mutex_destroy(&s->lock);
}

static void tide_class_init(ObjectClass *klass, TIDE_CLASS_DATA)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = tide_realize;
    pc->exit = tide_exit;
    pc->config_write = tide_config_write;
    pc->vendor_id = TIDE_PCI_VENDOR_ID;
    pc->device_id = TIDE_PCI_DEVICE_ID;
    pc->revision = TIDE_PCI_VERSION >> 16;
    pc->class_id = PCI_CLASS_SYSTEM_OTHER;
    dc->desc = "Tide: guest memory intents";
    dc->vmsd = &tide_vmstate;
    tide_set_reset(dc, tide_device_reset);
    device_class_set_props(dc, tide_properties);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);

    for (unsigned i = 0; i < ARRAY_SIZE(tide_descriptions); i++) {
        object_class_property_set_description(klass, tide_descriptions[i].name,
                                              tide_descriptions[i].text);
    }
    tide_class_add_counters(klass);
}

static const TypeInfo tide_info = {
    .name = TYPE_TIDE,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(TideState),
    .instance_init = tide_instance_init,
    .instance_finalize = tide_instance_finalize,
    .class_init = tide_class_init,
    .interfaces = (TIDE_INTERFACES[]) {
        { INTERFACE_CONVENTIONAL_PCI_DEVICE },
        { }
    },
};

static void tide_register_types(void)
{
    type_register_static(&tide_info);
}

type_init(tide_register_types)
