// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pool: carves extents out of the guest's memory, keeps a few idle ones, and
 * gives the others back.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "tide.h"

/* Carved between two looks at limits and signals. */
#define CARVE_BATCH	64u

static struct tide_extent *cache_pop(struct tide_pool *pool)
{
	struct tide_extent *ext = NULL;

	spin_lock(&pool->lock);
	if (!list_empty(&pool->cached)) {
		ext = list_first_entry(&pool->cached, struct tide_extent, node);
		list_del_init(&ext->node);
		pool->nr_cached--;
	}
	spin_unlock(&pool->lock);
	return ext;
}

static void give_back(struct tide_pool *pool, struct tide_extent *ext)
{
	pool->ops->give_back(pool, ext->pfn);
	tide_extent_free(pool->counts, ext);
	atomic_long_dec(&pool->nr_carved);
}

/* Takes what it may keep of @incoming into the cache; the rest to the kernel. */
static void pool_put_work(struct work_struct *work)
{
	struct tide_pool *pool = container_of(work, struct tide_pool, put_work);
	struct tide_extent *ext, *tmp;
	LIST_HEAD(excess);

	spin_lock(&pool->lock);
	list_for_each_entry_safe(ext, tmp, &pool->incoming, node) {
		if (pool->nr_cached < pool->cache_extents) {
			list_move(&ext->node, &pool->cached);
			pool->nr_cached++;
		} else {
			list_move_tail(&ext->node, &excess);
		}
	}
	spin_unlock(&pool->lock);

	list_for_each_entry_safe(ext, tmp, &excess, node) {
		list_del(&ext->node);
		give_back(pool, ext);
		cond_resched();
	}
}

/**
 * tide_pool_put() - return extents
 * @pool: the pool
 * @extents: list of CARVED extents; emptied
 *
 * Never waits; may be called from the interrupt thread.
 */
void tide_pool_put(struct tide_pool *pool, struct list_head *extents)
{
	if (list_empty(extents))
		return;
	spin_lock(&pool->lock);
	list_splice_tail_init(extents, &pool->incoming);
	spin_unlock(&pool->lock);
	queue_work(tide_unbound_wq, &pool->put_work);
}

/* How many more may be carved, so that neither limit nor floor is crossed. */
static unsigned long carve_room(struct tide_pool *pool)
{
	unsigned long carved = atomic_long_read(&pool->nr_carved);
	u64 available = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT;
	unsigned long room = 0;

	if (pool->size_extents > carved)
		room = pool->size_extents - carved;
	if (available <= pool->floor_bytes)
		return 0;
	return min_t(u64, room,
		     (available - pool->floor_bytes) >> TIDE_EXTENT_SHIFT);
}

static unsigned int carve_batch(struct tide_pool *pool, unsigned int want,
				struct list_head *extents)
{
	unsigned long pfns[CARVE_BATCH];
	struct tide_extent *ext;
	unsigned int i, got, kept = 0;

	lockdep_assert_held(&pool->carve_lock);

	want = min3((unsigned long)want, (unsigned long)CARVE_BATCH,
		    carve_room(pool));
	if (!want)
		return 0;
	got = pool->ops->carve(pool, want, pfns);
	for (i = 0; i < got; i++) {
		ext = tide_extent_new(pool->counts, pfns[i]);
		if (!ext) {
			pool->ops->give_back(pool, pfns[i]);
			continue;
		}
		atomic_long_inc(&pool->nr_carved);
		list_add_tail(&ext->node, extents);
		kept++;
	}
	return kept;
}

/**
 * tide_pool_get() - take extents
 * @pool: the pool
 * @want: how many
 * @extents: they are added to it; CARVED, not all of them known to be zero
 *
 * Idle ones first, then freshly carved ones. Stops on a fatal signal.
 *
 * Return: how many; less than @want if the pool has no more now.
 */
unsigned int tide_pool_get(struct tide_pool *pool, unsigned int want,
			   struct list_head *extents)
{
	struct tide_extent *ext;
	unsigned int got = 0, batch;

	/* What is on its way back is as good as idle, and costs no carving. */
	flush_work(&pool->put_work);
	while (got < want && (ext = cache_pop(pool))) {
		list_add_tail(&ext->node, extents);
		got++;
	}
	if (got == want || mutex_lock_killable(&pool->carve_lock))
		return got;

	while (got < want && !fatal_signal_pending(current)) {
		batch = carve_batch(pool, want - got, extents);
		if (!batch)
			break;
		got += batch;
		cond_resched();
	}
	mutex_unlock(&pool->carve_lock);
	return got;
}

static unsigned long shrink_count(struct shrinker *shrinker,
				  struct shrink_control *sc)
{
	struct tide_pool *pool = tide_shrinker_data(shrinker);
	unsigned long nr = READ_ONCE(pool->nr_cached);

	return nr ? nr * TIDE_EXTENT_PAGES : SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *shrinker,
				 struct shrink_control *sc)
{
	struct tide_pool *pool = tide_shrinker_data(shrinker);
	unsigned long freed = 0;
	struct tide_extent *ext;

	while (freed < sc->nr_to_scan) {
		ext = cache_pop(pool);
		if (!ext)
			break;
		give_back(pool, ext);
		freed += TIDE_EXTENT_PAGES;
	}
	return freed ?: SHRINK_STOP;
}

static int pool_shrinker_init(struct tide_pool *pool)
{
	struct shrinker *shrinker = tide_shrinker_new();
	int rc;

	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = shrink_count;
	shrinker->scan_objects = shrink_scan;
	shrinker->seeks = DEFAULT_SEEKS;
	tide_shrinker_set_data(shrinker, pool);
	rc = tide_shrinker_register(shrinker);
	if (rc)
		tide_shrinker_free(shrinker);
	else
		pool->shrinker = shrinker;
	return rc;
}

/**
 * tide_pool_init() - set up a pool; carves nothing yet
 * @pool: pool, zeroed but for @floor_bytes, @cache_extents and @size_extents
 *	(0: what the backend thinks right)
 * @ops: backend
 * @counts: extents by state
 *
 * Return: 0, -ENODEV if this guest has nothing for this backend, or another
 * -errno.
 */
int tide_pool_init(struct tide_pool *pool, const struct tide_pool_ops *ops,
		   struct tide_extent_counts *counts)
{
	int rc;

	pool->ops = ops;
	pool->counts = counts;
	mutex_init(&pool->carve_lock);
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->cached);
	INIT_LIST_HEAD(&pool->incoming);
	INIT_WORK(&pool->put_work, pool_put_work);

	rc = ops->init(pool);
	if (rc)
		return rc;
	return pool_shrinker_init(pool);
}

/**
 * tide_pool_exit() - give all idle extents back to the kernel
 * @pool: pool; no arena owns any of its extents
 */
void tide_pool_exit(struct tide_pool *pool)
{
	struct tide_extent *ext;

	tide_shrinker_free(pool->shrinker);
	pool->cache_extents = 0;
	flush_work(&pool->put_work);
	while ((ext = cache_pop(pool)))
		give_back(pool, ext);
	if (atomic_long_read(&pool->nr_carved))
		pr_warn("tide: %ld extents stay lost: the device never answered for them\n",
			atomic_long_read(&pool->nr_carved));
}
