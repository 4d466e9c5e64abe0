/* SPDX-License-Identifier: MIT */
/* The queue of a half: pieces beyond holes, and those in doubt. They are disjoint, and in order of
 * their sequence numbers. */
#include "stream_half.h"

#include <string.h>

static struct stream_piece *piece_at(const struct stream_shard *shard, uint32_t index)
{
    return &stream_block_at(shard, index)->first.piece;
}

static struct stream_queue *queue_of(const struct stream_site *site, uint32_t half)
{
    return &stream_block_at(site->shard, site->stream->rest[half].queue)->queue;
}

static uint32_t piece_end(const struct stream_piece *piece)
{
    return piece->begin + piece->len;
}

/* ---- links ---- */

/* Counts, or takes back, the break between two pieces; 0 is none. */
static void count_break(const struct stream_shard *shard, struct stream_queue *queue, uint32_t a,
                        uint32_t b, bool adds)
{
    if (a == 0 || b == 0 || piece_end(piece_at(shard, a)) == piece_at(shard, b)->begin)
        return;
    queue->n_breaks += adds ? 1 : UINT32_MAX;
}

static void link_piece(const struct stream_shard *shard, struct stream_queue *queue, uint32_t index,
                       uint32_t before)
{
    struct stream_piece *piece = piece_at(shard, index);
    const uint32_t after = before != 0 ? piece_at(shard, before)->after : queue->first;

    count_break(shard, queue, before, after, false);
    piece->before = before;
    piece->after = after;
    *(before != 0 ? &piece_at(shard, before)->after : &queue->first) = index;
    *(after != 0 ? &piece_at(shard, after)->before : &queue->last) = index;
    count_break(shard, queue, before, index, true);
    count_break(shard, queue, index, after, true);
}

static void unlink_piece(const struct stream_shard *shard, struct stream_queue *queue,
                         uint32_t index)
{
    const struct stream_piece *piece = piece_at(shard, index);
    const uint32_t before = piece->before, after = piece->after;

    count_break(shard, queue, before, index, false);
    count_break(shard, queue, index, after, false);
    *(before != 0 ? &piece_at(shard, before)->after : &queue->first) = after;
    *(after != 0 ? &piece_at(shard, after)->before : &queue->last) = before;
    count_break(shard, queue, before, after, true);
}

/* A piece keeps `len` of its bytes, behind the first `skip`. */
static void trim_piece(const struct stream_shard *shard, struct stream_queue *queue, uint32_t index,
                       uint32_t skip, uint32_t len)
{
    struct stream_piece *piece = piece_at(shard, index);
    const uint32_t before = piece->before;

    unlink_piece(shard, queue, index);
    piece->begin += skip;
    piece->skip += skip;
    piece->len = len;
    link_piece(shard, queue, index, before);
}

/* ---- queues and pieces ---- */

static bool open_queue(const struct stream_site *site, uint32_t half)
{
    const uint32_t index = stream_blocks_take(site->shard, 1);

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
    stream_blocks_give(site->shard, rest->queue);
    rest->queue = 0;
    site->stream->half[half].flags &= (uint16_t)~STREAM_QUEUED;
}

static void remove_piece(const struct stream_site *site, uint32_t half, uint32_t index)
{
    struct stream_queue *queue = queue_of(site, half);

    unlink_piece(site->shard, queue, index);
    queue->holder.n_blocks -= piece_at(site->shard, index)->n_blocks;
    stream_blocks_give(site->shard, index);
}

/* Makes a piece without bytes; 0: there is no memory. */
static uint32_t make_piece(const struct stream_site *site, uint32_t half, uint32_t begin,
                           uint32_t len, const struct stream_part *of)
{
    const uint32_t n = of->rank == STREAM_MISSING ? 1 : stream_blocks_of(len);
    const uint32_t index = stream_blocks_take(site->shard, n);

    if (index == 0) {
        stream_stats(site)->dropped += len;
        stream_report_event(site, half, STREAM_NO_SEGMENT);
        return 0;
    }
    struct stream_piece *piece = piece_at(site->shard, index);

    piece->begin = begin;
    piece->len = len;
    piece->skip = 0;
    piece->n_blocks = (uint16_t)n;
    piece->rank = (uint8_t)of->rank;
    piece->doubt = (uint8_t)of->doubt;
    queue_of(site, half)->holder.n_blocks += n;
    return index;
}

