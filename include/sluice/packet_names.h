/* SPDX-License-Identifier: MIT */
/* Names in packets: found, and looked up in a table, a batch at a time.
 *
 * The engine looks for names packet by packet, without reassembly:
 * - DNS (RFC 1035, 6762): the names of all questions of queries and responses. UDP and TCP port 53,
 *   UDP port 5353. Over TCP, the messages that begin in the segment, the first at its first byte.
 * - HTTP/1.x (RFC 9112): host and URL of requests, on any TCP port. The segment must begin with a
 *   request line. Requests that follow it in the segment are found too, where the body between them
 *   has a length.
 * - TLS (RFC 8446, 6066): the server name of a ClientHello, on any TCP port. The segment must begin
 *   with its first record, or with a ChangeCipherSpec before it. The message may be spread over
 *   records of the segment. A name in the first segment is found also where the message goes on in
 *   the next.
 * - NDN (packet format 0.3): the names of Interests and Data, bare or in unfragmented NDNLPv2
 *   packets. UDP ports 6363 and 56363, TCP port 6363, and Ethernet type 0x8624 behind Ethernet,
 *   VLAN and Linux cooked headers.
 * A port counts on either side. A packet whose name is cut off, malformed or missing is counted by
 * its reason. */
#ifndef SLUICE_PACKET_NAMES_H
#define SLUICE_PACKET_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/engine.h"
#include "sluice/names.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The protocols of names. */
enum sl_packet_names_protocol {
    SL_PACKET_NAMES_DNS,
    SL_PACKET_NAMES_HTTP,
    SL_PACKET_NAMES_TLS,
    SL_PACKET_NAMES_NDN,
    SL_N_PACKET_NAMES_PROTOCOLS
};

SL_API const char *
sl_packet_names_protocol_name(enum sl_packet_names_protocol protocol); /* "dns", "http", ... */

/* Why a packet gave no name, or not all of its names. "Cut": the bytes end before the name does, at
 * the end of the segment, of the fragment, or of what was captured. */
enum sl_packet_names_miss {
    SL_PACKET_NAMES_MISS_MORE, /* more than SL_PACKET_NAMES_MAX names in the packet */
    SL_PACKET_NAMES_MISS_LONG, /* longer than SL_NAME_LEN_MAX, or than the rest of
                                  SL_PACKET_NAMES_LEN */
    SL_PACKET_NAMES_MISS_DNS_CUT,
    SL_PACKET_NAMES_MISS_DNS_HEADER, /* on a port of DNS, and no message: more questions than fit */
    SL_PACKET_NAMES_MISS_DNS_LABEL,  /* a label of an unknown type */
    SL_PACKET_NAMES_MISS_DNS_POINTER, /* more than 127 compression pointers */
    SL_PACKET_NAMES_MISS_DNS_LONG,    /* longer than 255 bytes */
    SL_PACKET_NAMES_MISS_HTTP_CUT,
    SL_PACKET_NAMES_MISS_HTTP_NO_HOST,
    SL_PACKET_NAMES_MISS_HTTP_HOSTS, /* a second Host field: the first one counts */
    SL_PACKET_NAMES_MISS_HTTP_HOST,  /* a host that is no host name */
    SL_PACKET_NAMES_MISS_HTTP_URL,   /* a request target of no known form */
    SL_PACKET_NAMES_MISS_TLS_CUT,
    SL_PACKET_NAMES_MISS_TLS_BAD, /* lengths that contradict one another */
    SL_PACKET_NAMES_MISS_TLS_NO_NAME,
    SL_PACKET_NAMES_MISS_TLS_HOST, /* a server name that is no host name */
    SL_PACKET_NAMES_MISS_NDN_CUT,
    SL_PACKET_NAMES_MISS_NDN_BAD,      /* a number that is not in its shortest form, or lengths that
                                          contradict one another */
    SL_PACKET_NAMES_MISS_NDN_FRAGMENT, /* a fragment of NDNLPv2 */
    SL_PACKET_NAMES_MISS_NDN_EMPTY,    /* a link packet that carries nothing */
    SL_PACKET_NAMES_MISS_NDN_OTHER,    /* neither Interest nor Data */
    SL_PACKET_NAMES_MISS_NDN_NAME,     /* does not begin with a name */
    SL_PACKET_NAMES_MISS_NDN_COMPONENT, /* a type out of 1 to 65535, or a digest that is not 32
                                           bytes */
    SL_N_PACKET_NAMES_MISSES
};

