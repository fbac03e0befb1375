// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: one intent for some extents, from sending to the last reference.
 */
#include <linux/slab.h>

#include "tide.h"

/**
 * tide_request_init() - prepare a request
 * @req: zeroed memory; @done, @release and @arena are the caller's to set
 * @dev: the device
 * @intent: TIDE_INTENT_*
 */
void tide_request_init(struct tide_request *req, struct tide_dev *dev,
		       u16 intent)
{
	INIT_LIST_HEAD(&req->node);
	INIT_LIST_HEAD(&req->extents);
	init_completion(&req->completion);
	kref_init(&req->ref);
	req->dev = dev;
	req->intent = intent;
	req->status = TIDE_STATUS_OK;
	req->zeroed = true;
}

/**
 * tide_request_add() - give an extent to a request
 * @req: request not yet sent
 * @ext: extent in no list, REPORTED or DRAINING
 */
void tide_request_add(struct tide_request *req, struct tide_extent *ext)
{
	list_add_tail(&ext->node, &req->extents);
	req->nr_extents++;
}

static void request_last_put(struct kref *ref)
{
	struct tide_request *req = container_of(ref, struct tide_request, ref);

	req->release(req);
}

/**
 * tide_request_put() - let go of a request
 * @req: request
 */
void tide_request_put(struct tide_request *req)
{
	kref_put(&req->ref, request_last_put);
}

/**
 * tide_requests_complete() - tell all who wait for answered requests
 * @done: list of answered requests; emptied
 */
void tide_requests_complete(struct list_head *done)
{
	struct tide_request *req, *tmp;

	list_for_each_entry_safe(req, tmp, done, node) {
		list_del_init(&req->node);
		if (req->done)
			req->done(req);
		complete_all(&req->completion);
		tide_request_put(req);
	}
}

/**
 * tide_request_submit() - send requests; their sender keeps a reference to each
 * @dev: the device
 * @requests: list of requests; emptied. Those without extents are answered at
 *	once, and so are all when the device is gone.
 */
void tide_request_submit(struct tide_dev *dev, struct list_head *requests)
{
	struct tide_request *req, *tmp;
	LIST_HEAD(empty);

	list_for_each_entry_safe(req, tmp, requests, node) {
		kref_get(&req->ref);
		if (list_empty(&req->extents)) {
			list_move_tail(&req->node, &empty);
			continue;
		}
		tide_extents_sort(&req->extents);
		req->next = list_first_entry(&req->extents, struct tide_extent,
					     node);
	}
	tide_requests_complete(&empty);
	if (list_empty(requests))
		return;

	if (tide_ring_submit(&dev->ring, requests)) {
		tide_dev_watch(dev);
		return;
	}
	list_for_each_entry(req, requests, node) {
		req->next = NULL;
		req->zeroed = false;
		req->status = TIDE_STATUS_NO_ANSWER;
	}
	tide_requests_complete(requests);
}

/**
 * tide_request_submit_one() - send one request
 * @req: request; its sender keeps a reference
 */
void tide_request_submit_one(struct tide_request *req)
{
	LIST_HEAD(one);

	list_add(&req->node, &one);
	tide_request_submit(req->dev, &one);
}

/**
 * tide_request_wait() - wait until a request has been answered
 * @req: request that was sent
 *
 * Bounded by the watchdog, which answers for a device that does not.
 *
 * Return: 0, or -EINTR on a fatal signal; the request then completes by itself.
 */
int tide_request_wait(struct tide_request *req)
{
	return wait_for_completion_killable(&req->completion) ? -EINTR : 0;
}

/* ---- Discards of what has no owner any more ---- */

static void drain_done(struct tide_request *req)
{
	struct tide_dev *dev = req->dev;
	enum tide_extent_state to = TIDE_EXTENT_CARVED;
	struct tide_extent *ext;

	if (req->unanswered)
		to = TIDE_EXTENT_QUARANTINED;
	list_for_each_entry(ext, &req->extents, node)
		tide_extent_move(&dev->extents, ext, to);
	atomic64_add((u64)req->done_extents << TIDE_EXTENT_SHIFT,
		     &dev->stats.discarded_bytes);
	if (req->status != TIDE_STATUS_OK)
		atomic64_inc(&dev->stats.failed);
}

static void drain_release(struct tide_request *req)
{
	/* Quarantined extents are lost on purpose: see enum tide_extent_state. */
	if (!req->unanswered)
		tide_pool_put(&req->dev->pool, &req->extents);
	kfree(req);
}

/**
 * tide_drain_new() - make a request that discards extents and then gives them
 *	to the pool
 * @dev: the device
 *
 * Return: request for DRAINING extents that no process maps, or NULL.
 */
struct tide_request *tide_drain_new(struct tide_dev *dev)
{
	struct tide_request *req = kzalloc(sizeof(*req), GFP_KERNEL);

	if (!req)
		return NULL;
	tide_request_init(req, dev, TIDE_INTENT_DISCARD);
	req->done = drain_done;
	req->release = drain_release;
	return req;
}

/**
 * tide_request_drain() - send a request once more, to discard its extents
 * @req: request with no reference left and no arena; it frees itself in the end
 */
void tide_request_drain(struct tide_request *req)
{
	LIST_HEAD(extents);

	list_splice_init(&req->extents, &extents);
	tide_request_init(req, req->dev, TIDE_INTENT_DISCARD);
	list_splice(&extents, &req->extents);
	req->unanswered = false;
	req->downgraded = false;
	req->done_extents = 0;
	req->done = drain_done;
	req->release = drain_release;
	tide_request_submit_one(req);
	tide_request_put(req);
}

/**
 * tide_extents_zero() - make extents read as zero
 * @dev: the device
 * @extents: CARVED extents; on failure some or all of them go to the pool
 *
 * What is not known to be zero is discarded by the host, which costs the guest
 * nothing and leaves no memory behind on the host; what the host did not do,
 * the guest clears.
 *
 * Return: 0, -EINTR on a fatal signal, -ENOMEM, or -EIO if the device died
 * meanwhile; then @extents holds those that are fine, still.
 */
int tide_extents_zero(struct tide_dev *dev, struct list_head *extents)
{
	struct tide_extent *ext, *tmp;
	struct tide_request *req;
	int rc = 0;

	req = tide_drain_new(dev);
	if (!req)
		return -ENOMEM;

	list_for_each_entry_safe(ext, tmp, extents, node) {
		if (ext->zero)
			continue;
		list_del_init(&ext->node);
		tide_extent_move(&dev->extents, ext, TIDE_EXTENT_DRAINING);
		tide_request_add(req, ext);
	}
	if (!req->nr_extents)
		goto out;

	tide_request_submit_one(req);
	rc = tide_request_wait(req);
	if (rc)
		goto out;
	if (req->unanswered) {
		rc = -EIO;
		goto out;
	}
	list_for_each_entry(ext, &req->extents, node) {
		if (ext->zero)
			continue;
		tide_extent_clear(ext);
		atomic64_add(TIDE_EXTENT_SIZE, &dev->stats.zeroed_by_guest_bytes);
		cond_resched();
	}
	list_splice_tail_init(&req->extents, extents);
out:
	tide_request_put(req);
	return rc;
}
