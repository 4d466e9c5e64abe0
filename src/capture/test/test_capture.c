/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <zstd.h>

#include "base/clock.h"
#include "capture/source.h"
#include "capture_fixture.h"

/* --- What a reading must hold --- */

static void check_packets(const struct reading *reading, const struct image *image, uint64_t n)
{
    const uint8_t *at = reading->bytes;

    assert_int_equal(reading->n_packets, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct sl_origin *const origin = &reading->origins[i];
        const struct image_packet *const packet = &image->packets[i];

        assert_int_equal(reading->lens[i], packet->len);
        assert_int_equal(origin->wire_len, packet->wire_len);
        assert_int_equal(origin->time_ns, packet->time_ns);
        assert_int_equal(origin->link_type, packet->link_type);
        assert_int_equal(origin->position, i + 1);
        assert_int_equal(origin->source, READING_SOURCE);
        assert_int_equal(origin->flow, 0);
        assert_int_equal(origin->vlan[0], SL_NO_VLAN);
        for (uint32_t j = 0; j < packet->len; j++)
            if (*at++ != image_byte(i, j))
                fail_msg("packet %u differs at byte %u", i, j);
    }
    assert_int_equal(reading->stats.packets, n);
    assert_int_equal(reading->stats.bytes, reading->bytes_len);
    assert_int_equal(reading->stats.kernel_drops, 0);
}

static void check_image(const struct image *image, uint64_t n_skipped)
{
    for (int packing = IMAGE_PLAIN; packing < IMAGE_PACKINGS; packing++) {
        const struct packed packed = image_pack(image, (enum image_packing)packing);

        for (int transport = MAPPED; transport < TRANSPORTS; transport++) {
            struct reading reading;

            reading_of_bytes(&reading, packed.bytes, packed.len, (enum transport)transport,
                             READING_ARENA, READING_ITEMS);
            assert_int_equal(reading.status, SL_END);
            check_packets(&reading, image, image->n_packets);
            assert_int_equal(reading.stats.file_bytes, image->len);
            assert_int_equal(reading.stats.skipped_blocks, n_skipped);
            reading_free(&reading);
        }
        free(packed.bytes);
    }
}

/* A reading of a plain image that fails with that status and text, after n_packets. */
static void check_failure(const struct image *image, enum sl_status status, uint64_t n_packets,
                          const char *text)
{
    for (int transport = MAPPED; transport < TRANSPORTS; transport++) {
        struct reading reading;

        reading_of_bytes(&reading, image->bytes, image->len, (enum transport)transport,
                         READING_ARENA, READING_ITEMS);
        assert_string_equal(reading.diag.text, text);
        assert_int_equal(reading.status, status);
        assert_memory_equal(reading.diag.file, "/proc/self/fd/", 14);
        assert_int_equal(reading.diag.line, 0);
        check_packets(&reading, image, n_packets);
        reading_free(&reading);
    }
}

/* --- Formats --- */

static const uint32_t pcap_magics[] = {IMAGE_PCAP_US, IMAGE_PCAP_NS, IMAGE_PCAP_MODIFIED};

static void test_pcap_of_every_order_and_resolution(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct image *const image = image_pcap(pcap_magics[i / 2], i % 2 != 0, 300);

        check_image(image, 0);
        image_free(image);
    }
}

static void test_pcapng_of_every_block(void **state)
{
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct image *const image = image_pcapng(big_endian != 0);

        check_image(image, IMAGE_PCAPNG_SKIPPED);
        image_free(image);
    }
}

static void test_files_without_packets(void **state)
{
    struct image *const pcap = image_create(false), *const pcapng = image_create(true);

    (void)state;
    image_pcap_header(pcap, IMAGE_PCAP_US, 4, 1);
    check_image(pcap, 0);
    image_section(pcapng);
    check_image(pcapng, 0);
    image_interface(pcapng, 1, 0, 6, 0);
    check_image(pcapng, 0);
    image_free(pcap);
    image_free(pcapng);
}

/* Units since the epoch and what they are in ns, at every scale. */
static void test_pcapng_resolutions(void **state)
{
    static const struct {
        uint8_t resolution;
        uint64_t units;
        int64_t offset_s, time_ns;
    } cases[] = {
        {0, 1700000000, 0, INT64_C(1700000000000000000)},
        {1, 17000000005, 0, INT64_C(1700000000500000000)},
        {8, 123, 0, 1230},
        {9, UINT64_C(1700000000123456789), 0, INT64_C(1700000000123456789)},
        {10, 19, 0, 1},
        {18, UINT64_C(17000000000000000000), 0, INT64_C(17000000000)},
        {28, UINT64_MAX, 0, 1},
        {29, UINT64_MAX, 0, 0},
        {127, UINT64_MAX, 5, INT64_C(5000000000)},
        {0x80, 3, 0, INT64_C(3000000000)},
        {0x80 | 1, 3, 0, INT64_C(1500000000)},
        {0x80 | 32, UINT64_C(3) << 31, 0, INT64_C(1500000000)},
        {0x80 | 63, UINT64_MAX, 0, INT64_C(1999999999)},
        {0xFF, UINT64_MAX, 1, INT64_C(1000000000)},
        {9, 5, -10, INT64_C(-9999999995)},
        /* A time that 64 bits of ns cannot hold is unknown. */
        {0, UINT64_MAX, 0, 0},
        {9, UINT64_MAX, 0, 0},
        {9, 0, INT64_MAX, 0},
        {9, 0, INT64_MIN, 0},
    };
    struct image *const image = image_create(false);
    const uint32_t n = sizeof cases / sizeof cases[0];

    (void)state;
    image_section(image);
    for (uint32_t i = 0; i < n; i++)
        image_interface(image, (uint16_t)(1000 + i), 0, cases[i].resolution, cases[i].offset_s);
    for (uint32_t i = 0; i < n; i++)
        image_enhanced(image, i, cases[i].units, i, i, false, cases[i].time_ns,
                       (uint16_t)(1000 + i));
    check_image(image, 0);
    image_free(image);
}

/* Frame check sequence bits stand above the link type; raw IP was 12 and 14 on some systems. */
static void test_link_types_in_files(void **state)
{
    static const struct {
        uint32_t written;
        uint16_t read;
    } cases[] = {{1, 1},     {0xF4000001, 1},   {12, 101},  {14, 101},
                 {101, 101}, {0x2400000C, 101}, {276, 276}, {65535, 65535}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct image *const image = image_create(i % 2 != 0);

        image_pcap_header(image, IMAGE_PCAP_NS, 4, cases[i].written);
        image_pcap_record(image, IMAGE_PCAP_NS, 1, 2, 3, 4);
        image->packets[0].link_type = cases[i].read;
        check_image(image, 0);
        image_free(image);
    }
}

