// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submission and completion rings; the only user of memory barriers.
 *
 * The other side is a hypervisor thread, so that the virt_*() barriers are
 * right also on a guest built for, or running on, one CPU.
 */
#include <linux/align.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include <asm/barrier.h>

#include "tide.h"
#include "trace.h"

static __le32 *ring_index(struct tide_ring *ring, u32 line)
{
	return ring->index + line;
}

static u32 index_load(struct tide_ring *ring, u32 line)
{
	/* Pairs with the device's release: what it announces is there. */
	return le32_to_cpu(virt_load_acquire(ring_index(ring, line)));
}

static void index_store(struct tide_ring *ring, u32 line, u32 value)
{
	/* Pairs with the device's acquire: what we announce is there. */
	virt_store_release(ring_index(ring, line), cpu_to_le32(value));
}

/* Whether going from @old to @new passes @event (virtio 1.2, 2.7.10). */
static bool ring_passes(u32 event, u32 new, u32 old)
{
	return new - event - 1 < new - old;
}

static bool layout_fits(size_t mem_size, u32 offset, size_t len)
{
	return IS_ALIGNED(offset, 64) && offset <= mem_size &&
	       len <= mem_size - offset;
}

/**
 * tide_ring_init() - set up a ring in shared memory
 * @ring: ring, zeroed; @kick and @kick_data may be set before or after
 * @mem: the shared memory
 * @mem_size: its size
 * @layout: what the device's registers say of it; not trusted
 *
 * Return: 0, -EINVAL if the layout does not fit, or -ENOMEM.
 */
int tide_ring_init(struct tide_ring *ring, void *mem, size_t mem_size,
		   const struct tide_ring_layout *layout)
{
	size_t ring_bytes = (size_t)layout->size * sizeof(struct tide_pci_desc);

	BUILD_BUG_ON(sizeof(struct tide_pci_desc) != 32);
	BUILD_BUG_ON(sizeof(struct tide_pci_cpl) != 32);

	if (!is_power_of_2(layout->size) || layout->size > 65536 ||
	    !layout->max_extents ||
	    !layout_fits(mem_size, layout->index_offset, TIDE_PCI_INDEX_SIZE) ||
	    !layout_fits(mem_size, layout->sq_offset, ring_bytes) ||
	    !layout_fits(mem_size, layout->cq_offset, ring_bytes))
		return -EINVAL;

	ring->slots = kvcalloc(layout->size, sizeof(*ring->slots), GFP_KERNEL);
	ring->free_slots = kvcalloc(layout->size, sizeof(*ring->free_slots),
				    GFP_KERNEL);
	if (!ring->slots || !ring->free_slots) {
		tide_ring_exit(ring);
		return -ENOMEM;
	}

	ring->mem = mem;
	ring->index = mem + layout->index_offset;
	ring->sq = mem + layout->sq_offset;
	ring->cq = mem + layout->cq_offset;
	ring->size = layout->size;
	ring->max_extents = layout->max_extents;
	ring->dead = true;
	ring->stopped = true;
	spin_lock_init(&ring->lock);
	INIT_LIST_HEAD(&ring->pending);
	return 0;
}

/**
 * tide_ring_exit() - free what tide_ring_init() allocated
 * @ring: ring with nothing in flight
 */
void tide_ring_exit(struct tide_ring *ring)
{
	kvfree(ring->slots);
	kvfree(ring->free_slots);
	ring->slots = NULL;
	ring->free_slots = NULL;
}

/* How many of the extents from @first on lie behind one another. */
static u32 run_length(struct tide_request *req, struct tide_extent *first,
		      u32 max)
{
	struct tide_extent *ext = first;
	unsigned long next_pfn = first->pfn;
	u32 count = 0;

	list_for_each_entry_from(ext, &req->extents, node) {
		if (ext->pfn != next_pfn || count == max)
			break;
		next_pfn += TIDE_EXTENT_PAGES;
		count++;
	}
	return count;
}

static struct tide_extent *skip_run(struct tide_request *req,
				    struct tide_extent *ext, u32 count)
{
	while (count--) {
		if (list_is_last(&ext->node, &req->extents))
			return NULL;
		ext = list_next_entry(ext, node);
	}
	return ext;
}

