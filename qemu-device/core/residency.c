// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What of our memory is still there, asked of Linux in the cheapest way that
 * tells it: mincore(2), PAGEMAP_SCAN where the kernel has it (6.7), or else
 * /proc/self/pagemap itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* Looking past what lies between two ranges is cheaper than a call for each. */
#define GAP_MAX ((size_t)4 << 20)
#define REACH_MAX ((size_t)128 << 20)

static size_t page_size;
static int pagemap = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_pagemap(void)
{
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

/* From the first byte of one range to the last of another. */
static size_t reach(const struct iovec *from, const struct iovec *to)
{
    return (size_t)((uintptr_t)to->iov_base + to->iov_len - (uintptr_t)from->iov_base);
}

/* How many ranges, from the first on, one look can take in. */
static unsigned near(const struct iovec *iov, unsigned count)
{
    unsigned n = 1;

    while (n < count && reach(iov, &iov[n]) <= REACH_MAX &&
           reach(iov, &iov[n]) - reach(iov, &iov[n - 1]) <=
           iov[n].iov_len + GAP_MAX) {
        n++;
    }
    return n;
}

/* ---- mincore(2): pages in RAM, also those of a file that others brought in ---- */

#define LOOK_PAGES 32768

/* Nearly always none is there: look at eight pages at once. */
static size_t count_pages(const unsigned char *vec, size_t pages)
{
    size_t count = 0;

    for (size_t i = 0; i < pages; i += 8) {
        uint64_t word = 0;

        memcpy(&word, vec + i, pages - i < 8 ? pages - i : 8);
        word &= UINT64_C(0x0101010101010101);
        if (word) {
            count += (size_t)__builtin_popcountll(word);
        }
    }
    return count;
}

static int64_t resident_in(unsigned char *host, size_t len, unsigned char *vec)
{
    size_t chunk = LOOK_PAGES * page_size;
    size_t pages = 0;

    for (size_t at = 0; at < len; at += chunk) {
        size_t n = len - at < chunk ? len - at : chunk;

        if (mincore(host + at, n, vec)) {
            return -errno;
        }
        pages += count_pages(vec, n / page_size);
    }
    return (int64_t)(pages * page_size);
}

/* False if there is a hole between them, or one of them is no memory. */
static bool resident_in_group(const struct iovec *iov, unsigned count,
                              unsigned char *vec, int64_t *bytes)
{
    size_t len = reach(&iov[0], &iov[count - 1]);

    if (len > LOOK_PAGES * page_size || mincore(iov[0].iov_base, len, vec)) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        size_t at = reach(&iov[0], &iov[i]) - iov[i].iov_len;

        bytes[i] = (int64_t)(count_pages(vec + at / page_size,
                                         iov[i].iov_len / page_size) * page_size);
    }
    return true;
}

static void resident(const struct iovec *iov, unsigned count, int64_t *bytes)
{
    unsigned char vec[LOOK_PAGES];

    if (count > 1 && resident_in_group(iov, count, vec, bytes)) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        bytes[i] = resident_in(iov[i].iov_base, iov[i].iov_len, vec);
    }
}

/* ---- PAGEMAP_SCAN: pages of this mapping, with no cost where there are none ---- */

/* Linux, include/uapi/linux/fs.h; headers of 6.1 do not have it. */
struct scan_region {
    uint64_t start;
    uint64_t end;
    uint64_t categories;
};

struct scan_arg {
    uint64_t size;
    uint64_t flags;
    uint64_t start;
    uint64_t end;
    uint64_t walk_end;
    uint64_t vec;
    uint64_t vec_len;
    uint64_t max_pages;
    uint64_t category_inverted;
    uint64_t category_mask;
    uint64_t category_anyof_mask;
    uint64_t return_mask;
};

#define SCAN _IOWR('f', 16, struct scan_arg)
#define SCAN_HERE (UINT64_C(3) << 3)            /* present, or in swap */
#define SCAN_REGIONS 64

