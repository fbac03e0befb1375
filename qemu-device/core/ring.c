// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rings in shared memory: the only file that touches it, and the only one
 * with memory ordering in it.
 *
 * The driver may write anything there at any time. Every index and descriptor
 * is therefore loaded once, into memory of our own, and what counts is there.
 */
#include <endian.h>
#include <string.h>

#include "internal.h"

#define SQ_OFFSET TIDE_PCI_INDEX_SIZE

_Static_assert(sizeof(struct tide_pci_desc) == 32, "wire layout");
_Static_assert(sizeof(struct tide_pci_cpl) == 32, "wire layout");

static uint32_t *index_at(TideCore *core, unsigned offset)
{
    return (uint32_t *)(core->rings + offset);
}

static uint32_t load_index(TideCore *core, unsigned offset)
{
    return le32toh(__atomic_load_n(index_at(core, offset), __ATOMIC_ACQUIRE));
}

static void store_index(TideCore *core, unsigned offset, uint32_t value)
{
    __atomic_store_n(index_at(core, offset), htole32(value), __ATOMIC_RELEASE);
}

size_t tide_core_rings_size(uint32_t queue_size)
{
    size_t need = TIDE_PCI_INDEX_SIZE +
        (size_t)queue_size * (sizeof(struct tide_pci_desc) +
                              sizeof(struct tide_pci_cpl));
    size_t size = 4096;

    while (size < need) {
        size *= 2;
    }
    return size;
}

void tide_ring_reset(TideCore *core)
{
    core->sq_head = 0;
    core->cq_tail = 0;
    __atomic_store_n(&core->cq_published, 0, __ATOMIC_RELAXED);
    memset(core->rings, 0, TIDE_PCI_INDEX_SIZE);
}

/* Word by word, so that the compiler cannot load anything a second time. */
void tide_ring_copy(TideCore *core, uint32_t ahead, TideRequest *req)
{
    uint32_t slot = (core->sq_head + ahead) & (core->config.queue_size - 1);
    uint64_t *from = (uint64_t *)(core->rings + SQ_OFFSET +
                                  slot * sizeof(struct tide_pci_desc));
    struct tide_pci_desc desc;
    uint64_t words[sizeof(desc) / sizeof(uint64_t)];

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        words[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    }
    memcpy(&desc, words, sizeof(desc));

    *req = (TideRequest) {
        .gpa = le64toh(desc.gpa),
        .count = le32toh(desc.count),
        .intent = le16toh(desc.intent),
        .desc_flags = le16toh(desc.flags),
        .cookie = le64toh(desc.cookie),
        .reserved = le64toh(desc.reserved),
    };
}

int tide_ring_peek(TideCore *core, bool *no_room)
{
    uint32_t size = core->config.queue_size;
    uint32_t submitted = load_index(core, TIDE_PCI_INDEX_SQ_TAIL) - core->sq_head;
    uint32_t unread = core->cq_tail - load_index(core, TIDE_PCI_INDEX_CQ_HEAD);
    uint32_t promised = core->pending_count + core->loaded_count;
    uint32_t room;

    if (submitted > size || unread > size) {
        return -1;
    }
    /* Every one that was taken has its place already. */
    room = size - unread;
    room = room > promised ? room - promised : 0;
    *no_room = submitted > 0 && room == 0;
    return (int)(submitted < room ? submitted : room);
}

void tide_ring_advance(TideCore *core, uint32_t count)
{
    if (count) {
        core->sq_head += count;
        store_index(core, TIDE_PCI_INDEX_SQ_HEAD, core->sq_head);
    }
}

bool tide_ring_arm(TideCore *core)
{
    store_index(core, TIDE_PCI_INDEX_SQ_EVENT, core->sq_head);
    /* Event before tail here; tail before event in the driver. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return load_index(core, TIDE_PCI_INDEX_SQ_TAIL) != core->sq_head;
}

void tide_ring_answer(TideCore *core, const TideRequest *req)
{
    uint32_t size = core->config.queue_size;
    uint32_t slot = core->cq_tail & (size - 1);
    struct tide_pci_cpl cpl = {
        .cookie = htole64(req->cookie),
        .done = htole32((uint32_t)(req->done / TIDE_EXTENT_SIZE)),
        .status = htole16(req->status),
        .flags = htole16(req->cpl_flags),
        .action = htole32(req->action),
    };

    memcpy(core->rings + SQ_OFFSET + size * sizeof(struct tide_pci_desc) +
           slot * sizeof(cpl), &cpl, sizeof(cpl));
    core->cq_tail++;
}

/* Virtio 1.2, 2.7.10. */
static bool passed(uint32_t event, uint32_t new, uint32_t old)
{
    return new - event - 1 < new - old;
}

bool tide_ring_publish(TideCore *core)
{
    uint32_t old = __atomic_load_n(&core->cq_published, __ATOMIC_RELAXED);

    if (old == core->cq_tail) {
        return false;
    }
    store_index(core, TIDE_PCI_INDEX_CQ_TAIL, core->cq_tail);
    __atomic_store_n(&core->cq_published, core->cq_tail, __ATOMIC_RELAXED);
    if (!(core->regs.features & TIDE_PCI_FEATURE_EVENT_IDX)) {
        return true;
    }
    /* Tail before event here; event before tail in the driver. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return passed(load_index(core, TIDE_PCI_INDEX_CQ_EVENT), core->cq_tail, old);
}

uint32_t tide_core_depth(TideCore *core)
{
    uint32_t depth = load_index(core, TIDE_PCI_INDEX_SQ_TAIL) -
        __atomic_load_n(&core->cq_published, __ATOMIC_RELAXED);

    return depth > core->config.queue_size ? core->config.queue_size : depth;
}
