// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tide and the ioctls: structs come in and go out here, nowhere else.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "tide.h"

union tide_arg {
	struct {
		u32 size;
		u32 flags;
	} head;
	struct tide_info info;
	struct tide_arena_create create;
	struct tide_alloc alloc;
	struct tide_free free;
	struct tide_report report;
	struct tide_query query;
};

/**
 * struct tide_ioctl - one ioctl
 * @cmd: its number
 * @size: of its struct as we know it
 * @min_size: of its struct in the first version
 * @fn: handler; gets a &struct tide_dev or &struct tide_arena and a kernel copy
 */
struct tide_ioctl {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	int (*fn)(void *object, union tide_arg *arg);
};

#define TIDE_IOCTL(_cmd, _type, _last, _fn) {				\
	.cmd = _cmd,							\
	.size = sizeof(_type),						\
	.min_size = offsetofend(_type, _last),				\
	.fn = _fn,							\
}

static long dispatch(const struct tide_ioctl *table, size_t nr, void *object,
		     unsigned int cmd, unsigned long user_arg)
{
	void __user *user = (void __user *)user_arg;
	const struct tide_ioctl *ioctl = table;
	union tide_arg arg = {};
	u32 user_size;
	int rc;

	while (ioctl < table + nr && ioctl->cmd != cmd)
		ioctl++;
	if (ioctl == table + nr)
		return -ENOTTY;

	if (get_user(user_size, (u32 __user *)user))
		return -EFAULT;
	if (user_size < ioctl->min_size)
		return -EINVAL;
	rc = copy_struct_from_user(&arg, ioctl->size, user, user_size);
	if (rc)
		return rc;
	/* The size may have changed between the two reads. */
	arg.head.size = user_size;

	rc = ioctl->fn(object, &arg);
	if (rc)
		return rc;
	return copy_to_user(user, &arg, min(user_size, ioctl->size)) ? -EFAULT :
								       0;
}

static int do_info(void *object, union tide_arg *arg)
{
	struct tide_dev *dev = object;
	struct tide_info *info = &arg->info;
	atomic_long_t *nr = dev->extents.nr;

	if (info->flags || info->reserved)
		return -EINVAL;
	info->features = 0;
	info->extent_size = TIDE_EXTENT_SIZE;
	info->pool_bytes = (u64)dev->pool.size_extents << TIDE_EXTENT_SHIFT;
	info->carved_bytes = (u64)atomic_long_read(&dev->pool.nr_carved) <<
			     TIDE_EXTENT_SHIFT;
	info->owned_bytes = (u64)(atomic_long_read(&nr[TIDE_EXTENT_OWNED]) +
				  atomic_long_read(&nr[TIDE_EXTENT_REPORTED])) <<
			    TIDE_EXTENT_SHIFT;
	info->backend = dev->pool.ops->id;
	info->device_state = tide_dev_state(dev);
	info->intents = dev->intents;
	return 0;
}

static int do_arena_create(void *object, union tide_arg *arg)
{
	return tide_arena_create(object, &arg->create);
}

static int do_alloc(void *object, union tide_arg *arg)
{
	return tide_arena_alloc(object, &arg->alloc);
}

static int do_free(void *object, union tide_arg *arg)
{
	return tide_arena_free(object, &arg->free);
}

static int do_report(void *object, union tide_arg *arg)
{
	return tide_arena_report(object, &arg->report);
}

static int do_query(void *object, union tide_arg *arg)
{
	if (arg->query.flags)
		return -EINVAL;
	tide_arena_query(object, &arg->query);
	return 0;
}

static const struct tide_ioctl dev_ioctls[] = {
	TIDE_IOCTL(TIDE_IOC_INFO, struct tide_info, reserved, do_info),
	TIDE_IOCTL(TIDE_IOC_ARENA_CREATE, struct tide_arena_create, reserved,
		   do_arena_create),
};

static const struct tide_ioctl arena_ioctls[] = {
	TIDE_IOCTL(TIDE_IOC_ALLOC, struct tide_alloc, allocated, do_alloc),
	TIDE_IOCTL(TIDE_IOC_FREE, struct tide_free, freed, do_free),
	TIDE_IOCTL(TIDE_IOC_REPORT, struct tide_report, reserved, do_report),
	TIDE_IOCTL(TIDE_IOC_QUERY, struct tide_query, name, do_query),
};

/**
 * tide_arena_ioctl() - ioctls of an arena
 * @file: arena
 * @cmd: number
 * @arg: user pointer
 *
 * Return: 0 or -errno as in uapi.
 */
long tide_arena_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return dispatch(arena_ioctls, ARRAY_SIZE(arena_ioctls),
			file->private_data, cmd, arg);
}

static long dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return dispatch(dev_ioctls, ARRAY_SIZE(dev_ioctls), file->private_data,
			cmd, arg);
}

static int dev_open(struct inode *inode, struct file *file)
{
	struct tide_dev *dev = container_of(file->private_data, struct tide_dev,
					    misc);

	/* misc_deregister() waits for us, so that @dev is there still. */
	tide_dev_get(dev);
	file->private_data = dev;
	return nonseekable_open(inode, file);
}

static int dev_release(struct inode *inode, struct file *file)
{
	tide_dev_put(file->private_data);
	return 0;
}

const struct file_operations tide_dev_fops = {
	.owner		= THIS_MODULE,
	.open		= dev_open,
	.release	= dev_release,
	.unlocked_ioctl	= dev_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};