/* Before version 2.4 the two lengths stood in one order or the other. */
static void test_old_pcap_with_lengths_in_either_order(void **state)
{
    struct image *const image = image_create(true);

    (void)state;
    image_pcap_header(image, IMAGE_PCAP_US, 3, 1);
    image_pcap_record(image, IMAGE_PCAP_US, 1, 2, 30, 40);
    image_32(image, 1);
    image_32(image, 0);
    image_32(image, 50);
    image_32(image, 44);
    image_payload(image, 44);
    image_expect(image, 1000000000, 44, 50, 1);
    check_image(image, 0);
    image_free(image);
}

/* Unsigned seconds, signed fractions. */
static void test_pcap_times_at_their_limits(void **state)
{
    static const struct {
        uint32_t magic, seconds, fraction;
        int64_t time_ns;
    } cases[] = {
        {IMAGE_PCAP_US, 0, 0, 0},
        {IMAGE_PCAP_US, UINT32_MAX, 999999, INT64_C(4294967295999999000)},
        {IMAGE_PCAP_NS, UINT32_MAX, INT32_MAX, INT64_C(4294967297147483647)},
        {IMAGE_PCAP_US, 1614582000, (uint32_t)-268432, INT64_C(1614581999731568000)},
        {IMAGE_PCAP_NS, 1, (uint32_t)-5, 999999995},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct image *const image = image_create(i % 2 != 0);

        image_pcap_header(image, cases[i].magic, 4, 1);
        image_pcap_record(image, cases[i].magic, cases[i].seconds, cases[i].fraction, 9, 9);
        image->packets[0].time_ns = cases[i].time_ns;
        check_image(image, 0);
        image_free(image);
    }
}

static void test_link_type_names(void **state)
{
    char out[32];

    (void)state;
    assert_string_equal(sl_link_type_name(1, out), "EN10MB");
    assert_string_equal(sl_link_type_name(0, out), "NULL");
    assert_string_equal(sl_link_type_name(101, out), "RAW");
    assert_string_equal(sl_link_type_name(113, out), "LINUX_SLL");
    assert_string_equal(sl_link_type_name(229, out), "IPv6");
    assert_string_equal(sl_link_type_name(127, out), "IEEE802_11_RADIO");
    assert_string_equal(sl_link_type_name(147, out), "USER0");
    assert_string_equal(sl_link_type_name(252, out), "WIRESHARK_UPPER_PDU");
    /* A DLT_ value of some systems, but no LINKTYPE_ value. */
    assert_string_equal(sl_link_type_name(12, out), "LINKTYPE_12");
    assert_string_equal(sl_link_type_name(65535, out), "LINKTYPE_65535");
}

/* libpcap's live captures speak of DLT_ values. */
static void test_link_types_of_interfaces(void **state)
{
    (void)state;
    assert_int_equal(link_type_of_dlt(DLT_EN10MB), 1);
    assert_int_equal(link_type_of_dlt(DLT_RAW), 101);
    assert_int_equal(link_type_of_dlt(DLT_LINUX_SLL2), 276);
}

/* --- Batches --- */

static void test_batch_boundaries_change_nothing(void **state)
{
    struct image *const images[] = {image_pcap(IMAGE_PCAP_US, false, 200), image_pcapng(true)};

    (void)state;
    for (int i = 0; i < 2; i++) {
        for (uint32_t max_items = 1; max_items < 6; max_items++)
            for (uint32_t arena_len = 1504; arena_len < 6000; arena_len += 272) {
                struct reading reading;

                reading_of_bytes(&reading, images[i]->bytes, images[i]->len,
                                 (enum transport)(arena_len / 16 % TRANSPORTS), arena_len,
                                 max_items);
                assert_int_equal(reading.status, SL_END);
                check_packets(&reading, images[i], images[i]->n_packets);
                reading_free(&reading);
            }
        image_free(images[i]);
    }
}

static void test_packet_that_no_batch_holds_waits(void **state)
{
    struct image *const image = image_create(false);
    struct sl_capture *capture;
    struct sl_batch *small, *large;
    struct sl_diag diag;
    char path[32];

    (void)state;
    image_pcap_header(image, IMAGE_PCAP_US, 4, 1);
    image_pcap_record(image, IMAGE_PCAP_US, 1, 0, 10, 10);
    image_pcap_record(image, IMAGE_PCAP_US, 2, 0, SL_CAPTURE_PACKET_MAX, SL_CAPTURE_PACKET_MAX);

    const int fd = memory_file(image->bytes, image->len, path);
    assert_int_equal(sl_batch_create(&small, 1000, 10, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&large, SL_CAPTURE_PACKET_MAX, 10, &diag), SL_OK);
    assert_int_equal(sl_capture_open_file(&capture, path, 0, &diag), SL_OK);
    assert_int_equal(sl_capture_read(capture, small, &diag), SL_OK);
    assert_int_equal(small->n_items, 1);
    sl_batch_reset(small);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sl_capture_read(capture, small, &diag), SL_EINVAL);
        assert_string_equal(diag.text,
                            "a batch of 1,008 bytes and 10 items cannot hold a packet of "
                            "262,144 bytes");
    }
    assert_int_equal(sl_capture_read(capture, large, &diag), SL_END);
    assert_int_equal(large->n_items, 1);
    assert_int_equal(large->packet[0].len, SL_CAPTURE_PACKET_MAX);
    assert_int_equal(large->bytes[SL_CAPTURE_PACKET_MAX - 1],
                     image_byte(1, SL_CAPTURE_PACKET_MAX - 1));
    sl_capture_close(capture);
    sl_batch_free(small);
    sl_batch_free(large);
    close(fd);
    image_free(image);
}

/* --- Truncation --- */

/* The expected packets of a file of which image_len bytes are there. `whole` is false where
 * compression says that there should be more. */
