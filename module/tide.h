/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private types of the module and the calls between its files.
 *
 * LOCK ORDER
 *
 *   mmap_lock (fault)  >  arena->lock  >  arena->state_lock
 *   pool->carve_lock   >  pool->lock
 *   ring->lock is innermost.
 *
 * No lock is held while waiting for the device, but pool->carve_lock, which
 * only other carvers want.
 */
#ifndef TIDE_H
#define TIDE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <linux/tide.h>
#include <linux/tide_pci.h>

#define TIDE_EXTENT_SHIFT	TIDE_PCI_EXTENT_SHIFT
#define TIDE_EXTENT_SIZE	(1UL << TIDE_EXTENT_SHIFT)
#define TIDE_EXTENT_PAGES	(TIDE_EXTENT_SIZE >> PAGE_SHIFT)

struct tide_arena;
struct tide_dev;
struct tide_request;

/* ---- Extents (extent.c) ---- */

/**
 * enum tide_extent_state - who an extent belongs to
 * @TIDE_EXTENT_CARVED: to the pool, out of the kernel's hands, idle
 * @TIDE_EXTENT_OWNED: to an arena
 * @TIDE_EXTENT_REPORTED: to an arena, and to the device until it answers
 * @TIDE_EXTENT_DRAINING: to the device until it has discarded it; no arena
 * @TIDE_EXTENT_QUARANTINED: to nobody: the device never answered and may
 *	still act on it, so that it is never used again
 *
 * Memory that is not carved has no extent. The table of what may follow what
 * is in extent.c.
 */
enum tide_extent_state {
	TIDE_EXTENT_CARVED,
	TIDE_EXTENT_OWNED,
	TIDE_EXTENT_REPORTED,
	TIDE_EXTENT_DRAINING,
	TIDE_EXTENT_QUARANTINED,
	TIDE_EXTENT_NR_STATES,
};

/* How many extents are in each state. */
struct tide_extent_counts {
	atomic_long_t nr[TIDE_EXTENT_NR_STATES];
};

/**
 * struct tide_extent - 2 MiB of guest-physical memory that has been carved
 * @node: in the list of whoever holds it: pool cache or request. Nobody's
 *	while OWNED.
 * @pfn: its first page
 * @index: where it is in the arena, in extents; of no meaning in the pool
 * @state: enum tide_extent_state, changed by tide_extent_move() only
 * @zero: it is known to read as zero; of meaning only while no process maps it
 */
struct tide_extent {
	struct list_head node;
	unsigned long pfn;
	unsigned long index;
	u8 state;
	bool zero;
};

struct tide_extent *tide_extent_new(struct tide_extent_counts *counts,
				    unsigned long pfn);
void tide_extent_free(struct tide_extent_counts *counts,
		      struct tide_extent *ext);
int tide_extent_move(struct tide_extent_counts *counts,
		     struct tide_extent *ext, enum tide_extent_state to);
bool tide_extent_may_move(enum tide_extent_state from,
			  enum tide_extent_state to);
const char *tide_extent_state_name(enum tide_extent_state state);
void tide_extent_clear(struct tide_extent *ext);
void tide_extents_sort(struct list_head *extents);

/* ---- Pool (pool.c, pool_contig.c, pool_cma.c) ---- */

struct tide_pool;

/**
 * struct tide_pool_ops - where a pool takes its memory from
 * @name: for sysfs
 * @id: TIDE_BACKEND_*
 * @init: finds the memory, sets pool->size_extents; -ENODEV: not on this guest
 * @carve: takes up to @want extents out of the kernel's hands, stores the
 *	first pfn of each; returns how many, 0 if none can be had. Bounded in
 *	time, stops on a fatal signal. Called with pool->carve_lock held.
 * @give_back: returns one extent to the kernel
 */
