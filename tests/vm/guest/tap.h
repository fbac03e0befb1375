/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TAP and arenas for programs that test inside a guest. */
#ifndef TIDE_TEST_TAP_H
#define TIDE_TEST_TAP_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/tide.h>

#define MIB (1ull << 20)
#define EXTENT (2 * MIB)

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3)))
static inline void ok(int condition, const char *format, ...)
{
	va_list args;

	printf("%sok %d - ", condition ? "" : "not ", ++tap_count);
	tap_failed += !condition;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

static inline const char *name_of(int error)
{
	return error ? strerrorname_np(error) : "success";
}

/* One result: the call that returned @rc, errno still set, ended as wanted. */
static inline void ends(int rc, int want, const char *what)
{
	int got = rc < 0 ? errno : 0;

	if (got != want)
		printf("# got %s\n", name_of(got));
	ok(got == want, "%s: %s", what, name_of(want));
}

static inline int done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

static inline _Noreturn void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline int open_device(void)
{
	int fd = open("/dev/tide", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("/dev/tide");
	return fd;
}

static inline int new_arena(int device, uint64_t max_bytes)
{
	struct tide_arena_create create = {
		.size = sizeof(create),
		.max_bytes = max_bytes,
	};

	if (ioctl(device, TIDE_IOC_ARENA_CREATE, &create) < 0)
		die("ARENA_CREATE");
	return create.fd;
}

static inline int try_alloc(int arena, uint64_t offset, uint64_t len)
{
	struct tide_alloc alloc = {
		.size = sizeof(alloc), .offset = offset, .len = len,
	};

	return ioctl(arena, TIDE_IOC_ALLOC, &alloc);
}

static inline int try_free(int arena, uint64_t offset, uint64_t len)
{
	struct tide_free req = {
		.size = sizeof(req), .offset = offset, .len = len,
	};

	return ioctl(arena, TIDE_IOC_FREE, &req);
}

static inline void alloc_or_die(int arena, uint64_t offset, uint64_t len)
{
	if (try_alloc(arena, offset, len) < 0)
		die("ALLOC");
}

static inline void free_or_die(int arena, uint64_t offset, uint64_t len)
{
	if (try_free(arena, offset, len) < 0)
		die("FREE");
}

#endif
