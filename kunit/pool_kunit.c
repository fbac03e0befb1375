// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/shrinker.h>

#include "fake.h"

#define FAKE_EXTENTS	32

/**
 * struct fake_pool - a pool over made-up memory
 * @pool: the pool
 * @counts: extents by state
 * @taken: which of the made-up extents are carved
 * @carves: calls of carve()
 */
struct fake_pool {
	struct tide_pool pool;
	struct tide_extent_counts counts;
	bool taken[FAKE_EXTENTS];
	unsigned int carves;
};

static struct fake_pool *to_fake(struct tide_pool *pool)
{
	return container_of(pool, struct fake_pool, pool);
}

static int fake_init(struct tide_pool *pool)
{
	if (!pool->size_extents)
		pool->size_extents = FAKE_EXTENTS;
	return 0;
}

static unsigned int fake_carve(struct tide_pool *pool, unsigned int want,
			       unsigned long *pfns)
{
	struct fake_pool *fake = to_fake(pool);
	unsigned int i, got = 0;

	fake->carves++;
	for (i = 0; i < FAKE_EXTENTS && got < want; i++) {
		if (fake->taken[i])
			continue;
		fake->taken[i] = true;
		pfns[got++] = i * TIDE_EXTENT_PAGES;
	}
	return got;
}

static void fake_give_back(struct tide_pool *pool, unsigned long pfn)
{
	to_fake(pool)->taken[pfn / TIDE_EXTENT_PAGES] = false;
}

static const struct tide_pool_ops fake_ops = {
	.name = "fake",
	.init = fake_init,
	.carve = fake_carve,
	.give_back = fake_give_back,
};

static unsigned int nr_taken(struct fake_pool *fake)
{
	unsigned int i, nr = 0;

	for (i = 0; i < FAKE_EXTENTS; i++)
		nr += fake->taken[i];
	return nr;
}

static unsigned int list_len(struct list_head *list)
{
	struct list_head *pos;
	unsigned int nr = 0;

	list_for_each(pos, list)
		nr++;
	return nr;
}

static struct fake_pool *fake_pool_new(struct kunit *test, unsigned long size,
				       unsigned long cache, u64 floor)
{
	struct fake_pool *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->pool.size_extents = size;
	fake->pool.cache_extents = cache;
	fake->pool.floor_bytes = floor;
	KUNIT_ASSERT_EQ(test, 0, tide_pool_init(&fake->pool, &fake_ops,
						&fake->counts));
	return fake;
}

static void put_and_settle(struct tide_pool *pool, struct list_head *extents)
{
	tide_pool_put(pool, extents);
	flush_work(&pool->put_work);
}

static void tide_pool_test_get_and_put(struct kunit *test)
{
	struct fake_pool *fake = fake_pool_new(test, 0, 0, 0);
	struct tide_extent *ext;
	LIST_HEAD(extents);

	KUNIT_EXPECT_EQ(test, 5U, tide_pool_get(&fake->pool, 5, &extents));
	KUNIT_EXPECT_EQ(test, 5U, list_len(&extents));
	KUNIT_EXPECT_EQ(test, 5U, nr_taken(fake));
	KUNIT_EXPECT_EQ(test, 5L, atomic_long_read(&fake->pool.nr_carved));
	list_for_each_entry(ext, &extents, node) {
		KUNIT_EXPECT_FALSE(test, ext->zero);
		KUNIT_EXPECT_EQ(test, (int)TIDE_EXTENT_CARVED, (int)ext->state);
	}
	put_and_settle(&fake->pool, &extents);
	KUNIT_EXPECT_TRUE(test, list_empty(&extents));
	KUNIT_EXPECT_EQ(test, 0U, nr_taken(fake));
	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&fake->pool.nr_carved));
	tide_pool_exit(&fake->pool);
}

static void tide_pool_test_backend_runs_dry(struct kunit *test)
{
	struct fake_pool *fake = fake_pool_new(test, 1000, 0, 0);
	LIST_HEAD(extents);

	KUNIT_EXPECT_EQ(test, (unsigned int)FAKE_EXTENTS,
			tide_pool_get(&fake->pool, FAKE_EXTENTS + 10,
				      &extents));
	KUNIT_EXPECT_EQ(test, 0U, tide_pool_get(&fake->pool, 1, &extents));
	put_and_settle(&fake->pool, &extents);
	tide_pool_exit(&fake->pool);
}

static void tide_pool_test_size_is_a_limit(struct kunit *test)
{
	struct fake_pool *fake = fake_pool_new(test, 7, 0, 0);
	LIST_HEAD(extents);

	KUNIT_EXPECT_EQ(test, 7U, tide_pool_get(&fake->pool, 10, &extents));
	KUNIT_EXPECT_EQ(test, 0U, tide_pool_get(&fake->pool, 1, &extents));
	put_and_settle(&fake->pool, &extents);
	KUNIT_EXPECT_EQ(test, 1U, tide_pool_get(&fake->pool, 1, &extents));
	put_and_settle(&fake->pool, &extents);
	tide_pool_exit(&fake->pool);
}

/* Below the floor nothing is carved, and the backend is not even asked. */
static void tide_pool_test_floor(struct kunit *test)
{
	struct fake_pool *fake = fake_pool_new(test, 0, 0, U64_MAX);
	LIST_HEAD(extents);

	KUNIT_EXPECT_EQ(test, 0U, tide_pool_get(&fake->pool, 1, &extents));
	KUNIT_EXPECT_EQ(test, 0U, fake->carves);
	tide_pool_exit(&fake->pool);
}

