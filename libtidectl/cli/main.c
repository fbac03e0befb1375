// SPDX-License-Identifier: GPL-2.0-or-later
/* tidectl: the command in front of libtidectl. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>

#include "cli.h"
#include "cli_help.h"

enum { OPT_VERSION, OPT_LIST_CMDS, OPT_LIST_OPTS };

static const struct cli_opt options[] = {
	[OPT_VERSION] = { "version", NULL, "show the version" },
	[OPT_LIST_CMDS] = { "list-cmds", NULL, "list the verbs, for completion" },
	[OPT_LIST_OPTS] = { "list-opts", "[=VERB]",
			    "list the options, for completion" },
	{ 0 }
};

const struct cli_verb cli_globals = { .name = "", .opts = options };

/* True if one of them was all that was asked for; *rc is the exit code then. */
static bool global_options(struct cli *cli, int argc, char **argv, int *rc)
{
	const char *value;

	*rc = CLI_OK;
	switch (cli_next_opt(cli, &cli_globals, argc, argv, &value)) {
	case OPT_VERSION:
		puts("tidectl " TIDE_VERSION);
		return true;
	case OPT_LIST_CMDS:
		cli_list_cmds();
		return true;
	case OPT_LIST_OPTS:
		cli_list_opts(value ? cli_find_verb(value) : NULL);
		return true;
	case -1:
		return false;
	default:
		*rc = CLI_USAGE;
		return true;
	}
}

static int run_verb(struct cli *cli, int argc, char **argv)
{
	const struct cli_verb *verb;

	if (optind == argc)
		return cli_fail(cli, CLI_USAGE,
				"no verb given; start with tidectl status, or see tidectl --help");
	verb = cli_find_verb(argv[optind]);
	if (!verb)
		return cli_fail(cli, CLI_USAGE,
				"no verb \"%s\"; see tidectl --help",
				argv[optind]);
	cli->verb = verb->name;
	argc -= optind;
	argv += optind;
	/* 0 makes getopt start anew, with permutation. */
	optind = 0;
	return verb->run(cli, argc, argv);
}

int main(int argc, char **argv)
{
	struct cli cli = { .verb = "error" };
	int rc;

	/* A reader that went away is an error to report, not a reason to die. */
	signal(SIGPIPE, SIG_IGN);
	if (tide_ctx_new(&cli.ctx)) {
		fputs("tidectl: out of memory\n", stderr);
		return CLI_FAILED;
	}
	if (!global_options(&cli, argc, argv, &rc))
		rc = run_verb(&cli, argc, argv);
	tide_ctx_unref(cli.ctx);
	return rc;
}
