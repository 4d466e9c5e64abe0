/* SPDX-License-Identifier: MIT */
/* Batches to frames: limits, samplers, jobs under way. The steps are in batch_*_core.h. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "batch_encode.h"
#include "redundancy/match/matcher.h"

enum {
    SLOTS = SL_BATCH_ENCODER_IN_FLIGHT,
    HITS_EACH = 4,           /* room for this many times the hits that the period promises */
    FIRST_EACH = 2,          /* places for each of them in the table of a batch's first */
    INDEX_EACH = 16,         /* bytes of index for every `period` bytes of cache: two entries */
    BATCH_LEN_MAX = 1 << 30, /* bytes */
    ALIGN = 256
};

/* ---- memory ---------------------------------------------------------------------------------- */

static void *place(uint8_t *block, size_t *at, size_t len)
{
    void *const here = block != NULL ? block + *at : NULL;

    *at = (*at + len + ALIGN - 1) / ALIGN * ALIGN;
    return here;
}

struct encode_layout encode_lay_out(struct encode_job *job, const struct encode_sizes *sizes,
                                    uint8_t *block)
{
    const size_t n_hits = sizes->max_hits, n_items = sizes->max_items, len = sizes->batch_len;
    struct encode_layout layout;
    size_t at = 0;

    job->n_first = FIRST_EACH * sizes->max_hits;
    job->totals = place(block, &at, sizeof *job->totals);
    job->chosen = place(block, &at, (len / 32 + 1) * sizeof *job->chosen);
    job->tiles = place(block, &at, (len / ENCODE_TILE + 1) * sizeof *job->tiles);
    job->first = place(block, &at, job->n_first * sizeof *job->first);
    layout.zero_len = at;
    job->found_cap = sizes->max_hits;
    job->n_found = place(block, &at, sizeof *job->n_found + n_hits * sizeof *job->found);
    job->found = block != NULL ? (const struct sl_hit *)(job->n_found + 1) : NULL;
    job->place = place(block, &at, n_items * sizeof *job->place);
    job->sample = place(block, &at, n_hits * sizeof *job->sample);
    job->source = place(block, &at, n_hits * sizeof *job->source);
    job->match = place(block, &at, (len / LOG_GRANULE + 1) * sizeof *job->match);
    job->packet = place(block, &at, n_items * sizeof *job->packet);
    layout.out = at;
    job->frame_begin = place(
        block, &at, encode_begins_len(sizes->max_items) + len + n_items * SL_FRAME_HEADER_LEN);
    layout.len = at;
    return layout;
}

/* ---- opening --------------------------------------------------------------------------------- */

void sl_batch_encoder_config_init(struct sl_batch_encoder_config *config)
{
    *config = (struct sl_batch_encoder_config){.kind = SL_DEVICE_CPU};
    sl_redundancy_config_init(&config->redundancy);
}

static enum sl_status check_config(const struct sl_batch_encoder_config *config,
                                   struct sl_diag *diag)
{
    const struct sl_redundancy_config *const redundancy = &config->redundancy;
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status == SL_OK)
        status = matcher_check(redundancy, diag);
    if (status != SL_OK)
        return status;
    if (redundancy->chunks || redundancy->acknowledged)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "whole batches are not encoded in chunks, nor for links that lose");
    if (redundancy->batch_len > BATCH_LEN_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a batch of %u bytes (expected at most %d)",
                        redundancy->batch_len, BATCH_LEN_MAX);
    return SL_OK;
}