static void check_cut(const struct reading *reading, const struct image *image, size_t image_len,
                      bool whole, enum transport transport)
{
    bool at_boundary = false;
    uint64_t n = 0;

    while (n < image->n_packets && image->packets[n].end <= image_len)
        n++;
    for (uint32_t i = 0; i < image->n_packets; i++)
        at_boundary |= image->packets[i].end == image_len;
    for (uint32_t i = 0; i < image->n_boundaries; i++)
        at_boundary |= image->boundaries[i] == image_len;
    /* Of a pipe the first read has the header. */
    assert_int_equal(reading->opened, transport != MAPPED || image_len >= image->header_len);
    assert_int_equal(reading->status, whole && at_boundary ? SL_END : SL_ETRUNCATED);
    if (reading->opened)
        check_packets(reading, image, n);
}

/* Cut 0 is the empty file. Dribbled pipes for few: they are slow. Under a sanitizer each image
 * takes its share of the cuts. */
static void check_every_cut(const struct image *image, enum image_packing packing, size_t number)
{
    const struct packed packed = image_pack(image, packing);
    const size_t step = test_fewer(1, 4);

    for (size_t len = 1 + number % step; len <= packed.len; len += step) {
        bool whole;
        const size_t image_len = image_unpacked_len(&packed, packing, len, &whole);

        if (image_len == 0 && whole)
            continue; /* behind the skippable frame: an empty capture */
        for (int transport = MAPPED; transport < (len % 16 == 0 ? TRANSPORTS : DRIBBLED);
             transport++) {
            struct reading reading;

            reading_of_bytes(&reading, packed.bytes, len, (enum transport)transport, 4096, 16);
            check_cut(&reading, image, image_len, whole, (enum transport)transport);
            reading_free(&reading);
        }
    }
    free(packed.bytes);
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (int packing = IMAGE_PLAIN; packing < IMAGE_PACKINGS; packing++) {
        for (int i = 0; i < 6; i++) {
            struct image *const image = image_pcap(pcap_magics[i / 2], i % 2 != 0, 12);

            check_every_cut(image, (enum image_packing)packing, (size_t)i);
            image_free(image);
        }
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            struct image *const image = image_pcapng(big_endian != 0);

            check_every_cut(image, (enum image_packing)packing, (size_t)(2 * big_endian + packing));
            image_free(image);
        }
    }
}

static void test_cut_is_reported_with_its_place(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 100);

    (void)state;
    for (uint64_t n = image->n_packets; image->packets[n - 1].end > 20000; n--)
        image->n_packets = (uint32_t)n;
    image->len = image->packets[image->n_packets - 1].end - 1;

    char text[128];
    const unsigned start = (unsigned)image->packets[image->n_packets - 2].end;
    snprintf(text, sizeof text,
             "ends inside the packet record at byte %u,%03u; what came before was processed",
             start / 1000, start % 1000);
    check_failure(image, SL_ETRUNCATED, image->n_packets - 1, text);
    image->len = 13;
    check_failure(image, SL_ETRUNCATED, 0, "ends inside the pcap file header, after 13 bytes");
    image->len = 3;
    check_failure(image, SL_ETRUNCATED, 0,
                  "ends after 3 bytes (expected a pcap or pcapng capture, plain or compressed with "
                  "gzip, xz or zstd)");
    image_free(image);
}

static void test_last_status_is_repeated(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 5);
    struct sl_capture *capture;
    struct sl_batch *batch;
    char path[32];

    (void)state;
    const int fd = memory_file(image->bytes, image->len - 1, path);
    assert_int_equal(sl_batch_create(&batch, 4096, 16, NULL), SL_OK);
    assert_int_equal(sl_capture_open_file(&capture, path, 0, NULL), SL_OK);
    for (int i = 0; i < 3; i++) {
        struct sl_diag diag = {0};

        assert_int_equal(sl_capture_read(capture, batch, &diag), SL_ETRUNCATED);
        assert_string_equal(diag.file, path);
        assert_non_null(strstr(diag.text, "ends inside the packet record"));
        assert_int_equal(batch->n_items, 4);
    }
    assert_int_equal(sl_capture_read(capture, batch, NULL), SL_ETRUNCATED);
    sl_capture_close(capture);
    sl_batch_free(batch);
    close(fd);
    image_free(image);
}

/* --- Lies --- */

static void test_pcap_record_that_claims_too_much(void **state)
{
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct image *const image = image_pcap(IMAGE_PCAP_NS, big_endian != 0, 3);
        const size_t len = image->len;

        image_64(image, 0);
        image_32(image, SL_CAPTURE_PACKET_MAX + 1);
        image_32(image, 60);
        check_failure(
            image, SL_EFORMAT, 3,
            "the packet record at byte 75 claims 262,145 captured bytes (expected at most "
            "262,144)");
        image->len = len;
        image_64(image, 0);
        image_64(image, UINT64_MAX);
        check_failure(
            image, SL_EFORMAT, 3,
            "the packet record at byte 75 claims 4,294,967,295 captured bytes (expected at "
            "most 262,144)");
        image->len = len;
        image_64(image, 0);
        image_32(image, SL_CAPTURE_PACKET_MAX);
        image_32(image, 60);
        check_failure(image, SL_ETRUNCATED, 3,
                      "ends inside the packet record at byte 75; what came before was processed");
        image_free(image);
    }
}

static void test_longest_packet_is_read(void **state)
{
    struct image *const pcap = image_create(false), *const pcapng = image_create(true);

    (void)state;
    image_pcap_header(pcap, IMAGE_PCAP_US, 4, 1);
    image_section(pcapng);
    image_interface(pcapng, 1, 0, 6, 0);
    for (uint32_t i = 0; i < 5; i++) {
        image_pcap_record(pcap, IMAGE_PCAP_US, i, i, SL_CAPTURE_PACKET_MAX - i, 0);
        image_enhanced(pcapng, 0, 0, SL_CAPTURE_PACKET_MAX - i, 0, true, 0, 1);
        image_simple(pcapng, SL_CAPTURE_PACKET_MAX - i, SL_CAPTURE_PACKET_MAX - i, 1);
    }
    check_image(pcap, 0);
    check_image(pcapng, 0);
    image_free(pcap);
    image_free(pcapng);
}

/* Blocks hold options besides the packet. */
static void test_packet_block_of_a_mebibyte(void **state)
{
    struct image *const image = image_create(false);
    static const char comment[65532];

    (void)state;
    image_section(image);
    image_interface(image, 1, 0, 6, 0);
    for (uint32_t packet = 0; packet < 3; packet++) {
        const size_t begin = image_block(image, IMAGE_ENHANCED);

        image_64(image, 0);
        image_32(image, 0);
        image_32(image, 60);
        image_32(image, 60);
        image_payload(image, 60);
        for (int i = 0; i < 16; i++)
            image_option(image, 1, comment, sizeof comment);
        image_block_end(image, begin);
        image_expect(image, 0, 60, 60, 1);
    }
    check_image(image, 0);
    image_free(image);
}

