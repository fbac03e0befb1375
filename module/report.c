// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports: what an owner says of the contents of its ranges.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "tide.h"

static void report_done(struct tide_request *req)
{
	struct tide_arena *arena = req->arena;
	struct tide_dev *dev = req->dev;
	struct tide_extent *ext, *tmp;
	u64 acted = (u64)req->done_extents << TIDE_EXTENT_SHIFT;

	spin_lock(&arena->state_lock);
	list_for_each_entry_safe(ext, tmp, &req->extents, node) {
		arena->nr_in_flight--;
		tide_extent_move(&dev->extents, ext, req->unanswered ?
				 TIDE_EXTENT_QUARANTINED : TIDE_EXTENT_OWNED);
		if (arena->dying) {
			xa_erase(&arena->extents, ext->index);
			arena->nr_committed--;
		}
		if (arena->dying && !req->unanswered)
			tide_extent_move(&dev->extents, ext,
					 TIDE_EXTENT_DRAINING);
		else
			list_del_init(&ext->node);
	}
	arena->acted_bytes += acted;
	arena->failed_reports += req->status != TIDE_STATUS_OK;
	spin_unlock(&arena->state_lock);

	atomic64_add(acted, &dev->stats.acted_bytes);
	if (req->status != TIDE_STATUS_OK)
		atomic64_inc(&dev->stats.failed);
	wake_up_all(&arena->idle);
}

static void report_release(struct tide_request *req)
{
	struct tide_arena *arena = req->arena;

	if (!arena) {
		kfree(req);
		return;
	}
	req->arena = NULL;
	/* What is left came back after its arena had died. */
	if (list_empty(&req->extents))
		kfree(req);
	else
		tide_request_drain(req);
	tide_arena_put(arena);
}

static struct tide_request *report_new(struct tide_arena *arena, u16 intent)
{
	struct tide_request *req = kzalloc(sizeof(*req), GFP_KERNEL_ACCOUNT);

	if (!req)
		return NULL;
	tide_request_init(req, arena->dev, intent);
	req->done = report_done;
	req->release = report_release;
	req->arena = arena;
	kref_get(&arena->ref);
	return req;
}

/**
 * struct report_call - one TIDE_IOC_REPORT
 * @ranges: kernel copy of the vector
 * @reqs: one request for each
 * @nr: length of both
 * @first: first extent of all
 * @end: extent behind the last of all
 */
struct report_call {
	struct tide_range *ranges;
	struct tide_request **reqs;
	u32 nr;
	unsigned long first;
	unsigned long end;
};

static int range_cmp(const void *a, const void *b)
{
	const struct tide_range *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int check_overlap(const struct report_call *call)
{
	struct tide_range *sorted;
	int rc = 0;
	u32 i;

	sorted = kvmalloc_array(call->nr, sizeof(*sorted), GFP_KERNEL_ACCOUNT);
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, call->ranges, call->nr * sizeof(*sorted));
	sort(sorted, call->nr, sizeof(*sorted), range_cmp, NULL);
	for (i = 1; i < call->nr && !rc; i++)
		if (sorted[i - 1].offset + sorted[i - 1].len > sorted[i].offset)
			rc = -EINVAL;
	kvfree(sorted);
	return rc;
}

static int check_ranges(struct tide_arena *arena, struct report_call *call)
{
	unsigned long first, count;
	u32 i;
	int rc;

	call->first = ULONG_MAX;
	for (i = 0; i < call->nr; i++) {
		const struct tide_range *r = &call->ranges[i];

		if (r->intent < TIDE_INTENT_DISCARD ||
		    r->intent > TIDE_INTENT_WILLNEED || r->status || r->done ||
		    r->result || r->reserved)
			return -EINVAL;
		rc = tide_arena_range(arena, r->offset, r->len, &first, &count);
		if (rc)
			return rc;
		call->first = min(call->first, first);
		call->end = max(call->end, first + count);
	}
	return check_overlap(call);
}

/* Whether all of it is committed; arena->lock is held. */
static bool range_is_committed(struct tide_arena *arena,
			       const struct tide_range *r)
{
	unsigned long first = r->offset >> TIDE_EXTENT_SHIFT;
	unsigned long count = r->len >> TIDE_EXTENT_SHIFT;
	struct tide_extent *ext;
	unsigned long i, found = 0;

	xa_for_each_range(&arena->extents, i, ext, first, first + count - 1)
		found++;
	return found == count;
}

