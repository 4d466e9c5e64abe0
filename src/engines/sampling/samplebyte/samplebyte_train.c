/* SPDX-License-Identifier: MIT */
/* Markers from traffic: maxp finds the content that repeats, then samplebyte's savings are tried.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "engines/sampling/sampling_internal.h"

enum {
    MATCH_COST = 5,      /* bytes that a match takes to encode (DYNABYTE, section III) */
    MAX_BYTES = 1 << 30, /* of traffic */
    MEAN_ITEM = 64       /* bytes: the measure of room for items */
};

struct sl_sampling_trainer {
    struct sl_sampling_config config;
    bool chunks;            /* savings are those of the windows alone */
    struct sl_batch *batch; /* the traffic that was added */
    uint64_t bytes_len;
    struct sl_hits hits;
    uint32_t
        *latest; /* by a fingerprint's hash: the arena offset behind the latest window's first */
    uint32_t latest_log;
};

enum sl_status sl_sampling_trainer_create(struct sl_sampling_trainer **trainer, uint32_t window,
                                          uint32_t period, bool chunks, uint32_t bytes_len,
                                          struct sl_diag *diag)
{
    struct sl_sampling_trainer *made;
    enum sl_status status;

    if (bytes_len < 1 || bytes_len > MAX_BYTES)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%u bytes to train with (expected 1 to %d)",
                        bytes_len, MAX_BYTES);
    made = (struct sl_sampling_trainer *)calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for training");
    sl_sampling_config_init(&made->config);
    made->config.sampler = "maxp";
    made->config.window = window;
    made->config.period = period;
    made->chunks = chunks;

    struct sl_sampling_table *table;
    status = sl_sampling_build(&table, &made->config, diag);
    if (status != SL_OK)
        goto out;
    sl_sampling_free(table);
    status = sl_batch_create(&made->batch, bytes_len, bytes_len / MEAN_ITEM + 1, diag);
    if (status != SL_OK)
        goto out;
    for (made->latest_log = 10; made->latest_log < 24; made->latest_log++)
        if (UINT64_C(1) << made->latest_log >= bytes_len / 4)
            break;
    made->latest = (uint32_t *)malloc(sizeof *made->latest << made->latest_log);
    if (made->latest == NULL)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for training");
out:
    if (status != SL_OK) {
        sl_sampling_trainer_free(made);
        return status;
    }
    *trainer = made;
    return SL_OK;
}

void sl_sampling_trainer_free(struct sl_sampling_trainer *trainer)
{
    if (trainer == NULL)
        return;
    sl_batch_free(trainer->batch);
    free(trainer->hits.hit);
    free(trainer->latest);
    free(trainer);
}

bool sl_sampling_trainer_add(struct sl_sampling_trainer *trainer, const struct sl_batch *batch)
{
    if (batch->memory == SL_MEMORY_DEVICE)
        return false;
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];
        const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;
        const uint32_t skipped = overlap < span.len ? overlap : span.len;

        if (span.len - skipped < trainer->config.window)
            continue;
        if (!sl_batch_fits(trainer->batch, span.len - skipped))
            return false;
        sl_batch_add(trainer->batch, batch->bytes + span.offset + skipped, span.len - skipped, 0);
        trainer->bytes_len += span.len - skipped;
    }
    return true;
}

/* ---- one trial ------------------------------------------------------------------------------- */

/* The content that repeats by a sampler's windows. */
struct trial {
    bool chunks;
    uint64_t redundant;
    uint64_t saved;
    uint64_t n_of_byte[256]; /* in repeated content */
};

/* All hits of the trainer's sampler, in order. */
static enum sl_status find_hits(struct sl_sampling_trainer *trainer, struct sl_diag *diag)
{
    const struct sl_limits limits = {.max_items = trainer->batch->max_items,
                                     .max_bytes = trainer->batch->bytes_cap};
    struct sl_sampling_table *table = NULL;
    const struct sl_backend *backend = NULL;
    void *context = NULL;
    enum sl_status status = sl_sampling_build(&table, &trainer->config, diag);

    if (status != SL_OK)
        return status;
    backend = sl_engine_choose(sl_sampling_engine(table), SL_DEVICE_CPU, NULL);
    status = backend->open(&context, table, &limits, diag);
    while (status == SL_OK) {
        status = backend->submit(context, trainer->batch, &trainer->hits);
        if (status == SL_OK)
            status = backend->wait(context);
        if (status != SL_EOVERFLOW)
            break;

        struct sl_hit *more =
            (struct sl_hit *)realloc(trainer->hits.hit, trainer->hits.n * sizeof *more);
        if (more == NULL) {
            status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for training");
            break;
        }
        trainer->hits.hit = more;
        trainer->hits.cap = trainer->hits.n;
        status = SL_OK;
    }
    backend->close(context);
    sl_sampling_free(table);
    if (status == SL_OK)
        sl_hits_sort(&trainer->hits);
    return status;
}