/* Makes a piece of a part, behind the piece `before`. Returns it, or `before`. */
static uint32_t add_piece(const struct stream_site *site, uint32_t half, uint32_t before,
                          uint32_t begin, uint32_t end, const struct stream_part *part)
{
    const uint32_t index = make_piece(site, half, begin, end - begin, part);

    if (index == 0)
        return before;
    if (part->rank != STREAM_MISSING)
        stream_blocks_write(site->shard, index, 0,
                            site->shard->bytes + part->at + (begin - part->begin), end - begin);
    link_piece(site->shard, queue_of(site, half), index, before);
    return index;
}

/* Copies the end of a piece, from `begin` on, to a piece of its own. */
static void split_piece(const struct stream_site *site, uint32_t half, uint32_t index,
                        uint32_t begin)
{
    const struct stream_piece *piece = piece_at(site->shard, index);
    const struct stream_part of = {.rank = piece->rank, .doubt = piece->doubt};
    const uint32_t skip = begin - piece->begin, len = piece->len - skip;
    const uint32_t more = make_piece(site, half, begin, len, &of);

    if (more == 0)
        return;
    if (piece->rank != STREAM_MISSING) {
        struct stream_cursor from = stream_cursor_at(site->shard, index, piece->skip + skip);

        for (uint32_t done = 0, n; done < len; done += n) {
            const uint8_t *bytes = stream_cursor_next(site->shard, &from, len - done, &n);

            stream_blocks_write(site->shard, more, done, bytes, n);
        }
    }
    link_piece(site->shard, queue_of(site, half), more, index);
}

/* ---- overlaps ---- */

static bool part_wins(const struct stream_site *site, uint32_t half, const struct stream_part *part,
                      const struct stream_piece *piece)
{
    if (part->rank != piece->rank)
        return part->rank > piece->rank;
    return part->rank != STREAM_MISSING &&
           stream_policy_new_wins(site->stream->half[half].policy, part, piece->begin,
                                  piece_end(piece));
}

/* Whether the bytes of both differ where they overlap. */
static bool differs(const struct stream_site *site, const struct stream_part *part, uint32_t index)
{
    const struct stream_piece *piece = piece_at(site->shard, index);
    const uint32_t begin =
        stream_behind(piece->begin, part->begin) > 0 ? piece->begin : part->begin;
    const uint32_t end =
        stream_behind(piece_end(piece), part->end) < 0 ? piece_end(piece) : part->end;

    if (part->rank == STREAM_MISSING || piece->rank == STREAM_MISSING)
        return false;
    return !stream_blocks_equal(site->shard, index, piece->skip + (begin - piece->begin),
                                site->shard->bytes + part->at + (begin - part->begin), end - begin);
}

/* A piece loses to the part. Returns the piece behind which the part belongs. */
static uint32_t yield_piece(const struct stream_site *site, uint32_t half, uint32_t index,
                            const struct stream_part *part)
{
    struct stream_queue *queue = queue_of(site, half);
    const struct stream_piece *piece = piece_at(site->shard, index);
    const uint32_t before = piece->before;
    const int32_t head = stream_behind(part->begin, piece->begin);
    const int32_t tail = stream_behind(piece_end(piece), part->end);

    if (head > 0) {
        if (tail > 0)
            split_piece(site, half, index, part->end);
        trim_piece(site->shard, queue, index, 0, (uint32_t)head);
        return index;
    }
    if (tail > 0)
        trim_piece(site->shard, queue, index, piece->len - (uint32_t)tail, (uint32_t)tail);
    else
        remove_piece(site, half, index);
    return before;
}

/* The last piece that ends at the part's begin or before it. */
static uint32_t piece_before(const struct stream_site *site, uint32_t half, uint32_t begin)
{
    uint32_t index = queue_of(site, half)->last;

    while (index != 0 && stream_behind(piece_end(piece_at(site->shard, index)), begin) > 0)
        index = piece_at(site->shard, index)->before;
    return index;
}

/* Lays the part among the pieces. Returns whether bytes differ. */
static bool insert(const struct stream_site *site, uint32_t half, const struct stream_part *part)
{
    const struct stream_shard *shard = site->shard;
    uint32_t before = piece_before(site, half, part->begin);
    uint32_t at = part->begin; /* the part is laid out up to here */
    bool conflict = false;

    for (;;) {
        const uint32_t index =
            before != 0 ? piece_at(shard, before)->after : queue_of(site, half)->first;
        const struct stream_piece *piece = piece_at(shard, index);

        if (index == 0 || stream_behind(piece->begin, part->end) >= 0)
            break;
        conflict |= differs(site, part, index);
        if (part_wins(site, half, part, piece)) {
            before = yield_piece(site, half, index, part);
            continue;
        }
        if (stream_behind(piece->begin, at) > 0)
            (void)add_piece(site, half, before, at, piece->begin, part);
        at = piece_end(piece);
        before = index;
    }
    if (stream_behind(part->end, at) > 0)
        (void)add_piece(site, half, before, at, part->end, part);
    return conflict;
}

