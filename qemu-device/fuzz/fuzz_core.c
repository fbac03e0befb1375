// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile driver against the device core: libFuzzer's bytes are register
 * accesses, writes anywhere into ring memory, descriptors, runs of the worker,
 * resets, and saved states. Guest RAM is real memory, with a fence of other
 * memory around it, and a model of what may change in it: live contents never,
 * dead contents only where a valid descriptor named them.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#define QUEUE 16
#define EXTENT TIDE_EXTENT_SIZE
#define RAM_EXTENTS 8           /* of each region */
#define REGIONS 3
#define ALIVE 0x5a

/* One opcode byte, then its operands. */
enum {
    OP_REG_WRITE, OP_REG_READ, OP_RING_WRITE, OP_INDEX, OP_DESC, OP_RUN,
    OP_RESET, OP_SAVE_LOAD, OP_LOAD_RAW, OP_BEGIN, OP_HOLE, OP_READ_COMPLETIONS,
    OPS
};

typedef struct Input {
    const uint8_t *at;
    size_t left;
} Input;

static const struct {
    uint64_t gpa;
    TideBacking backing;
} regions[REGIONS] = {
    { 0x40000000, TIDE_BACKING_ANON },
    { 0x40000000 + RAM_EXTENTS * EXTENT, TIDE_BACKING_SHMEM },
    { UINT64_C(0x100000000), TIDE_BACKING_PRIVATE_FILE },
};

static unsigned char *memory;   /* fence, region, fence, region, ... */
static unsigned char *rings;
static TideCore *core;
static uint16_t begin_status;
static uint64_t hole;
static int held;
static unsigned char named[REGIONS][RAM_EXTENTS];

#define CHECK(cond) \
    do { \
        if (!(cond)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
            abort(); \
        } \
    } while (0)

static unsigned char *region_host(unsigned r)
{
    return memory + (2 * r + 1) * RAM_EXTENTS * EXTENT;
}

static bool resolve(void *opaque, uint64_t gpa, uint64_t len, TideTarget *target)
{
    (void)opaque;
    CHECK(len >= EXTENT && len % EXTENT == 0);
    for (unsigned r = 0; r < REGIONS; r++) {
        uint64_t base = regions[r].gpa;

        if (gpa >= base && len <= RAM_EXTENTS * EXTENT &&
            gpa - base <= RAM_EXTENTS * EXTENT - len &&
            !(hole >= gpa && hole - gpa < len)) {
            *target = (TideTarget) {
                .host = region_host(r) + (gpa - base),
                .backing = regions[r].backing,
                .fd = regions[r].backing == TIDE_BACKING_ANON ? -1 : 1000,
                .fd_offset = gpa - base,
                .ref = region_host(r),
            };
            held++;
            return true;
        }
    }
    return false;
}

static void release(void *opaque, TideTarget *target)
{
    (void)opaque;
    (void)target;
    CHECK(held-- > 0);
}

static uint16_t begin(void *opaque)
{
    (void)opaque;
    CHECK(held == 0);
    return begin_status;
}

static void end(void *opaque)
{
    (void)opaque;
    CHECK(held == 0);
}

static void notify(void *opaque)
{
    (void)opaque;
}

/* Whole extents of one region, and held: else the fence would be next. */
static unsigned region_of(const unsigned char *host, size_t len)
{
    CHECK(held > 0);
    for (unsigned r = 0; r < REGIONS; r++) {
        if (host >= region_host(r) &&
            host + len <= region_host(r) + RAM_EXTENTS * EXTENT) {
            CHECK((size_t)(host - region_host(r)) % EXTENT == 0);
            CHECK(len >= EXTENT && len % EXTENT == 0);
            return r;
        }
    }
    CHECK(!"outside guest RAM");
    return 0;
}

static bool is_dead(int advice)
{
    return advice == MADV_DONTNEED || advice == MADV_REMOVE || advice == MADV_FREE;
}

/* One byte an extent stands for its contents: quick, and as telling. */
static int advise(void *host, size_t len, int advice)
{
    unsigned r = region_of(host, len);
    size_t first = (size_t)((unsigned char *)host - region_host(r)) / EXTENT;

    if (!is_dead(advice)) {
        return 0;
    }
    for (size_t i = first; i < first + len / EXTENT; i++) {
        CHECK(named[r][i]);
        region_host(r)[i * EXTENT] = 0;
    }
    return 0;
}