static enum sl_status find_sizes(struct encode_sizes *sizes,
                                 const struct sl_batch_encoder_config *config, struct sl_diag *diag)
{
    const struct sl_redundancy_config *const redundancy = &config->redundancy;
    const uint64_t index_len = redundancy->index_len != 0
                                   ? redundancy->index_len
                                   : redundancy->cache_len / redundancy->period * INDEX_EACH;
    const uint64_t n_index = index_len / sizeof(uint64_t);
    const uint64_t max_hits =
        (uint64_t)redundancy->batch_len / redundancy->period * HITS_EACH + ALIGN;

    if (n_index > UINT32_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "an index of %llu bytes (expected below 32 GiB)",
                        (unsigned long long)index_len);
    /* A batch's packets are in the ring until its frames are written: as long as it is under way.
     */
    const uint64_t batch_len = log_round(redundancy->batch_len);
    const uint64_t rest = (SLOTS - 1) * batch_len, cache_len = log_round(redundancy->cache_len);
    *sizes = (struct encode_sizes){
        .max_items = redundancy->max_items,
        .batch_len = redundancy->batch_len,
        .max_hits = max_hits < redundancy->batch_len ? (uint32_t)max_hits : redundancy->batch_len,
        .ring_len = (cache_len > rest ? cache_len : rest) + batch_len,
        .n_index = n_index > 0 ? (uint32_t)n_index : 1,
        .device = config->device,
        .max_wait_ms = config->max_wait_ms,
        .frames_stay = config->frames_stay};
    return SL_OK;
}

static void set_job(struct encode_job *job, const struct sl_redundancy_config *config)
{
    const uint32_t half = config->min_match / 2;

    job->cache_len = config->cache_len;
    job->window = config->window;
    job->min_match = config->min_match;
    job->run_min = half > SL_REFERENCE_MIN ? half : SL_REFERENCE_MIN;
    job->frame_max = config->frame_max;
    job->batch_len = config->batch_len;
}

/* On a CPU hits are written to the job's array by `wait`'s caller, on a GPU by the sampler. */
static enum sl_status open_slots(struct sl_batch_encoder *e, const struct encode_sizes *sizes,
                                 struct sl_diag *diag)
{
    const struct sl_engine *const engine = sl_sampling_engine(e->config.sampling);
    struct encode_job jobs[SLOTS] = {0};
    char why[SL_WHY_LEN] = "";

    e->sampler = sl_engine_choose(engine, e->config.kind, why);
    if (e->sampler == NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "no sampler runs there: %s", why);

    enum sl_status status = e->backend->open(&e->machine, sizes, jobs, diag);
    for (uint32_t i = 0; i < SLOTS && status == SL_OK; i++) {
        struct encode_slot *const slot = &e->slots[i];
        struct sl_limits limits = {.max_items = sizes->max_items,
                                   .max_bytes = sizes->batch_len,
                                   .max_hits = sizes->max_hits,
                                   .device = sizes->device,
                                   .max_wait_ms = sizes->max_wait_ms};

        slot->job = jobs[i];
        set_job(&slot->job, &e->config.redundancy);
        if (e->config.kind == SL_DEVICE_CUDA)
            limits.device_hits = (void *)slot->job.n_found;
        else
            slot->hits =
                (struct sl_hits){(struct sl_hit *)slot->job.found, sizes->max_hits, 0, false};
        status =
            sl_engine_open(&slot->sampling, engine, e->sampler, e->config.sampling, &limits, diag);
    }
    return status;
}

enum sl_status sl_batch_encoder_create(struct sl_batch_encoder **encoder,
                                       const struct sl_batch_encoder_config *config,
                                       struct sl_diag *diag)
{
    struct encode_sizes sizes;
    enum sl_status status = check_config(config, diag);

    if (status == SL_OK)
        status = find_sizes(&sizes, config, diag);
    if (status == SL_OK && config->sampling == NULL)
        status = diag_set(diag, SL_EINVAL, NULL, 0, "an encoder of batches needs a sampler");
    if (status != SL_OK)
        return status;

