// SPDX-License-Identifier: LGPL-2.1-or-later
/* Contexts: references, error text, where things are looked for. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "private.h"

static int sys_open(const char *path, int flags)
{
	return open(path, flags);
}

static int sys_dup(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static int sys_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

static const struct tide_sys_ops kernel_ops = {
	.open = sys_open,
	.close = close,
	.dup = sys_dup,
	.ioctl = sys_ioctl,
	.mmap = mmap,
	.munmap = munmap,
};

int tide_ctx_new_with(const struct tide_sys_ops *sys, struct tide_ctx **out)
{
	struct tide_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return -ENOMEM;
	ctx->root = strdup("");
	if (!ctx->root) {
		free(ctx);
		return -ENOMEM;
	}
	ctx->sys = sys;
	ctx->fd = -1;
	atomic_init(&ctx->refs, 1);
	pthread_mutex_init(&ctx->lock, NULL);
	*out = ctx;
	return 0;
}

TIDE_EXPORT int tide_ctx_new(struct tide_ctx **ctx)
{
	return tide_ctx_new_with(&kernel_ops, ctx);
}

TIDE_EXPORT struct tide_ctx *tide_ctx_ref(struct tide_ctx *ctx)
{
	if (ctx)
		atomic_fetch_add(&ctx->refs, 1);
	return ctx;
}

TIDE_EXPORT struct tide_ctx *tide_ctx_unref(struct tide_ctx *ctx)
{
	if (!ctx || atomic_fetch_sub(&ctx->refs, 1) != 1)
		return NULL;
	if (ctx->fd >= 0)
		ctx->sys->close(ctx->fd);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx->device);
	free(ctx->root);
	free(ctx);
	return NULL;
}

/* Replaces one of the path strings, which are read while opening. */
static int set_string(struct tide_ctx *ctx, char **slot, const char *value)
{
	char *copy = strdup(value);
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	pthread_mutex_lock(&ctx->lock);
	if (ctx->fd >= 0) {
		rc = -EBUSY;
	} else {
		free(*slot);
		*slot = copy;
		copy = NULL;
	}
	pthread_mutex_unlock(&ctx->lock);
	free(copy);
	return rc;
}

TIDE_EXPORT int tide_ctx_set_device(struct tide_ctx *ctx, const char *path)
{
	return set_string(ctx, &ctx->device, path);
}

TIDE_EXPORT int tide_ctx_set_root(struct tide_ctx *ctx, const char *root)
{
	return set_string(ctx, &ctx->root, root);
}

TIDE_EXPORT void tide_ctx_error(struct tide_ctx *ctx, char *buf, size_t size)
{
	pthread_mutex_lock(&ctx->lock);
	snprintf(buf, size, "%s", ctx->error);
	pthread_mutex_unlock(&ctx->lock);
}

int tide_fail(struct tide_ctx *ctx, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&ctx->lock);
	vsnprintf(ctx->error, sizeof(ctx->error), fmt, ap);
	pthread_mutex_unlock(&ctx->lock);
	va_end(ap);
	return err;
}

int tide_path(struct tide_ctx *ctx, char *buf, size_t size, const char *fmt,
	      ...)
{
	va_list ap;
	int n, m;

	pthread_mutex_lock(&ctx->lock);
	n = snprintf(buf, size, "%s", ctx->root);
	pthread_mutex_unlock(&ctx->lock);
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	va_start(ap, fmt);
	m = vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
	return m < 0 || (size_t)m >= size - n ? -ENAMETOOLONG : 0;
}
