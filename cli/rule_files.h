/* SPDX-License-Identifier: MIT */
/* The rule files, configurations and variables that a command line names. */
#ifndef CLI_RULE_FILES_H
#define CLI_RULE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/detect.h"
#include "sluice/settings.h"

/* All texts are borrowed from the command line, or from the settings. */
struct rule_files {
    const char **paths; /* of rules */
    size_t n_paths;
    const char **configurations; /* of classes, references and filters */
    size_t n_configurations;
    const char **sets; /* "NAME=VALUE" of --set */
    size_t n_sets;
    const char *home;        /* NULL, or networks for HOME_NET */
    const char *from_config; /* NULL, or a configuration of Suricata or Snort */

    /* Once rule_files_finish is done; entries of --from-config come first in all lists. */
    struct sl_settings *settings;
    const char **variables; /* "NAME=VALUE" of all: --set prevails over --home */
    size_t n_variables;
    char *home_variable;
    const char
        *actions; /* for sl_rules_order_actions; NULL: the configuration does not order them */
};

/* Makes room for as many as a command line of argc arguments can name. False: no memory, with an
 * error printed. */
bool rule_files_init(struct rule_files *files, int argc);

/* Takes a value of --set. Settings of Suricata have dots in their names: vars.address-groups.NAME
 * and vars.port-groups.NAME set NAME, and the others have no effect. */
void rule_files_set(struct rule_files *files, const char *set);

/* Reads the configuration that --from-config names, and checks the variables. Once. False: the
 * reason is on stderr. */
bool rule_files_finish(struct rule_files *files);

/* Loads all, and prints what failed. *usable: each file with a bad rule has one that can be used,
 * and some rule is loaded. False: a file cannot be read, or there is no memory. */
bool rule_files_load(const struct rule_files *files, struct sl_rules **rules, bool *usable);

/* Whether the file `out` is one that is read: named itself, by a pattern, or as a file of a folder.
 * True: the error was printed. */
bool rule_files_have(const struct rule_files *files, const char *out);

void rule_files_free(struct rule_files *files);

#endif
