/* SPDX-License-Identifier: MIT */
/* The datagrams of a pair: src/tunnel/README.md describes them byte by byte. */
#ifndef TUNNEL_DATAGRAM_H
#define TUNNEL_DATAGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DATAGRAM_HEADER = 16, /* bytes */
    RECORD_HEADER = 3,
    DATAGRAM_MAX = 65507 /* bytes of UDP's longest payload */
};

enum record_kind {
    RECORD_PACKET = 0,   /* a packet as it is */
    RECORD_FRAME = 1,    /* of the encoder (docs/frames.md) */
    RECORD_FEEDBACK = 2, /* of the decoder */
    RECORD_HALF = 3,     /* of a packet or a frame that no datagram holds */
    RECORD_PROBE = 4,    /* a time, which is to be sent back, and any length of padding */
    RECORD_ANSWER = 5,   /* a probe's time, and how long the probe's datagram was */
    RECORD_HELLO = 6,    /* begins a session, or proves that one is heard */
    RECORD_PACKED = 7,   /* a packet or a frame, shortened by zstd */
    RECORD_PADDING = 8,  /* nothing: it hides how long a datagram is */
    RECORD_KINDS
};

struct datagram_header {
    uint64_t sequence; /* 48 bits: counts the datagrams of the sender's session from 1 */
    uint32_t from, to; /* sessions of the sender and of the receiver; 0: not known */
};

struct record {
    enum record_kind kind;
    const uint8_t *bytes;
    uint32_t len;
};

void datagram_write_header(uint8_t out[DATAGRAM_HEADER], const struct datagram_header *header);

/* Reads the header where the datagram is whole: each record is of a known kind, and the last one
 * ends with the datagram. False: it is none of this version, or damaged. */
bool datagram_read(struct datagram_header *header, const uint8_t *bytes, uint32_t len);

/* Writes a record's header. Its bytes come next. */
void record_write_header(uint8_t out[RECORD_HEADER], enum record_kind kind, uint32_t len);

/* Reads the record at *at, DATAGRAM_HEADER at first, of a datagram that datagram_read took. False:
 * there is none. */
bool record_next(struct record *record, const uint8_t *bytes, uint32_t len, uint32_t *at);

/* Numbers of `len` bytes, at most 8, the lowest byte first. */
static inline void datagram_put(uint8_t *at, uint64_t value, int len)
{
    for (int i = 0; i < len; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t datagram_get(const uint8_t *at, int len)
{
    uint64_t value = 0;

    for (int i = 0; i < len; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

#endif
