/* SPDX-License-Identifier: MIT */
/* One side of a pair, without a socket, a device or a clock of its own: packets of the inside
 * become datagrams, and datagrams of the peer become packets. Time and randomness come from the
 * caller, so that a test repeats every run. src/tunnel/README.md has definition and invariants.
 *
 * A pair belongs to one thread. */
#ifndef TUNNEL_PAIR_H
#define TUNNEL_PAIR_H

#include <sys/socket.h>

#include "networks.h"
#include "sluice/sampling.h"
#include "sluice/status.h"

enum {
    PAIR_PACKET_MAX = 9216,    /* bytes of the longest packet inside */
    PAIR_OVERHEAD = 43,        /* bytes around a packet in a datagram of its own */
    PAIR_DATAGRAM_BASE = 1200, /* bytes of a datagram that every path carries (RFC 8899) */
    PAIR_BYPASS_PORTS = 32,
    PAIR_FLOWS_LISTED = 64,
    PAIR_PROTOCOLS = 256,
    PAIR_MINUTES = 60 /* that are remembered */
};

struct pair_port {
    uint8_t protocol;
    uint16_t port;
};

struct pair_config {
    struct sl_sampling_config sampling;
    uint64_t cache_len;            /* bytes of each of the two caches */
    uint32_t n_sharing;            /* pairs that share them (tenant.h); 0 or 1: this one alone */
    const struct network *allowed; /* of the peer; outlives the pair */
    size_t n_allowed;
    struct sockaddr_storage endpoint; /* of the peer; no family: it calls first */
    struct pair_port bypass[PAIR_BYPASS_PORTS];
    uint32_t n_bypass;
    bool compresses;       /* by zstd, the bytes that did not match */
    bool pads;             /* datagrams of records are as long as the path carries */
    uint32_t mtu;          /* bytes of the longest packet inside, at most PAIR_PACKET_MAX */
    uint32_t datagram_max; /* bytes of the longest datagram that the path may carry */
    uint64_t dead_after;   /* nanoseconds of silence, after which the peer counts as dead */
    uint32_t epoch;        /* of the encoder, as in sl_redundancy_config */
};

/* The actions of a pair on the world. `now` is the time of the call that it answers. */
struct pair_world {
    void *user;
    /* A datagram to the peer's endpoint. It is lent for the call. */
    void (*send)(void *user, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                 const struct sockaddr_storage *to);
    /* A packet for the inside, which may be changed during the call. */
    void (*deliver)(void *user, uint8_t *packet, uint32_t len);
    uint64_t (*random)(void *user);
};

enum pair_drop {
    PAIR_NO_PEER,    /* from the inside while no session is there */
    PAIR_NOT_IP,     /* from the inside: no IP packet, or not whole */
    PAIR_TOO_LONG,   /* from the inside: two datagrams do not hold it */
    PAIR_FOREIGN,    /* from the peer: the source is in none of its networks */
    PAIR_BAD_PACKET, /* from the peer: no IP packet, or congestion that its sender cannot hear */
    PAIR_MALFORMED,  /* datagrams: not of this version, or not whole */
    PAIR_SESSION,    /* datagrams: of another session */
    PAIR_REPLAYED,   /* datagrams: came before, or too late to know */
    PAIR_REFLECTED,  /* datagrams: of this side itself */
    PAIR_DROPS
};

struct pair_stats {
    uint64_t packets_in, bytes_in;   /* from the inside */
    uint64_t packets_out, bytes_out; /* to the inside */
    uint64_t datagrams_sent, bytes_sent;
    uint64_t datagrams_received, bytes_received; /* of the session */
    uint64_t bypassed;                           /* packets */
    uint64_t packed;                             /* packets that zstd shortened */
    uint64_t halved;                             /* packets or frames */
    uint64_t lost;     /* datagrams that did not come, late ones excluded */
    uint64_t sessions; /* begun with a peer */
    uint64_t deaths;   /* of the peer */
    uint64_t moves;    /* of the peer's endpoint */
    uint64_t dropped[PAIR_DROPS];
    uint64_t frames[8]; /* received, by enum sl_frame_verdict */
    uint64_t resent;    /* packets that the peer could not resolve */
    uint64_t epochs;    /* of the encoder */
    uint64_t bad_feedback;
    uint64_t matched_bytes; /* of packets from the inside */
    uint64_t round_trip;    /* nanoseconds, smoothed; 0: not known */
    uint32_t path;          /* bytes of a datagram that the path is known to carry */
    bool alive;
    struct sockaddr_storage endpoint;
};

