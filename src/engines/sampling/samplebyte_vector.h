/* SPDX-License-Identifier: MIT */
/* The search for markers with vectors: a mask for the WIDTH positions from the one that may be
 * chosen next. Included by a file for one instruction set, which defines WIDTH (positions), struct
 * vector_marks, load_marks and marked_from. */
static void scan_item(const struct vector_marks *vectors, uint32_t skip, uint32_t window,
                      const uint8_t *payload, uint64_t last, uint32_t first, uint32_t item,
                      struct sl_hits *hits)
{
    /* Reads up to WIDTH bytes behind the last position: less than SL_BATCH_SLACK. */
    for (uint64_t at = 0; at <= last;) {
        const uint64_t marked = marked_from(vectors, payload + at);

        if (marked == 0) {
            at += WIDTH;
            continue;
        }
        at += (uint32_t)__builtin_ctzll(marked);
        if (at > last)
            break;
        if (at >= first)
            cpu_hits_append(hits, item, (uint32_t)at, sampling_fingerprint(payload + at, window));
        at += samplebyte_step(skip, payload + at);
    }
}

static inline void scan_items(const struct sl_sampling_table *head,
                              const struct samplebyte_marks *marks, const struct sl_batch *batch,
                              struct sl_hits *hits)
{
    const struct vector_marks vectors = load_marks(marks);

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];

        if (span.len >= head->window)
            scan_item(&vectors, marks->state.skip, head->window, batch->bytes + span.offset,
                      span.len - head->window, sampling_first(head, batch, item), item, hits);
    }
}
