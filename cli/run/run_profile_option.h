/* SPDX-License-Identifier: MIT */
/* --profile-rules[=FILE|N]: the cost of each rule. */
#ifndef CLI_RUN_PROFILE_OPTION_H
#define CLI_RUN_PROFILE_OPTION_H

#include <jansson.h>

#include "sluice/run.h"

struct run_profile_option {
    bool on;
    size_t n;         /* rules that the summary shows; 0: none */
    const char *file; /* NULL, or where all go as JSON */
};

/* Takes the option's value, which may be NULL. */
void run_profile_option_set(struct run_profile_option *option, const char *value);

/* The rules that took most ticks. Nothing where no rule was measured. */
void run_profile_text(const struct sl_run_result *result, size_t n, FILE *out);

/* An array of them. */
json_t *run_profile_json(const struct sl_run_result *result, size_t n);

/* Writes all rules that were checked into the file, where there is one. False: the reason is on
 * stderr. */
bool run_profile_write(const struct sl_run_result *result, const struct run_profile_option *option);

#endif
