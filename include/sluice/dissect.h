/* SPDX-License-Identifier: MIT */
/* The dissector: the headers and the payload of each packet, addresses, and flows.
 *
 * Link types: Ethernet, raw IP, NULL and LOOP, Linux SLL and SLL2, PPP (also with HDLC framing),
 * PPPoE and Cisco HDLC. Inside: 802.1Q, 802.1ad, LLC with SNAP, MPLS, PPPoE sessions, IPv4 with
 * options, IPv6 with extension headers, fragments, TCP, UDP, SCTP, ICMP, ICMPv6. Tunnels are
 * followed four levels deep: GRE, IP in IP, and in UDP VXLAN (to port 4789), Geneve (to port 6081)
 * and Teredo (from or to port 3544). Deeper tunnels are payload, as are tunnels in fragments.
 * Ethernet in MPLS is followed behind one control word of a pseudowire.
 *
 * The dissector reads nothing outside the packet, whatever the bytes say. A packet that stops it
 * has a defect. */
#ifndef SLUICE_DISSECT_H
#define SLUICE_DISSECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- addresses and networks ------------------------------------------------------------------ */

/* IPv4 and IPv6 in one form: 16 bytes in network order, IPv4 as ::ffff:a.b.c.d (RFC 4291, section
 * 2.5.5.2). All functions below: any thread. */
struct sl_addr {
    uint8_t byte[16];
};

/* A network: all addresses whose first prefix_len bits (0 to 128; an IPv4 /n is 96 + n) equal. */
struct sl_net {
    struct sl_addr addr; /* bits behind the prefix are 0 */
    uint32_t prefix_len; /* bits */
};

enum { SL_ADDR_TEXT_LEN = 46 }; /* bytes of an address as text, NUL included */

/* Whether the address is an IPv4 address in this form. */
SL_API bool sl_addr_is_ipv4(const struct sl_addr *addr);

/* Writes "192.0.2.1" or "2001:db8::1" (RFC 5952). Returns out. */
SL_API char *sl_addr_format(const struct sl_addr *addr, char out[SL_ADDR_TEXT_LEN]);

/* Reads "192.0.2.0/24", "2001:db8::/32" or an address alone (text_len bytes, no NUL needed). The
 * call clears the host bits behind the prefix. SL_EINVAL: the text is no network, or the prefix is
 * longer than the address. */
SL_CHECK SL_API enum sl_status sl_net_parse(struct sl_net *net, const char *text, size_t text_len);

/* Whether the network has the address. */
SL_API bool sl_net_contains(const struct sl_net *net, const struct sl_addr *addr);

/* ---- packets --------------------------------------------------------------------------------- */

/* The reason why the dissector stopped. Headers before the defect stay valid. "Short" means that
 * the header ends behind the packet's wire length. Where only the capture cut the header off
 * (SL_PACKET_SNAPPED), the defect is SL_DEFECT_SNAPPED. */
enum sl_defect {
    SL_DEFECT_NONE,
    SL_DEFECT_SNAPPED,    /* the captured bytes end inside a header */
    SL_DEFECT_LINK_TYPE,  /* a link type that is not dissected */
    SL_DEFECT_LINK_SHORT, /* the packet ends inside its link header */
    SL_DEFECT_VLAN_SHORT,
    SL_DEFECT_VLAN_DEEP,  /* more than 8 tags */
    SL_DEFECT_MPLS_SHORT, /* ends inside the label stack, or before what it carries */
    SL_DEFECT_PPPOE_SHORT,
    SL_DEFECT_PPP_SHORT,
    SL_DEFECT_IPV4_VERSION,    /* the link says IPv4, the version field does not */
    SL_DEFECT_IPV4_SHORT,      /* fewer than 20 bytes */
    SL_DEFECT_IPV4_HEADER_LEN, /* below 20, or above the total length or the packet */
    SL_DEFECT_IPV4_TOTAL_LEN,  /* below 20, or above what was on the wire; 0 is none: see sl_dissect
                                */
    SL_DEFECT_IPV6_VERSION,
    SL_DEFECT_IPV6_SHORT,       /* fewer than 40 bytes */
    SL_DEFECT_IPV6_PAYLOAD_LEN, /* above what was on the wire */
    SL_DEFECT_IPV6_EXT_SHORT,   /* an extension header ends behind the packet */
    SL_DEFECT_IPV6_EXT_DEEP,    /* more than 16 extension headers */
    SL_DEFECT_TCP_SHORT,        /* fewer than 20 bytes */
    SL_DEFECT_TCP_HEADER_LEN,   /* data offset below 5, or above the segment */
    SL_DEFECT_UDP_SHORT,        /* fewer than 8 bytes */
    SL_DEFECT_UDP_LEN,          /* length below 8, or above the datagram */
    SL_DEFECT_SCTP_SHORT,       /* fewer than 12 bytes */
    SL_DEFECT_ICMP_SHORT,       /* fewer than 4 bytes (ICMPv6 too) */
    SL_DEFECT_GRE_SHORT,
    SL_DEFECT_TUNNEL_SHORT, /* a tunnel whose inner IP header is cut off or of another version */
    SL_DEFECT_OFFSET,       /* a header lies beyond byte 65,535 of the packet (outer: 255) */
    SL_N_DEFECTS
};

