/* SPDX-License-Identifier: MIT */
/* The state that the parts of a pair share. */
#ifndef TUNNEL_PAIR_STATE_H
#define TUNNEL_PAIR_STATE_H

#include "datagram.h"
#include "flow_bypass.h"
#include "pair.h"
#include "path_mtu.h"
#include "replay_window.h"
#include "sampler.h"
#include "sluice/redundancy.h"

#define PAIR_MS UINT64_C(1000000) /* nanoseconds */
#define PAIR_MINUTE (60000 * PAIR_MS)

enum {
    /* Packets that are sampled and encoded at once: more gain nothing, and no timer waits. */
    GATHERED_MAX = 16,
    HALVES = 16, /* packets of which one half has come */
    HALF_HEADER = 6
};

_Static_assert(PAIR_OVERHEAD == DATAGRAM_HEADER + RECORD_HEADER + SL_FRAME_HEADER_LEN, "");

/* A packet that waits to be encoded: an item of the batch, or one that passes by the encoder. */
struct gathered {
    struct inner_packet inner;
    struct flow *flow;
    uint32_t offset, len; /* in the arena of its kind */
    bool passes;
};

/* The two halves of a record, and which of them have come. */
struct half {
    uint32_t number;
    uint8_t kind;
    uint8_t came; /* bits */
    uint32_t len[2];
    uint8_t bytes[2][PAIR_PACKET_MAX + SL_FRAME_HEADER_LEN];
};

/* The senders that a hello answers: each sort has a budget of its own, so that a flood of one sort
 * does not keep the peer from being heard. */
enum answer_to {
    ANSWER_PEER_HELLO,    /* a hello from the peer's address */
    ANSWER_PEER_STRANGER, /* another session's datagram from there */
    ANSWER_OTHER,         /* all from elsewhere */
    ANSWER_SORTS
};

struct answers {
    uint64_t since; /* when the present interval began */
    uint32_t n;     /* within it */
};

/* Both sides' sessions, and the proof that the peer hears this one. */
struct pair_session {
    uint32_t own, peer;  /* peer 0: none yet */
    uint64_t challenge;  /* that a hello must echo to begin a session, or to move the endpoint */
    uint64_t echo;       /* the peer's last challenge */
    uint64_t sequence;   /* of the last datagram sent */
    uint64_t hello_at;   /* when to send the next one */
    uint64_t hello_wait; /* doubles */
    struct answers answers[ANSWER_SORTS];
    uint64_t heard_at, probe_at;
    uint64_t n_came; /* datagrams of the session */
    struct replay_window window;
};

/* Datagrams of the session that did not come. */
static inline uint64_t pair_lost(const struct pair_session *session)
{
    return session->window.newest > session->n_came ? session->window.newest - session->n_came : 0;
}

/* The values that make a report of the decoder's state due. */
struct pair_news {
    uint64_t since;   /* time of the first frame that was not reported; 0: none */
    uint64_t bytes;   /* of packets since */
    uint32_t holes;   /* since */
    uint64_t skipped; /* the decoder's count of bytes in holes, at the last frame */
    bool urgent;      /* something could not be resolved */
    uint64_t reported_at;
};

struct pair {
    struct pair_config config;
    struct pair_world world;
    struct sampler sampler;
    struct sl_encoder *encoder;
    struct sl_decoder *decoder;
    struct sl_batch *batch;
    struct gathered gathered[GATHERED_MAX];
    uint32_t n_gathered, raw_len;
    uint8_t *raw;      /* packets that pass by the encoder */
    uint8_t *frame;    /* in work */
    uint8_t *inside;   /* a packet that is delivered */
    uint8_t *datagram; /* being filled */
    uint32_t datagram_len;
    uint8_t traffic_class; /* of the packets in it */
    uint32_t half_number;
    struct half halves[HALVES];
    struct pair_session session;
    struct pair_news news;
    struct path_mtu path;
    struct sockaddr_storage endpoint;
    struct flow_bypass *flows;
    struct ZSTD_CCtx_s *pack; /* NULL: nothing is compressed */
    struct ZSTD_DCtx_s *unpack;
    uint8_t *packed; /* records shortened, and made whole */
    uint64_t learned,
        learn_end; /* log offsets of a kept cache whose samples are to be found again */
    struct pair_saving protocols[PAIR_PROTOCOLS];
    struct pair_saving minutes[PAIR_MINUTES], minute_begin;
    uint64_t minute, n_minutes; /* the present one, and those that ended */
    bool alive, busy;
    struct pair_stats stats;
};

/* pair_records.c: appends a record to the open datagram, and sends that one before where it is full
 * or of another class. A record that no datagram holds is halved. */
void pair_put(struct pair *pair, enum record_kind kind, const uint8_t *bytes, uint32_t len,
              uint8_t traffic_class);

/* Sends the open datagram, if it has a record. */
void pair_send(struct pair *pair);

/* Sends a datagram of one record now, to this session and endpoint. */
void pair_send_alone(struct pair *pair, enum record_kind kind, const uint8_t *bytes, uint32_t len,
                     uint32_t to, const struct sockaddr_storage *endpoint);

/* pair_send.c: sends what the peer asked for again. */
void pair_resend(struct pair *pair);

/* pair_savings.c */
void savings_count(struct pair *pair, uint8_t protocol, uint32_t len, uint32_t sent);
void savings_tick(struct pair *pair, uint64_t now);

/* pair_cache.c: samples a part of a kept cache anew. False: all of it has been. */
bool pair_learn(struct pair *pair);

/* pair_packed.c */
enum sl_status packed_open(struct pair *pair, struct sl_diag *diag);
void packed_close(struct pair *pair);
/* Shortens a record into pair->packed. Returns its new length, 0: it would not be much shorter. */
uint32_t packed_write(struct pair *pair, enum record_kind kind, const uint8_t *bytes, uint32_t len);
/* Makes it whole, until the next call of either. False: it is none. */
bool packed_read(struct pair *pair, const struct record *record, struct record *whole);

/* pair_session.c */
void session_begin(struct pair *pair, uint64_t now);
void session_hello(struct pair *pair, const struct datagram_header *header,
                   const struct record *record, const struct sockaddr_storage *from, uint64_t now);
/* A datagram of another session has come: an answer names this one to its sender. */
void session_stranger(struct pair *pair, const struct datagram_header *header,
                      const struct sockaddr_storage *from, uint64_t now);
/* A datagram of the session has come from an address that is not the peer's. */
void session_moved(struct pair *pair, const struct sockaddr_storage *from, uint64_t now);
uint64_t session_tick(struct pair *pair, uint64_t now);

/* pair_feedback.c */
void feedback_note(struct pair *pair, enum sl_frame_verdict verdict, uint32_t len, uint64_t now);
uint64_t feedback_tick(struct pair *pair, uint64_t now);

/* pair_receive.c */
void pair_take_record(struct pair *pair, const struct record *record, uint8_t traffic_class,
                      uint64_t now);

#endif
