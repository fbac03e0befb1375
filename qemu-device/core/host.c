// SPDX-License-Identifier: GPL-2.0-or-later
/* The real host: Linux system calls and /proc. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

#define SWAPS_MAX 64

static int linux_advise(void *host, size_t len, int advice)
{
    return madvise(host, len, advice) ? -errno : 0;
}

static int self_pidfd = -1;

static void open_self(void)
{
    self_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
}

/* On one's own memory any advice is allowed from Linux 6.13 on. */
static int64_t linux_advise_vec(const struct iovec *iov, unsigned count, int advice)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ssize_t rc;

    pthread_once(&once, open_self);
    if (self_pidfd < 0) {
        return -ENOSYS;
    }
    rc = syscall(SYS_process_madvise, self_pidfd, iov, (size_t)count, advice, 0u);
    return rc < 0 ? -errno : rc;
}

static int linux_punch(int fd, uint64_t offset, uint64_t len)
{
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     (off_t)offset, (off_t)len) ? -errno : 0;
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
    .advise_vec = linux_advise_vec,
    .punch = linux_punch,
    .remains = tide_remains,
    .swap_room = linux_swap_room,
};