static void tide_pool_test_cache(struct kunit *test)
{
	struct fake_pool *fake = fake_pool_new(test, 0, 4, 0);
	LIST_HEAD(extents);

	tide_pool_get(&fake->pool, 10, &extents);
	put_and_settle(&fake->pool, &extents);
	KUNIT_EXPECT_EQ(test, 4UL, fake->pool.nr_cached);
	KUNIT_EXPECT_EQ(test, 4U, nr_taken(fake));
	KUNIT_EXPECT_EQ(test, 4L,
			atomic_long_read(&fake->counts.nr[TIDE_EXTENT_CARVED]));

	/* From the cache first, without a call of the backend. */
	fake->carves = 0;
	KUNIT_EXPECT_EQ(test, 3U, tide_pool_get(&fake->pool, 3, &extents));
	KUNIT_EXPECT_EQ(test, 0U, fake->carves);
	KUNIT_EXPECT_EQ(test, 4U, tide_pool_get(&fake->pool, 4, &extents));
	KUNIT_EXPECT_NE(test, 0U, fake->carves);
	put_and_settle(&fake->pool, &extents);

	tide_pool_exit(&fake->pool);
	KUNIT_EXPECT_EQ(test, 0U, nr_taken(fake));
}

/* An extent that is known to be zero stays known in the cache. */
static void tide_pool_test_cache_keeps_zero(struct kunit *test)
{
	struct fake_pool *fake = fake_pool_new(test, 0, 1, 0);
	struct tide_extent *ext;
	LIST_HEAD(extents);

	tide_pool_get(&fake->pool, 1, &extents);
	ext = list_first_entry(&extents, struct tide_extent, node);
	ext->zero = true;
	put_and_settle(&fake->pool, &extents);
	tide_pool_get(&fake->pool, 1, &extents);
	KUNIT_EXPECT_PTR_EQ(test, ext, list_first_entry(&extents,
							struct tide_extent, node));
	KUNIT_EXPECT_TRUE(test, ext->zero);
	put_and_settle(&fake->pool, &extents);
	tide_pool_exit(&fake->pool);
}

static void tide_pool_test_shrinker(struct kunit *test)
{
	struct fake_pool *fake = fake_pool_new(test, 0, 8, 0);
	struct shrink_control sc = { .nr_to_scan = TIDE_EXTENT_PAGES + 1 };
	struct shrinker *shrinker = fake->pool.shrinker;
	LIST_HEAD(extents);

	KUNIT_EXPECT_EQ(test, SHRINK_EMPTY,
			shrinker->count_objects(shrinker, &sc));
	tide_pool_get(&fake->pool, 8, &extents);
	put_and_settle(&fake->pool, &extents);
	KUNIT_EXPECT_EQ(test, 8UL * TIDE_EXTENT_PAGES,
			shrinker->count_objects(shrinker, &sc));
	KUNIT_EXPECT_EQ(test, 2UL * TIDE_EXTENT_PAGES,
			shrinker->scan_objects(shrinker, &sc));
	KUNIT_EXPECT_EQ(test, 6U, nr_taken(fake));
	sc.nr_to_scan = 100 * TIDE_EXTENT_PAGES;
	KUNIT_EXPECT_EQ(test, 6UL * TIDE_EXTENT_PAGES,
			shrinker->scan_objects(shrinker, &sc));
	KUNIT_EXPECT_EQ(test, SHRINK_STOP,
			shrinker->scan_objects(shrinker, &sc));
	KUNIT_EXPECT_EQ(test, 0U, nr_taken(fake));
	tide_pool_exit(&fake->pool);
}

/* The real thing: memory that is aligned, distinct, and ours to write. */
static void tide_pool_test_contig(struct kunit *test)
{
	struct tide_extent_counts counts = {};
	struct tide_pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);
	struct tide_extent *ext;
	LIST_HEAD(extents);
	unsigned long last = 0;
	unsigned int got;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_ASSERT_EQ(test, 0, tide_pool_init(pool, &tide_pool_contig,
						&counts));
	KUNIT_EXPECT_GT(test, pool->size_extents, 0UL);
	got = tide_pool_get(pool, 4, &extents);
	KUNIT_EXPECT_EQ(test, 4U, got);
	tide_extents_sort(&extents);
	list_for_each_entry(ext, &extents, node) {
		KUNIT_EXPECT_EQ(test, 0UL, ext->pfn % TIDE_EXTENT_PAGES);
		KUNIT_EXPECT_GT(test, ext->pfn, last);
		last = ext->pfn;
		memset(pfn_to_kaddr(ext->pfn), 0xa5, TIDE_EXTENT_SIZE);
	}
	put_and_settle(pool, &extents);
	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&pool->nr_carved));
	tide_pool_exit(pool);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(tide_pool_test_get_and_put),
	KUNIT_CASE(tide_pool_test_backend_runs_dry),
	KUNIT_CASE(tide_pool_test_size_is_a_limit),
	KUNIT_CASE(tide_pool_test_floor),
	KUNIT_CASE(tide_pool_test_cache),
	KUNIT_CASE(tide_pool_test_cache_keeps_zero),
	KUNIT_CASE(tide_pool_test_shrinker),
	KUNIT_CASE(tide_pool_test_contig),
	{}
};

struct kunit_suite tide_pool_suite = {
	.name = "tide_pool",
	.test_cases = pool_cases,
};