struct tide_pool_ops {
	const char *name;
	u32 id;
	int (*init)(struct tide_pool *pool);
	unsigned int (*carve)(struct tide_pool *pool, unsigned int want,
			      unsigned long *pfns);
	void (*give_back)(struct tide_pool *pool, unsigned long pfn);
};

/**
 * struct tide_pool - the memory extents are carved from
 * @ops: backend
 * @counts: extents by state, shared with all who move them
 * @backend_data: the CMA area
 * @cursor: contig: pfn below which the search goes on
 * @size_extents: most extents to have carved at once
 * @floor_bytes: available memory that carving leaves to the guest
 * @cache_extents: most idle extents to keep carved
 * @carve_lock: one carver at a time; holding it @nr_carved only falls
 * @lock: protects @cached, @nr_cached, @incoming
 * @cached: idle extents, CARVED
 * @nr_cached: their number
 * @incoming: extents on their way back, for @put_work
 * @nr_carved: extents out of the kernel's hands, in any state
 * @put_work: sorts @incoming into cache and kernel, off the interrupt thread
 * @shrinker: gives cached extents back under memory pressure
 */
struct tide_pool {
	const struct tide_pool_ops *ops;
	struct tide_extent_counts *counts;
	void *backend_data;
	unsigned long cursor;
	unsigned long size_extents;
	u64 floor_bytes;
	unsigned long cache_extents;
	struct mutex carve_lock;
	spinlock_t lock;
	struct list_head cached;
	unsigned long nr_cached;
	struct list_head incoming;
	atomic_long_t nr_carved;
	struct work_struct put_work;
	struct shrinker *shrinker;
};

extern const struct tide_pool_ops tide_pool_contig;
extern const struct tide_pool_ops tide_pool_cma;

int tide_pool_init(struct tide_pool *pool, const struct tide_pool_ops *ops,
		   struct tide_extent_counts *counts);
void tide_pool_exit(struct tide_pool *pool);
unsigned int tide_pool_get(struct tide_pool *pool, unsigned int want,
			   struct list_head *extents);
void tide_pool_put(struct tide_pool *pool, struct list_head *extents);

/* ---- Ring (ring.c) ---- */

/* What the ring remembers of a descriptor until it is answered. */
struct tide_ring_slot {
	struct tide_request *req;
	struct tide_extent *first;
	u32 count;
	u32 generation;
};

/**
 * struct tide_ring - submission and completion ring
 * @mem: the shared memory of BAR2
 * @sq: submission ring in it
 * @cq: completion ring in it
 * @index: index lines in it
 * @size: slots in each ring, a power of two
 * @max_extents: most extents a descriptor may name
 * @event_idx: TIDE_PCI_FEATURE_EVENT_IDX was accepted
 * @kick: rings the doorbell
 * @kick_data: for @kick
 * @lock: protects all below, and the order of publications
 * @dead: the device is gone; nothing is taken any more
 * @stopped: the device is being reset; what is submitted waits
 * @sq_tail: next submission
 * @cq_head: next completion
 * @slots: one for each descriptor that is unanswered
 * @free_slots: stack of unused slot numbers
 * @nr_free: its height
 * @pending: requests with extents not sent yet
 * @answered: completions seen, ever; progress, for the watchdog
 * @doorbells: doorbells rung, ever
 * @corrupt: completions that made no sense, ever
 */
struct tide_ring {
	void *mem;
	struct tide_pci_desc *sq;
	struct tide_pci_cpl *cq;
	void *index;
	u32 size;
	u32 max_extents;
	bool event_idx;
	void (*kick)(void *data);
	void *kick_data;

	spinlock_t lock;
	bool dead;
	bool stopped;
	u32 sq_tail;
	u32 cq_head;
	struct tide_ring_slot *slots;
	u32 *free_slots;
	u32 nr_free;
	struct list_head pending;
	u64 answered;
	u64 doorbells;
	u64 corrupt;
};

struct tide_ring_layout {
	u32 size;
	u32 index_offset;
	u32 sq_offset;
	u32 cq_offset;
	u32 max_extents;
};

