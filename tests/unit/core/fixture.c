/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <endian.h>
#include <errno.h>

#include "fixture.h"

Bench bench;

static const struct {
    uint64_t gpa, host;
} ram[] = {
    { ANON_GPA, ANON_HOST },
    { SHMEM_GPA, ANON_HOST + GIB },
    { ODD_GPA, ANON_HOST + 8 * GIB + 4096 },
};

static bool has_file(TideBacking backing)
{
    return backing != TIDE_BACKING_ANON && backing != TIDE_BACKING_COMMITTED;
}

static TideTarget target_at(uint64_t host, uint64_t offset, TideBacking backing)
{
    return (TideTarget) {
        .host = (void *)(uintptr_t)(host + offset + bench.moved),
        .backing = backing,
        .fd = has_file(backing) ? BACKING_FD : -1,
        .fd_offset = has_file(backing) ? offset : 0,
        .ref = (void *)(uintptr_t)host,
    };
}

static bool inside(uint64_t gpa, uint64_t len, uint64_t base)
{
    return gpa >= base && gpa + len <= base + GIB;
}

static bool find(uint64_t gpa, uint64_t len, TideTarget *t)
{
    for (unsigned i = 0; i < sizeof(ram) / sizeof(ram[0]); i++) {
        if (inside(gpa, len, ram[i].gpa)) {
            *t = target_at(ram[i].host, gpa - ram[i].gpa, ram[i].gpa == SHMEM_GPA ?
                           TIDE_BACKING_SHMEM : TIDE_BACKING_ANON);
            return true;
        }
    }
    for (unsigned b = 0; b < TIDE_BACKINGS; b++) {
        if (inside(gpa, len, BACKING_GPA(b))) {
            *t = target_at(BACKING_HOST(b), gpa - BACKING_GPA(b), b);
            return true;
        }
    }
    return false;
}

static bool fake_resolve(void *opaque, uint64_t gpa, uint64_t len, TideTarget *t)
{
    (void)opaque;
    if ((bench.gone >= gpa && bench.gone < gpa + len) || !find(gpa, len, t)) {
        return false;
    }
    bench.held++;
    return true;
}

static void fake_release(void *opaque, TideTarget *t)
{
    (void)opaque;
    assert_non_null(t->ref);
    bench.held--;
}

static uint16_t fake_begin(void *opaque)
{
    (void)opaque;
    assert_int_equal(bench.begun, 0);
    bench.begun += bench.begin == TIDE_PCI_ST_OK;
    return bench.begin;
}

static void fake_end(void *opaque)
{
    (void)opaque;
    assert_int_equal(bench.begun, 1);
    assert_int_equal(bench.held, 0);
    bench.begun--;
}

static void fake_notify(void *opaque)
{
    (void)opaque;
    bench.notified++;
}

static int record(uint64_t at, size_t len, int advice)
{
    assert_true(bench.call_count < CALLS_MAX);
    bench.calls[bench.call_count++] = (Call) { at, len, advice };
    if (bench.bad_host >= at && bench.bad_host < at + len &&
        (!bench.bad_advice || bench.bad_advice == advice)) {
        return bench.bad_rc;
    }
    return 0;
}

static int fake_advise(void *host, size_t len, int advice)
{
    assert_int_equal(bench.begun, 1);
    assert_true(bench.held > 0);
    return record((uintptr_t)host, len, advice);
}

static int64_t fake_advise_vec(const struct iovec *iov, unsigned count, int advice)
{
    int64_t done = 0;

    assert_true(count > 1 && bench.begun == 1);
    bench.vectors++;
    if (!bench.can_vec) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < count; i++) {
        int rc = record((uintptr_t)iov[i].iov_base, iov[i].iov_len, advice);

        if (rc) {
            return done ? done : rc;
        }
        done += (int64_t)iov[i].iov_len;
    }
    return done;
}

static int fake_punch(int fd, uint64_t offset, uint64_t len)
{
    assert_int_equal(fd, BACKING_FD);
    return record(offset, len, PUNCH);
}

static void fake_remains(const struct iovec *iov, unsigned count, TideLeaves where,
                         int64_t *bytes)
{
    int64_t said = where == TIDE_LEAVES_MAPPING ? bench.mapped : bench.resident;

    assert_int_not_equal(where, TIDE_LEAVES_NOTHING);
    bench.looks++;
    for (unsigned i = 0; i < count; i++) {
        bytes[i] = (uintptr_t)iov[i].iov_base == bench.stays ? (int64_t)EXTENT : said;
    }
}

static uint64_t fake_swap_room(void)
{
    return bench.swap_room;
}

static const TideOps ops = {
    .resolve = fake_resolve,
    .release = fake_release,
    .begin = fake_begin,
    .end = fake_end,
    .notify = fake_notify,
};

