/* SPDX-License-Identifier: MIT */
/* The search for markers on one core without vectors: byte after byte, and in the GPU's tiling. */
#include "samplebyte.h"

void samplebyte_marks_set(struct samplebyte_marks *marks, const struct sl_dynabyte_state *state)
{
    *marks = (struct samplebyte_marks){.state = *state};
    for (uint32_t byte = 0; byte < 256; byte++) {
        if (!samplebyte_is_marker(state->marker, (uint8_t)byte))
            continue;
        marks->marks[byte] = true;
        if (byte < 128)
            marks->low_half[byte % 16] |= (uint8_t)(1u << byte / 16);
        else
            marks->high_half[byte % 16] |= (uint8_t)(1u << (byte / 16 - 8));
    }
}

static void scan_bytes(const struct samplebyte_marks *marks, uint32_t window,
                       const uint8_t *payload, uint64_t last, uint32_t first, uint32_t item,
                       struct sl_hits *hits)
{
    for (uint64_t at = 0; at <= last;) {
        if (!marks->marks[payload[at]]) {
            at++;
            continue;
        }
        if (at >= first)
            cpu_hits_append(hits, item, (uint32_t)at, sampling_fingerprint(payload + at, window));
        at += samplebyte_step(marks->state.skip, payload + at);
    }
}

void samplebyte_scan_scalar(const struct sl_sampling_table *head,
                            const struct samplebyte_marks *marks, const struct sl_batch *batch,
                            struct sl_hits *hits)
{
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];

        if (span.len >= head->window)
            scan_bytes(marks, head->window, batch->bytes + span.offset, span.len - head->window,
                       sampling_first(head, batch, item), item, hits);
    }
}

/* ---- in the GPU's tiling --------------------------------------------------------------------- */

/* Chosen windows that wait for a lane each; a flush empties it. */
struct queue {
    uint32_t n;
    uint32_t item[32];
    uint32_t offset[32];
};

static void flush(const struct sl_batch *batch, uint32_t window, struct queue *queue,
                  struct sl_hits *hits)
{
    for (uint32_t lane = 0; lane < queue->n; lane++) {
        const uint8_t *payload = batch->bytes + batch->payload[queue->item[lane]].offset;

        cpu_hits_append(hits, queue->item[lane], queue->offset[lane],
                        sampling_fingerprint(payload + queue->offset[lane], window));
    }
    queue->n = 0;
}

/* The ballots of a block. */
static uint64_t vote(const struct samplebyte_marks *marks, const uint8_t *payload, uint64_t base,
                     uint64_t last)
{
    uint64_t marked = 0;

    for (uint32_t i = 0; i < SAMPLEBYTE_BLOCK; i++)
        if (base + i <= last && samplebyte_is_marker(marks->state.marker, payload[base + i]))
            marked |= UINT64_C(1) << i;
    return marked;
}

void samplebyte_scan_tiled(const struct sl_sampling_table *head,
                           const struct samplebyte_marks *marks, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    struct queue queue = {.n = 0};

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];
        const uint8_t *payload = batch->bytes + span.offset;
        const uint32_t first = sampling_first(head, batch, item);
        uint64_t from = 0;

        if (span.len < head->window)
            continue;
        const uint64_t last = span.len - head->window;
        for (uint64_t base = 0; base <= last;) {
            const uint64_t marked = vote(marks, payload, base, last);
            uint32_t at;

            while ((at = samplebyte_next(marked, from)) < SAMPLEBYTE_BLOCK) {
                if (base + at >= first) {
                    queue.item[queue.n] = item;
                    queue.offset[queue.n] = (uint32_t)(base + at);
                    if (++queue.n == 32)
                        flush(batch, head->window, &queue, hits);
                }
                from = at + samplebyte_step(marks->state.skip, payload + base + at);
            }
            samplebyte_advance(&base, &from);
        }
    }
    flush(batch, head->window, &queue, hits);
}
