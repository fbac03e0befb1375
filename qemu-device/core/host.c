// SPDX-License-Identifier: GPL-2.0-or-later
/* The real host: Linux system calls and /proc. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define SWAPS_MAX 64

static int linux_advise(void *host, size_t len, int advice)
{
    return madvise(host, len, advice) ? -errno : 0;
}

static int64_t linux_resident(void *host, size_t len)
{
    unsigned char vec[4096];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t chunk = sizeof(vec) * page;
    int64_t bytes = 0;

    for (size_t at = 0; at < len; at += chunk) {
        size_t n = len - at < chunk ? len - at : chunk;

        if (mincore((unsigned char *)host + at, n, vec)) {
            return -errno;
        }
        for (size_t i = 0; i < n / page; i++) {
            bytes += vec[i] & 1 ? (int64_t)page : 0;
        }
    }
    return bytes;
}

typedef struct Swap {
    bool block;
    uint64_t room;
    int priority;
} Swap;

static unsigned read_swaps(const char *path, Swap *swaps)
{
    FILE *file = fopen(path, "re");
    char line[512], type[32];
    unsigned long long size, used;
    unsigned count = 0;
    int priority;

    if (!file) {
        return 0;
    }
    while (count < SWAPS_MAX && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%*s %31s %llu %llu %d", type, &size, &used,
                   &priority) == 4 && size > used) {
            swaps[count++] = (Swap) {
                .block = !strcmp(type, "partition"),
                .room = (size - used) * 1024,
                .priority = priority,
            };
        }
    }
    fclose(file);
    return count;
}

/*
 * The kernel fills areas by priority, so a block device counts only if no file
 * with room comes before or along with it.
 */
uint64_t tide_swap_room_from(const char *path)
{
    Swap swaps[SWAPS_MAX];
    unsigned count = read_swaps(path, swaps);
    uint64_t room = 0;

    for (unsigned i = 0; i < count; i++) {
        bool first = swaps[i].block;

        for (unsigned j = 0; j < count && first; j++) {
            first = swaps[j].block || swaps[j].priority < swaps[i].priority;
        }
        if (first) {
            room += swaps[i].room;
        }
    }
    return room;
}

static uint64_t linux_swap_room(void)
{
    return tide_swap_room_from("/proc/swaps");
}

const TideHost tide_host_linux = {
    .advise = linux_advise,
    .resident = linux_resident,
    .swap_room = linux_swap_room,
};
