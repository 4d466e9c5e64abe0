/* SPDX-License-Identifier: MIT */
/* Packets to frames, and the reaction to feedback. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "expected.h"
#include "feedback.h"
#include "held_cache.h"
#include "kept_cache.h"
#include "redundancy/frames/frame.h"
#include "redundancy/match/matcher.h"

enum {
    RESENDS_MAX = 256,
    LEARN_AHEAD = 12 /* samples whose place in the index is fetched before it is needed */
};

/* A frame that is on its way. */
struct flight {
    uint64_t position;
    uint32_t len;
    bool acknowledged;
};

/* In the order of their positions: entry i at [i % n_in_flight]. */
struct flights {
    struct flight *entries;
    uint64_t begin, end;
    uint64_t waits; /* none before it waits for feedback */
};

struct sl_encoder {
    struct sl_matcher *matcher;
    const struct sl_batch *batch;
    size_t cursor; /* in the matcher's matches */
    uint32_t epoch;
    bool has_decoder; /* feedback in this epoch has come, from `decoder` */
    uint32_t decoder;
    struct flights flights; /* acknowledged alone */
    struct feedback_range resends[RESENDS_MAX];
    uint32_t n_resends;
    struct sl_encoder_stats stats;
};

enum sl_status sl_encoder_create(struct sl_encoder **encoder,
                                 const struct sl_redundancy_config *config, struct sl_diag *diag)
{
    struct sl_encoder *const e = calloc(1, sizeof *e);
    if (e == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an encoder");

    enum sl_status status = sl_matcher_create(&e->matcher, config, diag);
    if (status == SL_OK) {
        e->flights.entries = malloc(config->n_in_flight * sizeof *e->flights.entries);
        if (e->flights.entries == NULL)
            status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u frames in flight",
                              config->n_in_flight);
    }
    if (status != SL_OK) {
        sl_encoder_free(e);
        return status;
    }
    e->epoch = config->epoch;
    e->stats.epochs = 1;
    *encoder = e;
    return SL_OK;
}

void sl_encoder_free(struct sl_encoder *encoder)
{
    if (encoder == NULL)
        return;
    sl_matcher_free(encoder->matcher);
    free(encoder->flights.entries);
    free(encoder);
}

static struct flight *flight_at(const struct sl_encoder *e, uint64_t i)
{
    return &e->flights.entries[i & (e->matcher->search.config.n_in_flight - 1)];
}

static void add_flight(struct sl_encoder *e, uint64_t position, uint32_t len)
{
    if (e->flights.end - e->flights.begin == e->matcher->search.config.n_in_flight) {
        e->stats.expired += flight_at(e, e->flights.begin)->acknowledged ? 0 : 1;
        e->flights.begin++;
    }
    *flight_at(e, e->flights.end++) = (struct flight){position, len, false};
}