static void test_unknown_versions(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 1);
    struct image *const ng = image_pcapng(true);

    (void)state;
    image->bytes[4] = 3;
    check_failure(image, SL_EFORMAT, 0, "the file header at byte 0 has version 3.4 (expected 2.x)");
    ng->bytes[13] = 2;
    check_failure(ng, SL_EFORMAT, 0, "the section header at byte 0 has version 2.0 (expected 1.x)");
    ng->bytes[13] = 1;
    ng->bytes[8] = 0x1B;
    check_failure(ng, SL_EFORMAT, 0,
                  "the section header at byte 0 has byte-order magic 0x1b2b3c4d (expected "
                  "0x1a2b3c4d in either order)");
    image_free(image);
    image_free(ng);
}

/* A section, an interface and one packet: 48 + 28 + 36 bytes. Lies come behind. */
static struct image *lying_begin(void)
{
    struct image *const image = image_create(false);

    image_section(image);
    image_interface(image, 1, 0, 6, 0);
    image_enhanced(image, 0, 0, 1, 1, false, 0, 1);
    assert_int_equal(image->len, 112);
    return image;
}

static void lying_end(struct image *image, const char *text)
{
    check_failure(image, SL_EFORMAT, 1, text);
    image_free(image);
}

static void test_pcapng_block_lengths_that_lie(void **state)
{
    static const struct {
        uint32_t type, len;
        const char *text;
    } cases[] = {
        {IMAGE_CUSTOM, 0,
         "the block at byte 112 has a length of 0 (expected a multiple of 4 from 12)"},
        {IMAGE_CUSTOM, 8,
         "the block at byte 112 has a length of 8 (expected a multiple of 4 from 12)"},
        {IMAGE_CUSTOM, 30,
         "the block at byte 112 has a length of 30 (expected a multiple of 4 from 12)"},
        {IMAGE_CUSTOM, 24,
         "the block at byte 112 ends with a length of 36 (expected 24, as it begins)"},
        {IMAGE_ENHANCED, 0xFFFFFFFC,
         "the block at byte 112 has a length of 4,294,967,292 (expected a multiple of 4 from 12 to "
         "16,777,216)"},
        {IMAGE_SECTION, 0xFFFFFFFC,
         "the block at byte 112 has a length of 4,294,967,292 (expected a multiple of 4 from 12 to "
         "16,777,216)"},
        {IMAGE_SIMPLE, 28,
         "the block at byte 112 ends with a length of 23 (expected 28, as it begins)"},
        {IMAGE_ENHANCED, 12, "the packet block at byte 112 has 12 bytes (expected at least 32)"},
        {IMAGE_PACKET, 12, "the packet block at byte 112 has 12 bytes (expected at least 32)"},
        {IMAGE_SIMPLE, 12, "the packet block at byte 112 has 12 bytes (expected at least 16)"},
        {IMAGE_INTERFACE, 12,
         "the interface block at byte 112 has 12 bytes (expected at least 20)"},
        {IMAGE_SECTION, 16, "the section header at byte 112 has 16 bytes (expected at least 28)"},
        {IMAGE_INTERFACE, 16,
         "the interface block at byte 112 has 16 bytes (expected at least 20)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct image *const image = lying_begin();

        image_32(image, cases[i].type);
        image_32(image, cases[i].len);
        image_32(image, cases[i].type == IMAGE_SECTION ? 0x1A2B3C4D : cases[i].len);
        image_32(image, cases[i].len);
        image_32(image, 36);
        image_32(image, 23 + (cases[i].len == 24 ? 13 : 0));
        image_32(image, 23);
        lying_end(image, cases[i].text);
    }
}

static void test_pcapng_packets_that_lie(void **state)
{
    struct image *image = lying_begin();

    (void)state;
    image_enhanced(image, 1, 0, 4, 4, false, 0, 0);
    lying_end(image, "the packet block at byte 112 names interface 1 (expected one of 1)");

    image = lying_begin();
    image_obsolete(image, 65535, 0, 4, 4, 0, 0);
    lying_end(image, "the packet block at byte 112 names interface 65535 (expected one of 1)");

    image = lying_begin();
    image_section(image);
    image_simple(image, 4, 4, 0);
    lying_end(image, "the packet block at byte 160 names interface 0 (expected one of 0)");

    image = lying_begin();
    image_enhanced(image, 0, 0, 4, 4, false, 0, 0);
    image->bytes[112 + 20] = 5;
    lying_end(image, "the packet block at byte 112 claims 5 captured bytes (expected at most 4)");

    image = lying_begin();
    image_simple(image, 4, 9, 0); /* the interface cuts nothing */
    lying_end(image, "the packet block at byte 112 claims 9 captured bytes (expected at most 4)");

    image = lying_begin();
    image_enhanced(image, 0, 0, SL_CAPTURE_PACKET_MAX + 1, 0, false, 0, 0);
    lying_end(image, "the packet block at byte 112 claims 262,145 captured bytes (expected at most "
                     "262,144)");
}

static void test_pcapng_options_that_lie(void **state)
{
    static const struct {
        uint16_t code, len;
        const char *text;
    } cases[] = {
        {2, 5, "option 2 of 5 bytes (expected at most the 4 that are left)"},
        {3, 65535, "option 3 of 65535 bytes (expected at most the 4 that are left)"},
        {9, 2, "option 9 of 2 bytes (expected 1)"},
        {9, 0, "option 9 of 0 bytes (expected 1)"},
        {14, 4, "option 14 of 4 bytes (expected 8)"},
        {14, 8, "option 14 of 8 bytes (expected at most the 4 that are left)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct image *const image = lying_begin();
        const size_t begin = image_block(image, IMAGE_INTERFACE);

        image_64(image, 1);
        image_16(image, cases[i].code);
        image_16(image, cases[i].len);
        image_32(image, 0);
        image_block_end(image, begin);

        char text[128];
        snprintf(text, sizeof text, "the interface block at byte 112 has %s", cases[i].text);
        lying_end(image, text);
    }
}

static void test_pcapng_interfaces_are_bounded(void **state)
{
    struct image *const image = image_create(false);
    struct reading reading;

    (void)state;
    image_section(image);
    for (uint32_t i = 0; i < 65537; i++) {
        const size_t begin = image_block(image, IMAGE_INTERFACE);

        image_64(image, 1);
        image_block_end(image, begin);
    }
    reading_of_bytes(&reading, image->bytes, image->len, MAPPED, 4096, 16);
    assert_int_equal(reading.status, SL_EFORMAT);
    assert_string_equal(reading.diag.text,
                        "the interface block at byte 1,310,768 is one too many (expected at most "
                        "65536 in a section)");
    reading_free(&reading);
    image_free(image);
}

/* A block of almost 4 GiB, of holes, is passed over without being touched. So is one whose trailing
 * length is a lie, and one that ends behind the file. */
static void test_sparse_block_of_4_gib(void **state)
{
    static const uint32_t len = 0xFFFFFFFC;

    (void)state;
    for (int lie = 0; lie < 3; lie++) {
        struct image *const image = lying_begin();
        const off_t end = (off_t)image->len + len;
        struct reading reading;
        char path[32];

        image_32(image, IMAGE_CUSTOM);
        image_32(image, len);

        const int fd = memory_file(image->bytes, image->len, path);
        const uint32_t trailer = len - (lie == 1);
        assert_int_equal(pwrite(fd, &trailer, 4, end - 4), 4);
        assert_int_equal(pwrite(fd, image->bytes + 76, 36 - 8, end), 36 - 8);
        if (lie == 2)
            assert_int_equal(ftruncate(fd, end - 1), 0);
        reading_of_path(&reading, path, 4096, 16);
        assert_int_equal(reading.status, lie == 0   ? SL_ETRUNCATED
                                         : lie == 1 ? SL_EFORMAT
                                                    : SL_ETRUNCATED);
        assert_string_equal(reading.diag.text,
                            lie == 0 ? "ends inside the packet block at byte 4,294,967,404; what "
                                       "came before was processed"
                            : lie == 1
                                ? "the block at byte 112 ends with a length of 4,294,967,291 "
                                  "(expected 4,294,967,292, as it begins)"
                                : "ends inside the block at byte 112; what came before was "
                                  "processed");
        check_packets(&reading, image, 1);
        reading_free(&reading);
        close(fd);
        image_free(image);
    }
}

/* --- Compression --- */

static void check_packed(struct packed packed, enum sl_status status, const struct image *image,
                         uint64_t n, const char *text)
{
    for (int transport = MAPPED; transport < TRANSPORTS; transport++) {
        struct reading reading;

        reading_of_bytes(&reading, packed.bytes, packed.len, (enum transport)transport,
                         READING_ARENA, READING_ITEMS);
        assert_int_equal(reading.status, status);
        if (text != NULL)
            assert_non_null(strstr(reading.diag.text, text));
        if (reading.opened)
            check_packets(&reading, image, n);
        reading_free(&reading);
    }
}

static void test_what_follows_compressed_data(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 30);

    (void)state;
    for (int packing = IMAGE_GZIP; packing < IMAGE_PACKINGS; packing++) {
        struct packed packed = image_pack(image, (enum image_packing)packing);
        const bool gzip = packing == IMAGE_GZIP || packing == IMAGE_GZIP_MEMBERS;

        packed.bytes = realloc(packed.bytes, packed.len + 1000);
        memset(packed.bytes + packed.len, 0, 1000);
        packed.len += 1000;
        if (gzip)
            check_packed(packed, SL_END, image, image->n_packets, NULL); /* padding */
        packed.bytes[packed.len - 1] = 'x';
        check_packed(packed, SL_EFORMAT, image, image->n_packets,
                     gzip ? "corrupt gzip data near byte" : "corrupt zstd data near byte");
        free(packed.bytes);
    }
    image_free(image);
}

static void test_corrupt_gzip_keeps_what_was_decoded(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 30);
    struct packed packed = image_pack(image, IMAGE_GZIP);

    (void)state;
    packed.bytes[packed.len - 5] ^= 1; /* the check sum */
    check_packed(packed, SL_EFORMAT, image, image->n_packets, "incorrect data check");
    packed.bytes[2] = 9; /* no gzip method: no gzip file */
    check_packed(packed, SL_EFORMAT, image, 0, "(begins with 0x1f8b09");
    free(packed.bytes);
    image_free(image);
}

