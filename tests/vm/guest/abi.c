// SPDX-License-Identifier: GPL-2.0-or-later
/* Every ioctl with every size it may claim to have, and with bad arguments. */
#include "tap.h"

#define ARENA_BYTES (64 * MIB)

static int device, arena;
static struct tide_range one_range;

union any {
	__u32 size;
	struct tide_info info;
	struct tide_arena_create create;
	struct tide_alloc alloc;
	struct tide_free free;
	struct tide_report report;
	struct tide_query query;
	unsigned char bytes[8192];
};

static void good_info(union any *a)
{
	a->info.size = sizeof(a->info);
}

static void good_create(union any *a)
{
	a->create.size = sizeof(a->create);
	a->create.max_bytes = EXTENT;
}

static void good_alloc(union any *a)
{
	a->alloc.size = sizeof(a->alloc);
	a->alloc.len = EXTENT;
}

static void good_free(union any *a)
{
	a->free.size = sizeof(a->free);
	a->free.len = EXTENT;
}

static void good_report(union any *a)
{
	one_range = (struct tide_range){
		.len = EXTENT, .intent = TIDE_INTENT_DISCARD,
	};
	a->report.size = sizeof(a->report);
	a->report.ranges = (uintptr_t)&one_range;
	a->report.nr_ranges = 1;
}

static void good_query(union any *a)
{
	a->query.size = sizeof(a->query);
}

static const struct call {
	const char *name;
	unsigned long nr;
	size_t size;
	int on_arena;
	int committed;	/* wants the first extent to be there */
	void (*good)(union any *a);
} calls[] = {
	{ "INFO", TIDE_IOC_INFO, sizeof(struct tide_info), 0, 0, good_info },
	{ "ARENA_CREATE", TIDE_IOC_ARENA_CREATE, sizeof(struct tide_arena_create), 0, 0, good_create },
	{ "ALLOC", TIDE_IOC_ALLOC, sizeof(struct tide_alloc), 1, 0, good_alloc },
	{ "FREE", TIDE_IOC_FREE, sizeof(struct tide_free), 1, 1, good_free },
	{ "REPORT", TIDE_IOC_REPORT, sizeof(struct tide_report), 1, 1, good_report },
	{ "QUERY", TIDE_IOC_QUERY, sizeof(struct tide_query), 1, 1, good_query },
};

static void prepare(const struct call *c, union any *a)
{
	memset(a, 0, sizeof(*a));
	free_or_die(arena, 0, ARENA_BYTES);
	if (c->committed)
		alloc_or_die(arena, 0, EXTENT);
	c->good(a);
}

static int issue(const struct call *c, void *arg)
{
	union any *a = arg;
	int rc = ioctl(c->on_arena ? arena : device, c->nr, arg);

	if (!rc && c->nr == TIDE_IOC_ARENA_CREATE)
		close(a->create.fd);
	return rc;
}

static void test_sizes(const struct call *c)
{
	static const struct {
		const char *name;
		int grow;
		int tail;	/* value of the bytes that this kernel does not know */
		int want;
	} sizes[] = {
		{ "exact", 0, 0, 0 },
		{ "longer, zero tail", 64, 0, 0 },
		{ "longer, garbage tail", 64, 0xa5, E2BIG },
		{ "a page longer, garbage in its last byte", 4000, 1, E2BIG },
		{ "shorter", -8, 0, EINVAL },
	};
	char what[128];
	union any a;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		prepare(c, &a);
		a.size = c->size + sizes[i].grow;
		if (sizes[i].grow == 64)
			memset(a.bytes + c->size, sizes[i].tail, 64);
		else if (sizes[i].grow > 0)
			a.bytes[a.size - 1] = sizes[i].tail;
		snprintf(what, sizeof(what), "%s, %s", c->name, sizes[i].name);
		ends(issue(c, &a), sizes[i].want, what);
	}
}

static void test_odd_sizes(const struct call *c)
{
	static const __u32 sizes[] = { 0, 1, 4, 8 };
	char what[128];
	union any a;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		prepare(c, &a);
		a.size = sizes[i];
		snprintf(what, sizeof(what), "%s, size %u", c->name, sizes[i]);
		ends(issue(c, &a), EINVAL, what);
	}
	prepare(c, &a);
	a.size = UINT32_MAX;
	snprintf(what, sizeof(what), "%s, size 4 GiB", c->name);
	ends(issue(c, &a), E2BIG, what);
}

/* A struct that ends at the end of a mapping must be read no further. */
static void test_pointers(const struct call *c)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char what[128];
	union any a;

	if (pages == MAP_FAILED || munmap(pages + page, page))
		die("mmap");
	prepare(c, &a);
	memcpy(pages + page - c->size, &a, c->size);
	snprintf(what, sizeof(what), "%s, at the end of a mapping", c->name);
	ends(issue(c, pages + page - c->size), 0, what);

	prepare(c, &a);
	a.size = c->size + 8;
	memcpy(pages + page - c->size, &a, c->size);
	snprintf(what, sizeof(what), "%s, beyond the end of a mapping", c->name);
	ends(issue(c, pages + page - c->size), EFAULT, what);

	prepare(c, &a);
	snprintf(what, sizeof(what), "%s, no pointer", c->name);
	ends(issue(c, NULL), EFAULT, what);
	snprintf(what, sizeof(what), "%s, a kernel address", c->name);
	ends(ioctl(c->on_arena ? arena : device, c->nr, (void *)-4096ul),
	     EFAULT, what);
	munmap(pages, page);
}

