// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>

#include "fake.h"

/* What request.c wants of a file that has no place here. */
void tide_dev_watch(struct tide_dev *dev)
{
}

static void fake_kick(void *data)
{
	struct fake *fake = data;

	fake->kicks++;
}

/* A ring with a device that has been reset; freed by fake_free(). */
struct fake *fake_new(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->mem_size = 3 * TIDE_PCI_INDEX_SIZE;
	fake->mem = kunit_kzalloc(test, fake->mem_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->mem);
	fake->layout = (struct tide_ring_layout) {
		.size = FAKE_RING_SIZE,
		.index_offset = 0,
		.sq_offset = TIDE_PCI_INDEX_SIZE,
		.cq_offset = 2 * TIDE_PCI_INDEX_SIZE,
		.max_extents = FAKE_MAX_EXTENTS,
	};
	KUNIT_ASSERT_EQ(test, 0, tide_ring_init(&fake->ring, fake->mem,
						fake->mem_size, &fake->layout));
	fake->ring.kick = fake_kick;
	fake->ring.kick_data = fake;
	tide_ring_start(&fake->ring, false);
	return fake;
}

void fake_free(struct fake *fake)
{
	tide_ring_exit(&fake->ring);
}

/* What a reset does on the device's side. */
void fake_restart(struct fake *fake)
{
	memset(fake->mem, 0, fake->mem_size);
	fake->sq_head = 0;
	fake->cq_tail = 0;
}

static __le32 *fake_index(struct fake *fake, u32 line)
{
	return fake->mem + fake->layout.index_offset + line;
}

void fake_set_index(struct fake *fake, u32 line, u32 value)
{
	*fake_index(fake, line) = cpu_to_le32(value);
}

/* Descriptors published and not taken. */
u32 fake_published(struct fake *fake)
{
	return le32_to_cpu(*fake_index(fake, TIDE_PCI_INDEX_SQ_TAIL)) -
	       fake->sq_head;
}

bool fake_take(struct fake *fake, struct tide_pci_desc *desc)
{
	struct tide_pci_desc *sq = fake->mem + fake->layout.sq_offset;

	if (!fake_published(fake))
		return false;
	*desc = sq[fake->sq_head++ % FAKE_RING_SIZE];
	fake_set_index(fake, TIDE_PCI_INDEX_SQ_HEAD, fake->sq_head);
	return true;
}

void fake_answer(struct fake *fake, const struct tide_pci_cpl *cpl)
{
	struct tide_pci_cpl *cq = fake->mem + fake->layout.cq_offset;

	cq[fake->cq_tail++ % FAKE_RING_SIZE] = *cpl;
	fake_set_index(fake, TIDE_PCI_INDEX_CQ_TAIL, fake->cq_tail);
}

void fake_answer_ok(struct fake *fake, const struct tide_pci_desc *desc)
{
	struct tide_pci_cpl cpl = {
		.cookie = desc->cookie,
		.done = desc->count,
		.flags = cpu_to_le16(TIDE_PCI_CPL_ZEROED),
		.action = cpu_to_le32(TIDE_PCI_ACTION_DISCARD),
	};

	fake_answer(fake, &cpl);
}

bool fake_reap(struct fake *fake)
{
	LIST_HEAD(done);
	bool sane = tide_ring_reap(&fake->ring, &done);

	tide_requests_complete(&done);
	return sane;
}

static struct fake *fake_of(struct tide_request *req)
{
	return (struct fake *)req->dev;
}

static void count_done(struct tide_request *req)
{
	fake_of(req)->completed++;
}

static void count_release(struct tide_request *req)
{
	fake_of(req)->released++;
}

/*
 * A request for extents at @pfns, which count in 2 MiB. Its memory is the
 * test's. The requests here never look into their device, so that the fake
 * travels in its place.
 */
struct tide_request *fake_request(struct kunit *test, struct fake *fake,
				  const unsigned long *pfns, unsigned int nr)
{
	struct tide_request *req;
	struct tide_extent *ext;
	unsigned int i;

	req = kunit_kzalloc(test, sizeof(*req), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, req);
	tide_request_init(req, (struct tide_dev *)fake, TIDE_INTENT_DISCARD);
	req->done = count_done;
	req->release = count_release;
	for (i = 0; i < nr; i++) {
		ext = kunit_kzalloc(test, sizeof(*ext), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, ext);
		INIT_LIST_HEAD(&ext->node);
		ext->pfn = pfns[i] * TIDE_EXTENT_PAGES;
		ext->state = TIDE_EXTENT_DRAINING;
		tide_request_add(req, ext);
	}
	return req;
}

/* As tide_request_submit(), for a ring without a device around it. */
void fake_submit(struct fake *fake, struct tide_request *req)
{
	LIST_HEAD(one);

	kref_get(&req->ref);
	tide_extents_sort(&req->extents);
	req->next = list_first_entry(&req->extents, struct tide_extent, node);
	list_add(&req->node, &one);
	WARN_ON(!tide_ring_submit(&fake->ring, &one));
}
