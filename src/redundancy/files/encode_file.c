/* SPDX-License-Identifier: MIT */
/* A file, in rounds of pieces, each in two steps on all threads. First its pieces are loaded and
 * sampled, while those of the round before are matched. Then each part of the cache looks up its
 * samples. The rest goes through zstd on further threads. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "base/fd.h"
#include "base/least.h"
#include "base/reserved.h"
#include "crew.h"
#include "file_piece.h"

enum {
    ROUND_PIECES = 32,
    ROUND_LEN = ROUND_PIECES * FILE_PACKET_LEN,
    IN_FLIGHT = 2, /* rounds */
    ROOM_LEN = IN_FLIGHT * ROUND_PIECES * PIECE_ROOM
};

struct file_round {
    struct file_piece pieces[ROUND_PIECES];
    uint32_t n;
};

struct file_rounds {
    struct file_encoder *e;
    struct shared_cache cache;
    struct crew *crew;
    struct piece_tools tools[SL_REDUNDANCY_THREADS_MAX];
    struct file_round rounds[IN_FLIGHT], *now, *before;
    uint8_t *room;     /* of all pieces, in huge pages */
    uint64_t distance; /* to the log that the last round that was put ended like; 0: none */
    bool in_place;     /* each thread reads its pieces from the file, whose next is at `at` */
    bool at_end;
    off_t at;
};

