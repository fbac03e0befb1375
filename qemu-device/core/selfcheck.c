// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does DISCARD free memory here? Tried on scratch memory of the same kind, by
 * the same code: a zero return of madvise(2) proves nothing, and a kernel or a
 * sandbox may refuse what the documentation allows.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB (21u << 26)
#endif

#define EXTENTS 3               /* the one in the middle is given back */
#define SCRATCH (EXTENTS * TIDE_EXTENT_SIZE)
#define FILE_BYTE 0x5a
#define OUR_BYTE 0xa5

typedef struct Scratch {
    unsigned char *map;         /* as mapped */
    size_t map_len;
    unsigned char *mem;         /* the aligned part of it */
    int fd;
} Scratch;

static bool is_hugetlb(TideBacking backing)
{
    return backing == TIDE_BACKING_HUGETLB || backing == TIDE_BACKING_PRIVATE_HUGETLB;
}

static bool is_shared(TideBacking backing)
{
    return backing == TIDE_BACKING_SHMEM || backing == TIDE_BACKING_HUGETLB ||
        backing == TIDE_BACKING_SHARED_FILE;
}

static int scratch_file(TideBacking backing)
{
    unsigned flags = MFD_CLOEXEC;
    int fd;

    if (is_hugetlb(backing)) {
        flags |= MFD_HUGETLB | MFD_HUGE_2MB;
    }
    fd = memfd_create("tide-selfcheck", flags);
    if (fd >= 0 && ftruncate(fd, (off_t)SCRATCH)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* What a snapshot's file would hold. */
static bool fill_file(int fd)
{
    static const unsigned char page[4096] = { [0 ... 4095] = FILE_BYTE };

    for (uint64_t at = 0; at < SCRATCH; at += sizeof(page)) {
        if (pwrite(fd, page, sizeof(page), (off_t)at) != (ssize_t)sizeof(page)) {
            return false;
        }
    }
    return true;
}

static bool map_anon(Scratch *s)
{
    s->map_len = SCRATCH + TIDE_EXTENT_SIZE;
    s->map = mmap(NULL, s->map_len, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s->map == MAP_FAILED) {
        return false;
    }
    s->mem = s->map + (-(uintptr_t)s->map & (TIDE_EXTENT_SIZE - 1));
    /* As a VMM does with guest RAM; where there are none, small pages do. */
    madvise(s->mem, SCRATCH, MADV_HUGEPAGE);
    return true;
}

static bool map_file(Scratch *s, TideBacking backing)
{
    s->fd = scratch_file(backing);
    if (s->fd < 0 ||
        (backing == TIDE_BACKING_PRIVATE_FILE && !fill_file(s->fd))) {
        return false;
    }
    s->map_len = SCRATCH;
    s->map = mmap(NULL, s->map_len, PROT_READ | PROT_WRITE,
                  is_shared(backing) ? MAP_SHARED : MAP_PRIVATE, s->fd, 0);
    s->mem = s->map;
    return s->map != MAP_FAILED;
}

static bool map_scratch(Scratch *s, TideBacking backing)
{
    *s = (Scratch) { .map = MAP_FAILED, .fd = -1 };
    return backing == TIDE_BACKING_ANON ? map_anon(s) : map_file(s, backing);
}

static void unmap_scratch(Scratch *s)
{
    if (s->map != MAP_FAILED) {
        munmap(s->map, s->map_len);
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
}

static bool all_bytes(const unsigned char *mem, uint64_t len, unsigned char byte)
{
    return mem[0] == byte && !memcmp(mem, mem + 1, len - 1);
}

static bool contents_right(const Scratch *s, TideBacking backing)
{
    unsigned char *middle = s->mem + TIDE_EXTENT_SIZE;
    unsigned char expect = backing == TIDE_BACKING_PRIVATE_FILE ? FILE_BYTE : 0;

    return all_bytes(middle, TIDE_EXTENT_SIZE, expect) &&
        all_bytes(s->mem, TIDE_EXTENT_SIZE, OUR_BYTE) &&
        all_bytes(middle + TIDE_EXTENT_SIZE, TIDE_EXTENT_SIZE, OUR_BYTE);
}

/* Huge pages may all be in use by the guest already: then nothing is known. */
static bool fill(const Scratch *s, TideBacking backing)
{
    if (is_hugetlb(backing) && madvise(s->mem, SCRATCH, 23 /* POPULATE_WRITE */)) {
        return false;
    }
    memset(s->mem, OUR_BYTE, SCRATCH);
    return true;
}

static TideProof try_discard(const Scratch *s, TideBacking backing,
                             const TideHost *host)
{
    unsigned char *middle = s->mem + TIDE_EXTENT_SIZE;
    TideRequest req = {
        .intent = TIDE_PCI_INTENT_DISCARD,
        .len = TIDE_EXTENT_SIZE,
        .target = { .host = middle, .backing = backing, .fd = s->fd,
                    .fd_offset = TIDE_EXTENT_SIZE },
    };
    TideRequest *reqs[] = { &req };
    TideCore core = { .host = *host, .no_vec = true };
    TidePass pass = {
        .spans = { { .reqs = reqs, .count = 1, .host = middle,
                     .len = TIDE_EXTENT_SIZE } },
        .iov = { { middle, TIDE_EXTENT_SIZE } },
        .count = 1,
        .verb = tide_choose(&core, &req, TIDE_EXTENT_SIZE),
    };

    tide_act(&core, &pass);
    return req.status == TIDE_PCI_ST_OK && req.done == TIDE_EXTENT_SIZE &&
        !req.unproven && contents_right(s, backing) ?
        TIDE_PROOF_OK : TIDE_PROOF_FAILED;
}

TideProof tide_selfcheck(TideBacking backing, const TideHost *host)
{
    TideProof proof = TIDE_PROOF_UNKNOWN;
    Scratch scratch;

    if (!tide_backing_supported(backing, TIDE_PCI_INTENT_DISCARD)) {
        return TIDE_PROOF_FAILED;
    }
    if (map_scratch(&scratch, backing) && fill(&scratch, backing)) {
        proof = try_discard(&scratch, backing, host);
    }
    unmap_scratch(&scratch);
    return proof;
}
