/* SPDX-License-Identifier: MIT */
/* The last bytes of a half. Those of this batch lie in its records, those of earlier ones in blocks
 * (struct stream_context). A claim has none of earlier ones. */
#include <string.h>

#include "stream_context.h"

enum { LINE = 64 };

/* The offset of the first byte that counts. */
static uint64_t first_offset(const struct stream_shard *shard, const struct stream *stream,
                             uint32_t half)
{
    const uint32_t solid = stream_solid(stream, half);

    return stream->half[half].next - (solid < shard->context_len ? solid : shard->context_len);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static uint64_t block_of(uint64_t offset)
{
    return (offset + STREAM_HEAD_LEN) / STREAM_BLOCK_LEN;
}

static uint32_t *slot_of(struct stream_context *context, uint64_t i)
{
    return &context->number[i % STREAM_CONTEXT_SLOTS];
}

/* The number of block i of a context. */
static uint32_t number_of(const struct stream_shard *shard, uint32_t context, uint64_t i)
{
    struct stream_context *at = stream_context_at(shard, context);

    return at->holder.has_numbers ? *slot_of(at, i) : context;
}

uint32_t stream_context_begin(struct stream_shard *shard)
{
    const uint32_t context = stream_block_draw(&shard->arena);

    stream_context_at(shard, context)->holder =
        (struct stream_holder){.referred = stream_epochs_over(&shard->epochs)};
    return context;
}

static void return_block(struct stream_shard *shard, uint32_t block, bool referred)
{
    if (referred)
        stream_epochs_retire(&shard->epochs, block);
    else
        stream_block_return(&shard->arena, block);
}

static bool is_referred(const struct stream_shard *shard, const struct stream_context *context)
{
    return stream_epochs_has(&shard->epochs, context->holder.referred);
}

/* Returns the blocks before this one. */
static void drop_before(struct stream_shard *shard, struct stream_context *context, uint64_t behind)
{
    const uint64_t referred_behind = is_referred(shard, context) ? context->referred_behind : 0;

    for (; context->first < behind && context->first < context->behind; context->first++)
        return_block(shard, *slot_of(context, context->first), context->first < referred_behind);
}

void stream_context_return(struct stream_shard *shard, uint32_t context)
{
    struct stream_context *at = stream_context_at(shard, context);

    if (at->holder.has_numbers) {
        drop_before(shard, at, at->behind);
        stream_block_return(&shard->arena, context);
    } else {
        return_block(shard, context, is_referred(shard, at));
    }
}

/* Moves the holder to a block of its own. Returns that. */
static uint32_t begin_numbers(struct stream_shard *shard, uint32_t context)
{
    const uint32_t more = stream_block_draw(&shard->arena);
    struct stream_context *at = stream_context_at(shard, more);

    at->holder = stream_context_at(shard, context)->holder;
    at->holder.has_numbers = true;
    at->first = 0;
    at->behind = at->referred_behind = 1;
    at->number[0] = context;
    stream_holder_replace(shard, &shard->contexts, context, more);
    at->holder.stream->rest[at->holder.half].context = more;
    return more;
}

/* Draws the blocks for the bytes from `first` up to `end`, and returns those before. Returns where
 * the context lies from now on. */
static uint32_t move_to(struct stream_shard *shard, uint32_t context, uint64_t first, uint64_t end)
{
    const uint64_t begin = block_of(first), behind = block_of(end - 1) + 1;

    if (behind > 1 && !stream_context_at(shard, context)->holder.has_numbers)
        context = begin_numbers(shard, context);

    struct stream_context *at = stream_context_at(shard, context);

    if (!at->holder.has_numbers)
        return context;
    drop_before(shard, at, begin);
    if (at->behind < begin)
        at->first = at->behind = begin;
    for (; at->behind < behind; at->behind++)
        *slot_of(at, at->behind) = stream_block_draw(&shard->arena);
    return context;
}

void stream_fetch(const struct stream_shard *shard, const struct stream *stream)
{
    for (uint32_t half = 0; half < 2; half++) {
        const uint32_t context = stream->rest[half].context;

        if (context == 0 || context >= shard->arena.n_all)
            continue;
        const char *const at = stream_block_at(&shard->arena, context);

        for (size_t line = 0; line < sizeof(struct stream_context); line += LINE)
            __builtin_prefetch(at + line, 1);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Where the bytes from this offset on lie; *len becomes how many of them lie together. */
static uint8_t *part_at(const struct stream_shard *shard, uint32_t context, uint64_t offset,
                        uint32_t *len)
{
    const uint32_t at = (uint32_t)(offset + STREAM_HEAD_LEN) % STREAM_BLOCK_LEN;
    const uint32_t block = number_of(shard, context, block_of(offset));

    if (*len > STREAM_BLOCK_LEN - at)
        *len = STREAM_BLOCK_LEN - at;
    return (uint8_t *)stream_block_at(&shard->arena, block) + at;
}

static void write_bytes(const struct stream_shard *shard, uint32_t context, uint64_t offset,
                        const uint8_t *bytes, uint32_t len)
{
    for (uint32_t part; len != 0; offset += part, bytes += part, len -= part) {
        part = len;
        uint8_t *to = part_at(shard, context, offset, &part);

        memcpy(to, bytes, part);
    }
}

static void read_bytes(const struct stream_shard *shard, uint32_t context, uint64_t offset,
                       uint8_t *bytes, uint32_t len)
{
    for (uint32_t part; len != 0; offset += part, bytes += part, len -= part) {
        part = len;
        const uint8_t *from = part_at(shard, context, offset, &part);

        memcpy(bytes, from, part);
    }
}

static bool equal_bytes(const struct stream_shard *shard, uint32_t context, uint64_t offset,
                        const uint8_t *bytes, uint32_t len)
{
    for (uint32_t part; len != 0; offset += part, bytes += part, len -= part) {
        part = len;
        const uint8_t *held = part_at(shard, context, offset, &part);

        if (memcmp(held, bytes, part) != 0)
            return false;
    }
    return true;
}

static const uint8_t *bytes_of(const struct stream_shard *shard, const struct stream_record *record)
{
    return (record->kind == STREAM_PACKET ? shard->bytes : shard->output->copied) + record->at;
}

void stream_context_keep(struct stream_shard *shard, struct stream *stream, uint32_t half)
{
    const uint64_t first = first_offset(shard, stream, half);
    uint32_t context = stream->rest[half].context;

    if (stream_solid(stream, half) > STREAM_CONTEXT_MAX)
        stream->rest[half].solid = (uint32_t)stream->half[half].next - STREAM_CONTEXT_MAX;
    if (context != 0)
        context = move_to(shard, context, first, stream->half[half].next);
    for (uint32_t i = stream->half[half].last; context != 0 && i != 0;) {
        const struct stream_record *record = &shard->output->record[i];
        const uint32_t skip = record->offset < first ? (uint32_t)(first - record->offset) : 0;

        if (record->kind == STREAM_CONTEXT)
            break;
        if (skip < record->len)
            write_bytes(shard, context, record->offset + skip, bytes_of(shard, record) + skip,
                        record->len - skip);
        i = record->offset > first ? record->previous : 0;
    }
    stream->half[half].last = 0;
}

/* ---- what earlier batches reported ----------------------------------------------------------- */

/* Whether the batch may refer to blocks. Those that are retired some time, which are no more than
 * wait already and are held now, have room then. */
static bool may_refer(struct stream_shard *shard)
{
    const struct stream_arena *arena = &shard->arena;
    const uint32_t held = arena->n_blocks - 1 - arena->n_free;

    if (stream_epochs_waiting(&shard->epochs) + held > arena->n_all - arena->n_blocks)
        return false;
    if (shard->output->epoch == NULL)
        shard->output->epoch = stream_epochs_begin(&shard->epochs);
    return shard->output->epoch != NULL;
}

/* The last bytes are compared with those that follow, which are then written there. */
__attribute__((always_inline)) static inline void fetch_end(const uint8_t *last)
{
    __builtin_prefetch(last, 1);
    __builtin_prefetch(last - LINE);
}

/* Lists the blocks of the record's bytes. */
static void refer(const struct stream_shard *shard, uint32_t context, struct stream_record *record,
                  const uint8_t **piece)
{
    const uint64_t first = block_of(record->offset), end = record->offset + record->len;
    const uint64_t behind = block_of(end - 1) + 1;
    struct stream_context *at = stream_context_at(shard, context);

    for (uint64_t i = first; i < behind; i++)
        piece[i - first] = stream_block_at(&shard->arena, number_of(shard, context, i));
    record->source = (uint32_t)(record->offset + STREAM_HEAD_LEN) % STREAM_BLOCK_LEN;
    at->holder.referred = shard->epochs.next - 1;
    if (at->holder.has_numbers)
        at->referred_behind = behind;
    fetch_end(piece[behind - 1 - first] + (end - 1 + STREAM_HEAD_LEN) % STREAM_BLOCK_LEN);
}

bool stream_context_show(struct stream_shard *shard, const struct stream *stream, uint32_t half,
                         struct stream_record *record)
{
    const uint32_t context = stream->rest[half].context, len = record->len;
    const uint64_t first = block_of(record->offset), last = block_of(record->offset + len - 1);
    const bool in_pieces = may_refer(shard);
    const size_t room = in_pieces ? (last - first + 1) * sizeof(const uint8_t *) : len;
    uint8_t *to = stream_output_copy(shard, (uint32_t)room, sizeof(const uint8_t *));

    if (to == NULL)
        return false;
    record->at = (uint32_t)(to - shard->output->copied);
    record->cause = in_pieces;
    if (in_pieces)
        refer(shard, context, record, (const uint8_t **)(void *)to);
    else
        read_bytes(shard, context, record->offset, to, len);
    return true;
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
    if (known <= offset || context == 0 || context >= site->shard->arena.n_all)
        return true;
    return equal_bytes(site->shard, context, offset, bytes,
                       (uint32_t)((known < end ? known : end) - offset));
}
