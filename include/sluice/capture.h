/* SPDX-License-Identifier: MIT */
/* Captures: sources of packets that fill batches.
 *
 * Files: pcap (any byte order, micro- and nanoseconds, modified variants) and pcapng (all its
 * packet blocks, several sections and interfaces, any timestamp resolution), plain, gzip or zstd
 * compressed; plain files are mapped, pipes and compressed files are streamed with bounded memory.
 * Interfaces: live through libpcap. */
#ifndef SLUICE_CAPTURE_H
#define SLUICE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sl_capture;

enum {
    SL_CAPTURE_PACKET_MAX = 262144 /* bytes; a longer packet record is SL_EFORMAT */
};

struct sl_capture_stats {
    uint64_t packets;        /* delivered to batches */
    uint64_t bytes;          /* captured bytes of those packets */
    uint64_t file_bytes;     /* files: bytes of the (decompressed) file that were consumed */
    uint64_t kernel_packets; /* live: that the filter let pass, also those dropped by the kernel */
    uint64_t kernel_drops;   /* live: dropped by kernel or interface for want of room */
    uint64_t skipped_blocks; /* pcapng: blocks of unknown type */
};

/* Opens a capture file, or standard input for "-". `source` is written to each packet's origin.
 * Reads no more than the file's header; of a pipe or a socket nothing, and waits for no writer:
 * what is wrong with its header is told by the first read that has it. SL_EIO: cannot be opened or
 * read (the reason of the system); SL_EFORMAT: empty, or no capture file ("expected a pcap or
 * pcapng capture, ..."); SL_ETRUNCATED: ends inside its header; SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_capture_open_file(struct sl_capture **capture, const char *path,
                                                    uint16_t source, struct sl_diag *diag);

/* Opens an interface through libpcap with an optional BPF filter (NULL: all). A read then returns
 * at least every 100 ms. SL_EIO: no such interface, or no permission; SL_EINVAL: the filter does
 * not compile; both with libpcap's words. */
SL_CHECK SL_API enum sl_status sl_capture_open_live(struct sl_capture **capture,
                                                    const char *interface, const char *filter,
                                                    uint16_t source, struct sl_diag *diag);

/* Bounds what a packet waits for others to fill a batch with it: a read from an interface, a pipe
 * or a socket then returns when its batch's oldest packet was read max_latency_ns ago, as closely
 * as one read of the system's (up to 512 KiB, or 4096 packets) takes to be taken apart. Reading
 * files waits for nothing and is not bounded. Before the first read; 0: no bound. An interface is
 * opened anew, for the kernel to hand over each packet as it comes, which costs throughput. The
 * statuses of sl_capture_open_live. */
SL_CHECK SL_API enum sl_status
sl_capture_limit_latency(struct sl_capture *capture, uint64_t max_latency_ns, struct sl_diag *diag);

/* Reads the header of a pipe or a socket, for up to 100 ms, which else the first read does: for who
 * wants to know whether it is a capture before anything is made of it. *begun: the header was read,
 * as it is of files; where it is not and the status is SL_OK, call again. The statuses of
 * sl_capture_read. */
SL_CHECK SL_API enum sl_status sl_capture_begin(struct sl_capture *capture, bool *begun,
                                                struct sl_diag *diag);

/* Appends packets to the batch, which has a packet column, until it is full or, live or from a pipe
 * that has no more for now, until 100 ms have passed; fills bytes and origin.time_ns, position,
 * wire_len, link_type, source and arrival_ns. Packets of link types that nobody knows are delivered
 * too. SL_OK the batch is full, or time passed (it may then be empty); call again SL_END the last
 * packet was delivered, or sl_capture_stop was called; the batch may hold some SL_ETRUNCATED  as
 * SL_END, and the file ends inside a record (diag: file, and at which byte) SL_EFORMAT     as
 * SL_END, and what follows is no capture record (diag: file, byte, what was expected) SL_EIO as
 * SL_END, and the system refused (diag) SL_EINVAL      the empty batch's arena is smaller than the
 * next packet After any but SL_OK and SL_EINVAL no further packets come. */
SL_CHECK SL_API enum sl_status sl_capture_read(struct sl_capture *capture, struct sl_batch *batch,
                                               struct sl_diag *diag);

/* A part of a capture file: the packets whose records begin in a range of its bytes. Plain pcap
 * files on disk can be read in parts by many threads, one thread claiming them in order, any thread
 * loading each; then, again in order and one at a time, each is joined; and any thread numbers its
 * packets. The outcome is that
 * of sl_capture_read: a load guesses where the first record begins, by what records look like, and
 * a join knows it from the part before; where the guess was wrong it loads the part again. */
struct sl_capture_part {
    struct sl_capture *capture; /* to be left open until the part is joined */
    uint64_t from, to;          /* the range, bytes of the file */
    uint64_t begin;             /* where the first record that was loaded begins */
    uint64_t end;               /* behind the last record that was loaded */
    bool last;                  /* the file ends with this part */
    uint64_t bytes;             /* captured, of the packets that were loaded */
    uint64_t before;            /* packets of the file before; set by the join */
};

/* Claims the next part, as large as the batch can hold whatever the packets' lengths. Once a part
 * was claimed the capture is no longer for sl_capture_read. SL_END: all is claimed, a part before
 * failed, or sl_capture_stop was called. SL_EUNSUPPORTED: the rest is to be read by
 * sl_capture_read: it is no plain pcap file on disk, it is small, or the batch has less than an
 * item for 16 of its bytes. */
SL_CHECK SL_API enum sl_status sl_capture_claim(struct sl_capture *capture,
                                                const struct sl_batch *batch,
                                                struct sl_capture_part *part);

/* Replaces what the batch holds by the part's packets, but for the packets' numbers. */
SL_API void sl_capture_load(struct sl_capture_part *part, struct sl_batch *batch);

/* Confirms or corrects what was loaded. `changed` says whether the items
 * are others than before. SL_OK, or as sl_capture_read at the end of the file, of which the last
 * part or the one in which reading failed has the status; the parts behind it are then empty. */
SL_CHECK SL_API enum sl_status sl_capture_join(struct sl_capture_part *part, struct sl_batch *batch,
                                               bool *changed, struct sl_diag *diag);

/* Numbers the packets of a part that was joined: once, on any thread. */
SL_API void sl_capture_number(const struct sl_capture_part *part, struct sl_batch *batch);

/* Makes the capture end: packets that the kernel has handed over already are still delivered. May
 * be called from a signal handler and from any thread. */
SL_API void sl_capture_stop(struct sl_capture *capture);

/* On the thread that reads. Live, this asks the kernel, whose counters have 32 bits: to be called
 * before another 2^32 packets have come, or they are short of that many. */
SL_API void sl_capture_stats(struct sl_capture *capture, struct sl_capture_stats *stats);

/* The path or interface it was opened with. */
SL_API const char *sl_capture_name(const struct sl_capture *capture);

/* Accepts NULL. */
SL_API void sl_capture_close(struct sl_capture *capture);

/* A link type's name ("EN10MB", "IEEE802_11_RADIO", ...), or "LINKTYPE_n" written into out. */
SL_API const char *sl_link_type_name(uint16_t link_type, char out[32]);

#ifdef __cplusplus
}
#endif
#endif
