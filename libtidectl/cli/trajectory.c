// SPDX-License-Identifier: GPL-2.0-or-later
/* Trajectories: reading a file. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traj_model.h"
#include "units.h"

#define HEADER		"# tide-trajectory 1"
#define LINE_MAX_BYTES	512
/* Ten days of samples; a file with more is no recording. */
#define MAX_RECORDS	1000000
/* Three years; keeps milliseconds times anything we do within 64 bits. */
#define MAX_T_MS	100000000000ull
/* Above any machine, below what sums could overflow. */
#define MAX_BYTES	(1ull << 52)

struct parser {
	const char *path;
	double scale;
	unsigned long line;
	struct traj_records rec;
	uint64_t duration_ms;	/* as the header says; 0 if it does not */
	uint64_t last_m, last_t;
	char *err;
	size_t err_size;
};

/* What stood in the file may be anything; a terminal must not obey it. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

__attribute__((format(printf, 2, 3)))
static int bad(struct parser *p, const char *fmt, ...)
{
	va_list ap;
	int n = p->line ? snprintf(p->err, p->err_size, "%s:%lu: ", p->path,
				   p->line) :
			  snprintf(p->err, p->err_size, "%s: ", p->path);

	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < p->err_size)
		vsnprintf(p->err + n, p->err_size - n, fmt, ap);
	va_end(ap);
	make_printable(p->err);
	return -EINVAL;
}

/* The next word of the line, or NULL. */
static char *word(char **cursor)
{
	char *w;

	do
		w = strsep(cursor, " \t");
	while (w && !*w);
	return w;
}

static int number(struct parser *p, char **cursor, const char *what,
		  uint64_t max, uint64_t *value)
{
	const char *w = word(cursor);

	if (!w)
		return bad(p, "%s is missing", what);
	switch (units_parse_uint(w, max, value)) {
	case 0:
		return 0;
	case -ERANGE:
		return bad(p, "%s %.24s is too large (at most %llu)", what, w,
			   (unsigned long long)max);
	default:
		return bad(p, "%s \"%.24s\" is not a whole number of 0 or more",
			   what, w);
	}
}

static int line_end(struct parser *p, char **cursor)
{
	const char *w = word(cursor);

	return w ? bad(p, "unexpected \"%.24s\" at the end of the line", w) : 0;
}

/* Room for one more of @size bytes in an array of @n. */
static int grow(struct parser *p, void **array, size_t n, size_t size)
{
	void *bigger;

	if (n == MAX_RECORDS)
		return bad(p, "more than %d records of a kind", MAX_RECORDS);
	if (n & (n - 1))
		return 0;
	/* Doubles whenever n is a power of two. */
	bigger = realloc(*array, (n ? 2 * n : 1) * size);
	if (!bigger) {
		bad(p, "out of memory");
		return -ENOMEM;
	}
	*array = bigger;
	return 0;
}

static int take_sample(struct parser *p, char *fields)
{
	struct traj_records *rec = &p->rec;
	uint64_t t, bytes;
	double scaled;
	int rc;

	rc = number(p, &fields, "time", MAX_T_MS, &t);
	if (!rc)
		rc = number(p, &fields, "size", MAX_BYTES, &bytes);
	if (!rc)
		rc = line_end(p, &fields);
	if (rc)
		return rc;
	if (t < p->last_m)
		return bad(p, "sample at %llu ms after one at %llu ms: not in order of time",
			   (unsigned long long)t,
			   (unsigned long long)p->last_m);
	scaled = bytes * p->scale;
	if (scaled > MAX_BYTES)
		return bad(p, "%llu bytes x scale %g is too large",
			   (unsigned long long)bytes, p->scale);
	rc = grow(p, (void **)&rec->samples, rec->nr_samples,
		  sizeof(*rec->samples));
	if (rc)
		return rc;
	rec->samples[rec->nr_samples++] = (struct traj_sample){ t, scaled };
	p->last_m = t;
	return 0;
}

