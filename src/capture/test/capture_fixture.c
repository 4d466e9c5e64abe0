/* SPDX-License-Identifier: MIT */
#include "capture_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

uint8_t image_byte(uint32_t packet, uint32_t at)
{
    return (uint8_t)(packet * 37 + at * 11 + (at >> 8) + 1);
}

void image_free(struct image *image)
{
    if (image != NULL)
        free(image->bytes);
    free(image);
}

struct image *image_create(bool big_endian)
{
    struct image *const image = calloc(1, sizeof *image);

    image->big_endian = big_endian;
    return image;
}

static uint8_t *image_room(struct image *image, size_t len)
{
    if (image->len + len >= image->cap) {
        image->cap = 2 * (image->len + len) + 64;
        image->bytes = realloc(image->bytes, image->cap);
    }
    image->len += len;
    return image->bytes + image->len - len;
}

void image_raw(struct image *image, const void *bytes, size_t len)
{
    memcpy(image_room(image, len), bytes, len);
}

static void image_number(struct image *image, uint64_t value, unsigned len)
{
    uint8_t *const at = image_room(image, len);

    for (unsigned i = 0; i < len; i++)
        at[i] = (uint8_t)(value >> 8 * (image->big_endian ? len - 1 - i : i));
}

void image_16(struct image *image, uint16_t value)
{
    image_number(image, value, 2);
}

void image_32(struct image *image, uint32_t value)
{
    image_number(image, value, 4);
}

void image_64(struct image *image, uint64_t value)
{
    image_number(image, value, 8);
}

void image_payload(struct image *image, uint32_t len)
{
    uint8_t *const at = image_room(image, len);

    for (uint32_t i = 0; i < len; i++)
        at[i] = image_byte(image->n_packets, i);
}

static void image_boundary(struct image *image)
{
    image->boundaries[image->n_boundaries++] = image->len;
}

void image_expect(struct image *image, int64_t time_ns, uint32_t len, uint32_t wire_len,
                  uint16_t link_type)
{
    image->packets[image->n_packets++] = (struct image_packet){
        .end = image->len,
        .time_ns = time_ns,
        .len = len,
        .wire_len = wire_len > len ? wire_len : len,
        .link_type = link_type,
    };
}

void image_pcap_header(struct image *image, uint32_t magic, uint16_t minor, uint32_t link_type)
{
    image_32(image, magic);
    image_16(image, 2);
    image_16(image, minor);
    image_64(image, 0);
    image_32(image, 65535);
    image_32(image, link_type);
    image->header_len = image->len;
    image_boundary(image);
}

void image_pcap_record(struct image *image, uint32_t magic, uint32_t seconds, uint32_t fraction,
                       uint32_t len, uint32_t wire_len)
{
    image_32(image, seconds);
    image_32(image, fraction);
    image_32(image, len);
    image_32(image, wire_len);
    if (magic == IMAGE_PCAP_MODIFIED) {
        image_32(image, 3);
        image_32(image, 0x08004000);
    }
    image_payload(image, len);
    image_expect(image,
                 (int64_t)seconds * 1000000000 +
                     (int64_t)fraction * (magic == IMAGE_PCAP_NS ? 1 : 1000),
                 len, wire_len, 1);
}

struct image *image_pcap(uint32_t magic, bool big_endian, uint32_t n_packets)
{
    struct image *const image = image_create(big_endian);

    image_pcap_header(image, magic, 4, 1);
    for (uint32_t i = 0; i < n_packets; i++) {
        const uint32_t len = i < 20 ? i : (i * i * 7) % 1500;

        image_pcap_record(image, magic, 1700000000 + i, 999999 - i, len, len + i % 3 * 100);
    }
    return image;
}

size_t image_block(struct image *image, uint32_t type)
{
    image_32(image, type);
    image_32(image, 0);
    return image->len - 8;
}

void image_block_end(struct image *image, size_t begin)
{
    while (image->len % 4 != 0)
        *image_room(image, 1) = 0xEE; /* padding need not be zero */

    const uint32_t len = (uint32_t)(image->len - begin + 4);
    image_32(image, len);
    memcpy(image->bytes + begin + 4, image->bytes + image->len - 4, 4);
}

