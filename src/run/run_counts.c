/* SPDX-License-Identifier: MIT */
#include "run_counts.h"

#include <stdlib.h>

#include "base/diag.h"

enum sl_status run_counts_open(struct run_counts *counts, const struct run_policy *policy,
                               struct sl_diag *diag)
{
    struct sl_rules_count count = {0};

    if (policy->rules != NULL)
        sl_rules_count(policy->rules, &count);
    counts->by_signature = calloc(count.loaded + 1, sizeof *counts->by_signature);
    if (counts->by_signature == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %zu signatures", count.loaded);
    return name_counts_open(&counts->names, policy->names, diag);
}

void run_counts_clear(struct run_counts *counts)
{
    name_counts_clear(&counts->names);
    virus_counts_clear(&counts->viruses);
    free(counts->by_signature);
}

static void publish(struct run_counts *counts)
{
    atomic_store_explicit(&counts->seen_alerts, counts->n_alerts, memory_order_relaxed);
    atomic_store_explicit(&counts->seen_stopped, counts->n_stopped, memory_order_relaxed);
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        atomic_store_explicit(&counts->seen_by_check[c], counts->by_check[c], memory_order_relaxed);
}

/* The viruses in files. False: no memory. */
static bool add_files(struct run_counts *counts, const struct batch_events *events)
{
    const struct file_scan *const scan = events->digest->file_scan;
    const struct app_batch *const apps = events->apps;
    bool done = true;

    for (uint32_t i = 0; i < apps->n && done; i++)
        done = virus_counts_add_file(&counts->viruses, scan, &apps->message[i]);
    for (uint32_t i = 0; i < apps->n_late && done; i++)
        done = virus_counts_add_file(&counts->viruses, scan, &apps->late[i].message);
    return done;
}

enum sl_status run_counts_add(struct run_counts *counts, const struct batch_events *events,
                              struct sl_diag *diag)
{
    const struct run_digest *digest = events->digest;

    for (size_t i = 0; i < events->header->n; i++)
        counts->by_check[events->header->hit[i].id]++;
    for (size_t i = 0; i < digest->n_alerts; i++)
        counts->by_signature[digest->alerts[i].signature]++;
    counts->n_anomalies += events->header->n;
    counts->n_alerts += digest->n_alerts;
    if (digest->evaluator != NULL) {
        counts->saw_home |= sl_evaluator_saw_home(digest->evaluator);
        counts->n_stopped += sl_evaluator_stopped(digest->evaluator);
    }
    publish(counts);
    if (!virus_counts_add(&counts->viruses, digest->scan) || !add_files(counts, events))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for names of viruses");
    if (digest->joined != NULL && digest->joined->hits.n != 0) {
        const enum sl_status status =
            name_counts_add(&counts->names, digest->joined->batch, &digest->joined->hits, diag);

        if (status != SL_OK)
            return status;
    }
    return name_counts_add(&counts->names, events->batch, events->names, diag);
}

enum sl_status run_counts_end(struct run_counts *counts, struct sl_diag *diag)
{
    return virus_counts_rank(&counts->viruses) && name_counts_list(&counts->names)
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the results");
}

void run_counts_snapshot(const struct run_counts *counts, struct sl_stats *stats)
{
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        stats->anomalies[c] = atomic_load_explicit(&counts->seen_by_check[c], memory_order_relaxed);
    stats->alerts = atomic_load_explicit(&counts->seen_alerts, memory_order_relaxed);
    stats->rules_stopped = atomic_load_explicit(&counts->seen_stopped, memory_order_relaxed);
}
