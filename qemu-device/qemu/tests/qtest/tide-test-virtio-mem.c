/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that virtio-mem plugs is the guest's; what it does not is nobody's. */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-virtio-mem.h"
#include "tide-test.h"

#define DISCARD TIDE_PCI_INTENT_DISCARD
#define WILLNEED TIDE_PCI_INTENT_WILLNEED

#define MACHINE_ARG "-m 272M,maxmem=8G "
#define DEVICE_ARG "-device virtio-mem-pci,id=v0,addr=5,memdev=vm,requested-size=512M"
#define ANON "memory-backend-ram"
#define MEMFD "memory-backend-memfd,share=on"
#define PRIVATE_MEMFD "memory-backend-memfd,share=off"

static Tide *start(const char *object, const char *device_props, const char *props)
{
    g_autofree char *args = g_strdup_printf(
        MACHINE_ARG "-object %s,id=vm,size=%dM " DEVICE_ARG "%s", object, VMEM_MB,
        device_props);

    return tide_start(args, props);
}

static Tide *start_anon(const char *props)
{
    return start(ANON, "", props);
}

static void stop(VMem *v)
{
    Tide *t = v->t;

    vmem_free(v);
    tide_stop(t);
}

static uint64_t gpa(VMem *v, uint32_t extent)
{
    return v->base + extent * EXTENT;
}

static Answer ask(VMem *v, uint32_t first, uint32_t extents, uint16_t intent)
{
    return tide_ask(v->t, gpa(v, first), extents, intent);
}

/* Refused for all intents, and nothing happened. */
static void out_of_range(VMem *v, uint32_t first, uint32_t extents)
{
    uint64_t calls = tide_counter(v->t, "madvise-calls");
    uint64_t present = vmem_present(v, first, extents);

    for (uint16_t i = DISCARD; i <= WILLNEED; i++) {
        Answer a = ask(v, first, extents, i);

        g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_RANGE);
        g_assert_cmpuint(a.done, ==, 0);
        g_assert_cmphex(a.flags, ==, 0);
    }
    g_assert_cmpuint(tide_counter(v->t, "madvise-calls"), ==, calls);
    g_assert_cmpuint(vmem_present(v, first, extents), ==, present);
}

static void discarded(VMem *v, uint32_t first, uint32_t extents)
{
    Answer a = ask(v, first, extents, DISCARD);

    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.done, ==, extents);
    g_assert_cmphex(a.flags, ==, TIDE_PCI_CPL_ZEROED);
    g_assert_cmpuint(vmem_present(v, first, extents), ==, 0);
}

/* Not plugged, plugged, not plugged. */
static void test_plugged(gconstpointer object)
{
    Tide *t = start(object, "", "");
    VMem *v = vmem_probe(t);

    out_of_range(v, 0, 4);
    g_assert_cmpuint(vmem_present(v, 0, VMEM_MB / 2), ==, 0);

    vmem_plug(v, 0, 4);
    ram_fill(t, gpa(v, 0), 4, 0x5a);
    g_assert_cmpuint(vmem_present(v, 0, 4), ==, 4 * EXTENT);
    discarded(v, 1, 2);
    g_assert_cmpuint(tide_counter(t, "discard-verified-bytes"), ==, 2 * EXTENT);
    g_assert_cmpuint(tide_counter(t, "discarded-now-bytes"), ==, 2 * EXTENT);
    g_assert_true(ram_is(t, gpa(v, 1), 2, 0));
    g_assert_true(ram_is(t, gpa(v, 0), 1, 0x5a));
    g_assert_true(ram_is(t, gpa(v, 3), 1, 0x5a));
    g_assert_cmpuint(ask(v, 1, 2, WILLNEED).action, ==, TIDE_PCI_ACTION_POPULATE);
    g_assert_cmpuint(vmem_present(v, 0, 4), ==, 4 * EXTENT);

    vmem_unplug(v, 0, 4);
    g_assert_cmpuint(vmem_present(v, 0, 4), ==, 0);
    out_of_range(v, 0, 4);
    out_of_range(v, 3, 1);
    vmem_plug(v, 3, 1);
    discarded(v, 3, 1);
    out_of_range(v, 0, 3);
    stop(v);
}

