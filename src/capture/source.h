/* SPDX-License-Identifier: MIT */
/* The inside of a capture, and the parts that its kinds (pcap, pcapng, live) share. */
#ifndef CAPTURE_SOURCE_H
#define CAPTURE_SOURCE_H

#include <pcap/pcap.h>

#include "capture/input.h"
#include "sluice/capture.h"

/* A packet on its way from a source into a batch. */
struct record {
    const uint8_t *bytes;
    uint32_t len;      /* captured, at most SL_CAPTURE_PACKET_MAX */
    uint32_t wire_len; /* as in the source; may be below len */
    int64_t time_ns;
    uint64_t arrival_ns; /* as in struct sl_origin */
    uint16_t link_type;
};

struct capture_kind {
    enum sl_status (*read)(struct sl_capture *capture, struct sl_batch *batch,
                           struct sl_diag *diag);
    /* Fills what the kernel counts; NULL: no kernel does. */
    void (*kernel)(struct sl_capture *capture, struct sl_capture_stats *stats);
    void (*close)(struct sl_capture *capture); /* NULL: nothing to free */
};

/* Sources whose records have a header of a fixed length, as parts need it. */
struct pcap_file {
    bool swapped;             /* the file's byte order is not ours */
    bool lengths_swapped;     /* old versions write the wire's length first */
    uint32_t header_len;      /* of a packet record */
    uint32_t ns_per_fraction; /* of a second */
    uint16_t link_type;
};

struct pcapng_interface {
    uint64_t ns_multiplier, ns_divisor; /* time in ns = (units * multiplier >> shift) / divisor */
    int64_t offset_s;
    uint32_t snap_len; /* 0: no limit */
    uint16_t link_type;
    uint8_t shift;
};

struct pcapng_file {
    struct pcapng_interface *interfaces; /* of the section */
    uint32_t n_interfaces, max_interfaces;
    bool swapped;         /* the section's byte order is not ours */
    uint32_t skipped_len; /* block whose trailing length comes next, 0 where there is none */
    uint64_t skipped_offset;
};

struct live {
    pcap_t *handle;
    uint16_t link_type;
    uint32_t ns_per_fraction;
    char *filter;           /* NULL: all packets */
    struct sl_batch *batch; /* while packets are dispatched */
    uint64_t now;           /* then: when that began */
    uint8_t *held_bytes;    /* SL_CAPTURE_PACKET_MAX bytes for `held` */
    struct record held;     /* the packet that did not fit; bytes NULL where there is none */
    uint64_t drain_end_ns;  /* set once the stop was seen */
    uint64_t drained_len;   /* bytes that came since */
    struct pcap_stat last;  /* libpcap's counters as they were last read */
    uint64_t n_kernel_packets, n_kernel_drops, n_interface_drops; /* without wrapping */
};

/* A filter of a file's packets, compiled for each of their link types. */
enum { FILTER_LINKS = 8 };

struct capture_filter {
    const struct sl_capture *capture;
    char *text;
    struct {
        uint16_t link_type;
        struct bpf_program program;
    } link[FILTER_LINKS];
    uint32_t n_links;
    enum sl_status status; /* SL_OK: each link type so far could be compiled for */
    struct sl_diag why;
};

struct sl_capture {
    const struct capture_kind *kind;
    char *name;
    uint16_t source;
    atomic_bool stopped;
    uint64_t n_packets, n_bytes, n_skipped_blocks;
    _Atomic(enum sl_status) ended; /* the status of the last read; SL_OK: packets may follow */
    struct sl_diag why;            /* its reason, for further reads */

    uint64_t max_latency_ns; /* 0: batches are closed when they are full */
    uint64_t close_ns;       /* of this read: when it is to return what it has; 0: whenever */

    struct capture_filter *filter; /* of a file; NULL: all packets */
    uint64_t n_filtered;           /* packets that it rejected */

    uint64_t first_record; /* parts: where the first record begins */
    uint64_t claimed;      /* parts: behind the last that was claimed; 0 where there was none */
    uint64_t joined;       /* parts: where the next record begins */

