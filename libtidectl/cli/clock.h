/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monotonic clock, in microseconds. */
#ifndef TIDE_CLI_CLOCK_H
#define TIDE_CLI_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

#endif /* TIDE_CLI_CLOCK_H */
