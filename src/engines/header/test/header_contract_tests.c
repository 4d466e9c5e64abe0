/* SPDX-License-Identifier: MIT */
/* The promises of every engine, and sums of every length and alignment. */
#include "test.h"

#include "base/bytes.h"
#include "device/test/engine_fixture.h"
#include "header_rig.h"
#include "sluice/dissect.h"

/* A packet of n_hits hits: TTL 0, and if two, a reserved flag. */
static void add_bad_packet(struct sl_batch *batch, unsigned n_hits)
{
    static struct frame frame;

    frame.len = 0;
    frame_ethernet(&frame, 0x0800);
    const uint32_t ip = frame_ipv4(&frame, SL_IP_UDP, 0);
    frame_udp(&frame, 1, 2, 0);
    frame_end_ipv4(&frame, ip);
    frame.byte[ip + 8] = n_hits >= 1 ? 0 : 64;
    frame.byte[ip + 6] = n_hits >= 2 ? 0x80 : 0;
    header_seal(frame.byte, frame.len, frame.len, ETHERNET);
    rig_add_packet(batch, frame.byte, frame.len, frame.len, ETHERNET);
}

static void test_batches_of_all_sizes(void **state)
{
    struct sl_batch *batch = rig_new_batch();
    struct rig rig;

    (void)state;
    rig_open_all(&rig);
    for (uint32_t n = 0; n <= 100; n++) {
        sl_batch_reset(batch);
        for (uint32_t i = 0; i < n; i++)
            add_bad_packet(batch, 1);
        rig_dissect(batch);

        const struct sl_hits hits = rig_hits(&rig, batch);
        assert_int_equal(hits.n, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(hits.hit[i].item, i);
            assert_int_equal(hits.hit[i].id, SL_HEADER_TTL_ZERO);
        }
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

static void check_overflow(struct rig *rig, const struct sl_batch *batch, size_t cap, size_t n)
{
    struct sl_hit memory[16];
    struct sl_hits hits = {.hit = memory, .cap = cap, .n = 12345};

    assert_true(cap < 16);
    memset(memory, 0xAA, sizeof memory);
    assert_int_equal(rig_run(rig, batch, &hits), n > cap ? SL_EOVERFLOW : SL_OK);
    assert_int_equal(hits.n, n);
    for (size_t i = 0; i < 16; i++) /* they are hits of the batch, and nothing more */
        if (i < (n < cap ? n : cap))
            assert_true(
                memory[i].item < batch->n_items &&
                (memory[i].id == SL_HEADER_TTL_ZERO || memory[i].id == SL_HEADER_IP_RESERVED_FLAG));
        else
            assert_int_equal(memory[i].item, 0xAAAAAAAA);
}

static void test_overflow(void **state)
{
    struct sl_batch *batch = rig_new_batch();
    struct rig rig;
    size_t n = 0;

    (void)state;
    rig_open_all(&rig);
    check_overflow(&rig, batch, 0, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        add_bad_packet(batch, i % 3);
        n += i % 3;
        rig_dissect(batch);
        if (n < 20 || i % 97 == 0)
            for (size_t cap = 0; cap < 16; cap++)
                check_overflow(&rig, batch, cap, n);
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

static void test_wrong_calls(void **state)
{
    struct sl_batch *batch = rig_new_batch();
    struct sl_hit hit[8];
    struct sl_hits hits = {.hit = hit, .cap = 8};
    struct sl_diag diag = {.text = ""};
    void *context = NULL;
    struct rig rig;

    (void)state;
    rig_open_all(&rig);
    engine_refuses(header_backend, rig.context, &rig_limits);

    add_bad_packet(batch, 1);
    struct sl_batch lean = *batch;
    lean.memory = header_backend->device == SL_DEVICE_CUDA ? SL_MEMORY_DEVICE : SL_MEMORY_HOST;
    lean.packet = NULL;
    assert_int_equal(header_backend->submit(rig.context, &lean, &hits), SL_EINVAL);
    header_backend->close(NULL);

    const uint64_t foreign[512] = {1};
    assert_int_equal(
        sl_engine_open(&context, sl_header_engine(), header_backend, foreign, &rig_limits, &diag),
        SL_EINVAL);
    assert_string_not_equal(diag.text, "");
    rig_close(&rig);
    sl_batch_free(batch);
}

/* ---- checksums ------------------------------------------------------------------------------- */

static void test_checksum_lengths_and_alignments(void **state)
{
    struct sl_batch *batch = rig_new_batch();
    uint64_t seed = 1;
    struct rig rig;

    (void)state;
    rig_open_all(&rig);
    for (uint32_t begin = 0; begin < 34; begin++) {
        sl_batch_reset(batch);
        for (uint32_t len = 0; len <= 2000; len += begin < 2 || len < 260 ? 1 : 17) {
            if (!sl_batch_fits(batch, 2 * 2200))
                break;
            rig_add_udp(batch, begin, len, false, &seed);
            rig_add_udp(batch, begin, len, true, &seed);
        }
        assert_true(batch->n_items > 700);

        const struct sl_hits hits = rig_hits(&rig, batch);
        assert_int_equal(hits.n, batch->n_items / 2);
        for (uint32_t i = 0; i < hits.n; i++) {
            assert_int_equal(hits.hit[i].item, 2 * i + 1);
            assert_int_equal(hits.hit[i].id, SL_HEADER_UDP_CHECKSUM);
            assert_int_equal(hits.hit[i].offset, begin + 26);
        }
    }
    rig_close(&rig);
    sl_batch_free(batch);
}

/* All bytes 0xFF is the largest sum of the longest datagram: nothing overflows. */
static void test_largest_sum(void **state)
{
    static uint8_t bytes[65535];
    struct sl_batch *batch = rig_new_batch();
    struct rig rig;

    (void)state;
    memset(bytes, 0xFF, sizeof bytes);
    memset(bytes, 0, 20);
    bytes[0] = 0x45;
    bytes[8] = 1;
    bytes[9] = SL_IP_UDP;
    store_be16(bytes + 2, 65535);
    store_be32(bytes + 12, 0x01020304);
    store_be32(bytes + 16, 0x05060708);
    store_be16(bytes + 24, 65515);
    header_seal(bytes, sizeof bytes, sizeof bytes, 101);
    rig_add_packet(batch, bytes, sizeof bytes, sizeof bytes, 101);
    bytes[65534] = 0xFE;
    rig_add_packet(batch, bytes, sizeof bytes, sizeof bytes, 101);
    rig_dissect(batch);
    rig_open_all(&rig);

    const struct sl_hits hits = rig_hits(&rig, batch);
    assert_int_equal(hits.n, 1);
    assert_int_equal(hits.hit[0].item, 1);
    assert_int_equal(hits.hit[0].id, SL_HEADER_UDP_CHECKSUM);
    rig_close(&rig);
    sl_batch_free(batch);
}

int header_contract_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_of_all_sizes),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_checksum_lengths_and_alignments),
        cmocka_unit_test(test_largest_sum),
    };

    return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
