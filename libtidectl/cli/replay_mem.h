/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a replay gets its memory: Tide arenas, or plain anonymous memory. */
#ifndef TIDE_CLI_REPLAY_MEM_H
#define TIDE_CLI_REPLAY_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidectl/libtidectl.h>

#define EXTENT (2ull << 20)

/**
 * struct replay_reports - what was reported, and what the host did
 * @count: reports by intent
 * @asked_bytes: bytes of those
 * @acted_bytes: bytes that the host acted on
 * @refused: answers that are not an error: unsupported, inhibited, busy
 * @failed: answers that are
 * @latency_us: of each report, up to the host's answer
 * @nr_latency: how many
 */
struct replay_reports {
	uint64_t count[TIDE_INTENT_WILLNEED + 1];
	uint64_t asked_bytes[TIDE_INTENT_WILLNEED + 1];
	uint64_t acted_bytes[TIDE_INTENT_WILLNEED + 1];
	uint64_t refused;
	uint64_t failed;
	uint32_t *latency_us;
	size_t nr_latency;
};

/**
 * struct replay_area - the memory of one side, harness or tool
 * @base: address of its offset 0
 * @max: size of its offset space, whole extents
 * @committed: bytes from 0 that it owns
 * @reads_zero: for each extent: must read as zero until it is written
 * @arena: with Tide
 * @map_base: of the whole mapping, which is larger than @max without Tide
 * @map_len: its length
 */
struct replay_area {
	unsigned char *base;
	uint64_t max;
	uint64_t committed;
	bool *reads_zero;
	struct tide_arena *arena;
	void *map_base;
	size_t map_len;
};

struct replay_mem;

/**
 * struct replay_mem_ops - one kind of memory
 * @name: as --mode has it
 * @capacity: bytes to be had now; UINT64_MAX if that cannot be known
 * @open: set up an area of @max bytes that owns nothing
 * @close: give all of it back
 * @commit: own [committed, end)
 * @release: the owner needs [start, committed) no more
 * @dead: contents of [start, end) are dead, the owner keeps the memory
 * @intent: contents of [0, end) live on; tell the host. NULL: nobody to tell
 *
 * All but @capacity and @close return 0 or -errno with the message in mem->err.
 */
struct replay_mem_ops {
	const char *name;
	uint64_t (*capacity)(struct replay_mem *mem);
	int (*open)(struct replay_mem *mem, struct replay_area *area,
		    const char *name);
	void (*close)(struct replay_mem *mem, struct replay_area *area);
	int (*commit)(struct replay_mem *mem, struct replay_area *area,
		      uint64_t end);
	int (*release)(struct replay_mem *mem, struct replay_area *area,
		       uint64_t start);
	int (*dead)(struct replay_mem *mem, struct replay_area *area,
		    uint64_t start, uint64_t end);
	int (*intent)(struct replay_mem *mem, struct replay_area *area,
		      uint64_t end, uint32_t intent);
};

struct replay_mem {
	const struct replay_mem_ops *ops;
	struct tide_ctx *ctx;
	struct replay_reports reports;
	char err[320];
};

extern const struct replay_mem_ops replay_mem_tide;
extern const struct replay_mem_ops replay_mem_none;

int replay_area_open(struct replay_mem *mem, struct replay_area *area,
		     const char *name, uint64_t max);
void replay_area_close(struct replay_mem *mem, struct replay_area *area);

#endif /* TIDE_CLI_REPLAY_MEM_H */
