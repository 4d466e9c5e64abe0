/* SPDX-License-Identifier: MIT */
/* The buffers of rules that names of DNS messages belong to. */
#ifndef APP_DNS_BUFFERS_H
#define APP_DNS_BUFFERS_H

#include "dns.h"
#include "sluice/app.h"

/* SL_BUFFER_* of the name of a question or record. */
static inline uint32_t dns_buffers_of(const struct dns_header *header, enum dns_section section)
{
    static const uint32_t buffers[DNS_N_SECTIONS] = {
        [DNS_QUESTION] = SL_BUFFER_DNS_QUERIES,
        [DNS_ANSWER] = SL_BUFFER_DNS_ANSWERS,
        [DNS_AUTHORITY] = SL_BUFFER_DNS_AUTHORITIES,
        [DNS_ADDITIONAL] = SL_BUFFER_DNS_ADDITIONALS,
    };
    const bool response = (header->flags & DNS_QR) != 0;

    if (response)
        return buffers[section] | SL_BUFFER_DNS_RESPONSE;
    return buffers[section] | (section == DNS_QUESTION ? (uint32_t)SL_BUFFER_DNS_QUERY : 0);
}

/* Appends the names of a message that belong to `buffers`, behind the first `skip`, as made items
 * of `item`. Returns how many there are up to the one that did not fit, or UINT32_MAX: all did. */
uint32_t dns_make_names(struct sl_batch *to, uint32_t item, const uint8_t *message, uint32_t len,
                        uint32_t buffers, uint32_t skip);

#endif
