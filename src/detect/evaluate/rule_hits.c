/* SPDX-License-Identifier: MIT */
#include "rule_hits.h"

#include "base/letters.h"

bool rule_hits_had(const struct rule_index *index, const struct sl_hit *hit, const uint8_t *packet,
                   uint64_t offset)
{
    const uint32_t id = (uint32_t)hit->id;

    /* A run that goes on here has nearly the same byte on both sides. */
    if (offset == 0 || ((packet[offset - 1] ^ packet[offset]) & ~0x20) != 0)
        return false;
    if (id >= index->n_literals || !index->wants[id].is_run)
        return false;

    const struct sl_literal *literal = &index->literal[id];
    const bool nocase = (literal->flags & SL_LITERAL_NOCASE) != 0;
    const uint8_t byte = nocase ? letter_lower(literal->bytes[0]) : literal->bytes[0];

    if (offset < literal->len)
        return false;
    for (uint64_t i = offset - literal->len; i < offset; i++)
        if ((nocase ? letter_lower(packet[i]) : packet[i]) != byte)
            return false;
    return true;
}