static int64_t advise_vec(const struct iovec *iov, unsigned count, int advice)
{
    int64_t bytes = 0;

    CHECK(count > 1 && count <= TIDE_PENDING_MAX);
    for (unsigned i = 0; i < count; i++) {
        advise(iov[i].iov_base, iov[i].iov_len, advice);
        bytes += (int64_t)iov[i].iov_len;
    }
    return bytes;
}

static int punch(int fd, uint64_t offset, uint64_t len)
{
    (void)fd;
    (void)offset;
    (void)len;
    CHECK(!"no backing here is punched");
    return 0;
}

static void nothing_remains(const struct iovec *iov, unsigned count,
                            TideLeaves where, int64_t *bytes)
{
    CHECK(where != TIDE_LEAVES_NOTHING);
    for (unsigned i = 0; i < count; i++) {
        CHECK(i == 0 || iov[i].iov_base >= iov[i - 1].iov_base);
        region_of(iov[i].iov_base, iov[i].iov_len);
        bytes[i] = 0;
    }
}

static uint64_t swap_room(void)
{
    return UINT64_MAX;
}

static const TideOps ops = {
    .resolve = resolve, .release = release, .begin = begin, .end = end,
    .notify = notify,
};

static const TideHost host = {
    .advise = advise, .advise_vec = advise_vec, .punch = punch,
    .remains = nothing_remains, .swap_room = swap_room,
};

static uint64_t take(Input *in, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes && in->left; i++) {
        value |= (uint64_t)*in->at++ << (8 * i);
        in->left--;
    }
    return value;
}

/* The fuzzer may name any memory by any write: note what DISCARD could mean. */
static void note_named(void)
{
    const struct tide_pci_desc *sq = (void *)(rings + TIDE_PCI_INDEX_SIZE);

    for (unsigned slot = 0; slot < QUEUE; slot++) {
        uint64_t gpa = le64toh(sq[slot].gpa), count = le32toh(sq[slot].count);
        uint16_t intent = le16toh(sq[slot].intent);

        if (intent != TIDE_PCI_INTENT_DISCARD && intent != TIDE_PCI_INTENT_DISCARD_LAZY) {
            continue;
        }
        for (unsigned r = 0; r < REGIONS; r++) {
            for (unsigned i = 0; i < RAM_EXTENTS; i++) {
                uint64_t at = regions[r].gpa + i * EXTENT;

                named[r][i] |= at >= gpa && at - gpa < count * EXTENT;
            }
        }
    }
}

static void write_ring(Input *in)
{
    size_t size = tide_core_rings_size(QUEUE);
    size_t at = take(in, 2) % size;
    size_t len = take(in, 1);

    for (size_t i = 0; i < len && at + i < size && in->left; i++) {
        rings[at + i] = (unsigned char)take(in, 1);
    }
    note_named();
}

static void write_index(Input *in)
{
    static const unsigned lines[] = {
        TIDE_PCI_INDEX_SQ_TAIL, TIDE_PCI_INDEX_CQ_HEAD, TIDE_PCI_INDEX_CQ_EVENT,
        TIDE_PCI_INDEX_SQ_HEAD, TIDE_PCI_INDEX_CQ_TAIL, TIDE_PCI_INDEX_SQ_EVENT,
    };
    uint32_t value = (uint32_t)take(in, 4);
    uint8_t which = (uint8_t)take(in, 1);

    memcpy(rings + lines[which % 6], &value, sizeof(value));
}

static void submit(Input *in)
{
    uint8_t what = (uint8_t)take(in, 1);
    uint32_t tail;
    struct tide_pci_desc desc = {
        .gpa = htole64(regions[what % REGIONS].gpa + (take(in, 1) % 16) * EXTENT),
        .count = htole32((uint32_t)take(in, 1) % 12),
        .intent = htole16((uint16_t)(what / 16 % 7)),
        .cookie = take(in, 1),
    };

    memcpy(&tail, rings + TIDE_PCI_INDEX_SQ_TAIL, sizeof(tail));
    memcpy(rings + TIDE_PCI_INDEX_SIZE + (tail % QUEUE) * sizeof(desc), &desc,
           sizeof(desc));
    tail++;
    memcpy(rings + TIDE_PCI_INDEX_SQ_TAIL, &tail, sizeof(tail));
    note_named();
}

static void read_completions(void)
{
    memcpy(rings + TIDE_PCI_INDEX_CQ_HEAD, rings + TIDE_PCI_INDEX_CQ_TAIL, 4);
}

