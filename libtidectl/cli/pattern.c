// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pattern loops. They run over gigabytes in guests whose CPU is emulated:
 * plain 64-bit words, four at a time, are what such a CPU does best.
 */
#include "pattern.h"

#define STEP 0x9e3779b97f4a7c15ull

void pattern_fill(void *block, size_t bytes, uint64_t seed)
{
	uint64_t *word = block, v = seed;

	for (size_t i = 0; i < bytes / 8; i += 4) {
		word[i] = v;
		word[i + 1] = v + STEP;
		word[i + 2] = v + 2 * STEP;
		word[i + 3] = v + 3 * STEP;
		v += 4 * STEP;
	}
}

/* Rare: something is wrong, so find each byte and mend it. */
static uint64_t mend(uint64_t *word, size_t words, uint64_t seed)
{
	uint64_t wrong = 0;

	for (size_t i = 0; i < words; i++) {
		uint64_t diff = word[i] ^ (seed + i * STEP);

		if (!diff)
			continue;
		for (; diff; diff >>= 8)
			wrong += (diff & 0xff) != 0;
		word[i] = seed + i * STEP;
	}
	return wrong;
}

uint64_t pattern_verify(void *block, size_t bytes, uint64_t seed)
{
	const uint64_t *word = block;
	uint64_t v = seed, diff = 0;

	for (size_t i = 0; i < bytes / 8; i += 4) {
		diff |= word[i] ^ v;
		diff |= word[i + 1] ^ (v + STEP);
		diff |= word[i + 2] ^ (v + 2 * STEP);
		diff |= word[i + 3] ^ (v + 3 * STEP);
		v += 4 * STEP;
	}
	return diff ? mend(block, bytes / 8, seed) : 0;
}

uint64_t pattern_count_nonzero(const void *block, size_t bytes,
			       size_t step_words)
{
	const uint64_t *word = block;
	uint64_t found = 0;

	for (size_t i = 1; i < bytes / 8; i += step_words)
		found += word[i] ? 8 : 0;
	return found;
}
