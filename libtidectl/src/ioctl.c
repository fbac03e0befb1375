// SPDX-License-Identifier: LGPL-2.1-or-later
/* The device node: opening it, asking it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "private.h"

int tide_ioctl(struct tide_ctx *ctx, int fd, unsigned long request, void *arg)
{
	int rc;

	do
		rc = ctx->sys->ioctl(fd, request, arg);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}

/* The next step differs with and without the module, so look for it. */
static int fail_no_node(struct tide_ctx *ctx, const char *path)
{
	char module[PATH_MAX];

	if (tide_path(ctx, module, sizeof(module), "/sys/module/tide") == 0 &&
	    access(module, F_OK) == 0)
		return tide_fail(ctx, -ENOENT,
				 "no %s: the module is loaded but this machine has no Tide device; start the VM with -device tide",
				 path);
	return tide_fail(ctx, -ENOENT,
			 "no %s: module not loaded; run modprobe tide", path);
}

static int fail_open(struct tide_ctx *ctx, int err, const char *path)
{
	switch (err) {
	case ENOENT:
		return fail_no_node(ctx, path);
	case EACCES:
	case EPERM:
		return tide_fail(ctx, -err,
				 "%s: permission denied; join the group tide (usermod -aG tide USER, then log in again) or run as root",
				 path);
	case ENODEV:
	case ENXIO:
		return tide_fail(ctx, -err,
				 "%s: the device behind it is gone; look at dmesg, then reload the module",
				 path);
	default:
		return tide_fail(ctx, -err, "%s: cannot open: %s", path,
				 strerror(err));
	}
}

static int open_node(struct tide_ctx *ctx, const char *path)
{
	int fd;

	do
		fd = ctx->sys->open(path, O_RDWR | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? fail_open(ctx, errno, path) : fd;
}

int tide_device_fd(struct tide_ctx *ctx)
{
	char path[PATH_MAX];
	int fd, mine;

	pthread_mutex_lock(&ctx->lock);
	fd = ctx->fd;
	if (ctx->device)
		snprintf(path, sizeof(path), "%s", ctx->device);
	else
		snprintf(path, sizeof(path), "%s/dev/tide", ctx->root);
	pthread_mutex_unlock(&ctx->lock);
	if (fd >= 0)
		return fd;

	mine = open_node(ctx, path);
	if (mine < 0)
		return mine;
	pthread_mutex_lock(&ctx->lock);
	if (ctx->fd < 0) {
		ctx->fd = mine;
		mine = -1;
	}
	fd = ctx->fd;
	pthread_mutex_unlock(&ctx->lock);
	/* Another thread was first: one descriptor a context is enough. */
	if (mine >= 0)
		ctx->sys->close(mine);
	return fd;
}

TIDE_EXPORT int tide_info(struct tide_ctx *ctx, struct tide_info *info)
{
	int fd = tide_device_fd(ctx);
	int rc;

	if (fd < 0)
		return fd;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	rc = tide_ioctl(ctx, fd, TIDE_IOC_INFO, info);
	switch (rc) {
	case 0:
		return 0;
	case -ENOTTY:
		return tide_fail(ctx, rc,
				 "the device node is not a Tide device; name the right one with --device or tide_ctx_set_device()");
	case -ENODEV:
		return tide_fail(ctx, rc,
				 "the Tide device is gone (unplugged or its driver unbound); look at dmesg");
	default:
		return tide_fail(ctx, rc, "asking the device for its facts: %s",
				 strerror(-rc));
	}
}
