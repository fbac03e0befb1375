// SPDX-License-Identifier: GPL-2.0-or-later
/* tidectl replay: options, progress and summary of a replay. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "replay.h"
#include "units.h"

/* A thousandth to a million: outside of it times over- or underflow. */
#define SPEED_MIN	1e-3
#define SPEED_MAX	1e6

enum { OPT_MODE, OPT_SPEED, OPT_SCALE, OPT_IDLE, OPT_EVENTS };

static const struct cli_opt options[] = {
	[OPT_MODE] = { "mode", "MODE",
		       "tide: arenas and reports (the default)\n"
		       "none: plain anonymous memory, no reports" },
	[OPT_SPEED] = { "speed", "X", "run X times as fast as recorded (default 1)" },
	[OPT_SCALE] = { "scale", "Y", "multiply all sizes by Y (default 1)" },
	[OPT_IDLE] = { "idle", "INTENT",
		       "what to say of the harness's memory while it waits:\n"
		       "cold (the default), pageout, or none" },
	[OPT_EVENTS] = { "events", "FILE",
			 "write one JSON line an event to FILE, as it happens;\n"
			 "a serial port will do" },
	{ 0 }
};

struct settings {
	const char *file;
	const char *events;
	double scale;
	struct replay_opts opts;
};

/* ---- Options ---- */

static int take_mode(struct cli *cli, struct settings *set, const char *value)
{
	if (strcmp(value, "tide") == 0)
		set->opts.ops = &replay_mem_tide;
	else if (strcmp(value, "none") == 0)
		set->opts.ops = &replay_mem_none;
	else
		return cli_fail(cli, CLI_USAGE,
				"--mode: \"%s\" is neither tide nor none",
				value);
	return 0;
}

static int take_speed(struct cli *cli, struct settings *set, const char *value)
{
	if (units_parse_factor(value, &set->opts.speed) ||
	    set->opts.speed < SPEED_MIN || set->opts.speed > SPEED_MAX)
		return cli_fail(cli, CLI_USAGE,
				"--speed: \"%s\" is not a number from %g to %g",
				value, SPEED_MIN, SPEED_MAX);
	return 0;
}

static int take_scale(struct cli *cli, struct settings *set, const char *value)
{
	if (units_parse_factor(value, &set->scale))
		return cli_fail(cli, CLI_USAGE,
				"--scale: \"%s\" is not a number above 0",
				value);
	return 0;
}

/* The harness's contents live, so intents that end them are no choice. */
static int take_idle(struct cli *cli, struct settings *set, const char *value)
{
	int intent = tide_intent_parse(value);

	if (strcmp(value, "none") == 0)
		set->opts.idle_intent = 0;
	else if (intent == TIDE_INTENT_COLD || intent == TIDE_INTENT_PAGEOUT)
		set->opts.idle_intent = intent;
	else
		return cli_fail(cli, CLI_USAGE,
				"--idle: \"%s\" is not cold, pageout or none (what the harness holds must survive)",
				value);
	return 0;
}

static int take_option(struct cli *cli, struct settings *set, int opt,
		       const char *value)
{
	switch (opt) {
	case OPT_MODE:
		return take_mode(cli, set, value);
	case OPT_SPEED:
		return take_speed(cli, set, value);
	case OPT_SCALE:
		return take_scale(cli, set, value);
	case OPT_IDLE:
		return take_idle(cli, set, value);
	default:
		set->events = value;
		return 0;
	}
}

static int parse(struct cli *cli, struct settings *set, int argc, char **argv)
{
	const char *value;
	int opt, rc;

	while ((opt = cli_next_opt(cli, &cmd_replay, argc, argv, &value)) >= 0) {
		rc = take_option(cli, set, opt, value);
		if (rc)
			return rc;
	}
	if (opt == -2)
		return CLI_USAGE;
	if (optind == argc)
		return cli_fail(cli, CLI_USAGE,
				"no trajectory file given; see tidectl replay --help");
	if (optind + 1 < argc)
		return cli_fail(cli, CLI_USAGE,
				"one trajectory at a time, but got \"%s\" too",
				argv[optind + 1]);
	set->file = argv[optind];
	return 0;
}