void image_option(struct image *image, uint16_t code, const void *value, uint16_t len)
{
    image_16(image, code);
    image_16(image, len);
    image_raw(image, value, len);
    while (image->len % 4 != 0)
        *image_room(image, 1) = 0;
}

void image_section(struct image *image)
{
    const size_t begin = image_block(image, IMAGE_SECTION);

    image_32(image, 0x1A2B3C4D);
    image_16(image, 1);
    image_16(image, 0);
    image_64(image, UINT64_MAX);
    image_option(image, 4, "generator", 9);
    image_option(image, 0, "", 0);
    image_block_end(image, begin);
    if (image->header_len == 0)
        image->header_len = image->len;
    image_boundary(image);
}

void image_interface(struct image *image, uint16_t link_type, uint32_t snap_len, uint8_t resolution,
                     int64_t offset_s)
{
    const size_t begin = image_block(image, IMAGE_INTERFACE);

    image_16(image, link_type);
    image_16(image, 0);
    image_32(image, snap_len);
    image_option(image, 2, "eth0", 4);
    if (resolution != 6)
        image_option(image, 9, &resolution, 1);
    if (offset_s != 0) {
        image_16(image, 14);
        image_16(image, 8);
        image_64(image, (uint64_t)offset_s);
    }
    if (resolution != 6 || offset_s != 0)
        image_option(image, 0, "", 0);
    image_block_end(image, begin);
    image_boundary(image);
}

void image_enhanced(struct image *image, uint32_t interface, uint64_t units, uint32_t len,
                    uint32_t wire_len, bool with_options, int64_t time_ns, uint16_t link_type)
{
    const size_t begin = image_block(image, IMAGE_ENHANCED);

    image_32(image, interface);
    image_32(image, (uint32_t)(units >> 32));
    image_32(image, (uint32_t)units);
    image_32(image, len);
    image_32(image, wire_len);
    image_payload(image, len);
    while (image->len % 4 != 0)
        *image_room(image, 1) = 0xEE;
    if (with_options) {
        image_option(image, 1, "a comment", 9);
        image_option(image, 0, "", 0);
    }
    image_block_end(image, begin);
    image_expect(image, time_ns, len, wire_len, link_type);
}

void image_simple(struct image *image, uint32_t len, uint32_t wire_len, uint16_t link_type)
{
    const size_t begin = image_block(image, IMAGE_SIMPLE);

    image_32(image, wire_len);
    image_payload(image, len);
    image_block_end(image, begin);
    image_expect(image, 0, len, wire_len, link_type);
}

void image_obsolete(struct image *image, uint16_t interface, uint64_t units, uint32_t len,
                    uint32_t wire_len, int64_t time_ns, uint16_t link_type)
{
    const size_t begin = image_block(image, IMAGE_PACKET);

    image_16(image, interface);
    image_16(image, 9); /* drops */
    image_32(image, (uint32_t)(units >> 32));
    image_32(image, (uint32_t)units);
    image_32(image, len);
    image_32(image, wire_len);
    image_payload(image, len);
    image_block_end(image, begin);
    image_expect(image, time_ns, len, wire_len, link_type);
}

void image_other(struct image *image, uint32_t type, uint32_t body_len)
{
    const size_t begin = image_block(image, type);

    memset(image_room(image, body_len), 0x5A, body_len);
    image_block_end(image, begin);
    image_boundary(image);
}

struct image *image_pcapng(bool big_endian)
{
    struct image *const image = image_create(big_endian);
    const uint64_t t = 1700000000;

    image_section(image);
    image_interface(image, 1, 24, 6, 0);
    image_interface(image, 228, 0, 9, 0);
    image_enhanced(image, 0, t * 1000000 + 123456, 60, 60, false, INT64_C(1700000000123456000), 1);
    image_enhanced(image, 1, t * 1000000000 + 5, 61, 1514, true, INT64_C(1700000000000000005), 228);
    image_other(image, IMAGE_CUSTOM, 20);
    image_simple(image, 24, 99, 1); /* cut to the interface's 24 bytes */
    image_simple(image, 23, 23, 1);
    image_obsolete(image, 1, t * 1000000000, 33, 40, INT64_C(1700000000000000000), 228);
    image_other(image, IMAGE_NAMES, 8);
    image_other(image, IMAGE_STATISTICS, 12);