/* A defect's name in kebab case ("ipv4-total-length"), as in anomaly events. */
SL_API const char *sl_defect_name(enum sl_defect defect);

/* Protocols of the counters. A packet counts at each protocol that one of its headers names, also
 * where that protocol's own header is cut short. Later fragments contain no transport. */
enum sl_protocol {
    SL_PROTOCOL_ETHERNET,
    SL_PROTOCOL_VLAN,
    SL_PROTOCOL_MPLS,
    SL_PROTOCOL_PPPOE, /* the session stage; discovery is OTHER_LINK */
    SL_PROTOCOL_PPP,
    SL_PROTOCOL_ARP,
    SL_PROTOCOL_IPV4,
    SL_PROTOCOL_IPV6,
    SL_PROTOCOL_FRAGMENT,
    SL_PROTOCOL_GRE,
    SL_PROTOCOL_IPIP, /* IP protocols 4 and 41 */
    SL_PROTOCOL_VXLAN,
    SL_PROTOCOL_GENEVE,
    SL_PROTOCOL_TEREDO,
    SL_PROTOCOL_TCP,
    SL_PROTOCOL_UDP,
    SL_PROTOCOL_SCTP,
    SL_PROTOCOL_ICMP,
    SL_PROTOCOL_ICMPV6,
    SL_PROTOCOL_OTHER_IP,     /* IP with a transport that is not dissected */
    SL_PROTOCOL_OTHER_LINK,   /* a link payload that is not dissected (LLDP, STP, ...) */
    SL_PROTOCOL_UNKNOWN_LINK, /* a link type that is not dissected */
    SL_N_PROTOCOLS
};

SL_API const char *sl_protocol_name(enum sl_protocol protocol); /* "TCP", "IPv4", "802.1Q", ... */

/* Counters of dissected packets. */
struct sl_dissect_stats {
    uint64_t packets[SL_N_PROTOCOLS];
    uint64_t bytes[SL_N_PROTOCOLS]; /* captured bytes of those packets */
    uint64_t defects[SL_N_DEFECTS]; /* packets by defect; SL_DEFECT_NONE: without one */
    uint64_t unknown_links[256];    /* packets of link types that are not dissected, by link type;
                                       the last entry holds link types of 255 and above */
};

/* Dissects all packets of a host batch, which needs packet and origin columns. Fills packet[],
 * payload[] and origin[].vlan, and adds to *stats. One thread a batch and stats.
 *
 * The payload is what lies behind a TCP, UDP, SCTP or ICMP header (8 bytes of ICMP), else behind
 * the IP headers. It is empty for packets without IP and for those with a defect before it. It ends
 * where the IP header says, and never beyond what was captured.
 *
 * Segmentation offload leaves an IPv4 total length or IPv6 payload length of 0 in a sender's
 * capture. It means: to the end of the packet or of the tunnel around it. A first fragment that
 * ends inside its transport header has no defect and no transport; that part is payload. VLAN ids
 * are the first two from outside; a priority tag (id 0) is none. */
