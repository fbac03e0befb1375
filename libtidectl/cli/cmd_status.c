// SPDX-License-Identifier: GPL-2.0-or-later
/* tidectl status: is it there, does it work, how much does it hold? */
#include <getopt.h>
#include <string.h>

#include "cli.h"

static const struct cli_opt options[] = { { 0 } };

/* What the device node says, if it may be asked. */
struct facts {
	bool asked;
	struct tide_info info;
};

static struct num attr(struct cli *cli, const char *name)
{
	struct num num = { .known = false };

	num.known = tide_attr_u64(cli->ctx, name, &num.value) == 0;
	return num;
}

/* The attribute, or else what the device node said. */
static struct num attr_or(struct cli *cli, const char *name,
			  const struct facts *facts, uint64_t value)
{
	struct num num = attr(cli, name);

	return !num.known && facts->asked ? NUM(value) : num;
}

static const char *attr_str(struct cli *cli, const char *name, char *buf,
			    size_t size, const char *otherwise)
{
	return tide_attr_read(cli->ctx, name, buf, size) ? otherwise : buf;
}

static void show_pool(struct cli *cli, struct out *out,
		      const struct facts *facts)
{
	const struct tide_info *info = &facts->info;
	const char *name = facts->asked ? tide_backend_name(info->backend) :
					  NULL;
	char backend[32];

	out_group(out, "pool", "pool");
	out_str(out, "backend", "backend",
		attr_str(cli, "tide_pool/backend", backend, sizeof(backend),
			 name));
	out_bytes(out, "size_bytes", "size",
		  attr_or(cli, "tide_pool/size_bytes", facts,
			  info->pool_bytes));
	out_bytes(out, "carved_bytes", "carved from the guest",
		  attr_or(cli, "tide_pool/carved_bytes", facts,
			  info->carved_bytes));
	out_bytes(out, "cached_bytes", "carved, without an owner",
		  attr(cli, "tide_pool/cached_bytes"));
	out_bytes(out, "floor_bytes", "left to the guest at least",
		  attr(cli, "tide_pool/floor_bytes"));
	out_bytes(out, "owned_bytes", "owned by arenas",
		  facts->asked ? NUM(info->owned_bytes) : NUM_UNKNOWN);
	out_end(out);
}

struct row {
	const char *attr;	/* its last part is the JSON key too */
	const char *label;
	bool bytes;
};

static void show_rows(struct cli *cli, struct out *out, const struct row *rows)
{
	for (; rows->attr; rows++) {
		const char *key = strchr(rows->attr, '/') + 1;
		struct num num = attr(cli, rows->attr);

		if (rows->bytes)
			out_bytes(out, key, rows->label, num);
		else
			out_count(out, key, rows->label, num);
	}
}

static const struct row extent_rows[] = {
	{ "tide_extents/carved", "carved, without an owner", false },
	{ "tide_extents/owned", "owned", false },
	{ "tide_extents/reported", "with the host", false },
	{ "tide_extents/draining", "on their way back", false },
	{ "tide_extents/quarantined", "lost with the device", false },
	{ 0 }
};

static const struct row report_rows[] = {
	{ "tide_reports/count", "reports", false },
	{ "tide_reports/reported_bytes", "reported", true },
	{ "tide_reports/acted_bytes", "acted on by the host", true },
	{ "tide_reports/failed", "failed reports", false },
	{ "tide_reports/discarded_bytes", "discarded", true },
	{ "tide_reports/zeroed_by_guest_bytes", "cleared by the guest", true },
	{ "tide_reports/device_resets", "device resets", false },
	{ 0 }
};

static const struct row device_rows[] = {
	{ "tide_device/queue_size", "queue size", false },
	{ 0 }
};

static void show_device(struct cli *cli, struct out *out, const char *state)
{
	char features[32];

	out_group(out, "device", "device");
	out_str(out, "state", "state", state);
	out_str(out, "features", "features",
		attr_str(cli, "tide_device/features", features,
			 sizeof(features), NULL));
	show_rows(cli, out, device_rows);
	out_end(out);
}

static int show(struct cli *cli, const struct facts *facts, const char *state)
{
	struct out *out = out_new(stdout, cli->json, "tidectl-status/1");
	bool ok = strcmp(state, tide_state_name(TIDE_DEVICE_OK)) == 0;

	out_str(out, "module", "module", "loaded");
	show_device(cli, out, state);
	show_pool(cli, out, facts);
	out_group(out, "extents", "extents");
	show_rows(cli, out, extent_rows);
	out_end(out);
	out_group(out, "reports", "reports");
	show_rows(cli, out, report_rows);
	out_end(out);
	return cli_finish(cli, out, ok ? CLI_OK : CLI_DEVICE_STATE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct facts facts = { .asked = false };
	const char *value, *state;
	char state_buf[32];
	int rc;

	if (cli_next_opt(cli, &cmd_status, argc, argv, &value) != -1)
		return CLI_USAGE;
	if (optind < argc)
		return cli_fail(cli, CLI_USAGE,
				"status takes no arguments, but got \"%s\"",
				argv[optind]);
	/* Whoever may not open the node can still read what sysfs shows. */
	state = attr_str(cli, "tide_device/state", state_buf,
			 sizeof(state_buf), NULL);
	rc = tide_info(cli->ctx, &facts.info);
	facts.asked = rc == 0;
	if (!state && !facts.asked)
		return cli_fail_lib(cli, rc);
	if (!state)
		state = tide_state_name(facts.info.device_state);
	return show(cli, &facts, state);
}

const struct cli_verb cmd_status = {
	.name = "status",
	.args = "[--json]",
	.summary = "show module, device, pool and counters",
	.about =
		"Shows whether the module is loaded, whether the device takes reports, how\n"
		"much memory the pool has and who holds it, and what was reported so far.\n"
		"What this module does not tell is \"unknown\" (null in JSON).\n",
	.opts = options,
	.run = run,
};
