// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arena: one owner of one arena, told by lines on its standard input what to
 * do. Each line is answered by one: "ok [NUMBER]..." or "err ERRNO-NAME".
 * Sizes take the suffixes K, M and G. It speaks the ioctls themselves, so that
 * what it finds is the module's doing and no library's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/tide.h>

#define MAX_WORDS 6

static int device_fd = -1;
static int arena_fd = -1;
static char *base;
static uint64_t mapped;

static uint64_t number(const char *word)
{
	char *end;
	uint64_t value = strtoull(word, &end, 0);

	switch (*end) {
	case 'G': value <<= 10; /* fall through */
	case 'M': value <<= 10; /* fall through */
	case 'K': value <<= 10;
	}
	return value;
}

static int say_errno(void)
{
	return printf("err %s\n", strerrorname_np(errno));
}

/* What a word at this offset holds when the range was filled with @seed. */
static uint64_t pattern(uint64_t offset, uint64_t seed)
{
	return (offset + seed) * 0x9e3779b97f4a7c15ull;
}

static int cmd_create(char **w)
{
	struct tide_arena_create create = {
		.size = sizeof(create),
		.max_bytes = number(w[0]),
		.name = "test",
	};
	struct tide_query query = { .size = sizeof(query) };

	device_fd = open("/dev/tide", O_RDWR | O_CLOEXEC);
	if (device_fd < 0 || ioctl(device_fd, TIDE_IOC_ARENA_CREATE, &create) < 0)
		return say_errno();
	arena_fd = create.fd;
	if (ioctl(arena_fd, TIDE_IOC_QUERY, &query) < 0)
		return say_errno();
	mapped = query.max_bytes;
	base = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, arena_fd, 0);
	if (base == MAP_FAILED)
		return say_errno();
	return printf("ok\n");
}

static int cmd_alloc(char **w)
{
	struct tide_alloc alloc = {
		.size = sizeof(alloc),
		.flags = w[2] && !strcmp(w[2], "partial") ? TIDE_ALLOC_PARTIAL : 0,
		.offset = number(w[0]),
		.len = number(w[1]),
	};

	if (ioctl(arena_fd, TIDE_IOC_ALLOC, &alloc) < 0)
		return say_errno();
	return printf("ok %llu\n", (unsigned long long)alloc.allocated);
}

static int cmd_free(char **w)
{
	struct tide_free req = {
		.size = sizeof(req),
		.offset = number(w[0]),
		.len = number(w[1]),
	};

	if (ioctl(arena_fd, TIDE_IOC_FREE, &req) < 0)
		return say_errno();
	return printf("ok %llu\n", (unsigned long long)req.freed);
}

/* report OFFSET LEN INTENT [nowait]: ok STATUS DONE RESULT */
static int cmd_report(char **w)
{
	struct tide_range range = {
		.offset = number(w[0]),
		.len = number(w[1]),
		.intent = number(w[2]),
	};
	struct tide_report report = {
		.size = sizeof(report),
		.flags = w[3] ? TIDE_REPORT_NOWAIT : 0,
		.ranges = (uintptr_t)&range,
		.nr_ranges = 1,
	};

	if (ioctl(arena_fd, TIDE_IOC_REPORT, &report) < 0)
		return say_errno();
	return printf("ok %u %llu %u\n", range.status,
		      (unsigned long long)range.done, range.result);
}

/* query: ok COMMITTED IN-FLIGHT REPORTS REPORTED ACTED FAILED */
static int cmd_query(char **w)
{
	struct tide_query q = { .size = sizeof(q) };

	(void)w;
	if (ioctl(arena_fd, TIDE_IOC_QUERY, &q) < 0)
		return say_errno();
	return printf("ok %llu %llu %llu %llu %llu %llu\n",
		      (unsigned long long)q.committed_bytes,
		      (unsigned long long)q.in_flight_bytes,
		      (unsigned long long)q.reports,
		      (unsigned long long)q.reported_bytes,
		      (unsigned long long)q.acted_bytes,
		      (unsigned long long)q.failed_reports);
}

static int cmd_fill(char **w)
{
	uint64_t offset = number(w[0]), end = offset + number(w[1]);
	uint64_t seed = number(w[2]);

	for (; offset < end; offset += 8)
		*(uint64_t *)(base + offset) = pattern(offset, seed);
	return printf("ok\n");
}

/* verify OFFSET LEN SEED: ok WRONG-WORDS */
static int cmd_verify(char **w)
{
	uint64_t offset = number(w[0]), end = offset + number(w[1]);
	uint64_t seed = number(w[2]), wrong = 0;

	for (; offset < end; offset += 8)
		wrong += *(uint64_t *)(base + offset) != pattern(offset, seed);
	return printf("ok %llu\n", (unsigned long long)wrong);
}

/* zero OFFSET LEN: ok NON-ZERO-WORDS */
static int cmd_zero(char **w)
{
	uint64_t offset = number(w[0]), end = offset + number(w[1]), wrong = 0;

	for (; offset < end; offset += 8)
		wrong += *(uint64_t *)(base + offset) != 0;
	return printf("ok %llu\n", (unsigned long long)wrong);
}

static int cmd_unmap(char **w)
{
	(void)w;
	if (munmap(base, mapped) < 0)
		return say_errno();
	return printf("ok\n");
}

static int cmd_close(char **w)
{
	(void)w;
	if (close(arena_fd) < 0 || close(device_fd) < 0)
		return say_errno();
	return printf("ok\n");
}

/* fork OFFSET LEN SEED: a child verifies and refills with SEED + 1; ok WRONG */
static int cmd_fork(char **w)
{
	uint64_t offset = number(w[0]), end = offset + number(w[1]);
	uint64_t seed = number(w[2]), wrong = 0;
	int status;
	pid_t child = fork();

	if (child < 0)
		return say_errno();
	if (child == 0) {
		for (; offset < end; offset += 8) {
			uint64_t *word = (uint64_t *)(base + offset);

			wrong |= *word != pattern(offset, seed);
			*word = pattern(offset, seed + 1);
		}
		_exit(wrong != 0);
	}
	if (waitpid(child, &status, 0) < 0)
		return say_errno();
	return printf("ok %d\n", status);
}

static const struct {
	const char *name;
	int words;
	int (*run)(char **w);
} commands[] = {
	{ "create", 1, cmd_create },
	{ "alloc", 2, cmd_alloc },
	{ "free", 2, cmd_free },
	{ "report", 3, cmd_report },
	{ "query", 0, cmd_query },
	{ "fill", 3, cmd_fill },
	{ "verify", 3, cmd_verify },
	{ "zero", 2, cmd_zero },
	{ "unmap", 0, cmd_unmap },
	{ "close", 0, cmd_close },
	{ "fork", 3, cmd_fork },
};

static int run_line(char *line)
{
	char *words[MAX_WORDS] = { 0 };
	int n = 0;
	size_t i;

	for (char *w = strtok(line, " \n"); w && n < MAX_WORDS; w = strtok(NULL, " \n"))
		words[n++] = w;
	for (i = 0; n && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(words[0], commands[i].name) && n > commands[i].words)
			return commands[i].run(words + 1);
	return printf("err usage\n");
}

int main(void)
{
	char line[256];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin))
		run_line(line);
	return 0;
}
