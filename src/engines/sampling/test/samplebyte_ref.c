/* SPDX-License-Identifier: MIT */
/* SAMPLEBYTE and DYNABYTE by their definition, with libxxhash for fingerprints. */
#include <xxhash.h>

#include "sampling_ref.h"

/* Bytes passed over behind the marker at `at`. */
static uint64_t passed_over(const struct sl_dynabyte_state *state, const uint8_t *at)
{
    uint64_t behind = 0;

    for (int i = 8; i >= 1; i--)
        behind = behind * 256 + at[i];
    behind *= UINT64_C(0x9E3779B97F4A7C15);

    const uint64_t one_more = behind / (UINT64_C(1) << 56) < state->skip % 256 ? 1 : 0;
    return state->skip / 256 + one_more;
}

size_t dynabyte_ref(const struct sl_dynabyte_state *state, uint32_t window,
                    const struct sl_batch *batch, struct sl_hit *hits, size_t cap)
{
    size_t n = 0;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint8_t *payload = batch->bytes + batch->payload[item].offset;
        const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;
        uint64_t to_pass = 0;

        for (uint64_t begin = 0; begin + window <= batch->payload[item].len; begin++) {
            const uint32_t byte = payload[begin];

            if (to_pass > 0) {
                to_pass--;
                continue;
            }
            if ((state->marker[byte / 32] & (UINT32_C(1) << (byte & 31))) == 0)
                continue;
            to_pass = passed_over(state, payload + begin);
            if (begin + window <= overlap)
                continue;
            if (n < cap)
                hits[n] =
                    (struct sl_hit){item, (uint32_t)begin, XXH3_64bits(payload + begin, window)};
            n++;
        }
    }
    return n;
}

size_t samplebyte_ref(const struct sl_sampling_config *config, const struct sl_batch *batch,
                      struct sl_hit *hits, size_t cap)
{
    struct sl_dynabyte_state state = {.skip = config->period / 2 * 256};

    for (int byte = 0; byte < 256; byte++)
        if (config->marker[byte])
            state.marker[byte / 32] += UINT32_C(1) << byte % 32;
    return dynabyte_ref(&state, config->window, batch, hits, cap);
}
