/* SPDX-License-Identifier: MIT */
/* The report on the tables, as text and as JSON: lines that were understood, and others. */
#include <jansson.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_text.h"
#include "lookup.h"

void lookup_report_text(const struct lookup_report *report, FILE *out)
{
    struct sl_names_count count;
    const char *list, *format;
    char text[32];

    sl_names_count(report->names, &count);
    for (uint32_t i = 0; (list = sl_names_list(report->names, i, &format)) != NULL; i++) {
        char safe[512];
        fprintf(out, "%12s %s\n", format, cli_printable(list, safe, sizeof safe));
    }
    fprintf(out, "%12s lines\n", cli_count(count.lines, text));
    fprintf(out, "%12s understood\n", cli_count(count.rules, text));
    fprintf(out, "%12s ignored: they are wrong\n", cli_count(count.ignored, text));
    fprintf(out, "%12s skipped: they are not supported\n", cli_count(count.skipped, text));
    fprintf(out, "%12s repeated: an earlier line made the same rule\n",
            cli_count(count.repeated, text));
    fprintf(out, "%12s names, plane %s\n", cli_count(count.names, text), count.plane);
    fprintf(out, "%12s of index that look-ups read, without lists and values\n",
            cli_bytes((double)count.table_len, text));
    fprintf(out, "%12.3f s to read, %.3f s to build\n", (double)count.load_ns / 1e9,
            (double)count.build_ns / 1e9);
    if (report->updates) {
        fprintf(out, "%12s added\n", cli_count(report->updated.added, text));
        fprintf(out, "%12s removed\n", cli_count(report->updated.removed, text));
        fprintf(out, "%12s not there to be removed\n", cli_count(report->updated.absent, text));
    }
    if (report->saved != NULL) {
        char safe[512];
        fprintf(out, "       saved %s\n", cli_printable(report->saved, safe, sizeof safe));
    }
}

void lookup_report_json(const struct lookup_report *report, FILE *out)
{
    json_t *lists = json_array(), *ignored = json_object(), *skipped = json_object();
    struct sl_names_count count;
    struct sl_names_reason reason;
    const char *list, *format;

    sl_names_count(report->names, &count);
    for (uint32_t i = 0; (list = sl_names_list(report->names, i, &format)) != NULL; i++)
        json_array_append_new(
            lists,
            json_pack("{s:o, s:s}", "file", cli_json_text(list, strlen(list)), "format", format));
    for (size_t i = 0; sl_names_ignore_reason(report->names, i, &reason); i++)
        json_object_set_new_nocheck(reason.skipped ? skipped : ignored, reason.text,
                                    json_integer((json_int_t)reason.n_lines));
    json_t *root =
        json_pack("{s:o, s:I, s:I, s:I, s:o, s:I, s:o, s:I, s:I, s:s, s:I, s:f, s:f}", "lists",
                  lists, "lines", (json_int_t)count.lines, "understood", (json_int_t)count.rules,
                  "ignored", (json_int_t)count.ignored, "ignored_by_reason", ignored, "skipped",
                  (json_int_t)count.skipped, "skipped_by_reason", skipped, "repeated",
                  (json_int_t)count.repeated, "names", (json_int_t)count.names, "plane",
                  count.plane, "bytes", (json_int_t)count.table_len, "load_seconds",
                  (double)count.load_ns / 1e9, "build_seconds", (double)count.build_ns / 1e9);
    if (report->updates)
        json_object_set_new(root, "updated",
                            json_pack("{s:I, s:I, s:I, s:I, s:I}", "added",
                                      (json_int_t)report->updated.added, "removed",
                                      (json_int_t)report->updated.removed, "absent",
                                      (json_int_t)report->updated.absent, "skipped",
                                      (json_int_t)report->updated.skipped, "ignored",
                                      (json_int_t)report->updated.ignored));
    if (report->saved != NULL)
        json_object_set_new(root, "saved", cli_json_text(report->saved, strlen(report->saved)));
    json_dumpf(root, out, 0);
    fputc('\n', out);
    json_decref(root);
}
