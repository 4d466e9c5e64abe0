/* SPDX-License-Identifier: MIT */
/* The queue of a half: pieces beyond holes, and those in doubt. */
#include "stream_half.h"

static struct stream_queue *queue_at(const struct stream_shard *shard, uint32_t index)
{
    return (struct stream_queue *)stream_block_at(&shard->arena, index);
}

bool stream_waits_on_syn(const struct stream_shard *shard, const struct stream *stream,
                         uint32_t half)
{
    const uint32_t first =
        stream_waits(stream, half) ? queue_at(shard, stream->rest[half].queue)->pieces.first : 0;
    const struct stream_piece *piece = stream_piece_at(&shard->arena, first);

    return first != 0 && piece->after == 0 && piece->rank != STREAM_SURE &&
           piece->doubt == SL_DOUBT_SYN;
}

static struct stream_queue *queue_of(const struct stream_site *site, uint32_t half)
{
    return queue_at(site->shard, site->stream->rest[half].queue);
}

static struct stream_piece *first_piece(const struct stream_site *site, uint32_t half)
{
    return stream_piece_at(&site->shard->arena, queue_of(site, half)->pieces.first);
}

static bool has_pieces(const struct stream_site *site, uint32_t half)
{
    return queue_of(site, half)->pieces.first != 0;
}

static void remove_first(const struct stream_site *site, uint32_t half)
{
    stream_pieces_remove_first(&site->shard->arena, &queue_of(site, half)->pieces);
}

static bool open_queue(const struct stream_site *site, uint32_t half)
{
    const uint32_t index = stream_blocks_take(&site->shard->arena, 1);

    if (index == 0)
        return false;
    site->stream->rest[half].queue = index;
    site->stream->half[half].flags |= STREAM_QUEUED;
    *queue_of(site, half) = (struct stream_queue){
        .holder = {.stream = site->stream, .half = (uint8_t)half}, .flow = site->flow};
    stream_holder_append(site->shard, &site->shard->queues, index);
    return true;
}

static void close_queue(const struct stream_site *site, uint32_t half)
{
    struct stream_rest *rest = &site->stream->rest[half];

    stream_holder_remove(site->shard, &site->shard->queues, rest->queue);
    stream_blocks_give(&site->shard->arena, rest->queue);
    rest->queue = 0;
    site->stream->half[half].flags &= (uint16_t)~STREAM_QUEUED;
}

/* ---- reporting ---- */

/* Reports the first n bytes of the first piece, which is next in sequence. */
static void report_piece(const struct stream_site *site, uint32_t half, uint32_t n)
{
    struct stream_arena *arena = &site->shard->arena;
    struct stream_pieces *pieces = &queue_of(site, half)->pieces;
    const struct stream_piece *piece = first_piece(site, half);

    if (piece->rank == STREAM_MISSING) {
        stream_report_gap(site, half, n, SL_GAP_SNAPPED);
    } else {
        uint8_t *bytes = stream_output_copy(site->shard, n, 1);

        if (bytes != NULL) {
            stream_blocks_read(arena, pieces->first, piece->skip, bytes, n);
            stream_report(site, half, STREAM_COPIED,
                          (uint32_t)(bytes - site->shard->output->copied), n);
        }
    }
    if (n < piece->len)
        stream_pieces_trim_first(arena, pieces, n);
    else
        stream_pieces_remove_first(arena, pieces);
}

/* How many bytes of a piece count. Those in doubt count once they are acknowledged. A FIN takes a
 * number, so one more shows that bytes behind it were taken. */
static uint32_t count_sure(const struct stream_site *site, uint32_t half,
                           const struct stream_piece *piece)
{
    const struct stream_half *h = stream_half_of(site, half);
    const int32_t acked = stream_behind(h->acked, piece->begin);

    if (piece->rank > STREAM_DOUBTFUL)
        return piece->len;
    if (!stream_is_heard(site, half))
        return piece->doubt == SL_DOUBT_SYN && (stream_has(h, STREAM_ESTABLISHED) || site->is_end)
                   ? piece->len
                   : 0;
    if (acked <= 0 || (stream_has(h, STREAM_FIN_DONE) && stream_behind(h->acked, h->seq) < 2))
        return 0;
    return (uint32_t)acked < piece->len ? (uint32_t)acked : piece->len;
}

/* Bytes behind a FIN or after a RST were acknowledged: the receiver never got those. */
static void revive(const struct stream_site *site, uint32_t half, enum sl_stream_doubt doubt)
{
    stream_half_of(site, half)->flags &= (uint16_t)~STREAM_FIN_DONE;
    for (uint32_t i = 0; doubt == SL_DOUBT_RST && i < 2; i++)
        stream_half_of(site, i)->flags &= (uint16_t)~STREAM_RST;
}

void stream_queue_settle(const struct stream_site *site, uint32_t half)
{
    struct stream_half *h = stream_half_of(site, half);

    while (stream_has(h, STREAM_QUEUED)) {
        const struct stream_piece *piece = first_piece(site, half);
        uint32_t n;

        if (!has_pieces(site, half)) {
            close_queue(site, half);
            return;
        }
        n = count_sure(site, half, piece);
        if (n == 0)
            return;
        if (piece->begin != h->seq) {
            if (!stream_is_heard(site, half) || stream_behind(h->acked, piece->begin) < 0)
                return;
            stream_report_gap(site, half, piece->begin - h->seq, SL_GAP_LOST);
        }
        if (piece->rank <= STREAM_DOUBTFUL)
            revive(site, half, piece->doubt);
        report_piece(site, half, n);
    }
}

