/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * Tide: contract between the guest module and the device (any VMM).
 *
 * THEORY OF OPERATION
 *
 * The device is a PCI function with two BARs beside the MSI-X one:
 *
 *   BAR0  4 KiB of 32-bit little-endian registers. Only aligned 4-byte
 *         accesses are defined; any other access reads zero or is dropped.
 *   BAR2  prefetchable 64-bit RAM: the index lines, the submission ring and
 *         the completion ring. Reading or writing it never leaves the guest.
 *
 * The driver writes submission descriptors into BAR2, publishes them by
 * advancing the submission tail with a release store, and rings the doorbell
 * once a batch if the device asked to be told. Each descriptor names one
 * intent for one run of physically contiguous extents; the device chooses the
 * action that fits the backing of that memory on the host, and answers every
 * descriptor with exactly one completion, in any order. The completion is
 * written only after the action has returned: from then on, and not before,
 * the extents belong to the driver again.
 *
 * All indices are free-running 32-bit counters; slot = index & (size - 1),
 * size being a power of two. A ring is empty when tail == head and full when
 * tail - head == size. The driver must not have more descriptors unanswered
 * than the ring has slots; so there is always room for a completion. A device
 * that finds an index delta above size sets TIDE_PCI_STATUS_NEEDS_RESET and
 * consumes nothing until it is reset.
 *
 * Everything in BAR2 that the other side wrote is untrusted: each side copies
 * an entry once and checks the copy.
 *
 * RESET
 *
 * The driver writes TIDE_PCI_CONTROL_RESET and polls the status register until
 * TIDE_PCI_STATUS_RESETTING is clear. From then on nothing submitted before
 * acts any more, and no completion for it will be written. The device clears
 * the index lines, the accepted features and the registered pool. The driver
 * then writes what it accepts of the features, registers its pool if it has
 * one contiguous pool, and writes TIDE_PCI_CONTROL_ENABLE.
 */
#ifndef _UAPI_LINUX_TIDE_PCI_H
#define _UAPI_LINUX_TIDE_PCI_H

#include <linux/types.h>

/*
 * 0x1af4:0x10f0..0x10ff is what QEMU sets aside for experiments
 * (docs/specs/pci-ids.rst in its tree); to be replaced by an assigned id.
 */
#define TIDE_PCI_VENDOR_ID		0x1af4
#define TIDE_PCI_DEVICE_ID		0x10f7

#define TIDE_PCI_BAR_REGS		0
#define TIDE_PCI_BAR_RINGS		2
#define TIDE_PCI_BAR_MSIX		4

#define TIDE_PCI_REGS_SIZE		4096
#define TIDE_PCI_MSIX_VECTORS		1

/* ---- Registers: offset, access, value after reset ---- */

#define TIDE_PCI_REG_MAGIC		0x00	/* RO  TIDE_PCI_MAGIC */
#define TIDE_PCI_REG_VERSION		0x04	/* RO  TIDE_PCI_VERSION */
#define TIDE_PCI_REG_FEATURES		0x08	/* RO  what the device offers */
#define TIDE_PCI_REG_DRIVER_FEATURES	0x0c	/* RW  what the driver took; 0 */
#define TIDE_PCI_REG_STATUS		0x10	/* RO  TIDE_PCI_STATUS_* */
#define TIDE_PCI_REG_CONTROL		0x14	/* WO  TIDE_PCI_CONTROL_* */
#define TIDE_PCI_REG_EXTENT_SHIFT	0x18	/* RO  log2 of the extent size */
#define TIDE_PCI_REG_QUEUE_SIZE		0x1c	/* RO  slots of each ring */
#define TIDE_PCI_REG_INDEX_OFFSET	0x20	/* RO  index lines, in BAR2 */
#define TIDE_PCI_REG_SQ_OFFSET		0x24	/* RO  submission ring, in BAR2 */
#define TIDE_PCI_REG_CQ_OFFSET		0x28	/* RO  completion ring, in BAR2 */
#define TIDE_PCI_REG_MAX_EXTENTS	0x2c	/* RO  most extents a descriptor */
#define TIDE_PCI_REG_INTENTS		0x30	/* RO  bit (1 << intent): allowed */
#define TIDE_PCI_REG_DOORBELL		0x34	/* WO  any value: look at the tail */
/*
 * Guest-physical range that descriptors must lie in; size 0 (after reset)
 * means any RAM. Writable only while not enabled, dropped otherwise.
 */
#define TIDE_PCI_REG_POOL_BASE_LO	0x40	/* RW  0 */
#define TIDE_PCI_REG_POOL_BASE_HI	0x44	/* RW  0 */
#define TIDE_PCI_REG_POOL_SIZE_LO	0x48	/* RW  0 */
#define TIDE_PCI_REG_POOL_SIZE_HI	0x4c	/* RW  0 */

/*
 * Since 1.1: whether giving back memory was seen to work on this host, for what
 * stands behind guest RAM there. TIDE_PCI_RECLAIM_*; an older device reads 0.
 */
#define TIDE_PCI_REG_RECLAIM		0x50	/* RO */

#define TIDE_PCI_MAGIC			0x45444954	/* "TIDE" */
/* Major in the upper half: another major is another contract. */
#define TIDE_PCI_VERSION		0x00010001

#define TIDE_PCI_RECLAIM_NONE		0	/* not seen to work, or not known */
#define TIDE_PCI_RECLAIM_PARTLY		1	/* for some of the RAM */
#define TIDE_PCI_RECLAIM_ALL		2

/*
 * Features. A driver must not accept a bit it does not know.
 * EVENT_IDX: both event lines are honoured; without it every publication is
 * signalled.
 */
