/* SPDX-License-Identifier: MIT */
/* Several places of the arena side by side. Each step waits for a look-up that depends on the step
 * before; the steps of other streams fill the wait. The oldest byte is read again from the arena,
 * without a ring, and is removed off that path. */
#include "rabin_cursor.h"

enum { STREAMS = 4 };

struct stream {
    struct rabin_cursor cursor;
    const uint8_t *window; /* first byte */
    uint64_t fingerprint;
};

static uint64_t fingerprint_of(const struct rabin_table *table, const uint8_t *bytes)
{
    uint64_t fingerprint = 0;

    for (uint32_t i = 0; i < table->head.window; i++)
        fingerprint = rabin_push(table, fingerprint, bytes[i]);
    return fingerprint;
}

static __attribute__((noinline)) void report(struct stream *stream, uint64_t begin,
                                             uint64_t fingerprint, struct sl_hits *hits)
{
    if (rabin_cursor_takes(&stream->cursor, begin)) {
        const uint32_t item = stream->cursor.item;

        cpu_hits_append(hits, item, (uint32_t)begin - stream->cursor.batch->payload[item].offset,
                        fingerprint);
    }
}

/* The windows that begin in the next n bytes of each stream. Each stream reads one byte behind its
 * last window. The state that changes with each byte is in registers, apart from the rest. */
static inline __attribute__((always_inline)) void roll(const struct rabin_table *table,
                                                       struct stream *streams, int n_streams,
                                                       const uint8_t *bytes, uint32_t n,
                                                       struct sl_hits *hits)
{
    const uint32_t window = table->head.window, shift = table->shift;
    const uint64_t mask = table->mask, magic = table->magic;
    uint64_t fingerprint[STREAMS];

    for (int k = 0; k < n_streams; k++)
        fingerprint[k] = streams[k].fingerprint;
    for (uint32_t i = 0; i < n; i++) {
#pragma GCC unroll 8
        for (int k = 0; k < n_streams; k++) {
            const uint8_t *at = streams[k].window + i;

            if (__builtin_expect((fingerprint[k] & mask) == magic, 0))
                report(&streams[k], (uint64_t)(at - bytes), fingerprint[k], hits);
            fingerprint[k] = (fingerprint[k] << 8 | at[window]) ^
                             table->push[fingerprint[k] >> shift] ^ table->left[at[0]];
        }
    }
    for (int k = 0; k < n_streams; k++) {
        streams[k].fingerprint = fingerprint[k];
        streams[k].window += n;
    }
}

static enum sl_status streams_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    const struct rabin_table *table = rabin_table(cpu->table);
    struct stream streams[STREAMS];

    if (batch->n_items == 0 || rabin_arena_end(batch) < table->head.window)
        return SL_OK;

    const uint32_t n = rabin_arena_end(batch) - table->head.window + 1;
    const uint32_t each = n / STREAMS;
    for (uint32_t k = 0; k < STREAMS; k++) {
        streams[k].cursor = rabin_cursor_at(&table->head, batch, k * each);
        streams[k].window = batch->bytes + (size_t)k * each;
        streams[k].fingerprint = fingerprint_of(table, streams[k].window);
    }
    roll(table, streams, STREAMS, batch->bytes, each, hits);
    roll(table, &streams[STREAMS - 1], 1, batch->bytes, n - STREAMS * each, hits);
    return SL_OK;
}

CPU_BACKEND(rabin_streams, "streams", streams_scan);
