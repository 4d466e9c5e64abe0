/* SPDX-License-Identifier: MIT */
#include "scan_report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_text.h"
#include "sluice/version.h"

#define PROGRESS_NS UINT64_C(250000000)

/* ---- files ----------------------------------------------------------------------------------- */

static void hide_progress(struct scan_report *report)
{
    if (report->shown)
        fputs("\r\033[K", stderr);
    report->shown = false;
}

/* The log gets what --quiet keeps from the user, as clamscan's does. */
static void put_line(struct scan_report *report, const char *path, const char *text)
{
    char safe[4 * PATH_MAX];

    hide_progress(report);
    cli_printable(path, safe, sizeof safe);
    if (!report->quiet)
        printf("%s: %s\n", safe, text);
    if (report->log != NULL)
        fprintf(report->log, "%s: %s\n", safe, text);
}

/* NULL: it was scanned, or a limit kept it from that. */
static const char *skipped_text(enum sl_scan_verdict verdict)
{
    switch (verdict) {
    case SL_SCAN_EXCLUDED:
        return "Excluded";
    case SL_SCAN_EMPTY:
        return "Empty file";
    case SL_SCAN_LINK:
        return "Symbolic link";
    default:
        return NULL;
    }
}

static const char *result_text(enum sl_scan_verdict verdict)
{
    switch (verdict) {
    case SL_SCAN_CLEAN:
        return "ok";
    case SL_SCAN_FOUND:
        return "found";
    case SL_SCAN_SUSPECT:
        return "suspect";
    case SL_SCAN_INCOMPLETE:
        return "incomplete";
    case SL_SCAN_FAILED:
        return "error";
    default:
        return "skipped";
    }
}

static void add_doubt(char text[256], const char *name, const char *what)
{
    const size_t len = strlen(text);

    /* The parenthesis before moves behind. */
    snprintf(text + (len > 0 ? len - 1 : 0), 256 - len, "%s%s%s)", len > 0 ? "; " : " (", name,
             what);
}

/* The reasons, in parentheses, why a file without a match is not plain OK. "": none. */
static const char *doubts_text(const struct sl_scan_file *file, char text[256])
{
    text[0] = '\0';
    if (file->verdict == SL_SCAN_SUSPECT)
        add_doubt(text, "", "not all candidates were verified");
    if (file->limit != NULL)
        add_doubt(text, file->limit,
                  file->verdict == SL_SCAN_TOO_LARGE ? ": not scanned"
                                                     : ": not scanned to its end");
    if (file->not_opened != NULL)
        add_doubt(text, file->not_opened, "");
    return text;
}

/* Writes a line and frees the object. */
static void put_object(struct scan_report *report, json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    if (report->log != NULL) {
        json_dumpf(object, report->log, JSON_COMPACT);
        fputc('\n', report->log);
    }
    json_decref(object);
}

static json_t *texts(const char *const *text, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, cli_json_text(text[i], strlen(text[i])));
    return array;
}

/* `disposed`: NULL, nothing was done with it. */
static void put_json(struct scan_report *report, const struct sl_scan_file *file,
                     const char *disposed)
{
    const char *reason = file->error != NULL ? file->error : skipped_text(file->verdict);
    json_t *object = json_object();

    hide_progress(report);
    json_object_set_new(object, "path", cli_json_text(file->path, strlen(file->path)));
    json_object_set_new(object, "result", json_string(result_text(file->verdict)));
    if (reason != NULL)
        json_object_set_new(object, "reason", cli_json_text(reason, strlen(reason)));
    if (file->n_names > 0) {
        json_object_set_new(object, "names", texts(file->names, file->n_names));
        json_object_set_new(object, "inside", texts(file->inside, file->n_names));
    }
    if (file->suspect)
        json_object_set_new(object, "unverified", json_true());
    if (file->allowed)
        json_object_set_new(object, "allowed", json_true());
    if (file->not_opened != NULL)
        json_object_set_new(object, "not_opened", json_string(file->not_opened));
    if (file->limit != NULL)
        json_object_set_new(object, "limit", json_string(file->limit));
    if (reason == NULL)
        json_object_set_new(object, "bytes", json_integer((json_int_t)file->len));
    if (disposed != NULL)
        json_object_set_new(object, "disposed", cli_json_text(disposed, strlen(disposed)));
    put_object(report, object);
}

