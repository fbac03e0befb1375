// SPDX-License-Identifier: GPL-2.0-only
#include "../module/pool_contig.c"
