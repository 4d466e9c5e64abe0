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

/* What fragments of one datagram share. */
struct defrag_key {
    struct sl_addr src, dst;
    uint32_t id;
    uint16_t vlan[2];
    uint8_t protocol; /* IPv6: 0 */
    uint8_t is_ipv6;
    uint8_t pad[6]; /* words of 8 bytes */
};

_Static_assert(sizeof(struct defrag_key) % 8 == 0, "a key is words");

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

/* ---- the fragments of a batch ---------------------------------------------------------------- */

/* A datagram is ready if its fragments lie in one batch, in order, none overlaps, and its protocol
 * holds no further fragments. Any thread makes the list of a batch, and copies the bytes of ready
 * datagrams from it. The table takes the fragments in their turn: it has an entry for a ready
 * datagram and counts its blocks, but copies nothing. If that entry gives way, or another fragment
 * joins it, its fragments are taken singly. So the table does what it does with one
 * fragment after another, wherever batches end.
 *
 * There are no shards: the datagram of a tunnel may be a fragment of any other datagram. */

#define DEFRAG_NOT_READY UINT32_MAX

struct defrag_listed {
    int64_t time_ns;
    uint32_t item;
    uint32_t ready;   /* its datagram; DEFRAG_NOT_READY: it has none that is ready */
    uint32_t at, len; /* its bytes, in those of the batch */
    uint32_t offset;  /* bytes of the datagram before them */
    uint32_t headers_len;
    bool is_held; /* defrag_take_ready took it */
};

/* The headers of a datagram. */
struct defrag_head {
    uint32_t end; /* bytes behind them; 0: unknown */
    uint32_t headers_len, protocol_at;
    uint16_t vlan[2];
    uint8_t mac[12];
    uint8_t protocol; /* behind the headers */
    bool is_ipv6;
};

struct defrag_ready {
    struct defrag_key key;
    uint64_t hash;
    struct defrag_head head;
    const uint8_t *headers; /* in the batch */
    uint32_t first, last;   /* of its fragments in the list; last 0: it is not ready after all */
    uint32_t entry;         /* in the table, from its first fragment to its last; else 0 */
    bool is_tiny;
    bool is_open; /* while the list is made: more may follow */
};

/* Zeroed at first; memory is kept from batch to batch. */
struct defrag_list {
    const struct sl_batch *batch;
    struct defrag_listed *fragment;
    struct defrag_ready *ready;
    uint32_t n, n_ready, max;
    uint32_t *slot; /* hash table: indices of `ready`, and 1 */
    uint32_t n_slots;
    uint64_t hash_key[2]; /* a copy: the table's cache lines change */
};

/* Lists fragments of a dissected batch in order, at most n. The batch stays as it is until the
 * table has taken all. False: no memory. */
bool defrag_list_begin(struct defrag_list *list, const struct defrag *defrag,
                       const struct sl_batch *batch, uint32_t n);
void defrag_list_add(struct defrag_list *list, const struct defrag_fragment *fragment,
                     uint32_t item);
void defrag_list_end(struct defrag_list *list);
void defrag_list_clear(struct defrag_list *list);

/* Takes fragment i of the list, whose datagram is ready. The last one makes it whole. False: it has
 * to be taken as any other, since other fragments or the lack of memory are in the way. */
bool defrag_take_ready(struct defrag *defrag, struct defrag_list *list, uint32_t i);

/* Writes Ethernet with the VLAN tags that the fragments had; at most DEFRAG_LINK_MAX bytes. */
uint32_t defrag_put_link(uint8_t *out, const struct defrag_head *head);

/* Makes the headers of the first fragment those of a datagram that was never cut. */
void defrag_mend_headers(uint8_t *ip, const struct defrag_head *head);

/* ---- counters -------------------------------------------------------------------------------- */

const struct sl_fragment_stats *defrag_get_stats(const struct defrag *defrag);
uint64_t defrag_held(const struct defrag *defrag); /* bytes of memory */

#endif