SL_API void sl_dissect(struct sl_batch *batch, struct sl_dissect_stats *stats);

/* Addresses and ports of a packet; of a tunnel, those of the inner IP header. */
struct sl_tuple {
    struct sl_addr src, dst;
    uint16_t src_port, dst_port; /* host order; 0 where there are none; ICMP: type and code */
    uint8_t protocol;            /* IP protocol number */
};

/* Reads the tuple of a packet. False: the packet has no IP header. The batch is a dissected host
 * batch. Any thread. */
SL_API bool sl_packet_tuple(const struct sl_batch *batch, uint32_t item, struct sl_tuple *tuple);

/* IP protocol numbers that the dissector knows. */
enum {
    SL_IP_ICMP = 1,
    SL_IP_IPIP = 4,
    SL_IP_TCP = 6,
    SL_IP_UDP = 17,
    SL_IP_IPV6 = 41,
    SL_IP_GRE = 47,
    SL_IP_ICMPV6 = 58,
    SL_IP_SCTP = 132
};

/* ---- flows ----------------------------------------------------------------------------------- */

/* A flow is a 5-tuple with its VLAN ids; both directions are one flow. ICMP echo requests and
 * replies are a flow by their identifier. Other packets without ports are a flow by their addresses
 * and protocol.
 *
 * The client is the sender of the first SYN. Without a SYN the client is the first packet's sender,
 * with one exception (midstream): a SYN+ACK, or a packet from a port below 1,024 to a port that is
 * not below it, comes from the server. A host that sends to itself is the client.
 *
 * The table has shards, which are tracked independently: 64, and fewer where a shard would have
 * fewer than 1,024 flows. A keyed hash of the flow picks its shard. Memory is bounded: a full shard
 * evicts and counts the flow whose last packet is the oldest. So neither flows nor counters depend
 * on the number of threads or on the cut into batches. */
struct sl_flow_table;

/* Flows of a table, and slots of a flow, at most. */
enum { SL_FLOWS_MAX = 1 << 28, SL_FLOW_SLOTS_MAX = 4 };

/* Memory that a module has in each flow. It is all zeros when the flow begins. Settling alone
 * touches it, in the order of the flow's packets (sl_flow_settle_shard). */
struct sl_flow_slot {
    uint32_t len;      /* bytes, 1 to 256 */
    uint32_t align;    /* a power of two, at most 16 */
    uint32_t more_len; /* bytes that the module takes elsewhere for each flow, beside this memory */

    /* The flow has ended: gives back what the slot holds; NULL: it holds nothing. One thread a
     * shard. */
    void (*release)(void *user, uint32_t shard, void *slot);
    void *user;
};

/* The configuration of a table of flows. Timeouts are seconds of the packets' clock. */
struct sl_flow_config {
    uint32_t max_flows;             /* flows at once; 1 to SL_FLOWS_MAX */
    uint64_t memory;                /* bytes that the table takes at most: it has fewer flows then;
                                       0: what max_flows takes. Slots count, with more_len, and so
                                       do the ends of all flows, where they are kept */
    uint32_t tcp_handshake_seconds; /* idle time that ends a flow, by state; TCP not established */
    uint32_t tcp_established_seconds;
    uint32_t tcp_closed_seconds;
    uint32_t new_seconds;         /* other protocols: one side was seen, */
    uint32_t established_seconds; /* or both */
    bool keep_ends;               /* records of flows that end: see struct sl_flow_record */
    bool totals; /* packets and bytes of flows are counted, and written to batches' `total` */
    struct sl_flow_slot slots[SL_FLOW_SLOTS_MAX]; /* where there are some, ends are kept too; their
                                                     records have no counts without keep_ends */
    uint32_t n_slots;
    uint64_t hash_key[2]; /* keys the table's hash: random values resist crafted collisions */
    uint32_t sensor_id;   /* makes ids of flows others than those of other sensors */
    uint64_t reserved[4]; /* 0: room to grow */
};

/* 262,144 flows; 60, 600, 60, 30 and 300 s, as suricata.yaml has them; ends are not kept; key 0,
 * sensor 0. */
