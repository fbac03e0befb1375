/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a replay writes into memory and looks for later. Word i (64 bits) of a
 * block holds seed + i * odd constant: no two words of a block are alike, and
 * a block that moved, was swapped or lost a write shows.
 */
#ifndef TIDE_CLI_PATTERN_H
#define TIDE_CLI_PATTERN_H

#include <stddef.h>
#include <stdint.h>

void pattern_fill(void *block, size_t bytes, uint64_t seed);

/*
 * Looks at every byte; returns how many were wrong, and mends them, so that a
 * fault counts once. @bytes is a multiple of 32.
 */
uint64_t pattern_verify(void *block, size_t bytes, uint64_t seed);

/*
 * Counts the bytes of non-zero words: of every word from the second on, or of
 * one word in each 4 KiB when @step_words is 512. The caller has written the
 * first word: read before written, a page that the host gave back would come
 * as its shared zero page and be split by the write that follows.
 */
uint64_t pattern_count_nonzero(const void *block, size_t bytes,
			       size_t step_words);

#endif /* TIDE_CLI_PATTERN_H */
