// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pool backend for kernels that export cma_alloc(): the default CMA area, as
 * set aside with cma= on the kernel's command line.
 */
#include <linux/cma.h>
#include <linux/dma-map-ops.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/sched/signal.h>

#include "tide.h"

#if defined(TIDE_HAVE_CMA_EXPORTED) && defined(TIDE_HAVE_CMA_BY_INDEX)

/* Emptying many neighbours at once costs little more than emptying one. */
#define WINDOW_EXTENTS	16u

/*
 * The size of one area is not exported; that of all areas shows in the zones.
 * Where there are more than one, the pool can give less than it says.
 */
static unsigned long cma_total_pages(void)
{
	unsigned long pages = 0;
	int nid, i;

	for_each_online_node(nid)
		for (i = 0; i < MAX_NR_ZONES; i++)
			pages += zone_cma_pages(&NODE_DATA(nid)->node_zones[i]);
	return pages;
}

static int cma_init(struct tide_pool *pool)
{
	unsigned long extents = cma_total_pages() / TIDE_EXTENT_PAGES;

	pool->backend_data = dma_contiguous_get_area_by_idx(0);
	if (!pool->backend_data || !extents)
		return -ENODEV;
	if (!pool->size_extents || pool->size_extents > extents)
		pool->size_extents = extents;
	return 0;
}

static unsigned int cma_carve(struct tide_pool *pool, unsigned int want,
			      unsigned long *pfns)
{
	unsigned int len = min(want, WINDOW_EXTENTS), got = 0, i;
	struct page *page;

	while (got < want && len && !fatal_signal_pending(current)) {
		len = min(len, want - got);
		page = cma_alloc(pool->backend_data, len * TIDE_EXTENT_PAGES,
				 TIDE_EXTENT_SHIFT - PAGE_SHIFT, true);
		if (!page) {
			len /= 2;
			continue;
		}
		for (i = 0; i < len; i++)
			pfns[got++] = page_to_pfn(page) + i * TIDE_EXTENT_PAGES;
		cond_resched();
	}
	return got;
}

static void cma_give_back(struct tide_pool *pool, unsigned long pfn)
{
	cma_release(pool->backend_data, pfn_to_page(pfn), TIDE_EXTENT_PAGES);
}

#else

static int cma_init(struct tide_pool *pool)
{
	return -ENODEV;
}

static unsigned int cma_carve(struct tide_pool *pool, unsigned int want,
			      unsigned long *pfns)
{
	return 0;
}

static void cma_give_back(struct tide_pool *pool, unsigned long pfn)
{
}

#endif

const struct tide_pool_ops tide_pool_cma = {
	.name		= "cma",
	.id		= TIDE_BACKEND_CMA,
	.init		= cma_init,
	.carve		= cma_carve,
	.give_back	= cma_give_back,
};
