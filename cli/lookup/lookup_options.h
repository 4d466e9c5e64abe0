/* SPDX-License-Identifier: MIT */
/* The command line of sluice lookup. */
#ifndef CLI_LOOKUP_OPTIONS_H
#define CLI_LOOKUP_OPTIONS_H

#include "cli/name_tables.h"

struct lookup_options {
    struct name_tables tables;
    enum sl_name_syntax syntax;
    const char *build, *update, *device;
    const char *update_format; /* NULL: the one of all tables */
    bool explain, json, ignored, bench, exit_status, from_stdin, force;
    uint32_t n_threads; /* 0: one a core */
    bool threads;       /* the number was given */
    const char **names; /* room for each argument */
    int n_names;
    const char *of_names; /* an option that has an effect on names alone; NULL: none was given */
    bool behind_table;    /* the arguments before were --table FILE and bare ones */
    bool missing;         /* a name was not found */
};

/* Reads the command line into options that are zeroed but for their defaults. -1: go on; otherwise
 * the exit status, and the reason of a failure is on stderr. The texts are argv's. */
int lookup_options_parse(struct lookup_options *options, int argc, char **argv);

/* Frees what parse allocated, whatever it returned. */
void lookup_options_free(struct lookup_options *options);

#endif
