/* SPDX-License-Identifier: MIT */
#include "payload_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diag.h"

struct found {
    uint32_t item, nth;
    struct sl_clamav_match match;
};

struct payload_scan {
    struct sl_clamav_scanner *scanner;
    struct found *found;
    size_t n, max;
    bool no_memory;
    struct sl_hits alone, made; /* in payloads and in made items, where `joins` is */
    struct clam_open open;
    struct virus_signature lent;
};

static const char *const nothing[] = {NULL};

/* As clamscan prints it. */
static void name_text(const struct sl_clamav_match *match, char text[VIRUS_NAME_LEN])
{
    snprintf(text, VIRUS_NAME_LEN, "%s%s", match->name, match->official ? "" : ".UNOFFICIAL");
}

static uint32_t number_of(const char *text)
{
    return (uint32_t)XXH3_64bits(text, strlen(text)) >> 1;
}

uint32_t payload_scan_sid(const struct sl_clamav_match *match)
{
    char text[VIRUS_NAME_LEN];

    name_text(match, text);
    return number_of(text);
}

const struct sl_signature *virus_signature_of(struct virus_signature *to,
                                              const struct sl_clamav_match *match)
{
    name_text(match, to->text);
    to->signature = (struct sl_signature){.action = "alert",
                                          .msg = to->text,
                                          .classtype = "virus",
                                          .category = "virus",
                                          .gid = VIRUS_GID,
                                          .sid = number_of(to->text),
                                          .priority = 1,
                                          .references = nothing,
                                          .metadata = nothing,
                                          .file = ""};
    return &to->signature;
}

void payload_scan_add(struct payload_scan *scan, uint32_t item, const struct sl_clamav_match *match)
{
    if (scan->n == scan->max) {
        const size_t max = scan->max * 2 + 64;
        struct found *more = reallocarray(scan->found, max, sizeof *more);

        scan->no_memory |= more == NULL;
        if (more == NULL)
            return;
        scan->found = more;
        scan->max = max;
    }
    scan->found[scan->n] = (struct found){item, (uint32_t)scan->n, *match};
    scan->n++;
}

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    payload_scan_add(user, (uint32_t)(uintptr_t)token, match);
}

enum sl_status payload_scan_create(struct payload_scan **scan, const struct sl_clamav_db *database,
                                   struct sl_diag *diag)
{
    struct sl_clamav_scan_config config;

    *scan = NULL;
    if (database == NULL)
        return SL_OK;
    struct payload_scan *made = calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what is found in payloads");
    sl_clamav_scan_config_init(&config);
    config.all_matches = true;
    config.batch_len = 1; /* the least: batches are the pipeline's */
    config.match = on_match;
    config.user = made;
    made->open.has_before = true;
    const enum sl_status status = sl_clamav_open(&made->scanner, database, &config, diag);
    if (status == SL_OK)
        *scan = made;
    else
        free(made);
    return status;
}

void payload_scan_free(struct payload_scan *scan)
{
    if (scan == NULL)
        return;
    sl_clamav_close(scan->scanner);
    clam_open_free(&scan->open);
    free(scan->alone.hit);
    free(scan->made.hit);
    free(scan->found);
    free(scan);
}

/* Hits in made items have buffers in their id. */
static bool part_hits(struct payload_scan *scan, const struct sl_hits *hits)
{
    bool done = true;

    scan->alone.n = scan->made.n = 0;
    for (size_t i = 0; i < hits->n && done; i++)
        done =
            clam_hits_add(hits->hit[i].id >> 32 != 0 ? &scan->made : &scan->alone, &hits->hit[i]);
    return done;
}

static enum sl_status scan_hits(struct payload_scan *scan, const struct sl_batch *batch,
                                const struct sl_hits *hits, bool joins)
{
    scan->n = 0;
    if (!joins)
        return sl_clamav_scan_hits(scan->scanner, batch, hits);
    if (!part_hits(scan, hits))
        return SL_ENOMEM;
    return clam_scan_payloads(scan->scanner, batch, &scan->alone, &scan->open);
}

static enum sl_status check(const struct payload_scan *scan, enum sl_status status,
                            struct sl_diag *diag)
{
    if (status == SL_OK && scan->no_memory)
        status = SL_ENOMEM;
    return status == SL_OK
               ? SL_OK
               : diag_set(diag, status, NULL, 0, "scanning payloads: %s", sl_status_text(status));
}

enum sl_status payload_scan_run(struct payload_scan *scan, const struct sl_batch *batch,
                                const struct sl_hits *hits, bool joins, struct sl_diag *diag)
{
    return scan != NULL ? check(scan, scan_hits(scan, batch, hits, joins), diag) : SL_OK;
}

const struct sl_hits *payload_scan_made(const struct payload_scan *scan)
{
    return &scan->made;
}

const struct sl_hits *payload_scan_alone(const struct payload_scan *scan)
{
    return &scan->alone;
}

const struct sl_hits *payload_scan_open(const struct payload_scan *scan)
{
    return &scan->open.hits;
}

size_t payload_scan_first(const struct payload_scan *scan, uint32_t item)
{
    size_t from = 0, to = scan->n;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (scan->found[middle].item < item)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

enum sl_status payload_scan_sort(struct payload_scan *scan, struct sl_diag *diag)
{
    if (scan->n > 1)
        qsort(scan->found, scan->n, sizeof *scan->found, compare_found);
    return check(scan, SL_OK, diag);
}

size_t payload_scan_count(const struct payload_scan *scan)
{
    return scan != NULL ? scan->n : 0;
}

uint32_t payload_scan_item(const struct payload_scan *scan, size_t i)
{
    return scan->found[i].item;
}

const struct sl_clamav_match *payload_scan_match(const struct payload_scan *scan, size_t i)
{
    return &scan->found[i].match;
}

const struct sl_signature *payload_scan_signature(struct payload_scan *scan, size_t i)
{
    return virus_signature_of(&scan->lent, &scan->found[i].match);
}
