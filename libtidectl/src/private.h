/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TIDE_PRIVATE_H
#define TIDE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <tidectl/libtidectl.h>

#define TIDE_EXPORT __attribute__((visibility("default")))

#define TIDE_EXTENT_SIZE	(2ull << 20)

/*
 * The kernel as the library sees it: the seam where tests put a fake one.
 * Each behaves as the system call of its name does, errno included.
 */
struct tide_sys_ops {
	int (*open)(const char *path, int flags);
	int (*close)(int fd);
	int (*dup)(int fd);
	int (*ioctl)(int fd, unsigned long request, void *arg);
	void *(*mmap)(void *addr, size_t len, int prot, int flags, int fd,
		      off_t offset);
	int (*munmap)(void *addr, size_t len);
};

struct tide_ctx {
	const struct tide_sys_ops *sys;
	atomic_uint refs;
	pthread_mutex_t lock;	/* all below */
	int fd;			/* of the device node; -1 until needed */
	char *device;		/* NULL: /dev/tide below root */
	char *root;		/* "" or a path without a slash at the end */
	char error[256];
};

struct tide_arena {
	struct tide_ctx *ctx;
	atomic_uint refs;
	int fd;
	uint64_t max_bytes;
	pthread_mutex_t lock;	/* base */
	void *base;		/* NULL until mapped */
};

int tide_ctx_new_with(const struct tide_sys_ops *sys, struct tide_ctx **ctx);

/* Keeps the message for tide_ctx_error() and returns @err (negative errno). */
int tide_fail(struct tide_ctx *ctx, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ioctl() until no signal interrupts it; 0 or -errno, leaves the error text. */
int tide_ioctl(struct tide_ctx *ctx, int fd, unsigned long request, void *arg);

/* Opens the device node if it is not open; its fd or -errno. */
int tide_device_fd(struct tide_ctx *ctx);

/* "<root>/<path>" into buf; -ENAMETOOLONG. */
int tide_path(struct tide_ctx *ctx, char *buf, size_t size, const char *fmt,
	      ...) __attribute__((format(printf, 4, 5)));

#endif /* TIDE_PRIVATE_H */
