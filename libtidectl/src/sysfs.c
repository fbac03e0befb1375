// SPDX-License-Identifier: LGPL-2.1-or-later
/* Attributes of the device, one value a file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "private.h"

#define SYSFS_DEVICE "/sys/class/misc/tide/device"

/* Reads all of a short file; its length or -errno. */
static ssize_t read_file(const char *path, char *buf, size_t size)
{
	ssize_t n, total = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while ((size_t)total < size) {
		n = read(fd, buf + total, size - total);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			total = -errno;
		if (n <= 0)
			break;
		total += n;
	}
	close(fd);
	return total;
}

TIDE_EXPORT int tide_attr_read(struct tide_ctx *ctx, const char *name,
			       char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;
	int rc;

	rc = tide_path(ctx, path, sizeof(path), SYSFS_DEVICE "/%s", name);
	if (rc)
		return tide_fail(ctx, rc, "attribute name too long");
	n = read_file(path, buf, size);
	if (n == -ENOENT || n == -ENOTDIR)
		return tide_fail(ctx, -ENOENT,
				 "no %s: this module does not have it, or is not loaded",
				 path);
	if (n < 0)
		return tide_fail(ctx, n, "%s: cannot read: %s", path,
				 strerror(-n));
	if ((size_t)n == size)
		return tide_fail(ctx, -EOVERFLOW, "%s: longer than %zu bytes",
				 path, size - 1);
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return 0;
}

TIDE_EXPORT int tide_attr_u64(struct tide_ctx *ctx, const char *name,
			      uint64_t *value)
{
	char buf[64], *end;
	unsigned long long v;
	int rc = tide_attr_read(ctx, name, buf, sizeof(buf));

	if (rc)
		return rc;
	errno = 0;
	v = strtoull(buf, &end, 10);
	/* strtoull takes a sign and blanks; a counter has neither. */
	if (errno || *end || buf[0] < '0' || buf[0] > '9')
		return tide_fail(ctx, -EINVAL, "%s: \"%s\" is not a number",
				 name, buf);
	*value = v;
	return 0;
}
