/* SPDX-License-Identifier: MIT */
/* A walk over the labels of a name in a DNS message (RFC 1035, section 4.1.4). For host and CUDA
 * code. */
#ifndef APP_DNS_WALK_CORE_H
#define APP_DNS_WALK_CORE_H

#include "base/bytes.h"

enum {
    DNS_HEADER_LEN = 12,
    DNS_LABEL_MAX = 63,
    DNS_NAME_LEN_MAX = 255,     /* bytes of a name on the wire, expanded, with the root's */
    DNS_NAME_POINTERS_MAX = 127 /* as many as a name has labels at most */
};

/* The reason that reading ended before the last record. */
enum dns_damage {
    DNS_WHOLE,         /* it did not */
    DNS_HEADER_CUT,    /* fewer than 12 bytes */
    DNS_NAME_CUT,      /* a name ends behind the message, or behind the data that it begins in */
    DNS_NAME_LABEL,    /* a label of an unknown type */
    DNS_NAME_LONG,     /* more than DNS_NAME_LEN_MAX bytes */
    DNS_NAME_POINTERS, /* more than DNS_NAME_POINTERS_MAX pointers, as in a circle */
    DNS_RECORD_CUT,    /* a question or record ends behind the message */
    DNS_DATA,          /* data that does not have the form of its type */
    DNS_N_DAMAGES
};

struct dns_walk {
    uint32_t from;   /* where the next label begins */
    uint32_t behind; /* the name's end before the first pointer's target, once it is known */
    uint32_t n_pointers;
    uint32_t labels_len; /* bytes of the labels so far, with their lengths */
};

BYTES_INLINE struct dns_walk dns_walk_begin(uint32_t at)
{
    const struct dns_walk walk = {at, 0, 0, 0};

    return walk;
}

/* Follows the pointer at walk->from, whose first byte is there. It may lead anywhere, as in
 * Suricata. The limit on pointers ends a circle. */
BYTES_INLINE enum dns_damage dns_walk_jump(struct dns_walk *walk, const uint8_t *message,
                                           uint32_t end)
{
    if (end - walk->from < 2)
        return DNS_NAME_CUT;
    if (walk->n_pointers++ == 0)
        walk->behind = walk->from + 2;
    walk->from = load_be16(message + walk->from) & 0x3FFFu;
    return walk->n_pointers > DNS_NAME_POINTERS_MAX ? DNS_NAME_POINTERS : DNS_WHOLE;
}

/* Takes the next label of a name in a message of len bytes. `end` bounds the bytes before the first
 * pointer. A label of 0 bytes is the name's end. DNS_WHOLE, or why there is no label. */
BYTES_INLINE enum dns_damage dns_walk_next(struct dns_walk *walk, const uint8_t *message,
                                           uint32_t len, uint32_t end, uint32_t *label,
                                           uint32_t *label_len)
{
    uint32_t head;

    for (;;) {
        const uint32_t bound = walk->n_pointers == 0 ? end : len;

        if (walk->from >= bound)
            return DNS_NAME_CUT;
        head = message[walk->from];
        if (head < 0xC0)
            break;
        const enum dns_damage damage = dns_walk_jump(walk, message, bound);
        if (damage != DNS_WHOLE)
            return damage;
    }
    if (head > DNS_LABEL_MAX)
        return DNS_NAME_LABEL;
    *label = walk->from + 1;
    *label_len = head;
    walk->from += 1 + head;
    if (head == 0) {
        if (walk->n_pointers == 0)
            walk->behind = walk->from;
        return DNS_WHOLE;
    }
    walk->labels_len += 1 + head;
    if (walk->labels_len >= DNS_NAME_LEN_MAX)
        return DNS_NAME_LONG;
    return walk->from > (walk->n_pointers == 0 ? end : len) ? DNS_NAME_CUT : DNS_WHOLE;
}

#endif
