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

/* Nearly always none is there: look at eight pages at once first. */
static size_t count_resident(const unsigned char *vec, size_t pages)
{
    size_t count = 0;

    for (size_t i = 0; i < pages; i += 8) {
        uint64_t word = 0;
        size_t n = pages - i < 8 ? pages - i : 8;

        memcpy(&word, vec + i, n);
        count += (size_t)__builtin_popcountll(word & UINT64_C(0x0101010101010101));
    }
    return count;
}

#define LOOK_PAGES 32768
/* Looking past what lies between two ranges is cheaper than a call for each. */
#define LOOK_GAP (UINT64_C(4) << 20)

static int64_t resident_in(unsigned char *host, size_t len, unsigned char *vec)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t chunk = LOOK_PAGES * page;
    size_t pages = 0;

    for (size_t at = 0; at < len; at += chunk) {
        size_t n = len - at < chunk ? len - at : chunk;

        if (mincore(host + at, n, vec)) {
            return -errno;
        }
        pages += count_resident(vec, n / page);
    }
    return (int64_t)(pages * page);
}

static size_t reach(const struct iovec *from, const struct iovec *to)
{
    return (size_t)((uintptr_t)to->iov_base + to->iov_len - (uintptr_t)from->iov_base);
}

/* How many ranges, from the first on, one look can take in. */
static unsigned near(const struct iovec *iov, unsigned count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned n = 1;

    while (n < count && reach(iov, &iov[n]) <= LOOK_PAGES * page &&
           reach(iov, &iov[n]) - reach(iov, &iov[n - 1]) <=
           iov[n].iov_len + LOOK_GAP) {
        n++;
    }
    return n;
}

/* False if there is a hole between them, or one of them is no memory. */
static bool look_at(const struct iovec *iov, unsigned count, unsigned char *vec,
                    int64_t *bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (mincore(iov[0].iov_base, reach(&iov[0], &iov[count - 1]), vec)) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        size_t at = reach(&iov[0], &iov[i]) - iov[i].iov_len;

        bytes[i] = (int64_t)(count_resident(vec + at / page,
                                            iov[i].iov_len / page) * page);
    }
    return true;
}

static void linux_resident(const struct iovec *iov, unsigned count, int64_t *bytes)
{
    unsigned char vec[LOOK_PAGES];
    unsigned n;

    for (unsigned at = 0; at < count; at += n) {
        n = near(&iov[at], count - at);
        if (n > 1 && look_at(&iov[at], n, vec, &bytes[at])) {
            continue;
        }
        for (unsigned i = at; i < at + n; i++) {
            bytes[i] = resident_in(iov[i].iov_base, iov[i].iov_len, vec);
        }
    }
}

#define PAGEMAP_HERE (UINT64_C(3) << 62)        /* present, or in swap */

/* Linux, Documentation/admin-guide/mm/pagemap.rst */
static int64_t linux_mapped(void *host, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entries[512];
    int64_t bytes = 0;

    if (fd < 0) {
        return -errno;
    }
    for (size_t at = 0; at < len; at += sizeof(entries) / 8 * page) {
        size_t n = (len - at) / page;
        off_t offset = (off_t)(((uintptr_t)host + at) / page * 8);

        n = n < 512 ? n : 512;
        if (pread(fd, entries, n * 8, offset) != (ssize_t)(n * 8)) {
            bytes = -EIO;
            break;
        }
        for (size_t i = 0; i < n; i++) {
            bytes += entries[i] & PAGEMAP_HERE ? (int64_t)page : 0;
        }
    }
    close(fd);
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
    .advise_vec = linux_advise_vec,
    .punch = linux_punch,
    .resident = linux_resident,
    .mapped = linux_mapped,
    .swap_room = linux_swap_room,
};
