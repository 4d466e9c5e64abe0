/* SPDX-License-Identifier: MIT */
#include "savings_job.h"

#include <stdlib.h>

#include "base/diag.h"
#include "redundancy/frames/frame.h"
#include "redundancy/match/matcher.h"
#include "savings.h"
#include "sluice/dissect.h"

enum sl_status savings_job_create(struct savings_job **made, const struct sl_savings *savings,
                                  struct sl_diag *diag)
{
    const struct sl_redundancy_config *const config = &savings->config.redundancy;
    struct savings_job *const job = calloc(1, sizeof *job);

    if (job == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to count savings");
    job->references =
        malloc(((size_t)config->frame_max / SL_REFERENCE_MIN + 1) * FRAME_REFERENCE_MAX);
    job->parts = malloc(config->max_items * sizeof *job->parts);
    enum sl_status status =
        cached_batch_create(&job->cached, config->max_items, savings->config.rtt_ms > 0, diag);
    if (status == SL_OK)
        status = search_create(&job->search, config, diag);
    if (status == SL_OK && (job->references == NULL || job->parts == NULL))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to count savings");
    if (status == SL_OK)
        *made = job;
    else
        savings_job_free(job);
    return status;
}

void savings_job_free(struct savings_job *job)
{
    if (job == NULL)
        return;
    cached_batch_free(&job->cached);
    search_free(&job->search);
    free(job->references);
    free(job->parts);
    free(job);
}

enum sl_status savings_sample(const struct sl_savings *savings, struct savings_job *job,
                              const struct sl_batch *batch, const struct sl_hits *hits,
                              struct sl_diag *diag)
{
    const struct sl_redundancy_config *const config = &savings->config.redundancy;
    const size_t n = hits->n < hits->cap ? hits->n : hits->cap;
    const enum sl_status status = matcher_check_batch(config, batch, diag);

    job->hits = hits->hit;
    return status == SL_OK
               ? cached_batch_set(&job->cached, batch, hits->hit, n, config->window, diag)
               : status;
}

void savings_take(struct sl_savings *savings, struct savings_job *job, const struct sl_batch *batch,
                  uint32_t part)
{
    shared_cache_take(&savings->cache, &job->cached, batch, part);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* The savings of one packet. */
static struct sl_savings_count count_item(const struct savings_job *job,
                                          const struct sl_batch *batch, uint32_t item,
                                          size_t *cursor)
{
    struct sl_savings_count count = {.packets = 1, .bytes = batch->payload[item].len};
    size_t n;
    const struct sl_match *matches = search_of_item(&job->search, item, cursor, &n);
    const uint8_t *end =
        frame_write_references(job->references, job->search.positions[item], matches,
                               n < SL_REFERENCES_MAX ? n : SL_REFERENCES_MAX);

    for (size_t i = 0; i < n && i < SL_REFERENCES_MAX; i++)
        count.matched_bytes += matches[i].len;
    count.reference_bytes = (uint64_t)(end - job->references);
    return count;
}

/* The packet's flow, protocol and server's port. */
static struct savings_part part_of(const struct sl_batch *batch, uint32_t item)
{
    const bool to_server = (batch->origin[item].flow_flags & SL_FLOW_TO_SERVER) != 0;
    struct savings_part part = {.flow = batch->origin[item].flow};
    struct sl_tuple tuple = {0};

    part.has_tuple = sl_packet_tuple(batch, item, &tuple);
    if (part.has_tuple) {
        part.port = to_server ? tuple.dst_port : tuple.src_port;
        part.protocol = tuple.protocol;
    }
    return part;
}

static bool goes_on(const struct savings_part *last, const struct savings_part *part)
{
    return last->flow == part->flow && last->port == part->port &&
           last->protocol == part->protocol && last->has_tuple == part->has_tuple;
}

static void add_part(struct savings_job *job, const struct savings_part *part)
{
    struct savings_part *const last = job->n_parts > 0 ? &job->parts[job->n_parts - 1] : NULL;

    if (last != NULL && goes_on(last, part))
        savings_sum(&last->count, &part->count);
    else
        job->parts[job->n_parts++] = *part;
}

static void count_batch(struct savings_job *job, const struct sl_batch *batch, uint32_t window)
{
    size_t cursor = 0;

    job->n_parts = 0;
    job->row = (struct sl_savings_row){.samples = job->cached.n};
    job->time_ns = batch->n_items != 0 ? batch->origin[0].time_ns : 0;
    for (uint32_t item = 0; item < batch->n_items; item++) {
        if (batch->payload[item].len == 0)
            continue;
        struct savings_part part = part_of(batch, item);

        part.count = count_item(job, batch, item, &cursor);
        savings_sum(&job->row.count, &part.count);
        add_part(job, &part);
        if (batch->payload[item].len >= window)
            job->row.eligible += batch->payload[item].len - window + 1;
    }
}

void savings_match(const struct sl_savings *savings, struct savings_job *job,
                   const struct sl_batch *batch)
{
    shared_cache_match(&savings->cache, &job->cached, batch, job->hits, &job->search);
    count_batch(job, batch, savings->config.redundancy.window);
}
