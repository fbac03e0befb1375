// SPDX-License-Identifier: GPL-2.0-or-later
/* tidectl: the command in front of libtidectl. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_help.h"

/* What stands before the verb; 0 to go on, else the exit code plus one. */
static int global_options(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "device", required_argument, NULL, 'd' },
		{ "root", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "list-cmds", no_argument, NULL, 'c' },
		{ "list-opts", optional_argument, NULL, 'o' },
		{ 0 }
	};
	int c, rc = 0;

	opterr = 0;
	while (!rc && (c = getopt_long(argc, argv, "+:hV", options, NULL)) != -1)
		switch (c) {
		case 'j':
			cli->json = true;
			break;
		case 'd':
			rc = tide_ctx_set_device(cli->ctx, optarg);
			break;
		case 'r':
			rc = tide_ctx_set_root(cli->ctx, optarg);
			break;
		case 'h':
			cli_help();
			return 1 + CLI_OK;
		case 'V':
			puts("tidectl " TIDE_VERSION);
			return 1 + CLI_OK;
		case 'c':
			cli_list_cmds();
			return 1 + CLI_OK;
		case 'o':
			cli_list_opts(optarg ? cli_find_verb(optarg) : NULL);
			return 1 + CLI_OK;
		case ':':
			return 1 + cli_fail(cli, CLI_USAGE,
					    "%s needs a value; see tidectl --help",
					    argv[optind - 1]);
		default:
			return 1 + cli_fail(cli, CLI_USAGE,
					    "bad option %s; see tidectl --help",
					    argv[optind - 1]);
		}
	return rc ? 1 + cli_fail(cli, CLI_FAILED, "%s", strerror(-rc)) : 0;
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
	rc = global_options(&cli, argc, argv);
	rc = rc ? rc - 1 : run_verb(&cli, argc, argv);
	tide_ctx_unref(cli.ctx);
	return rc;
}