    image->big_endian = !big_endian;
    image_section(image);
    image_interface(image, 12, 0, 3, -1);
    image_interface(image, 276, 0, 0x80 | 20, 0);
    image_interface(image, 1, 0, 12, 7200);
    image_enhanced(image, 0, t * 1000 + 7, 0, 0, false, INT64_C(1699999999007000000), 101);
    image_other(image, 0x80001234, 0);
    image_enhanced(image, 1, (t << 20) + (1 << 19), 1, 1, true, INT64_C(1700000000500000000), 276);
    image_enhanced(image, 2, UINT64_C(5000000000999), 3, 3, false, INT64_C(7205000000000), 1);
    image_obsolete(image, 0, t * 1000, 5, 5, INT64_C(1699999999000000000), 101);
    return image;
}

static void packed_gzip(struct packed *packed, const uint8_t *bytes, size_t len)
{
    z_stream gzip = {0};

    if (deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();

    const size_t room = deflateBound(&gzip, len) + 64;
    packed->bytes = realloc(packed->bytes, packed->len + room);
    gzip.next_in = (Bytef *)(uintptr_t)bytes;
    gzip.avail_in = (uInt)len;
    gzip.next_out = packed->bytes + packed->len;
    gzip.avail_out = (uInt)room;
    if (deflate(&gzip, Z_FINISH) != Z_STREAM_END)
        abort();
    packed->len += room - gzip.avail_out;
    deflateEnd(&gzip);
}

static void packed_zstd(struct packed *packed, const uint8_t *bytes, size_t len)
{
    const size_t room = ZSTD_compressBound(len);

    packed->bytes = realloc(packed->bytes, packed->len + room);

    const size_t got = ZSTD_compress(packed->bytes + packed->len, room, bytes, len, 3);
    if (ZSTD_isError(got))
        abort();
    packed->len += got;
}

struct packed image_pack(const struct image *image, enum image_packing packing)
{
    static const uint8_t skippable[] = {0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
    struct packed packed = {0};
    const size_t third = image->len / 3;

    switch (packing) {
    case IMAGE_GZIP:
        packed_gzip(&packed, image->bytes, image->len);
        break;
    case IMAGE_GZIP_MEMBERS:
        packed_gzip(&packed, image->bytes, third);
        packed_gzip(&packed, image->bytes + third, third);
        packed_gzip(&packed, image->bytes + 2 * third, image->len - 2 * third);
        break;
    case IMAGE_ZSTD:
        packed_zstd(&packed, image->bytes, image->len);
        break;
    case IMAGE_ZSTD_FRAMES:
        packed.bytes = malloc(sizeof skippable);
        memcpy(packed.bytes, skippable, packed.len = sizeof skippable);
        packed_zstd(&packed, image->bytes, third);
        packed_zstd(&packed, image->bytes + third, third);
        packed_zstd(&packed, image->bytes + 2 * third, image->len - 2 * third);
        break;
    default:
        packed.bytes = malloc(image->len + 1);
        memcpy(packed.bytes, image->bytes, packed.len = image->len);
        break;
    }
    return packed;
}

static size_t unpacked_gzip(const uint8_t *bytes, size_t len, bool *whole)
{
    uint8_t out[65536];
    z_stream gzip = {0};
    size_t out_len = 0;

    if (inflateInit2(&gzip, 15 + 16) != Z_OK)
        abort();
    gzip.next_in = (Bytef *)(uintptr_t)bytes;
    gzip.avail_in = (uInt)len;
    *whole = true;
    do {
        if (*whole)
            inflateReset(&gzip);
        gzip.next_out = out;
        gzip.avail_out = sizeof out;
        *whole = inflate(&gzip, Z_SYNC_FLUSH) == Z_STREAM_END || (*whole && len == 0);
        out_len += sizeof out - gzip.avail_out;
    } while (gzip.avail_in != 0 || gzip.avail_out == 0);
    inflateEnd(&gzip);
    return out_len;
}

static size_t unpacked_zstd(const uint8_t *bytes, size_t len, bool *whole)
{
    uint8_t out[65536];
    ZSTD_DStream *const zstd = ZSTD_createDStream();
    ZSTD_inBuffer in = {bytes, len, 0};
    size_t out_len = 0;

    size_t got = len == 0 ? 0 : sizeof out;

    *whole = true;
    while (in.pos != in.size || got == sizeof out) {
        ZSTD_outBuffer to = {out, sizeof out, 0};

        *whole = ZSTD_decompressStream(zstd, &to, &in) == 0;
        out_len += got = to.pos;
    }
    ZSTD_freeDStream(zstd);
    return out_len;
}

size_t image_unpacked_len(const struct packed *packed, enum image_packing packing, size_t len,
                          bool *whole)
{
    *whole = true;
    if (packing == IMAGE_PLAIN)
        return len;
    if (packing == IMAGE_GZIP || packing == IMAGE_GZIP_MEMBERS)
        return unpacked_gzip(packed->bytes, len, whole);
    return unpacked_zstd(packed->bytes, len, whole);
}

static void *grown(void *memory, size_t len)
{
    void *const more = realloc(memory, len + 1);

    if (more == NULL)
        abort();
    return more;
}

static void reading_take(struct reading *reading, const struct sl_batch *batch)
{
    const uint64_t n = reading->n_packets + batch->n_items;

    reading->origins = grown(reading->origins, n * sizeof *reading->origins);
    reading->lens = grown(reading->lens, n * sizeof *reading->lens);
    reading->bytes = grown(reading->bytes, reading->bytes_len + batch->bytes_len);
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct sl_packet *const packet = &batch->packet[i];

        reading->origins[reading->n_packets] = batch->origin[i];
        reading->origins[reading->n_packets].arrival_ns = 0; /* readings are compared */
        reading->lens[reading->n_packets++] = packet->len;
        memcpy(reading->bytes + reading->bytes_len, batch->bytes + packet->offset, packet->len);
        reading->bytes_len += packet->len;
    }
}

void reading_of_path(struct reading *reading, const char *path, uint32_t arena_len,
                     uint32_t max_items)
{
    struct sl_capture *capture;
    struct sl_batch *batch;

    *reading = (struct reading){0};
    reading->status = sl_capture_open_file(&capture, path, READING_SOURCE, &reading->diag);
    reading->opened = reading->status == SL_OK;
    if (!reading->opened)
        return;
    if (sl_batch_create(&batch, arena_len, max_items, NULL) != SL_OK)
        abort();
    do {
        sl_batch_reset(batch);
        reading->status = sl_capture_read(capture, batch, &reading->diag);
        reading_take(reading, batch);
    } while (reading->status == SL_OK);
    sl_capture_stats(capture, &reading->stats);
    sl_batch_free(batch);
    sl_capture_close(capture);
}

void reading_free(struct reading *reading)
{
    free(reading->origins);
    free(reading->lens);
    free(reading->bytes);
}

int memory_file(const void *bytes, size_t len, char path[32])
{
    const int fd = memfd_create("capture", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

struct writer {
    int fd;
    bool dribble;
    const uint8_t *bytes;
    size_t len;
};

/* Ends early where the reader does. */
static void *write_all(void *context)
{
    const struct writer *const writer = context;
    sigset_t broken_pipe;
    size_t done = 0;
    ssize_t n = 1;

    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
    for (size_t step = 1; done < writer->len && n > 0; done += n > 0 ? (size_t)n : 0) {
        const size_t left = writer->len - done;

        step = writer->dribble ? step * 5 % 97 + 1 : left;
        n = write(writer->fd, writer->bytes + done, step < left ? step : left);
    }
    close(writer->fd);
    return NULL;
}

void reading_of_bytes(struct reading *reading, const void *bytes, size_t len,
                      enum transport transport, uint32_t arena_len, uint32_t max_items)
{
    struct writer writer = {.dribble = transport == DRIBBLED, .bytes = bytes, .len = len};
    pthread_t thread;
    char path[32];
    int ends[2];

    if (transport == MAPPED) {
        const int fd = memory_file(bytes, len, path);

        reading_of_path(reading, path, arena_len, max_items);
        close(fd);
        return;
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        abort();
    writer.fd = ends[1];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    if (pthread_create(&thread, NULL, write_all, &writer) != 0)
        abort();
    reading_of_path(reading, path, arena_len, max_items);
    close(ends[0]);
    pthread_join(thread, NULL);
}
