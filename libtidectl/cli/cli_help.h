/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help texts, and the lists that completion asks for; all from the tables. */
#ifndef TIDE_CLI_HELP_H
#define TIDE_CLI_HELP_H

#include "cli.h"

extern const struct cli_opt cli_common_opts[];
extern const struct cli_verb *const cli_verbs[];	/* ends with NULL */

const struct cli_verb *cli_find_verb(const char *name);
void cli_help(void);
void cli_help_verb(const struct cli_verb *verb);
void cli_list_cmds(void);
void cli_list_opts(const struct cli_verb *verb);

#endif /* TIDE_CLI_HELP_H */
