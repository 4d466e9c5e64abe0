/* SPDX-License-Identifier: MIT */
/* The summary of a run: a text for people, or one JSON object. */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "sluice/run.h"

/* details: --stats. n_profiled: rules whose profile is shown, where they were measured. */
void run_report_text(const struct sl_run_result *result, bool details, size_t n_profiled,
                     FILE *out);
void run_report_json(const struct sl_run_result *result, bool details, size_t n_profiled,
                     FILE *out);

/* Parts of them: texts are empty where their engine was switched off. JSON is the caller's. */
void run_rules_text(const struct sl_run_result *result, FILE *out);
json_t *run_rules_json(const struct sl_run_result *result);
void run_anomalies_text(const struct sl_run_result *result, FILE *out);
json_t *run_anomalies_json(const struct sl_run_result *result);
void run_alerts_text(const struct sl_run_result *result, bool details, FILE *out);
json_t *run_alerts_json(const struct sl_run_result *result); /* an array */
void run_viruses_text(const struct sl_run_result *result, bool details, FILE *out);
json_t *run_viruses_json(const struct sl_run_result *result);
void run_names_text(const struct sl_run_result *result, bool details, FILE *out);
json_t *run_names_json(const struct sl_run_result *result, bool details);
void run_redundancy_text(const struct sl_run_result *result, FILE *out);
json_t *run_redundancy_json(const struct sl_run_result *result); /* an array */

/* Omissions: the list of all kinds for the help, and those that there were. */
void run_left_out_help(FILE *out);
void run_left_out_text(const struct sl_run_result *result, FILE *out);
json_t *run_left_out_json(const struct sl_run_result *result);

/* Draws the intervals of redundancy by gnuplot, where `plot` names a file. False: the reason is on
 * stderr. */
bool run_redundancy_plot(const struct sl_run_result *result, const char *path);

#endif