static void test_compressed_emptiness_and_nonsense(void **state)
{
    struct image *const image = image_create(false);

    (void)state;
    for (int packing = IMAGE_GZIP; packing < IMAGE_PACKINGS; packing++) {
        struct packed packed = image_pack(image, (enum image_packing)packing);

        check_packed(packed, SL_EFORMAT, image, 0, "empty file (expected a pcap or pcapng");
        free(packed.bytes);
    }
    image_raw(image, "#!/bin/sh", 9);
    for (int packing = IMAGE_GZIP; packing < IMAGE_PACKINGS; packing++) {
        struct packed packed = image_pack(image, (enum image_packing)packing);

        check_packed(packed, SL_EFORMAT, image, 0, "begins with 0x23212f62 once decompressed;");
        free(packed.bytes);
    }
    image_free(image);
}

static void test_compressed_twice_is_foreign(void **state)
{
    struct image *const image = image_create(false), *const inner = image_pcapng(false);
    struct packed packed = image_pack(inner, IMAGE_GZIP);

    (void)state;
    image_raw(image, packed.bytes, packed.len);
    free(packed.bytes);
    packed = image_pack(image, IMAGE_ZSTD);
    check_packed(packed, SL_EFORMAT, image, 0, "begins with 0x1f8b0800 once decompressed;");
    free(packed.bytes);
    image_free(image);
    image_free(inner);
}

/* A zstd frame that is cut between two blocks. The reader's buffer fills in the middle of the last
 * one, so that the decoder still holds packets when the file has no more. */
static void test_decoder_that_holds_packets(void **state)
{
    struct image *const image = image_create(false);
    ZSTD_CCtx *const zstd = ZSTD_createCCtx();

    (void)state;
    image_pcap_header(image, IMAGE_PCAP_US, 4, 1);
    for (uint32_t i = 0; i < 5; i++)
        image_pcap_record(image, IMAGE_PCAP_US, i, i, 200000, 200000);

    ZSTD_inBuffer in = {image->bytes, image->len, 0};
    ZSTD_outBuffer out = {malloc(image->len), image->len, 0};
    assert_int_equal(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush), 0);
    check_packed((struct packed){out.dst, out.pos}, SL_ETRUNCATED, image, 5,
                 "the zstd data ends early, at byte");
    ZSTD_freeCCtx(zstd);
    free(out.dst);
    image_free(image);
}

/* --- What is no capture file --- */

