// SPDX-License-Identifier: GPL-2.0-only
/* 6.17: the shared workqueue that is bound to no CPU has a new name. */
#include <linux/workqueue.h>

struct workqueue_struct *tide_try(void);
struct workqueue_struct *tide_try(void)
{
	return system_dfl_wq;
}
