/* SPDX-License-Identifier: MIT */
/* Several places of the arena side by side: each step waits for a look-up that depends on the step
 * before, and the steps of other streams fill the wait. The oldest byte is read again from the
 * arena, which needs no ring, and is taken away off that path. */
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

static void report(struct stream *stream, const uint8_t *bytes, uint64_t fingerprint,
                   struct sl_hits *hits)
{
    const uint64_t begin = (uint64_t)(stream->window - bytes);

    if (rabin_cursor_takes(&stream->cursor, begin)) {
        const uint32_t item = stream->cursor.item;

        cpu_hits_append(hits, item, (uint32_t)begin - stream->cursor.batch->payload[item].offset,
                        fingerprint);
    }
}

/* The windows that begin in the next n bytes of each stream; each reads one byte behind its last
 * window. */
static inline void roll(const struct rabin_table *table, struct stream *streams, int n_streams,
                        const uint8_t *bytes, uint32_t n, struct sl_hits *hits)
{
    const uint32_t window = table->head.window;

    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < n_streams; k++) {
            struct stream *stream = &streams[k];
            const uint64_t fingerprint = stream->fingerprint;

            if (rabin_chosen(table, fingerprint))
                report(stream, bytes, fingerprint, hits);
            stream->fingerprint = rabin_push(table, fingerprint, stream->window[window]) ^
                                  table->left[stream->window[0]];
            stream->window++;
        }
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