/* The line of a file without a match. Returns whether it is more than plain OK. */
static bool clean_text(const struct sl_scan_file *file, char line[300])
{
    const char *skipped = skipped_text(file->verdict);
    const char *word = "OK";
    char doubts[256];

    if (skipped != NULL || file->verdict == SL_SCAN_FAILED) {
        snprintf(line, 300, "%s", skipped != NULL ? skipped : file->error);
        return true;
    }
    doubts_text(file, doubts);
    if (doubts[0] != '\0')
        word = file->verdict == SL_SCAN_SUSPECT ? "SUSPECT" : "INCOMPLETE";
    snprintf(line, 300, "%s%s", word, doubts);
    return doubts[0] != '\0';
}

/* Whether the options want to see a file: infected and suspect ones, and as they say the rest. */
static bool is_wanted(const struct scan_report *report, const struct sl_scan_file *file)
{
    char line[300];

    if (file->verdict == SL_SCAN_FOUND || file->verdict == SL_SCAN_SUSPECT)
        return true;
    return !report->infected_only && (!report->suppress_ok || clean_text(file, line));
}

static void put_text(struct scan_report *report, const struct sl_scan_file *file,
                     const char *disposed)
{
    char line[1200];

    for (size_t i = 0; i < file->n_names; i++) {
        snprintf(line, sizeof line, "%s FOUND", file->names[i]);
        put_line(report, file->path, line);
    }
    if (file->verdict != SL_SCAN_FOUND) {
        clean_text(file, line);
        put_line(report, file->path, line);
    }
    if (disposed != NULL)
        put_line(report, file->path, disposed);
}

/* ---- progress -------------------------------------------------------------------------------- */