static void load_raw(Input *in)
{
    TideSaved saved;
    size_t n = in->left < sizeof(saved) ? in->left : sizeof(saved);

    tide_core_save(core, &saved);
    memcpy(&saved, in->at, n);
    in->at += n;
    in->left -= n;
    /* Such a state could name anything; that is no finding. */
    memset(named, 1, sizeof(named));
    tide_core_load(core, &saved);
}

static void save_load(void)
{
    TideSaved saved;

    tide_core_save(core, &saved);
    CHECK(saved.pending_count <= TIDE_PENDING_MAX);
    tide_core_load(core, &saved);
}

static void write_reg(Input *in)
{
    uint64_t offset = take(in, 2);
    uint32_t value = (uint32_t)take(in, 4);

    if (tide_core_reg_write(core, offset, value, 4) == TIDE_REG_RESET) {
        tide_core_reset(core);
    }
}

static void step(Input *in)
{
    switch (take(in, 1) % OPS) {
    case OP_REG_WRITE:
        write_reg(in);
        break;
    case OP_REG_READ:
        tide_core_reg_read(core, take(in, 8), (unsigned)take(in, 1));
        break;
    case OP_RING_WRITE:
        write_ring(in);
        break;
    case OP_INDEX:
        write_index(in);
        break;
    case OP_DESC:
        submit(in);
        break;
    case OP_RUN:
        tide_core_run(core);
        break;
    case OP_RESET:
        tide_core_reset(core);
        tide_core_reg_write(core, TIDE_PCI_REG_DRIVER_FEATURES, (uint32_t)take(in, 1), 4);
        tide_core_reg_write(core, TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_ENABLE, 4);
        break;
    case OP_SAVE_LOAD:
        save_load();
        break;
    case OP_LOAD_RAW:
        load_raw(in);
        break;
    case OP_BEGIN:
        begin_status = (uint16_t[]) { TIDE_PCI_ST_OK, TIDE_PCI_ST_BUSY,
                                      TIDE_PCI_ST_INHIBITED }[take(in, 1) % 3];
        break;
    case OP_HOLE:
        hole = regions[take(in, 1) % REGIONS].gpa + (take(in, 1) % 16) * EXTENT;
        break;
    default:
        read_completions();
        break;
    }
}

/* Everything that nobody named is as it was; so is the fence. */
static void check_memory(void)
{
    for (unsigned part = 0; part < 2 * REGIONS + 1; part++) {
        for (unsigned i = 0; i < RAM_EXTENTS; i++) {
            unsigned char byte = memory[(part * RAM_EXTENTS + i) * EXTENT];

            CHECK(byte == ALIVE || (part % 2 && named[part / 2][i]));
        }
    }
}

static void set_up(void)
{
    TideConfig config = {
        .queue_size = QUEUE, .max_extents = 64, .intents = TIDE_INTENTS_ALL,
        .slice_bytes = 4 * EXTENT,
    };

    if (!memory) {
        size_t len = (2 * REGIONS + 2) * RAM_EXTENTS * EXTENT;
        unsigned char *map = mmap(NULL, len, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        CHECK(map != MAP_FAILED);
        memory = map + (-(uintptr_t)map & (EXTENT - 1));
        rings = aligned_alloc(4096, tide_core_rings_size(QUEUE));
    }
    for (unsigned i = 0; i < (2 * REGIONS + 1) * RAM_EXTENTS; i++) {
        memory[i * EXTENT] = ALIVE;
    }
    memset(named, 0, sizeof(named));
    memset(rings, 0, tide_core_rings_size(QUEUE));
    begin_status = TIDE_PCI_ST_OK;
    hole = UINT64_MAX;
    held = 0;
    core = tide_core_new(&config, rings, &ops, NULL, &host);
    CHECK(core);
    tide_core_reg_write(core, TIDE_PCI_REG_CONTROL, TIDE_PCI_CONTROL_ENABLE, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = { data, size };
    TideStats stats;

    set_up();
    while (in.left) {
        step(&in);
    }
    for (unsigned i = 0; i < 64 && tide_core_run(core) == TIDE_RUN_MORE; i++) {
        read_completions();
    }
    CHECK(held == 0);
    check_memory();
    tide_core_stats(core, &stats);
    CHECK(stats.completed + stats.abandoned <= stats.requests);
    tide_core_free(core);
    return 0;
}
