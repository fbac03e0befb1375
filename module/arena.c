// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arenas: file descriptors that own extents.
 *
 * Each arena is a file of a small pseudo file system, so that it has an inode,
 * and with it a mapping, of its own: that is where its mappings are found.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "tide.h"

#define TIDE_FS_MAGIC	0x54494445

static struct vfsmount *arena_mnt;
static int arena_mnt_count;

static int arena_fs_init_context(struct fs_context *fc)
{
	return init_pseudo(fc, TIDE_FS_MAGIC) ? 0 : -ENOMEM;
}

static struct file_system_type arena_fs_type = {
	.name			= "tide",
	.owner			= THIS_MODULE,
	.init_fs_context	= arena_fs_init_context,
	.kill_sb		= kill_anon_super,
};

static void arena_last_put(struct kref *ref)
{
	struct tide_arena *arena = container_of(ref, struct tide_arena, ref);

	WARN_ON_ONCE(arena->nr_in_flight);
	xa_destroy(&arena->extents);
	if (arena->last_drain)
		tide_request_put(arena->last_drain);
	tide_dev_put(arena->dev);
	kfree(arena);
}

/**
 * tide_arena_put() - let go of an arena
 * @arena: arena
 */
void tide_arena_put(struct tide_arena *arena)
{
	kref_put(&arena->ref, arena_last_put);
}

/**
 * tide_arena_range() - check a range given by user space
 * @arena: arena
 * @offset: in bytes
 * @len: in bytes
 * @first: set to the first extent's index
 * @count: set to the number of extents
 *
 * Return: 0, -EINVAL if unaligned, empty or wrapping, -ERANGE if it ends beyond
 * the arena.
 */
int tide_arena_range(struct tide_arena *arena, u64 offset, u64 len,
		     unsigned long *first, unsigned long *count)
{
	u64 end;

	if (!len || !IS_ALIGNED(offset | len, TIDE_EXTENT_SIZE) ||
	    check_add_overflow(offset, len, &end))
		return -EINVAL;
	if (end >> TIDE_EXTENT_SHIFT > arena->max_extents)
		return -ERANGE;
	*first = offset >> TIDE_EXTENT_SHIFT;
	*count = len >> TIDE_EXTENT_SHIFT;
	return 0;
}

static bool range_in_flight(struct tide_arena *arena, unsigned long first,
			    unsigned long count)
{
	struct tide_extent *ext;
	unsigned long i;
	bool found = false;

	spin_lock(&arena->state_lock);
	if (arena->nr_in_flight)
		xa_for_each_range(&arena->extents, i, ext, first,
				  first + count - 1)
			if (ext->state == TIDE_EXTENT_REPORTED) {
				found = true;
				break;
			}
	spin_unlock(&arena->state_lock);
	return found;
}

/**
 * tide_arena_lock_idle() - lock an arena for changes while no report of a range
 *	is in flight
 * @arena: arena
 * @first: first extent of the range
 * @count: number of extents
 *
 * Return: 0 with arena->lock held for writing, or -EINTR on a fatal signal.
 */
int tide_arena_lock_idle(struct tide_arena *arena, unsigned long first,
			 unsigned long count)
{
	for (;;) {
		if (down_write_killable(&arena->lock))
			return -EINTR;
		if (!range_in_flight(arena, first, count))
			return 0;
		up_write(&arena->lock);
		if (wait_event_killable(arena->idle,
					!range_in_flight(arena, first, count)))
			return -EINTR;
	}
}

static bool range_has_extents(struct tide_arena *arena, unsigned long first,
			      unsigned long count)
{
	unsigned long i = first;

	return xa_find(&arena->extents, &i, first + count - 1, XA_PRESENT);
}

/* Hands @extents, zero and not mapped by anyone, to the arena from @first on. */
static int commit(struct tide_arena *arena, unsigned long first,
		  struct list_head *extents)
{
	struct tide_dev *dev = arena->dev;
	struct tide_extent *ext, *tmp;
	unsigned long i = first;
	int rc;

	lockdep_assert_held_write(&arena->lock);

	list_for_each_entry(ext, extents, node) {
		rc = xa_insert(&arena->extents, i, ext, GFP_KERNEL);
		if (rc)
			goto out_erase;
		ext->index = i++;
	}
	spin_lock(&arena->state_lock);
	arena->nr_committed += i - first;
	list_for_each_entry_safe(ext, tmp, extents, node) {
		list_del_init(&ext->node);
		ext->zero = false;
		tide_extent_move(&dev->extents, ext, TIDE_EXTENT_OWNED);
	}
	spin_unlock(&arena->state_lock);
	return 0;

out_erase:
	while (i-- > first)
		xa_erase(&arena->extents, i);
	return rc == -EBUSY ? -EEXIST : rc;
}

/* Takes @want zeroed extents from the pool, or @got of them if @partial. */
static int take_zeroed(struct tide_dev *dev, unsigned long want, bool partial,
		       struct list_head *extents, unsigned long *got)
{
	int rc;