#define EXPECTED_CAPTURE \
    "expected a pcap or pcapng capture, plain or compressed with gzip, xz or zstd)"
#define EXPECTED "expected one, plain or compressed with gzip, xz or zstd)"

static void test_foreign_files(void **state)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"", "empty file (" EXPECTED_CAPTURE},
        {"x", "not a pcap or pcapng capture (begins with 0x78; " EXPECTED},
        {"BZh91AY", "not a pcap or pcapng capture (begins with 0x425a6839; " EXPECTED},
        {"7z\xBC\xAF", "not a pcap or pcapng capture (begins with 0x377abcaf; " EXPECTED},
        {"snoop", "not a pcap or pcapng capture (begins with 0x736e6f6f; " EXPECTED},
        {"\x1F\x8A", "not a pcap or pcapng capture (begins with 0x1f8a; " EXPECTED},
        {"\x1F\x8B", "ends after 2 bytes (" EXPECTED_CAPTURE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct image *const image = image_create(false);

        image_raw(image, cases[i].bytes, strlen(cases[i].bytes));
        check_failure(
            image, cases[i].text[0] == 'e' && cases[i].text[1] == 'n' ? SL_ETRUNCATED : SL_EFORMAT,
            0, cases[i].text);
        image_free(image);
    }
}

static void test_what_cannot_be_opened(void **state)
{
    struct reading reading;

    (void)state;
    reading_of_path(&reading, "/nonexistent/a.pcap", 4096, 16);
    assert_int_equal(reading.status, SL_EIO);
    assert_string_equal(reading.diag.file, "/nonexistent/a.pcap");
    assert_string_equal(reading.diag.text, "cannot be opened: No such file or directory");
    reading_of_path(&reading, "/", 4096, 16);
    assert_int_equal(reading.status, SL_EIO);
    assert_string_equal(reading.diag.text, "cannot be read: it is a directory");
}

/* --- Standard input --- */

static void check_stdin(int fd, const struct image *image, enum sl_status status, uint64_t n)
{
    struct reading reading;
    const int kept = dup(STDIN_FILENO);

    assert_true(dup2(fd, STDIN_FILENO) >= 0);
    reading_of_path(&reading, "-", 4096, 16);
    dup2(kept, STDIN_FILENO);
    close(kept);
    assert_int_equal(reading.status, status);
    if (status == SL_END)
        check_packets(&reading, image, n);
    else
        assert_string_equal(reading.diag.file, "standard input");
    reading_free(&reading);
}

/* A file there is read from where it stands. */
static void test_standard_input(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 22);
    char path[32];

    (void)state;
    const int fd = memory_file("shebang", 7, path);
    assert_int_equal(write(fd, image->bytes, image->len), image->len);
    lseek(fd, 7, SEEK_SET);
    check_stdin(fd, image, SL_END, image->n_packets);
    lseek(fd, 0, SEEK_SET);
    check_stdin(fd, image, SL_EFORMAT, 0);
    close(fd);
    image_free(image);
}

/* --- Pipes that are slow, and stopping --- */

struct pipe_capture {
    struct sl_capture *capture;
    struct sl_batch *batch;
    int write_fd;
};

/* Opens a pipe into which the image's header was written. */
static struct pipe_capture open_pipe(const struct image *image)
{
    struct pipe_capture opened;
    char path[32];
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], image->bytes, image->header_len), image->header_len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(sl_capture_open_file(&opened.capture, path, 0, NULL), SL_OK);
    assert_string_equal(sl_capture_name(opened.capture), path);
    assert_int_equal(sl_batch_create(&opened.batch, 4096, 64, NULL), SL_OK);
    close(ends[0]);
    opened.write_fd = ends[1];
    return opened;
}

static void close_pipe(struct pipe_capture *opened)
{
    sl_capture_close(opened->capture);
    sl_batch_free(opened->batch);
    close(opened->write_fd);
}

/* Packets of a slow writer are delivered without waiting for a full batch. */
static void test_slow_pipe_gives_what_came(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 10);
    struct pipe_capture opened = open_pipe(image);
    size_t done = image->header_len;

    (void)state;
    for (uint32_t i = 0; i < image->n_packets; i++) {
        const size_t until = image->packets[i].end + 5; /* and some of the next */
        const size_t len = (until < image->len ? until : image->len) - done;

        assert_int_equal(write(opened.write_fd, image->bytes + done, len), len);
        done += len;

        const uint64_t begin = clock_ns();
        assert_int_equal(sl_capture_read(opened.capture, opened.batch, NULL), SL_OK);
        assert_in_range(clock_ns() - begin, 50000000, UINT64_C(60000000000));
        assert_int_equal(opened.batch->n_items, i + 1);
    }
    assert_int_equal(sl_capture_read(opened.capture, opened.batch, NULL), SL_OK);
    assert_int_equal(opened.batch->n_items, image->n_packets);
    close_pipe(&opened);
    image_free(image);
}

struct writer {
    const struct image *image;
    int fd;
};

/* A packet a millisecond. */
static void *write_slowly(void *argument)
{
    const struct writer *writer = argument;
    size_t done = writer->image->header_len;

    for (uint32_t i = 0; i < writer->image->n_packets; i++) {
        const size_t len = writer->image->packets[i].end - done;

        if (write(writer->fd, writer->image->bytes + done, len) != (ssize_t)len)
            abort();
        done += len;
        usleep(1000);
    }
    return NULL;
}

/* Neither a full batch nor a pause of the writer is waited for. */
static void test_latency_closes_batches(void **state)
{
    enum { LATENCY_MS = 5, NS_PER_MS = 1000000 };
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 300);
    struct pipe_capture opened = open_pipe(image);
    struct writer writer = {image, opened.write_fd};
    const uint64_t begin = clock_ns();
    uint64_t shortest = UINT64_MAX;
    uint32_t n = 0;
    pthread_t thread;

    (void)state;
    assert_int_equal(sl_capture_limit_latency(opened.capture, LATENCY_MS * UINT64_C(1000000), NULL),
                     SL_OK);
    sl_batch_free(opened.batch);
    assert_int_equal(sl_batch_create(&opened.batch, 1 << 20, 1000, NULL), SL_OK);
    pthread_create(&thread, NULL, write_slowly, &writer);
    while (n < image->n_packets) {
        sl_batch_reset(opened.batch);
        assert_int_equal(sl_capture_read(opened.capture, opened.batch, NULL), SL_OK);

        const uint64_t now = clock_ns();
        for (uint32_t i = 0; i < opened.batch->n_items; i++)
            assert_in_range(opened.batch->origin[i].arrival_ns, begin, now);
        if (opened.batch->n_items != 0) {
            const uint64_t waited = now - opened.batch->origin[0].arrival_ns;

            if (waited >= LATENCY_MS * NS_PER_MS && waited < shortest)
                shortest = waited;
        }
        n += opened.batch->n_items;
    }
    /* The machine may be busy: a read in which nothing came for long ends with the first packet. */
    assert_true(shortest < INPUT_WAIT_MS / 2 * NS_PER_MS);
    pthread_join(thread, NULL);
    close_pipe(&opened);
    image_free(image);
}

