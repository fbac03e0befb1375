/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The check on real memory, and on hosts that lie. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "fixture.h"

static int ignore_advise(void *mem, size_t len, int advice)
{
    (void)mem;
    (void)len;
    (void)advice;
    return 0;
}

static void nothing_remains(const struct iovec *iov, unsigned count,
                            TideLeaves where, int64_t *bytes)
{
    (void)iov;
    (void)where;
    memset(bytes, 0, count * sizeof(*bytes));
}

static int refuse_advise(void *mem, size_t len, int advice)
{
    (void)mem;
    (void)len;
    (void)advice;
    return -EPERM;
}

static int discard_too_much(void *mem, size_t len, int advice)
{
    return madvise(mem, len + 4096, advice) ? -errno : 0;
}

static void test_real_host(void **state)
{
    static const TideBacking always[] = {
        TIDE_BACKING_ANON, TIDE_BACKING_SHMEM, TIDE_BACKING_PRIVATE_SHMEM,
        TIDE_BACKING_PRIVATE_FILE, TIDE_BACKING_SHARED_FILE,
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        assert_int_equal(tide_selfcheck(always[i], &tide_host_linux), TIDE_PROOF_OK);
    }
    assert_int_equal(tide_selfcheck(TIDE_BACKING_COMMITTED, &tide_host_linux),
                     TIDE_PROOF_FAILED);
}

/* With no huge page to be had nothing is known; with some it works. */
static void test_hugetlb(void **state)
{
    (void)state;
    for (TideBacking b = TIDE_BACKING_HUGETLB; b <= TIDE_BACKING_PRIVATE_HUGETLB; b++) {
        assert_int_not_equal(tide_selfcheck(b, &tide_host_linux), TIDE_PROOF_FAILED);
    }
}

/* Says yes and does nothing; even residency is lied about: contents tell. */
static void test_host_that_lies(void **state)
{
    TideHost host = tide_host_linux;

    (void)state;
    host.advise = ignore_advise;
    assert_int_equal(tide_selfcheck(TIDE_BACKING_ANON, &host), TIDE_PROOF_FAILED);
    host.remains = nothing_remains;
    assert_int_equal(tide_selfcheck(TIDE_BACKING_ANON, &host), TIDE_PROOF_FAILED);
    assert_int_equal(tide_selfcheck(TIDE_BACKING_SHMEM, &host), TIDE_PROOF_FAILED);
}

static void test_host_that_refuses(void **state)
{
    TideHost host = tide_host_linux;

    (void)state;
    host.advise = refuse_advise;
    assert_int_equal(tide_selfcheck(TIDE_BACKING_ANON, &host), TIDE_PROOF_FAILED);
}

static void test_host_that_takes_more(void **state)
{
    TideHost host = tide_host_linux;

    (void)state;
    host.advise = discard_too_much;
    assert_int_equal(tide_selfcheck(TIDE_BACKING_ANON, &host), TIDE_PROOF_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_host),
        cmocka_unit_test(test_hugetlb),
        cmocka_unit_test(test_host_that_lies),
        cmocka_unit_test(test_host_that_refuses),
        cmocka_unit_test(test_host_that_takes_more),
    };

    return RUN_TESTS(tests);
}
