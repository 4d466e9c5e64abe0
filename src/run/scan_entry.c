/* SPDX-License-Identifier: MIT */
/* The findings in a file, and its report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scan_job.h"

void scan_entry_fail(struct scan_entry *entry, const char *reason)
{
    snprintf(entry->error, sizeof entry->error, "%s", reason);
}

static bool was_scanned(const struct scan_entry *entry)
{
    return entry->error[0] == '\0' && entry->verdict < SL_SCAN_EXCLUDED;
}

/* By clamscan's name. NULL: it reached none. */
static const char *limit_of(const struct scan_entry *entry)
{
    if (entry->error[0] != '\0')
        return NULL;
    if (entry->limit[0] != '\0')
        return entry->limit;
    if (entry->verdict == SL_SCAN_TOO_LARGE)
        return "Heuristics.Limits.Exceeded.MaxFileSize";
    if (!was_scanned(entry))
        return NULL;
    if (entry->result.timed_out)
        return "Heuristics.Limits.Exceeded.MaxScanTime";
    return entry->result.scanned_len < entry->result.len ? "Heuristics.Limits.Exceeded.MaxScanSize"
                                                         : NULL;
}

static enum sl_scan_verdict verdict_of(const struct scan_entry *entry)
{
    if (entry->error[0] != '\0')
        return SL_SCAN_FAILED;
    if (entry->n_names > 0)
        return SL_SCAN_FOUND;
    if (entry->verdict >= SL_SCAN_EXCLUDED)
        return entry->verdict;
    if (entry->result.suspect)
        return SL_SCAN_SUSPECT;
    return limit_of(entry) != NULL || entry->not_opened[0] != '\0' ? SL_SCAN_INCOMPLETE
                                                                   : SL_SCAN_CLEAN;
}

bool scan_entry_is_clean(const struct scan_entry *entry)
{
    return verdict_of(entry) == SL_SCAN_CLEAN && !entry->result.allowed;
}

static void count_entry(struct sl_scan *scan, const struct scan_entry *entry)
{
    struct sl_scan_counts *counts = &scan->counts;

    pthread_mutex_lock(&scan->lock);
    counts->failed += entry->error[0] != '\0';
    counts->limited += limit_of(entry) != NULL;
    if (entry->error[0] == '\0')
        counts->found += entry->n_names > 0;
    if (was_scanned(entry)) {
        counts->files++;
        counts->not_opened += entry->not_opened[0] != '\0';
        counts->suspect += entry->result.suspect && entry->n_names == 0;
        counts->repeated += entry->repeated;
        counts->bytes += entry->result.len;
        counts->scanned_bytes += entry->result.scanned_len;
    }
    pthread_mutex_unlock(&scan->lock);
}

void scan_entry_report(struct sl_scan *scan, const struct scan_entry *entry)
{
    const struct sl_scan_file file = {
        .path = entry->path,
        .verdict = verdict_of(entry),
        .error = entry->error[0] != '\0' ? entry->error : NULL,
        .names = (const char *const *)entry->names,
        .inside = (const char *const *)entry->inside,
        .n_names = entry->n_names,
        .len = entry->result.len,
        .scanned_len = entry->result.scanned_len,
        .suspect = entry->result.suspect,
        .allowed = entry->result.allowed,
        .not_opened = entry->not_opened[0] != '\0' ? entry->not_opened : NULL,
        .limit = limit_of(entry),
    };

    count_entry(scan, entry);
    if (scan->config.file != NULL)
        scan->config.file(scan->config.user, &file);
}

void scan_entry_drop_names(struct scan_entry *entry)
{
    for (size_t i = 0; i < entry->n_names; i++) {
        free(entry->names[i]);
        free(entry->inside[i]);
    }
    entry->n_names = 0;
}

void scan_entry_free(struct scan_entry *entry)
{
    scan_entry_drop_names(entry);
    while (entry->parts != NULL) {
        struct scan_part *const part = entry->parts;

        entry->parts = part->next;
        free(part);
    }
    free(entry->inside);
    if (entry->fd >= 0) /* the scan ended before */
        (void)close(entry->fd);
    free(entry->names);
    free(entry->path);
    memset(entry, 0, sizeof *entry);
    entry->fd = -1;
}

struct scan_part *scan_entry_part(struct scan_entry *entry, bool is_file, const char *inside)
{
    const size_t len = strlen(inside);
    struct scan_part *part = malloc(sizeof *part + len + 1);

    if (part == NULL) {
        scan_entry_fail(entry, "out of memory");
        return NULL;
    }
    part->entry = entry;
    part->is_file = is_file;
    part->next = entry->parts;
    memcpy(part->inside, inside, len + 1);
    entry->parts = part;
    return part;
}

/* Makes room for one more name. */
static bool grow(struct scan_entry *entry)
{
    const size_t size = (entry->n_names + 1) * sizeof(char *);
    char **names = realloc(entry->names, size);

    if (names != NULL)
        entry->names = names;
    char **inside = names != NULL ? realloc(entry->inside, size) : NULL;
    if (inside != NULL)
        entry->inside = inside;
    return inside != NULL;
}

void scan_entry_add(struct scan_entry *entry, const char *name, const char *suffix,
                    const char *inside)
{
    char *text = NULL, *place;

    if (asprintf(&text, "%s%s", name, suffix) < 0)
        text = NULL;
    for (size_t i = 0; text != NULL && i < entry->n_names; i++)
        if (strcmp(entry->names[i], text) == 0) {
            free(text);
            return;
        }
    place = strdup(inside);
    if (place == NULL || text == NULL || !grow(entry)) {
        free(text);
        free(place);
        scan_entry_fail(entry, "out of memory");
        return;
    }
    entry->inside[entry->n_names] = place;
    entry->names[entry->n_names++] = text;
}

bool scan_entry_wants(const struct scan_job *job, const struct scan_entry *entry)
{
    if (job->config.all_matches)
        return true;
    return job->scan->config.alerts_first ? entry->alert[0] == '\0' : entry->n_names == 0;
}

void scan_entry_add_limit(const struct sl_scan *scan, struct scan_entry *entry)
{
    const char *limit = scan->config.alert_exceeds ? limit_of(entry) : NULL;

    if (limit != NULL && (entry->n_names == 0 || scan->config.all_matches))
        scan_entry_add(entry, limit, "", "");
}
