/* SPDX-License-Identifier: MIT */
/* Frames to packets. A frame is trusted in nothing until the packet made of it has passed its
 * check: before, neither the log nor the epoch moves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/diag.h"
#include "build_in.h"
#include "feedback.h"
#include "held_cache.h"
#include "kept_cache.h"
#include "redundancy/frames/frame.h"
#include "redundancy/match/matcher.h"

enum {
    COPY_AHEAD = 8,   /* references */
    DOUBT_FAILED = 2, /* cost of a frame that fails its check; one that passes takes 1 */
    DOUBT_MAX = 16
};

struct sl_decoder {
    struct packet_log log;
    uint64_t cache_len;
    uint64_t forgotten,
        margin; /* log below is not referred to any more, and goes that much later */
    uint32_t frame_max;
    uint32_t number; /* random: distinguishes feedback from that of an earlier decoder */
    uint32_t epoch;
    bool has_epoch;
    uint32_t doubt;  /* that this log is the encoder's */
    uint8_t *packet; /* frame_max bytes: the packet in work */
    uint8_t *room;   /* the decoder's own for it */
    struct reference *references;
    struct feedback feedback; /* to be sent: the runs of missing packets */
    struct sl_decoder_stats stats;
};

enum sl_status sl_decoder_create(struct sl_decoder **decoder,
                                 const struct sl_redundancy_config *config, struct sl_diag *diag)
{
    enum sl_status status = matcher_check(config, diag);
    if (status != SL_OK)
        return status;

    struct sl_decoder *const d = calloc(1, sizeof *d);
    if (d == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a decoder");
    d->cache_len = config->cache_len;
    d->frame_max = config->frame_max;
    d->packet = d->room = malloc(d->frame_max);
    d->references = malloc((d->frame_max / SL_REFERENCE_MIN + 1) * sizeof *d->references);
    if (d->packet == NULL || d->references == NULL)
        status =
            diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for packets of %u bytes", d->frame_max);
    else if (getrandom(&d->number, sizeof d->number, 0) != sizeof d->number)
        status = diag_set(diag, SL_EIO, NULL, 0, "no random number: %s", strerror(errno));
    else
        status = log_create(&d->log, d->cache_len, true, diag);
    if (status != SL_OK) {
        sl_decoder_free(d);
        return status;
    }
    *decoder = d;
    return SL_OK;
}

void sl_decoder_free(struct sl_decoder *decoder)
{
    if (decoder == NULL)
        return;
    log_free(&decoder->log);
    free(decoder->room);
    free(decoder->references);
    free(decoder);
}

/* ---- one frame ------------------------------------------------------------------------------- */

/* Whether all content that the frame refers to is here: in the log, or in its own packet before the
 * reference. `has_log`: the frame's positions are those of this log. */
static bool resolves(const struct sl_decoder *d, const struct frame_header *header, bool has_log)
{
    uint32_t done = 0;

    for (uint32_t i = 0; i < header->n_references; i++) {
        const struct reference *const reference = &d->references[i];
        const uint64_t source = reference->source;

        done += reference->gap;
        if (source >= header->position) {
            if (source - header->position >= done)
                return false;
        } else if (!has_log || reference->len > header->position - source ||
                   !log_has(&d->log, source, reference->len)) {
            return false;
        }
        done += reference->len;
    }
    return true;
}

/* Bytes of the packet that lie before them in it: a run that repeats itself doubles. */
static void copy_inside(uint8_t *to, const uint8_t *from, uint32_t len)
{
    while (len > 0) {
        const uint32_t apart = (uint32_t)(to - from);
        const uint32_t now = len < apart ? len : apart;

        memcpy(to, from, now);
        to += now;
        len -= now;
    }
}

static void build_packet(struct sl_decoder *d, const struct frame_header *header,
                         const uint8_t *literals)
{
    const struct reference *const references = d->references;
    const uint64_t start = log_start(&d->log);
    uint8_t *to = d->packet;

    for (uint32_t i = 0; i < header->n_references; i++) {
        const struct reference *const reference = &references[i];

        if (i + COPY_AHEAD < header->n_references) {
            const uint64_t next = references[i + COPY_AHEAD].source;

            if (next >= start && next < d->log.end)
                __builtin_prefetch(d->log.bytes + log_at(&d->log, next));
        }
        memcpy(to, literals, reference->gap);
        to += reference->gap;
        literals += reference->gap;
        if (reference->source >= header->position)
            copy_inside(to, d->packet + (reference->source - header->position), reference->len);
        else
            log_copy(&d->log, reference->source, to, reference->len);
        to += reference->len;
    }
    memcpy(to, literals, header->len - (size_t)(to - d->packet));
}

void decoder_build_in(struct sl_decoder *decoder, uint8_t *room)
{
    decoder->packet = room;
}

/* ---- its place in the log -------------------------------------------------------------------- */

static void begin_log(struct sl_decoder *d, uint64_t position)
{
    log_restart(&d->log, position);
    d->forgotten = position;
    d->doubt = 0;
}

/* A checked packet of a new epoch, or the first of all. */
static void adopt_epoch(struct sl_decoder *d, const struct frame_header *header)
{
    d->epoch = header->epoch;
    d->has_epoch = true;
    begin_log(d, header->position);
    d->feedback = (struct feedback){0};
    d->stats.epochs++;
}

static bool is_older(const struct sl_decoder *d, const struct frame_header *header)
{
    return d->has_epoch && (int32_t)(header->epoch - d->epoch) < 0;
}

/* The encoder is not where its frames must come from: it is to begin a new epoch. A frame of an
 * older one may just be late: it takes no other's place. */
static void request_epoch(struct sl_decoder *d, const struct frame_header *header)
{
    if (d->feedback.restart && is_older(d, header))
        return;
    d->feedback.restart = true;
    d->feedback.heard = header->epoch;
}

/* Puts a checked packet where it belongs in the log of this epoch, if that is kept. */
static void place_packet(struct sl_decoder *d, const struct frame_header *header)
{
    struct packet_log *const log = &d->log;
    const uint64_t position = header->position, end = position + log_round(header->len);

    if (header->len == 0 || position < log_start(log))
        return;
    if (position >= log->end) {
        d->stats.holes += position - log->end;
        if (position - log->end > log->len)
            begin_log(d, position);
        else
            log_skip(log, position);
        log_append(log, d->packet, header->len);
        log_set_known(log, position, header->len);
    } else if (end <= log->end && log_run(log, position, end - position, false) == end - position) {
        log_fill(log, position, d->packet, header->len);
    } else {
        /* Two packets for one place: one of them is of an encoder that began anew unannounced. */
        request_epoch(d, header);
    }
}

/* A frame failed its check although its references were resolved. A single failure is damage on the
 * way, so the frame is requested. Many failures mean that the encoder has another log: that of an
 * earlier encoder in the same epoch. */
static void doubt_log(struct sl_decoder *d, const struct frame_header *header)
{
    if (header->n_references == 0)
        return;
    feedback_miss(&d->feedback, header->position, header->len);
    d->doubt += DOUBT_FAILED;
    if (d->doubt >= DOUBT_MAX) {
        d->doubt = 0;
        request_epoch(d, header);
    }
}

/* Whether the frame's packet is in the log already. */
static bool is_repeated(const struct sl_decoder *d, const struct frame_header *header,
                        const uint8_t *frame)
{
    if (header->len == 0 || !log_has(&d->log, header->position, header->len))
        return false;
    log_copy(&d->log, header->position, d->packet, header->len);
    return frame_check(frame, d->packet, header->len) == header->check;
}

static enum sl_frame_verdict decode(struct sl_decoder *d, struct frame_header *header,
                                    const uint8_t *frame, size_t len)
{
    const uint8_t *literals;

    if (!frame_read_header(header, frame, len, d->frame_max) ||
        !frame_read_references(d->references, &literals, header, frame, len))
        return SL_FRAME_DAMAGED;

    const bool has_log = d->has_epoch && header->epoch == d->epoch;
    if (has_log && is_repeated(d, header, frame))
        return SL_FRAME_REPEATED;
    if (!resolves(d, header, has_log)) {
        if (has_log)
            feedback_miss(&d->feedback, header->position, header->len);
        else
            request_epoch(d, header);
        return is_older(d, header) ? SL_FRAME_LATE : SL_FRAME_UNRESOLVED;
    }
    build_packet(d, header, literals);
    if (frame_check(frame, d->packet, header->len) != header->check) {
        if (has_log)
            doubt_log(d, header);
        return SL_FRAME_DAMAGED;
    }
    if (header->n_references > 0 && d->doubt > 0)
        d->doubt--;
    if (is_older(d, header)) {
        request_epoch(d, header);
        return SL_FRAME_DELIVERED;
    }
    if (!has_log)
        adopt_epoch(d, header);
    place_packet(d, header);
    return SL_FRAME_DELIVERED;
}

enum sl_frame_verdict sl_decoder_decode(struct sl_decoder *decoder, const uint8_t *frame,
                                        size_t len, const uint8_t **packet, uint32_t *packet_len)
{
    struct frame_header header;
    const enum sl_frame_verdict verdict = decode(decoder, &header, frame, len);
    const bool delivered = verdict == SL_FRAME_DELIVERED;

    *packet = delivered ? decoder->packet : NULL;
    *packet_len = delivered ? header.len : 0;
    decoder->stats.bytes += *packet_len;
    decoder->stats.frames[verdict]++;
    return verdict;
}

void sl_decoder_stats(const struct sl_decoder *decoder, struct sl_decoder_stats *stats)
{
    *stats = decoder->stats;
}

/* ---- shared memory --------------------------------------------------------------------------- */

/* The first byte that the encoder may refer to. */
static uint64_t reported_start(const struct sl_decoder *d)
{
    const uint64_t start = log_start(&d->log);

    return start > d->forgotten ? start : d->forgotten;
}

void decoder_share(struct sl_decoder *decoder, uint64_t margin)
{
    decoder->log.gives_back = true;
    decoder->margin = margin;
}

uint64_t decoder_held(const struct sl_decoder *decoder)
{
    return decoder->log.end - reported_start(decoder);
}

void decoder_forget(struct sl_decoder *decoder, uint64_t len)
{
    decoder->forgotten = reported_start(decoder) + len;
    if (decoder->forgotten > decoder->margin)
        log_drop(&decoder->log, decoder->forgotten - decoder->margin);
}

/* ---- feedback -------------------------------------------------------------------------------- */

uint32_t sl_decoder_feedback(struct sl_decoder *decoder, uint8_t feedback[SL_FEEDBACK_MAX])
{
    struct feedback *const f = &decoder->feedback;
    const struct packet_log *const log = &decoder->log;
    const uint64_t start = log_start(log);

    f->has_epoch = decoder->has_epoch;
    f->decoder = decoder->number;
    f->epoch = decoder->epoch;
    f->cache_len = log->len;
    f->start = reported_start(decoder);
    f->n_runs = 0;

    uint64_t at = log->end - start > FEEDBACK_SPAN ? log->end - FEEDBACK_SPAN : start;
    while (at < log->end) {
        const uint64_t known = log_run(log, at, log->end - at, true);

        if (known > 0)
            feedback_add_run(f, at, known);
        at += known;
        at += log_run(log, at, log->end - at, false);
    }

    const uint32_t len = feedback_write(f, feedback);
    *f = (struct feedback){0};
    return len;
}

/* ---- a kept cache ---------------------------------------------------------------------------- */

void decoder_describe(const struct sl_decoder *decoder, struct kept_log *kept)
{
    kept->epoch = decoder->epoch;
    kept->decoder = decoder->number;
    kept_describe(kept, &decoder->log, decoder->cache_len);
}

enum sl_status decoder_save(const struct sl_decoder *decoder, int fd, struct sl_diag *diag)
{
    struct kept_log kept;

    decoder_describe(decoder, &kept);
    return kept_write(fd, &kept, &decoder->log, diag);
}

enum sl_status decoder_load(struct sl_decoder *decoder, int fd, struct kept_log *kept,
                            struct sl_diag *diag)
{
    const enum sl_status status = kept_read(fd, kept, &decoder->log, diag);

    if (status != SL_OK || kept->end == kept->start)
        return status;
    decoder->number = kept->decoder;
    decoder->epoch = kept->epoch;
    decoder->has_epoch = true;
    return SL_OK;
}

void decoder_take_over(struct sl_decoder *decoder, const struct sl_decoder *from)
{
    struct packet_log *const log = &decoder->log;
    const uint64_t start = log_start(&from->log);

    decoder->epoch = from->epoch;
    decoder->has_epoch = from->has_epoch;
    log_restart(log, start);
    while (log->end < from->log.end) {
        const uint64_t at = log_at(&from->log, log->end), left = from->log.end - log->end;
        uint64_t len = left < from->log.len - at ? left : from->log.len - at;

        len = len < log->len ? len : log->len;
        len = len < SL_FRAME_MAX ? len : SL_FRAME_MAX;
        log_append(log, from->log.bytes + at, (uint32_t)len);
        log_mark(log, log->end - len, len, true);
    }
}