/* A serial port must pass bytes as they are and must not become our terminal. */
static int open_events(struct cli *cli, struct settings *set)
{
	struct termios tio;
	int fd;

	if (!set->events)
		return 0;
	fd = open(set->events, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY |
			       O_CLOEXEC, 0644);
	if (fd < 0)
		return cli_fail(cli, CLI_USAGE, "--events: %s: %s", set->events,
				strerror(errno));
	if (tcgetattr(fd, &tio) == 0) {
		cfmakeraw(&tio);
		tcsetattr(fd, TCSANOW, &tio);
	}
	set->opts.events_fd = fd;
	return 0;
}

/* ---- Progress ---- */

struct meter {
	bool tty;
	bool open_line;		/* a line that is not ended yet */
	uint64_t next_us;
};

static void progress(void *data, const struct replay_progress *now)
{
	struct meter *meter = data;
	double part = now->duration_ms ? (double)now->t_ms / now->duration_ms :
					 1;
	char live[16], verified[16];

	if (clock_us() < meter->next_us)
		return;
	meter->next_us = clock_us() + (meter->tty ? 250000 : 5000000);
	meter->open_line = meter->tty;
	units_format_bytes(live, sizeof(live), now->live_bytes);
	units_format_bytes(verified, sizeof(verified), now->verified_bytes);
	fprintf(stderr, "%s%3.0f %%  %6.1f of %.1f s  live %s  verified %s%s",
		meter->tty ? "\r" : "",
		100 * part, now->t_ms / 1000.0, now->duration_ms / 1000.0, live, verified,
		meter->tty ? "\033[K" : "\n");
}

static void end_progress(const struct meter *meter)
{
	if (meter->open_line)
		fputc('\n', stderr);
}

/* ---- Summary ---- */

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* By nearest rank, of a sorted array. */
static struct num percentile(const struct replay_reports *r, double part)
{
	size_t rank = ceil(part * r->nr_latency);

	return r->nr_latency ? NUM(r->latency_us[rank ? rank - 1 : 0]) :
			       NUM_UNKNOWN;
}

static void show_reports(struct out *out, const struct replay_reports *r)
{
	uint64_t total = 0;

	for (int i = 0; i <= TIDE_INTENT_WILLNEED; i++)
		total += r->count[i];
	out_group(out, "reports", "reports");
	out_count(out, "total", "reports", NUM(total));
	out_count(out, "refused", "refused by the host", NUM(r->refused));
	out_count(out, "failed", "failed", NUM(r->failed));
	for (int i = TIDE_INTENT_DISCARD; i <= TIDE_INTENT_WILLNEED; i++) {
		const char *name = tide_intent_name(i);

		if (!r->count[i])
			continue;
		out_group(out, name, name);
		out_count(out, "count", "reports", NUM(r->count[i]));
		out_bytes(out, "asked_bytes", "asked", NUM(r->asked_bytes[i]));
		out_bytes(out, "acted_bytes", "acted on",
			  NUM(r->acted_bytes[i]));
		out_end(out);
	}
	out_end(out);
	if (r->nr_latency)
		qsort(r->latency_us, r->nr_latency, sizeof(*r->latency_us),
		      compare_u32);
	out_group(out, "report_us", "report latency, microseconds");
	out_count(out, "p50", "median", percentile(r, 0.5));
	out_count(out, "p99", "99 in 100 below", percentile(r, 0.99));
	out_count(out, "max", "longest", percentile(r, 1));
	out_end(out);
}

static void show_time(struct out *out, const struct settings *set,
		      const struct trajectory *traj,
		      const struct replay_result *res)
{
	double nominal = res->nominal_us;
	/* A replay that was cut short has no slowdown to tell. */
	bool known = res->completed && nominal > 0;

	out_real(out, "recorded_s", "recorded", traj->duration_ms / 1e3, " s");
	out_real(out, "speed", "speed", set->opts.speed, "x");
	out_real(out, "nominal_s", "at that speed", nominal / 1e6, " s");
	out_real(out, "actual_s", "took", res->actual_us / 1e6, " s");
	out_real(out, "verify_s", "of it verifying", res->verify_us / 1e6,
		 " s");
	out_real(out, "slowdown", "slowdown",
		 known ? res->actual_us / nominal - 1 : NAN, "");
	out_real(out, "slowdown_without_verify", "slowdown without verifying",
		 known ? ((double)res->actual_us - res->verify_us) / nominal - 1 :
			 NAN, "");
}

