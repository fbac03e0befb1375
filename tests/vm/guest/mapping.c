// SPDX-License-Identifier: GPL-2.0-or-later
/* What may be mapped how, what happens at the edges, and what fork shares. */
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "tap.h"

#define ARENA_BYTES (16 * MIB)

static sigjmp_buf escape;

static void on_bus(int sig)
{
	(void)sig;
	siglongjmp(escape, 1);
}

/* Whether a write there raises SIGBUS. */
static int touch_raises(volatile char *at)
{
	if (sigsetjmp(escape, 1))
		return 1;
	*at = 1;
	return 0;
}

static char *map(int arena, size_t len, off_t offset)
{
	char *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, arena, offset);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

/* Result of an mmap that is expected to fail, as a system call returns it. */
static int refused(void *at)
{
	return at == MAP_FAILED ? -1 : 0;
}

static void test_rules(int arena)
{
	char *at;

	ends(refused(mmap(NULL, EXTENT, PROT_READ, MAP_PRIVATE, arena, 0)), EINVAL,
	     "a private mapping");
	ends(refused(mmap(NULL, ARENA_BYTES + EXTENT, PROT_READ, MAP_SHARED, arena, 0)),
	     ERANGE, "a mapping beyond max_bytes");
	at = map(arena, ARENA_BYTES, 0);
	ok((uintptr_t)at % EXTENT == 0, "the kernel aligns a mapping to extents");
	ends(refused(mremap(at, ARENA_BYTES, 2 * ARENA_BYTES, MREMAP_MAYMOVE)), EFAULT,
	     "a mapping cannot grow");
	ok(!touch_raises(at) && !touch_raises(at + EXTENT - 1), "committed memory is there");
	ok(touch_raises(at + EXTENT), "touching what is not committed raises SIGBUS");
	alloc_or_die(arena, EXTENT, EXTENT);
	ok(!touch_raises(at + EXTENT), "until it is committed");
	free_or_die(arena, EXTENT, EXTENT);
	ok(touch_raises(at + EXTENT), "and again when it is freed");
	ok(!mprotect(at, EXTENT, PROT_READ) && *at == 1, "a mapping can be made read only");
	madvise(at, EXTENT, MADV_DONTNEED);
	ok(*at == 1, "MADV_DONTNEED does not lose its bytes");
	munmap(at, ARENA_BYTES);
}

static void test_small_pages(int arena)
{
	char *whole = map(arena, EXTENT, 0), *part = map(arena, 8192, 4096);

	memset(whole, 0, EXTENT);
	part[0] = 7;
	part[8191] = 9;
	ok(whole[4096] == 7 && whole[4096 + 8191] == 9, "a mapping of single pages shows the same bytes");
	munmap(part, 8192);
	part = mmap(whole + 4096, EXTENT - 4096, PROT_READ, MAP_SHARED | MAP_FIXED, arena, 4096);
	ok(part == whole + 4096 && part[0] == 7, "a mapping can be replaced in part");
	munmap(whole, EXTENT);
}

static void test_system_calls(int arena)
{
	char *at = map(arena, EXTENT, 0);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ok(read(fd, at, 4096) == 4096 && !memcmp(at, "\177ELF", 4), "read(2) can fill it");
	close(fd);
	fd = open("/tmp/out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ok(write(fd, at, EXTENT) == EXTENT, "write(2) can send it");
	close(fd);
	unlink("/tmp/out");
	munmap(at, EXTENT);
}

static void test_fork(int arena)
{
	char *at = map(arena, EXTENT, 0);
	int status = -1;
	pid_t child;

	at[0] = 1;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (at[0] != 1)
			_exit(1);
		at[0] = 2;
		alloc_or_die(arena, EXTENT, EXTENT);
		_exit(0);
	}
	waitpid(child, &status, 0);
	ok(status == 0, "a child sees the bytes of its parent");
	ok(at[0] == 2, "a parent sees those of its child: an arena is shared");
	ok(try_alloc(arena, EXTENT, EXTENT) < 0 && errno == EEXIST,
	   "what a child committed outlives it");
	munmap(at, EXTENT);
	free_or_die(arena, EXTENT, EXTENT);
}

static uint64_t owned_bytes(int device)
{
	struct tide_info info = { .size = sizeof(info) };

	if (ioctl(device, TIDE_IOC_INFO, &info) < 0)
		die("INFO");
	return info.owned_bytes;
}

/* Whether no arena owns anything, after a moment for what is on its way. */
static int all_returned(int device)
{
	for (int i = 0; i < 200 && owned_bytes(device); i++)
		usleep(10000);
	return !owned_bytes(device);
}

static void test_lifetime(int device)
{
	int arena = new_arena(device, ARENA_BYTES), copy;
	char *at;

	alloc_or_die(arena, 0, EXTENT);
	at = map(arena, EXTENT, 0);
	at[0] = 5;
	copy = dup(arena);
	close(arena);
	close(copy);
	ok(at[0] == 5 && owned_bytes(device) == EXTENT, "a mapping keeps its arena alive");
	munmap(at, EXTENT);
	ok(all_returned(device), "which dies with it");
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_bus };
	int device = open_device(), arena = new_arena(device, ARENA_BYTES);

	sigaction(SIGBUS, &action, NULL);
	alloc_or_die(arena, 0, EXTENT);
	test_rules(arena);
	test_small_pages(arena);
	test_system_calls(arena);
	test_fork(arena);
	close(arena);
	ok(all_returned(device), "closing the last reference gives all back");
	test_lifetime(device);
	return done_testing();
}