	do {
		if (want > dev->pool.size_extents && !partial)
			return -ENOMEM;
		*got = tide_pool_get(&dev->pool,
				     min(want, dev->pool.size_extents),
				     extents);
		if (fatal_signal_pending(current))
			rc = -EINTR;
		else if (*got < want && !partial)
			rc = -ENOMEM;
		else
			rc = tide_extents_zero(dev, extents);
		if (rc)
			tide_pool_put(&dev->pool, extents);
		/* The device died: without it the guest clears what it hands out. */
	} while (rc == -EIO);
	return rc;
}

/**
 * tide_arena_alloc() - TIDE_IOC_ALLOC
 * @arena: arena
 * @arg: see uapi
 *
 * Return: 0 or -errno as in uapi.
 */
int tide_arena_alloc(struct tide_arena *arena, struct tide_alloc *arg)
{
	struct tide_dev *dev = arena->dev;
	unsigned long first, count, got;
	LIST_HEAD(extents);
	int rc;

	if (arg->flags & ~TIDE_ALLOC_PARTIAL || arg->allocated)
		return -EINVAL;
	rc = tide_arena_range(arena, arg->offset, arg->len, &first, &count);
	if (rc)
		return rc;
	/* Looked at again below; here it only spares the pool. */
	if (range_has_extents(arena, first, count))
		return -EEXIST;

	rc = take_zeroed(dev, count, arg->flags & TIDE_ALLOC_PARTIAL, &extents,
			 &got);
	if (rc)
		return rc;
	tide_extents_sort(&extents);

	if (down_write_killable(&arena->lock)) {
		rc = -EINTR;
		goto out_put;
	}
	if (range_has_extents(arena, first, count))
		rc = -EEXIST;
	else
		rc = commit(arena, first, &extents);
	up_write(&arena->lock);
	if (!rc)
		arg->allocated = (u64)got << TIDE_EXTENT_SHIFT;
out_put:
	tide_pool_put(&dev->pool, &extents);
	return rc;
}

/*
 * Takes a range away from the arena and adds it to @req, but for what a report
 * in flight holds. The caller removes the mappings before it sends @req.
 */
static unsigned long uncommit(struct tide_arena *arena, unsigned long first,
			      unsigned long last, struct tide_request *req)
{
	struct tide_dev *dev = arena->dev;
	struct tide_extent *ext;
	unsigned long i, nr = 0;

	spin_lock(&arena->state_lock);
	xa_for_each_range(&arena->extents, i, ext, first, last) {
		if (ext->state == TIDE_EXTENT_REPORTED)
			continue;
		xa_erase(&arena->extents, i);
		arena->nr_committed--;
		nr++;
		/* Quarantined: lost on purpose. */
		if (ext->state == TIDE_EXTENT_OWNED) {
			tide_extent_move(&dev->extents, ext,
					 TIDE_EXTENT_DRAINING);
			tide_request_add(req, ext);
		}
	}
	spin_unlock(&arena->state_lock);
	return nr;
}

/**
 * tide_arena_free() - TIDE_IOC_FREE
 * @arena: arena
 * @arg: see uapi
 *
 * Return: 0 or -errno as in uapi.
 */
int tide_arena_free(struct tide_arena *arena, struct tide_free *arg)
{
	unsigned long first, count, freed;
	struct tide_request *req;
	int rc;

	if (arg->flags || arg->freed)
		return -EINVAL;
	rc = tide_arena_range(arena, arg->offset, arg->len, &first, &count);
	if (rc)
		return rc;
	req = tide_drain_new(arena->dev);
	if (!req)
		return -ENOMEM;

	rc = tide_arena_lock_idle(arena, first, count);
	if (rc)
		goto out_put;
	freed = uncommit(arena, first, first + count - 1, req);
	up_write(&arena->lock);

	/* Faults find nothing any more; now remove what they found before. */
	if (freed)
		unmap_mapping_range(arena->mapping, arg->offset, arg->len, 1);
	arg->freed = (u64)freed << TIDE_EXTENT_SHIFT;
	tide_request_submit_one(req);
out_put:
	tide_request_put(req);
	return rc;
}

/**
 * tide_arena_query() - TIDE_IOC_QUERY
 * @arena: arena
 * @arg: filled
 */
void tide_arena_query(struct tide_arena *arena, struct tide_query *arg)
{
	spin_lock(&arena->state_lock);
	arg->id = arena->id;
	arg->max_bytes = (u64)arena->max_extents << TIDE_EXTENT_SHIFT;
	arg->committed_bytes = (u64)arena->nr_committed << TIDE_EXTENT_SHIFT;
	arg->in_flight_bytes = (u64)arena->nr_in_flight << TIDE_EXTENT_SHIFT;
	arg->reports = arena->reports;
	arg->reported_bytes = arena->reported_bytes;
	arg->acted_bytes = arena->acted_bytes;
	arg->failed_reports = arena->failed_reports;
	memcpy(arg->name, arena->name, sizeof(arg->name));
	spin_unlock(&arena->state_lock);
}