/* A run is plugged as a whole or not at all. */
static void test_across(void)
{
    Tide *t = start_anon("");
    VMem *v = vmem_probe(t);

    vmem_plug(v, 8, 8);
    vmem_plug(v, 20, 4);
    ram_fill(t, gpa(v, 8), 8, 0x5a);
    ram_fill(t, gpa(v, 20), 4, 0x5a);
    out_of_range(v, 7, 2);
    out_of_range(v, 15, 2);
    out_of_range(v, 8, 16);
    out_of_range(v, 0, VMEM_MB / 2);
    g_assert_true(ram_is(t, gpa(v, 8), 8, 0x5a));
    g_assert_true(ram_is(t, gpa(v, 20), 4, 0x5a));

    /* Plugged in two pieces, named as one. */
    vmem_plug(v, 16, 4);
    discarded(v, 8, 16);
    vmem_unplug(v, 12, 1);
    out_of_range(v, 8, 16);
    discarded(v, 8, 4);
    discarded(v, 13, 11);
    stop(v);
}

/* Nor does memory that went, or came new, count as given back by reports. */
static void test_unplug_all(void)
{
    Tide *t = start_anon("");
    VMem *v = vmem_probe(t);

    vmem_plug(v, 0, 4);
    vmem_plug(v, 100, 4);
    discarded(v, 0, 4);
    discarded(v, 100, 4);
    g_assert_cmpuint(tide_counter(t, "discarded-now-bytes"), ==, 8 * EXTENT);
    vmem_unplug_all(v);
    g_assert_cmpuint(tide_counter(t, "discarded-now-bytes"), ==, 0);
    out_of_range(v, 0, 4);
    out_of_range(v, 100, 4);
    vmem_plug(v, 100, 4);
    g_assert_cmpuint(tide_counter(t, "discarded-now-bytes"), ==, 0);
    discarded(v, 100, 4);
    g_assert_cmpuint(tide_counter(t, "discarded-now-bytes"), ==, 4 * EXTENT);
    stop(v);
}

/* Half an extent is none. */
static void test_small_blocks(void)
{
    Tide *t = start(ANON, ",block-size=1M", "");
    VMem *v = vmem_probe(t);

    g_assert_cmpuint(v->block_size, ==, MiB);
    g_assert_cmpuint(vmem_request(v, VIRTIO_MEM_REQ_PLUG, gpa(v, 0), 3 * MiB), ==,
                     VIRTIO_MEM_RESP_ACK);
    discarded(v, 0, 1);
    out_of_range(v, 1, 1);
    out_of_range(v, 0, 2);
    g_assert_cmpuint(vmem_request(v, VIRTIO_MEM_REQ_PLUG, gpa(v, 0) + 3 * MiB, MiB),
                     ==, VIRTIO_MEM_RESP_ACK);
    discarded(v, 0, 2);
    g_assert_cmpuint(vmem_request(v, VIRTIO_MEM_REQ_UNPLUG, gpa(v, 0), MiB), ==,
                     VIRTIO_MEM_RESP_ACK);
    out_of_range(v, 0, 1);
    discarded(v, 1, 1);
    stop(v);
}

/* The device promised that what it plugs stays populated. */
static void test_prealloc(void)
{
    Tide *t = start(ANON, ",prealloc=on", "");
    VMem *v = vmem_probe(t);

    vmem_plug(v, 0, 4);
    g_assert_cmpuint(vmem_present(v, 0, 4), ==, 4 * EXTENT);
    g_assert_cmpuint(ask(v, 0, 4, DISCARD).status, ==, TIDE_PCI_ST_UNSUPPORTED);
    g_assert_cmpuint(vmem_present(v, 0, 4), ==, 4 * EXTENT);
    stop(v);
}

