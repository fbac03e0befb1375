// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arena handles: making, sharing, mapping, asking. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "private.h"

/*
 * Wraps @fd, which becomes the handle's even on failure. -ENOTTY if it is no
 * arena: then the caller, who knows where it came from, finds the words.
 */
static int arena_wrap(struct tide_ctx *ctx, int fd, struct tide_arena **out)
{
	struct tide_query query = { .size = sizeof(query) };
	struct tide_arena *arena;
	int rc = tide_ioctl(ctx, fd, TIDE_IOC_QUERY, &query);

	if (rc == -ENOTTY || rc == -EINVAL) {
		rc = -ENOTTY;
		goto out_close;
	}
	if (rc) {
		rc = tide_fail(ctx, rc, "asking the arena: %s", strerror(-rc));
		goto out_close;
	}
	arena = calloc(1, sizeof(*arena));
	if (!arena) {
		rc = tide_fail(ctx, -ENOMEM, "out of memory");
		goto out_close;
	}
	arena->ctx = tide_ctx_ref(ctx);
	arena->fd = fd;
	arena->max_bytes = query.max_bytes;
	atomic_init(&arena->refs, 1);
	pthread_mutex_init(&arena->lock, NULL);
	*out = arena;
	return 0;

out_close:
	ctx->sys->close(fd);
	return rc;
}

static int fail_create(struct tide_ctx *ctx, int rc, uint64_t max_bytes)
{
	if (rc == -EINVAL && max_bytes % TIDE_EXTENT_SIZE)
		return tide_fail(ctx, rc,
				 "max_bytes %" PRIu64 " is not a multiple of the extent size %llu",
				 max_bytes, TIDE_EXTENT_SIZE);
	if (rc == -ENODEV)
		return tide_fail(ctx, rc,
				 "the Tide device is gone (unplugged or its driver unbound); look at dmesg");
	return tide_fail(ctx, rc, "making an arena of %" PRIu64 " bytes: %s",
			 max_bytes, strerror(-rc));
}

TIDE_EXPORT int tide_arena_create(struct tide_ctx *ctx, const char *name,
				  uint64_t max_bytes, uint32_t flags,
				  struct tide_arena **arena)
{
	struct tide_arena_create create = {
		.size = sizeof(create),
		.flags = flags,
		.max_bytes = max_bytes,
	};
	int fd, rc;

	if (name && strlen(name) >= sizeof(create.name))
		return tide_fail(ctx, -ENAMETOOLONG,
				 "arena name \"%.40s\" is longer than %zu characters",
				 name, sizeof(create.name) - 1);
	if (name)
		strcpy(create.name, name);
	fd = tide_device_fd(ctx);
	if (fd < 0)
		return fd;
	rc = tide_ioctl(ctx, fd, TIDE_IOC_ARENA_CREATE, &create);
	if (rc)
		return fail_create(ctx, rc, max_bytes);
	return arena_wrap(ctx, create.fd, arena);
}

TIDE_EXPORT int tide_arena_from_fd(struct tide_ctx *ctx, int fd,
				   struct tide_arena **arena)
{
	int copy = ctx->sys->dup(fd);
	int rc;

	if (copy < 0)
		return tide_fail(ctx, -errno, "descriptor %d: %s", fd,
				 strerror(errno));
	rc = arena_wrap(ctx, copy, arena);
	return rc == -ENOTTY ?
		tide_fail(ctx, rc, "descriptor %d is not a Tide arena", fd) :
		rc;
}

static int fail_process(struct tide_ctx *ctx, int err, pid_t pid, int fd)
{
	switch (err) {
	case ESRCH:
		return tide_fail(ctx, -err, "no process %d", (int)pid);
	case EBADF:
		return tide_fail(ctx, -err, "process %d has no descriptor %d",
				 (int)pid, fd);
	case ENOTTY:
		return tide_fail(ctx, -err,
				 "descriptor %d of process %d is not a Tide arena",
				 fd, (int)pid);
	case EPERM:
		return tide_fail(ctx, -err,
				 "process %d: not allowed to take its descriptors; run as its user with ptrace allowed, or as root",
				 (int)pid);
	default:
		return tide_fail(ctx, -err, "process %d, descriptor %d: %s",
				 (int)pid, fd, strerror(err));
	}
}

TIDE_EXPORT int tide_arena_from_pid(struct tide_ctx *ctx, pid_t pid, int fd,
				    struct tide_arena **arena)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	int copy, err, rc;

	if (pidfd < 0)
		return fail_process(ctx, errno, pid, fd);
	copy = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	err = errno;
	close(pidfd);
	if (copy < 0)
		return fail_process(ctx, err, pid, fd);
	rc = arena_wrap(ctx, copy, arena);
	return rc == -ENOTTY ? fail_process(ctx, ENOTTY, pid, fd) : rc;
}

TIDE_EXPORT struct tide_arena *tide_arena_ref(struct tide_arena *arena)
{
	if (arena)
		atomic_fetch_add(&arena->refs, 1);
	return arena;
}

TIDE_EXPORT struct tide_arena *tide_arena_unref(struct tide_arena *arena)
{
	if (!arena || atomic_fetch_sub(&arena->refs, 1) != 1)
		return NULL;
	if (arena->base)
		arena->ctx->sys->munmap(arena->base, arena->max_bytes);
	arena->ctx->sys->close(arena->fd);
	tide_ctx_unref(arena->ctx);
	pthread_mutex_destroy(&arena->lock);
	free(arena);
	return NULL;
}

TIDE_EXPORT int tide_arena_fd(const struct tide_arena *arena)
{
	return arena->fd;
}

TIDE_EXPORT int tide_arena_map(struct tide_arena *arena, void **base)
{
	int rc = 0;

	pthread_mutex_lock(&arena->lock);
	if (!arena->base) {
		void *p = arena->ctx->sys->mmap(NULL, arena->max_bytes,
						PROT_READ | PROT_WRITE,
						MAP_SHARED, arena->fd, 0);

		if (p == MAP_FAILED)
			rc = -errno;
		else
			arena->base = p;
	}
	*base = arena->base;
	pthread_mutex_unlock(&arena->lock);
	if (rc)
		tide_fail(arena->ctx, rc,
			  "mapping the arena (%" PRIu64 " bytes): %s",
			  arena->max_bytes, strerror(-rc));
	return rc;
}

TIDE_EXPORT int tide_arena_query(struct tide_arena *arena,
				 struct tide_query *query)
{
	int rc;

	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	rc = tide_ioctl(arena->ctx, arena->fd, TIDE_IOC_QUERY, query);
	if (rc)
		tide_fail(arena->ctx, rc, "asking the arena: %s",
			  strerror(-rc));
	return rc;
}