SL_API void sl_flow_config_init(struct sl_flow_config *config);

/* Counters of a table. */
struct sl_flow_stats {
    uint64_t flows; /* begun */
    uint64_t tcp, udp, other;
    uint64_t midstream; /* TCP flows that began without a SYN */
    uint64_t evicted;   /* ended because the table was full */
    uint64_t timed_out; /* ended because they were idle */
    uint64_t active;    /* in the table now */
    uint64_t reused;    /* ended because a SYN came after they were closed */
};

/* How far a flow is, as EVE names it. */
enum sl_flow_state {
    SL_FLOW_STATE_NEW,         /* "new" */
    SL_FLOW_STATE_ESTABLISHED, /* "established": as SL_FLOW_ESTABLISHED */
    SL_FLOW_STATE_CLOSED       /* "closed": TCP alone */
};

/* The state of a TCP connection, as EVE names it ("none", "syn_sent", ...). */
enum sl_tcp_state {
    SL_TCP_NONE,        /* nothing that begins a connection */
    SL_TCP_SYN_SENT,    /* a SYN */
    SL_TCP_SYN_RECV,    /* and the server's SYN+ACK */
    SL_TCP_ESTABLISHED, /* the handshake was complete, or the flow began midstream */
    SL_TCP_CLOSE_WAIT,  /* the client's FIN came first, */
    SL_TCP_LAST_ACK,    /* and the server's followed */
    SL_TCP_FIN_WAIT1,   /* the server's FIN came first, */
    SL_TCP_FIN_WAIT2,   /* and was acknowledged, */
    SL_TCP_CLOSING,     /* or the client's followed before that, */
    SL_TCP_TIME_WAIT,   /* or after it */
    SL_TCP_CLOSED,      /* both were acknowledged, or a RST came */
    SL_N_TCP_STATES
};

/* Why a flow ended, as EVE names it. */
enum sl_flow_reason {
    SL_FLOW_END_TIMEOUT,  /* "timeout": it was idle, or the clock was set back */
    SL_FLOW_END_FORCED,   /* "forced": the table was full */
    SL_FLOW_END_SHUTDOWN, /* "shutdown": the run ended */
    SL_FLOW_END_TCP_REUSE /* "tcp_reuse": a SYN came after it was closed */
};

/* The names in quotation marks above. Any thread. */
SL_API const char *sl_flow_state_name(enum sl_flow_state state);
SL_API const char *sl_tcp_state_name(enum sl_tcp_state state);
SL_API const char *sl_flow_reason_name(enum sl_flow_reason reason);

/* The traffic of one end of a flow. */
struct sl_flow_side {
    uint64_t packets;  /* 2^40 - 1 at most */
    uint64_t bytes;    /* on the wire, with all headers (origin.wire_len); 2^48 - 1 at most */
    uint8_t tcp_flags; /* TCP: the flags of all segments together, the header's byte 13 */
    uint8_t icmp_type, icmp_code; /* ICMP: of its first packet */
};

/* A flow that ended. */
struct sl_flow_record {
    uint64_t id;           /* as origin.flow of its packets */
    struct sl_tuple tuple; /* src is the client. ICMP: type and code of the client's first packet,
                              and where it sent none, of the server's */
    uint16_t vlan[2];      /* outer and inner VLAN id; SL_NO_VLAN where absent */
    uint16_t source;       /* index of the source of its first packet */
    int64_t first_ns;      /* time of its first packet, since 1970-01-01 UTC; 0: unknown */
    int64_t last_ns;       /* latest time of its packets; 0: unknown */
    int64_t end_ns;        /* the packets' clock when it ended; 0: unknown */
    struct sl_flow_side client, server; /* sent by the client, and by the server */
    enum sl_flow_state state;
    enum sl_tcp_state tcp_state; /* TCP */
    enum sl_flow_reason reason;
    bool midstream; /* TCP: the first packet seen was no SYN */
    bool alerted;   /* some packet of it matched a rule */
    bool passed;    /* a rule has passed the rest of it, */
    bool dropped;   /* or would have dropped it */
    uint8_t app;    /* the first application protocol of its packets (origin.app); 0: none */

