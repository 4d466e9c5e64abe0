/* SPDX-License-Identifier: MIT */
/* Rules by the addresses that their header asks for. The bounds of all these addresses cut the
 * numbers into segments. In a segment, each address is of the same rules. */
#ifndef DETECT_RULE_ADDRESS_INDEX_H
#define DETECT_RULE_ADDRESS_INDEX_H

#include "rule_lists.h"
#include "rule_literal.h"

enum { RULE_ADDRESS_BLOCKS = 65536 }; /* of IPv4, by the upper half of an address */

struct rule_address_index {
    unsigned __int128 *begin; /* of each segment; sorted, the first is 0 */
    uint32_t n;               /* segments; 0: no rule is in the index */
    uint32_t *ipv4;           /* the segment of the first address of each /16, and one more */
    struct rule_lists lists;  /* by segment; made last, by its user */
};

/* Makes the segments of all rules without a literal that are found by the key, which is
 * RULE_BY_SOURCE or RULE_BY_DESTINATION. False: no memory; the index is to be freed then, too. */
bool rule_address_index_make(struct rule_address_index *index, const struct sl_rules *rules,
                             enum rule_key key);

void rule_address_index_free(struct rule_address_index *index);

/* Puts the rule under the segments of its addresses. *placed is false where these are too many: the
 * rule has to be found by another key. False: no memory. */
bool rule_address_index_place(const struct rule_address_index *index, struct rule_pairs *pairs,
                              const struct rule_ranges *addresses, uint32_t rule, bool *placed);

/* The segment of an address, where the index has rules. */
static inline uint32_t rule_address_index_find(const struct rule_address_index *index,
                                               unsigned __int128 address)
{
    uint32_t low = 0, high = index->n - 1;

    if (address >> 32 == 0xFFFF) {
        low = index->ipv4[address >> 16 & 0xFFFF];
        high = index->ipv4[(address >> 16 & 0xFFFF) + 1];
    }
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;

        if (index->begin[middle] <= address)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#endif
