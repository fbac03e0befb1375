/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TIDE_TEST_H
#define TIDE_TEST_H

#include "tide-driver.h"

void tide_add_intent_tests(void);
void tide_add_backing_tests(void);
void tide_add_life_tests(void);
void tide_add_inhibit_tests(void);
void tide_add_hostile_tests(void);
void tide_add_stats_tests(void);
void tide_add_rate_tests(void);
void tide_add_virtio_mem_tests(void);

/* tide-test-life.c: migrate to a file, and go on from it in another QEMU. */
char *tide_scratch_path(void);
void tide_save(Tide *t, const char *path);
/* Our mappings of the rings went with the first; what its driver knew goes on. */
Tide *tide_restore(const char *args, const char *props, const char *path,
                   uint32_t sq_tail, uint32_t cq_head);

#endif /* TIDE_TEST_H */