/* One slice in 31 ms: the last block goes while the first are in work. */
static void test_unplugged_in_work(void)
{
    Tide *t = start_anon(",slice=2M,max-bytes-per-second=67108864");
    VMem *v = vmem_probe(t);
    uint64_t present;
    Answer a;

    vmem_plug(v, 0, 128);
    tide_push(t, gpa(v, 0), 128, WILLNEED);
    tide_ring_doorbell(t);
    WAIT_FOR(vmem_present(v, 0, 128) >= 2 * EXTENT);
    vmem_unplug(v, 127, 1);
    a = tide_pop(t);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_RANGE);
    g_assert_cmpuint(a.done, >=, 2);
    g_assert_cmpuint(a.done, <, 127);
    g_assert_cmphex(a.flags, ==, TIDE_PCI_CPL_PARTIAL);
    g_assert_cmpuint(a.action, ==, TIDE_PCI_ACTION_POPULATE);
    present = vmem_present(v, 0, VMEM_MB / 2);
    g_assert_cmpuint(present, ==, a.done * EXTENT);
    tide_settle();
    g_assert_cmpuint(vmem_present(v, 0, VMEM_MB / 2), ==, present);
    discarded(v, 0, 127);
    stop(v);
}

/*
 * Whatever the worker was in when the memory went: once the guest has heard
 * that it is unplugged, none of it is there, and none comes back.
 */
static void test_nothing_comes_back(gconstpointer object)
{
    Tide *t = start(object, "", "");
    VMem *v = vmem_probe(t);
    unsigned cut_short = 0;

    for (unsigned i = 0; i < 40; i++) {
        vmem_plug(v, 0, 256);
        tide_push(t, gpa(v, 0), 256, WILLNEED);
        tide_ring_doorbell(t);
        WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == t->sq_tail);
        g_usleep(i * 200);
        vmem_unplug_all(v);
        g_assert_cmpuint(vmem_present(v, 0, VMEM_MB / 2), ==, 0);
        cut_short += tide_pop(t).status == TIDE_PCI_ST_RANGE;
        g_assert_cmpuint(vmem_present(v, 0, VMEM_MB / 2), ==, 0);
    }
    g_assert_cmpuint(cut_short, >, 0);
    stop(v);
}

/* A guest that reboots starts with nothing plugged. */
static void test_reset(void)
{
    Tide *t = start_anon("");
    VMem *v = vmem_probe(t);

    vmem_plug(v, 0, 8);
    discarded(v, 0, 8);
    ram_fill(t, gpa(v, 0), 8, 0x5a);
    vmem_free(v);
    qtest_system_reset(t->qts);
    tide_probe(t);
    tide_enable(t, 0);
    v = vmem_probe(t);
    g_assert_cmpuint(vmem_present(v, 0, 8), ==, 0);
    out_of_range(v, 0, 8);
    vmem_plug(v, 0, 8);
    discarded(v, 0, 8);
    stop(v);
}

/*
 * What is plugged goes along. Descriptors that were in work, or queued, are
 * judged by it on the other side.
 */
static void test_snapshot(gconstpointer device_props)
{
    g_autofree char *args = g_strdup_printf(
        MACHINE_ARG "-object " ANON ",id=vm,size=%dM " DEVICE_ARG "%s", VMEM_MB,
        (const char *)device_props);
    const char *props = ",slice=2M,max-bytes-per-second=67108864";
    g_autofree char *path = tide_scratch_path();
    Tide *t = tide_start(args, props);
    VMem *v = vmem_probe(t);
    Answer a;

    vmem_plug(v, 0, 8);
    vmem_plug(v, 32, 16);
    ram_fill(t, gpa(v, 0), 8, 0x5a);
    tide_push(t, gpa(v, 32), 16, WILLNEED);
    tide_ring_doorbell(t);
    WAIT_FOR(tide_index(t, TIDE_PCI_INDEX_SQ_HEAD) == 1);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    g_assert_cmpuint(tide_index(t, TIDE_PCI_INDEX_CQ_TAIL), ==, 0);
    tide_push(t, gpa(v, 8), 8, WILLNEED);
    tide_push(t, gpa(v, 6), 4, DISCARD);
    tide_push(t, gpa(v, 0), 2, DISCARD);
    tide_ring_doorbell(t);
    tide_save(t, path);
    vmem_free(v);

    t = tide_restore(t, args, props, path);
    v = vmem_probe(t);
    for (unsigned i = 0; i < 4; i++) {
        a = tide_pop(t);
        g_assert_cmpuint(a.status, ==, a.cookie == 0 || a.cookie == 3 ?
                         TIDE_PCI_ST_OK : TIDE_PCI_ST_RANGE);
    }
    g_assert_cmpuint(vmem_present(v, 32, 16), ==, 16 * EXTENT);
    g_assert_cmpuint(vmem_present(v, 8, 24), ==, 0);
    g_assert_true(ram_is(t, gpa(v, 0), 2, 0));
    g_assert_true(ram_is(t, gpa(v, 2), 6, 0x5a));
    vmem_unplug(v, 4, 4);
    out_of_range(v, 2, 4);
    discarded(v, 2, 2);
    vmem_plug(v, 4, 16);
    discarded(v, 4, 16);
    stop(v);
    unlink(path);
}

