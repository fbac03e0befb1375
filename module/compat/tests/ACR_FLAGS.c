// SPDX-License-Identifier: GPL-2.0-only
/* 6.16: alloc_contig_range() takes acr_flags_t instead of a migratetype. */
#include <linux/gfp.h>

int tide_try(void);
int tide_try(void)
{
	acr_flags_t flags = ACR_FLAGS_NONE;

	return alloc_contig_range(0, 512, flags, GFP_KERNEL);
}
