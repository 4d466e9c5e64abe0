/* SPDX-License-Identifier: MIT */
/* The choice of the rule that answers a name: the rules of a node, and the prefix that comes next.
 * For host and CUDA code. */
#ifndef NAMES_NAMES_ANSWER_CORE_H
#define NAMES_NAMES_ANSWER_CORE_H

#include <stddef.h>

#include "base/bytes.h"
#include "sluice/names.h"

enum { RULE_HOST_BITS = 10 };

struct names_rule {
    uint32_t values; /* index into values */
    uint32_t line;
    uint16_t list;
    uint16_t host_len : RULE_HOST_BITS; /* SL_NAMES_PATH: bytes of the host */
    uint16_t match : 3;
    uint16_t rank : 2;
    uint16_t last : 1; /* the node ends here */
};

/* Does a rule for the name's first prefix_len bytes apply to the name? */
BYTES_INLINE bool names_rule_applies(const struct names_rule *rule, const struct sl_name *name,
                                     uint32_t prefix_len)
{
    switch ((enum sl_names_match)rule->match) {
    case SL_NAMES_PREFIX:
        return true;
    case SL_NAMES_EXACT:
        return prefix_len == name->host_len;
    case SL_NAMES_SUBTREE:
        return prefix_len <= name->host_len;
    case SL_NAMES_BELOW:
        return prefix_len < name->host_len;
    case SL_NAMES_PATH:
        return name->syntax == SL_NAME_NDN || rule->host_len == name->host_len;
    }
    return false;
}

/* The best rule of a node, the first that applies; NULL: there is none of this rank or above. Of
 * two nodes' the longer one's is better, unless the other is of a higher rank. */
BYTES_INLINE const struct names_rule *names_node_best(const struct names_rule *rule,
                                                      const struct sl_name *name,
                                                      uint32_t prefix_len, uint32_t rank)
{
    while (!names_rule_applies(rule, name, prefix_len)) {
        if (rule->last)
            return NULL;
        rule++;
    }
    return rule->rank >= rank ? rule : NULL;
}

/* A VAR-NUMBER of a name, which is well-formed: nothing in it is above 65535. */
BYTES_INLINE uint32_t names_take_number(const uint8_t *name, uint32_t *at)
{
    const uint32_t first = name[*at];

    *at += first < 253 ? 1 : 3;
    return first < 253 ? first : load_be16(name + *at - 2);
}

/* Bytes of the longest prefix that is shorter than this one, an entry of the table. */
BYTES_INLINE uint32_t names_shorter(const uint8_t *name, uint32_t prefix_len)
{
    uint32_t last = 0;

    for (uint32_t at = 0; at < prefix_len;) {
        last = at;
        (void)names_take_number(name, &at); /* type */
        const uint32_t len = names_take_number(name, &at);

        at += len;
    }
    return last;
}

/* A hit's id: the number of the rule, and above it the bytes of the name that it matched. */
#define NAMES_NO_RULE UINT64_MAX /* no rule applies */

BYTES_INLINE uint64_t names_rule_id(uint32_t rule, uint32_t prefix_len)
{
    return rule | (uint64_t)prefix_len << 32;
}

#endif
