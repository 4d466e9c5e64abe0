/* SPDX-License-Identifier: MIT */
/* Names of the questions in DNS messages (RFC 1035, section 4.1). For host and CUDA code. */
#ifndef PACKET_NAMES_DNS_CORE_H
#define PACKET_NAMES_DNS_CORE_H

#include "app/dns_walk_core.h"
#include "packet_names_out_core.h"

enum {
    NAME_DNS_QUESTION_LEN = 5, /* bytes of one, at least */
    NAME_DNS_ROOM = 384        /* bytes of a name's components: a byte more than each label has */
};

/* A question's name, written from its end to its beginning: labels turn around. */
struct name_dns {
    uint8_t bytes[NAME_DNS_ROOM];
    uint32_t begin;    /* of the name in bytes */
    uint32_t n_labels; /* and their bytes on the wire */
    uint32_t wire_len;
};

BYTES_INLINE void name_dns_label(struct name_dns *dns, const uint8_t *label, uint32_t len)
{
    dns->begin -= len + 2;
    uint8_t *to = dns->bytes + dns->begin;

    *to++ = SL_NAME_GENERIC;
    *to++ = (uint8_t)len;
    uint32_t i = 0;
    for (; i + 4 <= len; i += 4) {
        const uint32_t four = name_lower4(name_load4(label + i));
        memcpy(to + i, &four, sizeof four);
    }
    for (; i < len; i++)
        to[i] = label[i] >= 'A' && label[i] <= 'Z' ? label[i] | 0x20 : label[i];
    dns->n_labels++;
}

BYTES_INLINE enum sl_packet_names_miss name_dns_miss(enum dns_damage damage)
{
    switch (damage) {
    case DNS_NAME_LABEL:
        return SL_PACKET_NAMES_MISS_DNS_LABEL;
    case DNS_NAME_LONG:
        return SL_PACKET_NAMES_MISS_DNS_LONG;
    case DNS_NAME_POINTERS:
        return SL_PACKET_NAMES_MISS_DNS_POINTER;
    default:
        return SL_PACKET_NAMES_MISS_DNS_CUT;
    }
}

/* Reads the name at *at, which goes behind it. SL_N_PACKET_NAMES_MISSES: done. */
BYTES_INLINE enum sl_packet_names_miss name_dns_read(struct name_dns *dns, const uint8_t *message,
                                                     uint32_t len, uint32_t *at)
{
    struct dns_walk walk = dns_walk_begin(*at);

    dns->begin = NAME_DNS_ROOM;
    dns->n_labels = 0;
    for (;;) {
        uint32_t label, label_len;
        const enum dns_damage damage = dns_walk_next(&walk, message, len, len, &label, &label_len);

        if (damage != DNS_WHOLE)
            return name_dns_miss(damage);
        if (label_len == 0)
            break;
        name_dns_label(dns, message + label, label_len);
    }
    dns->wire_len = walk.labels_len;
    *at = walk.behind;
    return SL_N_PACKET_NAMES_MISSES;
}

/* A question for an address, as if it were a name, means the name that tables hold as one
 * component. */
BYTES_INLINE bool name_dns_address(const struct name_dns *dns, char text[NAME_IPV4_TEXT_MAX],
                                   uint32_t *text_len)
{
    const uint8_t *name = dns->bytes + dns->begin;
    uint32_t len = dns->wire_len - 1, at = 0; /* labels with a period before all but the first */
    uint8_t address[4];

    if (dns->n_labels != 4 || len > NAME_IPV4_TEXT_MAX || !name_is_digit((char)name[2]))
        return false;
    *text_len = len;
    while (len > 0) {
        const uint32_t label_len = name[at + 1];

        len -= label_len;
        for (uint32_t i = 0; i < label_len; i++)
            text[len + i] = (char)name[at + 2 + i];
        if (len > 0)
            text[--len] = '.';
        at += 2 + label_len;
    }
    return name_parse_ipv4(address, text, *text_len);
}

BYTES_INLINE void name_dns_keep(struct name_out *out, struct sl_packet_name *found,
                                const struct name_dns *dns, uint32_t offset)
{
    char text[NAME_IPV4_TEXT_MAX];
    uint32_t text_len;
    struct name_build build;

    name_begin(out, &build);
    if (build.cap < NAME_DNS_ROOM) {
        name_miss(out, SL_PACKET_NAMES_MISS_LONG);
        return;
    }
    if (name_dns_address(dns, text, &text_len)) {
        (void)name_add(&build, SL_NAME_GENERIC, text, text_len);
    } else {
        build.len = NAME_DNS_ROOM - dns->begin;
        memcpy(build.bytes, dns->bytes + dns->begin, build.len);
    }
    out->len += build.len;
    name_keep(out, found, SL_PACKET_NAMES_DNS, offset, SL_NAME_DOMAIN, build.bytes, build.len,
              build.len);
}

/* A message of message_len bytes, of which len are here. */
BYTES_INLINE void name_extract_dns(struct name_out *out, const uint8_t *message, uint32_t len,
                                   uint32_t message_len, uint32_t base)
{
    uint32_t at = DNS_HEADER_LEN;
    struct name_dns dns;

    if (len < DNS_HEADER_LEN) {
        name_miss(out, len < message_len ? SL_PACKET_NAMES_MISS_DNS_CUT
                                         : SL_PACKET_NAMES_MISS_DNS_HEADER);
        return;
    }
    uint32_t left = load_be16(message + 4);
    /* More questions than fit: no message, or a segment that begins inside of one. */
    if (left * NAME_DNS_QUESTION_LEN > message_len - DNS_HEADER_LEN) {
        name_miss(out, SL_PACKET_NAMES_MISS_DNS_HEADER);
        return;
    }
    for (; left > 0; left--) {
        struct sl_packet_name *found = name_next_found(out);
        const uint32_t begin = at;

        if (found == NULL)
            return;
        enum sl_packet_names_miss miss = name_dns_read(&dns, message, len, &at);
        if (miss == SL_N_PACKET_NAMES_MISSES && len - at < 4)
            miss = SL_PACKET_NAMES_MISS_DNS_CUT;
        if (miss != SL_N_PACKET_NAMES_MISSES) {
            name_miss(out, miss);
            return;
        }
        found->dns.id = load_be16(message);
        found->dns.flags = load_be16(message + 2);
        found->dns.rrtype = load_be16(message + at);
        found->dns.rrclass = load_be16(message + at + 2);
        at += 4;
        name_dns_keep(out, found, &dns, base + begin);
    }
}

/* Messages behind their lengths (section 4.2.2). */
BYTES_INLINE void name_extract_dns_tcp(struct name_out *out, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t at = 0; at < len;) {
        if (len - at < 2) {
            name_miss(out, SL_PACKET_NAMES_MISS_DNS_CUT);
            return;
        }
        const uint32_t message_len = load_be16(bytes + at);
        const uint32_t here = len - at - 2 < message_len ? len - at - 2 : message_len;

        at += 2;
        name_extract_dns(out, bytes + at, here, message_len, at);
        if (out->misses != 0)
            return;
        at += here;
    }
}

#endif
