/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests: a device that forbids RAM discards while its property says so,
 * as an assigned device does for as long as it is there; and what the host takes
 * for a discard when nobody but a thread of QEMU's own is asked for it.
 */

#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qemu/thread.h"
#include "qapi/error.h"
#include "qapi/qapi-builtin-visit.h"
#include "qapi/visitor.h"
#include "hw/misc/tide-compat.h"

#define TYPE_TIDE_TESTDEV "tide-testdev"
OBJECT_DECLARE_SIMPLE_TYPE(TideTestdev, TIDE_TESTDEV)

struct TideTestdev {
    DeviceState parent_obj;
    bool inhibit;
    uint64_t raw_us;            /* that the last raw discard took */
};

static bool tide_testdev_get(Object *obj, Error **errp)
{
    return TIDE_TESTDEV(obj)->inhibit;
}

static void tide_testdev_set(Object *obj, bool value, Error **errp)
{
    TideTestdev *t = TIDE_TESTDEV(obj);

    if (value == t->inhibit) {
        return;
    }
    if (ram_block_discard_disable(value)) {
        error_setg(errp, "somebody relies on discards");
        return;
    }
    t->inhibit = value;
}

typedef struct TideRaw {
    void *host;
    uint64_t len;
    uint64_t us;
} TideRaw;

static void *tide_testdev_madvise(void *opaque)
{
    TideRaw *raw = opaque;
    gint64 from = g_get_monotonic_time();

    if (madvise(raw->host, raw->len, MADV_DONTNEED)) {
        abort();
    }
    raw->us = g_get_monotonic_time() - from;
    return NULL;
}

/* The last bytes of the machine's RAM; on another thread, as the device does it. */
static void tide_testdev_set_raw(Object *obj, Visitor *v, const char *name,
                                 void *opaque, Error **errp)
{
    MemoryRegion *ram = MACHINE(qdev_get_machine())->ram;
    TideRaw raw = { 0 };
    QemuThread thread;

    if (!visit_type_uint64(v, name, &raw.len, errp)) {
        return;
    }
    if (raw.len > memory_region_size(ram)) {
        error_setg(errp, "the machine has less RAM than that");
        return;
    }
    raw.host = (uint8_t *)memory_region_get_ram_ptr(ram) + memory_region_size(ram) -
        raw.len;
    qemu_thread_create(&thread, "raw", tide_testdev_madvise, &raw,
                       QEMU_THREAD_JOINABLE);
    qemu_thread_join(&thread);
    TIDE_TESTDEV(obj)->raw_us = raw.us;
}

static void tide_testdev_get_raw(Object *obj, Visitor *v, const char *name,
                                 void *opaque, Error **errp)
{
    visit_type_uint64(v, name, &TIDE_TESTDEV(obj)->raw_us, errp);
}

static void tide_testdev_finalize(Object *obj)
{
    tide_testdev_set(obj, false, &error_abort);
}

static void tide_testdev_class_init(ObjectClass *klass, TIDE_CLASS_DATA)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->desc = "Tide: a stand-in for a device that pins guest memory";
    dc->user_creatable = true;
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    object_class_property_add_bool(klass, "inhibit", tide_testdev_get,
                                   tide_testdev_set);
    object_class_property_add(klass, "raw-discard", "uint64", tide_testdev_get_raw,
                              tide_testdev_set_raw, NULL, NULL);
}

static const TypeInfo tide_testdev_info = {
    .name = TYPE_TIDE_TESTDEV,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(TideTestdev),
    .instance_finalize = tide_testdev_finalize,
    .class_init = tide_testdev_class_init,
};

static void tide_testdev_register_types(void)
{
    type_register_static(&tide_testdev_info);
}

type_init(tide_testdev_register_types)
