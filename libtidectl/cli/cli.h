/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the verbs of tidectl share: options as data, exit codes, messages. */
#ifndef TIDE_CLI_CLI_H
#define TIDE_CLI_CLI_H

#include <stdbool.h>
#include <tidectl/libtidectl.h>

#include "out.h"

/* Exit codes; part of the interface, listed in tidectl(8). */
enum {
	CLI_OK = 0,
	CLI_FAILED = 1,		/* it was tried and did not work */
	CLI_USAGE = 2,		/* bad options or input; nothing was done */
	CLI_NO_DEVICE = 3,	/* no module, no device, or no access to it */
	CLI_DEVICE_STATE = 4,	/* the device is inhibited or degraded */
};

struct cli {
	struct tide_ctx *ctx;
	const char *verb;
	bool json;
};

struct cli_opt {
	const char *name;
	const char *arg;	/* its name in the help; NULL: none taken;
				   "[...]": may be left out */
	const char *help;	/* may span lines */
};

struct cli_verb {
	const char *name;
	const char *args;	/* as in the usage line */
	const char *summary;	/* one line */
	const char *about;	/* paragraphs of --help */
	const struct cli_opt *opts;	/* ends with a NULL name */
	int (*run)(struct cli *cli, int argc, char **argv);
};

/* What stands before the verb: a verb without a name, for its options. */
extern const struct cli_verb cli_globals;
extern const struct cli_verb cmd_status;
extern const struct cli_verb cmd_report;
extern const struct cli_verb cmd_replay;

/*
 * The verb's next option: its index in verb->opts, with the value in *value.
 * Options that all verbs have are dealt with inside. -1: no more, the rest
 * starts at *argv[optind]; -2: a bad one, the message is out.
 */
int cli_next_opt(struct cli *cli, const struct cli_verb *verb, int argc,
		 char **argv, const char **value);

/* Says one line on stderr, and in the JSON on stdout; returns @code. */
int cli_fail(struct cli *cli, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with what the library last said; the code follows from @rc. */
int cli_fail_lib(struct cli *cli, int rc);

/* Finishes @out; @code, or CLI_FAILED if the output could not be written. */
int cli_finish(struct cli *cli, struct out *out, int code);

#endif /* TIDE_CLI_CLI_H */
