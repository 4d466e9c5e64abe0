/* SPDX-License-Identifier: MIT */
#include "virus_counts.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The name is the database's string: one for each signature. */
static int compare_names(const void *a, const void *b)
{
    const struct sl_run_virus *x = a, *y = b;

    return x->name < y->name ? -1 : x->name > y->name;
}

static struct sl_run_virus *find(struct virus_counts *counts, const struct sl_clamav_match *match)
{
    const struct sl_run_virus wanted = {.name = match->name};
    struct sl_run_virus **known = tfind(&wanted, &counts->names, compare_names);

    if (known != NULL)
        return *known;
    struct sl_run_virus *name = calloc(1, sizeof *name);
    if (name == NULL)
        return NULL;
    name->name = match->name;
    name->official = match->official;
    name->sid = payload_scan_sid(match);
    if (tsearch(name, &counts->names, compare_names) == NULL) {
        free(name);
        return NULL;
    }
    counts->n_names++;
    return name;
}

static bool add(struct virus_counts *counts, const struct sl_clamav_match *match)
{
    struct sl_run_virus *name = find(counts, match);

    if (name == NULL)
        return false;
    name->n++;
    counts->n_found++;
    return true;
}

bool virus_counts_add_file(struct virus_counts *counts, const struct file_scan *scan,
                           const struct sl_app_message *message)
{
    const uint32_t n = file_scan_count(message);

    for (uint32_t i = 0; i < n; i++)
        if (!add(counts, file_scan_match(scan, message, i)))
            return false;
    counts->n_files += n != 0;
    return true;
}

bool virus_counts_add(struct virus_counts *counts, const struct payload_scan *scan)
{
    for (size_t i = 0; i < payload_scan_count(scan); i++) {
        if (!add(counts, payload_scan_match(scan, i)))
            return false;
        counts->n_payloads +=
            i == 0 || payload_scan_item(scan, i - 1) != payload_scan_item(scan, i);
    }
    return true;
}

/* ---- ranking --------------------------------------------------------------------------------- */

struct ranking {
    struct sl_run_virus *to;
    size_t n;
};

static void add_ranked(const void *node, VISIT visit, void *user)
{
    struct ranking *ranking = user;

    if (visit == postorder || visit == leaf)
        ranking->to[ranking->n++] = **(const struct sl_run_virus *const *)node;
}

static int compare_counts(const void *a, const void *b)
{
    const struct sl_run_virus *x = a, *y = b;

    return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->name, y->name);
}

bool virus_counts_rank(struct virus_counts *counts)
{
    struct ranking ranking = {calloc(counts->n_names + 1, sizeof *ranking.to), 0};

    if (ranking.to == NULL)
        return false;
    twalk_r(counts->names, add_ranked, &ranking);
    qsort(ranking.to, ranking.n, sizeof *ranking.to, compare_counts);
    free(counts->ranked);
    counts->ranked = ranking.to;
    return true;
}

void virus_counts_clear(struct virus_counts *counts)
{
    tdestroy(counts->names, free);
    free(counts->ranked);
}
