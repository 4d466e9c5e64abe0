/* SPDX-License-Identifier: MIT */
/* The search for markers with vectors: a mask for the WIDTH positions from the one that may be
 * chosen next. Where that is hangs on the marker before, so several items are searched side by side
 * to hide how long a step takes. Included by a file for one instruction set, which defines WIDTH
 * (positions), struct vector_marks, load_marks and marked_from. */
enum { CHAINS = 4, AHEAD = 4096 /* bytes that are prefetched: past the other items under way */ };

/* An item under way. */
struct chain {
    const uint8_t *payload;
    uint64_t at;   /* the position that may be chosen next */
    uint64_t last; /* at which a window fits */
    uint32_t first;
    uint32_t item;
};

struct walk {
    const struct sl_sampling_table *head;
    const struct sl_batch *batch;
    uint32_t next; /* item */
};

/* The next item that a window fits into. */
static bool take_item(struct walk *walk, struct chain *chain)
{
    const uint32_t window = walk->head->window;

    while (walk->next < walk->batch->n_items) {
        const uint32_t item = walk->next++;
        const struct sl_span span = walk->batch->payload[item];

        if (span.len < window)
            continue;
        *chain = (struct chain){.payload = walk->batch->bytes + span.offset,
                                .last = span.len - window,
                                .first = sampling_first(walk->head, walk->batch, item),
                                .item = item};
        return true;
    }
    return false;
}

static void scan_items(const struct sl_sampling_table *head, const struct samplebyte_marks *marks,
                       const struct sl_batch *batch, struct sl_hits *hits)
{
    const struct vector_marks vectors = load_marks(marks);
    struct walk walk = {.head = head, .batch = batch};
    struct chain chains[CHAINS];
    uint32_t n_chains = 0;

    while (n_chains < CHAINS && take_item(&walk, &chains[n_chains]))
        n_chains++;
    while (n_chains > 0) {
        for (uint32_t i = 0; i < n_chains; i++) {
            struct chain *chain = &chains[i];
            /* Up to WIDTH bytes behind the last position are read: less than SL_BATCH_SLACK. */
            const uint64_t marked = marked_from(&vectors, chain->payload + chain->at);
            const uint64_t at =
                chain->at + (marked != 0 ? (uint32_t)__builtin_ctzll(marked) : WIDTH);
            const uint8_t *window = chain->payload + at;

            __builtin_prefetch(window + AHEAD);
            chain->at = at;
            if (marked != 0 && at <= chain->last) {
                if (at >= chain->first)
                    cpu_hits_append(hits, chain->item, (uint32_t)at,
                                    sampling_fingerprint(window, head->window));
                chain->at += samplebyte_step(marks->state.skip, window);
            }
            if (chain->at > chain->last && !take_item(&walk, chain))
                *chain = chains[--n_chains];
        }
    }
}
