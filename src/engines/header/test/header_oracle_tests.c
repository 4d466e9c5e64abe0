/* SPDX-License-Identifier: MIT */
/* The backend against the oracle: mutants, uniform bytes, guard pages and captures. */
#include "test.h"

#include <dirent.h>
#include <sys/mman.h>

#include "dissect/test/frame_samples.h"
#include "header_ref.h"
#include "header_rig.h"
#include "sluice/capture.h"
#include "sluice/dissect.h"

/* What is asked of one packet. */
static void compare_alone(const struct rig *rig, const struct sl_batch *batch, uint32_t item,
                          uint64_t expected)
{
    const uint64_t sums = UINT64_C(1) << SL_HEADER_IPV4_CHECKSUM | UINT64_C(1)
                                                                       << SL_HEADER_TCP_CHECKSUM;

    if (sl_header_tripped(rig->table, batch, item) != expected ||
        sl_header_tcp_is_damaged(rig->table, batch, item) != ((expected & sums) != 0))
        fail_msg("packet %u: alone it trips %#llx, checksums %d, the oracle says %#llx", item,
                 (unsigned long long)sl_header_tripped(rig->table, batch, item),
                 sl_header_tcp_is_damaged(rig->table, batch, item), (unsigned long long)expected);
}

static void compare_packet(const struct rig *rig, const struct sl_batch *batch, uint32_t item,
                           const struct sl_hits *hits, size_t *h)
{
    const struct sl_packet *packet = &batch->packet[item];
    uint32_t offsets[SL_N_HEADER_CHECKS];
    const uint64_t expected =
        header_ref_checks(&rig->config, packet, batch->bytes + packet->offset, offsets);
    uint64_t tripped = 0;

    compare_alone(rig, batch, item, expected);

    for (; *h < hits->n && hits->hit[*h].item == item; ++*h) {
        const struct sl_hit *hit = &hits->hit[*h];

        tripped |= UINT64_C(1) << hit->id;
        if ((expected >> hit->id & 1) != 0 && offsets[hit->id] != hit->offset)
            fail_msg("packet %u: %s at %u, the oracle says %u", item,
                     sl_header_check_name((enum sl_header_check)hit->id), hit->offset,
                     offsets[hit->id]);
    }
    if (tripped == expected)
        return;
    for (uint32_t i = 0; i < packet->len && i < 160; i++)
        print_error("%02x%s", batch->bytes[packet->offset + i], i % 16 == 15 ? "\n" : " ");
    fail_msg("packet %u (network %u, transport %u, protocol %u, flags %#x, defect %s): "
             "tripped %#llx, the oracle says %#llx",
             item, packet->network, packet->transport, packet->protocol, packet->flags,
             sl_defect_name((enum sl_defect)packet->defect), (unsigned long long)tripped,
             (unsigned long long)expected);
}

static size_t compare_batch(struct rig *rig, const struct sl_batch *batch)
{
    const struct sl_hits hits = rig_hits(rig, batch);
    size_t h = 0;

    for (uint32_t i = 0; i < batch->n_items; i++)
        compare_packet(rig, batch, i, &hits, &h);
    assert_int_equal(h, hits.n);
    return hits.n;
}

/* Values that checks and lengths turn on. */
static uint8_t boundary_byte(uint64_t *seed)
{
    static const uint8_t boundary[] = {0,    1,    2,    4,    6,    8,    0x11, 0x20, 0x29, 0x2B,
                                       0x2C, 0x3A, 0x40, 0x45, 0x46, 0x60, 0x80, 0x83, 0x89, 10,
                                       0xFD, 0xFF, 172,  192,  168,  224,  50,   51,   60};

    return test_below(seed, 2) ? boundary[test_below(seed, sizeof boundary)]
                               : (uint8_t)test_random(seed);
}