static void arena_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct tide_query q = {};

	tide_arena_query(file->private_data, &q);
	seq_printf(m, "tide-arena:\t%llu\n", q.id);
	seq_puts(m, "tide-name:\t");
	seq_escape(m, q.name, "\n\\");
	seq_putc(m, '\n');
	seq_printf(m, "tide-max-bytes:\t%llu\n", q.max_bytes);
	seq_printf(m, "tide-committed-bytes:\t%llu\n", q.committed_bytes);
	seq_printf(m, "tide-in-flight-bytes:\t%llu\n", q.in_flight_bytes);
	seq_printf(m, "tide-reports:\t%llu\n", q.reports);
	seq_printf(m, "tide-reported-bytes:\t%llu\n", q.reported_bytes);
	seq_printf(m, "tide-acted-bytes:\t%llu\n", q.acted_bytes);
}

static int arena_release(struct inode *inode, struct file *file)
{
	struct tide_arena *arena = file->private_data;
	struct tide_request *req = arena->last_drain;

	/* No mapping holds the file any more, and nobody else calls in. */
	spin_lock(&arena->state_lock);
	arena->dying = true;
	spin_unlock(&arena->state_lock);
	uncommit(arena, 0, ULONG_MAX, req);
	tide_request_submit_one(req);
	tide_arena_put(arena);
	simple_release_fs(&arena_mnt, &arena_mnt_count);
	return 0;
}

static const struct file_operations arena_fops = {
	.owner			= THIS_MODULE,
	.release		= arena_release,
	.unlocked_ioctl		= tide_arena_ioctl,
	.compat_ioctl		= compat_ptr_ioctl,
	.mmap			= tide_arena_mmap,
	.get_unmapped_area	= thp_get_unmapped_area,
	.show_fdinfo		= arena_show_fdinfo,
};

/* Makes the file; it then owns @arena. */
static struct file *arena_file(struct tide_arena *arena)
{
	struct inode *inode;
	struct file *file;
	int rc;

	rc = simple_pin_fs(&arena_fs_type, &arena_mnt, &arena_mnt_count);
	if (rc)
		return ERR_PTR(rc);
	inode = alloc_anon_inode(arena_mnt->mnt_sb);
	if (IS_ERR(inode)) {
		file = ERR_CAST(inode);
		goto out_unpin;
	}
	file = alloc_file_pseudo(inode, arena_mnt, "tide-arena", O_RDWR,
				 &arena_fops);
	if (IS_ERR(file))
		goto out_iput;

	/* The file's, dropped with it; the caller's own holds until then. */
	__module_get(THIS_MODULE);
	arena->mapping = file->f_mapping;
	file->private_data = arena;
	return file;

out_iput:
	iput(inode);
out_unpin:
	simple_release_fs(&arena_mnt, &arena_mnt_count);
	return file;
}

static struct tide_arena *arena_new(struct tide_dev *dev,
				    const struct tide_arena_create *arg)
{
	struct tide_arena *arena = kzalloc(sizeof(*arena), GFP_KERNEL_ACCOUNT);

	if (!arena)
		return NULL;
	arena->last_drain = tide_drain_new(dev);
	if (!arena->last_drain) {
		kfree(arena);
		return NULL;
	}
	tide_dev_get(dev);
	kref_init(&arena->ref);
	arena->dev = dev;
	arena->id = atomic64_inc_return(&dev->nr_arenas);
	arena->max_extents = arg->max_bytes >> TIDE_EXTENT_SHIFT ?:
			     dev->pool.size_extents;
	memcpy(arena->name, arg->name, sizeof(arena->name));
	init_rwsem(&arena->lock);
	xa_init(&arena->extents);
	spin_lock_init(&arena->state_lock);
	init_waitqueue_head(&arena->idle);
	return arena;
}

/**
 * tide_arena_create() - TIDE_IOC_ARENA_CREATE
 * @dev: the device
 * @arg: see uapi; @fd is set and open
 *
 * Return: 0 or -errno as in uapi.
 */
int tide_arena_create(struct tide_dev *dev, struct tide_arena_create *arg)
{
	struct tide_arena *arena;
	struct file *file;
	int fd;

	if (arg->flags || arg->fd || arg->reserved ||
	    !IS_ALIGNED(arg->max_bytes, TIDE_EXTENT_SIZE) ||
	    arg->max_bytes > MAX_LFS_FILESIZE ||
	    strnlen(arg->name, sizeof(arg->name)) == sizeof(arg->name))
		return -EINVAL;
	if (READ_ONCE(dev->gone))
		return -ENODEV;

	arena = arena_new(dev, arg);
	if (!arena)
		return -ENOMEM;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		tide_arena_put(arena);
		return fd;
	}
	file = arena_file(arena);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		tide_arena_put(arena);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	arg->fd = fd;
	return 0;
}