/* ---- Devices that come and go; ACPI's hotplug is what the pc machine has ---- */

static Tide *start_pc(const char *args)
{
    g_autofree char *all = g_strdup_printf("-machine pc " MACHINE_ARG "%s", args);

    return tide_start(all, "");
}

static void add_virtio_mem(Tide *t)
{
    qtest_qmp_device_add(t->qts, "virtio-mem-pci", "v0",
                         "{ 'addr': '0x5', 'memdev': 'vm', "
                         "'requested-size': 536870912 }");
}

/* The one that holds off VFIO and the one that discards on request get along. */
static void test_hotplug(void)
{
    Tide *t = start_pc("");
    VMem *v;

    g_assert_cmpuint(tide_ask(t, 4 * GiB, 1, DISCARD).status, ==, TIDE_PCI_ST_RANGE);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'object-add', 'arguments': "
        "{ 'qom-type': 'memory-backend-ram', 'id': 'vm', 'size': 553648128 } }");
    add_virtio_mem(t);
    v = vmem_probe(t);
    out_of_range(v, 0, 4);
    vmem_plug(v, 0, 4);
    ram_fill(t, gpa(v, 0), 4, 0x5a);
    discarded(v, 0, 4);
    stop(v);
}

/* A device that goes must not take the memory with it; the next one finds it. */
static void test_tide_comes_and_goes(void)
{
    Tide *t = start_pc("-object memory-backend-ram,id=vm,size=528M " DEVICE_ARG);
    VMem *v = vmem_probe(t);

    vmem_plug(v, 0, 8);
    ram_fill(t, gpa(v, 0), 8, 0x5a);
    discarded(v, 0, 4);
    qpci_unplug_acpi_device_test(t->qts, "tide0", 4);
    g_assert_true(ram_is(t, gpa(v, 4), 4, 0x5a));
    vmem_plug(v, 8, 4);
    vmem_unplug(v, 4, 2);
    ram_fill(t, gpa(v, 8), 4, 0x5a);

    qtest_qmp_device_add(t->qts, "tide", "tide0", "{ 'addr': '0x4' }");
    vmem_free(v);
    tide_probe(t);
    tide_enable(t, 0);
    v = vmem_probe(t);
    g_assert_true(ram_is(t, gpa(v, 6), 6, 0x5a));
    out_of_range(v, 4, 2);
    discarded(v, 6, 6);
    stop(v);
}

#if QEMU_VERSION_MAJOR >= 9

static void set_requested_size(Tide *t, uint64_t bytes)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'qom-set', 'arguments': { "
        "'path': '/machine/peripheral/v0', 'property': 'requested-size', "
        "'value': %" PRIu64 " } }", bytes);
}

/* It can go once nothing of it is plugged; its memory is no target any more. */
static void test_device_del(void)
{
    Tide *t = start_pc("-object memory-backend-ram,id=vm,size=528M " DEVICE_ARG);
    VMem *v = vmem_probe(t);
    uint64_t base = v->base;

    vmem_plug(v, 0, 4);
    qobject_unref(qtest_qmp_assert_failure_ref(t->qts,
        "{ 'execute': 'device_del', 'arguments': { 'id': 'v0' } }"));
    discarded(v, 0, 4);
    vmem_unplug(v, 0, 4);
    set_requested_size(t, 0);
    vmem_free(v);
    qpci_unplug_acpi_device_test(t->qts, "v0", VMEM_SLOT);
    g_assert_cmpuint(tide_ask(t, base, 4, DISCARD).status, ==, TIDE_PCI_ST_RANGE);

    add_virtio_mem(t);
    v = vmem_probe(t);
    out_of_range(v, 0, 4);
    vmem_plug(v, 0, 4);
    discarded(v, 0, 4);
    vmem_unplug_all(v);
    set_requested_size(t, 0);
    vmem_free(v);
    qpci_unplug_acpi_device_test(t->qts, "v0", VMEM_SLOT);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'object-del', 'arguments': "
                             "{ 'id': 'vm' } }");
    g_assert_cmpuint(tide_ask(t, base, 4, DISCARD).status, ==, TIDE_PCI_ST_RANGE);
    tide_stop(t);
}