SL_API const char *sl_packet_names_miss_name(enum sl_packet_names_miss miss); /* "dns-cut" */
SL_API const char *sl_packet_names_miss_text(enum sl_packet_names_miss miss); /* in a few words */

/* Names of a packet, and their bytes, at most. */
enum {
    SL_PACKET_NAMES_MAX = 64,        /* names a packet */
    SL_PACKET_NAMES_LEN = 128 * 1024 /* bytes, NDN's not counted: they stay where they are */
};

/* A name in a packet. Spans count from the first byte of the item's payload span. Of the structs
 * the one of its protocol is valid. */
struct sl_packet_name {
    struct sl_name name; /* domains: labels as they are, in lower case; any byte may stand in one */
    enum sl_packet_names_protocol protocol;
    uint32_t offset; /* bytes from the first byte of the item's payload span to the name: DNS the
                        question, HTTP the request target, TLS the first byte of the host, NDN the
                        first component. Different for each name of a packet */
    struct {
        uint16_t id, flags; /* the header's */
        uint16_t rrtype, rrclass;
    } dns;
    struct {
        struct sl_span method, target;
        uint16_t port; /* of the Host field or absolute target; 0: none */
        uint8_t minor; /* HTTP/1.minor */
    } http;
    struct {
        uint16_t version; /* the highest that the client offers: 0x0303 is TLS 1.2 */
    } tls;
    struct {
        bool data; /* a Data packet, else an Interest */
    } ndn;
};

/* Finds the names of an item of a dissected host batch and returns their number. Names go to
 * `names`, their bytes to bytes[SL_PACKET_NAMES_LEN]; NDN's bytes stay in the packet. Sets a bit
 * (1 << enum sl_packet_names_miss) of *misses for each reason. Any thread. */
SL_API uint32_t sl_packet_names_find(const struct sl_batch *batch, uint32_t item,
                                     struct sl_packet_name names[SL_PACKET_NAMES_MAX],
                                     uint8_t *bytes, uint32_t *misses);

/* ---- the engine ------------------------------------------------------------------------------ */

/* The engine's table: a table of names, and the counts of what packets held. */
struct sl_packet_names_watch;

/* Makes a watch over a built table, which must outlive it. The caller frees it. SL_EINVAL: the
 * table is not built. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_packet_names_watch_create(struct sl_packet_names_watch **watch,
                                                            struct sl_names *names,
                                                            struct sl_diag *diag);

/* Frees a watch. Accepts NULL. All contexts over it must be closed. */
SL_API void sl_packet_names_watch_free(struct sl_packet_names_watch *watch);

/* Counts of a watch. */
struct sl_packet_names_watch_count {
    uint64_t packets; /* with a name */
    uint64_t names[SL_N_PACKET_NAMES_PROTOCOLS];
    uint64_t matched[SL_N_PACKET_NAMES_PROTOCOLS]; /* of them: with a rule that applies */
    uint64_t missed[SL_N_PACKET_NAMES_MISSES];     /* packets */
    uint64_t left; /* packets that the CPU handled for a GPU; the other counts have them, too */
};

/* Copies the counts of all batches whose wait returned SL_OK. Any thread. */
SL_API void sl_packet_names_watch_count(const struct sl_packet_names_watch *watch,
                                        struct sl_packet_names_watch_count *count);

/* The engine that finds the names of packets in the table. Static; any thread.
 *
 * A hit is a name with a rule that applies. Its offset is that of struct sl_packet_name, its id is
 * for sl_packet_names_hit. Backends: "batched" keeps the look-ups of many packets in flight at
 * once, "scalar" makes one after the other. "cuda" has a thread a packet, and "tiled" is the same
 * on the CPU.
 *
 * A thread of a GPU takes packets of at most 8 names, which have 1,024 bytes together. It takes
 * payloads of at most 4 KiB where they begin as if they had names. The CPU handles other packets,
 * and NDN on Ethernet, in wait. The GPU's copy of the table is that of the last update that ended
 * before submit. Submit waits for an update that goes on, and then makes a new copy. That takes
 * memory of the host and the device as long as the old copy is used (SL_ENOMEM).
 *
 * Open returns SL_EUNSUPPORTED where the limits ask for hits to stay on the GPU.
 *
 * The engine needs the packet column and, for Ethernet type 0x8624, the origin column (the link
 * type). On GPUs these columns lie in memory of the host as always. */
SL_API const struct sl_engine *sl_packet_names_engine(void);

/* Sets *answer to that of a hit's id, as sl_names_lookup does. The id is valid until the table is
 * updated. Any thread. */
SL_API void sl_packet_names_hit(const struct sl_names *names, uint64_t id,
                                struct sl_names_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
