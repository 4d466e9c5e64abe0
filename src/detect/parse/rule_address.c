/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rule_list.h"
#include "sluice/dissect.h"

static unsigned __int128 number_of(const struct sl_addr *addr)
{
    unsigned __int128 number = 0;

    for (size_t i = 0; i < sizeof addr->byte; i++)
        number = number << 8 | addr->byte[i];
    return number;
}

static bool read_net(struct rule_text text, struct rule_range *range)
{
    struct sl_net net;

    if (sl_net_parse(&net, text.at, text.len) != SL_OK)
        return false;
    range->first = range->last = number_of(&net.addr);
    if (net.prefix_len < 128)
        range->last |= ~(unsigned __int128)0 >> net.prefix_len;
    return true;
}

static bool read_host(struct rule_text text, struct rule_range *range)
{
    return memchr(text.at, '/', text.len) == NULL && read_net(text, range);
}

/* "1.2.3.0/255.255.255.0", the mask's ones in front. */
static bool read_masked(struct rule_text host, struct rule_text mask, struct rule_range *range)
{
    struct rule_range bits;

    if (!read_host(host, range) || !read_host(mask, &bits))
        return false;

    const uint32_t hole = ~(uint32_t)bits.first;

    if (bits.first >> 32 != 0xFFFF || range->first >> 32 != 0xFFFF || (hole & (hole + 1)) != 0)
        return false;
    range->first &= ~(unsigned __int128)hole;
    range->last |= hole;
    return true;
}

bool rule_address_read(struct rule_text text, struct rule_range *range)
{
    struct rule_text rest = text, first;

    if (memchr(text.at, '-', text.len) != NULL) {
        struct rule_range last;

        rule_text_split(&rest, '-', &first);
        if (!read_host(first, range) || !read_host(rule_trim(rest), &last))
            return false;
        range->last = last.last;
        return range->first <= range->last;
    }

    const char *slash = memchr(text.at, '/', text.len);
    if (slash != NULL && memchr(slash, '.', text.len - (size_t)(slash - text.at)) != NULL) {
        rule_text_split(&rest, '/', &first);
        return read_masked(first, rest, range);
    }
    return read_net(text, range);
}
