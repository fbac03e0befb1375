// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * core_rate [MIB [ROUNDS]]: how fast the device core gives memory back, beside
 * raw madvise(2) of the same memory in the same run, one after the other.
 *
 * Guest RAM is one mapping with huge pages. Both work in one thread that is
 * woken, as by a doorbell, because who zaps pages that another CPU wrote pays
 * for its caches; and once more in the thread that wrote them. Prints CSV:
 * what,round,us.
 */
#include <endian.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#define EXTENT TIDE_EXTENT_SIZE
#define QUEUE 4096
#define GPA (UINT64_C(1) << 32)
#define SMALL_ROUNDS 1000

static unsigned char *ram;
static uint64_t ram_len;
static unsigned char *rings;
static TideCore *core;

/* ---- What the core asks of us ---- */

static bool resolve(void *opaque, uint64_t gpa, uint64_t len, TideTarget *target)
{
    (void)opaque;
    if (gpa < GPA || len > ram_len || gpa - GPA > ram_len - len) {
        return false;
    }
    *target = (TideTarget) { .host = ram + (gpa - GPA), .backing = TIDE_BACKING_ANON,
                             .fd = -1, .ref = ram };
    return true;
}

static void release(void *opaque, TideTarget *target)
{
    (void)opaque;
    (void)target;
}

static uint16_t begin(void *opaque)
{
    (void)opaque;
    return TIDE_PCI_ST_OK;
}

static void nothing(void *opaque)
{
    (void)opaque;
}

static const TideOps ops = { .resolve = resolve, .release = release, .begin = begin,
                             .end = nothing, .notify = nothing };

/* ---- The driver's side ---- */

static uint32_t *index_at(unsigned offset)
{
    return (uint32_t *)(void *)(rings + offset);
}

static void submit(uint64_t extent, uint32_t count)
{
    uint32_t tail = *index_at(TIDE_PCI_INDEX_SQ_TAIL);
    struct tide_pci_desc desc = {
        .gpa = htole64(GPA + extent * EXTENT),
        .count = htole32(count),
        .intent = htole16(TIDE_PCI_INTENT_DISCARD),
    };

    memcpy(rings + TIDE_PCI_INDEX_SIZE + (tail % QUEUE) * sizeof(desc), &desc,
           sizeof(desc));
    __atomic_store_n(index_at(TIDE_PCI_INDEX_SQ_TAIL), tail + 1, __ATOMIC_RELEASE);
}

static void take_answers(void)
{
    __atomic_store_n(index_at(TIDE_PCI_INDEX_CQ_HEAD),
                     *index_at(TIDE_PCI_INDEX_CQ_TAIL), __ATOMIC_RELEASE);
}

/* ---- What is measured ---- */

static void run_core(void)
{
    while (tide_core_run(core) == TIDE_RUN_MORE) {
    }
}

static void submit_contiguous(void)
{
    submit(0, (uint32_t)(ram_len / EXTENT));
}

static void submit_scattered(void)
{
    for (uint64_t i = 0; i < ram_len / EXTENT; i += 2) {
        submit(i, 1);
    }
}

static void advise(unsigned char *host, uint64_t len)
{
    if (madvise(host, len, MADV_DONTNEED)) {
        perror("madvise");
        exit(1);
    }
}

static void raw_contiguous(void)
{
    advise(ram, ram_len);
}

static void raw_scattered(void)
{
    for (uint64_t i = 0; i < ram_len / EXTENT; i += 2) {
        advise(ram + i * EXTENT, EXTENT);
    }
}

static void submit_refused(void)
{
    for (unsigned i = 0; i < SMALL_ROUNDS; i++) {
        submit(i, 0);
    }
}

static void empty_doorbells(void)
{
    for (unsigned i = 0; i < SMALL_ROUNDS; i++) {
        run_core();
    }
}

static void no_submission(void)
{
}

static const struct {
    const char *name;
    void (*submit)(void);
    void (*work)(void);
} cases[] = {
    { "raw contiguous", no_submission, raw_contiguous },
    { "core contiguous", submit_contiguous, run_core },
    { "raw scattered", no_submission, raw_scattered },
    { "core scattered", submit_scattered, run_core },
    { "1000 refused descriptors", submit_refused, run_core },
    { "1000 empty doorbells", no_submission, empty_doorbells },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static sem_t doorbell;
static void (*volatile work)(void);
static int done;

static void *worker(void *arg)
{
    (void)arg;
    for (;;) {
        sem_wait(&doorbell);
        work();
        __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* From writing the first descriptor to seeing that all is done. */
static void measure(unsigned which, unsigned round, bool woken)
{
    uint64_t from;

    memset(ram, 1, ram_len);
    __atomic_store_n(&done, 0, __ATOMIC_RELAXED);
    from = tide_now_ns();
    cases[which].submit();
    if (woken) {
        work = cases[which].work;
        sem_post(&doorbell);
        while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        }
    } else {
        cases[which].work();
    }
    printf("%s %s,%u,%.3f\n", woken ? "woken" : "alone", cases[which].name, round,
           (double)(tide_now_ns() - from) / 1000);
    take_answers();
}

static void set_up(uint64_t mib)
{
    TideConfig config = { .queue_size = QUEUE, .max_extents = TIDE_MAX_EXTENTS_LIMIT,
                          .intents = TIDE_INTENTS_ALL, .slice_bytes = 128 << 20 };
    pthread_t thread;

    ram_len = mib << 20;
    ram = mmap(NULL, ram_len + EXTENT, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ram == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    ram += -(uintptr_t)ram & (EXTENT - 1);
    madvise(ram, ram_len, MADV_HUGEPAGE);
    rings = aligned_alloc(4096, tide_core_rings_size(QUEUE));
    memset(rings, 0, tide_core_rings_size(QUEUE));
    core = tide_core_new(&config, rings, &ops, NULL, &tide_host_linux);
    if (!core || sem_init(&doorbell, 0, 0) ||
        pthread_create(&thread, NULL, worker, NULL)) {
        fprintf(stderr, "no memory for the core, or no thread\n");
        exit(1);
    }
    tide_core_reg_write(core, TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_ENABLE, 4);
}

int main(int argc, char **argv)
{
    uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 2048;
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 15;
    TideStats stats;

    if (mib < 2 || mib / 2 > QUEUE || rounds < 1) {
        fprintf(stderr, "usage: core_rate [MIB, from 2 to %u [ROUNDS]]\n", 2 * QUEUE);
        return 2;
    }
    set_up(mib);
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < 2 * CASES; i++) {
            measure(i % CASES, round, i < CASES);
        }
    }
    tide_core_stats(core, &stats);
    if (stats.answers[TIDE_PCI_ST_OK] != 2 * rounds * (1 + mib / 4) ||
        stats.intents[TIDE_PCI_INTENT_DISCARD].verified_bytes !=
        stats.intents[TIDE_PCI_INTENT_DISCARD].asked_bytes) {
        fprintf(stderr, "not all of it was given back: the figures mean nothing\n");
        return 1;
    }
    return 0;
}
