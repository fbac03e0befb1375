// SPDX-License-Identifier: GPL-2.0-or-later
/* tidectl report: say something about the memory of a running process. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>

#include "cli.h"
#include "units.h"

enum { OPT_PID, OPT_FD, OPT_OFFSET, OPT_LENGTH, OPT_INTENT, OPT_YES };

static const struct cli_opt options[] = {
	[OPT_PID] = { "pid", "PID", "process whose arenas are meant" },
	[OPT_FD] = { "fd", "N", "only the arena that it has open as descriptor N" },
	[OPT_OFFSET] = { "offset", "BYTES", "start of the range (needs --fd)" },
	[OPT_LENGTH] = { "length", "BYTES", "length of the range (needs --fd)" },
	[OPT_INTENT] = { "intent", "INTENT",
			 "discard, lazy, cold, pageout or willneed" },
	[OPT_YES] = { "yes-discard", NULL,
		      "allow discard and lazy: the process loses the contents" },
	{ 0 }
};

struct request {
	bool has_pid, has_fd, has_range, yes;
	uint64_t pid, fd, offset, length;
	int intent;		/* 0: not given */
};

struct walk {
	struct cli *cli;
	const struct request *req;
	struct out *out;
	uint64_t *seen;		/* ids of the arenas reported */
	size_t nr_seen;
	bool refused;
};

static int take_option(struct cli *cli, struct request *req, int opt,
		       const char *value)
{
	int rc = 0;

	switch (opt) {
	case OPT_PID:
		rc = units_parse_uint(value, INT_MAX, &req->pid);
		req->has_pid = true;
		break;
	case OPT_FD:
		rc = units_parse_uint(value, INT_MAX, &req->fd);
		req->has_fd = true;
		break;
	case OPT_OFFSET:
		rc = units_parse_bytes(value, &req->offset);
		req->has_range = true;
		break;
	case OPT_LENGTH:
		rc = units_parse_bytes(value, &req->length);
		req->has_range = true;
		break;
	case OPT_INTENT:
		req->intent = tide_intent_parse(value);
		rc = req->intent < 0 ? req->intent : 0;
		break;
	case OPT_YES:
		req->yes = true;
		break;
	}
	if (rc)
		return cli_fail(cli, CLI_USAGE, "--%s: \"%s\" is not %s",
				options[opt].name, value,
				opt == OPT_INTENT ? options[opt].help :
						    "a number that fits");
	return 0;
}

/* Options that only make sense together; 0 or the exit code. */
static int check_request(struct cli *cli, const struct request *req)
{
	if (!req->has_pid)
		return cli_fail(cli, CLI_USAGE, "--pid is missing");
	if (!req->intent)
		return cli_fail(cli, CLI_USAGE, "--intent is missing: %s",
				options[OPT_INTENT].help);
	if (req->has_range && !req->has_fd)
		return cli_fail(cli, CLI_USAGE,
				"--offset and --length name a range of one arena: add --fd");
	if ((req->intent == TIDE_INTENT_DISCARD ||
	     req->intent == TIDE_INTENT_DISCARD_LAZY) && !req->yes)
		return cli_fail(cli, CLI_USAGE,
				"intent %s destroys what process %d has in that memory while it runs; if that is meant, add --yes-discard",
				tide_intent_name(req->intent), (int)req->pid);
	return 0;
}

static void show(struct walk *walk, int fd, const struct tide_query *query,
		 const struct tide_range *total)
{
	struct out *out = walk->out;

	out_item(out);
	out_count(out, "arena", "arena", NUM(query->id));
	out_str(out, "name", "name", query->name);
	out_count(out, "fd", "descriptor", NUM(fd));
	out_bytes(out, "reported_bytes", "reported", NUM(total->len));
	out_bytes(out, "acted_bytes", "acted on by the host", NUM(total->done));
	out_str(out, "status", "answer", tide_status_name(total->status));
	out_bool(out, "downgraded", "weaker action taken",
		 total->result & TIDE_RESULT_DOWNGRADED);
	out_end(out);
	walk->refused |= total->status != TIDE_STATUS_OK;
}

