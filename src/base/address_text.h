/* SPDX-License-Identifier: MIT */
/* Addresses as text, without a terminator. For host and CUDA code. */
#ifndef BASE_ADDRESS_TEXT_H
#define BASE_ADDRESS_TEXT_H

#include <stddef.h>

#include "bytes.h"
#include "decimal.h"

enum {
    ADDRESS_IPV4_LEN = 15, /* bytes of the longest */
    ADDRESS_IPV6_LEN = 45  /* what readers take; the longest that is written has 39 */
};

/* Returns the length of the text. It may write to one byte more than ADDRESS_IPV4_LEN. */
BYTES_INLINE size_t address_put_ipv4(char *to, const uint8_t address[4])
{
    char *at = to;

    for (int i = 0; i < 4; i++) {
        at = decimal_octet(at, address[i]);
        *at++ = '.';
    }
    return (size_t)(at - to) - 1;
}

/* A group of an address of IPv6, without leading zeros. */
BYTES_INLINE char *address_put_group(char *to, uint32_t group)
{
    int shift = 12;

    while (shift > 0 && group >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4) {
        const uint32_t digit = group >> shift & 15;

        *to++ = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    return to;
}

/* As inet_ntop writes it: RFC 5952, and IPv4 addresses that are mapped or compatible in periods.
 * Returns the length of the text. It may write to all bytes of `to`. */
BYTES_INLINE size_t address_put_ipv6(char to[ADDRESS_IPV6_LEN], const uint8_t address[16])
{
    int best = 8, best_len = 1; /* the longest run of zeros, of two groups at least */
    char *at = to;

    for (int i = 0, run = 0; i < 8; i++) {
        run = load_be16(address + 2 * i) == 0 ? run + 1 : 0;
        if (run > best_len) {
            best_len = run;
            best = i - run + 1;
        }
    }
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            *at++ = ':';
            i += best_len - 1;
            if (i == 7)
                *at++ = ':';
            continue;
        }
        if (i > 0)
            *at++ = ':';
        if (i == 6 && best == 0 &&
            (best_len == 6 || (best_len == 5 && load_be16(address + 10) == 0xFFFF)))
            return (size_t)(at - to) + address_put_ipv4(at, address + 12);
        at = address_put_group(at, load_be16(address + 2 * i));
    }
    return (size_t)(at - to);
}

#endif
