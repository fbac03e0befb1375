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

#endif /* TIDE_TEST_H */
