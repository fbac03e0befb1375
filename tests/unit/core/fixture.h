/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device core on a bench: fake guest RAM at addresses that are never
 * touched, a host that records what it is asked, and a driver's side of the
 * rings.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "internal.h"

#define EXTENT TIDE_EXTENT_SIZE
#define GIB (UINT64_C(1) << 30)
#define QUEUE 16

/* Guest RAM of the bench. */
#define ANON_GPA    (1 * GIB)           /* 1 GiB, anonymous */
#define ANON_HOST   (UINT64_C(0x7000) << 32)
#define SHMEM_GPA   (2 * GIB)           /* 1 GiB, right behind it */
#define ODD_GPA     (4 * GIB)           /* host address off by a page */
/* 1 GiB of each backing; those behind a file start at the file's first byte. */
#define BACKING_GPA(b)  ((16 + 2 * (uint64_t)(b)) * GIB)
#define BACKING_HOST(b) (ANON_HOST + BACKING_GPA(b))
#define COMMIT_GPA  BACKING_GPA(TIDE_BACKING_COMMITTED)
#define BACKING_FD  7
#define CALLS_MAX   512

typedef struct Call {
    uint64_t host;
    uint64_t len;
    int advice;                 /* PUNCH: a hole in the file, host is the offset */
} Call;

#define PUNCH (-1)

typedef struct Bench {
    TideCore *core;
    unsigned char *rings;

    /* What the fakes do. */
    uint16_t begin;             /* status that begin() answers */
    uint64_t gone;              /* guest-physical address that is no longer RAM */
    uint64_t moved;             /* added to every host address */
    bool can_vec;               /* the kernel takes vectors */
    uint64_t bad_host;          /* an advise over this address fails */
    int bad_rc;
    int bad_advice;             /* ... only this advice; 0: any */
    int64_t resident;           /* bytes said to remain in a range */
    uint64_t stays;             /* a range that begins here is said to remain */
    unsigned looks;             /* at what remains in memory */
    int64_t mapped;
    uint64_t swap_room;

    /* What the fakes saw. */
    Call calls[CALLS_MAX];
    unsigned call_count;
    unsigned vectors;
    int begun;                  /* begin() without end() */
    unsigned notified;
    int held;                   /* targets resolved and not released */
} Bench;

extern Bench bench;

int bench_setup(void **state);
int bench_teardown(void **state);
/* Replace the core by one with another configuration, enabled. */
void bench_configure(const TideConfig *config);
TideConfig bench_config(void);
void bench_enable(uint32_t features);

uint32_t index_read(unsigned offset);
void index_write(unsigned offset, uint32_t value);
struct tide_pci_desc desc(uint64_t gpa, uint32_t count, uint16_t intent);
/* Put a descriptor into the ring and publish it. Its cookie is its index. */
void submit(struct tide_pci_desc d);
/* Run until the core has nothing left; what it said last. */
TideRun run(void);
/* Next unread completion; fails the test if there is none. */
struct tide_pci_cpl complete(void);
/* Run until one call was made to the host, or nothing is left. */
TideRun step(void);
/* All of the above for one descriptor. */
struct tide_pci_cpl answer_to(struct tide_pci_desc d);

TideStats stats(void);

/* TAP on stdout, for prove. */
#define RUN_TESTS(tests) \
    (cmocka_set_message_output(CM_OUTPUT_TAP), \
     cmocka_run_group_tests(tests, NULL, NULL))
#define BENCH_TEST(fn) cmocka_unit_test_setup_teardown(fn, bench_setup, bench_teardown)

#endif
