/* SPDX-License-Identifier: MIT */
/* For tests: capture files written byte by byte from the formats' descriptions, in memory, with the
 * packets that a reader must find. Whole captures are read in all ways. */
#ifndef CAPTURE_CAPTURE_FIXTURE_H
#define CAPTURE_CAPTURE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/capture.h"

/* --- Images: capture files in memory --- */

enum { IMAGE_PACKETS_MAX = 1024, IMAGE_BOUNDARIES_MAX = 64 };

/* A packet that a reader must deliver. Byte j of packet i is image_byte(i, j). */
struct image_packet {
    uint64_t end; /* offset behind its record: a file of that many bytes holds it */
    int64_t time_ns;
    uint32_t len, wire_len;
    uint16_t link_type;
};

struct image {
    uint8_t *bytes;
    size_t len, cap;
    bool big_endian;
    size_t header_len; /* bytes that opening reads */
    struct image_packet packets[IMAGE_PACKETS_MAX];
    uint32_t n_packets;
    /* Offsets behind records that hold no packet: a file may end there as well. */
    uint64_t boundaries[IMAGE_BOUNDARIES_MAX];
    uint32_t n_boundaries;
};

uint8_t image_byte(uint32_t packet, uint32_t at);
struct image *image_create(bool big_endian);
void image_free(struct image *image);

void image_raw(struct image *image, const void *bytes, size_t len);
void image_16(struct image *image, uint16_t value);
void image_32(struct image *image, uint32_t value);
void image_64(struct image *image, uint64_t value);

/* The next packet's bytes, to be followed by image_expect when its record is complete. */
void image_payload(struct image *image, uint32_t len);
void image_expect(struct image *image, int64_t time_ns, uint32_t len, uint32_t wire_len,
                  uint16_t link_type);

#define IMAGE_PCAP_US 0xA1B2C3D4u
#define IMAGE_PCAP_NS 0xA1B23C4Du
#define IMAGE_PCAP_MODIFIED 0xA1B2CD34u

void image_pcap_header(struct image *image, uint32_t magic, uint16_t minor, uint32_t link_type);
void image_pcap_record(struct image *image, uint32_t magic, uint32_t seconds, uint32_t fraction,
                       uint32_t len, uint32_t wire_len);

/* Packets of lengths 0 to 19, then up to 1,499. */
struct image *image_pcap(uint32_t magic, bool big_endian, uint32_t n_packets);

enum {
    IMAGE_SECTION = 0x0A0D0D0A,
    IMAGE_INTERFACE = 1,
    IMAGE_PACKET = 2,
    IMAGE_SIMPLE = 3,
    IMAGE_NAMES = 4,
    IMAGE_STATISTICS = 5,
    IMAGE_ENHANCED = 6,
    IMAGE_CUSTOM = 0xBAD
};

/* Begins a block; returns where, for image_block_end, which pads it and writes its lengths. */
size_t image_block(struct image *image, uint32_t type);
void image_block_end(struct image *image, size_t begin);

void image_option(struct image *image, uint16_t code, const void *value, uint16_t len);
void image_section(struct image *image);

/* A resolution of 6 and an offset of 0 are left out, as is usual. */
void image_interface(struct image *image, uint16_t link_type, uint32_t snap_len, uint8_t resolution,
                     int64_t offset_s);

/* units: of the interface's resolution; the caller says what that is in time. */
void image_enhanced(struct image *image, uint32_t interface, uint64_t units, uint32_t len,
                    uint32_t wire_len, bool with_options, int64_t time_ns, uint16_t link_type);
void image_simple(struct image *image, uint32_t len, uint32_t wire_len, uint16_t link_type);
void image_obsolete(struct image *image, uint16_t interface, uint64_t units, uint32_t len,
                    uint32_t wire_len, int64_t time_ns, uint16_t link_type);

/* A block of any type with a body of that length. */
void image_other(struct image *image, uint32_t type, uint32_t body_len);

/* Two sections of opposite byte order, all packet blocks, interfaces of several resolutions, and
 * this many blocks of unknown type. */
enum { IMAGE_PCAPNG_SKIPPED = 2 };
struct image *image_pcapng(bool big_endian);

/* --- Compression --- */

enum image_packing {
    IMAGE_PLAIN,
    IMAGE_GZIP,
    IMAGE_GZIP_MEMBERS, /* three, cut anywhere */
    IMAGE_ZSTD,
    IMAGE_ZSTD_FRAMES, /* three and a skippable one before */
    IMAGE_PACKINGS
};

struct packed {
    uint8_t *bytes;
    size_t len;
};

/* The caller frees the bytes. */
struct packed image_pack(const struct image *image, enum image_packing packing);

/* How many bytes the first `len` packed bytes decompress to; *whole: they end behind a member. */
size_t image_unpacked_len(const struct packed *packed, enum image_packing packing, size_t len,
                          bool *whole);

/* --- Reading --- */

enum transport {
    MAPPED,
    PIPED,
    DRIBBLED, /* a pipe whose writer writes a few bytes at a time */
    TRANSPORTS
};

/* All that came of a capture. */
struct reading {
    bool opened;
    enum sl_status status; /* of opening, or of the last read */
    struct sl_diag diag;
    struct sl_capture_stats stats;
    struct sl_origin *origins;
    uint32_t *lens;
    uint8_t *bytes; /* of all packets, back to back */
    uint64_t n_packets, bytes_len;
};

enum { READING_SOURCE = 7, READING_ARENA = 1 << 20, READING_ITEMS = 256 };

/* Reads to the end in batches of that size. SL_EINVAL ends it as well. */
void reading_of_path(struct reading *reading, const char *path, uint32_t arena_len,
                     uint32_t max_items);

/* The same for bytes in memory. Failures of the system abort. */
void reading_of_bytes(struct reading *reading, const void *bytes, size_t len,
                      enum transport transport, uint32_t arena_len, uint32_t max_items);

void reading_free(struct reading *reading);

/* A file of those bytes that has no name; the path is good while the descriptor is open. */
int memory_file(const void *bytes, size_t len, char path[32]);

#endif