/**
 * enum tide_ring_abort - why descriptors will not be answered
 * @TIDE_ABORT_RESET: the device was reset; what was not sent stays for later
 * @TIDE_ABORT_GONE: the device was reset for the last time
 * @TIDE_ABORT_LOST: the device does not even reset: it may act on them still
 */
enum tide_ring_abort {
	TIDE_ABORT_RESET,
	TIDE_ABORT_GONE,
	TIDE_ABORT_LOST,
};

int tide_ring_init(struct tide_ring *ring, void *mem, size_t mem_size,
		   const struct tide_ring_layout *layout);
void tide_ring_exit(struct tide_ring *ring);
void tide_ring_start(struct tide_ring *ring, bool event_idx);
bool tide_ring_submit(struct tide_ring *ring, struct list_head *requests);
bool tide_ring_reap(struct tide_ring *ring, struct list_head *done);
bool tide_ring_idle(struct tide_ring *ring);
void tide_ring_stop(struct tide_ring *ring);
void tide_ring_abort(struct tide_ring *ring, enum tide_ring_abort why,
		     struct list_head *done);

/* ---- Requests (request.c) ---- */

/**
 * struct tide_request - one intent for some extents, sent as one or more runs
 * @node: in ring->pending, or in a caller's list
 * @extents: what it is about, sorted by pfn; the request holds them until done
 * @next: first extent not sent; NULL when all were
 * @in_flight: descriptors not answered
 * @intent: TIDE_INTENT_*
 * @status: TIDE_STATUS_* of the first descriptor that failed, else OK
 * @downgraded: some descriptor got a weaker action
 * @zeroed: all of it reads as zero
 * @unanswered: the device may still act on it: see TIDE_EXTENT_QUARANTINED
 * @nr_extents: length of @extents
 * @done_extents: acted on
 * @done: called once in process context when all was answered
 * @release: called with the last reference; frees, and disposes of @extents
 * @completion: for those who wait
 * @ref: one for the sender until it has looked, one until @done has run
 * @arena: whose report it is; holds a reference; may be NULL
 * @dev: the device
 */
struct tide_request {
	struct list_head node;
	struct list_head extents;
	struct tide_extent *next;
	u32 in_flight;
	u16 intent;
	u32 status;
	bool downgraded;
	bool zeroed;
	bool unanswered;
	u32 nr_extents;
	u32 done_extents;
	void (*done)(struct tide_request *req);
	void (*release)(struct tide_request *req);
	struct completion completion;
	struct kref ref;
	struct tide_arena *arena;
	struct tide_dev *dev;
};

void tide_request_init(struct tide_request *req, struct tide_dev *dev,
		       u16 intent);
void tide_request_add(struct tide_request *req, struct tide_extent *ext);
void tide_request_put(struct tide_request *req);
void tide_request_submit(struct tide_dev *dev, struct list_head *requests);
void tide_request_submit_one(struct tide_request *req);
int tide_request_wait(struct tide_request *req);
void tide_requests_complete(struct list_head *done);
struct tide_request *tide_drain_new(struct tide_dev *dev);
void tide_request_drain(struct tide_request *req);
int tide_extents_zero(struct tide_dev *dev, struct list_head *extents);

/* ---- Device (pci.c) ---- */

/* Sums since the module was loaded, in bytes where the name says so. */
struct tide_stats {
	atomic64_t reports;
	atomic64_t reported_bytes;
	atomic64_t acted_bytes;
	atomic64_t failed;
	atomic64_t discarded_bytes;
	atomic64_t zeroed_by_guest_bytes;
	atomic64_t device_resets;
};

