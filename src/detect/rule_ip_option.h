/* SPDX-License-Identifier: MIT */
/* The options of an IPv4 header as bits of a set. */
#ifndef DETECT_RULE_IP_OPTION_H
#define DETECT_RULE_IP_OPTION_H

#include <stddef.h>
#include <stdint.h>

/* The bit of the options that begin with this byte (RFC 791, RFC 1108, IANA's list). Those without
 * a name in rules share the last bit. */
static inline uint32_t rule_ip_option_bit(uint8_t kind)
{
    static const uint8_t kinds[] = {0, 1, 7, 25, 68, 130, 131, 132, 133, 134, 136, 137, 148};

    for (size_t i = 0; i < sizeof kinds; i++)
        if (kinds[i] == kind)
            return UINT32_C(1) << i;
    return UINT32_C(1) << 31;
}

#endif