static int take_tool(struct parser *p, char *fields)
{
	struct traj_records *rec = &p->rec;
	uint64_t start, end;
	int rc;

	rc = number(p, &fields, "start", MAX_T_MS, &start);
	if (!rc)
		rc = number(p, &fields, "end", MAX_T_MS, &end);
	if (rc)
		return rc;
	if (!word(&fields))
		return bad(p, "the tool's name is missing");
	rc = line_end(p, &fields);
	if (rc)
		return rc;
	if (end < start)
		return bad(p, "tool ends at %llu ms, before it starts at %llu ms",
			   (unsigned long long)end, (unsigned long long)start);
	if (start < p->last_t)
		return bad(p, "tool at %llu ms after one at %llu ms: not in order of time",
			   (unsigned long long)start,
			   (unsigned long long)p->last_t);
	rc = grow(p, (void **)&rec->tools, rec->nr_tools, sizeof(*rec->tools));
	if (rc)
		return rc;
	rec->tools[rec->nr_tools++] = (struct traj_tool){ start, end };
	p->last_t = start;
	return 0;
}

/* Of the comments only the length is wanted; the rest are sums of the lines. */
static int take_comment(struct parser *p, char *fields)
{
	const char *key = word(&fields);

	if (!key || strcmp(key, "duration_ms") != 0)
		return 0;
	return number(p, &fields, "duration_ms", MAX_T_MS, &p->duration_ms);
}

static int take_line(struct parser *p, char *line)
{
	if (p->line == 1)
		return strcmp(line, HEADER) == 0 ? 0 :
			bad(p, "not a trajectory: the first line must be \"%s\"",
			    HEADER);
	switch (line[0]) {
	case '\0':
		return bad(p, "empty line");
	case '#':
		return take_comment(p, line + 1);
	case 'M':
		if (line[1] == ' ')
			return take_sample(p, line + 2);
		break;
	case 'T':
		if (line[1] == ' ')
			return take_tool(p, line + 2);
		break;
	}
	return bad(p, "neither a sample (M), a tool (T) nor a comment (#)");
}

/*
 * Reads one line of bounded length, without its newline: 1, 0 at the end, or
 * -errno. A NUL byte would hide the rest of its line, so it is refused.
 */
static int next_line(struct parser *p, FILE *f, char *line)
{
	size_t n = 0;
	int c;

	p->line++;
	while ((c = getc_unlocked(f)) != EOF && c != '\n') {
		if (n == 0 && p->line > 1 && !strchr("#MT", c))
			return bad(p, "neither a sample (M), a tool (T) nor a comment (#)");
		if (c == '\0')
			return bad(p, "a NUL byte: not a text file");
		if (n == LINE_MAX_BYTES)
			return bad(p, "line longer than %d bytes",
				   LINE_MAX_BYTES);
		line[n++] = c;
	}
	line[n] = '\0';
	if (ferror(f)) {
		int err = errno;

		p->line = 0;
		bad(p, "%s", strerror(err));
		return -err;
	}
	return c != EOF || n > 0;
}

static int read_lines(struct parser *p, FILE *f)
{
	char line[LINE_MAX_BYTES + 1];
	int rc;

	while ((rc = next_line(p, f, line)) > 0) {
		rc = take_line(p, line);
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	if (p->line == 1) {
		p->line = 0;
		return bad(p, "empty file");
	}
	p->line = 0;
	return p->rec.nr_samples ? 0 : bad(p, "no samples (M lines)");
}

static void name_from_path(char *name, size_t size, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n;

	base = base ? base + 1 : path;
	n = strlen(base);
	if (n > 5 && strcmp(base + n - 5, ".traj") == 0)
		n -= 5;
	snprintf(name, size, "%.*s", (int)n, base);
}

int trajectory_load(const char *path, double scale, struct trajectory *traj,
		    char *err, size_t err_size)
{
	struct parser p = {
		.path = path,
		.scale = scale,
		.err = err,
		.err_size = err_size,
	};
	FILE *f = fopen(path, "re");
	int rc;

	memset(traj, 0, sizeof(*traj));
	if (!f) {
		rc = -errno;
		bad(&p, "%s", strerror(-rc));
		return rc;
	}
	rc = read_lines(&p, f);
	fclose(f);
	if (!rc) {
		name_from_path(traj->name, sizeof(traj->name), path);
		rc = traj_model(&p.rec, p.duration_ms, traj);
		if (rc)
			bad(&p, "out of memory");
	}
	free(p.rec.samples);
	free(p.rec.tools);
	if (!rc && traj->peak_live == 0) {
		trajectory_free(traj);
		rc = bad(&p, "peak is 0 bytes at scale %g: nothing to replay",
			 scale);
	}
	return rc;
}

void trajectory_free(struct trajectory *traj)
{
	free(traj->events);
	traj->events = NULL;
}
