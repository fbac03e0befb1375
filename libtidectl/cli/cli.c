// SPDX-License-Identifier: GPL-2.0-or-later
/* Options and messages of all verbs. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_help.h"

#define MAX_OPTS	24
/* getopt values: the verb's options, then the common ones. */
#define OPT_VERB	1000
#define OPT_COMMON	2000

static int arg_kind(const char *arg)
{
	if (!arg)
		return no_argument;
	return arg[0] == '[' ? optional_argument : required_argument;
}

static int add_options(struct option *to, int n, const struct cli_opt *opts,
		       int val)
{
	for (int i = 0; opts[i].name; i++) {
		if (n + 1 >= MAX_OPTS)
			abort();
		to[n++] = (struct option){
			.name = opts[i].name,
			.has_arg = arg_kind(opts[i].arg),
			.val = val + i,
		};
	}
	return n;
}

__attribute__((noreturn))
static void help(const struct cli_verb *verb)
{
	if (verb == &cli_globals)
		cli_help();
	else
		cli_help_verb(verb);
	exit(CLI_OK);
}

/* 0, or -2 as cli_next_opt(). */
static int take_common(struct cli *cli, const struct cli_verb *verb, int which)
{
	const char *name = cli_common_opts[which].name;
	int rc = 0;

	if (strcmp(name, "json") == 0)
		cli->json = true;
	else if (strcmp(name, "device") == 0)
		rc = tide_ctx_set_device(cli->ctx, optarg);
	else if (strcmp(name, "root") == 0)
		rc = tide_ctx_set_root(cli->ctx, optarg);
	else
		help(verb);
	if (rc) {
		cli_fail(cli, CLI_USAGE, "--%s: %s", name, strerror(-rc));
		return -2;
	}
	return 0;
}

int cli_next_opt(struct cli *cli, const struct cli_verb *verb, int argc,
		 char **argv, const char **value)
{
	struct option options[MAX_OPTS] = { 0 };
	int n = add_options(options, 0, verb->opts, OPT_VERB);
	/* Before the verb, parsing has to stop at the verb. */
	const char *letters = verb == &cli_globals ? "+:h" : ":h";
	const char *space = *verb->name ? " " : "";
	int c;

	add_options(options, n, cli_common_opts, OPT_COMMON);
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		switch (c) {
		case 'h':
			help(verb);
		case ':':
			cli_fail(cli, CLI_USAGE,
				 "%s needs a value; see tidectl%s%s --help",
				 argv[optind - 1], space, verb->name);
			return -2;
		case '?':
			cli_fail(cli, CLI_USAGE,
				 "bad option %s; see tidectl%s%s --help",
				 argv[optind - 1], space, verb->name);
			return -2;
		}
		if (c < OPT_COMMON) {
			*value = optarg;
			return c - OPT_VERB;
		}
		if (take_common(cli, verb, c - OPT_COMMON))
			return -2;
	}
	return -1;
}

int cli_fail(struct cli *cli, int code, const char *fmt, ...)
{
	char text[512], schema[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "tidectl: %s\n", text);
	if (cli->json) {
		struct out *out;

		snprintf(schema, sizeof(schema), "tidectl-%s/1", cli->verb);
		out = out_new(stdout, true, schema);
		out_str(out, "error", "error", text);
		out_finish(out);
	}
	return code;
}

int cli_fail_lib(struct cli *cli, int rc)
{
	char text[256];
	int code = CLI_FAILED;

	tide_ctx_error(cli->ctx, text, sizeof(text));
	if (rc == -ENOENT || rc == -ENODEV || rc == -EACCES)
		code = CLI_NO_DEVICE;
	else if (rc == -EINVAL || rc == -ERANGE)
		code = CLI_USAGE;
	return cli_fail(cli, code, "%s", text);
}

int cli_finish(struct cli *cli, struct out *out, int code)
{
	if (out_finish(out)) {
		cli->json = false;
		return cli_fail(cli, CLI_FAILED,
				"cannot write the output (disk full, or its reader has gone)");
	}
	return code;
}
