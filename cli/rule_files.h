/* SPDX-License-Identifier: MIT */
/* The rule files and variables that a command line names. */
#ifndef CLI_RULE_FILES_H
#define CLI_RULE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/detect.h"

struct rule_files {
    const char **paths; /* borrowed from the command line */
    size_t n_paths;
    const char **sets; /* "NAME=VALUE" */
    size_t n_sets;
    const char *home; /* NULL, or networks for HOME_NET */
};

/* Makes room for as many as a command line of argc arguments can name; false: no memory, said. */
bool rule_files_init(struct rule_files *files, int argc);

/* Whether --home and --set are values of variables. False: the reason is on stderr. */
bool rule_files_check_variables(const struct rule_files *files);

/* Loads all; prints what failed. False: nothing can be done with them. */
bool rule_files_load(const struct rule_files *files, struct sl_rules **rules);

/* Whether any rule was loaded of them; false: there is nothing to look for, said with the reasons.
 */
bool rule_files_check(const struct rule_files *files, const struct sl_rules *rules);

void rule_files_free(struct rule_files *files);

#endif
