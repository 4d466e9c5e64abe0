/* SPDX-License-Identifier: MIT */
/* Local maxima by their definition, with libxxhash for fingerprints. */
#include <xxhash.h>

#include "sampling_ref.h"

/* The sign of the comparison of two positions' values: the lower first byte is the higher value,
 * else the higher of the three bytes behind. */
static int compare(const uint8_t *left, const uint8_t *right)
{
    if (left[0] != right[0])
        return left[0] < right[0] ? 1 : -1;
    for (int i = 1; i < 4; i++)
        if (left[i] != right[i])
            return left[i] > right[i] ? 1 : -1;
    return 0;
}

static int is_chosen(const uint8_t *payload, int64_t n_positions, int64_t reach, int64_t at)
{
    for (int64_t other = at - reach; other <= at + reach; other++) {
        if (other < 0 || other >= n_positions || other == at)
            continue;
        const int higher = compare(payload + other, payload + at);
        if (higher > 0 || (higher == 0 && other < at))
            return 0;
    }
    return 1;
}

size_t maxp_ref(const struct sl_sampling_config *config, const struct sl_batch *batch,
                struct sl_hit *hits, size_t cap)
{
    size_t n = 0;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint8_t *payload = batch->bytes + batch->payload[item].offset;
        const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;
        const int64_t n_positions = (int64_t)batch->payload[item].len - config->window + 1;

        for (int64_t at = 0; at < n_positions; at++) {
            if (at + config->window <= overlap ||
                !is_chosen(payload, n_positions, config->period / 2, at))
                continue;
            if (n < cap)
                hits[n] =
                    (struct sl_hit){item, (uint32_t)at, XXH3_64bits(payload + at, config->window)};
            n++;
        }
    }
    return n;
}
