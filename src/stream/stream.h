/* SPDX-License-Identifier: MIT */
/* TCP streams: segments in the order of capture become the bytes that the receiver got.
 *
 * A half is what one side sends: half 0 the client's, half 1 the server's bytes. Offset 0 of its
 * stream is the byte behind the SYN, or the first byte seen. Offsets count the bytes that the
 * receiver got and those of gaps; urgent bytes that are taken out are not counted.
 *
 * A stream lies in 112 zeroed bytes of its flow. All else lies in the shard's arena of blocks,
 * whose size bounds the memory. The held bytes follow from segments alone, never from batches or
 * threads.
 *
 * A batch begins in a shard, takes the segments of the shard's flows, and ends. It emits records.
 * Bytes of records of kind STREAM_PACKET lie in the batch; those of others in output->copied, or in
 * the arena's blocks. So records are valid as long as batch and output are, until the output is
 * released, and as memory that was lent for them is. */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <stdbool.h>

#include "sluice/batch.h"
#include "sluice/dissect.h"
#include "sluice/stream.h"

enum {
    STREAM_HOLES_MAX = 64,     /* of a half */
    STREAM_QUEUE_MAX = 262144, /* bytes of blocks that the queues of a flow hold */
    STREAM_CONTEXT_MAX = 4096,
    STREAM_PIECE_LEN = 256
};

/* The part of a half that the plain case reads. 32 bytes. */
struct stream_half {
    uint64_t next;          /* offset behind the bytes in sequence */
    uint32_t seq;           /* its sequence number */
    uint32_t acked;         /* the highest acknowledgement by the other side, if any */
    uint32_t window_end;    /* sequence number behind the other side's window */
    uint32_t timestamp;     /* of the latest segment in sequence (TS.Recent of RFC 7323) */
    uint32_t last;          /* its last record of bytes in this batch; 0: none */
    uint16_t flags;         /* STREAM_* */
    uint8_t wscale : 4;     /* shift of the windows that this half announces */
    uint8_t syn_wscale : 4; /* of its SYN */
    uint8_t policy;         /* enum sl_host_policy of its receiver */
};

enum { STREAM_BLOCK_BITS = 24 }; /* of the number of a block */

/* The rest of it. 24 bytes. */
struct stream_rest {
    uint32_t solid;  /* low bits of the offset from which on its last bytes are without a gap. Those
                        that an earlier batch brought count as STREAM_CONTEXT_MAX at most */
    uint32_t fin;    /* sequence number of its FIN */
    uint32_t urgent; /* sequence number of an urgent byte to come */
    uint32_t compared; /* where an urgent byte was taken out: the sequence number behind it */
    uint64_t queue : STREAM_BLOCK_BITS; /* what lies beyond holes, and what is in doubt; 0: none */
    uint64_t context
        : STREAM_BLOCK_BITS;  /* its last bytes; 0: none. Behind the last block: a claim */
    uint64_t syn_window : 16; /* of its SYN */
};

struct stream {
    struct stream_half half[2];
    struct stream_rest rest[2];
};

_Static_assert(sizeof(struct stream_half) == 32, "the plain case reads a cache line");
_Static_assert(sizeof(struct stream) == 112, "of two cache lines, which other modules end");

/* A segment as it was captured. stream_segment_read fills it but for bad_checksum. */
struct stream_segment {
    uint32_t item;    /* the packet */
    uint32_t at;      /* bytes from the batch's first to its payload */
    uint32_t len;     /* bytes of payload that were captured */
    uint32_t snapped; /* bytes of payload behind those, that were not */
    uint32_t seq, ack;
    uint32_t timestamp, echo; /* valid where has_timestamp */
    uint16_t window;          /* as in the header */
    uint16_t urgent;          /* the urgent pointer */
    uint8_t flags;            /* the header's byte 13 */
    uint8_t ttl;              /* or hop limit */
    uint8_t wscale;           /* of the option; STREAM_NO_WSCALE: there is none */
    uint8_t half;             /* its sender: 0 the client, 1 the server */
    bool has_timestamp;
    bool opens_fast;   /* it has the option of RFC 7413 */
    bool bad_checksum; /* and checksums count */
};

