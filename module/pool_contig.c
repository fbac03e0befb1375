// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pool backend for kernels without CMA: windows of ordinary memory that
 * alloc_contig_range() can empty.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/memory_hotplug.h>
#include <linux/page-flags.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>

#include "compat/compat.h"
#include "tide.h"

/* Emptying many neighbours at once costs little more than emptying one. */
#define WINDOW_EXTENTS	16u

/* Below is what old devices can reach; it is scarce, so it is left alone. */
#define LOWEST_PFN	(SZ_16M >> PAGE_SHIFT)

static unsigned long memory_end_pfn(void)
{
	unsigned long end = 0;
	int nid;

	for_each_online_node(nid)
		end = max(end, pgdat_end_pfn(NODE_DATA(nid)));
	return ALIGN_DOWN(end, TIDE_EXTENT_PAGES);
}

static int contig_init(struct tide_pool *pool)
{
	pool->cursor = memory_end_pfn();
	if (!pool->size_extents)
		pool->size_extents = totalram_pages() / 4 * 3 /
				     TIDE_EXTENT_PAGES;
	return 0;
}

/*
 * A page that is in use but not on an LRU list cannot be moved. The look is
 * racy and may be wrong; it only spares alloc_contig_range() hopeless work.
 */
static bool looks_movable(unsigned long pfn)
{
	struct page *page = pfn_to_page(pfn);
	struct folio *folio;

	if (PageReserved(page))
		return false;
	folio = page_folio(page);
	return !folio_ref_count(folio) || folio_test_lru(folio) ||
	       folio_test_large(folio);
}

static bool extent_looks_free(unsigned long pfn, struct zone **zone)
{
	unsigned long i;

	if (!pfn_to_online_page(pfn) ||
	    !pfn_to_online_page(pfn + TIDE_EXTENT_PAGES - 1))
		return false;
	if (!*zone)
		*zone = page_zone(pfn_to_page(pfn));
	if (page_zone(pfn_to_page(pfn)) != *zone ||
	    page_zone(pfn_to_page(pfn + TIDE_EXTENT_PAGES - 1)) != *zone)
		return false;
	for (i = 0; i < TIDE_EXTENT_PAGES; i++) {
		if (!looks_movable(pfn + i))
			return false;
	}
	return true;
}

/*
 * Walks down from the cursor to the next window, of at most @max extents in one
 * zone, that looks as if it can be emptied. Charges what it looked at to
 * @budget. Returns its length; the cursor is then its first pfn.
 */
static unsigned int next_window(struct tide_pool *pool, unsigned int max,
				unsigned long *budget)
{
	struct zone *zone = NULL;
	unsigned int len = 0;
	bool fits;

	while (*budget && len < max) {
		if (pool->cursor < LOWEST_PFN + TIDE_EXTENT_PAGES) {
			if (len)
				break;
			pool->cursor = memory_end_pfn();
		}
		(*budget)--;
		fits = extent_looks_free(pool->cursor - TIDE_EXTENT_PAGES,
					 &zone);
		if (len && !fits)
			break;
		if (fits)
			len++;
		else
			zone = NULL;
		pool->cursor -= TIDE_EXTENT_PAGES;
	}
	return len;
}

/* Takes what can be had of a window; halves it where one extent is in the way. */
static unsigned int take_window(unsigned long pfn, unsigned int len,
				unsigned long *pfns)
{
	unsigned int i, half, got;
	int rc;

	if (fatal_signal_pending(current))
		return 0;
	rc = tide_alloc_contig(pfn, len * TIDE_EXTENT_PAGES);
	if (!rc) {
		for (i = 0; i < len; i++)
			pfns[i] = pfn + i * TIDE_EXTENT_PAGES;
		return len;
	}
	if (len == 1 || rc == -EINTR)
		return 0;
	half = len / 2;
	got = take_window(pfn, half, pfns);
	return got + take_window(pfn + half * TIDE_EXTENT_PAGES, len - half,
				 pfns + got);
}

static unsigned int contig_carve(struct tide_pool *pool, unsigned int want,
				 unsigned long *pfns)
{
	/* Each extent is looked at once a call. */
	unsigned long budget = memory_end_pfn() / TIDE_EXTENT_PAGES;
	unsigned int got = 0, len;

	while (got < want && !fatal_signal_pending(current)) {
		len = next_window(pool, min(want - got, WINDOW_EXTENTS),
				  &budget);
		if (!len)
			break;
		got += take_window(pool->cursor, len, pfns + got);
		cond_resched();
	}
	return got;
}

static void contig_give_back(struct tide_pool *pool, unsigned long pfn)
{
	free_contig_range(pfn, TIDE_EXTENT_PAGES);
}

const struct tide_pool_ops tide_pool_contig = {
	.name		= "contig",
	.id		= TIDE_BACKEND_CONTIG,
	.init		= contig_init,
	.carve		= contig_carve,
	.give_back	= contig_give_back,
};