/* Takes a match of a window at `at` with one at `earlier`. A match that is no chunk is extended
 * backwards to `begin` and forwards to `end`. Returns its end. */
static uint32_t take_match(const struct sl_sampling_trainer *trainer, struct trial *trial,
                           uint32_t earlier, uint32_t at, uint32_t begin, uint32_t end)
{
    const uint8_t *bytes = trainer->batch->bytes;
    uint32_t before = 0, len = trainer->config.window;

    while (!trial->chunks && at - before > begin && earlier > before &&
           bytes[at - before - 1] == bytes[earlier - before - 1])
        before++;
    while (!trial->chunks && at + len < end && bytes[at + len] == bytes[earlier + len])
        len++;
    for (uint32_t i = at - before; i < at + len; i++)
        trial->n_of_byte[bytes[i]]++;
    trial->redundant += before + len;
    trial->saved += before + len > MATCH_COST ? before + len - MATCH_COST : 0;
    return at + len;
}

static uint32_t *latest_of(const struct sl_sampling_trainer *trainer, uint64_t fingerprint)
{
    return &trainer
                ->latest[fingerprint * UINT64_C(0x9E3779B97F4A7C15) >> (64 - trainer->latest_log)];
}

/* The hits n of one item: matches with earlier items are counted first, then the hits are
 * remembered. */
static void try_item(struct sl_sampling_trainer *trainer, struct trial *trial,
                     const struct sl_hit *hits, size_t n)
{
    const struct sl_span span = trainer->batch->payload[hits->item];
    const uint8_t *bytes = trainer->batch->bytes;
    uint32_t done = span.offset;

    for (size_t i = 0; i < n; i++) {
        const uint32_t at = span.offset + hits[i].offset;
        const uint32_t earlier = *latest_of(trainer, hits[i].id);

        if (at >= done && earlier != 0 &&
            memcmp(bytes + earlier - 1, bytes + at, trainer->config.window) == 0)
            done = take_match(trainer, trial, earlier - 1, at, done, span.offset + span.len);
    }
    for (size_t i = 0; i < n; i++)
        *latest_of(trainer, hits[i].id) = span.offset + hits[i].offset + 1;
}

static enum sl_status run_trial(struct sl_sampling_trainer *trainer, bool chunks,
                                struct trial *trial, struct sl_diag *diag)
{
    const struct sl_hits *hits = &trainer->hits;
    const enum sl_status status = find_hits(trainer, diag);

    *trial = (struct trial){.chunks = chunks};
    if (status != SL_OK)
        return status;
    memset(trainer->latest, 0, sizeof *trainer->latest << trainer->latest_log);
    for (size_t begin = 0, end; begin < hits->n; begin = end) {
        for (end = begin + 1; end < hits->n && hits->hit[end].item == hits->hit[begin].item;)
            end++;
        try_item(trainer, trial, hits->hit + begin, end - begin);
    }
    return SL_OK;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* The byte value that occurs most, but for those that are markers. */
static int most_frequent(const struct trial *trial, const bool marker[256])
{
    int most = -1;

    for (int byte = 0; byte < 256; byte++)
        if (!marker[byte] && trial->n_of_byte[byte] != 0 &&
            (most < 0 || trial->n_of_byte[byte] > trial->n_of_byte[most]))
            most = byte;
    return most;
}

enum sl_status sl_sampling_trainer_end(struct sl_sampling_trainer *trainer, bool marker[256],
                                       struct sl_sampling_training *training, struct sl_diag *diag)
{
    struct trial by_maxp, trials[SL_SAMPLING_RANKED_MAX];
    uint64_t most_saved = 0;
    uint32_t n = 0;
    enum sl_status status;

    *training = (struct sl_sampling_training){.bytes_len = trainer->bytes_len};
    trainer->config.sampler = "maxp";
    status = run_trial(trainer, false, &by_maxp, diag);
    trainer->config.sampler = "samplebyte";
    memset(trainer->config.marker, 0, sizeof trainer->config.marker);
    while (status == SL_OK && n < SL_SAMPLING_RANKED_MAX) {
        const int byte = most_frequent(&by_maxp, trainer->config.marker);

        if (byte < 0)
            break;
        training->ranked[n] = (uint8_t)byte;
        trainer->config.marker[byte] = true;
        status = run_trial(trainer, trainer->chunks, &trials[n], diag);
        if (trials[n].saved > most_saved)
            most_saved = trials[n].saved;
        n++;
    }
    if (status != SL_OK)
        return status;

    training->redundant = by_maxp.redundant;
    training->n_ranked = n;
    if (most_saved == 0)
        return SL_OK;
    memset(marker, 0, 256 * sizeof *marker);
    do
        marker[training->ranked[training->n_markers]] = true;
    while ((double)trials[training->n_markers++].saved < 0.99 * (double)most_saved);
    training->saved = trials[training->n_markers - 1].saved;
    return SL_OK;
}