enum { STREAM_NO_WSCALE = 0xFF };

/* Reads the segment of a dissected host batch, which `half` sent. False: the packet has no whole
 * TCP header, or is a fragment. Any thread. */
bool stream_segment_read(struct stream_segment *segment, const struct sl_batch *batch,
                         uint32_t item, uint8_t half);

enum stream_record_kind {
    STREAM_PACKET,  /* the next bytes of the stream, in a packet of the batch */
    STREAM_COPIED,  /* the next bytes of the stream, in output->copied: they came in a batch before
                     */
    STREAM_CONTEXT, /* bytes that an earlier batch reported. It stands before the half's first bytes
                       of a batch, where they have bytes before them */
    STREAM_GAP,     /* bytes are missing; the next bytes are not adjacent to those before */
    STREAM_EDGE,    /* the receiver has acknowledged all bytes before `offset` */
    STREAM_EVENT,   /* an anomaly of this packet */
    STREAM_END      /* the flow ended: nothing follows in the half */
};

/* Something that a packet brought about. Records are in order. 48 bytes. */
struct stream_record {
    uint64_t flow;
    uint64_t offset;       /* of the first byte in the stream; EDGE, END: behind the last */
    struct stream *stream; /* valid until the batch ends in the shard */
    uint32_t item;         /* the packet that brought it about */
    uint32_t source;       /* PACKET: the packet that holds the bytes. It may lie before `item`.
                              CONTEXT in pieces: bytes of the first piece before these */
    uint32_t at;           /* PACKET: bytes from the batch's first; COPIED, CONTEXT: of copied.
                              CONTEXT in pieces: of copied, to the pointers to them */
    uint32_t len;          /* bytes; GAP: below 2^31 */
    uint32_t previous; /* PACKET, COPIED: the record of the bytes right before them, of one of these
                          kinds or CONTEXT; 0: there are none, as at a begin or behind a gap */
    uint8_t kind;      /* enum stream_record_kind */
    uint8_t half;
    uint8_t cause;  /* GAP: enum sl_stream_gap; EVENT: enum stream_event; PACKET: 1 where a train
                       had it: no other record with a sender is of its item, and it has all of the
                       packet's payload; CONTEXT: 1 where they are in pieces of
                       STREAM_PIECE_LEN bytes */
    uint8_t sender; /* of the packet: 1 + its half; 0: the packet is none of this flow, which ended
                       or gave way */
};

struct stream_epoch;

/* The output of a batch in a shard. Zeroed at first. Record 0 is none. One thread at a time. */
struct stream_output {
    struct stream_record *record;
    uint32_t n, max;
    uint8_t *copied;
    uint32_t copied_len, copied_max;
    bool no_memory; /* records are missing: the caller fails with SL_ENOMEM */
    struct stream_record *lent_record;
    uint8_t *lent_copied;
    struct stream_epoch *epoch; /* NULL: no record has bytes in pieces */
    struct sl_stream_stats stats;
};

/* Lends memory for n records, until it is returned: then the records are gone, but for their
 * number. Where there are more, the output takes memory from the heap, which has all of them, keeps
 * it, and needs none that is lent. */
void stream_output_lend_records(struct stream_output *output, struct stream_record *record,
                                uint32_t n);
void stream_output_return_records(struct stream_output *output);

/* The same for copied bytes of a zeroed output, until it is freed. Aligned to 8 bytes. */
void stream_output_lend_copied(struct stream_output *output, uint8_t *copied, uint32_t len);

/* Nobody reads the output's records from now on. Blocks that they refer to are reused once that
 * holds for all batches before, too. The next batch of the output does the same. */
void stream_output_release(struct stream_output *output);

/* Before its shards are freed. */
void stream_output_free(struct stream_output *output);

void stream_stats_add(struct sl_stream_stats *sum, const struct sl_stream_stats *more);

