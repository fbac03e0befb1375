// SPDX-License-Identifier: GPL-2.0-or-later
/* Help texts, and the lists that completion asks for. */
#include <stdio.h>
#include <string.h>

#include "cli_help.h"

const struct cli_opt cli_common_opts[] = {
	{ "json", NULL, "print one JSON object instead of text" },
	{ "device", "PATH", "device node to use (default /dev/tide)" },
	{ "root", "DIR", "look for dev, sys and proc below DIR" },
	{ "help", NULL, "show this help" },
	{ 0 }
};

const struct cli_verb *const cli_verbs[] = {
	&cmd_status,
	&cmd_report,
	&cmd_replay,
	NULL
};

const struct cli_verb *cli_find_verb(const char *name)
{
	for (int i = 0; cli_verbs[i]; i++)
		if (strcmp(cli_verbs[i]->name, name) == 0)
			return cli_verbs[i];
	return NULL;
}

static void print_option(const struct cli_opt *opt)
{
	char left[64];
	const char *line = opt->help;

	snprintf(left, sizeof(left), "--%s%s%s", opt->name,
		 opt->arg && opt->arg[0] != '[' ? "=" : "",
		 opt->arg ? opt->arg : "");
	while (line) {
		const char *end = strchr(line, '\n');
		int len = end ? (int)(end - line) : (int)strlen(line);

		printf("  %-22s %.*s\n", left, len, line);
		left[0] = '\0';
		line = end ? end + 1 : NULL;
	}
}

static void print_options(const char *title, const struct cli_opt *opts)
{
	if (!opts[0].name)
		return;
	printf("\n%s:\n", title);
	for (; opts->name; opts++)
		print_option(opts);
}

static const char about_tide[] =
	"Usage: tidectl [OPTION]... VERB [ARGUMENT]...\n"
	"\n"
	"Tide lets a process in a virtual machine tell the host what its memory is\n"
	"worth: dead, idle, or coming back. Memory that a process holds in an arena\n"
	"is reported in extents of 2 MiB, with one of these intents:\n"
	"\n"
	"  discard   contents are dead; the host takes the memory back now\n"
	"  lazy      contents are dead; taken back when the host is short of memory\n"
	"  cold      contents stay; not used for some time\n"
	"  pageout   contents stay; not used for ten seconds or more\n"
	"  willneed  contents stay; used soon, bring them back\n"
	"\nVerbs:\n";

static const char about_end[] =
	"\nStart with:  tidectl status\n"
	"More on one:  tidectl VERB --help, man tidectl-VERB\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 bad usage or input, 3 no module, device or\n"
	"access, 4 the device is inhibited or degraded.\n";

void cli_help(void)
{
	fputs(about_tide, stdout);
	for (int i = 0; cli_verbs[i]; i++)
		printf("  %-9s %s\n", cli_verbs[i]->name,
		       cli_verbs[i]->summary);
	print_options("Options", cli_common_opts);
	for (const struct cli_opt *opt = cli_globals.opts; opt->name; opt++)
		print_option(opt);
	fputs(about_end, stdout);
}

void cli_help_verb(const struct cli_verb *verb)
{
	printf("Usage: tidectl %s %s\n\n%s", verb->name, verb->args,
	       verb->about);
	print_options("Options", verb->opts);
	print_options("Common options", cli_common_opts);
}

void cli_list_cmds(void)
{
	for (int i = 0; cli_verbs[i]; i++)
		puts(cli_verbs[i]->name);
}

static void list_opts(const struct cli_opt *opts)
{
	for (; opts->name; opts++)
		printf("--%s%s\n", opts->name,
		       opts->arg && opts->arg[0] != '[' ? "=" : "");
}

void cli_list_opts(const struct cli_verb *verb)
{
	list_opts(verb ? verb->opts : cli_globals.opts);
	list_opts(cli_common_opts);
}