    struct sl_batch_encoder *const e = calloc(1, sizeof *e);
    if (e == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an encoder");
    e->config = *config;
    e->backend = config->kind == SL_DEVICE_CUDA ? &batch_encode_cuda : &batch_encode_tiled;
    e->epoch = config->redundancy.epoch;
    e->stats.epochs = 1;
    status = open_slots(e, &sizes, diag);
    if (status != SL_OK) {
        sl_batch_encoder_free(e);
        return status;
    }
    *encoder = e;
    return SL_OK;
}

void sl_batch_encoder_free(struct sl_batch_encoder *encoder)
{
    if (encoder == NULL)
        return;
    encoder->backend->close(encoder->machine);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (encoder->slots[i].sampling != NULL)
            encoder->sampler->close(encoder->slots[i].sampling);
    free(encoder);
}

/* ---- batches --------------------------------------------------------------------------------- */

static bool is_legal(const struct sl_batch_encoder *e, const struct sl_batch *batch)
{
    const struct sl_redundancy_config *const config = &e->config.redundancy;

    return (batch->memory == SL_MEMORY_DEVICE) == (e->config.kind == SL_DEVICE_CUDA) &&
           batch->n_items <= config->max_items && batch->bytes_len <= config->batch_len &&
           e->n_submitted - e->n_waited < SLOTS;
}

/* Samples are hints: to lose some of too many is no harm. */
static enum sl_status sample(const struct sl_batch_encoder *e, struct encode_slot *slot,
                             const struct sl_batch *batch)
{
    slot->hits.n = 0;
    enum sl_status status = e->sampler->submit(slot->sampling, batch, &slot->hits);
    if (status != SL_OK || e->config.kind == SL_DEVICE_CUDA)
        return status;
    status = e->sampler->wait(slot->sampling);
    *(uint64_t *)slot->job.n_found = slot->hits.n;
    return status == SL_EOVERFLOW ? SL_OK : status;
}

enum sl_status sl_batch_encoder_submit(struct sl_batch_encoder *encoder,
                                       const struct sl_batch *batch)
{
    const uint32_t number = (uint32_t)(encoder->n_submitted % SLOTS);
    struct encode_slot *const slot = &encoder->slots[number];
    struct encode_job *const job = &slot->job;

    if (!is_legal(encoder, batch))
        return SL_EINVAL;
    enum sl_status status = sample(encoder, slot, batch);
    if (status != SL_OK)
        return status;
    if (encoder->restart) {
        encoder->epoch++;
        encoder->stats.epochs++;
    }
    job->arena = batch->bytes;
    job->payload = batch->payload;
    job->n_items = batch->n_items;
    job->arena_len = batch->bytes_len;
    job->epoch = encoder->epoch;
    job->frames = (uint8_t *)job->frame_begin + encode_begins_len(batch->n_items);
    status =
        encoder->backend->submit(encoder->machine, number, job, encoder->restart, batch->stream);
    encoder->restart = false;
    if (status == SL_OK)
        encoder->n_submitted++;
    return status;
}

static void add_up(struct sl_batch_encoder *e, const struct encode_job *job,
                   const struct encode_totals *totals)
{
    e->stats.items += job->n_items;
    e->stats.bytes += totals->bytes;
    e->stats.samples += totals->n_samples;
    e->stats.matches += totals->matches;
    e->stats.matched_bytes += totals->matched_bytes;
    e->stats.frame_bytes += totals->frames_len;
}

enum sl_status sl_batch_encoder_wait(struct sl_batch_encoder *encoder, struct sl_frames *frames)
{
    const uint32_t number = (uint32_t)(encoder->n_waited % SLOTS);
    struct encode_slot *const slot = &encoder->slots[number];
    struct encode_totals totals;

    *frames = (struct sl_frames){0};
    if (encoder->n_waited == encoder->n_submitted)
        return SL_EINVAL;
    encoder->n_waited++;
    if (encoder->config.kind == SL_DEVICE_CUDA) {
        const enum sl_status status = encoder->sampler->wait(slot->sampling);

        if (status != SL_OK && status != SL_EOVERFLOW)
            return status;
    }
    const enum sl_status status =
        encoder->backend->wait(encoder->machine, number, &slot->job, &totals, frames);
    if (status != SL_OK)
        return status;
    if (totals.refused != 0)
        return SL_EINVAL;
    frames->n = slot->job.n_items;
    frames->len = totals.frames_len;
    /* Batches under way go on in the epoch; there is room for far more of them. */
    encoder->restart = slot->job.epoch == encoder->epoch && totals.begin > LOG_EPOCH_MAX;
    add_up(encoder, &slot->job, &totals);
    return SL_OK;
}

void sl_batch_encoder_stats(const struct sl_batch_encoder *encoder,
                            struct sl_batch_encoder_stats *stats)
{
    *stats = encoder->stats;
}