/* Packets from the inside, and the bytes that carried them. */
struct pair_saving {
    uint64_t packets, bytes, sent;
};

struct pair_flow {
    char source[NETWORK_TEXT], destination[NETWORK_TEXT];
    uint8_t protocol;
    uint64_t packets, bytes, sent;
};

struct pair;

/* Bytes that pair_create takes of the machine, without caches that pairs share. */
uint64_t pair_memory(const struct pair_config *config);

/* The text of a drop in counters: "not_ip". */
const char *pair_drop_name(enum pair_drop drop);

SL_CHECK enum sl_status pair_create(struct pair **pair, const struct pair_config *config,
                                    const struct pair_world *world, uint64_t now,
                                    struct sl_diag *diag);
void pair_free(struct pair *pair); /* accepts NULL */

/* Writes both caches to a file, and takes them from one, before the first session. So the next life
 * of this side goes on where this one ends. *sends: the cache of what is sent was taken, also where
 * the other failed. Statuses: as kept_write and kept_read. */
SL_CHECK enum sl_status pair_save(const struct pair *pair, int fd, struct sl_diag *diag);
SL_CHECK enum sl_status pair_load(struct pair *pair, int fd, bool *sends, struct sl_diag *diag);

enum pair_cache { PAIR_SENT, PAIR_CAME };

/* Of a pair that shares its caches: bytes that it holds, and gives the oldest of them back. `len`
 * is at most what it holds. */
uint64_t pair_held(const struct pair *pair, enum pair_cache cache);
void pair_forget(struct pair *pair, enum pair_cache cache, uint64_t len);

/* Takes a packet from the inside. It is sent by pair_flush at the latest. */
void pair_packet(struct pair *pair, const uint8_t *packet, uint32_t len, uint64_t now);

/* Sends all that waits: the inside has nothing more at this moment. */
void pair_flush(struct pair *pair, uint64_t now);

/* Takes a datagram from outside. Any bytes are safe. */
void pair_datagram(struct pair *pair, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                   const struct sockaddr_storage *from, uint64_t now);

/* Does what is due. Returns the time at which it wants to be called again. */
uint64_t pair_tick(struct pair *pair, uint64_t now);

/* The system refused a datagram of this length as too long for the path. */
void pair_too_long(struct pair *pair, uint32_t len, uint64_t now);

/* Bytes of the longest packet of the inside that a datagram holds: the device's MTU. It is the
 * config's until the path's length is known. */
uint32_t pair_mtu(const struct pair *pair);

/* Whether the caller cannot keep up: flows that repeat nothing then pass by the encoder. Otherwise
 * they are encoded, so that content sent again later is found. */
void pair_set_busy(struct pair *pair, bool busy);

/* The session number of this side, which its peer's datagrams name. */
uint32_t pair_session(const struct pair *pair);

bool pair_is_alive(const struct pair *pair);
void pair_stats(const struct pair *pair, struct pair_stats *stats);

/* The flows that saved most, the first ones first. Returns their number. */
size_t pair_flows(const struct pair *pair, struct pair_flow flows[PAIR_FLOWS_LISTED]);

/* By protocol of IP: PAIR_PROTOCOLS. `sent` is of records. */
const struct pair_saving *pair_protocols(const struct pair *pair);

/* The minutes that have ended, the last one first. `sent` is of datagrams. Returns their number. */
size_t pair_minutes(const struct pair *pair, struct pair_saving minutes[PAIR_MINUTES]);

#endif
