/* SPDX-License-Identifier: MIT */
/* The names that were found and the actions of tables for them, as text and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_text.h"
#include "run_report.h"

/* Rules that matched, with their actions. */
struct row {
    const struct sl_run_name_rule *rule;
    struct sl_names_answer answer;
    uint64_t n; /* of all rows that a group has */
};

static int by_count(const void *a, const void *b)
{
    const struct row *left = a, *right = b;

    if (left->n != right->n)
        return left->n < right->n ? 1 : -1;
    return left->rule->rule < right->rule->rule ? -1 : left->rule->rule > right->rule->rule;
}

static int compare_actions(const void *a, const void *b)
{
    const struct row *left = a, *right = b;

    if (left->answer.action != right->answer.action)
        return left->answer.action < right->answer.action ? -1 : 1;
    return left->answer.values < right->answer.values ? -1
                                                      : left->answer.values > right->answer.values;
}

static int compare_lists(const void *a, const void *b)
{
    const struct row *left = a, *right = b;

    return left->answer.list < right->answer.list ? -1 : left->answer.list > right->answer.list;
}

static int compare_rules(const void *a, const void *b)
{
    const struct row *left = a, *right = b;

    return left->rule->rule < right->rule->rule ? -1 : left->rule->rule > right->rule->rule;
}

