/* SPDX-License-Identifier: MIT */
/* Initial packets of QUIC's clients (RFC 9001; versions 1, 2 and drafts 23 to 34): their keys
 * follow from what they send, so that the hello of TLS in them can be read. A flow holds at most
 * QUIC_HELLO_MAX bytes of it, and nothing once it was read. */
#ifndef APP_QUIC_H
#define APP_QUIC_H

#include "tls.h"

enum { QUIC_HELLO_MAX = 16384, QUIC_ID_MAX = 20, QUIC_KEY_LEN = 16, QUIC_IV_LEN = 12 };

struct quic_keys {
    uint8_t key[QUIC_KEY_LEN], iv[QUIC_IV_LEN], header[QUIC_KEY_LEN];
};

/* The client's side of a flow. Zeroed at first. */
struct quic_flow {
    uint32_t version; /* of its first packet; 0: none came */
    struct quic_keys keys;
    uint8_t *hello; /* QUIC_HELLO_MAX bytes, and behind them a bit for each that came */
};

enum quic_result {
    QUIC_NOTHING, /* no packet of this kind, or none that its keys open */
    QUIC_PART,    /* a part of a hello */
    QUIC_HELLO,   /* the session has the hello */
    QUIC_NO_MEMORY
};

/* The version of the initial packet that a datagram begins with. 0: it begins with none. */
uint32_t quic_probe(const uint8_t *bytes, uint32_t len);

/* Reads a datagram of the client. A packet that is no client's opens nothing, and does no harm. */
enum quic_result quic_read(struct quic_flow *flow, struct tls_session *session,
                           const uint8_t *bytes, uint32_t len);

void quic_flow_free(struct quic_flow *flow);

#endif