/* ---- reporting ---- */

/* Reports the first n bytes of the first piece, which is next in sequence. */
static void report_piece(const struct stream_site *site, uint32_t half, uint32_t n)
{
    const uint32_t index = queue_of(site, half)->first;
    const struct stream_piece *piece = piece_at(site->shard, index);
    const uint32_t skip = piece->skip, len = piece->len;

    if (piece->rank == STREAM_MISSING) {
        stream_report_gap(site, half, len, SL_GAP_SNAPPED);
    } else {
        uint8_t *bytes = stream_output_copy(site->shard, n);

        if (bytes != NULL) {
            stream_blocks_read(site->shard, index, skip, bytes, n);
            stream_report(site, half, STREAM_COPIED,
                          (uint32_t)(bytes - site->shard->output->copied), n);
        }
    }
    if (n < len)
        trim_piece(site->shard, queue_of(site, half), index, n, len - n);
    else
        remove_piece(site, half, index);
}

/* How many bytes of a piece count. Those in doubt count once they are acknowledged. A FIN takes a
 * number, so one more tells that bytes behind it were taken. */
static uint32_t count_sure(const struct stream_site *site, uint32_t half,
                           const struct stream_piece *piece)
{
    const struct stream_half *h = stream_half_of(site, half);
    const int32_t acked = stream_behind(h->acked, piece->begin);

    if (piece->rank != STREAM_DOUBTFUL)
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
        const struct stream_queue *queue = queue_of(site, half);
        const struct stream_piece *piece = piece_at(site->shard, queue->first);
        uint32_t n;

        if (queue->first == 0) {
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
        if (piece->rank == STREAM_DOUBTFUL)
            revive(site, half, piece->doubt);
        report_piece(site, half, n);
    }
}

/* The first hole is given up. Bytes in doubt that lie before it are dropped. */
static void give_up_hole(const struct stream_site *site, uint32_t half, enum sl_stream_gap cause)
{
    struct stream_half *h = stream_half_of(site, half);

    for (uint32_t first; (first = queue_of(site, half)->first) != 0;) {
        const struct stream_piece *piece = piece_at(site->shard, first);

        if (count_sure(site, half, piece) != 0) {
            if (piece->begin != h->seq)
                stream_report_gap(site, half, piece->begin - h->seq, cause);
            break;
        }
        stream_stats(site)->dropped += piece->len;
        remove_piece(site, half, first);
    }
    stream_queue_settle(site, half);
}

/* ---- bounds ---- */

static uint32_t blocks_held(const struct stream_site *site, uint32_t half)
{
    return site->stream->rest[half].queue == 0 ? 0 : queue_of(site, half)->holder.n_blocks + 1;
}

/* Gives up the hole of the half that has had a queue for the longest. False: there is none. */
static bool evict_oldest(const struct stream_site *site)
{
    const uint32_t oldest = site->shard->queues.oldest;

    if (oldest == 0)
        return false;
    const struct stream_queue *queue = &stream_block_at(site->shard, oldest)->queue;
    const struct stream_site other = {.shard = site->shard,
                                      .stream = queue->holder.stream,
                                      .flow = queue->flow,
                                      .item = site->item};

    give_up_hole(&other, queue->holder.half, SL_GAP_MEMORY);
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
    if (n > site->shard->n_free) {
        if (!evict_oldest(site))
            (void)stream_context_evict(site);
        return false;
    }
    return true;
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
        if (part.rank != STREAM_DOUBTFUL && old == 0 && !stream_has(h, STREAM_QUEUED)) {
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
    if (insert(site, half, &part)) {
        stream_stats(site)->conflicts++;
        stream_report_event(site, half, STREAM_OVERLAP_DIFFERENT);
    }
    stream_queue_settle(site, half);
    while (stream_has(h, STREAM_QUEUED) && queue_of(site, half)->n_breaks >= STREAM_HOLES_MAX)
        give_up_hole(site, half, SL_GAP_HOLES);
}

uint32_t stream_queue_end(const struct stream_site *site, uint32_t half)
{
    const struct stream_half *h = stream_half_of(site, half);
    const uint32_t last = stream_has(h, STREAM_QUEUED) ? queue_of(site, half)->last : 0;

    return last != 0 ? piece_end(piece_at(site->shard, last)) : h->seq;
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
    for (uint32_t first; (first = queue_of(site, half)->first) != 0;)
        remove_piece(site, half, first);
    close_queue(site, half);
}
