/* SPDX-License-Identifier: MIT */
#include "file_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { SCAN_BATCH_LEN = 1 << 20 }; /* bytes: a scanner belongs to a batch in flight */

struct file_scan {
    const struct sl_clamav_db *database;
    struct sl_clamav_scanner *scanner; /* NULL: no file came so far */
    struct sl_clamav_match *found;
    uint32_t n, max;
    bool no_memory;
};

enum sl_status file_scan_create(struct file_scan **scan, const struct sl_clamav_db *database,
                                struct sl_diag *diag)
{
    *scan = NULL;
    if (database == NULL)
        return SL_OK;
    *scan = calloc(1, sizeof **scan);
    if (*scan == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what is found in files");
    (*scan)->database = database;
    return SL_OK;
}

void file_scan_free(struct file_scan *scan)
{
    if (scan == NULL)
        return;
    sl_clamav_close(scan->scanner);
    free(scan->found);
    free(scan);
}

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct file_scan *scan = user;
    struct app_contents *contents = token;

    if (scan->n == scan->max) {
        const uint32_t max = scan->max * 2 + 16;
        struct sl_clamav_match *more = reallocarray(scan->found, max, sizeof *more);

        scan->no_memory |= more == NULL;
        if (more == NULL)
            return;
        scan->found = more;
        scan->max = max;
    }
    scan->found[scan->n++] = *match;
    contents->n_found++;
}

static enum sl_status open_scanner(struct file_scan *scan, struct sl_diag *diag)
{
    struct sl_clamav_scan_config config;

    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.batch_len = SCAN_BATCH_LEN;
    config.match = on_match;
    config.user = scan;
    return sl_clamav_open(&scan->scanner, scan->database, &config, diag);
}

static int compare_matches(const void *a, const void *b)
{
    const struct sl_clamav_match *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* One file at a time, so that its matches depend on no other. */
static enum sl_status scan_contents(struct file_scan *scan, struct app_contents *contents)
{
    enum sl_status status;

    contents->first_found = scan->n;
    if (contents->spilled != NULL)
        status = sl_clamav_scan_fd(scan->scanner, fileno(contents->spilled), contents);
    else
        status = sl_clamav_scan_buffer(scan->scanner, contents->bytes, contents->len, contents);
    if (status == SL_OK)
        status = sl_clamav_flush(scan->scanner);
    if (contents->n_found > 1)
        qsort(scan->found + contents->first_found, contents->n_found, sizeof *scan->found,
              compare_matches);
    return status == SL_OK && scan->no_memory ? SL_ENOMEM : status;
}

static enum sl_status scan_message(struct file_scan *scan, const struct sl_app_message *message,
                                   struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    if (message->step != SL_APP_FILE || message->file->contents == NULL)
        return SL_OK;
    if (scan->scanner == NULL)
        status = open_scanner(scan, diag);
    if (status != SL_OK)
        return status;
    status = scan_contents(scan, message->file->contents);
    return status == SL_OK
               ? SL_OK
               : diag_set(diag, status, NULL, 0, "scanning files: %s", sl_status_text(status));
}

enum sl_status file_scan_run(struct file_scan *scan, const struct app_batch *apps,
                             struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    if (scan == NULL)
        return SL_OK;
    scan->n = 0;
    for (uint32_t i = 0; i < apps->n_late && status == SL_OK; i++)
        status = scan_message(scan, &apps->late[i].message, diag);
    for (uint32_t i = 0; i < apps->n && status == SL_OK; i++)
        status = scan_message(scan, &apps->message[i], diag);
    return status;
}

uint32_t file_scan_count(const struct sl_app_message *message)
{
    return message->step == SL_APP_FILE && message->file->contents != NULL
               ? message->file->contents->n_found
               : 0;
}

const struct sl_clamav_match *file_scan_match(const struct file_scan *scan,
                                              const struct sl_app_message *message, uint32_t i)
{
    return &scan->found[message->file->contents->first_found + i];
}