void sl_redundancy_file_config_init(struct sl_redundancy_file_config *config)
{
    *config = (struct sl_redundancy_file_config){
        .cache_len = UINT64_C(256) << 20, .level = 9, .cache_in = -1, .cache_out = -1};
    sl_sampling_config_init(&config->sampling);
    config->sampling.period = 32;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static enum sl_status open_cache(struct file_rounds *r, struct sl_diag *diag)
{
    struct sl_redundancy_config config;

    file_redundancy_config(&config, r->e->config);
    config.batch_len = ROUND_LEN;
    config.max_items = ROUND_PIECES;
    return shared_cache_create(&r->cache, &config, IN_FLIGHT, 0, diag);
}

static void set_source(struct file_rounds *r)
{
    struct stat file;

    r->at = lseek(r->e->in, 0, SEEK_CUR);
    r->in_place =
        !r->e->config->flush && r->at >= 0 && fstat(r->e->in, &file) == 0 && S_ISREG(file.st_mode);
}

static enum sl_status open_pieces(struct file_rounds *r, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    r->room = memory_map(ROOM_LEN, "parts of a file", diag);
    if (r->room == NULL)
        return SL_ENOMEM;
    for (size_t i = 0; i < (size_t)IN_FLIGHT * ROUND_PIECES && status == SL_OK; i++)
        status = piece_open(&r->rounds[i / ROUND_PIECES].pieces[i % ROUND_PIECES],
                            r->room + i * PIECE_ROOM, r->e->config, diag);
    return status;
}

static enum sl_status open_rounds(struct file_rounds *r, struct sl_diag *diag)
{
    enum sl_status status = open_cache(r, diag);

    set_source(r);
    r->now = &r->rounds[0];
    r->before = &r->rounds[1];
    if (status == SL_OK)
        status = crew_create(&r->crew, r->e->config->flush ? 1 : r->e->n_threads, diag);
    for (unsigned i = 0; i < r->e->n_threads && status == SL_OK; i++)
        status = piece_tools_open(&r->tools[i], r->e, diag);
    return status == SL_OK ? open_pieces(r, diag) : status;
}

static void close_rounds(struct file_rounds *r)
{
    crew_free(r->crew);
    for (int i = 0; i < IN_FLIGHT * ROUND_PIECES; i++)
        piece_close(&r->rounds[i / ROUND_PIECES].pieces[i % ROUND_PIECES]);
    for (unsigned i = 0; i < r->e->n_threads; i++)
        piece_tools_close(&r->tools[i]);
    memory_unmap(r->room, ROOM_LEN);
    shared_cache_free(&r->cache);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void take_bytes(struct file_piece *piece, int64_t len)
{
    sl_batch_reset(&piece->batch);
    piece->status = len < 0 ? fd_failed("cannot read", &piece->diag) : SL_OK;
    if (len > 0)
        sl_batch_append(&piece->batch, (uint32_t)len, 0);
}

/* A pipe is read in order: as much as a round holds, or what one read gives where each read is a
 * piece. */
static void read_round(struct file_rounds *r, struct file_round *round)
{
    const bool flush = r->e->config->flush;
    int64_t len = FILE_PACKET_LEN;

    for (round->n = 0; round->n < (flush ? 1 : ROUND_PIECES) && len == FILE_PACKET_LEN;) {
        struct file_piece *const piece = &round->pieces[round->n++];

        len = flush ? fd_read_some(r->e->in, piece->batch.bytes, FILE_PACKET_LEN)
                    : fd_read(r->e->in, piece->batch.bytes, FILE_PACKET_LEN);
        take_bytes(piece, len);
    }
}

/* The round's pieces are those before the input's end. */
static enum sl_status end_reading(struct file_rounds *r, struct sl_diag *diag)
{
    struct file_round *const round = r->now;
    uint32_t n = 0;

    while (n < round->n && !r->at_end) {
        const struct file_piece *const piece = &round->pieces[n];

        if (piece->status != SL_OK)
            return diag_set(diag, piece->status, NULL, 0, "%s", piece->diag.text);
        const uint32_t len = piece->batch.n_items > 0 ? piece->batch.payload[0].len : 0;
        r->at_end = len < (r->e->config->flush ? 1 : FILE_PACKET_LEN);
        if (len == 0)
            break;
        shared_cache_advance(&r->cache, &piece->cached);
        r->at += len;
        n++;
    }
    round->n = n;
    return file_check_length(r->e, diag);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void load(struct file_rounds *r, unsigned thread, uint32_t i)
{
    struct file_piece *const piece = &r->now->pieces[i];

    if (r->in_place)
        take_bytes(piece, fd_read_at(r->e->in, piece->batch.bytes, FILE_PACKET_LEN,
                                     r->at + (off_t)i * FILE_PACKET_LEN));
    if (piece->batch.n_items > 0)
        piece_load(piece, &r->tools[thread], &r->cache, r->distance);
}

static void match_or_load(void *user, unsigned thread, uint32_t i)
{
    struct file_rounds *const r = user;

    if (i < r->before->n)
        piece_match(&r->before->pieces[i], &r->tools[thread], &r->cache, r->e->kept.epoch);
    else
        load(r, thread, i - r->before->n);
}

static void look_up(void *user, unsigned thread, uint32_t part)
{
    struct file_rounds *const r = user;

    (void)thread;
    for (uint32_t i = 0; i < r->now->n; i++)
        shared_cache_look_up(&r->cache, &r->now->pieces[i].cached, part);
}

/* Hands the frames of the round before over. */
static enum sl_status put_round(struct file_rounds *r)
{
    struct file_round *const round = r->before;

    for (uint32_t i = 0; i < round->n; i++) {
        const struct file_piece *const piece = &round->pieces[i];
        uint8_t *const room = record_writer_room(r->e->writer);

        if (room == NULL)
            return SL_EIO; /* the writer has the reason */
        memcpy(room, piece->frame, piece->frame_len);
        file_put_frame(r->e, piece->frame_len, piece->batch.payload[0].len);
    }
    if (round->n > 0)
        r->distance = piece_distance(&round->pieces[round->n - 1]);
    round->n = 0;
    return SL_OK;
}

static void do_all(struct file_rounds *r, crew_work *work, uint32_t n)
{
    crew_begin(r->crew, work, r, n);
    crew_end(r->crew);
}

static void turn(struct file_rounds *r)
{
    struct file_round *const before = r->before;

    r->before = r->now;
    r->now = before;
}

/* No round is in flight from then on. */
static enum sl_status finish_round(struct file_rounds *r)
{
    r->now->n = 0;
    do_all(r, match_or_load, r->before->n);
    return put_round(r);
}

/* While samples are looked up, this thread hands over, and reads. */
static enum sl_status encode_round(struct file_rounds *r, struct sl_diag *diag)
{
    r->now->n = r->in_place ? ROUND_PIECES : r->now->n;
    for (uint32_t i = 0; i < r->now->n; i++)
        shared_cache_place(&r->cache, &r->now->pieces[i].cached, (uint64_t)i * FILE_PACKET_LEN);
    do_all(r, match_or_load, r->before->n + r->now->n);
    enum sl_status status = end_reading(r, diag);
    if (status != SL_OK)
        return status;
    crew_begin(r->crew, look_up, r, r->now->n > 0 ? CACHE_PARTS : 0);
    status = put_round(r);
    if (status == SL_OK && !r->in_place && !r->e->config->flush && !r->at_end)
        read_round(r, r->before);
    crew_end(r->crew);
    turn(r);
    return status;
}

static enum sl_status encode_rounds(struct file_rounds *r, struct sl_diag *diag)
{
    const bool flush = r->e->config->flush;
    enum sl_status status = SL_OK;

    if (!r->in_place && !flush)
        read_round(r, r->now);
    while (status == SL_OK && !r->at_end) {
        if (flush)
            read_round(r, r->now);
        status = encode_round(r, diag);
        if (status == SL_OK && (flush || r->at_end))
            status = finish_round(r);
    }
    if (r->in_place)
        (void)lseek(r->e->in, r->at, SEEK_SET);
    return status;
}

/* ---- a kept cache ---------------------------------------------------------------------------- */

static void learn(void *user, unsigned thread, uint32_t i)
{
    struct file_rounds *const r = user;
    struct file_piece *const piece = &r->now->pieces[i];
    const uint64_t left = r->cache.log.end - piece->cached.begin;
    const uint32_t len = (uint32_t)least(left, FILE_PACKET_LEN);

    log_copy(&r->cache.log, piece->cached.begin, piece->batch.bytes, len);
    take_bytes(piece, len);
    piece_sample(piece, &r->tools[thread]);
}

/* The index is not kept: the log is sampled anew. */
static enum sl_status learn_log(struct file_rounds *r, struct sl_diag *diag)
{
    const struct packet_log *const log = &r->cache.log;

    for (uint64_t at = log_start(log); at < log->end;) {
        for (r->now->n = 0; r->now->n < ROUND_PIECES && at < log->end; at += FILE_PACKET_LEN)
            r->now->pieces[r->now->n++].cached.begin = at;
        do_all(r, learn, r->now->n);
        for (uint32_t i = 0; i < r->now->n; i++)
            if (r->now->pieces[i].status != SL_OK)
                return diag_set(diag, r->now->pieces[i].status, NULL, 0, "%s",
                                r->now->pieces[i].diag.text);
        do_all(r, look_up, CACHE_PARTS);
    }
    r->now->n = 0;
    for (unsigned i = 0; i < r->e->n_threads; i++)
        r->tools[i].search.stats = (struct sl_matcher_stats){0};
    return SL_OK;
}

static enum sl_status load_cache(struct file_rounds *r, struct sl_diag *diag)
{
    struct file_encoder *const e = r->e;

    if (e->config->cache_in < 0)
        return SL_OK;
    const enum sl_status status = shared_cache_load(&r->cache, e->config->cache_in, &e->kept, diag);
    e->position = e->kept.end;
    return status == SL_OK ? learn_log(r, diag) : status;
}

static enum sl_status save_cache(const struct file_rounds *r, struct sl_diag *diag)
{
    struct kept_log kept = r->e->kept;

    if (r->e->config->cache_out < 0)
        return SL_OK;
    kept_describe(&kept, &r->cache.log, r->e->config->cache_len);
    return kept_write(r->e->config->cache_out, &kept, &r->cache.log, diag);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void add_up(const struct file_rounds *r)
{
    struct sl_matcher_stats *const sum = &r->e->stats->match;

    for (unsigned i = 0; i < r->e->n_threads; i++) {
        const struct sl_matcher_stats *const stats = &r->tools[i].search.stats;

        sum->bytes += stats->bytes;
        sum->samples += stats->samples;
        sum->probes += stats->probes;
        sum->found += stats->found;
        sum->matches += stats->matches;
        sum->matched_bytes += stats->matched_bytes;
    }
}

static enum sl_status encode_in_rounds(struct file_encoder *e, struct sl_diag *diag)
{
    struct file_rounds *const r = calloc(1, sizeof *r);

    if (r == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for parts of a file");
    r->e = e;
    enum sl_status status = open_rounds(r, diag);
    if (status == SL_OK)
        status = load_cache(r, diag);
    if (status == SL_OK)
        status = file_begin(e, diag);
    if (status == SL_OK) {
        status = encode_rounds(r, diag);
        add_up(r);
    }
    if (status == SL_OK)
        status = save_cache(r, diag);
    close_rounds(r);
    free(r);
    return status;
}

static enum sl_status write_end(struct file_encoder *e)
{
    uint8_t *const frame = record_writer_room(e->writer);

    if (frame == NULL)
        return SL_EIO;
    record_writer_put(e->writer, frame_write(frame, 0, e->position, frame, 0, NULL, 0));
    return SL_OK;
}

enum sl_status sl_redundancy_encode_file(int in, int out,
                                         const struct sl_redundancy_file_config *config,
                                         struct sl_redundancy_file_stats *stats,
                                         struct sl_diag *diag)
{
    struct file_encoder encoder = {.in = in, .out = out, .config = config, .stats = stats};

    *stats = (struct sl_redundancy_file_stats){0};
    if (config->level < 0 || config->level > SL_REDUNDANCY_LEVEL_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "zstd level %d (expected 0 to %d)", config->level,
                        SL_REDUNDANCY_LEVEL_MAX);

    if (config->whole_batches && (config->flush || config->cache_in >= 0 || config->cache_out >= 0))
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "whole batches are neither flushed nor have they a cache that is kept");

    enum sl_status status = reserved_check(config->reserved, diag);
    if (status != SL_OK)
        return status;
    encoder.n_threads = (unsigned)least(config->n_threads != 0 ? config->n_threads : cpu_cores(),
                                        SL_REDUNDANCY_THREADS_MAX);
    status = sl_sampling_build(&encoder.table, &config->sampling, diag);
    if (status == SL_OK)
        status = config->whole_batches ? file_encode_batches(&encoder, diag)
                                       : encode_in_rounds(&encoder, diag);
    if (status == SL_OK)
        status = write_end(&encoder);

    const enum sl_status written = record_writer_end(encoder.writer, stats, diag);
    if (written != SL_OK)
        status = written;
    sl_sampling_free(encoder.table);
    return status;
}
