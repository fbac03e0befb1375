// SPDX-License-Identifier: GPL-2.0-or-later
/* The fake kernel, see fake.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake.h"

#define MAX_ARENAS	256
#define MAX_EXTENTS	4096

struct fake_arena {
	ino_t ino;		/* of the memfd, which outlives any one fd */
	uint64_t id;
	uint64_t max_bytes;
	char name[TIDE_NAME_LEN];
	bool committed[MAX_EXTENTS];
	uint64_t reports, reported, acted, failed;
};

struct fake fake;
static struct fake_arena arenas[MAX_ARENAS];
static size_t nr_arenas;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int set_errno(int err)
{
	errno = err;
	return -1;
}

static void count_fd(int n)
{
	pthread_mutex_lock(&lock);
	fake.open_fds += n;
	pthread_mutex_unlock(&lock);
}

static int fake_open(const char *path, int flags)
{
	(void)path;
	if (fake.open_errno)
		return set_errno(fake.open_errno);
	count_fd(1);
	return open("/dev/null", flags);
}

static int fake_close(int fd)
{
	count_fd(-1);
	return close(fd);
}

static int fake_dup(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy >= 0)
		count_fd(1);
	return copy;
}

static struct fake_arena *find(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	for (size_t i = 0; i < nr_arenas; i++)
		if (arenas[i].ino == st.st_ino)
			return &arenas[i];
	return NULL;
}

static uint64_t committed_bytes(const struct fake_arena *a)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < MAX_EXTENTS; i++)
		sum += a->committed[i] ? FAKE_EXTENT : 0;
	return sum;
}

static int check_range(const struct fake_arena *a, uint64_t offset,
		       uint64_t len)
{
	if (!len || offset % FAKE_EXTENT || len % FAKE_EXTENT ||
	    offset + len < offset)
		return EINVAL;
	return offset + len > a->max_bytes ? ERANGE : 0;
}

static int do_info(struct tide_info *info)
{
	if (info->size != sizeof(*info) || info->flags || info->reserved)
		return EINVAL;
	info->extent_size = FAKE_EXTENT;
	info->pool_bytes = fake.pool_bytes;
	info->carved_bytes = fake.owned_bytes;
	info->owned_bytes = fake.owned_bytes;
	info->backend = TIDE_BACKEND_CONTIG;
	info->device_state = fake.device_state;
	info->intents = 0x3e;
	return 0;
}

static int do_create(struct tide_arena_create *c)
{
	uint64_t max = c->max_bytes ? c->max_bytes : fake.pool_bytes;
	struct fake_arena *a = &arenas[nr_arenas];
	struct stat st;

	if (c->size != sizeof(*c) || c->flags || c->reserved || c->fd ||
	    max % FAKE_EXTENT || max / FAKE_EXTENT > MAX_EXTENTS ||
	    !memchr(c->name, 0, sizeof(c->name)))
		return EINVAL;
	if (nr_arenas == MAX_ARENAS)
		return ENOMEM;
	c->fd = memfd_create(c->name, MFD_CLOEXEC);
	if (c->fd < 0 || ftruncate(c->fd, max) || fstat(c->fd, &st))
		return ENOMEM;
	fake.open_fds++;
	*a = (struct fake_arena){
		.ino = st.st_ino,
		.id = ++nr_arenas,
		.max_bytes = max,
	};
	strcpy(a->name, c->name);
	return 0;
}

static void zero(int fd, uint64_t offset, uint64_t len)
{
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, len);
}

static int do_alloc(int fd, struct fake_arena *a, struct tide_alloc *al)
{
	int err = check_range(a, al->offset, al->len);

	if (al->size != sizeof(*al) || al->flags & ~TIDE_ALLOC_PARTIAL ||
	    al->allocated)
		return EINVAL;
	if (err)
		return err;
	for (uint64_t o = al->offset; o < al->offset + al->len; o += FAKE_EXTENT)
		if (a->committed[o / FAKE_EXTENT])
			return EEXIST;
	al->allocated = al->len;
	if (al->allocated > fake.pool_bytes - fake.owned_bytes) {
		if (!(al->flags & TIDE_ALLOC_PARTIAL))
			return ENOMEM;
		al->allocated = fake.pool_bytes - fake.owned_bytes;
	}
	for (uint64_t o = 0; o < al->allocated; o += FAKE_EXTENT)
		a->committed[(al->offset + o) / FAKE_EXTENT] = true;
	zero(fd, al->offset, al->allocated);
	if (fake.dirty_alloc && pwrite(fd, "x", 1, al->offset + 4096 + 8) != 1)
		return EIO;
	fake.owned_bytes += al->allocated;
	return 0;
}

static int do_free(int fd, struct fake_arena *a, struct tide_free *f)
{
	int err = check_range(a, f->offset, f->len);

	if (f->size != sizeof(*f) || f->flags || f->freed)
		return EINVAL;
	if (err)
		return err;
	for (uint64_t o = f->offset; o < f->offset + f->len; o += FAKE_EXTENT) {
		f->freed += a->committed[o / FAKE_EXTENT] ? FAKE_EXTENT : 0;
		a->committed[o / FAKE_EXTENT] = false;
	}
	zero(fd, f->offset, f->len);
	fake.owned_bytes -= f->freed;
	return 0;
}

