/* SPDX-License-Identifier: MIT */
/* SIP (RFC 3261) and the SDP (RFC 8866) in its bodies: parts of a message, where they lie in it. */
#ifndef APP_SIP_H
#define APP_SIP_H

#include <stdbool.h>
#include <stdint.h>

enum sip_field {
    /* Of the first line, which is a request's or a response's. */
    SIP_METHOD,
    SIP_URI,
    SIP_REQUEST_LINE,
    SIP_PROTOCOL, /* "SIP/2.0" */
    SIP_STAT_CODE,
    SIP_STAT_MSG,
    SIP_RESPONSE_LINE,
    /* Values of headers, which may repeat, also by their short names. */
    SIP_FROM,
    SIP_TO,
    SIP_VIA,
    SIP_USER_AGENT,
    SIP_CONTENT_TYPE,
    SIP_CONTENT_LENGTH,
    /* Of a session, in a body of application/sdp. */
    SDP_ORIGIN,
    SDP_SESSION_NAME,
    SDP_SESSION_INFO,
    SDP_URI,
    SDP_EMAIL,
    SDP_PHONE_NUMBER,
    SDP_CONNECTION_DATA,
    SDP_BANDWIDTH,
    SDP_TIME,
    SDP_REPEAT_TIME,
    SDP_TIMEZONE,
    SDP_ENCRYPTION_KEY,
    SDP_ATTRIBUTE,
    /* Of its media. */
    SDP_MEDIA,
    SDP_MEDIA_INFO,
    SDP_MEDIA_CONNECTION_DATA,
    SDP_MEDIA_ENCRYPTION_KEY,
    SIP_N_FIELDS
};

/* The first line gives it once. */
static inline bool sip_field_is_single(enum sip_field field)
{
    return field <= SIP_RESPONSE_LINE;
}

struct sip_span {
    uint32_t at, len; /* bytes of the message */
};

/* A walk over the values of one field. Zeroed at first. */
struct sip_walk {
    uint32_t at; /* of the next line */
    bool begun, media;
};

/* Whether a message begins as SIP does. */
bool sip_probe(const uint8_t *message, uint32_t len);

/* Gives the next value of a field. False: there is none left. */
bool sip_next(struct sip_span *value, struct sip_walk *walk, const uint8_t *message, uint32_t len,
              enum sip_field field);

#endif
