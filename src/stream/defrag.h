/* SPDX-License-Identifier: MIT */
/* Fragments of IPv4 and IPv6 become datagrams, as their receiver joins them.
 *
 * Overlaps are decided by the receiver's policy: Novak, Target-Based Fragmentation Reassembly,
 * 2005. All memory is taken when the table is made. Without memory the datagram whose first
 * fragment came first gives way. The joined datagrams depend on the fragments alone. One thread a
 * table. */
#ifndef STREAM_DEFRAG_H
#define STREAM_DEFRAG_H

#include <stdbool.h>

#include "sluice/batch.h"
#include "sluice/dissect.h"
#include "sluice/stream.h"

enum {
    DEFRAG_HEADERS_MAX = 2048, /* bytes of IP headers; a datagram with more is left out */
    DEFRAG_LINK_MAX = 22       /* bytes of Ethernet with two VLAN tags */
};

struct defrag_config {
    uint64_t memory;          /* bytes; default 32 MiB, at least 256 KiB */
    uint32_t timeout_seconds; /* from the first fragment on; default 60, as suricata.yaml has it */
    uint64_t hash_key[2];     /* random values resist crafted collisions */
};

void defrag_config_init(struct defrag_config *config);

/* A fragment of a packet. Pointers lead into its batch. */
struct defrag_fragment {
    struct sl_addr src, dst;
    uint32_t id;
    uint16_t vlan[2]; /* SL_NO_VLAN where absent */
    uint8_t protocol; /* IPv4: a part of the key. IPv6: that behind the fragment header */
    bool is_ipv6;
    bool more;       /* more fragments follow */
    bool is_snapped; /* the capture cut it off */
    uint8_t policy;  /* enum sl_host_policy of its receiver */
    uint32_t offset; /* bytes of the datagram before its own */
    const uint8_t *bytes;
    uint32_t len;
    const uint8_t *headers; /* from the IP header to the fragment header, or to the bytes */
    uint32_t headers_len;
    uint32_t protocol_at; /* of them, the byte that names what follows */
    const uint8_t *mac;   /* both Ethernet addresses, 12 bytes; NULL: none */
    int64_t time_ns;
};

/* Reads a packet of a dissected host batch with packets and origins. False: it is no fragment, or
 * has a defect before its fragment header. Policy is 0. Any thread. */
bool defrag_read(struct defrag_fragment *fragment, const struct sl_batch *batch, uint32_t item);

struct defrag;

/* SL_EINVAL: memory out of its range. SL_ENOMEM. The caller frees it. */
SL_CHECK enum sl_status defrag_create(struct defrag **defrag, const struct defrag_config *config,
                                      struct sl_diag *diag);
void defrag_free(struct defrag *defrag); /* accepts NULL */

/* A whole datagram in an Ethernet frame with the VLAN tags of its fragments. */
struct defrag_datagram {
    const uint8_t *bytes; /* valid until the next fragment */
    uint32_t len;
};

/* The fate of a fragment. */
struct defrag_taken {
    bool is_held;  /* its datagram has its bytes, those apart that lost to others */
    bool is_whole; /* it made its datagram whole */
    bool overlaps; /* it overlaps others */
};

/* Takes the next fragment. *datagram is set where one is whole. */
struct defrag_taken defrag_take(struct defrag *defrag, const struct defrag_fragment *fragment,
                                struct defrag_datagram *datagram);

const struct sl_fragment_stats *defrag_get_stats(const struct defrag *defrag);
uint64_t defrag_held(const struct defrag *defrag); /* bytes of memory */

#endif
