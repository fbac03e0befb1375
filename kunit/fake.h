/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device made of plain memory: the other end of a ring, moved by hand.
 */
#ifndef TIDE_KUNIT_FAKE_H
#define TIDE_KUNIT_FAKE_H

#include <kunit/test.h>

#include "tide.h"

#define FAKE_RING_SIZE		8
#define FAKE_MAX_EXTENTS	16

/**
 * struct fake - a ring, its shared memory and the device's state
 * @mem: shared memory
 * @mem_size: its size
 * @layout: of @mem
 * @ring: the driver's side
 * @counts: extents by state
 * @sq_head: next descriptor to take
 * @cq_tail: next completion to write
 * @kicks: doorbells heard
 * @completed: requests whose done() ran
 * @released: requests whose release() ran
 */
struct fake {
	void *mem;
	size_t mem_size;
	struct tide_ring_layout layout;
	struct tide_ring ring;
	struct tide_extent_counts counts;
	u32 sq_head;
	u32 cq_tail;
	unsigned int kicks;
	unsigned int completed;
	unsigned int released;
};

struct fake *fake_new(struct kunit *test);
void fake_free(struct fake *fake);
void fake_restart(struct fake *fake);
u32 fake_published(struct fake *fake);
void fake_set_index(struct fake *fake, u32 line, u32 value);
bool fake_take(struct fake *fake, struct tide_pci_desc *desc);
void fake_answer(struct fake *fake, const struct tide_pci_cpl *cpl);
void fake_answer_ok(struct fake *fake, const struct tide_pci_desc *desc);
bool fake_reap(struct fake *fake);
struct tide_request *fake_request(struct kunit *test, struct fake *fake,
				  const unsigned long *pfns, unsigned int nr);
void fake_submit(struct fake *fake, struct tide_request *req);

extern struct kunit_suite tide_extent_suite;
extern struct kunit_suite tide_pool_suite;
extern struct kunit_suite tide_ring_suite;

#endif /* TIDE_KUNIT_FAKE_H */