/* Moves what a range holds into its request. Quarantined extents stay out. */
static void fill_request(struct tide_arena *arena, struct tide_request *req,
			 const struct tide_range *r)
{
	unsigned long first = r->offset >> TIDE_EXTENT_SHIFT;
	unsigned long last = first + (r->len >> TIDE_EXTENT_SHIFT) - 1;
	struct tide_extent *ext;
	unsigned long i;

	lockdep_assert_held(&arena->state_lock);

	xa_for_each_range(&arena->extents, i, ext, first, last) {
		if (ext->state != TIDE_EXTENT_OWNED) {
			req->status = TIDE_STATUS_NO_ANSWER;
			req->zeroed = false;
			continue;
		}
		tide_extent_move(&arena->dev->extents, ext,
				 TIDE_EXTENT_REPORTED);
		tide_request_add(req, ext);
	}
	arena->nr_in_flight += req->nr_extents;
	arena->reports++;
	arena->reported_bytes += r->len;
	atomic64_inc(&arena->dev->stats.reports);
	atomic64_add(r->len, &arena->dev->stats.reported_bytes);
}

static int send_ranges(struct tide_arena *arena, struct report_call *call)
{
	LIST_HEAD(requests);
	u32 i;
	int rc;

	rc = tide_arena_lock_idle(arena, call->first, call->end - call->first);
	if (rc)
		return rc;
	for (i = 0; i < call->nr && !rc; i++)
		if (!range_is_committed(arena, &call->ranges[i]))
			rc = -ENXIO;
	if (rc) {
		up_write(&arena->lock);
		return rc;
	}
	spin_lock(&arena->state_lock);
	for (i = 0; i < call->nr; i++) {
		fill_request(arena, call->reqs[i], &call->ranges[i]);
		list_add_tail(&call->reqs[i]->node, &requests);
	}
	spin_unlock(&arena->state_lock);
	up_write(&arena->lock);

	tide_request_submit(arena->dev, &requests);
	return 0;
}

static int take_answers(struct report_call *call)
{
	u32 i;

	for (i = 0; i < call->nr; i++) {
		struct tide_request *req = call->reqs[i];
		struct tide_range *r = &call->ranges[i];

		if (tide_request_wait(req))
			return -EINTR;
		r->status = req->status;
		r->done = (u64)req->done_extents << TIDE_EXTENT_SHIFT;
		r->result = (req->zeroed ? TIDE_RESULT_ZEROED : 0) |
			    (req->downgraded ? TIDE_RESULT_DOWNGRADED : 0);
	}
	return 0;
}

static int run_report(struct tide_arena *arena, struct report_call *call,
		      bool wait)
{
	u32 i;
	int rc;

	rc = check_ranges(arena, call);
	if (rc)
		return rc;
	for (i = 0; i < call->nr; i++) {
		call->reqs[i] = report_new(arena, call->ranges[i].intent);
		if (!call->reqs[i])
			return -ENOMEM;
	}
	rc = send_ranges(arena, call);
	if (rc)
		return rc;
	if (wait)
		return take_answers(call);
	for (i = 0; i < call->nr; i++)
		call->ranges[i].status = TIDE_STATUS_PENDING;
	return 0;
}

/**
 * tide_arena_report() - TIDE_IOC_REPORT
 * @arena: arena
 * @arg: see uapi
 *
 * Return: 0 or -errno as in uapi.
 */
int tide_arena_report(struct tide_arena *arena, struct tide_report *arg)
{
	void __user *user = u64_to_user_ptr(arg->ranges);
	struct report_call call = { .nr = arg->nr_ranges };
	size_t bytes;
	u32 i;
	int rc;

	if (arg->flags & ~TIDE_REPORT_NOWAIT || arg->reserved ||
	    !arg->nr_ranges || arg->nr_ranges > TIDE_REPORT_MAX_RANGES)
		return -EINVAL;

	bytes = call.nr * sizeof(*call.ranges);
	call.ranges = vmemdup_user(user, bytes);
	if (IS_ERR(call.ranges))
		return PTR_ERR(call.ranges);
	call.reqs = kvcalloc(call.nr, sizeof(*call.reqs), GFP_KERNEL_ACCOUNT);
	if (!call.reqs) {
		rc = -ENOMEM;
		goto out_free_ranges;
	}

	rc = run_report(arena, &call, !(arg->flags & TIDE_REPORT_NOWAIT));
	if (!rc && copy_to_user(user, call.ranges, bytes))
		rc = -EFAULT;

	for (i = 0; i < call.nr && call.reqs[i]; i++)
		tide_request_put(call.reqs[i]);
	kvfree(call.reqs);
out_free_ranges:
	kvfree(call.ranges);
	return rc;
}