    /* The name of `app`, static. The functions here set NULL, and a run sets the name. */
    const char *app_proto;
};

/* Makes an empty table and takes all its memory. The caller frees it. SL_EINVAL: max_flows, n_slots
 * or a slot is out of its range, or no flow fits the memory. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_flow_table_create(struct sl_flow_table **table,
                                                    const struct sl_flow_config *config,
                                                    struct sl_diag *diag);

/* Assigns origin[].flow and flow_flags to the packets of a dissected batch, in their order. Flows
 * have ids of 51 bits, which JavaScript's numbers hold. An id is a hash of the sensor's id,
 * addresses, ports, VLAN ids, protocol and the time of the first packet. So each run gives a flow
 * the same id. Two of n flows have the same id with a probability of n^2 / 2^52: 1 in 4,500
 * for a million flows, unless a sender chooses addresses for it. Flow 0: packets without an IP
 * header, with a defect before their ports, fragments that are not first, and first fragments that
 * end before their ports. One thread a table.
 *
 * The clock is the latest time of the packets so far. Packets of unknown or earlier time leave the
 * clock as it is. A packet that lies further back than the longest timeout sets the clock back, and
 * all flows end as timed out. A flow times out when its last packet lies further back than the
 * timeout of its state.
 *
 * A TCP flow is established after the SYN, the server's SYN+ACK and the client's ACK, or at once
 * where its first packet was no SYN. Where only the client was seen, its first ACK without a SYN
 * establishes the flow. A SYN+ACK that acknowledges bytes of the client's SYN does, too (RFC 7413).
 * A flow is closed by a RST, or when both FINs were acknowledged. A SYN to a closed flow begins a
 * new flow. */
SL_API void sl_flow_track(struct sl_flow_table *table, struct sl_batch *batch);

/* The same in four steps: read the keys, deal, track each shard, apply. Keys are read and applied
 * on any thread, for many batches at once. Batches are dealt one after another, which costs little.
 * A shard tracks the batches in the order in which they were dealt; shards do not wait for each
 * other. */
struct sl_flow_keys;

/* Makes keys for batches of up to max_items items. The caller frees them. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_flow_keys_create(struct sl_flow_keys **keys, uint32_t max_items,
                                                   struct sl_diag *diag);

/* Reads what tracking needs of the packets' bytes. The batch is dissected and has at most max_items
 * items. Of the table the call reads only what never changes. */
SL_API void sl_flow_keys_read(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                              const struct sl_batch *batch);

/* Moves the table's clock on over a batch whose keys were read for this table. One thread at a
 * time, in the order of the packets. */
SL_API void sl_flow_deal(struct sl_flow_table *table, const struct sl_batch *batch,
                         struct sl_flow_keys *keys);

/* How many shards the table has: at most 64. Any thread. */
SL_API uint32_t sl_flow_n_shards(const struct sl_flow_table *table);

/* How many flows a shard holds at most. Any thread. */
SL_API uint32_t sl_flow_shard_max(const struct sl_flow_table *table);

/* Tracks the packets of a shard, below sl_flow_n_shards, as sl_flow_track does. Assigns
 * origin[].flow and flow_flags of some packets and keeps those of the others in keys. One thread a
 * shard; all shards at once. */
SL_API void sl_flow_track_shard(struct sl_flow_table *table, struct sl_batch *batch,
                                struct sl_flow_keys *keys, uint32_t shard);

/* What tracking reads of a packet's headers, beside its flow's key. */
struct sl_flow_packet {
    uint32_t sequence, acknowledged; /* TCP; of ICMP the first has type and code */
    uint32_t timestamp;              /* of its option, where has_timestamp is set */
    uint32_t entry;     /* its flow's in the shard, where it was tracked alone, or is the first of
                           its run */
    uint16_t window;    /* as in the header of TCP */
    uint8_t tcp_flags;  /* 0 where it is no TCP */
    uint8_t ttl;        /* of TCP; or hop limit */
    uint8_t sender;     /* which end of the flow's key sent it */
    bool has_timestamp; /* TCP: the option stands where most have it */
    bool is_usual;      /* TCP: ACK without SYN, FIN, RST and URG, without options beside
                           timestamps; no fragment, and not cut */
};