static int check_report(const struct fake_arena *a, const struct tide_range *r)
{
	int err = check_range(a, r->offset, r->len);

	if (err)
		return err;
	if (r->intent < TIDE_INTENT_DISCARD ||
	    r->intent > TIDE_INTENT_WILLNEED || r->status || r->done ||
	    r->result || r->reserved)
		return EINVAL;
	for (uint64_t o = r->offset; o < r->offset + r->len; o += FAKE_EXTENT)
		if (!a->committed[o / FAKE_EXTENT])
			return ENXIO;
	return 0;
}

static void act(int fd, struct fake_arena *a, struct tide_range *r)
{
	unsigned char byte = 0;

	if (fake.nr_calls < FAKE_MAX_CALLS)
		fake.calls[fake.nr_calls++] = (struct fake_call){
			a->id, r->offset, r->len, r->intent
		};
	a->reports++;
	a->reported += r->len;
	r->status = fake.status;
	if (fake.status) {
		a->failed++;
		return;
	}
	r->done = r->len;
	a->acted += r->len;
	if (r->intent == TIDE_INTENT_DISCARD && !fake.not_zeroed) {
		r->result = TIDE_RESULT_ZEROED;
		if (!fake.lie_zeroed)
			zero(fd, r->offset, r->len);
	}
	if (fake.corrupt_on == r->intent &&
	    pread(fd, &byte, 1, r->offset + r->len - 1) == 1) {
		byte ^= 0x10;
		if (pwrite(fd, &byte, 1, r->offset + r->len - 1) != 1)
			abort();
	}
}

static int do_report(int fd, struct fake_arena *a, struct tide_report *rep)
{
	struct tide_range *ranges = (void *)(uintptr_t)rep->ranges;

	if (rep->size != sizeof(*rep) || rep->flags & ~TIDE_REPORT_NOWAIT ||
	    rep->reserved || !rep->nr_ranges ||
	    rep->nr_ranges > TIDE_REPORT_MAX_RANGES)
		return EINVAL;
	for (uint32_t i = 0; i < rep->nr_ranges; i++) {
		int err = check_report(a, &ranges[i]);

		if (err)
			return err;
	}
	if (fake.report_delay_us)
		usleep(fake.report_delay_us);
	for (uint32_t i = 0; i < rep->nr_ranges; i++)
		act(fd, a, &ranges[i]);
	return 0;
}

static int do_query(const struct fake_arena *a, struct tide_query *q)
{
	if (q->size != sizeof(*q) || q->flags)
		return EINVAL;
	q->id = a->id;
	q->max_bytes = a->max_bytes;
	q->committed_bytes = committed_bytes(a);
	q->reports = a->reports;
	q->reported_bytes = a->reported;
	q->acted_bytes = a->acted;
	q->failed_reports = a->failed;
	memcpy(q->name, a->name, sizeof(q->name));
	return 0;
}

static int dispatch(int fd, unsigned long request, void *arg)
{
	struct fake_arena *a = find(fd);

	if (!a) {
		switch (request) {
		case TIDE_IOC_INFO:
			return do_info(arg);
		case TIDE_IOC_ARENA_CREATE:
			return do_create(arg);
		default:
			return ENOTTY;
		}
	}
	switch (request) {
	case TIDE_IOC_ALLOC:
		return do_alloc(fd, a, arg);
	case TIDE_IOC_FREE:
		return do_free(fd, a, arg);
	case TIDE_IOC_REPORT:
		return do_report(fd, a, arg);
	case TIDE_IOC_QUERY:
		return do_query(a, arg);
	default:
		return ENOTTY;
	}
}

static int fake_ioctl(int fd, unsigned long request, void *arg)
{
	int err;

	pthread_mutex_lock(&lock);
	if (fake.eintr > 0) {
		fake.eintr--;
		err = EINTR;
	} else {
		err = fake.ioctl_errno ? fake.ioctl_errno :
					 dispatch(fd, request, arg);
	}
	pthread_mutex_unlock(&lock);
	return err ? set_errno(err) : 0;
}

const struct tide_sys_ops fake_ops = {
	.open = fake_open,
	.close = fake_close,
	.dup = fake_dup,
	.ioctl = fake_ioctl,
	.mmap = mmap,
	.munmap = munmap,
};

int fake_setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	nr_arenas = 0;
	fake.pool_bytes = 64 * FAKE_EXTENT;
	return 0;
}

int fake_teardown(void **state)
{
	(void)state;
	if (fake.open_fds)
		print_error("%d descriptors leaked\n", fake.open_fds);
	return fake.open_fds != 0;
}

struct tide_ctx *fake_ctx(void)
{
	struct tide_ctx *ctx;

	assert_int_equal(tide_ctx_new_with(&fake_ops, &ctx), 0);
	return ctx;
}

const char *fake_error(struct tide_ctx *ctx)
{
	static char text[256];

	tide_ctx_error(ctx, text, sizeof(text));
	return text;
}