/* The first hole is given up. Bytes in doubt that lie before it are dropped. But those behind the
 * window count if they are next: where a capture lacks acknowledgements, it also lacks windows. */
static void give_up_hole(const struct stream_site *site, uint32_t half, enum sl_stream_gap cause)
{
    struct stream_half *h = stream_half_of(site, half);

    while (has_pieces(site, half)) {
        struct stream_piece *piece = first_piece(site, half);

        if (piece->rank == STREAM_UNLIKELY && piece->doubt == SL_DOUBT_WINDOW &&
            piece->begin == h->seq)
            piece->rank = STREAM_SURE;
        if (count_sure(site, half, piece) != 0) {
            if (piece->begin != h->seq)
                stream_report_gap(site, half, piece->begin - h->seq, cause);
            break;
        }
        stream_stats(site)->dropped += piece->len;
        remove_first(site, half);
    }
    stream_queue_settle(site, half);
}

/* ---- bounds ---- */

static uint32_t blocks_held(const struct stream_site *site, uint32_t half)
{
    return site->stream->rest[half].queue == 0 ? 0 : queue_of(site, half)->pieces.n_blocks + 1;
}

/* Gives up the hole of the half that has had a queue for the longest. False: there is none. */
static bool evict_oldest(const struct stream_site *site)
{
    const uint32_t oldest = site->shard->queues.oldest;

    if (oldest == 0)
        return false;
    const struct stream_queue *queue = queue_at(site->shard, oldest);
    const struct stream_site other = {.shard = site->shard,
                                      .stream = queue->holder.stream,
                                      .flow = queue->flow,
                                      .sender = queue->flow == site->flow ? site->sender : 0,
                                      .item = site->item};

    const uint8_t half = queue->holder.half;

    give_up_hole(&other, half, SL_GAP_MEMORY);
    if (stream_half_of(&other, half)->next != 0)
        stream_context_hold(&other, half); /* of what waited behind the hole */
    return true;
}

/* Makes room for n more blocks of the half's queue, step by step. True: there is room. */
static bool has_room(const struct stream_site *site, uint32_t half, uint32_t n)
{
    const uint32_t held = blocks_held(site, 0) + blocks_held(site, 1);

    if (held + n > STREAM_QUEUE_MAX / STREAM_BLOCK_LEN) {
        give_up_hole(site, blocks_held(site, half) != 0 ? half : half ^ 1, SL_GAP_QUEUE);
        return false;
    }
    if (n > site->shard->arena.n_free) {
        if (!evict_oldest(site))
            (void)stream_context_evict(site);
        return false;
    }
    return true;
}

static void lay(const struct stream_site *site, uint32_t half, const struct stream_part *part)
{
    struct stream_laying laying = {.arena = &site->shard->arena,
                                   .pieces = &queue_of(site, half)->pieces,
                                   .part = *part,
                                   .bytes = site->shard->bytes + part->at,
                                   .policy = site->stream->half[half].policy,
                                   .new_wins = stream_policy_new_wins};

    stream_pieces_lay(&laying);
    if (laying.conflicts) {
        stream_stats(site)->conflicts++;
        stream_report_event(site, half, STREAM_OVERLAP_DIFFERENT);
    }
    if (laying.dropped != 0) {
        stream_stats(site)->dropped += laying.dropped;
        stream_report_event(site, half, STREAM_NO_SEGMENT);
    }
}

void stream_queue_take(const struct stream_site *site, uint32_t half, struct stream_part part)
{
    struct stream_half *h = stream_half_of(site, half);
    const bool missing = part.rank == STREAM_MISSING;

    for (;;) {
        const int32_t old = stream_behind(h->seq, part.begin);
        const uint32_t n = part.end - part.begin;

        if (old > 0) {
            part.begin = h->seq;
            part.at += (uint32_t)old;
            if (stream_behind(part.end, part.begin) <= 0)
                return;
            continue;
        }
        if (part.rank > STREAM_DOUBTFUL && old == 0 && !stream_has(h, STREAM_QUEUED)) {
            if (missing)
                stream_report_gap(site, half, n, SL_GAP_SNAPPED);
            else
                stream_report(site, half, STREAM_PACKET, part.at, n);
            return;
        }
        if (has_room(site, half, (missing ? 1 : stream_blocks_of(n)) + 1))
            break;
    }
    if (!stream_has(h, STREAM_QUEUED) && !open_queue(site, half))
        return;
    stream_stats(site)->queued += part.begin != h->seq;
    lay(site, half, &part);
    stream_queue_settle(site, half);
    while (stream_has(h, STREAM_QUEUED) &&
           queue_of(site, half)->pieces.n_breaks >= STREAM_HOLES_MAX)
        give_up_hole(site, half, SL_GAP_HOLES);
}

uint32_t stream_queue_end(const struct stream_site *site, uint32_t half)
{
    const struct stream_half *h = stream_half_of(site, half);
    const uint32_t last = stream_has(h, STREAM_QUEUED) ? queue_of(site, half)->pieces.last : 0;

    return last != 0 ? stream_piece_end(stream_piece_at(&site->shard->arena, last)) : h->seq;
}

void stream_queue_finish(const struct stream_site *site, uint32_t half)
{
    while (stream_has(stream_half_of(site, half), STREAM_QUEUED))
        give_up_hole(site, half, SL_GAP_END);
}

void stream_queue_drop(const struct stream_site *site, uint32_t half)
{
    if (!stream_has(stream_half_of(site, half), STREAM_QUEUED))
        return;
    while (has_pieces(site, half))
        remove_first(site, half);
    close_queue(site, half);
}