/* A TCP segment, or a datagram of UDP, as tracking has seen it. */
struct sl_flow_segment {
    uint64_t flow;  /* its id */
    uint32_t entry; /* of its flow in the shard, below sl_flow_shard_max + SL_FLOW_ENTRIES_MORE; of
                       another flow after this one has ended */
    uint32_t item;
    uint8_t flow_flags; /* SL_FLOW_* */
};

enum { SL_FLOW_ENTRIES_MORE = 8 }; /* entries of a shard that are no flows, at most */

/* TCP segments that follow one another in a batch, whatever they are. Those before the first that
 * is not usual are of one flow. */
struct sl_flow_train {
    uint64_t flow;
    uint32_t entry; /* as above */
    uint32_t first; /* item */
    uint32_t n;
    uint8_t client;                      /* the sender that is the flow's client */
    const struct sl_flow_packet *packet; /* of each */
};

/* A flow that ended in a shard, before the packet. */
struct sl_flow_ended {
    uint64_t flow;
    uint32_t entry, item;
    size_t index; /* for sl_flow_ended_record */
};

/* The callbacks of a visit. */
struct sl_flow_visitor {
    void (*segment)(void *user, const struct sl_flow_segment *segment); /* NULL: not wanted */
    /* Takes some of the usual segments that a train begins with, and returns how many: 0 where the
     * first is not usual. `segment`, which is not NULL then, is called for the next one. NULL: it
     * is called for all. */
    uint32_t (*train)(void *user, const struct sl_flow_train *train);
    void (*datagram)(void *user, const struct sl_flow_segment *datagram); /* NULL: not wanted */
    void (*ended)(void *user, const struct sl_flow_ended *ended); /* not NULL where ends are kept */
    void *user;
    const void *memory; /* `memory_len` bytes of each entry, which are fetched before its packets
                           are visited; NULL: none */
    size_t memory_len;
    void (*ahead)(void *user, uint32_t entry); /* fetches what that memory leads to. The flow's
                                                  packets are visited soon. NULL: nothing */
};

/* Visits the TCP segments and the datagrams of a tracked shard in their order, and, where ends are
 * kept, the flows that ended. One thread a shard, before the shard tracks the next batch. */
SL_API void sl_flow_visit_shard(const struct sl_flow_table *table, const struct sl_batch *batch,
                                const struct sl_flow_keys *keys, uint32_t shard,
                                const struct sl_flow_visitor *visitor);

/* Describes a flow that ended in a shard, at an index that a visit gave, before the shard tracks
 * the next batch. Before the flow is settled, `alerted` and `app` are not known. */
SL_API void sl_flow_ended_record(const struct sl_flow_keys *keys, uint32_t shard, size_t index,
                                 struct sl_flow_record *record);

/* Adds to *sum what a batch, of which all shards were tracked, added to the table's counters. */
SL_API void sl_flow_keys_stats(const struct sl_flow_keys *keys, const struct sl_flow_table *table,
                               struct sl_flow_stats *sum);

/* Assigns origin[].flow and flow_flags of the other packets, and completes totals. Any thread,
 * after all shards have tracked the batch. */
SL_API void sl_flow_keys_apply(const struct sl_flow_keys *keys, struct sl_batch *batch);

/* Accepts NULL. */
SL_API void sl_flow_keys_free(struct sl_flow_keys *keys);

/* ---- flows that ended ------------------------------------------------------------------------ */

/* Where keep_ends is set, the keys of a batch keep the flows that end in it. These time out, are
 * evicted, or are begun anew. Tracking by sl_flow_track keeps none. The steps behind
 * sl_flow_track_shard are: mark, settle each shard, sort.
 *
 * A flow ends at a packet. This is the first one whose time is behind the flow's timeout or sets
 * the clock back. For an evicted flow it is the one that took its place in the table. The end comes
 * before that packet. So the order of ends and packets depends on packets and hash_key alone.
 * Without evictions it depends on packets alone. */