struct stream_config {
    uint64_t memory; /* bytes of all shards' blocks that are held; default 256 MiB; 128 KiB to 4 GiB
                      a shard. Blocks that batches refer to when they are given up take at most 1.5
                      times as much, and less above 1.6 GiB a shard; lists of blocks take up to
                      1/28 of all */
    uint32_t context_len; /* last bytes of a half that are kept from batch to batch, and with which
                             retransmissions are compared; default 224, which is one block. At most
                             STREAM_CONTEXT_MAX */
    uint32_t overlap_len; /* bytes of STREAM_CONTEXT at most; default 63, at most context_len */
    uint32_t unacked_len; /* so many bytes wait for acknowledgement at most; default 1 MiB */
    uint8_t min_ttl;      /* segments of a lower TTL are left out; default 0 */
    bool is_inline;       /* bytes count at once; default false */
    bool omits_edges;     /* no records of kind STREAM_EDGE; default false */
    bool keeps_urgent;    /* urgent bytes stay in the stream; default false, as hosts have it */
};

void stream_config_init(struct stream_config *config);

struct stream_shard;

/* Makes n shards. SL_EINVAL: a value out of its range. SL_ENOMEM. */
SL_CHECK enum sl_status stream_shards_create(struct stream_shard **shards, uint32_t n,
                                             const struct stream_config *config,
                                             struct sl_diag *diag);

void stream_shards_free(struct stream_shard *shards, uint32_t n); /* accepts NULL */

struct stream_shard *stream_shard_at(struct stream_shard *shards, uint32_t index);

/* A batch begins. `bytes` is the batch's arena. Output is emptied and belongs to the shard until
 * stream_shard_end. One thread a shard. */
void stream_shard_begin(struct stream_shard *shard, struct stream_output *output,
                        const uint8_t *bytes);

/* Fetches what segments of a stream that is in cache need soon. */
void stream_fetch(const struct stream_shard *shard, const struct stream *stream);

/* Takes the next segment of a flow. *stream is zeros but for the policies at the flow's first. */
void stream_take(struct stream_shard *shard, struct stream *stream, uint64_t flow,
                 const struct stream_segment *segment);

/* The same for the usual segments that a train begins with, as long as they are plain: each has the
 * next bytes of a half, and acknowledges bytes that the other half has. Where one side was seen,
 * its bytes count as acknowledged. Returns how many those are. None is where edges are reported or
 * bytes count at once. Their checksums are right. */
uint32_t stream_take_train(struct stream_shard *shard, struct stream *stream,
                           const struct sl_batch *batch, const struct sl_flow_train *train);

/* The flow ended before packet `item`, or was taken from the table. Waiting bytes are delivered,
 * blocks are given back, *stream becomes zeros. */
void stream_end(struct stream_shard *shard, struct stream *stream, uint64_t flow, uint32_t item);

/* Whether a half is over: its FIN and all bytes before it came, or a RST ended the stream and
 * nothing of the half waits. */
bool stream_is_over(const struct stream *stream, uint32_t half);

/* Bytes of blocks that are held. */
uint64_t stream_shard_held(const struct stream_shard *shard);

/* The batch ends. The last bytes of its streams are kept, as the batch goes. */
void stream_shard_end(struct stream_shard *shard);

/* Sequence numbers that the half has used, as the option stream_size counts them: those of its SYN,
 * of bytes and of gaps. 0: it was not seen. */
uint64_t stream_size(const struct stream *stream, uint32_t half);

/* Whether bytes of the half wait, for those before them or for the other half's word. */
bool stream_waits(const struct stream *stream, uint32_t half);

/* Whether these are bytes on its SYN alone, which the other half did not acknowledge. */
bool stream_waits_on_syn(const struct stream_shard *shard, const struct stream *stream,
                         uint32_t half);

/* Anomalies, by the names of Suricata's stream events. Those of the last three groups are in the
 * order of enum stream_state. */