static uint64_t overlap(const struct iovec *iov, const struct scan_region *region)
{
    uint64_t start = (uintptr_t)iov->iov_base, end = start + iov->iov_len;

    start = start > region->start ? start : region->start;
    end = end < region->end ? end : region->end;
    return start < end ? end - start : 0;
}

static void add_regions(const struct iovec *iov, unsigned count, int64_t *bytes,
                        const struct scan_region *regions, unsigned found)
{
    unsigned i = 0;

    for (unsigned r = 0; r < found; r++) {
        while (i < count && reach(iov, &iov[i]) + (uintptr_t)iov->iov_base <=
               regions[r].start) {
            i++;
        }
        for (unsigned j = i; j < count && (uintptr_t)iov[j].iov_base < regions[r].end;
             j++) {
            bytes[j] += (int64_t)overlap(&iov[j], &regions[r]);
        }
    }
}

/* False: this kernel cannot, or they are no memory. */
static bool scan(const struct iovec *iov, unsigned count, int64_t *bytes)
{
    struct scan_region regions[SCAN_REGIONS];
    struct scan_arg arg = {
        .size = sizeof(arg),
        .start = (uintptr_t)iov[0].iov_base,
        .end = (uintptr_t)iov[0].iov_base + reach(&iov[0], &iov[count - 1]),
        .vec = (uintptr_t)regions,
        .vec_len = SCAN_REGIONS,
        .category_anyof_mask = SCAN_HERE,
        .return_mask = SCAN_HERE,
    };
    int found;

    memset(bytes, 0, count * sizeof(*bytes));
    do {
        found = ioctl(pagemap, SCAN, &arg);
        if (found < 0 || arg.walk_end <= arg.start) {
            return false;
        }
        add_regions(iov, count, bytes, regions, (unsigned)found);
        arg.start = arg.walk_end;
    } while (arg.start < arg.end);
    return true;
}

/* ---- /proc/self/pagemap: the same, page by page ---- */

#define PAGEMAP_HERE (UINT64_C(3) << 62)        /* present, or in swap */
#define PAGEMAP_ENTRIES 512

/* Linux, Documentation/admin-guide/mm/pagemap.rst */
static int64_t mapped_in(unsigned char *host, size_t len)
{
    uint64_t entries[PAGEMAP_ENTRIES];
    int64_t bytes = 0;

    for (size_t at = 0; at < len; at += PAGEMAP_ENTRIES * page_size) {
        size_t n = (len - at) / page_size;
        off_t offset = (off_t)(((uintptr_t)host + at) / page_size * 8);

        n = n < PAGEMAP_ENTRIES ? n : PAGEMAP_ENTRIES;
        if (pread(pagemap, entries, n * 8, offset) != (ssize_t)(n * 8)) {
            return -EIO;
        }
        for (size_t i = 0; i < n; i++) {
            bytes += entries[i] & PAGEMAP_HERE ? (int64_t)page_size : 0;
        }
    }
    return bytes;
}

void tide_mapped(const struct iovec *iov, unsigned count, int64_t *bytes)
{
    pthread_once(&once, open_pagemap);
    for (unsigned i = 0; i < count; i++) {
        bytes[i] = mapped_in(iov[i].iov_base, iov[i].iov_len);
    }
}

void tide_remains(const struct iovec *iov, unsigned count, TideLeaves where,
                  int64_t *bytes)
{
    unsigned n;

    pthread_once(&once, open_pagemap);
    for (unsigned at = 0; at < count; at += n) {
        n = near(&iov[at], count - at);
        if (where != TIDE_LEAVES_MEMORY && scan(&iov[at], n, &bytes[at])) {
            continue;
        }
        if (where == TIDE_LEAVES_MAPPING) {
            tide_mapped(&iov[at], n, &bytes[at]);
        } else {
            resident(&iov[at], n, &bytes[at]);
        }
    }
}