#define TIDE_PCI_FEATURE_EVENT_IDX	(1u << 0)

/* Status. NEEDS_RESET holds until reset; INHIBITED comes and goes. */
#define TIDE_PCI_STATUS_ENABLED		(1u << 0)
#define TIDE_PCI_STATUS_RESETTING	(1u << 1)
#define TIDE_PCI_STATUS_NEEDS_RESET	(1u << 2)
#define TIDE_PCI_STATUS_INHIBITED	(1u << 3)

#define TIDE_PCI_CONTROL_RESET		1
#define TIDE_PCI_CONTROL_ENABLE		2

/*
 * ---- Index lines, one 64-byte line each, __le32 at its start ----
 *
 * SQ_EVENT: the device wants a doorbell when the tail passes this index.
 * CQ_EVENT: the driver wants an interrupt when the tail passes this index.
 * "Passes" as in virtio 1.2, 2.7.10: (new - event - 1) < (new - old), unsigned
 * 32 bit. Store the event, full barrier, then look at the tail once more.
 */
#define TIDE_PCI_INDEX_LINE		64
#define TIDE_PCI_INDEX_SQ_TAIL		0x000	/* driver writes */
#define TIDE_PCI_INDEX_SQ_HEAD		0x040	/* device writes: taken so far */
#define TIDE_PCI_INDEX_CQ_TAIL		0x080	/* device writes */
#define TIDE_PCI_INDEX_CQ_HEAD		0x0c0	/* driver writes: read so far */
#define TIDE_PCI_INDEX_SQ_EVENT		0x100	/* device writes */
#define TIDE_PCI_INDEX_CQ_EVENT		0x140	/* driver writes */
#define TIDE_PCI_INDEX_SIZE		0x1000

#define TIDE_PCI_EXTENT_SHIFT		21

/*
 * ---- Intents: what the owner says; the device picks the action ----
 *
 * DISCARD       contents are dead, give the memory back now
 * DISCARD_LAZY  contents are dead, give it back when the host is pressed
 * COLD          contents must survive, not used for some time
 * PAGEOUT       contents must survive, not used for long
 * WILLNEED      contents come back into use soon
 */
#define TIDE_PCI_INTENT_DISCARD		1
#define TIDE_PCI_INTENT_DISCARD_LAZY	2
#define TIDE_PCI_INTENT_COLD		3
#define TIDE_PCI_INTENT_PAGEOUT		4
#define TIDE_PCI_INTENT_WILLNEED	5

/**
 * struct tide_pci_desc - submission descriptor
 * @gpa: guest-physical address of the first extent, extent aligned
 * @count: extents in the run, 1 to TIDE_PCI_REG_MAX_EXTENTS
 * @intent: TIDE_PCI_INTENT_*
 * @flags: must be zero
 * @cookie: returned in the completion, not looked at by the device
 * @reserved: must be zero
 */
struct tide_pci_desc {
	__le64 gpa;
	__le32 count;
	__le16 intent;
	__le16 flags;
	__le64 cookie;
	__le64 reserved;
};

/*
 * Statuses. With any but OK nothing happened beyond the first @done extents.
 *
 * INVALID      a field that may not be: intent, flags, reserved, count
 * RANGE        misaligned, wraps, outside the pool, not whole plain RAM that is
 *              plugged, or no longer so while it was pending
 * UNSUPPORTED  this backing cannot do it, or the intent is not allowed here
 * INHIBITED    the VMM forbids discards at present (assigned device, …); the
 *              status bit tells when that is over, with an interrupt
 * BUSY         not now (migration under way); asking again later is right
 * IO           the host refused the call
 */
#define TIDE_PCI_ST_OK			0
#define TIDE_PCI_ST_INVALID		1
#define TIDE_PCI_ST_RANGE		2
#define TIDE_PCI_ST_UNSUPPORTED		3
#define TIDE_PCI_ST_INHIBITED		4
#define TIDE_PCI_ST_BUSY		5
#define TIDE_PCI_ST_IO			6

/*
 * ZEROED      the first @done extents read as zero now
 * PARTIAL     0 < done < count
 * DOWNGRADED  a weaker action than the intent's own was taken, see @action
 */
#define TIDE_PCI_CPL_ZEROED		(1u << 0)
#define TIDE_PCI_CPL_PARTIAL		(1u << 1)
#define TIDE_PCI_CPL_DOWNGRADED		(1u << 2)

/* What was done to the backing. */
#define TIDE_PCI_ACTION_NONE		0
#define TIDE_PCI_ACTION_DISCARD		1	/* memory given back */
#define TIDE_PCI_ACTION_FREE		2	/* given back under pressure */
#define TIDE_PCI_ACTION_COLD		3	/* first in line for reclaim */
#define TIDE_PCI_ACTION_PAGEOUT		4	/* handed to swap */
#define TIDE_PCI_ACTION_POPULATE	5	/* faulted in */

/**
 * struct tide_pci_cpl - completion
 * @cookie: of the descriptor answered
 * @done: extents acted on, from the first
 * @status: TIDE_PCI_ST_*
 * @flags: TIDE_PCI_CPL_*
 * @action: TIDE_PCI_ACTION_*, what was done to those @done
 * @reserved0: zero
 * @reserved1: zero
 */
struct tide_pci_cpl {
	__le64 cookie;
	__le32 done;
	__le16 status;
	__le16 flags;
	__le32 action;
	__le32 reserved0;
	__le64 reserved1;
};

#endif /* _UAPI_LINUX_TIDE_PCI_H */
