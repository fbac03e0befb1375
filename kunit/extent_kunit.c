// SPDX-License-Identifier: GPL-2.0-only
#include <linux/gfp.h>
#include <linux/mm.h>

#include "fake.h"

struct move_case {
	enum tide_extent_state from;
	enum tide_extent_state to;
};

/* All that may be; the rest of the square may not. */
static const struct move_case legal[] = {
	{ TIDE_EXTENT_CARVED, TIDE_EXTENT_OWNED },
	{ TIDE_EXTENT_CARVED, TIDE_EXTENT_DRAINING },
	{ TIDE_EXTENT_OWNED, TIDE_EXTENT_REPORTED },
	{ TIDE_EXTENT_OWNED, TIDE_EXTENT_DRAINING },
	{ TIDE_EXTENT_REPORTED, TIDE_EXTENT_OWNED },
	{ TIDE_EXTENT_REPORTED, TIDE_EXTENT_QUARANTINED },
	{ TIDE_EXTENT_DRAINING, TIDE_EXTENT_CARVED },
	{ TIDE_EXTENT_DRAINING, TIDE_EXTENT_QUARANTINED },
};

static bool is_legal(enum tide_extent_state from, enum tide_extent_state to)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(legal); i++)
		if (legal[i].from == from && legal[i].to == to)
			return true;
	return false;
}

static void tide_extent_test_table(struct kunit *test)
{
	int from, to;

	for (from = 0; from < TIDE_EXTENT_NR_STATES; from++)
		for (to = 0; to < TIDE_EXTENT_NR_STATES; to++)
			KUNIT_EXPECT_EQ_MSG(test, is_legal(from, to),
					    tide_extent_may_move(from, to),
					    "%s -> %s",
					    tide_extent_state_name(from),
					    tide_extent_state_name(to));
}

static void tide_extent_test_table_bounds(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, tide_extent_may_move(TIDE_EXTENT_NR_STATES,
						      TIDE_EXTENT_OWNED));
	KUNIT_EXPECT_FALSE(test, tide_extent_may_move(TIDE_EXTENT_OWNED,
						      TIDE_EXTENT_NR_STATES));
	KUNIT_EXPECT_STREQ(test, "invalid",
			   tide_extent_state_name(TIDE_EXTENT_NR_STATES));
}

/* Each legal change moves the extent from one count to the other. */
static void tide_extent_test_move_counts(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(legal); i++) {
		struct tide_extent_counts counts = {};
		struct tide_extent ext = { .state = legal[i].from };

		atomic_long_set(&counts.nr[legal[i].from], 1);
		KUNIT_EXPECT_EQ(test, 0, tide_extent_move(&counts, &ext,
							  legal[i].to));
		KUNIT_EXPECT_EQ(test, (int)legal[i].to, (int)ext.state);
		KUNIT_EXPECT_EQ(test, 0L,
				atomic_long_read(&counts.nr[legal[i].from]));
		KUNIT_EXPECT_EQ(test, 1L,
				atomic_long_read(&counts.nr[legal[i].to]));
	}
}

/* Warns once, on purpose: the runner expects exactly this warning. */
static void tide_extent_test_illegal_is_refused(struct kunit *test)
{
	struct tide_extent_counts counts = {};
	int from, to;

	for (from = 0; from < TIDE_EXTENT_NR_STATES; from++) {
		for (to = 0; to < TIDE_EXTENT_NR_STATES; to++) {
			struct tide_extent ext = { .state = from };

			if (is_legal(from, to))
				continue;
			KUNIT_EXPECT_EQ(test, -EINVAL,
					tide_extent_move(&counts, &ext, to));
			KUNIT_EXPECT_EQ(test, from, (int)ext.state);
			KUNIT_EXPECT_EQ(test, 0L,
					atomic_long_read(&counts.nr[from]));
			KUNIT_EXPECT_EQ(test, 0L,
					atomic_long_read(&counts.nr[to]));
		}
	}
}

static void tide_extent_test_new(struct kunit *test)
{
	struct tide_extent_counts counts = {};
	struct tide_extent *ext = tide_extent_new(&counts, 1024);

	KUNIT_ASSERT_NOT_NULL(test, ext);
	KUNIT_EXPECT_EQ(test, (int)TIDE_EXTENT_CARVED, (int)ext->state);
	KUNIT_EXPECT_FALSE(test, ext->zero);
	KUNIT_EXPECT_EQ(test, 1L,
			atomic_long_read(&counts.nr[TIDE_EXTENT_CARVED]));
	tide_extent_free(&counts, ext);
	KUNIT_EXPECT_EQ(test, 0L,
			atomic_long_read(&counts.nr[TIDE_EXTENT_CARVED]));
}

static void tide_extent_test_sort(struct kunit *test)
{
	static const unsigned long pfns[] = { 5, 1, 9, 1000000, 0, 3 };
	struct tide_extent ext[ARRAY_SIZE(pfns)] = {};
	unsigned long last = 0;
	struct tide_extent *e;
	LIST_HEAD(list);
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(pfns); i++) {
		ext[i].pfn = pfns[i];
		list_add_tail(&ext[i].node, &list);
	}
	tide_extents_sort(&list);
	list_for_each_entry(e, &list, node) {
		KUNIT_EXPECT_GE(test, e->pfn, last);
		last = e->pfn;
		nr++;
	}
	KUNIT_EXPECT_EQ(test, (unsigned int)ARRAY_SIZE(pfns), nr);
}

static void tide_extent_test_clear(struct kunit *test)
{
	unsigned int order = TIDE_EXTENT_SHIFT - PAGE_SHIFT;
	struct page *page = alloc_pages(GFP_KERNEL, order);
	struct tide_extent ext = {};
	void *mem;

	if (!page)
		kunit_skip(test, "no 2 MiB page to be had");
	mem = page_address(page);
	memset(mem, 0xa5, TIDE_EXTENT_SIZE);
	ext.pfn = page_to_pfn(page);
	tide_extent_clear(&ext);
	KUNIT_EXPECT_TRUE(test, ext.zero);
	KUNIT_EXPECT_NULL(test, memchr_inv(mem, 0, TIDE_EXTENT_SIZE));
	__free_pages(page, order);
}

static struct kunit_case extent_cases[] = {
	KUNIT_CASE(tide_extent_test_table),
	KUNIT_CASE(tide_extent_test_table_bounds),
	KUNIT_CASE(tide_extent_test_move_counts),
	KUNIT_CASE(tide_extent_test_illegal_is_refused),
	KUNIT_CASE(tide_extent_test_new),
	KUNIT_CASE(tide_extent_test_sort),
	KUNIT_CASE(tide_extent_test_clear),
	{}
};

struct kunit_suite tide_extent_suite = {
	.name = "tide_extent",
	.test_cases = extent_cases,
};
