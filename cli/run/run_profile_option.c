/* SPDX-License-Identifier: MIT */
#include "run_profile_option.h"

#include <stdlib.h>
#include <string.h>

#include "base/new_file.h"
#include "cli/cli.h"
#include "cli/json_text.h"

enum { SHOWN = 10 }; /* rules of the summary, where no number is given */

struct measured {
    const struct sl_signature *signature;
    struct sl_rule_profile took;
    uint64_t alerts;
};

void run_profile_option_set(struct run_profile_option *option, const char *value)
{
    uint64_t n;

    option->on = true;
    option->n = SHOWN;
    if (value == NULL)
        return;
    if (cli_parse_number(value, UINT32_MAX, &n))
        option->n = (size_t)n;
    else
        option->file = value;
}

/* By ticks, then in the order of rules. */
static int compare(const void *a, const void *b)
{
    const struct measured *left = a, *right = b;

    if (left->took.ticks != right->took.ticks)
        return left->took.ticks > right->took.ticks ? -1 : 1;
    return (left->signature > right->signature) - (left->signature < right->signature);
}

/* The rules that were checked, malloc'ed. NULL: no memory, or nothing was measured. */
static struct measured *rank(const struct sl_run_result *result, size_t *n, uint64_t *ticks)
{
    struct sl_rules_count count = {0};
    struct measured *measured = NULL;

    *n = 0;
    *ticks = 0;
    if (result->rules != NULL)
        sl_rules_count(result->rules, &count);
    if (count.loaded != 0)
        measured = malloc(count.loaded * sizeof *measured);
    for (size_t i = 0; measured != NULL && i < count.loaded; i++) {
        struct measured *next = &measured[*n];

        if (!sl_rules_profiled(result->rules, i, &next->took) || next->took.checks == 0)
            continue;
        next->signature = sl_rules_signature(result->rules, i);
        next->alerts = result->by_signature[i];
        *ticks += next->took.ticks;
        (*n)++;
    }
    if (*n != 0)
        qsort(measured, *n, sizeof *measured, compare);
    return measured;
}

static double average(uint64_t ticks, uint64_t n)
{
    return n != 0 ? (double)ticks / (double)n : 0;
}

void run_profile_text(const struct sl_run_result *result, size_t n, FILE *out)
{
    uint64_t ticks;
    size_t n_measured;
    struct measured *measured = rank(result, &n_measured, &ticks);
    char text[4][32], safe[80];

    if (n != 0 && n_measured != 0)
        fprintf(out, "profile    %13s %6s %10s %10s %10s %10s  rule\n", "ticks", "%", "average",
                "longest", "checks", "matches");
    for (size_t i = 0; i < n_measured && i < n; i++) {
        const struct sl_signature *signature = measured[i].signature;
        const struct sl_rule_profile *took = &measured[i].took;

        fprintf(out, "           %13s %6.2f %10.0f %10s %10s %10s  [%u:%u:%u] %s\n",
                cli_count(took->ticks, text[0]), 100 * average(took->ticks, ticks),
                average(took->ticks, took->checks), cli_count(took->max_ticks, text[1]),
                cli_count(took->checks, text[2]), cli_count(took->matches, text[3]), signature->gid,
                signature->sid, signature->rev, cli_printable(signature->msg, safe, sizeof safe));
    }
    free(measured);
}

/* The keys are those of Suricata's profile, and `alerts`. */
static json_t *entry(const struct measured *measured, uint64_t ticks)
{
    const struct sl_rule_profile *took = &measured->took;

    return json_pack(
        "{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f}", "signature_id",
        (json_int_t)measured->signature->sid, "gid", (json_int_t)measured->signature->gid, "rev",
        (json_int_t)measured->signature->rev, "checks", cli_json_uint(took->checks), "matches",
        cli_json_uint(took->matches), "alerts", cli_json_uint(measured->alerts), "ticks_total",
        cli_json_uint(took->ticks), "ticks_max", cli_json_uint(took->max_ticks), "ticks_avg",
        average(took->ticks, took->checks), "ticks_avg_match",
        average(took->match_ticks, took->matches), "ticks_avg_nomatch",
        average(took->ticks - took->match_ticks, took->checks - took->matches), "percent",
        100 * average(took->ticks, ticks));
}

json_t *run_profile_json(const struct sl_run_result *result, size_t n)
{
    uint64_t ticks;
    size_t n_measured;
    struct measured *measured = rank(result, &n_measured, &ticks);
    json_t *array = json_array();

    for (size_t i = 0; i < n_measured && i < n; i++)
        json_array_append_new(array, entry(&measured[i], ticks));
    free(measured);
    return array;
}

bool run_profile_write(const struct sl_run_result *result, const struct run_profile_option *option)
{
    struct new_file file;
    struct sl_diag diag = {0};

    if (option->file == NULL)
        return true;
    if (new_file_create(&file, option->file, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }

    json_t *root =
        json_pack("{s:s, s:o}", "sort", "ticks", "rules", run_profile_json(result, SIZE_MAX));
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    bool written = text != NULL;

    if (written) {
        new_file_write(&file, text, strlen(text));
        new_file_write(&file, "\n", 1);
        written = new_file_end(&file, &diag) == SL_OK;
    } else {
        new_file_drop(&file);
        cli_error("%s: no memory for the profile of rules", option->file);
    }
    if (text != NULL && !written)
        cli_diag(&diag);
    free(text);
    json_decref(root);
    return written;
}
