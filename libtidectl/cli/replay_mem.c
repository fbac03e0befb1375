// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for a replay, see replay_mem.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "replay_mem.h"

int replay_area_open(struct replay_mem *mem, struct replay_area *area,
		     const char *name, uint64_t max)
{
	int rc;

	memset(area, 0, sizeof(*area));
	area->max = max ? (max + EXTENT - 1) / EXTENT * EXTENT : EXTENT;
	area->reads_zero = calloc(area->max / EXTENT, sizeof(bool));
	if (!area->reads_zero) {
		snprintf(mem->err, sizeof(mem->err), "out of memory");
		return -ENOMEM;
	}
	rc = mem->ops->open(mem, area, name);
	if (rc)
		replay_area_close(mem, area);
	return rc;
}

void replay_area_close(struct replay_mem *mem, struct replay_area *area)
{
	mem->ops->close(mem, area);
	free(area->reads_zero);
	memset(area, 0, sizeof(*area));
}

static void mark_zero(struct replay_area *area, uint64_t start, uint64_t end,
		      bool zero)
{
	for (uint64_t i = start / EXTENT; i < end / EXTENT; i++)
		area->reads_zero[i] = zero;
}

/* ---- Tide ---- */

/* Keeps the library's words if @rc is an error; returns @rc. */
static int tide_rc(struct replay_mem *mem, int rc)
{
	if (rc)
		tide_ctx_error(mem->ctx, mem->err, sizeof(mem->err));
	return rc;
}

static uint64_t tide_capacity(struct replay_mem *mem)
{
	struct tide_info info;

	if (tide_info(mem->ctx, &info))
		return UINT64_MAX;
	return info.pool_bytes > info.owned_bytes ?
		       info.pool_bytes - info.owned_bytes : 0;
}

static int tide_open(struct replay_mem *mem, struct replay_area *area,
		     const char *name)
{
	void *base;
	int rc;

	rc = tide_rc(mem, tide_arena_create(mem->ctx, name, area->max, 0,
					    &area->arena));
	if (rc)
		return rc;
	rc = tide_rc(mem, tide_arena_map(area->arena, &base));
	area->base = base;
	return rc;
}

static void tide_close(struct replay_mem *mem, struct replay_area *area)
{
	(void)mem;
	area->arena = tide_arena_unref(area->arena);
}

static int tide_commit(struct replay_mem *mem, struct replay_area *area,
		       uint64_t end)
{
	int rc = tide_rc(mem, tide_arena_alloc(area->arena, area->committed,
					       end - area->committed, 0, NULL));

	if (rc)
		return rc;
	mark_zero(area, area->committed, end, true);
	area->committed = end;
	return 0;
}

static int tide_release(struct replay_mem *mem, struct replay_area *area,
			uint64_t start)
{
	int rc = tide_rc(mem, tide_arena_free(area->arena, start,
					      area->committed - start, NULL));

	if (!rc)
		area->committed = start;
	return rc;
}

static int note_latency(struct replay_mem *mem, uint64_t us)
{
	struct replay_reports *r = &mem->reports;
	size_t n = r->nr_latency;

	/* Doubles whenever n is a power of two. */
	if ((n & (n - 1)) == 0) {
		void *bigger = realloc(r->latency_us,
				       (n ? 2 * n : 1) * sizeof(uint32_t));

		if (!bigger) {
			snprintf(mem->err, sizeof(mem->err), "out of memory");
			return -ENOMEM;
		}
		r->latency_us = bigger;
	}
	r->latency_us[r->nr_latency++] = us > UINT32_MAX ? UINT32_MAX : us;
	return 0;
}

/* A refusal is an answer that the design foresees; the guest goes on. */
static void note_status(struct replay_mem *mem, const struct tide_range *answer)
{
	switch (answer->status) {
	case TIDE_STATUS_OK:
		break;
	case TIDE_STATUS_UNSUPPORTED:
	case TIDE_STATUS_INHIBITED:
	case TIDE_STATUS_BUSY:
		mem->reports.refused++;
		break;
	default:
		mem->reports.failed++;
		snprintf(mem->err, sizeof(mem->err),
			 "the host answered \"%s\" to a %s report",
			 tide_status_name(answer->status),
			 tide_intent_name(answer->intent));
	}
}

