// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs attributes of the device; documented in
 * docs/ABI/testing/sysfs-bus-pci-drivers-tide.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "tide.h"

static struct tide_dev *to_tide(struct device *d)
{
	return dev_get_drvdata(d);
}

static u64 extents_to_bytes(unsigned long extents)
{
	return (u64)extents << TIDE_EXTENT_SHIFT;
}

#define TIDE_ATTR_RO(_group, _name, _fmt, _value)			\
static ssize_t _group##_##_name##_show(struct device *d,		\
				       struct device_attribute *attr,	\
				       char *buf)			\
{									\
	struct tide_dev *dev = to_tide(d);				\
									\
	return sysfs_emit(buf, _fmt "\n", _value);			\
}									\
static struct device_attribute _group##_##_name =			\
	__ATTR(_name, 0444, _group##_##_name##_show, NULL)

TIDE_ATTR_RO(pool, backend, "%s", dev->pool.ops->name);
TIDE_ATTR_RO(pool, size_bytes, "%llu",
	     extents_to_bytes(dev->pool.size_extents));
TIDE_ATTR_RO(pool, carved_bytes, "%llu",
	     extents_to_bytes(atomic_long_read(&dev->pool.nr_carved)));
TIDE_ATTR_RO(pool, cached_bytes, "%llu",
	     extents_to_bytes(READ_ONCE(dev->pool.nr_cached)));
TIDE_ATTR_RO(pool, floor_bytes, "%llu", dev->pool.floor_bytes);

static struct attribute *pool_attrs[] = {
	&pool_backend.attr,
	&pool_size_bytes.attr,
	&pool_carved_bytes.attr,
	&pool_cached_bytes.attr,
	&pool_floor_bytes.attr,
	NULL
};

#define TIDE_EXTENTS_RO(_name, _state)					\
	TIDE_ATTR_RO(extents, _name, "%ld",				\
		     atomic_long_read(&dev->extents.nr[_state]))

TIDE_EXTENTS_RO(carved, TIDE_EXTENT_CARVED);
TIDE_EXTENTS_RO(owned, TIDE_EXTENT_OWNED);
TIDE_EXTENTS_RO(reported, TIDE_EXTENT_REPORTED);
TIDE_EXTENTS_RO(draining, TIDE_EXTENT_DRAINING);
TIDE_EXTENTS_RO(quarantined, TIDE_EXTENT_QUARANTINED);

static struct attribute *extents_attrs[] = {
	&extents_carved.attr,
	&extents_owned.attr,
	&extents_reported.attr,
	&extents_draining.attr,
	&extents_quarantined.attr,
	NULL
};

#define TIDE_STAT_RO(_name, _stat)					\
	TIDE_ATTR_RO(reports, _name, "%lld", atomic64_read(&dev->stats._stat))

TIDE_STAT_RO(count, reports);
TIDE_STAT_RO(reported_bytes, reported_bytes);
TIDE_STAT_RO(acted_bytes, acted_bytes);
TIDE_STAT_RO(failed, failed);
TIDE_STAT_RO(discarded_bytes, discarded_bytes);
TIDE_STAT_RO(zeroed_by_guest_bytes, zeroed_by_guest_bytes);
TIDE_STAT_RO(device_resets, device_resets);

static struct attribute *reports_attrs[] = {
	&reports_count.attr,
	&reports_reported_bytes.attr,
	&reports_acted_bytes.attr,
	&reports_failed.attr,
	&reports_discarded_bytes.attr,
	&reports_zeroed_by_guest_bytes.attr,
	&reports_device_resets.attr,
	NULL
};

static const char *state_name(struct tide_dev *dev)
{
	switch (tide_dev_state(dev)) {
	case TIDE_DEVICE_OK:
		return "ok";
	case TIDE_DEVICE_INHIBITED:
		return "inhibited";
	default:
		return "degraded";
	}
}

TIDE_ATTR_RO(device, state, "%s", state_name(dev));
TIDE_ATTR_RO(device, features, "%#x", dev->features);
TIDE_ATTR_RO(device, queue_size, "%u", dev->ring.size);
TIDE_ATTR_RO(device, doorbells, "%llu", READ_ONCE(dev->ring.doorbells));
TIDE_ATTR_RO(device, answers, "%llu", READ_ONCE(dev->ring.answered));
TIDE_ATTR_RO(device, corrupt_answers, "%llu", READ_ONCE(dev->ring.corrupt));

static struct attribute *device_attrs[] = {
	&device_state.attr,
	&device_features.attr,
	&device_queue_size.attr,
	&device_doorbells.attr,
	&device_answers.attr,
	&device_corrupt_answers.attr,
	NULL
};

static const struct attribute_group pool_group = {
	.name = "tide_pool", .attrs = pool_attrs,
};

static const struct attribute_group extents_group = {
	.name = "tide_extents", .attrs = extents_attrs,
};

static const struct attribute_group reports_group = {
	.name = "tide_reports", .attrs = reports_attrs,
};

static const struct attribute_group device_group = {
	.name = "tide_device", .attrs = device_attrs,
};

const struct attribute_group *tide_groups[] = {
	&pool_group,
	&extents_group,
	&reports_group,
	&device_group,
	NULL
};