static const TideHost host = {
    .advise = fake_advise,
    .advise_vec = fake_advise_vec,
    .punch = fake_punch,
    .remains = fake_remains,
    .swap_room = fake_swap_room,
};

TideConfig bench_config(void)
{
    return (TideConfig) {
        .queue_size = QUEUE,
        .max_extents = 1024,
        .intents = TIDE_INTENTS_ALL,
        .slice_bytes = 64 * EXTENT,
    };
}

void bench_enable(uint32_t features)
{
    tide_core_reg_write(bench.core, TIDE_PCI_REG_DRIVER_FEATURES, features, 4);
    assert_int_equal(tide_core_reg_write(bench.core, TIDE_PCI_REG_CONTROL,
                                         TIDE_PCI_CONTROL_ENABLE, 4),
                     TIDE_REG_ENABLE);
}

void bench_configure(const TideConfig *config)
{
    tide_core_free(bench.core);
    free(bench.rings);
    bench.rings = aligned_alloc(4096, tide_core_rings_size(config->queue_size));
    memset(bench.rings, 0xa5, tide_core_rings_size(config->queue_size));
    bench.core = tide_core_new(config, bench.rings, &ops, NULL, &host);
    assert_non_null(bench.core);
    bench_enable(0);
}

int bench_setup(void **state)
{
    TideConfig config = bench_config();

    (void)state;
    memset(&bench, 0, sizeof(bench));
    bench.gone = UINT64_MAX;
    bench.bad_host = UINT64_MAX;
    bench_configure(&config);
    return 0;
}

int bench_teardown(void **state)
{
    (void)state;
    assert_int_equal(bench.held, 0);
    tide_core_free(bench.core);
    free(bench.rings);
    return 0;
}

uint32_t index_read(unsigned offset)
{
    uint32_t value;

    memcpy(&value, bench.rings + offset, sizeof(value));
    return le32toh(value);
}

void index_write(unsigned offset, uint32_t value)
{
    value = htole32(value);
    memcpy(bench.rings + offset, &value, sizeof(value));
}

struct tide_pci_desc desc(uint64_t gpa, uint32_t count, uint16_t intent)
{
    return (struct tide_pci_desc) {
        .gpa = htole64(gpa),
        .count = htole32(count),
        .intent = htole16(intent),
    };
}

static uint32_t queue_size(void)
{
    return tide_core_reg_read(bench.core, TIDE_PCI_REG_QUEUE_SIZE, 4);
}

void submit(struct tide_pci_desc d)
{
    uint32_t tail = index_read(TIDE_PCI_INDEX_SQ_TAIL);
    uint32_t at = tide_core_reg_read(bench.core, TIDE_PCI_REG_SQ_OFFSET, 4);

    d.cookie = htole64(tail);
    memcpy(bench.rings + at + (tail & (queue_size() - 1)) * sizeof(d), &d, sizeof(d));
    index_write(TIDE_PCI_INDEX_SQ_TAIL, tail + 1);
}

TideRun run(void)
{
    TideRun last;

    do {
        last = tide_core_run(bench.core);
    } while (last == TIDE_RUN_MORE);
    return last;
}

TideRun step(void)
{
    unsigned before = bench.call_count;
    TideRun last;

    do {
        last = tide_core_run(bench.core);
    } while (last == TIDE_RUN_MORE && bench.call_count == before);
    return last;
}

struct tide_pci_cpl complete(void)
{
    uint32_t head = index_read(TIDE_PCI_INDEX_CQ_HEAD);
    uint32_t at = tide_core_reg_read(bench.core, TIDE_PCI_REG_CQ_OFFSET, 4);
    struct tide_pci_cpl cpl;

    assert_int_not_equal(head, index_read(TIDE_PCI_INDEX_CQ_TAIL));
    memcpy(&cpl, bench.rings + at + (head & (queue_size() - 1)) * sizeof(cpl),
           sizeof(cpl));
    index_write(TIDE_PCI_INDEX_CQ_HEAD, head + 1);
    assert_int_equal(cpl.reserved0, 0);
    assert_int_equal(cpl.reserved1, 0);
    return cpl;
}

struct tide_pci_cpl answer_to(struct tide_pci_desc d)
{
    uint32_t cookie = index_read(TIDE_PCI_INDEX_SQ_TAIL);
    struct tide_pci_cpl cpl;

    submit(d);
    assert_int_equal(run(), TIDE_RUN_IDLE);
    cpl = complete();
    assert_int_equal(le64toh(cpl.cookie), cookie);
    return cpl;
}

TideStats stats(void)
{
    TideStats s;

    tide_core_stats(bench.core, &s);
    return s;
}