static int tide_say(struct replay_mem *mem, struct replay_area *area,
		    uint64_t start, uint64_t end, uint32_t intent,
		    struct tide_range *answer)
{
	struct replay_reports *r = &mem->reports;
	uint64_t begin = clock_us();
	int rc = tide_rc(mem, tide_arena_report_one(area->arena, start,
						    end - start, intent, 0,
						    answer));

	if (rc)
		return rc;
	r->count[intent]++;
	r->asked_bytes[intent] += end - start;
	r->acted_bytes[intent] += answer->done;
	note_status(mem, answer);
	return note_latency(mem, clock_us() - begin);
}

static int tide_dead(struct replay_mem *mem, struct replay_area *area,
		     uint64_t start, uint64_t end)
{
	struct tide_range answer;
	int rc = tide_say(mem, area, start, end, TIDE_INTENT_DISCARD, &answer);

	if (!rc)
		mark_zero(area, start, end,
			  answer.result & TIDE_RESULT_ZEROED);
	return rc;
}

static int tide_intent(struct replay_mem *mem, struct replay_area *area,
		       uint64_t end, uint32_t intent)
{
	struct tide_range answer;

	return tide_say(mem, area, 0, end, intent, &answer);
}

const struct replay_mem_ops replay_mem_tide = {
	.name = "tide",
	.capacity = tide_capacity,
	.open = tide_open,
	.close = tide_close,
	.commit = tide_commit,
	.release = tide_release,
	.dead = tide_dead,
	.intent = tide_intent,
};

/* ---- Plain anonymous memory, given back to the guest's kernel only ---- */

static uint64_t none_capacity(struct replay_mem *mem)
{
	uint64_t kib = UINT64_MAX;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	(void)mem;
	if (!f)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1)
			break;
	fclose(f);
	return kib == UINT64_MAX ? kib : kib * 1024;
}

static int none_open(struct replay_mem *mem, struct replay_area *area,
		     const char *name)
{
	uintptr_t start;

	/* One extent more, to align it as an arena is. */
	area->map_len = area->max + EXTENT;
	area->map_base = mmap(NULL, area->map_len, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			      -1, 0);
	if (area->map_base == MAP_FAILED) {
		int err = errno;

		area->map_base = NULL;
		snprintf(mem->err, sizeof(mem->err),
			 "mapping %zu bytes for the %s: %s", area->map_len,
			 name, strerror(err));
		return -err;
	}
	start = ((uintptr_t)area->map_base + EXTENT - 1) & ~(EXTENT - 1);
	area->base = (unsigned char *)start;
	return 0;
}

static void none_close(struct replay_mem *mem, struct replay_area *area)
{
	(void)mem;
	if (area->map_base)
		munmap(area->map_base, area->map_len);
}

static int none_commit(struct replay_mem *mem, struct replay_area *area,
		       uint64_t end)
{
	(void)mem;
	mark_zero(area, area->committed, end, true);
	area->committed = end;
	return 0;
}

static int none_dead(struct replay_mem *mem, struct replay_area *area,
		     uint64_t start, uint64_t end)
{
	if (madvise(area->base + start, end - start, MADV_DONTNEED)) {
		int err = errno;

		snprintf(mem->err, sizeof(mem->err),
			 "giving %llu bytes back to the kernel: %s",
			 (unsigned long long)(end - start), strerror(err));
		return -err;
	}
	mark_zero(area, start, end, true);
	return 0;
}

static int none_release(struct replay_mem *mem, struct replay_area *area,
			uint64_t start)
{
	int rc = none_dead(mem, area, start, area->committed);

	if (!rc)
		area->committed = start;
	return rc;
}

const struct replay_mem_ops replay_mem_none = {
	.name = "none",
	.capacity = none_capacity,
	.open = none_open,
	.close = none_close,
	.commit = none_commit,
	.release = none_release,
	.dead = none_dead,
};