static struct sl_capture *stopped_by_signal;

static void on_alarm(int number)
{
    (void)number;
    sl_capture_stop(stopped_by_signal);
}

static void *stop_soon(void *capture)
{
    usleep(20000);
    sl_capture_stop(capture);
    return NULL;
}

static void check_stop(struct pipe_capture *opened, uint32_t n_items)
{
    const uint64_t begin = clock_ns();
    enum sl_status status;

    do
        status = sl_capture_read(opened->capture, opened->batch, NULL);
    while (status == SL_OK && clock_ns() - begin < 60 * UINT64_C(1000000000));
    assert_int_equal(status, SL_END);
    assert_int_equal(opened->batch->n_items, n_items);
    assert_int_equal(sl_capture_read(opened->capture, opened->batch, NULL), SL_END);
}

/* The pipe stays open and silent; half a packet is no truncation then. */
static void test_stop_from_a_signal_handler(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 10);
    struct pipe_capture opened = open_pipe(image);
    const struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    struct sigaction before;

    (void)state;
    assert_int_equal(write(opened.write_fd, image->bytes + image->header_len,
                           image->packets[2].end + 3 - image->header_len),
                     image->packets[2].end + 3 - image->header_len);
    stopped_by_signal = opened.capture;
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &soon, NULL);
    check_stop(&opened, 3);
    sigaction(SIGALRM, &before, NULL);
    close_pipe(&opened);
    image_free(image);
}

static int leased_fd;

static void give_lease_up(int number)
{
    (void)number;
    (void)fcntl(leased_fd, F_SETLEASE, F_UNLCK);
}

/* As a file server holds one on what its clients have open. */
static void test_a_lease_is_waited_for(void **state)
{
    struct sigaction action = {.sa_handler = give_lease_up, .sa_flags = SA_RESTART}, before;
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 2);
    struct sl_capture *capture;
    char path[] = "/tmp/sluice-lease-XXXXXX";

    (void)state;
    leased_fd = mkstemp(path);
    assert_int_equal(write(leased_fd, image->bytes, image->len), image->len);
    image_free(image);
    sigaction(SIGIO, &action, &before);
    const bool leased = fcntl(leased_fd, F_SETLEASE, F_WRLCK) == 0;
    if (leased) {
        assert_int_equal(sl_capture_open_file(&capture, path, 0, NULL), SL_OK);
        sl_capture_close(capture);
    }
    sigaction(SIGIO, &before, NULL);
    close(leased_fd);
    (void)unlink(path);
    if (!leased)
        test_skip("the folder for temporary files has no leases");
}

static void test_stop_from_another_thread(void **state)
{
    struct image *const image = image_pcap(IMAGE_PCAP_US, false, 10);
    struct pipe_capture opened = open_pipe(image);
    pthread_t thread;

    (void)state;
    pthread_create(&thread, NULL, stop_soon, opened.capture);
    check_stop(&opened, 0);
    pthread_join(thread, NULL);
    close_pipe(&opened);
    image_free(image);
}

/* Neither a named pipe's writer nor its header is waited for; its bytes that come meanwhile are
 * kept. */
static void test_pipe_without_its_header(void **state)
{
    struct pipe_capture opened;
    char path[] = "/tmp/sluice-fifo-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(path));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(sl_batch_create(&opened.batch, 4096, 64, NULL), SL_OK);
    for (int form = 0; form < 2; form++) {
        struct image *const image =
            form == 0 ? image_pcap(IMAGE_PCAP_US, false, 2) : image_pcapng(false);
        const size_t ends[] = {0, 0, 2, 5, image->header_len - 1, image->packets[0].end};

        sl_batch_reset(opened.batch);
        assert_int_equal(sl_capture_open_file(&opened.capture, path, 0, NULL), SL_OK);
        assert_int_equal(sl_capture_read(opened.capture, opened.batch, NULL), SL_OK);
        opened.write_fd = open(path, O_WRONLY | O_CLOEXEC);
        for (size_t i = 1; i < sizeof ends / sizeof ends[0]; i++) {
            const size_t len = ends[i] - ends[i - 1];

            assert_int_equal(opened.batch->n_items, 0);
            assert_int_equal(write(opened.write_fd, image->bytes + ends[i - 1], len), len);
            assert_int_equal(sl_capture_read(opened.capture, opened.batch, NULL), SL_OK);
        }
        assert_int_equal(opened.batch->n_items, 1);
        sl_capture_close(opened.capture);
        close(opened.write_fd);
        image_free(image);
    }
    sl_batch_free(opened.batch);
    unlink(path);
}

static void test_stop_before_the_header(void **state)
{
    struct pipe_capture opened;
    char path[32];
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    opened.write_fd = ends[1];
    assert_int_equal(sl_batch_create(&opened.batch, 4096, 64, NULL), SL_OK);
    assert_int_equal(sl_capture_open_file(&opened.capture, path, 0, NULL), SL_OK);
    assert_int_equal(write(ends[1], "\xA1\xB2", 2), 2);
    assert_int_equal(sl_capture_read(opened.capture, opened.batch, NULL), SL_OK);
    sl_capture_stop(opened.capture);
    check_stop(&opened, 0);
    close(ends[0]);
    close_pipe(&opened);
}

/* --- Large files --- */

enum { LARGE_RECORD = 256 << 10, LARGE_RECORDS = 1024 };

