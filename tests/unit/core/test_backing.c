/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest is told of reclaim, from the backings present and their proofs. */
#include "fixture.h"

static uint32_t reclaim(void)
{
    return tide_core_reg_read(bench.core, TIDE_PCI_REG_RECLAIM, 4);
}

static void test_reclaim(void **state)
{
    (void)state;
    assert_int_equal(reclaim(), TIDE_PCI_RECLAIM_NONE);
    tide_core_set_backings(bench.core, 1u << TIDE_BACKING_ANON);
    assert_int_equal(reclaim(), TIDE_PCI_RECLAIM_NONE);
    tide_core_set_proof(bench.core, TIDE_BACKING_ANON, TIDE_PROOF_OK);
    assert_int_equal(reclaim(), TIDE_PCI_RECLAIM_ALL);
    tide_core_set_backings(bench.core, 1u << TIDE_BACKING_ANON |
                           1u << TIDE_BACKING_COMMITTED);
    assert_int_equal(reclaim(), TIDE_PCI_RECLAIM_PARTLY);
    tide_core_set_proof(bench.core, TIDE_BACKING_ANON, TIDE_PROOF_FAILED);
    assert_int_equal(reclaim(), TIDE_PCI_RECLAIM_NONE);
    tide_core_reset(bench.core);
    tide_core_set_proof(bench.core, TIDE_BACKING_ANON, TIDE_PROOF_OK);
    assert_int_equal(reclaim(), TIDE_PCI_RECLAIM_PARTLY);
}

/* The first discard that is seen to work is a proof too. */
static void test_proof_by_use(void **state)
{
    (void)state;
    bench.resident = 4096;
    answer_to(desc(ANON_GPA, 1, TIDE_PCI_INTENT_DISCARD));
    assert_int_equal(tide_core_proof(bench.core, TIDE_BACKING_ANON), TIDE_PROOF_UNKNOWN);
    bench.resident = 0;
    answer_to(desc(ANON_GPA, 1, TIDE_PCI_INTENT_DISCARD));
    assert_int_equal(tide_core_proof(bench.core, TIDE_BACKING_ANON), TIDE_PROOF_OK);
}

/* A backing that failed its check never promises zero, whatever one call shows. */
static void test_failed_proof_stays(void **state)
{
    (void)state;
    tide_core_set_proof(bench.core, TIDE_BACKING_ANON, TIDE_PROOF_FAILED);
    assert_int_equal(answer_to(desc(ANON_GPA, 1, TIDE_PCI_INTENT_DISCARD)).flags, 0);
    assert_int_equal(tide_core_proof(bench.core, TIDE_BACKING_ANON), TIDE_PROOF_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_reclaim),
        BENCH_TEST(test_proof_by_use),
        BENCH_TEST(test_failed_proof_stays),
    };

    return RUN_TESTS(tests);
}