/* Puts the next run of @req into the ring. A slot must be free. */
static void send_run(struct tide_ring *ring, struct tide_request *req)
{
	u32 nr = ring->free_slots[--ring->nr_free];
	struct tide_ring_slot *slot = &ring->slots[nr];
	struct tide_pci_desc *desc;
	u64 cookie;

	slot->req = req;
	slot->first = req->next;
	slot->count = run_length(req, req->next, ring->max_extents);
	slot->generation++;
	cookie = (u64)slot->generation << 32 | nr;

	desc = &ring->sq[ring->sq_tail & (ring->size - 1)];
	*desc = (struct tide_pci_desc) {
		.gpa = cpu_to_le64((u64)slot->first->pfn << PAGE_SHIFT),
		.count = cpu_to_le32(slot->count),
		.intent = cpu_to_le16(req->intent),
		.cookie = cpu_to_le64(cookie),
	};
	ring->sq_tail++;
	req->in_flight++;
	req->next = skip_run(req, req->next, slot->count);
	trace_tide_submit(slot->first->pfn, slot->count, req->intent, cookie);
}

/* Sends what fits of what is pending, with one doorbell for all of it. */
static void ring_fill(struct tide_ring *ring)
{
	u32 old = ring->sq_tail;
	struct tide_request *req, *tmp;

	lockdep_assert_held(&ring->lock);

	list_for_each_entry_safe(req, tmp, &ring->pending, node) {
		while (req->next && ring->nr_free)
			send_run(ring, req);
		if (req->next)
			break;
		list_del_init(&req->node);
	}
	if (ring->sq_tail == old)
		return;

	index_store(ring, TIDE_PCI_INDEX_SQ_TAIL, ring->sq_tail);
	/* The device stores its event index, then looks at the tail. */
	virt_mb();
	if (ring->event_idx &&
	    !ring_passes(index_load(ring, TIDE_PCI_INDEX_SQ_EVENT),
			 ring->sq_tail, old))
		return;
	ring->doorbells++;
	ring->kick(ring->kick_data);
}

/**
 * tide_ring_start() - begin at index zero, after a reset of the device
 * @ring: ring with nothing in flight; what is pending is sent
 * @event_idx: the event lines are honoured
 */
void tide_ring_start(struct tide_ring *ring, bool event_idx)
{
	u32 i;

	spin_lock(&ring->lock);
	for (i = 0; i < ring->size; i++) {
		ring->slots[i].req = NULL;
		ring->free_slots[i] = ring->size - 1 - i;
	}
	ring->nr_free = ring->size;
	ring->sq_tail = 0;
	ring->cq_head = 0;
	ring->event_idx = event_idx;
	index_store(ring, TIDE_PCI_INDEX_SQ_TAIL, 0);
	index_store(ring, TIDE_PCI_INDEX_CQ_HEAD, 0);
	index_store(ring, TIDE_PCI_INDEX_CQ_EVENT, 0);
	ring->dead = false;
	ring->stopped = false;
	ring_fill(ring);
	spin_unlock(&ring->lock);
}

/**
 * tide_ring_submit() - send requests, at once or as room comes
 * @ring: the ring
 * @requests: list of requests, each with at least one extent; emptied if taken
 *
 * Never waits.
 *
 * Return: false if the ring is dead; the caller then completes @requests.
 */
bool tide_ring_submit(struct tide_ring *ring, struct list_head *requests)
{
	bool taken;

	spin_lock(&ring->lock);
	taken = !ring->dead;
	if (taken) {
		list_splice_tail_init(requests, &ring->pending);
		if (!ring->stopped)
			ring_fill(ring);
	}
	spin_unlock(&ring->lock);
	return taken;
}

static void finish_slot(struct tide_ring *ring, u32 nr, struct list_head *done)
{
	struct tide_request *req = ring->slots[nr].req;

	ring->slots[nr].req = NULL;
	ring->free_slots[ring->nr_free++] = nr;
	if (!--req->in_flight && !req->next)
		list_add_tail(&req->node, done);
}

/* Applies one completion; false if it makes no sense. */
static bool take_answer(struct tide_ring *ring, const struct tide_pci_cpl *cpl,
			struct list_head *done)
{
	u64 cookie = le64_to_cpu(cpl->cookie);
	u32 nr = lower_32_bits(cookie);
	u32 nr_done = le32_to_cpu(cpl->done);
	u16 status = le16_to_cpu(cpl->status);
	u16 flags = le16_to_cpu(cpl->flags);
	struct tide_ring_slot *slot;
	struct tide_request *req;
	struct tide_extent *ext;
	u32 i;

