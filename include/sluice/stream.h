/* SPDX-License-Identifier: MIT */
/* TCP as its receiver sees it: the choices of a run's users, and its counters. */
#ifndef SLUICE_STREAM_H
#define SLUICE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a receiver decides between bytes that overlap, while it waits for others before them: those
 * it has, or new ones. New ones win by where they begin and end beside the old. Behaviour as Novak
 * and Sturges (Target-Based TCP Stream Reassembly, 2007) and Novak (Target-Based Fragmentation
 * Reassembly, 2005) measured it. New bytes win
 *
 * |                     | of TCP where they                  | of IP fragments where they     |
 * | bsd, hpux10, irix   | begin before                       | begin before                   |
 * | first               | never                              | never                          |
 * | last                | always                             | always                         |
 * | linux               | begin before, or at the same and   | begin before or at the same    |
 * |                     | end behind                         |                                |
 * | old-linux           | begin before, or at the same and   | begin before or at the same    |
 * |                     | end at the same or behind          |                                |
 * | windows, windows2k3 | begin before                       | begin before and end behind    |
 * | solaris             | end behind, or at the same and do  | begin before, and end at the   |
 * |                     | not begin behind                   | same or behind                 |
 * | hpux11              | as solaris                         | never                          |
 * | macos               | begin before                       | never                          | */
enum sl_host_policy {
    SL_HOST_BSD, /* the default */
    SL_HOST_FIRST,
    SL_HOST_LAST,
    SL_HOST_LINUX,
    SL_HOST_OLD_LINUX, /* 2.2 and before */
    SL_HOST_WINDOWS,
    SL_HOST_WINDOWS2K3,
    SL_HOST_SOLARIS,
    SL_HOST_HPUX10,
    SL_HOST_HPUX11,
    SL_HOST_IRIX,
    SL_HOST_MACOS,
    SL_N_HOST_POLICIES
};

/* The policy's name, "bsd" or "old-linux". Any thread. */
SL_API const char *sl_host_policy_name(enum sl_host_policy policy);

/* Reads a policy's name of name_len bytes. Any thread. SL_EINVAL: no policy has it. */
SL_CHECK SL_API enum sl_status sl_host_policy_parse(enum sl_host_policy *policy, const char *name,
                                                    size_t name_len);

/* Why bytes of a stream are missing. */
enum sl_stream_gap {
    SL_GAP_LOST,    /* acknowledged, and in no packet: the capture lost them */
    SL_GAP_SNAPPED, /* the capture cut them off */
    SL_GAP_HOLES,   /* the half had too many holes: its first was given up */
    SL_GAP_QUEUE,   /* the flow queued too many bytes: the same */
    SL_GAP_MEMORY,  /* the shard had no memory: the hole that was the oldest */
    SL_GAP_END,     /* the flow ended */
    SL_N_GAPS
};

SL_API const char *sl_stream_gap_name(enum sl_stream_gap cause); /* "lost" */

/* Why a segment does not count, or not before its bytes are acknowledged. */
enum sl_stream_doubt {
    SL_DOUBT_CHECKSUM, /* left out: its checksum is wrong */
    SL_DOUBT_TTL,      /* left out: its TTL or hop limit is too low */
    SL_DOUBT_EARLY,  /* left out: an answer to a SYN that is neither SYN nor RST, or echoes another
                        timestamp */
    SL_DOUBT_SYN,    /* bytes on a SYN */
    SL_DOUBT_PAWS,   /* an old timestamp (RFC 7323) */
    SL_DOUBT_WINDOW, /* begins behind the receiver's window */
    SL_DOUBT_NO_ACK, /* no ACK flag */
    SL_DOUBT_ACK,    /* acknowledges what cannot have been sent */
    SL_DOUBT_FIN,    /* behind a FIN */
    SL_DOUBT_RST,    /* after a RST */
    SL_N_DOUBTS
};

SL_API const char *sl_stream_doubt_name(enum sl_stream_doubt doubt); /* "checksum" */

/* Counters of streams. */
struct sl_stream_stats {
    uint64_t segments;            /* of TCP flows */
    uint64_t bytes;               /* of streams, each once */
    uint64_t plain;               /* segments that followed on at once */
    uint64_t queued;              /* segments that waited behind a hole */
    uint64_t retransmitted;       /* bytes that the stream had already */
    uint64_t conflicts;           /* segments whose bytes differ from those that were there */
    uint64_t keep_alives;         /* segments of at most one byte that begin one byte too early */
    uint64_t urgent;              /* bytes that were taken out of streams */
    uint64_t doubts[SL_N_DOUBTS]; /* segments */
    uint64_t dropped;             /* bytes in doubt that no one acknowledged */
    uint64_t gaps[SL_N_GAPS];     /* by cause */
    uint64_t gap_bytes[SL_N_GAPS];
    uint64_t unacknowledged; /* times that bytes counted as acknowledged, as too many waited */
    uint64_t contexts_lost;  /* halves whose last bytes were given up, as memory was short */
    uint64_t unevaluated;    /* bytes that rules did not see, as another flow's packet, for which
                                memory was short, ended the wait for others. A run counts them */
};

/* Why a fragment of IP is no part of a datagram. */
enum sl_fragment_fault {
    SL_FRAGMENT_SNAPPED,  /* its end was not captured */
    SL_FRAGMENT_LENGTH,   /* no bytes, or a number of them that only a last fragment may have */
    SL_FRAGMENT_TOO_LONG, /* its datagram would have more than 65,535 bytes */
    SL_FRAGMENT_HEADERS,  /* more than 2,048 bytes of IP headers */
    SL_FRAGMENT_ENDS,     /* it lies behind the last fragment, or is another last one */
    SL_FRAGMENT_CHECKSUM, /* its header's checksum is wrong. A run counts them, if it checks */
    SL_N_FRAGMENT_FAULTS
};

SL_API const char *sl_fragment_fault_name(enum sl_fragment_fault fault); /* "too-long" */

/* Counters of IP fragments. */
struct sl_fragment_stats {
    uint64_t fragments;
    uint64_t joined;              /* datagrams */
    uint64_t overlaps, conflicts; /* fragments that overlap others; and with other bytes */
    uint64_t tiny;                /* first fragments without a whole transport header, datagrams */
    uint64_t timed_out, evicted;  /* datagrams that were not whole by then */
    uint64_t waiting;             /* datagrams that are not whole yet */
    uint64_t dropped;             /* bytes for which there was no memory */
    uint64_t left_out; /* of the joined: too many became whole at once. A run counts them */
    uint64_t faults[SL_N_FRAGMENT_FAULTS]; /* fragments */
};

/* Calls `call` for each counter with its name, "conflicts". Those by cause or reason have a group,
 * and the name of the cause: "gaps", "lost". Others have NULL. */
SL_API void sl_stream_stats_each(const struct sl_stream_stats *stats,
                                 void (*call)(void *user, const char *group, const char *name,
                                              uint64_t value),
                                 void *user);

/* The same for fragments, with the group "faults". */
SL_API void sl_fragment_stats_each(const struct sl_fragment_stats *stats,
                                   void (*call)(void *user, const char *group, const char *name,
                                                uint64_t value),
                                   void *user);

#ifdef __cplusplus
}
#endif
#endif