    struct input input; /* of a file; closed where it is live */
    union {
        struct pcap_file pcap;
        struct pcapng_file pcapng;
        struct live live;
    };
};

/* Reads a record's header of pcap.header_len bytes: all of *record but its bytes. */
void pcap_parse_record(const struct pcap_file *pcap, const uint8_t *at, struct record *record);
bool pcap_is(const struct sl_capture *capture);

/* Reads the file header at the input's beginning and sets the kind. */
enum sl_status pcap_file_open(struct sl_capture *capture, struct sl_diag *diag);
enum sl_status pcapng_file_open(struct sl_capture *capture, struct sl_diag *diag);

/* Opens the interface that the capture is named after and sets the kind. */
enum sl_status live_open(struct sl_capture *capture, const char *filter, struct sl_diag *diag);
bool live_is(const struct sl_capture *capture);

/* After a change of the capture's latency. */
enum sl_status live_reopen(struct sl_capture *capture, struct sl_diag *diag);

/* The LINKTYPE_ value, the same on all systems, of libpcap's DLT_ value, which is not. */
uint16_t link_type_of_dlt(int dlt);

/* Returns the LINKTYPE_ value for a file's value: some systems wrote their DLT_ value of raw IP. */
uint16_t link_type_of_file(uint16_t value);

/* Writes where an item came from. */
static inline void capture_describe(const struct sl_capture *capture, struct sl_batch *batch,
                                    uint32_t item, const struct record *record, uint64_t position)
{
    struct sl_origin *const origin = batch->origin + item;

    if (batch->origin == NULL)
        return;
    origin->time_ns = record->time_ns;
    origin->position = position;
    origin->wire_len = record->wire_len > record->len ? record->wire_len : record->len;
    origin->link_type = record->link_type;
    origin->source = capture->source;
    origin->arrival_ns = record->arrival_ns;
}

/* NULL: no memory. */
struct capture_filter *capture_filter_create(const struct sl_capture *capture, const char *text);

/* Adds a program for the link type. */
enum sl_status capture_filter_add(struct capture_filter *filter, uint16_t link_type,
                                  struct sl_diag *diag);

/* Whether the packet passes. Without a program for its link type none does. */
bool capture_filter_passes(struct capture_filter *filter, const struct record *record);
void capture_filter_free(struct capture_filter *filter);

/* Appends a packet, unless the filter rejects it. False: it does not fit, and the read returns
 * capture_full. */
static inline bool capture_add(struct sl_capture *capture, struct sl_batch *batch,
                               const struct record *record)
{
    if (capture->filter != NULL && !capture_filter_passes(capture->filter, record)) {
        capture->n_filtered++;
        return true;
    }
    if (!sl_batch_fits(batch, record->len))
        return false;

    const uint32_t item = sl_batch_add(batch, record->bytes, record->len, 0);
    capture->n_packets++;
    capture->n_bytes += record->len;
    if (capture->max_latency_ns != 0 && capture->close_ns == 0)
        capture->close_ns = record->arrival_ns + capture->max_latency_ns;
    capture_describe(capture, batch, item, record, capture->n_packets + capture->n_filtered);
    return true;
}

/* The status of a read whose next packet of `len` bytes does not fit: SL_OK where the batch has
 * packets, else SL_EINVAL. */
enum sl_status capture_full(const struct sl_capture *capture, const struct sl_batch *batch,
                            uint32_t len, struct sl_diag *diag);

/* Numbers of a file in this machine's byte order or the other. `at` needs no alignment.
 *
 * A mapped file may change at any time. Each number is therefore read once: a compiler that read it
 * again after its check would use another than was checked. */
#define READ_ONCE(value) __asm__("" : "+r"(value))

static inline uint16_t get16(const uint8_t *at, bool swapped)
{
    uint16_t value;

    memcpy(&value, at, sizeof value);
    READ_ONCE(value);
    return swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t get32(const uint8_t *at, bool swapped)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    READ_ONCE(value);
    return swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t get64(const uint8_t *at, bool swapped)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    READ_ONCE(value);
    return swapped ? __builtin_bswap64(value) : value;
}

#endif