/* "1:02:03", "4:05". */
static char *clock_text(uint64_t ns, char out[32])
{
    const uint64_t s = ns / 1000000000;

    if (s >= 3600)
        snprintf(out, 32, "%" PRIu64 ":%02u:%02u", s / 3600, (unsigned)(s / 60 % 60),
                 (unsigned)(s % 60));
    else
        snprintf(out, 32, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
    return out;
}

static void show_progress(struct scan_report *report)
{
    struct sl_scan_counts counts;
    char a[32], b[32], c[32];

    if (report->scan == NULL)
        return;
    sl_scan_snapshot(report->scan, &counts);
    if (counts.elapsed_ns - report->shown_ns < PROGRESS_NS)
        return;
    fprintf(stderr, "\r%s files, %s, %s/s", cli_count(counts.files, a),
            cli_bytes((double)counts.scanned_bytes, b),
            cli_bytes((double)counts.scanned_bytes / ((double)counts.elapsed_ns / 1e9), c));
    if (counts.left_ns != UINT64_MAX)
        fprintf(stderr, " of %s files, %s: %s left", cli_count(counts.all_files, a),
                cli_bytes((double)counts.all_bytes, b), clock_text(counts.left_ns, c));
    fputs(" \033[K", stderr);
    report->shown = true;
    report->shown_ns = counts.elapsed_ns;
}

bool scan_report_wants_progress(const struct scan_report *report)
{
    return isatty(STDERR_FILENO) && !report->quiet &&
           (!isatty(STDOUT_FILENO) || report->infected_only);
}

/* ---- begin, files, end ----------------------------------------------------------------------- */

bool scan_report_begin(struct scan_report *report)
{
    if (report->log_path == NULL)
        return true;
    report->log = fopen(report->log_path, "ae");
    if (report->log == NULL)
        cli_error("%s: cannot be opened: %s", report->log_path, strerror(errno));
    return report->log != NULL;
}

void scan_report_file(void *user, const struct sl_scan_file *file)
{
    struct scan_report *report = user;
    char disposed[SCAN_DISPOSED_LEN];
    const bool disposes = report->disposal != SCAN_KEEP && file->verdict == SL_SCAN_FOUND;

    if (disposes && !scan_dispose(report->disposal, report->directory, file->path, disposed)) {
        cli_error("%s: %s", file->path, disposed);
        report->kept = true;
    }
    if (report->bell && file->n_names > 0)
        fputc('\a', stderr);
    if (is_wanted(report, file))
        (report->json ? put_json : put_text)(report, file, disposes ? disposed : NULL);
    show_progress(report);
}

bool scan_report_end(struct scan_report *report, const struct sl_diag *failed)
{
    FILE *log = report->log;

    hide_progress(report);
    if (failed != NULL)
        cli_diag(failed);
    report->log = NULL;
    errno = 0;
    if (log == NULL || (ferror(log) | fclose(log)) == 0)
        return true;
    cli_error("%s: cannot be written%s%s", report->log_path, errno != 0 ? ": " : "",
              errno != 0 ? strerror(errno) : "");
    return false;
}

/* ---- the summary ----------------------------------------------------------------------------- */

static void put_date(FILE *out, const char *title, time_t time)
{
    struct tm broken;
    char text[32];

    strftime(text, sizeof text, "%Y:%m:%d %H:%M:%S", localtime_r(&time, &broken));
    fprintf(out, "%s %s\n", title, text);
}

/* Omissions of a scan, for the help, the summary and its JSON. docs/virus-scan.md has it, too. */
enum left_out { SKIPPED, WRONG, SUSPECT, LIMITED, NOT_OPENED, FAILED, N_LEFT_OUT };

static const struct {
    const char *name, *title, *text; /* text: to explain the title, or "" */
} left_out[N_LEFT_OUT] = {
    [SKIPPED] = {"skipped_signatures", "Skipped signatures", ""},
    [WRONG] = {"wrong_lines", "Wrong lines in databases", ""},
    [SUSPECT] = {"suspect", "Suspect files", " (not all candidates were verified)"},
    [LIMITED] = {"beyond_limits", "Files beyond limits", " (not scanned, or not to their end)"},
    [NOT_OPENED] = {"not_opened", "Files not fully opened", " (archives, mail, documents)"},
    [FAILED] = {"errors", "Total errors", ""},
};

static uint64_t left_out_count(enum left_out kind, const struct sl_clamav_info *info,
                               const struct sl_scan_counts *counts)
{
    const uint64_t n[N_LEFT_OUT] = {
        [SKIPPED] = info->skipped,   [WRONG] = info->bad,       [SUSPECT] = counts->suspect,
        [LIMITED] = counts->limited, [FAILED] = counts->failed, [NOT_OPENED] = counts->not_opened};

    return n[kind];
}

void scan_report_help(FILE *out)
{
    fputs("\nLeft out, and counted in the summary:\n", out);
    for (int k = 0; k < N_LEFT_OUT; k++)
        fprintf(out, "  %s%s\n", left_out[k].title, left_out[k].text);
}

static void put_text_summary(FILE *out, const struct sl_clamav_info *info,
                             const struct sl_scan_counts *counts, double seconds, time_t begin)
{
    const time_t end = time(NULL);

    fprintf(out, "\n----------- SCAN SUMMARY -----------\n");
    fprintf(out, "Known viruses: %zu\n", info->signatures);
    fprintf(out, "Engine version: sluice %s\n", sl_version());
    fprintf(out, "Scanned directories: %" PRIu64 "\n", counts->directories);
    fprintf(out, "Scanned files: %" PRIu64 "\n", counts->files);
    fprintf(out, "Infected files: %" PRIu64 "\n", counts->found);
    for (int k = 0; k < N_LEFT_OUT; k++) {
        const uint64_t n = left_out_count((enum left_out)k, info, counts);

        if (n > 0)
            fprintf(out, "%s: %" PRIu64 "%s\n", left_out[k].title, n, left_out[k].text);
    }
    fprintf(out, "Data scanned: %.2f MB\n", (double)counts->scanned_bytes / 1048576);
    fprintf(out, "Data read: %.2f MB (ratio %.2f:1)\n", (double)counts->bytes / 1048576,
            counts->bytes > 0 ? (double)counts->scanned_bytes / (double)counts->bytes : 0.0);
    fprintf(out, "Time: %.3f sec (%d m %d s)\n", seconds, (int)seconds / 60, (int)seconds % 60);
    put_date(out, "Start Date:", begin);
    put_date(out, "End Date:  ", end);
}

static void put_json_summary(FILE *out, const struct sl_clamav_info *info,
                             const struct sl_scan_counts *counts, double seconds)
{
    json_t *summary = json_object();
    json_t *root = json_pack("{s:o}", "summary", summary);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"signatures", info->signatures}, {"directories", counts->directories},
        {"files", counts->files},         {"infected", counts->found},
        {"bytes", counts->bytes},         {"scanned_bytes", counts->scanned_bytes},
        {"repeated", counts->repeated},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(summary, numbers[i].name, json_integer((json_int_t)numbers[i].value));
    for (int k = 0; k < N_LEFT_OUT; k++)
        json_object_set_new(
            summary, left_out[k].name,
            json_integer((json_int_t)left_out_count((enum left_out)k, info, counts)));
    json_object_set_new(summary, "seconds", json_real(seconds));
    json_dumpf(root, out, JSON_COMPACT);
    fputc('\n', out);
    json_decref(root);
}

