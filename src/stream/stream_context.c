/* SPDX-License-Identifier: MIT */
/* The last bytes of a half. Those of this batch lie in its records, those of earlier ones in a ring
 * of blocks: offset o lies at o modulo the ring's length. A claim has none of earlier ones. */
#include "stream_half.h"

#include <string.h>

/* Bytes of a ring that has all its blocks. */
static uint32_t ring_len(const struct stream_shard *shard)
{
    return shard->context_blocks * (STREAM_BLOCK_LEN - STREAM_NEXT_LEN) -
           (STREAM_HEAD_LEN - STREAM_NEXT_LEN);
}

/* The offset of the first byte that counts. */
static uint64_t first_offset(const struct stream_shard *shard, const struct stream *stream,
                             uint32_t half)
{
    const uint32_t solid = stream_solid(stream, half);

    return stream->half[half].next - (solid < shard->context_len ? solid : shard->context_len);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool is_claim(const struct stream_shard *shard, uint32_t context)
{
    return context >= shard->arena.n_blocks;
}

static struct stream_claim *claim_at(struct stream_shard *shard, uint32_t context)
{
    return &shard->claim[context - shard->arena.n_blocks];
}

static struct stream_holder *held_by(const struct stream_shard *shard, uint32_t context)
{
    return (struct stream_holder *)stream_block_at(&shard->arena, context);
}

uint32_t stream_context_held(const struct stream_shard *shard, const struct stream *stream,
                             uint32_t half)
{
    const uint32_t context = stream->rest[half].context;

    if (is_claim(shard, context))
        return shard->claim[context - shard->arena.n_blocks].n_blocks;
    return context != 0 ? held_by(shard, context)->n_blocks : 0;
}

/* The blocks were counted, so that they are there. */
static void settle_claim(struct stream_shard *shard, const struct stream_claim *claim)
{
    stream_blocks_uncount(&shard->arena, claim->n_blocks);

    const uint32_t context = stream_blocks_take(&shard->arena, claim->n_blocks);
    struct stream_holder *holder = held_by(shard, context);

    holder->stream = claim->stream;
    holder->half = (uint8_t)claim->half;
    holder->n_blocks = claim->n_blocks;
    stream_holder_append(shard, &shard->contexts, context);
    claim->stream->rest[claim->half].context = context;
}

void stream_context_settle(struct stream_shard *shard)
{
    for (uint32_t i = 0; i < shard->n_claims; i++)
        if (shard->claim[i].stream != NULL)
            settle_claim(shard, &shard->claim[i]);
    shard->n_claims = 0;
}

void stream_context_free(struct stream_shard *shard, struct stream *stream, uint32_t half)
{
    struct stream_rest *rest = &stream->rest[half];

    if (rest->context == 0)
        return;
    if (is_claim(shard, rest->context)) {
        stream_blocks_uncount(&shard->arena, claim_at(shard, rest->context)->n_blocks);
        claim_at(shard, rest->context)->stream = NULL;
    } else {
        stream_holder_remove(shard, &shard->contexts, rest->context);
        stream_blocks_give(&shard->arena, rest->context);
    }
    rest->context = 0;
    stream->half[half].flags &= (uint16_t) ~(STREAM_CONTEXT_HELD | STREAM_CONTEXT_FITS);
}

/* The half goes on as if it began here. */
static void give_up(const struct stream_site *site, struct stream *stream, uint32_t half)
{
    stream_context_free(site->shard, stream, half);
    stream->rest[half].solid = (uint32_t)stream->half[half].next;
    stream->half[half].last = 0;
    stream_stats(site)->contexts_lost++;
}

bool stream_context_evict(const struct stream_site *site)
{
    if (site->shard->contexts.oldest == 0) /* the halves of claims are newer */
        stream_context_settle(site->shard);

    const uint32_t oldest = site->shard->contexts.oldest;

    if (oldest == 0)
        return false;
    const struct stream_holder *holder = held_by(site->shard, oldest);

    give_up(site, holder->stream, holder->half);
    return true;
}

/* Claims blocks for a half that has none. */
static void claim_blocks(const struct stream_site *site, uint32_t half, uint32_t n)
{
    struct stream_shard *shard = site->shard;

    if (shard->n_claims == STREAM_CLAIMS_MAX)
        stream_context_settle(shard);
    stream_blocks_count(&shard->arena, n);
    site->stream->rest[half].context = shard->arena.n_blocks + shard->n_claims;
    shard->claim[shard->n_claims++] = (struct stream_claim){site->stream, n, half};
}

/* Adds n blocks to the half's, behind the others, so that bytes stay where they are. The shard has
 * as many. */
static void add_blocks(const struct stream_site *site, uint32_t half, uint32_t n)
{
    struct stream_shard *shard = site->shard;
    const uint32_t context = site->stream->rest[half].context;

    if (context == 0) {
        claim_blocks(site, half, n);
    } else if (is_claim(shard, context)) {
        stream_blocks_count(&shard->arena, n);
        claim_at(shard, context)->n_blocks += n;
    } else {
        stream_blocks_append(&shard->arena, context, stream_blocks_take(&shard->arena, n));
        held_by(shard, context)->n_blocks += n;
    }
}

/* Evicts a context, unless the half alone has one: pieces have all other blocks. */
static bool evict_some(const struct stream_site *site, uint32_t half)
{
    struct stream_shard *shard = site->shard;
    const struct stream_holders *contexts = &shard->contexts;

    if (contexts->oldest == 0)
        stream_context_settle(shard);
    const bool alone = shard->n_claims == 0 && contexts->oldest == contexts->newest &&
                       contexts->oldest == site->stream->rest[half].context;

    return !alone && stream_context_evict(site);
}

static bool hold_more(const struct stream_site *site, uint32_t half, uint32_t wanted)
{
    const struct stream_arena *arena = &site->shard->arena;
    uint32_t held = stream_context_held(site->shard, site->stream, half);

    while (held < wanted) {
        const uint32_t more = wanted - held < arena->n_free ? wanted - held : arena->n_free;

        if (more != 0)
            add_blocks(site, half, more);
        else if (!evict_some(site, half))
            return false;
        held = more != 0 ? held + more : stream_context_held(site->shard, site->stream, half);
    }
    return true;
}

void stream_context_hold(const struct stream_site *site, uint32_t half)
{
    const struct stream_shard *shard = site->shard;
    struct stream_half *h = stream_half_of(site, half);
    const uint32_t wanted = stream_context_blocks(shard, h->next);

    if (hold_more(site, half, wanted))
        h->flags |= wanted == shard->context_blocks ? STREAM_CONTEXT_HELD : STREAM_CONTEXT_FITS;
    else
        give_up(site, site->stream, half);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static const uint8_t *bytes_of(const struct stream_shard *shard, const struct stream_record *record)
{
    return (record->kind == STREAM_PACKET ? shard->bytes : shard->output->copied) + record->at;
}

/* How many of the bytes from this offset on lie in a row, from *at of the ring. */
static uint32_t ring_part(const struct stream_shard *shard, uint64_t offset, uint32_t len,
                          uint32_t *at)
{
    const uint32_t ring = ring_len(shard);

    *at = (uint32_t)(offset % ring);
    return len < ring - *at ? len : ring - *at;
}

static void ring_write(const struct stream_shard *shard, uint32_t context, uint64_t offset,
                       const uint8_t *bytes, uint32_t len)
{
    for (uint32_t at, part; len != 0; offset += part, bytes += part, len -= part) {
        part = ring_part(shard, offset, len, &at);
        stream_blocks_write(&shard->arena, context, at, bytes, part);
    }
}

void stream_context_keep(struct stream_shard *shard, struct stream *stream, uint32_t half)
{
    const uint64_t first = first_offset(shard, stream, half);
    const uint32_t context = stream->rest[half].context;

    if (stream_solid(stream, half) > STREAM_CONTEXT_MAX)
        stream->rest[half].solid = (uint32_t)stream->half[half].next - STREAM_CONTEXT_MAX;
    for (uint32_t i = stream->half[half].last; context != 0 && i != 0;) {
        const struct stream_record *record = &shard->output->record[i];
        const uint32_t skip = record->offset < first ? (uint32_t)(first - record->offset) : 0;

        if (record->kind == STREAM_CONTEXT)
            break;
        if (skip < record->len)
            ring_write(shard, context, record->offset + skip, bytes_of(shard, record) + skip,
                       record->len - skip);
        i = record->offset > first ? record->previous : 0;
    }
    stream->half[half].last = 0;
}

void stream_context_read(const struct stream_shard *shard, const struct stream *stream,
                         uint32_t half, uint64_t offset, uint8_t *bytes, uint32_t len)
{
    for (uint32_t at, part; len != 0; offset += part, bytes += part, len -= part) {
        part = ring_part(shard, offset, len, &at);
        stream_blocks_read(&shard->arena, stream->rest[half].context, at, bytes, part);
    }
}

static bool ring_equal(const struct stream_shard *shard, uint32_t context, uint64_t offset,
                       const uint8_t *bytes, uint32_t len)
{
    bool equal = true;

    for (uint32_t at, part; len != 0 && equal; offset += part, bytes += part, len -= part) {
        part = ring_part(shard, offset, len, &at);
        equal = stream_blocks_equal(&shard->arena, context, at, bytes, part);
    }
    return equal;
}

/* Whether the bytes from `offset` to `end` that a record has are these. */
static bool record_equal(const struct stream_shard *shard, const struct stream_record *record,
                         uint64_t offset, uint64_t end, const uint8_t *bytes)
{
    const uint64_t from = offset > record->offset ? offset : record->offset;
    const uint64_t record_end = record->offset + record->len;
    const uint64_t to = end < record_end ? end : record_end;

    return from >= to || memcmp(bytes_of(shard, record) + (from - record->offset),
                                bytes + (from - offset), to - from) == 0;
}

/* How many of the last bytes can be compared by their sequence numbers. */
static uint32_t count_comparable(const struct stream_site *site, uint32_t half)
{
    const struct stream_half *h = stream_half_of(site, half);
    const uint32_t held = (uint32_t)(h->next - first_offset(site->shard, site->stream, half));
    const uint32_t since_cut = h->seq - site->stream->rest[half].compared;

    return stream_has(h, STREAM_URGENT_CUT) && since_cut < held ? since_cut : held;
}

bool stream_context_equal(const struct stream_site *site, uint32_t half, uint32_t begin,
                          const uint8_t *bytes, uint32_t len)
{
    const struct stream_half *h = stream_half_of(site, half);
    const uint32_t context = site->stream->rest[half].context;
    const uint32_t comparable = count_comparable(site, half);
    const uint32_t back = h->seq - begin;
    const uint32_t skip = back > comparable ? back - comparable : 0;
    const uint64_t offset = h->next - (back - skip), end = offset + len - skip;
    uint64_t known = h->next; /* bytes from here on were compared */

    if (skip >= len)
        return true;
    bytes += skip;
    for (uint32_t i = h->last; i != 0 && known > offset;) {
        const struct stream_record *record = &site->shard->output->record[i];

        if (record->kind == STREAM_CONTEXT)
            break;
        if (!record_equal(site->shard, record, offset, end, bytes))
            return false;
        known = record->offset;
        i = record->previous;
    }
    if (known <= offset || context == 0 || is_claim(site->shard, context))
        return true;
    return ring_equal(site->shard, context, offset, bytes,
                      (uint32_t)((known < end ? known : end) - offset));
}
