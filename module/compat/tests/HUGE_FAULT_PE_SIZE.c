// SPDX-License-Identifier: GPL-2.0-only
/* 6.6: huge_fault takes an order; before, an enum page_entry_size. */
#include <linux/mm.h>

enum page_entry_size tide_try(void);
enum page_entry_size tide_try(void)
{
	return PE_SIZE_PMD;
}
