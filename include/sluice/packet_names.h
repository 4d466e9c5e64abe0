/* SPDX-License-Identifier: MIT */
/* Names in packets: found, and looked up in a table, a batch at a time.
 *
 * What is looked for, packet by packet, without reassembly:
 * - DNS (RFC 1035, 6762): the names of all questions of queries and responses; UDP and TCP port 53,
 *   UDP port 5353. Over TCP the messages that begin in the segment, the first at its first byte.
 * - HTTP/1.x (RFC 9112): host and URL of requests, on any TCP port. The segment must begin with a
 *   request line; requests that follow it in the segment are found too, where the body between them
 *   has a length.
 * - TLS (RFC 8446, 6066): the server name of a ClientHello, on any TCP port. The segment must begin
 *   with its first record, or with a ChangeCipherSpec before it; the message may be spread over
 *   records of the segment. Of one that goes on in the next segment the name is found where it
 *   stands in the first.
 * - NDN (packet format 0.3): the names of Interests and Data, bare or in unfragmented NDNLPv2
 *   packets; UDP ports 6363 and 56363, TCP port 6363, and Ethernet type 0x8624 behind Ethernet,
 *   VLAN and Linux cooked headers.
 * A port counts on either side. What is cut off, no name, or without one is counted by reason. */
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

enum sl_names_protocol {
    SL_NAMES_DNS,
    SL_NAMES_HTTP,
    SL_NAMES_TLS,
    SL_NAMES_NDN,
    SL_N_NAMES_PROTOCOLS
};

SL_API const char *sl_names_protocol_text(enum sl_names_protocol protocol); /* "dns", "http", ... */

/* Why a packet gave no name, or not all that it has. "Cut": the bytes end before the name does, at
 * the end of the segment, of the fragment, or of what was captured. */
enum sl_names_miss {
    SL_NAMES_MISS_MORE, /* more than SL_PACKET_NAMES_MAX names in the packet */
    SL_NAMES_MISS_LONG, /* longer than SL_NAME_LEN_MAX, or than what is left of
                           SL_PACKET_NAMES_LEN */
    SL_NAMES_MISS_DNS_CUT,
    SL_NAMES_MISS_DNS_HEADER,  /* on a port of DNS, and no message: more questions than fit */
    SL_NAMES_MISS_DNS_LABEL,   /* a label of a type that there is not */
    SL_NAMES_MISS_DNS_POINTER, /* a compression pointer that does not point backwards */
    SL_NAMES_MISS_DNS_LONG,    /* longer than 255 bytes */
    SL_NAMES_MISS_HTTP_CUT,
    SL_NAMES_MISS_HTTP_NO_HOST,
    SL_NAMES_MISS_HTTP_HOSTS, /* a second Host field: the first one counts */
    SL_NAMES_MISS_HTTP_HOST,  /* what should be a host is none */
    SL_NAMES_MISS_HTTP_URL,   /* a request target of no known form */
    SL_NAMES_MISS_TLS_CUT,
    SL_NAMES_MISS_TLS_BAD, /* lengths that contradict one another */
    SL_NAMES_MISS_TLS_NO_NAME,
    SL_NAMES_MISS_TLS_HOST, /* a server name that is no host name */
    SL_NAMES_MISS_NDN_CUT,
    SL_NAMES_MISS_NDN_BAD, /* a number that is not in its shortest form, or lengths that contradict
                              one another */
    SL_NAMES_MISS_NDN_FRAGMENT,  /* a fragment of NDNLPv2 */
    SL_NAMES_MISS_NDN_EMPTY,     /* a link packet that carries nothing */
    SL_NAMES_MISS_NDN_OTHER,     /* neither Interest nor Data */
    SL_NAMES_MISS_NDN_NAME,      /* does not begin with a name */
    SL_NAMES_MISS_NDN_COMPONENT, /* a type out of 1 to 65535, or a digest that is not 32 bytes */
    SL_N_NAMES_MISSES
};

SL_API const char *sl_names_miss_name(enum sl_names_miss miss); /* "dns-cut" */
SL_API const char *sl_names_miss_text(enum sl_names_miss miss); /* in a few words */

enum {
    SL_PACKET_NAMES_MAX = 64, /* names a packet */
    SL_PACKET_NAMES_LEN =
        128 * 1024 /* bytes of them, NDN's not counted: they stay where they are */
};

/* A name in a packet. Spans count from the first byte of the item's payload span. Of the structs
 * the one of its protocol is valid. */
struct sl_packet_name {
    struct sl_name name; /* domains: labels as they are, in lower case; any byte may stand in one */
    enum sl_names_protocol protocol;
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

/* Finds the names of an item of a dissected host batch: at most SL_PACKET_NAMES_MAX into `names`,
 * their bytes into bytes[SL_PACKET_NAMES_LEN] (or, NDN, in the packet itself), and a bit (1 << enum
 * sl_names_miss) for each reason into *misses. Returns how many. Any thread. */
SL_API uint32_t sl_packet_names(const struct sl_batch *batch, uint32_t item,
                                struct sl_packet_name names[SL_PACKET_NAMES_MAX], uint8_t *bytes,
                                uint32_t *misses);

/* ---- the engine ------------------------------------------------------------------------------ */

/* A table watched for in packets: what the engine takes for its table, and what it counts. */
struct sl_names_watch;

/* `names` is built, and outlives the watch. SL_EINVAL: not built. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_names_watch_create(struct sl_names_watch **watch,
                                                     struct sl_names *names, struct sl_diag *diag);

/* Accepts NULL. All contexts over it must be closed. */
SL_API void sl_names_watch_free(struct sl_names_watch *watch);

struct sl_names_watch_count {
    uint64_t packets; /* with a name */
    uint64_t names[SL_N_NAMES_PROTOCOLS];
    uint64_t matched[SL_N_NAMES_PROTOCOLS]; /* of them: with a rule that applies */
    uint64_t missed[SL_N_NAMES_MISSES];     /* packets */
    uint64_t left; /* packets that a GPU left to the CPU, which counted them as all others */
};

/* Of all batches that were waited for. Any thread. */
SL_API void sl_names_watch_count(const struct sl_names_watch *watch,
                                 struct sl_names_watch_count *count);

/* Looks the names of packets up. A hit is a name with a rule that applies; its offset is that of
 * struct sl_packet_name, its id for sl_names_hit. Backends: "batched" keeps the look-ups of many
 * packets in flight at once, "scalar" makes one after the other; "cuda" has a thread a packet, and
 * "tiled" is the same on the CPU.
 *
 * A thread of a GPU takes packets of at most 8 names of 1,024 bytes together, and payloads of at
 * most 4 KiB where they begin as if they had names. Others, and NDN on Ethernet, come back, and
 * wait has the CPU look into them. A GPU's copy of the table is of the last update that ended
 * before the batch was submitted: submit waits for one that goes on, and makes the copy anew, which
 * takes memory of the host and the device for as long as the old one is used. SL_ENOMEM from it:
 * there is none.
 *
 * Open says SL_EUNSUPPORTED where the limits ask for hits to stay on the GPU.
 *
 * Needs the packet column, and for Ethernet type 0x8624 the origin column (the link type), on GPUs
 * in memory of the host as always. */
SL_API const struct sl_engine *sl_packet_names_engine(void);

/* The answer that a hit's id stands for, as sl_names_lookup gives it. Valid until the table is
 * updated; any thread. */
SL_API void sl_names_hit(const struct sl_names *names, uint64_t id, struct sl_names_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