enum stream_event {
    STREAM_SYN_RESEND_OTHER_SEQ,    /* "3whs_syn_resend_diff_seq_on_syn_recv" */
    STREAM_SYN_TO_CLIENT,           /* "3whs_syn_toclient_on_syn_recv" */
    STREAM_SYNACK_TO_SERVER,        /* "3whs_synack_toserver_on_syn_recv" */
    STREAM_SYNACK_WRONG_DIRECTION,  /* "3whs_synack_in_wrong_direction" */
    STREAM_SYNACK_RESEND_OTHER_SEQ, /* "3whs_synack_resend_with_diff_seq" */
    STREAM_SYNACK_RESEND_OTHER_ACK, /* "3whs_synack_resend_with_different_ack" */
    STREAM_SYNACK_WRONG_ACK,        /* "3whs_synack_with_wrong_ack" */
    STREAM_SYN_DATA_IGNORED,        /* "3whs_synack_tfo_data_ignored" */
    STREAM_ACK_WRONG_DIRECTION,     /* "3whs_ack_in_wrong_dir" */
    STREAM_ACK_WRONG,               /* "3whs_right_seq_wrong_ack_evasion" */
    STREAM_SEQ_ACK_WRONG,           /* "3whs_wrong_seq_wrong_ack" */
    STREAM_EST_SYN,                 /* "est_syn_resend" */
    STREAM_EST_SYN_OTHER_SEQ,       /* "est_syn_resend_diff_seq" */
    STREAM_EST_SYN_TO_CLIENT,       /* "est_syn_toclient" */
    STREAM_EST_SYNACK,              /* "est_synack_resend" */
    STREAM_EST_SYNACK_OTHER_SEQ,    /* "est_synack_resend_with_diff_seq" */
    STREAM_EST_SYNACK_OTHER_ACK,    /* "est_synack_resend_with_different_ack" */
    STREAM_EST_SYNACK_TO_SERVER,    /* "est_synack_toserver" */
    STREAM_SHUTDOWN_SYN,            /* "shutdown_syn_resend" */
    STREAM_FIN_SYN,                 /* "fin_syn" */
    STREAM_FIN_NO_SESSION,          /* "fin_but_no_session" */
    STREAM_FIN_INVALID_ACK,         /* "fin_invalid_ack" */
    STREAM_RST_NO_SESSION,          /* "rst_but_no_session" */
    STREAM_RST_INVALID_ACK,         /* "rst_invalid_ack" */
    STREAM_RST_OUT_OF_SEQUENCE,     /* "suspected_rst_inject" */
    STREAM_INVALID_TIMESTAMP,       /* "pkt_invalid_timestamp" */
    STREAM_INVALID_ACK,             /* "pkt_invalid_ack" */
    STREAM_BROKEN_ACK,              /* "pkt_broken_ack" */
    STREAM_RETRANSMISSION,          /* "pkt_retransmission" */
    STREAM_SPURIOUS_RETRANSMISSION, /* "pkt_spurious_retransmission" */
    STREAM_EST_BEFORE_ACK,          /* "est_pkt_before_last_ack" */
    STREAM_CLOSE_WAIT_BEFORE_ACK,   /* "closewait_pkt_before_last_ack" */
    STREAM_BEFORE_BASE,             /* "reassembly_segment_before_base_seq" */
    STREAM_SEQ_GAP,                 /* "reassembly_seq_gap" */
    STREAM_OVERLAP_DIFFERENT,       /* "reassembly_overlap_different_data" */
    STREAM_NO_SEGMENT,              /* "reassembly_no_segment": memory or limits */
    STREAM_STATE_INVALID_ACK,       /* "est_invalid_ack", ... */
    STREAM_STATE_OUT_OF_WINDOW = STREAM_STATE_INVALID_ACK + 7, /* "est_packet_out_of_window", ... */
    STREAM_STATE_FIN = STREAM_STATE_OUT_OF_WINDOW + 7,         /* "fin_out_of_window", ... */
    STREAM_N_EVENTS = STREAM_STATE_FIN + 4
};

const char *stream_event_name(enum stream_event event);

#endif