/* Facts of a packet that its flow keeps. */
struct sl_flow_mark {
    uint32_t item;
    uint32_t call; /* not 0: the settler is called for the packet, with this number */
    bool alerted;  /* it matched a rule */
    uint8_t app;   /* its application protocol (origin.app), 0: none */
};

/* Takes the marks of a batch: in the order of items, each once, at most as many as the keys were
 * made for. Once a batch, before it is settled; one thread. */
SL_API void sl_flow_keys_mark(struct sl_flow_keys *keys, const struct sl_flow_mark *mark, size_t n);

/* The results of a settler, as bits. */
enum { SL_FLOW_SETTLED_ALERTED = 1, SL_FLOW_SETTLED_PASSED = 2, SL_FLOW_SETTLED_DROPPED = 4 };

/* The callbacks of settling, for packets whose mark asks for it, in the order of each flow's
 * packets. */
struct sl_flow_settler {
    /* Reads and writes the slots of the packet's flow: slot[i] is that of the config's slots[i].
     * Returns SL_FLOW_SETTLED_*, which the flow keeps. */
    uint32_t (*packet)(void *user, uint32_t shard, const struct sl_flow_mark *mark,
                       void *const *slot);
    void *user;

    /* The same for a flow that ended, at this index (struct sl_flow_ended), after its packets;
     * NULL: not called. A shard's indices ascend. */
    uint32_t (*ended)(void *user, uint32_t shard, size_t index, void *const *slot);

    /* The items of the shard, in their order, whose flows count as alerted without a mark. */
    const uint32_t *alerted;
    size_t n_alerted;
};

/* Adds the marks to their flows, and keeps those of flows that ended. A shard settles the batches
 * in the order in which they were dealt. One thread a shard; all shards at once, while other
 * threads track the batches behind. `settler` may be NULL where no mark calls it. */
SL_API void sl_flow_settle_shard(struct sl_flow_table *table, struct sl_flow_keys *keys,
                                 uint32_t shard, const struct sl_flow_settler *settler);

/* Calls `alerted` for each flow that ended in a settled batch without an alert, and takes its
 * answer. One batch after another, before their ends are sorted. */
SL_API void sl_flow_keys_amend(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                               bool (*alerted)(void *user, uint64_t flow), void *user);

/* Puts the ends of all shards in order: by packet, then by the time of the flow's first packet,
 * then by its id. SL_ENOMEM: also where tracking had no memory for an end. */
SL_CHECK SL_API enum sl_status sl_flow_keys_sort_ends(struct sl_flow_keys *keys,
                                                      const struct sl_flow_table *table);

/* How many flows ended in the batch; 0 where ends are not kept. */
SL_API size_t sl_flow_keys_n_ends(const struct sl_flow_keys *keys);

/* Fills the record of the end at this index, but for its app_proto; record may be NULL. Returns the
 * item at which it ended. */
SL_API uint32_t sl_flow_keys_end(const struct sl_flow_keys *keys, size_t index,
                                 struct sl_flow_record *record);

/* Makes the flows in the table the ends of `keys`, as flows that ended by shutdown, all at item 0.
 * Then they are sorted as those of a batch: by the time of the first packet, then by id. A table
 * that keeps no ends has none. All batches must have been settled. The flows stay in the table. */
SL_API void sl_flow_table_finish(const struct sl_flow_table *table, struct sl_flow_keys *keys);

/* Adds a mark to a flow that sl_flow_table_finish made an end of `keys`, at its index in the shard
 * (struct sl_flow_ended), and calls the settler. */
SL_API void sl_flow_settle_end(const struct sl_flow_table *table, const struct sl_flow_keys *keys,
                               uint32_t shard, size_t index, const struct sl_flow_mark *mark,
                               const struct sl_flow_settler *settler);

/* Ends the flows that are idle for too long by the table's clock, and copies the counters. No
 * thread tracks meanwhile. */
SL_API void sl_flow_stats(struct sl_flow_table *table, struct sl_flow_stats *stats);

/* Accepts NULL. */
SL_API void sl_flow_table_free(struct sl_flow_table *table);

#ifdef __cplusplus
}
#endif
#endif
