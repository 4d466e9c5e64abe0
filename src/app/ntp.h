/* SPDX-License-Identifier: MIT */
/* NTP (RFC 5905): the fixed part of a message. */
#ifndef APP_NTP_H
#define APP_NTP_H

#include <stdbool.h>
#include <stdint.h>

enum { NTP_LEN = 48, NTP_PORT = 123, NTP_STRATUM_AT = 1, NTP_REFERENCE_ID_AT = 12 };

static inline uint32_t ntp_version(const uint8_t *message)
{
    return message[0] >> 3 & 7;
}

static inline uint32_t ntp_mode(const uint8_t *message)
{
    return message[0] & 7;
}

/* Whether a message between these ports is NTP. Its bytes alone have too little form. */
static inline bool ntp_probe(const uint8_t *message, uint32_t len, uint16_t src, uint16_t dst)
{
    return (src == NTP_PORT || dst == NTP_PORT) && len >= NTP_LEN && ntp_version(message) >= 1 &&
           ntp_version(message) <= 4 && ntp_mode(message) != 0;
}

#endif
