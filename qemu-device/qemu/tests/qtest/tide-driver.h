/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A driver for the device, in a test; and the host's view of guest RAM. */
#ifndef TIDE_DRIVER_H
#define TIDE_DRIVER_H

#include "tide-test-compat.h"
#include "qemu/units.h"
#include "libqos/pci.h"
#include <linux/tide_pci.h>

#define EXTENT (UINT64_C(1) << TIDE_PCI_EXTENT_SHIFT)
#define RAM_MB 272              /* a size that no other mapping of QEMU's has */
#define RAM_ARG "-m 272M "
#define BASE (32 * EXTENT)      /* extents that tests play with start here */

typedef struct Tide {
    QTestState *qts;
    pid_t pid;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar regs;
    QPCIBar rings;
    uint32_t queue_size;
    uint32_t sq_offset;
    uint32_t cq_offset;
    uint32_t sq_tail;           /* ours: what we submitted */
    uint32_t cq_head;           /* ours: what we read */
} Tide;

typedef struct Answer {
    uint64_t cookie;
    uint32_t done;
    uint16_t status;
    uint16_t flags;
    uint32_t action;
} Answer;

/* q35 with @args and one enabled device with id tide0 and @props (",a=b" or ""). */
Tide *tide_start(const char *args, const char *props);
/* The same, as the destination of a migration; not to be talked to until then. */
Tide *tide_start_incoming(const char *args, const char *props, const char *uri);
void tide_stop(Tide *t);
/* Find the device and map its BARs; again after a system reset. */
void tide_probe(Tide *t);
/* The reset handshake, then enable with @features. */
void tide_reset(Tide *t);
void tide_enable(Tide *t, uint32_t features);

/* Go on with the device of @from, which was moved or saved. */
void tide_adopt(Tide *t, const Tide *from);
/* Begin to migrate, and wait until query-migrate says that it ended with @status. */
void tide_migrate(Tide *t, const char *uri);
void tide_migrate_wait(Tide *t, const char *status);

uint32_t tide_reg(Tide *t, unsigned offset);
void tide_set_reg(Tide *t, unsigned offset, uint32_t value);
uint32_t tide_index(Tide *t, unsigned offset);
void tide_set_index(Tide *t, unsigned offset, uint32_t value);
uint64_t tide_counter(Tide *t, const char *name);

/* Put a descriptor into the ring; its cookie is its index. */
void tide_push_raw(Tide *t, struct tide_pci_desc desc);
void tide_push(Tide *t, uint64_t gpa, uint32_t count, uint16_t intent);
void tide_ring_doorbell(Tide *t);
/* Wait for the next completion. */
Answer tide_pop(Tide *t);
/* Push, ring, pop. */
Answer tide_ask(Tide *t, uint64_t gpa, uint32_t count, uint16_t intent);
/* Discard @count extents; they are zero then. */
void tide_discard(Tide *t, uint64_t gpa, uint32_t count);
/* Give the device time to do what it must not do. */
void tide_settle(void);

/* Wait until @cond holds; fails the test after ten seconds. */
#define WAIT_FOR(cond)                                          \
    do {                                                        \
        gint64 end_ = g_get_monotonic_time() + 10 * 1000000;    \
        while (!(cond)) {                                       \
            g_assert_cmpint(g_get_monotonic_time(), <, end_);   \
            g_usleep(1000);                                     \
        }                                                       \
    } while (0)

void ram_fill(Tide *t, uint64_t gpa, uint32_t extents, uint8_t byte);
/* True if every byte is @byte. */
bool ram_is(Tide *t, uint64_t gpa, uint32_t extents, uint8_t byte);
/* Bytes in the host's memory of extents in QEMU's only mapping of @mb MiB. */
uint64_t mapping_present(Tide *t, unsigned mb, uint64_t offset, uint32_t extents);
/* A copy of guest RAM, all but the first MiB; and whether two are the same. */
GMappedFile *ram_copy(Tide *t);
bool ram_same(GMappedFile *a, GMappedFile *b);
/* Bytes of guest RAM that are in the host's memory; RAM must be RAM_MB large. */
uint64_t ram_present(Tide *t, uint64_t gpa, uint32_t extents);
/* A field of the RAM mapping in /proc/PID/smaps, in bytes. */
uint64_t ram_smaps(Tide *t, const char *field);

#endif /* TIDE_DRIVER_H */
