/* SPDX-License-Identifier: MIT */
/* The command line of sluice run. */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "capture_files.h"
#include "cli/name_tables.h"
#include "cli/rule_files.h"
#include "pace_file.h"
#include "run_events_option.h"
#include "run_files_option.h"
#include "run_profile_option.h"
#include "run_redundancy_option.h"
#include "sluice/run.h"

enum { RUN_HOME_MAX = 64, RUN_POLICIES_MAX = 256 };

struct run_options {
    struct sl_run_config config; /* of the run; its lists lie in what follows */
    struct capture_files captures;
    char filter[4096]; /* the words of a filter that is no argument of -f */
    unsigned n_bare;   /* of them, those that do not follow "--" */
    struct rule_files rule_files;
    struct name_tables tables;
    const char *databases[SL_RUN_DATABASES_MAX];
    const char *sinks[SL_RUN_SINKS_MAX];
    struct sl_net home[RUN_HOME_MAX];
    const char *host_policies[RUN_POLICIES_MAX];
    struct run_redundancy_option redundancy;
    struct run_events_option events;
    struct run_profile_option profile;
    uint64_t flow_seed[2];

    char pace_file[PATH_MAX]; /* of what runs took */

    const char *file_info;   /* the fields of events of files; NULL: not given */
    const char *header_list; /* NULL: no header checks */
    const char *checksums;   /* all or none, whatever the list says; NULL: as it says */
    const char *metrics;     /* the address of a server; NULL: none */
    bool json, stats, quiet, has_sensor_id;
};

/* -1: go on; otherwise the exit status. */
int run_options_parse(struct run_options *options, int argc, char **argv);

/* Whether the options fit together, and each has an effect. It resolves what they name: checks,
 * events, redundancy, the default sink. */
bool run_options_check(struct run_options *options);

void run_options_free(struct run_options *options);

#endif
