// SPDX-License-Identifier: GPL-2.0-only
/* 6.7: shrinkers are allocated and registered in two steps. */
#include <linux/shrinker.h>

struct shrinker *tide_try(void);
struct shrinker *tide_try(void)
{
	return shrinker_alloc(0, "tide");
}