	trace_tide_answer(cookie, nr_done, status, flags,
			  le32_to_cpu(cpl->action));
	if (nr >= ring->size)
		return false;
	slot = &ring->slots[nr];
	req = slot->req;
	if (!req || slot->generation != upper_32_bits(cookie) ||
	    nr_done > slot->count || status > TIDE_PCI_ST_IO ||
	    (status == TIDE_PCI_ST_OK && nr_done != slot->count &&
	     !(flags & TIDE_PCI_CPL_PARTIAL)))
		return false;

	ext = slot->first;
	for (i = 0; i < nr_done; i++) {
		ext->zero = flags & TIDE_PCI_CPL_ZEROED;
		ext = list_next_entry(ext, node);
	}
	req->done_extents += nr_done;
	if (nr_done < slot->count || !(flags & TIDE_PCI_CPL_ZEROED))
		req->zeroed = false;
	if (flags & TIDE_PCI_CPL_DOWNGRADED)
		req->downgraded = true;
	if (status != TIDE_PCI_ST_OK && req->status == TIDE_STATUS_OK)
		req->status = status;
	finish_slot(ring, nr, done);
	return true;
}

/**
 * tide_ring_reap() - take in the completions there are
 * @ring: the ring
 * @done: requests that are now answered in full are added to it; for
 *	tide_requests_complete()
 *
 * Return: false if the ring is broken, so that the device must be reset.
 */
bool tide_ring_reap(struct tide_ring *ring, struct list_head *done)
{
	bool sane = true;
	u32 tail;

	spin_lock(&ring->lock);
	if (ring->dead || ring->stopped)
		goto out;

	for (;;) {
		tail = index_load(ring, TIDE_PCI_INDEX_CQ_TAIL);
		if (tail - ring->cq_head > ring->size) {
			ring->corrupt++;
			sane = false;
			goto out;
		}
		if (tail == ring->cq_head)
			break;
		while (ring->cq_head != tail) {
			struct tide_pci_cpl cpl =
				ring->cq[ring->cq_head & (ring->size - 1)];

			ring->cq_head++;
			if (take_answer(ring, &cpl, done)) {
				ring->answered++;
			} else {
				ring->corrupt++;
				sane = false;
			}
		}
		index_store(ring, TIDE_PCI_INDEX_CQ_HEAD, ring->cq_head);
		index_store(ring, TIDE_PCI_INDEX_CQ_EVENT, ring->cq_head);
		/* The device stores its tail, then looks at the event index. */
		virt_mb();
	}
	ring_fill(ring);
out:
	spin_unlock(&ring->lock);
	return sane;
}

/**
 * tide_ring_idle() - whether nothing is in flight or waiting to be sent
 * @ring: the ring
 *
 * Return: true if so.
 */
bool tide_ring_idle(struct tide_ring *ring)
{
	bool idle;

	spin_lock(&ring->lock);
	idle = list_empty(&ring->pending) &&
	       (ring->dead || ring->nr_free == ring->size);
	spin_unlock(&ring->lock);
	return idle;
}

/**
 * tide_ring_stop() - send and take in nothing until tide_ring_start()
 * @ring: the ring
 */
void tide_ring_stop(struct tide_ring *ring)
{
	spin_lock(&ring->lock);
	ring->stopped = true;
	spin_unlock(&ring->lock);
}

static void abort_pending(struct tide_ring *ring, struct list_head *done)
{
	struct tide_request *req, *tmp;

	list_for_each_entry_safe(req, tmp, &ring->pending, node) {
		req->next = NULL;
		req->zeroed = false;
		req->status = TIDE_STATUS_NO_ANSWER;
		list_del_init(&req->node);
		if (!req->in_flight)
			list_add_tail(&req->node, done);
	}
}

/**
 * tide_ring_abort() - answer what is in flight, without the device
 * @ring: ring that was stopped
 * @why: what became of the device
 * @done: requests that are now answered in full are added to it
 */
void tide_ring_abort(struct tide_ring *ring, enum tide_ring_abort why,
		     struct list_head *done)
{
	struct tide_request *req;
	u32 nr;

	spin_lock(&ring->lock);
	WARN_ON_ONCE(!ring->stopped);
	if (why != TIDE_ABORT_RESET) {
		ring->dead = true;
		abort_pending(ring, done);
	}
	for (nr = 0; nr < ring->size; nr++) {
		req = ring->slots[nr].req;
		if (!req)
			continue;
		req->zeroed = false;
		req->unanswered |= why == TIDE_ABORT_LOST;
		if (req->status == TIDE_STATUS_OK)
			req->status = TIDE_STATUS_NO_ANSWER;
		finish_slot(ring, nr, done);
	}
	spin_unlock(&ring->lock);
}