static void test_flags(const struct call *c)
{
	char what[128];
	union any a;

	for (int bit = 0; bit < 32; bit += 31) {
		prepare(c, &a);
		if (bit == 0 && (c->nr == TIDE_IOC_ALLOC || c->nr == TIDE_IOC_REPORT))
			continue;
		a.info.flags |= 1u << bit;
		snprintf(what, sizeof(what), "%s, unknown flag bit %d", c->name, bit);
		ends(issue(c, &a), EINVAL, what);
	}
}

static void test_wrong_fd(const struct call *c)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char what[128];
	union any a;

	prepare(c, &a);
	snprintf(what, sizeof(what), "%s, on the other kind of fd", c->name);
	ends(ioctl(c->on_arena ? device : arena, c->nr, &a), ENOTTY, what);
	snprintf(what, sizeof(what), "%s, on a stranger's fd", c->name);
	ends(ioctl(null, c->nr, &a), ENOTTY, what);
	close(null);
	snprintf(what, sizeof(what), "%s, on a closed fd", c->name);
	ends(ioctl(null, c->nr, &a), EBADF, what);
}

static void test_ranges(void)
{
	static const struct {
		const char *name;
		uint64_t offset, len;
		int want;
	} ranges[] = {
		{ "no length", 0, 0, EINVAL },
		{ "unaligned offset", 4096, EXTENT, EINVAL },
		{ "unaligned length", 0, EXTENT + 4096, EINVAL },
		{ "length below an extent", 0, 1, EINVAL },
		{ "wraps around", UINT64_MAX - EXTENT + 1, 2 * EXTENT, EINVAL },
		{ "length of everything", 0, UINT64_MAX - EXTENT + 1, ERANGE },
		{ "ends beyond max_bytes", ARENA_BYTES - EXTENT, 2 * EXTENT, ERANGE },
		{ "begins at max_bytes", ARENA_BYTES, EXTENT, ERANGE },
	};
	char what[128];

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct tide_range range = {
			.offset = ranges[i].offset, .len = ranges[i].len,
			.intent = TIDE_INTENT_COLD,
		};
		struct tide_report report = {
			.size = sizeof(report), .ranges = (uintptr_t)&range,
			.nr_ranges = 1,
		};

		free_or_die(arena, 0, ARENA_BYTES);
		snprintf(what, sizeof(what), "ALLOC, %s", ranges[i].name);
		ends(try_alloc(arena, range.offset, range.len), ranges[i].want, what);
		snprintf(what, sizeof(what), "FREE, %s", ranges[i].name);
		ends(try_free(arena, range.offset, range.len), ranges[i].want, what);
		alloc_or_die(arena, 0, ARENA_BYTES);
		snprintf(what, sizeof(what), "REPORT, %s", ranges[i].name);
		ends(ioctl(arena, TIDE_IOC_REPORT, &report), ranges[i].want, what);
	}
}

static int report(struct tide_range *ranges, unsigned int n)
{
	struct tide_report r = {
		.size = sizeof(r), .ranges = (uintptr_t)ranges, .nr_ranges = n,
	};

	return ioctl(arena, TIDE_IOC_REPORT, &r);
}

static void test_reports(void)
{
	static struct tide_range many[TIDE_REPORT_MAX_RANGES + 1];
	static const __u32 intents[] = { 0, 6, 0x10001, UINT32_MAX };
	struct tide_range good = { .len = EXTENT, .intent = TIDE_INTENT_COLD }, bad;
	struct tide_range two[2] = {
		{ .len = 2 * EXTENT, .intent = TIDE_INTENT_COLD },
		{ .offset = EXTENT, .len = EXTENT, .intent = TIDE_INTENT_COLD },
	};

	free_or_die(arena, 0, ARENA_BYTES);
	alloc_or_die(arena, 0, 4 * EXTENT);
	for (size_t i = 0; i < sizeof(intents) / sizeof(intents[0]); i++) {
		bad = good;
		bad.intent = intents[i];
		ends(report(&bad, 1), EINVAL, "REPORT, unknown intent");
	}
	bad = good;
	bad.reserved = 1;
	ends(report(&bad, 1), EINVAL, "REPORT, reserved field of a range set");
	bad = good;
	bad.status = 1;
	ends(report(&bad, 1), EINVAL, "REPORT, output field of a range set");
	ends(report(two, 2), EINVAL, "REPORT, ranges overlap");
	bad = good;
	bad.offset = 4 * EXTENT;
	ends(report(&bad, 1), ENXIO, "REPORT, nothing is committed there");
	bad.offset = 3 * EXTENT;
	bad.len = 2 * EXTENT;
	ends(report(&bad, 1), ENXIO, "REPORT, a hole at the end of the range");
	ends(report(&good, 0), EINVAL, "REPORT, no range");
	ends(report(many, TIDE_REPORT_MAX_RANGES + 1), EINVAL, "REPORT, too many ranges");
	ends(report(NULL, 1), EFAULT, "REPORT, ranges lead nowhere");
	ends(report((void *)-4096ul, 1), EFAULT, "REPORT, ranges in the kernel");
	for (int i = 0; i < 4; i++) {
		many[i] = good;
		many[i].offset = i * EXTENT;
	}
	ends(report(many, 4), 0, "REPORT, four ranges");
	ok(many[3].status == TIDE_STATUS_OK && many[3].done == EXTENT,
	   "REPORT, the last range was answered");
}