/* 256 MiB of records that are mostly holes, on disk. */
static int large_file(char path[32])
{
    char name[] = "/tmp/sluice-test-XXXXXX";
    const int fd = mkostemp(name, O_CLOEXEC);
    struct image *const image = image_create(false);

    assert_true(fd >= 0);
    unlink(name);
    image_pcap_header(image, IMAGE_PCAP_US, 4, 1);
    assert_int_equal(write(fd, image->bytes, image->len), image->len);
    image->len = 0;
    image_64(image, 0);
    image_32(image, LARGE_RECORD - 16);
    image_32(image, LARGE_RECORD - 16);
    for (off_t i = 0; i < LARGE_RECORDS; i++)
        assert_int_equal(pwrite(fd, image->bytes, image->len, 24 + i * LARGE_RECORD), image->len);
    assert_int_equal(ftruncate(fd, 24 + (off_t)LARGE_RECORDS * LARGE_RECORD), 0);
    image_free(image);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

/* Of mapped files, in memory file systems too. */
static size_t resident_file_kib(void)
{
    FILE *const status = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;

    assert_non_null(status);
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "RssFile:", 8) == 0 || strncmp(line, "RssShmem:", 9) == 0)
            kib += strtoul(strchr(line, ':') + 1, NULL, 10);
    fclose(status);
    return kib;
}

static void test_mapped_pages_are_given_back(void **state)
{
    struct sl_capture_stats stats;
    struct sl_capture *capture;
    struct sl_batch *batch;
    enum sl_status status;
    char path[32];
    size_t most = 0;

    (void)state;
    const int fd = large_file(path);
    const size_t before = resident_file_kib();
    assert_int_equal(sl_batch_create(&batch, 4 << 20, 64, NULL), SL_OK);
    assert_int_equal(sl_capture_open_file(&capture, path, 0, NULL), SL_OK);
    do {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, NULL);

        const size_t now = resident_file_kib();
        most = now > most ? now : most;
    } while (status == SL_OK);
    assert_int_equal(status, SL_END);
    sl_capture_stats(capture, &stats);
    assert_int_equal(stats.packets, LARGE_RECORDS);
    assert_in_range(most, 0, before + (16 << 10));
    sl_capture_close(capture);
    sl_batch_free(batch);
    close(fd);
}

/* Others may cut a mapped file while it is read; that is a status, not a SIGBUS. */
static void test_file_that_shrinks(void **state)
{
    struct sl_capture *capture;
    struct sl_batch *batch;
    struct sl_diag diag;
    enum sl_status status;
    char path[32];

    (void)state;
    const int fd = large_file(path);
    void *const page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    const int populates = madvise(page, 4096, MADV_POPULATE_READ);
    munmap(page, 4096);
    if (populates != 0) {
        close(fd);
        test_skip("this kernel has no MADV_POPULATE_READ");
    }
    assert_int_equal(sl_batch_create(&batch, LARGE_RECORD, 64, NULL), SL_OK);
    assert_int_equal(sl_capture_open_file(&capture, path, 0, NULL), SL_OK);
    assert_int_equal(sl_capture_read(capture, batch, NULL), SL_OK);
    assert_int_equal(ftruncate(fd, 64 << 20), 0);
    do {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, &diag);
    } while (status == SL_OK);
    assert_int_equal(status, SL_EIO);
    assert_string_equal(diag.text, "shrank from 268,435,480 to 67,108,864 bytes while it was read");
    sl_capture_close(capture);
    sl_batch_free(batch);
    close(fd);
}

static void test_stop_ends_a_file(void **state)
{
    struct sl_capture_stats stats;
    struct sl_capture *capture;
    struct sl_batch *batch;
    enum sl_status status;
    char path[32];

    (void)state;
    const int fd = large_file(path);
    assert_int_equal(sl_batch_create(&batch, LARGE_RECORD, 64, NULL), SL_OK);
    assert_int_equal(sl_capture_open_file(&capture, path, 0, NULL), SL_OK);
    assert_int_equal(sl_capture_read(capture, batch, NULL), SL_OK);
    sl_capture_stop(capture);
    do {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, NULL);
    } while (status == SL_OK);
    assert_int_equal(status, SL_END);
    sl_capture_stats(capture, &stats);
    assert_in_range(stats.packets, 1, LARGE_RECORDS / 2);
    sl_capture_close(capture);
    sl_batch_free(batch);
    close(fd);
}

static void test_close_accepts_nothing(void **state)
{
    (void)state;
    sl_capture_close(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pcap_of_every_order_and_resolution),
        cmocka_unit_test(test_pcapng_of_every_block),
        cmocka_unit_test(test_files_without_packets),
        cmocka_unit_test(test_pcapng_resolutions),
        cmocka_unit_test(test_link_types_in_files),
        cmocka_unit_test(test_old_pcap_with_lengths_in_either_order),
        cmocka_unit_test(test_pcap_times_at_their_limits),
        cmocka_unit_test(test_link_type_names),
        cmocka_unit_test(test_link_types_of_interfaces),
        cmocka_unit_test(test_batch_boundaries_change_nothing),
        cmocka_unit_test(test_packet_that_no_batch_holds_waits),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_cut_is_reported_with_its_place),
        cmocka_unit_test(test_last_status_is_repeated),
        cmocka_unit_test(test_pcap_record_that_claims_too_much),
        cmocka_unit_test(test_longest_packet_is_read),
        cmocka_unit_test(test_packet_block_of_a_mebibyte),
        cmocka_unit_test(test_unknown_versions),
        cmocka_unit_test(test_pcapng_block_lengths_that_lie),
        cmocka_unit_test(test_pcapng_packets_that_lie),
        cmocka_unit_test(test_pcapng_options_that_lie),
        cmocka_unit_test(test_pcapng_interfaces_are_bounded),
        cmocka_unit_test(test_sparse_block_of_4_gib),
        cmocka_unit_test(test_what_follows_compressed_data),
        cmocka_unit_test(test_corrupt_gzip_keeps_what_was_decoded),
        cmocka_unit_test(test_compressed_emptiness_and_nonsense),
        cmocka_unit_test(test_compressed_twice_is_foreign),
        cmocka_unit_test(test_decoder_that_holds_packets),
        cmocka_unit_test(test_foreign_files),
        cmocka_unit_test(test_what_cannot_be_opened),
        cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_slow_pipe_gives_what_came),
        cmocka_unit_test(test_latency_closes_batches),
        cmocka_unit_test(test_stop_from_a_signal_handler),
        cmocka_unit_test(test_a_lease_is_waited_for),
        cmocka_unit_test(test_stop_from_another_thread),
        cmocka_unit_test(test_pipe_without_its_header),
        cmocka_unit_test(test_stop_before_the_header),
        cmocka_unit_test(test_mapped_pages_are_given_back),
        cmocka_unit_test(test_file_that_shrinks),
        cmocka_unit_test(test_stop_ends_a_file),
        cmocka_unit_test(test_close_accepts_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