static void mutate(struct frame *f, uint64_t *seed)
{
    const uint32_t reach = f->len < 120 ? f->len : 120;

    for (uint32_t n = test_below(seed, 5); n > 0; n--)
        f->byte[test_below(seed, reach)] = boundary_byte(seed);
    if (test_below(seed, 16) == 0 && reach > 32) /* equal addresses, and IPv4-mapped ones */
        memcpy(f->byte + test_below(seed, reach - 16), f->byte + test_below(seed, reach - 16), 16);
    if (test_below(seed, 16) == 0 && reach > 60)
        memcpy(f->byte + 14 + test_below(seed, 2) * 16 + 8, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF\x0A", 13);
}

static void add_mutant(struct sl_batch *batch, uint64_t *seed)
{
    static struct frame f;
    const uint32_t pick = test_below(seed, n_samples + n_header_trials);
    uint16_t link_type = ETHERNET;

    f.len = 0;
    if (pick < n_samples) {
        samples[pick].build(&f);
        link_type = samples[pick].link_type;
    } else {
        trial_build(&header_trials[pick - n_samples], &f);
    }
    if (f.len > 2000)
        f.len = 2000;
    mutate(&f, seed);
    if (test_below(seed, 8) == 0)
        f.len = test_below(seed, f.len + 1);

    const uint32_t wire_len = f.len + (test_below(seed, 8) == 0 ? test_below(seed, 64) : 0);
    if (test_below(seed, 2))
        header_seal(f.byte, f.len, wire_len, link_type);
    rig_add_packet(batch, f.byte, f.len, wire_len, link_type);
}

static void test_mutants(void **state)
{
    struct sl_net home[3];
    struct sl_header_config config = {.checks = SL_HEADER_ALL, .home = home, .n_home = 3};
    struct sl_batch *batch = rig_new_batch();
    uint64_t seed = 20170401;
    uint64_t n_packets = 0;
    uint64_t n_hits = 0;
    struct rig rig;

    (void)state;
    assert_int_equal(sl_net_parse(&home[0], "203.0.113.0/29", 14), SL_OK);
    assert_int_equal(sl_net_parse(&home[1], "2001:db8::/64", 13), SL_OK);
    assert_int_equal(sl_net_parse(&home[2], "10.0.0.0/30", 11), SL_OK);
    rig_open(&rig, &config);
    for (int round = 0; round < 60; round++) {
        sl_batch_reset(batch);
        for (int i = 0; i < 10000 && sl_batch_fits(batch, 2000); i++)
            add_mutant(batch, &seed);
        rig_dissect(batch);
        n_packets += batch->n_items;
        n_hits += compare_batch(&rig, batch);
    }
    assert_true(n_packets > 300000);
    assert_true(n_hits > n_packets / 4);
    rig_close(&rig);
    sl_batch_free(batch);
}

static void test_uniform_bytes(void **state)
{
    static const uint16_t links[] = {0, 1, 9, 101, 113, 276};
    struct sl_batch *batch = rig_new_batch();
    static uint8_t bytes[300];
    struct rig rig;

    (void)state;
    rig_open_all(&rig);
    for (int value = 0; value <= 255;
         value += value == 0 || value == 0x60 || value == 0x45 ? 1 : 3) {
        sl_batch_reset(batch);
        memset(bytes, value, sizeof bytes);
        for (uint32_t len = 0; len < sizeof bytes; len++)
            for (size_t i = 0; i < sizeof links / sizeof *links; i++)
                rig_add_packet(batch, bytes, len, len, links[i]);
        rig_dissect(batch);
        compare_batch(&rig, batch);
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

enum { PAGE = 4096, GUARDED = 4 * PAGE };

/* Pages to read and write, one before and one behind them that cannot be touched. */
static uint8_t *guarded_pages(void)
{
    uint8_t *pages = mmap(NULL, GUARDED + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, GUARDED, PROT_READ | PROT_WRITE), 0);
    return pages + PAGE;
}

/* The arena begins at the guarded pages' first byte, or its slack ends at their last. */
static void compare_guarded(struct rig *rig, const struct sl_batch *batch, uint8_t *pages)
{
    struct sl_batch view = *batch;

    view.bytes = pages;
    memcpy(view.bytes, batch->bytes, batch->bytes_len);
    compare_batch(rig, &view);
    view.bytes = pages + GUARDED - SL_BATCH_SLACK - batch->bytes_len;
    memcpy(view.bytes, batch->bytes, batch->bytes_len);
    compare_batch(rig, &view);
}

static void test_guard_pages(void **state)
{
    struct sl_batch *batch = rig_new_batch();
    uint64_t seed = 7;
    struct rig rig;

    (void)state;
    if (header_backend->device == SL_DEVICE_CUDA) {
        sl_batch_free(batch);
        test_skip("device memory has no guard pages");
    }
    uint8_t *pages = guarded_pages();
    rig_open_all(&rig);
    for (uint32_t len = 0; len <= 400; len++) {
        sl_batch_reset(batch);
        rig_add_udp(batch, len % 34, len, len % 2 != 0, &seed);
        compare_guarded(&rig, batch, pages);
        batch->packet[0].len = len % 34 + 28 + len; /* nothing behind the datagram */
        compare_guarded(&rig, batch, pages);
    }
    for (uint32_t i = 0; i < 4000; i++) {
        sl_batch_reset(batch);
        add_mutant(batch, &seed);
        rig_dissect(batch);
        compare_guarded(&rig, batch, pages);
    }
    munmap(pages - PAGE, GUARDED + 2 * PAGE);
    rig_close(&rig);
    sl_batch_free(batch);
}

static void compare_capture(struct rig *rig, struct sl_batch *batch, const char *path,
                            uint64_t *n_packets)
{
    struct sl_capture *capture = NULL;
    enum sl_status status = SL_OK;
    struct sl_diag diag;

    if (sl_capture_open_file(&capture, path, 0, &diag) != SL_OK)
        return; /* the folder holds broken captures too */
    while (status == SL_OK) {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, &diag);
        rig_dissect(batch);
        *n_packets += batch->n_items;
        compare_batch(rig, batch);
    }
    sl_capture_close(capture);
}

static void test_captures(void **state)
{
    const char *data = test_data();
    struct sl_batch *batch;
    uint64_t n_packets = 0;
    struct rig rig;
    char path[1024];

    (void)state;
    snprintf(path, sizeof path, "%s/pcap", data);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    batch = rig_new_batch();
    rig_open_all(&rig);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/pcap/%s", data, entry->d_name);
        if (entry->d_name[0] != '.')
            compare_capture(&rig, batch, path, &n_packets);
    }
    assert_true(n_packets > 0);
    closedir(folder);
    rig_close(&rig);
    sl_batch_free(batch);
}

int header_oracle_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform_bytes),
        cmocka_unit_test(test_guard_pages),
        cmocka_unit_test(test_mutants),
        cmocka_unit_test(test_captures),
    };

    return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