/* The first flight whose position is at least this one. */
static uint64_t find_flight(const struct sl_encoder *e, uint64_t position)
{
    uint64_t low = e->flights.begin, high = e->flights.end;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (flight_at(e, middle)->position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Frames that wait no more, from the oldest on. */
static void settle_flights(struct sl_encoder *e)
{
    struct flights *const flights = &e->flights;

    if (flights->waits < flights->begin)
        flights->waits = flights->begin;
    while (flights->waits < flights->end && flight_at(e, flights->waits)->acknowledged)
        flights->waits++;
    matcher_settle(e->matcher, flights->waits < flights->end
                                   ? flight_at(e, flights->waits)->position
                                   : e->matcher->search.log.end);
}

static void begin_epoch(struct sl_encoder *e, uint32_t epoch)
{
    e->epoch = epoch;
    e->has_decoder = false;
    e->flights.begin = e->flights.end;
    e->n_resends = 0;
    matcher_restart(e->matcher);
    e->stats.epochs++;
}

/* ---- frames ---------------------------------------------------------------------------------- */

enum sl_status sl_encoder_batch(struct sl_encoder *encoder, const struct sl_batch *batch,
                                struct sl_hits *hits, struct sl_diag *diag)
{
    const struct sl_match *matches;
    size_t n;

    if (encoder->matcher->search.log.end > LOG_EPOCH_MAX)
        begin_epoch(encoder, encoder->epoch + 1);

    const enum sl_status status =
        sl_matcher_batch(encoder->matcher, batch, hits, &matches, &n, diag);
    if (status != SL_OK)
        return status;
    encoder->batch = batch;
    encoder->cursor = 0;
    if (encoder->matcher->search.config.acknowledged)
        for (uint32_t item = 0; item < batch->n_items; item++)
            if (batch->payload[item].len > 0)
                add_flight(encoder, encoder->matcher->search.positions[item],
                           batch->payload[item].len);
    return SL_OK;
}

uint32_t encoder_expected(struct sl_encoder *encoder, const struct sl_batch *batch)
{
    return matcher_expected(encoder->matcher, batch);
}

static void count_frame(struct sl_encoder *e, uint32_t len, bool is_raw)
{
    e->stats.frames++;
    e->stats.frame_bytes += len;
    e->stats.raw_frames += is_raw ? 1 : 0;
}

uint32_t sl_encoder_frame(struct sl_encoder *encoder, uint32_t item, uint8_t *frame)
{
    const struct sl_span *const span = &encoder->batch->payload[item];
    size_t n;
    const struct sl_match *const matches =
        search_of_item(&encoder->matcher->search, item, &encoder->cursor, &n);
    const uint32_t len =
        frame_write(frame, encoder->epoch, encoder->matcher->search.positions[item],
                    encoder->batch->bytes + span->offset, span->len, matches, n);

    count_frame(encoder, len, n == 0);
    return len;
}

uint32_t sl_encoder_resend(struct sl_encoder *encoder, uint8_t *frame)
{
    const struct packet_log *const log = &encoder->matcher->search.log;

    while (encoder->n_resends > 0) {
        const struct feedback_range range = encoder->resends[--encoder->n_resends];
        const uint32_t len = (uint32_t)range.len;
        uint8_t *const body = frame + SL_FRAME_HEADER_LEN;

        if (range.position < log_start(log))
            continue;
        log_copy(log, range.position, body, len);
        frame_write_header(frame, encoder->epoch, range.position, body, len, 0);
        count_frame(encoder, SL_FRAME_HEADER_LEN + len, true);
        encoder->stats.resent++;
        return SL_FRAME_HEADER_LEN + len;
    }
    return 0;
}

/* ---- feedback -------------------------------------------------------------------------------- */

static void acknowledge_run(struct sl_encoder *e, const struct feedback_range *run)
{
    for (uint64_t i = find_flight(e, run->position); i < e->flights.end; i++) {
        struct flight *const flight = flight_at(e, i);

        if (flight->position + flight->len > run->position + run->len)
            break;
        if (flight->acknowledged)
            continue;
        flight->acknowledged = true;
        e->stats.acknowledged++;
        matcher_acknowledge(e->matcher, flight->position, flight->len);
    }
}

/* Sends a packet again if it was sent before. A damaged frame may have requested any offset. */
static void plan_resend(struct sl_encoder *e, const struct feedback_range *miss)
{
    const uint64_t i = find_flight(e, miss->position);

    if (i == e->flights.end || flight_at(e, i)->position != miss->position ||
        flight_at(e, i)->len != miss->len || e->n_resends == RESENDS_MAX)
        return;
    e->resends[e->n_resends++] = *miss;
}

/* The decoder could not make a packet of a frame. Unless log is acknowledged, any packet sent until
 * now may be missing on the other side, so no later frame refers to them. Packets sent before the
 * latest miss may still be reported, but no frame refers to them either. */
static void hear_miss(struct sl_encoder *e, const struct feedback_range *miss)
{
    struct packet_log *const log = &e->matcher->search.log;

    if (e->matcher->search.config.acknowledged)
        plan_resend(e, miss);
    else if (miss->position >= log->floor)
        log->floor = log->end;
}

/* Whether this is another decoder than the one that was heard in this epoch before: this one may
 * never have had the bytes that the other one acknowledged. */
static bool is_other_decoder(struct sl_encoder *e, const struct feedback *f)
{
    if (!e->has_decoder) {
        e->has_decoder = true;
        e->decoder = f->decoder;
    }
    return e->decoder != f->decoder;
}

/* Whether the decoder has log of this epoch that was never written here: then it is the epoch of
 * an encoder before this one. */
static bool is_foreign(const struct sl_encoder *e, const struct feedback *f)
{
    const uint64_t end = e->matcher->search.log.end;

    if (f->start > end)
        return true;
    for (uint32_t i = 0; i < f->n_runs; i++)
        if (f->runs[i].position > end || f->runs[i].len > end - f->runs[i].position)
            return true;
    return false;
}

void sl_encoder_feedback(struct sl_encoder *encoder, const uint8_t *feedback, size_t len)
{
    struct packet_log *const log = &encoder->matcher->search.log;
    struct feedback f;

    if (!feedback_read(&f, feedback, len)) {
        encoder->stats.bad_feedback++;
        return;
    }
    if (f.restart && f.heard == encoder->epoch) {
        const bool is_behind = f.has_epoch && (int32_t)(f.epoch - encoder->epoch) > 0;

        begin_epoch(encoder, (is_behind ? f.epoch : encoder->epoch) + 1);
        return;
    }
    if (!f.has_epoch || f.epoch != encoder->epoch) {
        encoder->stats.bad_feedback++;
        return;
    }
    if (is_foreign(encoder, &f) || is_other_decoder(encoder, &f)) {
        begin_epoch(encoder, encoder->epoch + 1);
        return;
    }
    if (f.start > log->floor)
        log->floor = f.start;
    matcher_set_reach(encoder->matcher, f.cache_len);
    for (uint32_t i = 0; i < f.n_runs; i++)
        acknowledge_run(encoder, &f.runs[i]);
    settle_flights(encoder);
    for (uint32_t i = 0; i < f.n_misses; i++)
        hear_miss(encoder, &f.misses[i]);
}

void sl_encoder_restart(struct sl_encoder *encoder, const uint8_t *feedback, size_t len)
{
    struct feedback f;
    const bool is_behind =
        feedback_read(&f, feedback, len) && f.has_epoch && (int32_t)(f.epoch - encoder->epoch) > 0;

    begin_epoch(encoder, (is_behind ? f.epoch : encoder->epoch) + 1);
}

/* ---- shared memory --------------------------------------------------------------------------- */

void encoder_share(struct sl_encoder *encoder)
{
    encoder->matcher->search.log.gives_back = true;
}

uint64_t encoder_held(const struct sl_encoder *encoder)
{
    const struct packet_log *const log = &encoder->matcher->search.log;

    return log->end - log_start(log);
}

void encoder_forget(struct sl_encoder *encoder, uint64_t len)
{
    struct packet_log *const log = &encoder->matcher->search.log;

    log_drop(log, log_start(log) + len);
}

/* ---- a kept cache ---------------------------------------------------------------------------- */

void encoder_describe(const struct sl_encoder *encoder, struct kept_log *kept)
{
    kept->epoch = encoder->epoch;
    kept->decoder = encoder->has_decoder ? encoder->decoder : 0;
    kept_describe(kept, &encoder->matcher->search.log, encoder->matcher->search.config.cache_len);
}

enum sl_status encoder_save(const struct sl_encoder *encoder, int fd, struct sl_diag *diag)
{
    struct kept_log kept;

    encoder_describe(encoder, &kept);
    return kept_write(fd, &kept, &encoder->matcher->search.log, diag);
}

enum sl_status encoder_load(struct sl_encoder *encoder, int fd, struct kept_log *kept,
                            struct sl_diag *diag)
{
    const enum sl_status status = kept_read(fd, kept, &encoder->matcher->search.log, diag);

    if (status != SL_OK || kept->end == kept->start)
        return status;
    encoder->epoch = kept->epoch;
    encoder->has_decoder = kept->decoder != 0;
    encoder->decoder = kept->decoder;
    return SL_OK;
}

bool encoder_part(const struct sl_encoder *encoder, uint64_t *at, struct sl_batch *batch,
                  uint32_t max_len)
{
    const struct packet_log *const log = &encoder->matcher->search.log;

    if (*at < log_start(log))
        *at = log_start(log);
    if (*at >= log->end)
        return false;

    const uint64_t left = log->end - *at;
    const uint32_t len = left < max_len ? (uint32_t)left : max_len;
    log_copy(log, *at, batch->bytes, len);
    sl_batch_append(batch, len, 0);
    *at += len;
    return true;
}

void encoder_learn(struct sl_encoder *encoder, uint64_t at, const struct sl_hits *hits)
{
    struct fingerprint_index *const index = &encoder->matcher->index;

    for (size_t i = 0; i < hits->n; i++) {
        if (i + LEARN_AHEAD < hits->n)
            index_prefetch(index, index_hash(hits->hit[i + LEARN_AHEAD].id));
        index_put(index, index_hash(hits->hit[i].id), at + hits->hit[i].offset);
    }
}

/* Where the log ends that feedback describes; UINT64_MAX: no decoder wrote that. */
static uint64_t described_end(const struct feedback *f)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < f->n_runs; i++) {
        const struct feedback_range *const run = &f->runs[i];

        if (run->position < end || run->position % LOG_GRANULE != 0 || run->len % LOG_GRANULE != 0)
            return UINT64_MAX;
        end = run->position + run->len;
    }
    return end > LOG_EPOCH_MAX || f->start > end ? UINT64_MAX : end;
}

