// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rounds N: two processes take, look at, write and give back memory N times in
 * all. Whatever one of them is handed must read zero: every word of it, and
 * one that is not would be what the other, or the kernel, wrote.
 */
#include <sys/wait.h>

#include "tap.h"

#define ARENA_BYTES (8 * MIB)

static uint64_t nonzero_words(const uint64_t *words, size_t bytes)
{
	uint64_t any = 0;
	size_t i;

	for (i = 0; i < bytes / 8; i += 4)
		any |= words[i] | words[i + 1] | words[i + 2] | words[i + 3];
	return any;
}

/* One process: exit status 0 if it only ever read zeros. */
static int run_rounds(unsigned int rounds, unsigned int seed)
{
	int device = open_device(), arena = new_arena(device, ARENA_BYTES);
	char *base = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, arena, 0);

	if (base == MAP_FAILED)
		die("mmap");
	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t len = EXTENT * (1 + (i + seed) % 3 / 2);
		uint64_t offset = EXTENT * ((i + seed) % 3);

		alloc_or_die(arena, offset, len);
		if (nonzero_words((uint64_t *)(base + offset), len)) {
			printf("# process %u, round %u: not zero\n", seed, i);
			return 1;
		}
		/* A line here and there is enough to be found again. */
		for (uint64_t at = 0; at < len; at += 512)
			*(uint64_t *)(base + offset + at) = ~0ull - i;
		free_or_die(arena, offset, len);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? atoi(argv[1]) : 10000;
	int status[2] = { -1, -1 };
	pid_t child[2];

	for (unsigned int i = 0; i < 2; i++) {
		fflush(stdout);
		child[i] = fork();
		if (child[i] == 0)
			exit(run_rounds(rounds / 2, i));
	}
	for (unsigned int i = 0; i < 2; i++) {
		waitpid(child[i], &status[i], 0);
		ok(status[i] == 0, "process %u: %u rounds, nothing but zeros", i, rounds / 2);
	}
	return done_testing();
}