/*
 * dynamic-memslots=on maps 1 GiB at a time, and only what has something
 * plugged. A guest does not know of that, so a run may cross it.
 */
static void test_memslots(void)
{
    const uint32_t second = GiB / EXTENT;
    Tide *t = tide_start(MACHINE_ARG "-object memory-backend-ram,id=vm,size=2560M "
                         "-device virtio-mem-pci,id=v0,addr=5,memdev=vm,"
                         "requested-size=2560M,dynamic-memslots=on", "");
    VMem *v = vmem_probe(t);
    Answer a;

    a = ask(v, second, 4, DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_RANGE);
    vmem_plug(v, second, 4);
    ram_fill(t, gpa(v, second), 4, 0x5a);
    a = ask(v, second, 4, DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_true(ram_is(t, gpa(v, second), 4, 0));
    a = ask(v, second - 4, 8, DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_RANGE);

    vmem_plug(v, second - 4, 4);
    ram_fill(t, gpa(v, second - 4), 8, 0x5a);
    a = ask(v, second - 4, 8, DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    g_assert_cmpuint(a.done, ==, 8);
    g_assert_true(ram_is(t, gpa(v, second - 4), 8, 0));

    vmem_unplug(v, second, 4);
    a = ask(v, second, 4, DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_RANGE);
    a = ask(v, second - 4, 4, DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    vmem_unplug_all(v);
    a = ask(v, second - 4, 4, DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_RANGE);
    vmem_plug(v, second + second - 2, 4);
    a = ask(v, second + second - 2, 4, DISCARD);
    g_assert_cmpuint(a.status, ==, TIDE_PCI_ST_OK);
    stop(v);
}

#endif

void tide_add_virtio_mem_tests(void)
{
    qtest_add_data_func("/tide/virtio-mem/plugged", ANON, test_plugged);
    qtest_add_data_func("/tide/virtio-mem/memfd", MEMFD, test_plugged);
    qtest_add_data_func("/tide/virtio-mem/private-memfd", PRIVATE_MEMFD,
                        test_plugged);
    qtest_add_func("/tide/virtio-mem/across", test_across);
    qtest_add_func("/tide/virtio-mem/unplug-all", test_unplug_all);
    qtest_add_func("/tide/virtio-mem/small-blocks", test_small_blocks);
    qtest_add_func("/tide/virtio-mem/prealloc", test_prealloc);
    qtest_add_func("/tide/virtio-mem/unplugged-in-work", test_unplugged_in_work);
    qtest_add_data_func("/tide/virtio-mem/nothing-comes-back", ANON,
                        test_nothing_comes_back);
    qtest_add_data_func("/tide/virtio-mem/nothing-comes-back-memfd", MEMFD,
                        test_nothing_comes_back);
    qtest_add_func("/tide/virtio-mem/reset", test_reset);
    qtest_add_data_func("/tide/virtio-mem/snapshot", "", test_snapshot);
    qtest_add_func("/tide/virtio-mem/hotplug", test_hotplug);
    qtest_add_func("/tide/virtio-mem/tide-comes-and-goes", test_tide_comes_and_goes);
#if QEMU_VERSION_MAJOR >= 9
    qtest_add_func("/tide/virtio-mem/device-del", test_device_del);
    qtest_add_func("/tide/virtio-mem/memslots", test_memslots);
    /* What older machine types do: what is plugged is sent after RAM. */
    qtest_add_data_func("/tide/virtio-mem/snapshot-late", ",x-early-migration=off",
                        test_snapshot);
#endif
}