/* A row for each group of rules that compare as equal, most matches first. NULL: no memory. */
static struct row *group(const struct sl_run_result *result,
                         int (*compare)(const void *, const void *), size_t *n)
{
    struct row *rows = malloc((result->n_by_name_rule + 1) * sizeof *rows);
    size_t n_groups = 0;

    *n = 0;
    if (rows == NULL)
        return NULL;
    for (size_t i = 0; i < result->n_by_name_rule; i++) {
        rows[*n].rule = &result->by_name_rule[i];
        rows[*n].n = result->by_name_rule[i].n;
        sl_packet_names_hit(result->names, result->by_name_rule[i].rule, &rows[(*n)++].answer);
    }
    qsort(rows, *n, sizeof *rows, compare);
    for (size_t i = 0; i < *n; i++) {
        if (n_groups > 0 && compare(&rows[n_groups - 1], &rows[i]) == 0)
            rows[n_groups - 1].n += rows[i].n;
        else
            rows[n_groups++] = rows[i];
    }
    *n = n_groups;
    qsort(rows, *n, sizeof *rows, by_count);
    return rows;
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { SHOWN = 25, TEXT_LEN = 200 };

/* "forward 3,4", "block", cut to what a line takes. */
static const char *write_action(const struct sl_names *names, const struct sl_names_answer *answer,
                                char text[TEXT_LEN])
{
    size_t len = (size_t)snprintf(text, TEXT_LEN, "%s", sl_names_action_name(answer->action));
    const char *value;
    size_t value_len;
    char safe[TEXT_LEN];

    for (uint32_t i = 0;
         len < TEXT_LEN && (value = sl_names_value(names, answer, i, &value_len)) != NULL; i++)
        len += (size_t)snprintf(text + len, TEXT_LEN - len, "%s%.*s", i == 0 ? " " : ",",
                                (int)(value_len < TEXT_LEN ? value_len : TEXT_LEN), value);
    memcpy(safe, text, TEXT_LEN);
    return cli_printable(safe, text, TEXT_LEN);
}

static void print_protocols(const struct sl_packet_names_watch_count *count, FILE *out)
{
    char found[32], matched[32];

    for (int p = 0; p < SL_N_PACKET_NAMES_PROTOCOLS; p++)
        if (count->names[p] != 0)
            fprintf(out, "  %10s  %s, %s matched\n", cli_count(count->names[p], found),
                    sl_packet_names_protocol_name((enum sl_packet_names_protocol)p),
                    cli_count(count->matched[p], matched));
}

static void print_more(size_t n, bool details, const char *what, FILE *out)
{
    char text[32];

    if (n > SHOWN && !details)
        fprintf(out, "  more %s that matched: %s (--stats lists all)\n", what,
                cli_count(n - SHOWN, text));
}

static void print_actions(const struct sl_run_result *result, bool details, FILE *out)
{
    char text[32], action[TEXT_LEN];
    size_t n;
    struct row *rows = group(result, compare_actions, &n);

    for (size_t i = 0; i < n && (i < SHOWN || details); i++)
        fprintf(out, "  %10s  %s\n", cli_count(rows[i].n, text),
                write_action(result->names, &rows[i].answer, action));
    print_more(n, details, "actions", out);
    free(rows);
}

static void print_rules(const struct sl_run_result *result, bool details, FILE *out)
{
    char text[32], action[TEXT_LEN], list[TEXT_LEN], prefix[TEXT_LEN];
    size_t n;
    struct row *rows = group(result, compare_rules, &n);

    for (size_t i = 0; i < n && (i < SHOWN || details); i++)
        fprintf(out, "  %10s  %s:%u  %s  %s\n", cli_count(rows[i].n, text),
                cli_printable(sl_names_list(result->names, rows[i].answer.list, NULL), list,
                              sizeof list),
                rows[i].answer.line, cli_printable(rows[i].rule->prefix, prefix, sizeof prefix),
                write_action(result->names, &rows[i].answer, action));
    print_more(n, details, "lines", out);
    free(rows);
}

void run_names_text(const struct sl_run_result *result, bool details, FILE *out)
{
    const struct sl_packet_names_watch_count *count = &result->watched;
    struct sl_names_count table;
    uint64_t n_names = 0;
    char text[32], matched[32], packets[32];

    if (result->names == NULL)
        return;
    sl_names_count(result->names, &table);
    for (int p = 0; p < SL_N_PACKET_NAMES_PROTOCOLS; p++)
        n_names += count->names[p];
    fprintf(out, "names      %s in %s packets, %s matched of a table of ", cli_count(n_names, text),
            cli_count(count->packets, packets), cli_count(result->names_matched, matched));
    fprintf(out, "%s\n", cli_count(table.names, text));
    print_protocols(count, out);
    if (result->names_matched != 0) {
        fputs("  by action\n", out);
        print_actions(result, details, out);
        fputs("  by line\n", out);
        print_rules(result, details, out);
    }
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        if (count->missed[m] != 0)
            fprintf(out, "  no name: %s, %s packets\n",
                    sl_packet_names_miss_text((enum sl_packet_names_miss)m),
                    cli_count(count->missed[m], text));
    if (count->left != 0)
        fprintf(out, "  left to the CPU by the GPU: %s packets\n", cli_count(count->left, text));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void set_action(const struct sl_names *names, const struct sl_names_answer *answer,
                       json_t *object)
{
    json_t *values = json_array();
    const char *value;
    size_t len;

    json_object_set_new(object, "action", json_string(sl_names_action_name(answer->action)));
    for (uint32_t i = 0; (value = sl_names_value(names, answer, i, &len)) != NULL; i++)
        json_array_append_new(values, cli_json_text(value, len));
    if (json_array_size(values) != 0)
        json_object_set(object, answer->action == SL_NAMES_FORWARD ? "next_hops" : "values",
                        values);
    json_decref(values);
}

static json_t *json_actions(const struct sl_run_result *result)
{
    json_t *array = json_array();
    size_t n;
    struct row *rows = group(result, compare_actions, &n);

    for (size_t i = 0; i < n; i++) {
        json_t *entry = json_pack("{s:o}", "count", cli_json_uint(rows[i].n));

        set_action(result->names, &rows[i].answer, entry);
        json_array_append_new(array, entry);
    }
    free(rows);
    return array;
}

static json_t *json_lists(const struct sl_run_result *result)
{
    json_t *array = json_array();
    size_t n;
    struct row *rows = group(result, compare_lists, &n);

    for (size_t i = 0; i < n; i++) {
        const char *format, *list = sl_names_list(result->names, rows[i].answer.list, &format);

        json_array_append_new(array, json_pack("{s:o, s:o, s:s}", "count", cli_json_uint(rows[i].n),
                                               "list", cli_json_text(list, strlen(list)), "format",
                                               format));
    }
    free(rows);
    return array;
}

static json_t *json_rules(const struct sl_run_result *result, bool details)
{
    json_t *array = json_array();
    size_t n;
    struct row *rows = group(result, compare_rules, &n);

    for (size_t i = 0; i < n && (i < SHOWN || details); i++) {
        const char *prefix = rows[i].rule->prefix;
        const char *list = sl_names_list(result->names, rows[i].answer.list, NULL);
        json_t *entry =
            json_pack("{s:o, s:o, s:o, s:I}", "count", cli_json_uint(rows[i].n), "prefix",
                      cli_json_text(prefix, strlen(prefix)), "list",
                      cli_json_text(list, strlen(list)), "line", (json_int_t)rows[i].answer.line);

        set_action(result->names, &rows[i].answer, entry);
        json_array_append_new(array, entry);
    }
    free(rows);
    return array;
}

json_t *run_names_json(const struct sl_run_result *result, bool details)
{
    json_t *protocols = json_object(), *missed = json_object();
    const struct sl_packet_names_watch_count *count = &result->watched;
    struct sl_names_count table;

    sl_names_count(result->names, &table);
    for (int p = 0; p < SL_N_PACKET_NAMES_PROTOCOLS; p++)
        if (count->names[p] != 0)
            json_object_set_new(protocols,
                                sl_packet_names_protocol_name((enum sl_packet_names_protocol)p),
                                json_pack("{s:o, s:o}", "names", cli_json_uint(count->names[p]),
                                          "matched", cli_json_uint(count->matched[p])));
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        if (count->missed[m] != 0)
            json_object_set_new(missed, sl_packet_names_miss_name((enum sl_packet_names_miss)m),
                                cli_json_uint(count->missed[m]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "table",
                     cli_json_uint(table.names), "packets", cli_json_uint(count->packets),
                     "matched", cli_json_uint(result->names_matched), "protocols", protocols,
                     "missed", missed, "left_to_cpu", cli_json_uint(count->left), "by_action",
                     json_actions(result), "by_list", json_lists(result), "by_line",
                     json_rules(result, details));
}
