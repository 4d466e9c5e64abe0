/* SPDX-License-Identifier: MIT */
/* A scan but for its execution, which is in scan_files.c. */
#include "scan_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/diag.h"
#include "base/reserved.h"

void sl_scan_config_init(struct sl_scan_config *config)
{
    memset(config, 0, sizeof *config);
    config->follow_files = config->follow_directories = SL_SCAN_FOLLOW_NAMED;
    config->depth_max = SL_SCAN_DEPTH_DEFAULT;
    config->time_max_ms = SL_SCAN_TIME_DEFAULT;
    config->levels_max = SL_SCAN_LEVELS_DEFAULT;
    config->members_max = SL_SCAN_MEMBERS_DEFAULT;
    config->normalizes = true;
    config->html_len_max = SL_SCAN_HTML_LEN_DEFAULT;
    config->html_text_len_max = SL_SCAN_HTML_TEXT_LEN_DEFAULT;
    config->text_len_max = SL_SCAN_TEXT_LEN_DEFAULT;
    config->device.kind = SL_DEVICE_CPU;
    config->n_threads = 1;
}

/* ---- open and close -------------------------------------------------------------------------- */

static enum sl_status compile_pattern(regex_t *regex, const char *text, struct sl_diag *diag)
{
    char why[256];
    const int error = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);

    if (error == 0)
        return SL_OK;
    regerror(error, regex, why, sizeof why);
    return diag_set(diag, SL_EINVAL, NULL, 0, "'%s' is no regular expression: %s", text, why);
}

static enum sl_status compile_patterns(struct scan_patterns *to,
                                       const struct sl_scan_patterns *from, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    if (from->n > SL_SCAN_PATTERNS_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "more than %d expressions for paths",
                        SL_SCAN_PATTERNS_MAX);
    to->regex = calloc(from->n + 1, sizeof *to->regex);
    if (to->regex == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    while (status == SL_OK && to->n < from->n) {
        status = compile_pattern(&to->regex[to->n], from->text[to->n], diag);
        to->n += status == SL_OK;
    }
    return status;
}

static void free_patterns(struct scan_patterns *patterns)
{
    for (size_t i = 0; i < patterns->n; i++)
        regfree(&patterns->regex[i]);
    free(patterns->regex);
}

static enum sl_status check_numbers(const struct sl_scan_config *config, struct sl_diag *diag)
{
    if (config->n_threads > SL_SCAN_THREADS_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%u threads (expected at most %d)",
                        config->n_threads, SL_SCAN_THREADS_MAX);
    if (config->depth_max > SL_SCAN_DEPTH_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a depth of %u directories (expected at most %d)",
                        config->depth_max, SL_SCAN_DEPTH_MAX);
    return reserved_check(config->reserved, diag);
}

enum sl_status sl_scan_open(struct sl_scan **scan, const struct sl_scan_config *config,
                            struct sl_diag *diag)
{
    struct sl_scan *made = calloc(1, sizeof *made);
    enum sl_status status;

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
    pthread_mutex_init(&made->lock, NULL);
    made->config = *config;
    if (made->config.n_threads == 0)
        made->config.n_threads = cpu_cores();
    status = check_numbers(config, diag);
    if (status == SL_OK)
        status = compile_patterns(&made->exclude, &config->exclude, diag);
    if (status == SL_OK)
        status = compile_patterns(&made->include, &config->include, diag);
    if (status == SL_OK)
        status = compile_patterns(&made->exclude_directories, &config->exclude_directories, diag);
    if (status == SL_OK)
        status = compile_patterns(&made->include_directories, &config->include_directories, diag);
    if (status == SL_OK)
        *scan = made;
    else
        sl_scan_close(made);
    return status;
}

void sl_scan_close(struct sl_scan *scan)
{
    if (scan == NULL)
        return;
    free_patterns(&scan->exclude);
    free_patterns(&scan->include);
    free_patterns(&scan->exclude_directories);
    free_patterns(&scan->include_directories);
    pthread_mutex_destroy(&scan->lock);
    free(scan);
}

/* ---- while it is executed -------------------------------------------------------------------- */

void sl_scan_stop(struct sl_scan *scan)
{
    atomic_store(&scan->stopped, true);
}

static uint64_t left_ns(const struct sl_scan_counts *counts)
{
    if (!counts->counted || counts->scanned_bytes == 0 || counts->all_bytes < counts->scanned_bytes)
        return UINT64_MAX;
    return (uint64_t)((double)(counts->all_bytes - counts->scanned_bytes) *
                      (double)counts->elapsed_ns / (double)counts->scanned_bytes);
}

void sl_scan_snapshot(struct sl_scan *scan, struct sl_scan_counts *counts)
{
    pthread_mutex_lock(&scan->lock);
    *counts = scan->counts;
    if (scan->begin_ns != 0 && !scan->ended)
        counts->elapsed_ns = clock_ns() - scan->begin_ns;
    pthread_mutex_unlock(&scan->lock);
    counts->left_ns = left_ns(counts);
}