static int report_arena(struct walk *walk, int fd)
{
	const struct request *req = walk->req;
	struct tide_range total;
	struct tide_query query;
	struct tide_arena *arena;
	int rc;

	rc = tide_arena_from_pid(walk->cli->ctx, req->pid, fd, &arena);
	if (rc)
		return rc;
	rc = tide_arena_query(arena, &query);
	if (!rc && req->has_range && req->length)
		rc = tide_arena_report_one(arena, req->offset, req->length,
					   req->intent, 0, &total);
	else if (!rc)
		rc = tide_arena_report_committed(arena, req->offset, 0,
						 req->intent, &total);
	if (!rc)
		show(walk, fd, &query, &total);
	tide_arena_unref(arena);
	return rc;
}

/* A process may have one arena open several times. */
static bool seen_before(struct walk *walk, uint64_t id)
{
	uint64_t *bigger;

	for (size_t i = 0; i < walk->nr_seen; i++)
		if (walk->seen[i] == id)
			return true;
	bigger = realloc(walk->seen, (walk->nr_seen + 1) * sizeof(*bigger));
	if (!bigger)
		abort();
	bigger[walk->nr_seen++] = id;
	walk->seen = bigger;
	return false;
}

static int report_entry(const struct tide_arena_entry *entry, void *data)
{
	int rc;

	if (seen_before(data, entry->id))
		return 0;
	rc = report_arena(data, entry->fd);
	/* Closed since we saw it: not ours to complain about. */
	return rc == -EBADF || rc == -ENOTTY ? 0 : rc;
}

static int report(struct cli *cli, const struct request *req)
{
	struct walk walk = { .cli = cli, .req = req };
	int rc;

	walk.out = out_new(stdout, cli->json, "tidectl-report/1");
	out_count(walk.out, "pid", "process", NUM(req->pid));
	out_str(walk.out, "intent", "intent", tide_intent_name(req->intent));
	out_list(walk.out, "arenas", "arenas");
	if (req->has_fd)
		rc = report_arena(&walk, req->fd);
	else
		rc = tide_arena_foreach(cli->ctx, req->pid, report_entry,
					&walk);
	out_end(walk.out);
	free(walk.seen);
	if (rc) {
		out_drop(walk.out);
		return cli_fail_lib(cli, rc);
	}
	return cli_finish(cli, walk.out, walk.refused ? CLI_FAILED : CLI_OK);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct request req = { 0 };
	const char *value;
	int opt, rc;

	while ((opt = cli_next_opt(cli, &cmd_report, argc, argv, &value)) >= 0) {
		rc = take_option(cli, &req, opt, value);
		if (rc)
			return rc;
	}
	if (opt == -2)
		return CLI_USAGE;
	if (optind < argc)
		return cli_fail(cli, CLI_USAGE,
				"report takes no arguments, but got \"%s\"",
				argv[optind]);
	rc = check_request(cli, &req);
	return rc ? rc : report(cli, &req);
}

const struct cli_verb cmd_report = {
	.name = "report",
	.args = "--pid=PID --intent=INTENT [--fd=N [--offset=BYTES] [--length=BYTES]]",
	.summary = "tell the host about the arenas of a process",
	.about =
		"Reports one intent for all that the process's arenas hold, or for a range\n"
		"of one of them, and shows what the host answered. BYTES may be written as\n"
		"4M or 1.5GiB; ranges are whole extents of 2 MiB.\n"
		"\n"
		"discard and lazy make the contents go: the process, which knows nothing of\n"
		"it, then reads zeros where its data was, and most likely crashes. That is\n"
		"useful for a process that is stopped for good but not yet reaped, so it is\n"
		"possible, but only with --yes-discard.\n",
	.opts = options,
	.run = run,
};
