/* SPDX-License-Identifier: MIT */
/* Captures: sources of packets that fill batches.
 *
 * Files: pcap (any byte order, micro- and nanoseconds, modified variants), and pcapng (all its
 * packet blocks, several sections and interfaces, any timestamp resolution). A file is plain or
 * compressed by gzip, xz or zstd. Plain files are mapped; pipes and compressed files are streamed
 * with bounded memory. A mapped file may be written to meanwhile. Where it is cut, reading fails
 * with SL_EIO or raises SIGBUS (sluice/mapped.h). Interfaces: live through libpcap. */
#ifndef SLUICE_CAPTURE_H
#define SLUICE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open source. Between calls any thread may have it; one at a time. */
struct sl_capture;

/* The longest packet. */
enum {
    SL_CAPTURE_PACKET_MAX = 262144 /* bytes; a longer packet record is SL_EFORMAT */
};

/* Counters of a capture. */
struct sl_capture_stats {
    uint64_t packets;        /* delivered to batches */
    uint64_t bytes;          /* captured bytes of those packets */
    uint64_t file_bytes;     /* files: bytes of the (decompressed) file that were consumed */
    uint64_t kernel_packets; /* live: passed by the filter, with those that the kernel dropped. They
                                are packets, kernel_drops, and those in the kernel's buffer */
    uint64_t kernel_drops;   /* live: of these, dropped without room in the kernel's buffer */
    uint64_t interface_drops; /* live: dropped by the interface, before the filter */
    uint64_t skipped_blocks;  /* pcapng: blocks of unknown type */
};

/* Opens a capture file, or standard input for "-". `source` becomes each packet's origin.source.
 * Reads no more than the file's header. Of a pipe or a socket it reads nothing and waits for no
 * writer; the first read reports a bad header. The caller closes the capture. SL_EIO: cannot be
 * opened or read, with the system's reason. SL_EFORMAT: empty, or no capture file. SL_ETRUNCATED:
 * ends inside its header. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_capture_open_file(struct sl_capture **capture, const char *path,
                                                    uint16_t source, struct sl_diag *diag);

/* Opens an interface through libpcap with a BPF filter. NULL: all packets. A read then returns at
 * least every 100 ms. The caller closes the capture. SL_EIO: no such interface, or no permission.
 * SL_EINVAL: the filter does not compile. diag has libpcap's words. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_capture_open_live(struct sl_capture **capture,
                                                    const char *interface, const char *filter,
                                                    uint16_t source, struct sl_diag *diag);

/* Sets a BPF filter of a file's packets, as tcpdump -r has one: only those that pass are delivered.
 * Packets keep the numbers that they have in the file. The file is then read by sl_capture_read
 * alone. The call comes before the first read; the capture copies the filter. SL_EINVAL: the filter
 * does not compile; diag has libpcap's words. Where a link type is not known before the first read,
 * the read returns SL_EUNSUPPORTED for it. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_capture_filter(struct sl_capture *capture, const char *filter,
                                                 struct sl_diag *diag);

/* Bounds how long a packet waits for others in its batch; 0: no bound. A read from an interface, a
 * pipe or a socket then returns max_latency_ns after the batch's oldest packet was read. One read
 * of the system (up to 512 KiB, or 4096 packets) may take longer to parse. Files on disk are not
 * bounded. The call comes before the first read. An interface is opened anew: the kernel then hands
 * over each packet as it comes, which costs throughput. Statuses are those of sl_capture_open_live;
 * after a failure nothing can be read. */
SL_CHECK SL_API enum sl_status
sl_capture_limit_latency(struct sl_capture *capture, uint64_t max_latency_ns, struct sl_diag *diag);

/* Reads the header of a pipe or a socket ahead of the first read, for up to 100 ms: it shows early
 * whether the input is a capture. *begun: the header was read; always true of files. Where it is
 * false after SL_OK, the caller repeats the call. Statuses are those of sl_capture_read. */
SL_CHECK SL_API enum sl_status sl_capture_begin(struct sl_capture *capture, bool *begun,
                                                struct sl_diag *diag);