static void test_state(void)
{
	struct tide_alloc huge = {
		.size = sizeof(huge), .len = 1ull << 40,
	};
	struct tide_arena_create create = {
		.size = sizeof(create), .max_bytes = EXTENT,
	};
	struct tide_free req = { .size = sizeof(req), .len = ARENA_BYTES };
	struct tide_query query = { .size = sizeof(query) };
	int big = new_arena(device, 1ull << 40);

	free_or_die(arena, 0, ARENA_BYTES);
	alloc_or_die(arena, 2 * EXTENT, EXTENT);
	ends(try_alloc(arena, 0, 4 * EXTENT), EEXIST, "ALLOC, over what is there");
	ends(ioctl(arena, TIDE_IOC_QUERY, &query), 0, "QUERY");
	ok(query.committed_bytes == EXTENT, "a refused ALLOC leaves nothing behind");
	ok(!ioctl(arena, TIDE_IOC_FREE, &req) && req.freed == EXTENT,
	   "FREE passes over holes and tells what it freed");

	ends(ioctl(big, TIDE_IOC_ALLOC, &huge), ENOMEM, "ALLOC, more than there is");
	query = (struct tide_query){ .size = sizeof(query) };
	ok(!ioctl(big, TIDE_IOC_QUERY, &query) && !query.committed_bytes,
	   "and nothing of it is kept");
	huge.allocated = 1;
	ends(ioctl(big, TIDE_IOC_ALLOC, &huge), EINVAL, "ALLOC, output field set");
	close(big);

	create.max_bytes = EXTENT + 4096;
	ends(ioctl(device, TIDE_IOC_ARENA_CREATE, &create), EINVAL,
	     "ARENA_CREATE, unaligned max_bytes");
	create.max_bytes = EXTENT;
	create.fd = 3;
	ends(ioctl(device, TIDE_IOC_ARENA_CREATE, &create), EINVAL,
	     "ARENA_CREATE, output field set");
	create.fd = 0;
	create.reserved = 1;
	ends(ioctl(device, TIDE_IOC_ARENA_CREATE, &create), EINVAL,
	     "ARENA_CREATE, reserved field set");
	create.reserved = 0;
	memset(create.name, 'x', sizeof(create.name));
	ends(ioctl(device, TIDE_IOC_ARENA_CREATE, &create), EINVAL,
	     "ARENA_CREATE, a name without an end");
}

static void test_partial(void)
{
	struct tide_alloc part = {
		.size = sizeof(part), .flags = TIDE_ALLOC_PARTIAL,
	};
	struct tide_info info = { .size = sizeof(info) };
	struct tide_query query = { .size = sizeof(query) };
	int big;

	if (ioctl(device, TIDE_IOC_INFO, &info) < 0)
		die("INFO");
	big = new_arena(device, 2 * info.pool_bytes);
	part.len = 2 * info.pool_bytes;
	ends(ioctl(big, TIDE_IOC_ALLOC, &part), 0, "ALLOC, PARTIAL, more than there is");
	ok(part.allocated && part.allocated < part.len && part.allocated % EXTENT == 0,
	   "gives what there is");
	ok(!ioctl(big, TIDE_IOC_QUERY, &query) && query.committed_bytes == part.allocated,
	   "which QUERY confirms");
	close(big);
}

int main(void)
{
	device = open_device();
	arena = new_arena(device, ARENA_BYTES);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		test_sizes(&calls[i]);
		test_odd_sizes(&calls[i]);
		test_pointers(&calls[i]);
		test_flags(&calls[i]);
		test_wrong_fd(&calls[i]);
	}
	ends(ioctl(device, _IO(TIDE_IOC_MAGIC, 0x7f), NULL), ENOTTY, "unknown ioctl of the device");
	ends(ioctl(arena, _IO(TIDE_IOC_MAGIC, 0x7f), NULL), ENOTTY, "unknown ioctl of an arena");
	test_ranges();
	test_reports();
	test_state();
	test_partial();
	return done_testing();
}
