// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "fake.h"

kunit_test_suites(&tide_extent_suite, &tide_pool_suite, &tide_ring_suite);

MODULE_DESCRIPTION("KUnit suites of tide");
MODULE_LICENSE("GPL");
