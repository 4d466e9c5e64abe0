/* SPDX-License-Identifier: MIT */
#include "mpm_ref.h"

#include <stdbool.h>
#include <stdint.h>

static uint8_t fold(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
}

static bool equals(const struct sl_literal *literal, const uint8_t *text)
{
    const bool nocase = (literal->flags & SL_LITERAL_NOCASE) != 0;

    for (uint32_t i = 0; i < literal->len; i++) {
        const bool same =
            nocase ? fold(literal->bytes[i]) == fold(text[i]) : literal->bytes[i] == text[i];
        if (!same)
            return false;
    }
    return true;
}

size_t mpm_ref_scan(const struct sl_literal *literals, size_t n_literals,
                    const struct sl_batch *batch, struct sl_hit *hits, size_t cap)
{
    size_t n = 0;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint8_t *payload = batch->bytes + batch->payload[item].offset;
        const uint32_t payload_len = batch->payload[item].len;
        const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;

        for (size_t id = 0; id < n_literals; id++) {
            /* Every end offset, in 64 bits: end - len must not wrap. */
            for (uint64_t end = literals[id].len; end <= payload_len; end++) {
                if (end <= overlap || !equals(&literals[id], payload + (end - literals[id].len)))
                    continue;
                if (n < cap)
                    hits[n] = (struct sl_hit){item, (uint32_t)end, (uint32_t)id};
                n++;
            }
        }
    }
    return n;
}
