/* SPDX-License-Identifier: MIT */
#include "file_piece.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/least.h"

enum { HITS_EACH = 4 /* room for this many times the hits that the period promises */ };

/* ---- opening and closing --------------------------------------------------------------------- */

static uint32_t most_hits(const struct sl_redundancy_file_config *config)
{
    return FILE_PACKET_LEN / config->sampling.period * HITS_EACH + 64;
}

_Static_assert(PIECE_FRAME + SL_FRAME_HEADER_LEN + FILE_PACKET_LEN <= PIECE_ROOM,
               "a frame has room");

enum sl_status piece_open(struct file_piece *piece, uint8_t *room,
                          const struct sl_redundancy_file_config *config, struct sl_diag *diag)
{
    piece->batch = (struct sl_batch){.max_items = 1,
                                     .bytes_cap = FILE_PACKET_LEN,
                                     .bytes = room,
                                     .payload = &piece->payload,
                                     .overlap = &piece->overlap};
    piece->frame = room + PIECE_FRAME;
    piece->hits.cap = most_hits(config);
    piece->hits.hit = malloc(piece->hits.cap * sizeof *piece->hits.hit);
    if (piece->hits.hit == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for parts of a file");
    return cached_batch_create(&piece->cached, 1, false, diag);
}

void piece_close(struct file_piece *piece)
{
    free(piece->hits.hit);
    cached_batch_free(&piece->cached);
}

enum sl_status piece_tools_open(struct piece_tools *tools, const struct file_encoder *e,
                                struct sl_diag *diag)
{
    const struct sl_engine *const engine = sl_sampling_engine(e->table);
    const struct sl_limits limits = {
        .max_items = 1, .max_bytes = FILE_PACKET_LEN, .max_hits = most_hits(e->config)};
    struct sl_redundancy_config config;
    char why[SL_WHY_LEN] = "";

    file_redundancy_config(&config, e->config);
    config.batch_len = FILE_PACKET_LEN;
    config.max_items = 1;
    const enum sl_status status = search_create(&tools->search, &config, diag);
    if (status != SL_OK)
        return status;
    tools->sampler = sl_engine_choose(engine, SL_DEVICE_CPU, why);
    if (tools->sampler == NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "no sampler runs here: %s", why);
    return sl_engine_open(&tools->context, engine, tools->sampler, e->table, &limits, diag);
}

void piece_tools_close(struct piece_tools *tools)
{
    if (tools->context != NULL)
        tools->sampler->close(tools->context);
    search_free(&tools->search);
    hits_scratch_free(&tools->scratch);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Whether the log has the whole piece. A source that will soon be evicted is none: its samples
 * shall point to the new copy. */
static bool goes_on(const struct file_piece *piece, const struct piece_tools *tools,
                    const struct shared_cache *cache, uint64_t distance)
{
    const struct packet_log *const log = &cache->log;
    const uint64_t begin = piece->cached.begin, source = begin - distance;
    const uint32_t len = piece->batch.payload[0].len;

    return distance != 0 && distance <= tools->search.renew_after &&
           len >= tools->search.config.min_match && source >= log_start(log) &&
           source + len <= log->end && log_equals(log, source, piece->batch.bytes, len);
}

static enum sl_status take_samples(struct file_piece *piece, struct piece_tools *tools)
{
    const struct sl_batch *const batch = &piece->batch;

    enum sl_status status = tools->sampler->submit(tools->context, batch, &piece->hits);
    if (status == SL_OK)
        status = tools->sampler->wait(tools->context);
    /* A sample is a hint: too many of them are as good as enough. */
    if (status != SL_OK && status != SL_EOVERFLOW)
        return diag_set(&piece->diag, status, NULL, 0, "sampling: %s", sl_status_text(status));
    piece->hits.n = least(piece->hits.n, piece->hits.cap);
    return matcher_sort_hits(&piece->hits, batch, &tools->scratch, &piece->diag);
}

static void set_samples(struct file_piece *piece, struct piece_tools *tools)
{
    tools->search.stats.bytes += piece->batch.payload[0].len;
    tools->search.stats.samples += piece->hits.n;
    piece->status = cached_batch_set(&piece->cached, &piece->batch, piece->hits.hit, piece->hits.n,
                                     tools->search.config.window, &piece->diag);
    tools->search.stats.probes += piece->cached.begin_of[CACHE_PARTS];
}

void piece_sample(struct file_piece *piece, struct piece_tools *tools)
{
    piece->hits.n = 0;
    piece->goes_on = false;
    piece->status = take_samples(piece, tools);
    if (piece->status == SL_OK)
        set_samples(piece, tools);
}

void piece_load(struct file_piece *piece, struct piece_tools *tools,
                const struct shared_cache *cache, uint64_t distance)
{
    if (goes_on(piece, tools, cache, distance)) {
        piece->hits.n = 0;
        piece->goes_on = true;
        piece->last =
            (struct sl_match){piece->cached.begin - distance, 0, 0, piece->batch.payload[0].len};
        set_samples(piece, tools);
    } else {
        piece_sample(piece, tools);
    }
    if (piece->status == SL_OK)
        shared_cache_copy(cache, &piece->cached, &piece->batch);
}

/* ---- matching -------------------------------------------------------------------------------- */

void piece_match(struct file_piece *piece, struct piece_tools *tools,
                 const struct shared_cache *cache, uint32_t epoch)
{
    struct match_search *const search = &tools->search;
    const struct sl_batch *const batch = &piece->batch;
    const struct sl_match *matches = &piece->last;
    size_t n = 1;

    if (piece->goes_on) {
        search->stats.matches++;
        search->stats.matched_bytes += piece->last.len;
    } else {
        shared_cache_match(cache, &piece->cached, batch, piece->hits.hit, search);
        matches = search->matches;
        n = search->n_matches;
        piece->last = n > 0 ? matches[n - 1] : (struct sl_match){.len = 0};
    }
    piece->frame_len = frame_write(piece->frame, epoch, piece->cached.begin, batch->bytes,
                                   batch->payload[0].len, matches, n);
}

uint64_t piece_distance(const struct file_piece *piece)
{
    const struct sl_match *const last = &piece->last;
    const bool at_end = last->len != 0 && last->offset + last->len == piece->batch.payload[0].len;

    return at_end ? piece->cached.begin + last->offset - last->source : 0;
}