/* Appends packets to the batch, which has a packet column, until it is full. Live, and from a pipe
 * without data, it returns after 100 ms. Fills bytes and origin.time_ns, position, wire_len,
 * link_type, source and arrival_ns. Packets of unknown link types are delivered, too.
 *
 * SL_OK: the batch is full, or time passed and it may be empty; call again. SL_EINVAL: the empty
 * batch has no room for the next packet; call again with a larger one. After any other status no
 * further packets come, and the batch may hold some:
 * SL_END: the last packet was delivered, or sl_capture_stop was called.
 * SL_ETRUNCATED: the file ends inside a record. diag: file and byte.
 * SL_EFORMAT: the next bytes are no capture record. diag: file, byte, the expected format.
 * SL_EUNSUPPORTED: the filter does not compile for the packets' link type.
 * SL_EIO: the system refused. diag: its reason. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_capture_read(struct sl_capture *capture, struct sl_batch *batch,
                                               struct sl_diag *diag);

/* ---- parts: one file, many threads ----------------------------------------------------------- */

/* A part of a capture file: the packets whose records begin in a range of its bytes. Many threads
 * can read a plain pcap file on disk in parts:
 *   claim   one thread, in order
 *   load    any thread, many at once
 *   join    in order, one at a time
 *   number  any thread
 * The outcome is that of sl_capture_read. A load guesses where its first record begins; the join
 * knows it from the part before and repeats the load where the guess was wrong. */
struct sl_capture_part {
    struct sl_capture *capture; /* stays open until the part is joined */
    uint64_t from, to;          /* the range, bytes of the file */
    uint64_t begin;             /* first byte of the first loaded record */
    uint64_t end;               /* behind the last loaded record */
    bool last;                  /* the file ends with this part */
    uint64_t bytes;             /* captured bytes of the loaded packets */
    uint64_t before;            /* packets of the file before it; set by the join */
};

/* Claims the next part, as large as the empty batch can hold for any lengths of packets. After a
 * claim sl_capture_read may not be called. SL_END: the file is claimed, a part before failed, or
 * sl_capture_stop was called. SL_EUNSUPPORTED, of a first claim alone: the caller reads the file by
 * sl_capture_read. It is no plain pcap file on disk, is small, or has a filter; or the batch is not
 * empty, has an arena below twice the longest record (524,336 bytes), or fewer items than one for
 * 16 bytes. */
SL_CHECK SL_API enum sl_status sl_capture_claim(struct sl_capture *capture,
                                                const struct sl_batch *batch,
                                                struct sl_capture_part *part);

/* Replaces the batch's items by the part's packets, without the packets' numbers. Any thread. The
 * batch has at least the room of the claim's. */
SL_API void sl_capture_load(struct sl_capture_part *part, struct sl_batch *batch);

/* Confirms or corrects the load, with the batch that has it. *changed: the items are others than
 * before. SL_OK, or the status of sl_capture_read at the end of the file: the last part has it, or
 * the part in which reading failed; later parts are then empty. */
SL_CHECK SL_API enum sl_status sl_capture_join(struct sl_capture_part *part, struct sl_batch *batch,
                                               bool *changed, struct sl_diag *diag);

/* Numbers the packets of a joined part, once. Any thread. */
SL_API void sl_capture_number(const struct sl_capture_part *part, struct sl_batch *batch);

/* ---- all captures ---------------------------------------------------------------------------- */

/* Ends the capture. Packets that the kernel has handed over are still delivered. Any thread, and
 * signal handlers. */
SL_API void sl_capture_stop(struct sl_capture *capture);

/* Copies the counters, on the thread that reads. The kernel's counters of an interface have 32
 * bits. Two calls lie fewer than 2^32 packets apart, else the sums lack that many. */
SL_API void sl_capture_stats(struct sl_capture *capture, struct sl_capture_stats *stats);

/* Returns the path or interface that the capture was opened with, valid until it is closed. Any
 * thread. */
SL_API const char *sl_capture_name(const struct sl_capture *capture);

/* Closes a capture, of which no part is in use. Accepts NULL. */
SL_API void sl_capture_close(struct sl_capture *capture);

/* A link type's name ("EN10MB", "IEEE802_11_RADIO", ...), or "LINKTYPE_n" written into out: static,
 * or out. Any thread. */
SL_API const char *sl_link_type_name(uint16_t link_type, char out[32]);

#ifdef __cplusplus
}
#endif
#endif
