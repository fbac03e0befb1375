/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast memory goes back through the device, beside raw madvise(2) of the same
 * memory by another thread of the same QEMU, one after the other.
 */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "tide-driver.h"
#include "tide-test.h"

#define BYTES (2 * GiB)
#define ROUNDS 11
#define LEAST 0.9

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), compare);
    return values[ROUNDS / 2];
}

static double raw_us(Tide *t)
{
    QDict *rsp;
    double us;

    qtest_qmp_assert_success(t->qts, "{ 'execute': 'qom-set', 'arguments': "
        "{ 'path': '/machine/peripheral/raw', 'property': 'raw-discard', "
        "'value': %" PRIu64 " } }", (uint64_t)BYTES);
    rsp = qtest_qmp(t->qts, "{ 'execute': 'qom-get', 'arguments': "
        "{ 'path': '/machine/peripheral/raw', 'property': 'raw-discard' } }");
    us = qdict_get_int(rsp, "return");
    qobject_unref(rsp);
    return us;
}

/* From the doorbell to seeing the completion, the test's own way to QEMU included. */
static double device_us(Tide *t)
{
    gint64 from;

    tide_push(t, 4 * GiB, BYTES / EXTENT, TIDE_PCI_INTENT_DISCARD);
    from = g_get_monotonic_time();
    tide_ring_doorbell(t);
    while (tide_index(t, TIDE_PCI_INDEX_CQ_TAIL) != t->sq_tail) {
        g_usleep(200);
    }
    from = g_get_monotonic_time() - from;
    g_assert_cmpuint(tide_pop(t).done, ==, BYTES / EXTENT);
    return from;
}

/* Guest RAM above 4 GiB is what lies last in the machine's. */
static void test_rate(void)
{
    Tide *t = tide_start("-m 4G -device tide-testdev,id=raw ", "");
    double raw[ROUNDS], device[ROUNDS], ratio;

    for (unsigned i = 0; i < ROUNDS; i++) {
        qtest_memset(t->qts, 4 * GiB, 1, BYTES);
        raw[i] = raw_us(t);
        qtest_memset(t->qts, 4 * GiB, 1, BYTES);
        device[i] = device_us(t);
    }
    g_assert_cmpuint(tide_counter(t, "discard-verified-bytes"), ==, ROUNDS * BYTES);
    g_test_message("max %" PRIu64, tide_counter(t, "latency-max-us"));
    ratio = median(raw) / median(device);
    g_test_message("2 GiB: raw %.0f us, through the device %.0f us: %.2f of raw",
                   median(raw), median(device), ratio);
    g_assert_cmpfloat(ratio, >=, LEAST);
    tide_stop(t);
}

/* Only where asked for: what else runs on a machine decides such a figure. */
void tide_add_rate_tests(void)
{
    if (g_test_slow()) {
        qtest_add_func("/tide/rate/contiguous", test_rate);
    }
}
