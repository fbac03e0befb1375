// SPDX-License-Identifier: LGPL-2.1-or-later
/* The arenas of a process, as /proc/PID/fdinfo shows them. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{ "tide-arena", offsetof(struct tide_arena_entry, id) },
	{ "tide-max-bytes", offsetof(struct tide_arena_entry, max_bytes) },
	{ "tide-committed-bytes",
	  offsetof(struct tide_arena_entry, committed_bytes) },
	{ "tide-in-flight-bytes",
	  offsetof(struct tide_arena_entry, in_flight_bytes) },
	{ "tide-reports", offsetof(struct tide_arena_entry, reports) },
	{ "tide-reported-bytes",
	  offsetof(struct tide_arena_entry, reported_bytes) },
	{ "tide-acted-bytes", offsetof(struct tide_arena_entry, acted_bytes) },
};

/* Takes one "key:\tvalue" line; true if it says that this is an arena. */
static bool take_line(struct tide_arena_entry *entry, char *line)
{
	char *value = strstr(line, ":\t");

	if (!value)
		return false;
	*value = '\0';
	value += 2;
	value[strcspn(value, "\n")] = '\0';
	if (strcmp(line, "tide-name") == 0) {
		snprintf(entry->name, sizeof(entry->name), "%s", value);
		return false;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(line, numbers[i].key) == 0) {
			uint64_t v = strtoull(value, NULL, 10);

			memcpy((char *)entry + numbers[i].offset, &v,
			       sizeof(v));
			return i == 0;
		}
	return false;
}

/* False if it is no arena, or is gone: descriptors come and go as we look. */
static bool read_fdinfo(const char *path, struct tide_arena_entry *entry)
{
	FILE *f = fopen(path, "re");
	bool is_arena = false;
	char line[256];

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		is_arena |= take_line(entry, line);
	fclose(f);
	return is_arena;
}

static int fail_opendir(struct tide_ctx *ctx, int err, pid_t pid)
{
	if (err == ENOENT || err == ESRCH)
		return tide_fail(ctx, -ESRCH, "no process %d", (int)pid);
	if (err == EACCES || err == EPERM)
		return tide_fail(ctx, -EPERM,
				 "process %d: not allowed to see its descriptors; run as its user or as root",
				 (int)pid);
	return tide_fail(ctx, -err, "process %d: cannot list its descriptors: %s",
			 (int)pid, strerror(err));
}

TIDE_EXPORT int tide_arena_foreach(struct tide_ctx *ctx, pid_t pid,
				   int (*fn)(const struct tide_arena_entry *,
					     void *),
				   void *data)
{
	char dirname[PATH_MAX / 2], path[PATH_MAX];
	struct dirent *de;
	DIR *dir;
	int rc;

	rc = tide_path(ctx, dirname, sizeof(dirname), "/proc/%d/fdinfo",
		       (int)pid);
	if (rc)
		return tide_fail(ctx, rc, "path of the root is too long");
	dir = opendir(dirname);
	if (!dir)
		return fail_opendir(ctx, errno, pid);
	while (rc == 0 && (de = readdir(dir))) {
		struct tide_arena_entry entry = { .fd = atoi(de->d_name) };

		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dirname, de->d_name);
		if (read_fdinfo(path, &entry))
			rc = fn(&entry, data);
	}
	closedir(dir);
	return rc;
}