/* Of the log that feedback describes, only its runs are there. The bytes sent since are not. */
static void forget_unheard(struct packet_log *log, const struct feedback *f, uint64_t end)
{
    uint64_t at = end > FEEDBACK_SPAN ? end - FEEDBACK_SPAN : 0;

    at = at > log_start(log) ? at : log_start(log);
    for (uint32_t i = 0; i < f->n_runs; i++) {
        const uint64_t begin = f->runs[i].position, run_end = begin + f->runs[i].len;

        if (begin > at)
            log_mark(log, at, begin - at, false);
        at = run_end > at ? run_end : at;
    }
    if (at < log->end)
        log_mark(log, at, log->end - at, false);
}

bool encoder_resume(struct sl_encoder *encoder, const uint8_t *feedback, size_t len)
{
    struct sl_matcher *const m = encoder->matcher;
    struct packet_log *const log = &m->search.log;
    struct feedback f;

    if (log->known == NULL || !feedback_read(&f, feedback, len) || !f.has_epoch ||
        f.epoch != encoder->epoch || !encoder->has_decoder || f.decoder != encoder->decoder)
        return false;

    const uint64_t end = described_end(&f);
    if (end == UINT64_MAX)
        return false;
    if (end > log->end)
        log_skip(log, end);
    if (f.start > log->floor)
        log->floor = f.start;
    forget_unheard(log, &f, end);
    matcher_forget_pending(m);
    matcher_set_reach(m, f.cache_len);
    encoder->flights.begin = encoder->flights.end;
    encoder->n_resends = 0;
    return true;
}

void sl_encoder_stats(const struct sl_encoder *encoder, struct sl_encoder_stats *stats)
{
    *stats = encoder->stats;
    sl_matcher_stats(encoder->matcher, &stats->match);
}
