// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extents: 2 MiB of guest-physical memory, and who it belongs to.
 */
#include <linux/bug.h>
#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tide.h"
#include "trace.h"

static const char * const state_names[TIDE_EXTENT_NR_STATES] = {
	[TIDE_EXTENT_CARVED]		= "carved",
	[TIDE_EXTENT_OWNED]		= "owned",
	[TIDE_EXTENT_REPORTED]		= "reported",
	[TIDE_EXTENT_DRAINING]		= "draining",
	[TIDE_EXTENT_QUARANTINED]	= "quarantined",
};

/*
 * Which state may follow which:
 *
 *   CARVED    -> OWNED        handed to an arena
 *   CARVED    -> DRAINING     fresh from the kernel, made zero by the host
 *   OWNED     -> REPORTED     a report was sent
 *   OWNED     -> DRAINING     freed, or its arena died
 *   REPORTED  -> OWNED        the report was answered, or will never be acted on
 *   DRAINING  -> CARVED       discarded; or not, and then not known to be zero
 *   REPORTED  -> QUARANTINED  the device died with the report
 *   DRAINING  -> QUARANTINED  the device died with the discard
 */
static const u8 next_states[TIDE_EXTENT_NR_STATES] = {
	[TIDE_EXTENT_CARVED]	= BIT(TIDE_EXTENT_OWNED) |
				  BIT(TIDE_EXTENT_DRAINING),
	[TIDE_EXTENT_OWNED]	= BIT(TIDE_EXTENT_REPORTED) |
				  BIT(TIDE_EXTENT_DRAINING),
	[TIDE_EXTENT_REPORTED]	= BIT(TIDE_EXTENT_OWNED) |
				  BIT(TIDE_EXTENT_QUARANTINED),
	[TIDE_EXTENT_DRAINING]	= BIT(TIDE_EXTENT_CARVED) |
				  BIT(TIDE_EXTENT_QUARANTINED),
	[TIDE_EXTENT_QUARANTINED] = 0,
};

/**
 * tide_extent_may_move() - whether one state may follow another
 * @from: present state
 * @to: state to come
 *
 * Return: true if the table allows it.
 */
bool tide_extent_may_move(enum tide_extent_state from,
			  enum tide_extent_state to)
{
	return from < TIDE_EXTENT_NR_STATES && to < TIDE_EXTENT_NR_STATES &&
	       (next_states[from] & BIT(to));
}

/**
 * tide_extent_state_name() - name of a state, for people
 * @state: the state
 *
 * Return: a word, as in sysfs.
 */
const char *tide_extent_state_name(enum tide_extent_state state)
{
	return state < TIDE_EXTENT_NR_STATES ? state_names[state] : "invalid";
}

/**
 * tide_extent_move() - change the state of an extent
 * @counts: extents by state
 * @ext: extent; the caller is the one it belongs to, so that nobody else
 *	moves it at the same time
 * @to: new state
 *
 * This is the only place that changes a state. A change that is not in the
 * table is a bug: it is refused, and warned about once.
 *
 * Return: 0, or -EINVAL if refused.
 */
int tide_extent_move(struct tide_extent_counts *counts,
		     struct tide_extent *ext, enum tide_extent_state to)
{
	enum tide_extent_state from = ext->state;

	if (WARN_ONCE(!tide_extent_may_move(from, to),
		      "tide: extent at pfn %lx: %s -> %s is not allowed\n",
		      ext->pfn, tide_extent_state_name(from),
		      tide_extent_state_name(to)))
		return -EINVAL;

	ext->state = to;
	atomic_long_dec(&counts->nr[from]);
	atomic_long_inc(&counts->nr[to]);
	trace_tide_extent(ext->pfn, ext->index, from, to);
	return 0;
}

/**
 * tide_extent_new() - describe memory that has just been carved
 * @counts: extents by state
 * @pfn: first page
 *
 * Return: the extent, CARVED and not known to be zero, or NULL.
 */
struct tide_extent *tide_extent_new(struct tide_extent_counts *counts,
				    unsigned long pfn)
{
	struct tide_extent *ext = kzalloc(sizeof(*ext), GFP_KERNEL);

	if (!ext)
		return NULL;
	INIT_LIST_HEAD(&ext->node);
	ext->pfn = pfn;
	ext->state = TIDE_EXTENT_CARVED;
	atomic_long_inc(&counts->nr[TIDE_EXTENT_CARVED]);
	return ext;
}

/**
 * tide_extent_free() - forget an extent whose memory goes back to the kernel
 * @counts: extents by state
 * @ext: extent, CARVED
 */
void tide_extent_free(struct tide_extent_counts *counts,
		      struct tide_extent *ext)
{
	WARN_ON_ONCE(ext->state != TIDE_EXTENT_CARVED);
	atomic_long_dec(&counts->nr[ext->state]);
	kfree(ext);
}

/**
 * tide_extent_clear() - make an extent read as zero, by writing to it
 * @ext: extent that no process maps and the device does not act on
 */
void tide_extent_clear(struct tide_extent *ext)
{
	memset(pfn_to_kaddr(ext->pfn), 0, TIDE_EXTENT_SIZE);
	ext->zero = true;
}

static int extent_cmp(void *unused, const struct list_head *a,
		      const struct list_head *b)
{
	const struct tide_extent *x = list_entry(a, struct tide_extent, node);
	const struct tide_extent *y = list_entry(b, struct tide_extent, node);

	return x->pfn < y->pfn ? -1 : x->pfn > y->pfn;
}

/**
 * tide_extents_sort() - sort by address, so that neighbours become one run
 * @extents: list of struct tide_extent
 */
void tide_extents_sort(struct list_head *extents)
{
	list_sort(NULL, extents, extent_cmp);
}