static void show_bytes(struct out *out, const struct settings *set,
		       const struct trajectory *traj,
		       const struct replay_result *res)
{
	out_real(out, "scale", "scale", set->scale, "x");
	out_bytes(out, "peak_live_bytes", "live at most", NUM(traj->peak_live));
	out_bytes(out, "mean_live_bytes", "live on average",
		  NUM(traj->mean_live));
	out_bytes(out, "asked_bytes", "asked for", NUM(res->asked_bytes));
	out_bytes(out, "verified_bytes", "verified", NUM(res->verified_bytes));
	out_count(out, "wrong_bytes", "wrong bytes",
		  NUM(res->changed_bytes + res->not_zero_bytes));
	out_count(out, "changed_bytes", "  changed", NUM(res->changed_bytes));
	out_count(out, "not_zero_bytes", "  not zero",
		  NUM(res->not_zero_bytes));
}

static int show(struct cli *cli, const struct settings *set,
		const struct trajectory *traj, const struct replay_result *res,
		int rc)
{
	struct out *out = out_new(stdout, cli->json, "tidectl-replay/1");
	const char *idle = set->opts.idle_intent ?
				   tide_intent_name(set->opts.idle_intent) :
				   "none";

	out_str(out, "trajectory", "trajectory", traj->name);
	out_str(out, "mode", "mode", set->opts.ops->name);
	out_str(out, "idle", "said of idle memory",
		set->opts.ops->intent ? idle : "none");
	out_bool(out, "completed", "ran to its end", res->completed);
	out_count(out, "tools", "tool calls", NUM(traj->nr_tools));
	out_count(out, "tool_phases", "tool phases", NUM(traj->nr_phases));
	show_time(out, set, traj, res);
	show_bytes(out, set, traj, res);
	show_reports(out, (struct replay_reports *)&res->reports);
	out_count(out, "errors", "errors", NUM(res->errors));
	if (rc)
		out_str(out, "error", "error", res->err);
	return cli_finish(cli, out, rc ? CLI_FAILED : CLI_OK);
}

/* ---- The verb ---- */

static int replay(struct cli *cli, struct settings *set,
		  const struct trajectory *traj)
{
	struct meter meter = { .tty = isatty(STDERR_FILENO) };
	struct replay_result res;
	int rc;

	set->opts.progress = progress;
	set->opts.progress_data = &meter;
	rc = replay_run(cli->ctx, traj, &set->opts, &res);
	end_progress(&meter);
	if (rc)
		fprintf(stderr, "tidectl: %s\n", res.err);
	rc = show(cli, set, traj, &res, rc);
	replay_result_free(&res);
	return rc;
}

static int prepare(struct cli *cli, struct settings *set,
		   const struct trajectory *traj)
{
	struct tide_info info;
	char err[512];
	int rc;

	if (set->opts.ops == &replay_mem_tide) {
		rc = tide_info(cli->ctx, &info);
		if (rc)
			return cli_fail_lib(cli, rc);
	}
	if (replay_check_fit(cli->ctx, traj, set->scale, set->opts.ops, err,
			     sizeof(err)))
		return cli_fail(cli, CLI_USAGE, "%s", err);
	return open_events(cli, set);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct settings set = {
		.scale = 1,
		.opts = {
			.ops = &replay_mem_tide,
			.speed = 1,
			.idle_intent = TIDE_INTENT_COLD,
			.events_fd = -1,
		},
	};
	struct trajectory traj;
	char err[512];
	int rc = parse(cli, &set, argc, argv);

	if (rc)
		return rc;
	if (trajectory_load(set.file, set.scale, &traj, err, sizeof(err)))
		return cli_fail(cli, CLI_USAGE, "%s", err);
	rc = prepare(cli, &set, &traj);
	if (!rc)
		rc = replay(cli, &set, &traj);
	if (set.opts.events_fd >= 0)
		close(set.opts.events_fd);
	trajectory_free(&traj);
	return rc;
}

const struct cli_verb cmd_replay = {
	.name = "replay",
	.args = "[--mode=MODE] [--speed=X] [--scale=Y] [--idle=INTENT] [--events=FILE] FILE",
	.summary = "run a recorded memory trajectory and check every byte",
	.about =
		"Does with real memory what a recording says that a sandbox's harness and\n"
		"tools did. One arena is the harness's: written with a pattern, which is\n"
		"verified in full at the end of every phase. One is the tool's: written in\n"
		"full, and dead when the tool ends. Ends with a summary; fails if a byte was\n"
		"wrong or a call failed.\n",
	.opts = options,
	.run = run,
};
