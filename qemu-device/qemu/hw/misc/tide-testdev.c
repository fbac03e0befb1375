/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests: a device that forbids RAM discards while its property says so,
 * as an assigned device does for as long as it is there.
 */

#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/misc/tide-compat.h"

#define TYPE_TIDE_TESTDEV "tide-testdev"
OBJECT_DECLARE_SIMPLE_TYPE(TideTestdev, TIDE_TESTDEV)

struct TideTestdev {
    DeviceState parent_obj;
    bool inhibit;
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