void scan_report_summary(const struct scan_report *report, const struct sl_clamav_db *db,
                         const struct sl_scan_counts *counts, double seconds, time_t begin)
{
    struct sl_clamav_info info;
    FILE *const log =
        report->summary && report->log_path != NULL ? fopen(report->log_path, "ae") : NULL;
    FILE *const outs[] = {report->summary && !report->quiet ? stdout : NULL, log};

    sl_clamav_info(db, &info);
    for (size_t i = 0; i < sizeof outs / sizeof *outs; i++)
        if (outs[i] != NULL && report->json)
            put_json_summary(outs[i], &info, counts, seconds);
        else if (outs[i] != NULL)
            put_text_summary(outs[i], &info, counts, seconds, begin);
    if (log != NULL)
        (void)fclose(log);
}

/* ---- databases ------------------------------------------------------------------------------- */

static void list_notes(const struct sl_clamav_set *set,
                       const struct sl_diag *(*at)(const struct sl_clamav_set *, size_t))
{
    const struct sl_diag *diag;

    for (size_t i = 0; (diag = at(set, i)) != NULL; i++) {
        char line[1100], safe[1100];

        sl_diag_format(diag, line, sizeof line);
        fprintf(stderr, "%s\n", cli_printable(line, safe, sizeof safe));
    }
}

void scan_report_notes(const struct sl_clamav_set *set)
{
    list_notes(set, sl_clamav_bad_line);
    list_notes(set, sl_clamav_skipped);
}

void scan_report_left_out(const struct sl_clamav_set *set)
{
    struct sl_clamav_count count;

    sl_clamav_set_count(set, &count);
    if (count.bad + count.skipped > 0)
        fprintf(stderr,
                "sluice: %zu wrong lines and %zu signatures that are not supported are left out "
                "(--debug lists them)\n",
                count.bad, count.skipped);
}

void scan_report_database(const struct sl_clamav_set *set, const struct sl_clamav_db *db,
                          double seconds)
{
    struct sl_clamav_count count;
    struct sl_clamav_info info;
    const char *reason;
    char text[32];
    size_t n;

    sl_clamav_set_count(set, &count);
    sl_clamav_info(db, &info);
    printf("%12s signatures understood", cli_count(count.signatures, text));
    printf(", of which %s are hashes\n", cli_count(count.hashes, text));
    printf("%12s hashes of allowed files\n", cli_count(count.allowed, text));
    printf("%12s wrong\n", cli_count(count.bad, text));
    printf("%12s skipped\n", cli_count(count.skipped, text));
    for (size_t i = 0; sl_clamav_skip_reason(set, i, &reason, &n); i++)
        printf("%14s%10s  %s\n", "", cli_count(n, text), reason);
    if (count.unchecked > 0)
        printf("%12s containers that are not signed\n", cli_count(count.unchecked, text));
    printf("%12s signatures found by anchors", cli_count(info.anchored, text));
    printf(", %s at fixed positions", cli_count(info.fixed, text));
    printf(", %s searched for in each file of their type\n", cli_count(info.searched, text));
    printf("%12s literals for %s\n", cli_count(info.literals, text), info.algorithm);
    printf("%12s compiled in %.3f s\n", cli_bytes((double)info.block_len, text), seconds);
}
