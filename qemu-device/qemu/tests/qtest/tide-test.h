/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TIDE_TEST_H
#define TIDE_TEST_H

#include "tide-driver.h"

void tide_add_intent_tests(void);
void tide_add_backing_tests(void);
void tide_add_life_tests(void);
void tide_add_migration_tests(void);
void tide_add_snapshot_tests(void);
void tide_add_inhibit_tests(void);
void tide_add_hostile_tests(void);
void tide_add_stats_tests(void);
void tide_add_rate_tests(void);
void tide_add_virtio_mem_tests(void);

/* tide-test-life.c: migrate to a file, and go on from it in another QEMU. */
char *tide_scratch_path(void);
void tide_save(Tide *t, const char *path);
/* In place of @saved, which is stopped. */
Tide *tide_restore(Tide *saved, const char *args, const char *props,
                   const char *path);

#endif /* TIDE_TEST_H */