/**
 * struct tide_dev - the device and all that hangs on it
 * @ref: one for the driver, one for each arena
 * @pdev: the PCI function
 * @gone: the driver was unbound: @pdev, @regs and @rings are not to be used
 * @misc: /dev/tide
 * @regs: BAR0
 * @rings: BAR2
 * @irq: Linux irq number
 * @intents: bit (1 << intent) the device takes
 * @features: accepted
 * @extents: by state
 * @pool: where they come from
 * @ring: where reports go
 * @stats: see there
 * @watchdog: resets a device that stopped answering
 * @watchdog_answered: ring.answered when it last looked
 * @watchdog_stuck: there was no progress when it last looked
 * @recover_lock: one reset at a time; holding it, @gone does not change
 * @nr_arenas: number of the last arena made
 */
struct tide_dev {
	struct kref ref;
	struct pci_dev *pdev;
	bool gone;
	struct miscdevice misc;
	void __iomem *regs;
	void *rings;
	int irq;
	u32 intents;
	u32 features;
	struct tide_extent_counts extents;
	struct tide_pool pool;
	struct tide_ring ring;
	struct tide_stats stats;
	struct delayed_work watchdog;
	u64 watchdog_answered;
	bool watchdog_stuck;
	struct mutex recover_lock;
	atomic64_t nr_arenas;
};

extern struct pci_driver tide_pci_driver;
extern const struct attribute_group *tide_groups[];

void tide_dev_get(struct tide_dev *dev);
void tide_dev_put(struct tide_dev *dev);
u32 tide_dev_state(struct tide_dev *dev);
void tide_dev_recover(struct tide_dev *dev);
void tide_dev_watch(struct tide_dev *dev);

/* ---- Arenas (arena.c, report.c, mmap.c) ---- */

/**
 * struct tide_arena - what an arena fd stands for
 * @ref: one for the file, one for each report in flight
 * @dev: the device, a reference
 * @id: never used again while the module is loaded
 * @max_extents: size of the offset space
 * @name: for people
 * @mapping: of the file; where mappings are found to be removed
 * @lock: writers change @extents; readers (faults) may use what they find in
 *	it until they let go
 * @extents: by index; each OWNED or REPORTED
 * @state_lock: protects their state, and all below
 * @dying: the file is closed: extents go to the host as they come back
 * @nr_committed: extents owned
 * @nr_in_flight: of those, REPORTED
 * @reports: ranges reported
 * @reported_bytes: bytes of those
 * @acted_bytes: bytes that the host acted on
 * @failed_reports: ranges with a status other than OK
 * @idle: woken when a report came back
 * @last_drain: made in time, since closing must not fail
 */
struct tide_arena {
	struct kref ref;
	struct tide_dev *dev;
	u64 id;
	unsigned long max_extents;
	char name[TIDE_NAME_LEN];
	struct address_space *mapping;
	struct rw_semaphore lock;
	struct xarray extents;
	spinlock_t state_lock;
	bool dying;
	unsigned long nr_committed;
	unsigned long nr_in_flight;
	u64 reports;
	u64 reported_bytes;
	u64 acted_bytes;
	u64 failed_reports;
	wait_queue_head_t idle;
	struct tide_request *last_drain;
};

int tide_arena_create(struct tide_dev *dev, struct tide_arena_create *arg);
int tide_arena_alloc(struct tide_arena *arena, struct tide_alloc *arg);
int tide_arena_free(struct tide_arena *arena, struct tide_free *arg);
void tide_arena_query(struct tide_arena *arena, struct tide_query *arg);
void tide_arena_put(struct tide_arena *arena);
int tide_arena_range(struct tide_arena *arena, u64 offset, u64 len,
		     unsigned long *first, unsigned long *count);
int tide_arena_lock_idle(struct tide_arena *arena, unsigned long first,
			 unsigned long count);
int tide_arena_report(struct tide_arena *arena, struct tide_report *arg);
int tide_arena_mmap(struct file *file, struct vm_area_struct *vma);

/* ---- User interface (ioctl.c) ---- */

extern const struct file_operations tide_dev_fops;
long tide_arena_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif /* TIDE_H */
