/* SPDX-License-Identifier: MIT */
#include "mpm_ref.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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

/* Literals by their first byte without case, as lists: `first[byte]`, then `next[id]`, up to
 * `n_literals`. */
struct first_bytes {
    size_t first[256];
    size_t *next;
};

static void list_first_bytes(struct first_bytes *lists, const struct sl_literal *literals,
                             size_t n_literals)
{
    lists->next = malloc((n_literals + 1) * sizeof *lists->next);
    if (lists->next == NULL)
        abort();
    for (size_t byte = 0; byte < 256; byte++)
        lists->first[byte] = n_literals;
    for (size_t id = n_literals; id-- > 0;) {
        const uint8_t byte = fold(literals[id].bytes[0]);

        lists->next[id] = lists->first[byte];
        lists->first[byte] = id;
    }
}

size_t mpm_ref_scan(const struct sl_literal *literals, size_t n_literals,
                    const struct sl_batch *batch, struct sl_hit *hits, size_t cap)
{
    struct first_bytes lists;
    size_t n = 0;

    list_first_bytes(&lists, literals, n_literals);
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint8_t *payload = batch->bytes + batch->payload[item].offset;
        const uint32_t payload_len = batch->payload[item].len;
        const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;

        for (uint32_t at = 0; at < payload_len; at++) {
            for (size_t id = lists.first[fold(payload[at])]; id < n_literals; id = lists.next[id]) {
                const uint32_t len = literals[id].len;

                if (len > payload_len - at || at + len <= overlap ||
                    !equals(&literals[id], payload + at))
                    continue;
                if (n < cap)
                    hits[n] = (struct sl_hit){item, at + len, (uint32_t)id};
                n++;
            }
        }
    }
    free(lists.next);
    return n;
}
