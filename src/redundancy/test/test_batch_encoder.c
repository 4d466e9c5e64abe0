/* SPDX-License-Identifier: MIT */
/* Batches to frames: the decoder restores the packets, and all backends write the same bytes.
 *   test_batch_encoder tiled|cuda */
#include <xxhash.h>

#include "device/device.h"
#include "redundancy/batches/batch_encode.h"
#include "redundancy/frames/frame_check_core.h"
#include "redundancy_fixture.h"
#include "sluice/capture.h"
#include "sluice/device.h"
#include "sluice/redundancy.h"
#include "sluice/sampling.h"

static enum sl_device_kind kind;

/* ---- an encoder and a decoder ---------------------------------------------------------------- */

struct rig {
    struct sl_batch_encoder *encoder;
    struct sl_decoder *decoder;
    struct sl_sampling_table *table;
    struct sl_stage *stages[SL_BATCH_ENCODER_IN_FLIGHT]; /* CUDA */
    struct sl_batch views[SL_BATCH_ENCODER_IN_FLIGHT];
    const struct sl_batch *batches[SL_BATCH_ENCODER_IN_FLIGHT];
    uint64_t n_submitted, n_waited;
    uint64_t digest; /* of all frames */
};

static struct sl_redundancy_config small_config(void)
{
    struct sl_redundancy_config config;

    sl_redundancy_config_init(&config);
    config.cache_len = SL_REDUNDANCY_CACHE_MIN;
    config.window = config.min_match = 16;
    config.period = 4;
    config.batch_len = 256 << 10;
    config.max_items = 1024;
    return config;
}

static void rig_open(struct rig *rig, const struct sl_redundancy_config *config,
                     const char *sampler)
{
    struct sl_batch_encoder_config whole;
    const struct sl_limits limits = {.max_items = config->max_items,
                                     .max_bytes = config->batch_len};
    struct sl_sampling_config sampling;
    struct sl_diag diag = {0};

    *rig = (struct rig){0};
    sl_sampling_config_init(&sampling);
    sampling.sampler = sampler;
    sampling.window = config->window;
    sampling.period = config->period;
    assert_int_equal(sl_sampling_build(&rig->table, &sampling, &diag), SL_OK);
    sl_batch_encoder_config_init(&whole);
    whole.redundancy = *config;
    whole.kind = kind;
    whole.sampling = rig->table;
    if (sl_batch_encoder_create(&rig->encoder, &whole, &diag) != SL_OK)
        fail_msg("%s", diag.text);
    assert_int_equal(sl_decoder_create(&rig->decoder, config, &diag), SL_OK);
    for (int i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT && kind == SL_DEVICE_CUDA; i++)
        assert_int_equal(sl_stage_open(&rig->stages[i], &limits, &diag), SL_OK);
}

static void rig_close(struct rig *rig)
{
    sl_batch_encoder_free(rig->encoder);
    sl_decoder_free(rig->decoder);
    sl_sampling_free(rig->table);
    for (int i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT; i++)
        sl_stage_close(rig->stages[i]);
}

static enum sl_status submit(struct rig *rig, const struct sl_batch *batch)
{
    const uint64_t slot = rig->n_submitted % SL_BATCH_ENCODER_IN_FLIGHT;
    const struct sl_batch *given = batch;

    if (kind == SL_DEVICE_CUDA) {
        assert_int_equal(sl_stage_upload(rig->stages[slot], batch, &rig->views[slot]), SL_OK);
        given = &rig->views[slot];
    }
    const enum sl_status status = sl_batch_encoder_submit(rig->encoder, given);
    if (status == SL_OK)
        rig->batches[rig->n_submitted++ % SL_BATCH_ENCODER_IN_FLIGHT] = batch;
    return status;
}

static void decode_frame(struct rig *rig, const struct sl_batch *batch, uint32_t item,
                         const uint8_t *frame, uint32_t len)
{
    const struct sl_span span = batch->payload[item];
    const uint8_t *packet;
    uint32_t packet_len;

    assert_true(len <= span.len + SL_FRAME_HEADER_LEN);
    /* Of the end of its own memory, so that reading beyond it is seen. */
    uint8_t *const own = malloc(len);
    memcpy(own, frame, len);
    assert_int_equal(sl_decoder_decode(rig->decoder, own, len, &packet, &packet_len),
                     SL_FRAME_DELIVERED);
    assert_int_equal(packet_len, span.len);
    assert_memory_equal(packet, batch->bytes + span.offset, span.len);
    free(own);
}

/* Waits for the oldest batch and decodes it. */
static void finish(struct rig *rig)
{
    const struct sl_batch *const batch = rig->batches[rig->n_waited++ % SL_BATCH_ENCODER_IN_FLIGHT];
    struct sl_frames frames;

    assert_int_equal(sl_batch_encoder_wait(rig->encoder, &frames), SL_OK);
    assert_int_equal(frames.n, batch->n_items);
    assert_int_equal(frames.begin[0], 0);
    assert_int_equal(frames.begin[frames.n], frames.len);
    for (uint32_t i = 0; i < frames.n; i++)
        decode_frame(rig, batch, i, frames.bytes + frames.begin[i],
                     frames.begin[i + 1] - frames.begin[i]);
    rig->digest = XXH3_64bits_withSeed(frames.bytes, frames.len, rig->digest);
}

static void round_trip(struct rig *rig, const struct sl_batch *batch)
{
    assert_int_equal(submit(rig, batch), SL_OK);
    finish(rig);
}

static struct sl_batch_encoder_stats stats_of(const struct rig *rig)
{
    struct sl_batch_encoder_stats stats;

    sl_batch_encoder_stats(rig->encoder, &stats);
    return stats;
}

static struct sl_batch *new_batch(const struct sl_redundancy_config *config)
{
    struct sl_batch *batch;

    assert_int_equal(sl_batch_create(&batch, config->batch_len, config->max_items, NULL), SL_OK);
    return batch;
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Every length, beginning anywhere in a ring, also around its end. */
static void test_check_is_xxh3(void **state)
{
    enum { WORDS = 1024, LEN = 8 * WORDS };
    static uint64_t words[WORDS + 1];
    static uint8_t text[LEN];
    const struct ring ring = {words, LEN};
    uint64_t random = 1;

    (void)state;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = test_random(&random);
    words[WORDS] = words[0];
    for (uint32_t len = 0; len <= 5000; len++) {
        const uint64_t at =
            len % 3 == 0 ? LEN - len / 48 * 16 - 16 : test_below(&random, LEN / 16) * 16;

        for (uint32_t i = 0; i < len; i++)
            text[i] = ((const uint8_t *)words)[(at + i) % LEN];
        assert_int_equal(check_packet(&ring, at, len), XXH3_64bits(text, len));
    }
    for (uint32_t i = 0; i < 100; i++) {
        const uint64_t seed = test_random(&random);

        assert_int_equal(check_of_16(words[i], words[i + 1], 16, seed),
                         XXH3_64bits_withSeed(&words[i], 16, seed));
    }
}

/* ---- round trips ----------------------------------------------------------------------------- */

/* Many times the ring, so that it wraps and evicts at every alignment; several batches under way.
 */
static uint64_t long_stream(const char *sampler, uint32_t period, uint32_t window,
                            uint32_t batch_len, uint32_t longest, uint32_t n_items)
{
    struct sl_redundancy_config config = small_config();
    struct sl_batch *batches[SL_BATCH_ENCODER_IN_FLIGHT];
    uint8_t *const packet = malloc(longest + 1);
    struct traffic traffic;
    struct rig rig;

    config.period = period;
    config.window = config.min_match = window;
    config.cache_len += 48; /* no power of two */
    config.batch_len = batch_len;
    rig_open(&rig, &config, sampler);
    traffic_init(&traffic, 7 + period + window, 3 << 20);
    for (int i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT; i++)
        batches[i] = new_batch(&config);
    for (uint64_t total = 0, i = 0; total < test_fewer(6 << 20, 3 << 20) && i < 400; i++) {
        struct sl_batch *const batch = batches[i % SL_BATCH_ENCODER_IN_FLIGHT];

        if (rig.n_submitted - rig.n_waited == SL_BATCH_ENCODER_IN_FLIGHT)
            finish(&rig);
        sl_batch_reset(batch);
        for (uint32_t k = 0; k < n_items; k++) {
            const uint32_t len = test_below(&traffic.random, longest + 1);

            if (!sl_batch_fits(batch, len))
                break;
            traffic_packet(&traffic, packet, len);
            sl_batch_add(batch, packet, len, 0);
            total += len;
        }
        assert_int_equal(submit(&rig, batch), SL_OK);
    }
    while (rig.n_waited < rig.n_submitted)
        finish(&rig);

    const struct sl_batch_encoder_stats stats = stats_of(&rig);
    assert_true(stats.matched_bytes > stats.bytes / 8);
    assert_true(stats.frame_bytes < stats.bytes);
    traffic_free(&traffic);
    for (int i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT; i++)
        sl_batch_free(batches[i]);
    free(packet);
    rig_close(&rig);
    return rig.digest;
}

static void test_long_streams(void **state)
{
    (void)state;
    long_stream("rabin", 8, 20, 256 << 10, 1500, 200);
    long_stream("rabin", 1, 16, 256 << 10, 3000, 200);
    long_stream("rabin", 32, 32, 256 << 10, 65535, 200);
    long_stream("rabin", 32, 33, 256 << 10, 300, 1000);
    long_stream("maxp", 16, 40, 256 << 10, 1500, 200);
    long_stream("samplebyte", 16, 64, 256 << 10, 1500, 200);
}

static void test_batch_longer_than_cache(void **state)
{
    (void)state;
    long_stream("rabin", 16, 24, 3 << 20, 9000, 1024);
}

static void test_batches_of_one_packet(void **state)
{
    (void)state;
    long_stream("rabin", 4, 16, 64 << 10, 40000, 1);
}

/* The same batches, the same frames: in each run, and as a CPU makes them. */
static void test_frames_do_not_differ(void **state)
{
    const enum sl_device_kind own = kind;
    const uint64_t digest = long_stream("rabin", 8, 20, 256 << 10, 1500, 200);

    (void)state;
    assert_int_equal(long_stream("rabin", 8, 20, 256 << 10, 1500, 200), digest);
    kind = SL_DEVICE_CPU;
    const uint64_t cpu = long_stream("rabin", 8, 20, 256 << 10, 1500, 200);
    kind = own;
    assert_int_equal(cpu, digest);
}

static void test_edges_of_packets(void **state)
{
    const struct sl_redundancy_config config = small_config();
    struct sl_batch *const batch = new_batch(&config);
    uint8_t bytes[200];
    struct rig rig;

    (void)state;
    rig_open(&rig, &config, "rabin");
    round_trip(&rig, batch); /* no packet at all */
    for (uint32_t shift = 0; shift < 17; shift++) {
        sl_batch_reset(batch);
        for (uint32_t len = 0; len <= 100; len++) {
            for (uint32_t i = 0; i < len; i++)
                bytes[i] = (uint8_t)((i + shift) * 37);
            sl_batch_add(batch, bytes, len, 0);
            memset(bytes, (int)shift, len); /* constant payloads: runs that repeat themselves */
            sl_batch_add(batch, bytes, len, 0);
        }
        round_trip(&rig, batch);
        /* Payloads that begin and end anywhere in their packets. */
        for (uint32_t i = 0; i < batch->n_items; i++) {
            const uint32_t cut = batch->payload[i].len < shift ? batch->payload[i].len : shift;

            batch->payload[i].offset += cut;
            batch->payload[i].len -= cut;
        }
        round_trip(&rig, batch);
    }
    sl_batch_free(batch);
    rig_close(&rig);
}

/* A byte again and again: every window has the fingerprint that is looked for, or none has. */
static void test_constant_payloads(void **state)
{
    struct sl_redundancy_config config = small_config();
    uint8_t bytes[3000];
    uint64_t matched = 0;

    (void)state;
    config.period = 1;
    for (int value = 0; value < 256; value += 51) {
        struct sl_batch *const batch = new_batch(&config);
        struct rig rig;

        rig_open(&rig, &config, "rabin");
        memset(bytes, value, sizeof bytes);
        for (uint32_t len = 1; len <= sizeof bytes; len += 97)
            sl_batch_add(batch, bytes, len, 0);
        round_trip(&rig, batch);
        round_trip(&rig, batch);
        matched += stats_of(&rig).matched_bytes;
        assert_true(stats_of(&rig).matched_bytes > stats_of(&rig).bytes * 9 / 10);
        sl_batch_free(batch);
        rig_close(&rig);
    }
    assert_true(matched > 0);
}

/* Random packets, each twice in its batch, then all once more: the repetitions found, and how. */
static void test_what_is_found(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct sl_batch *const batch = new_batch(&config);
    uint8_t bytes[1000];
    uint64_t random = 5;
    struct rig rig;

    (void)state;
    config.window = config.min_match = 32;
    config.period = 32;
    rig_open(&rig, &config, "rabin");
    for (int i = 0; i < 100; i++) {
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)test_random(&random);
        sl_batch_add(batch, bytes, sizeof bytes, 0);
        sl_batch_add(batch, bytes, sizeof bytes, 0);
    }
    round_trip(&rig, batch);
    assert_in_range(stats_of(&rig).matches, 99, 100);
    assert_in_range(stats_of(&rig).matched_bytes, 99 * sizeof bytes, 100 * sizeof bytes);
    round_trip(&rig, batch);
    assert_in_range(stats_of(&rig).matches, 296, 300);
    assert_in_range(stats_of(&rig).matched_bytes, 296 * sizeof bytes, 300 * sizeof bytes);
    sl_batch_free(batch);
    rig_close(&rig);
}

/* Single bytes changed: the stretches between them are shorter than any match. */
static void test_changed_content(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct sl_batch *const batch = new_batch(&config);
    uint8_t bytes[4000];
    uint64_t random = 9;
    struct rig rig;

    (void)state;
    config.window = 32;
    config.period = 4;
    config.min_match = 64;
    rig_open(&rig, &config, "rabin");
    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = (uint8_t)test_random(&random);
    sl_batch_add(batch, bytes, sizeof bytes, 0);
    for (size_t k = 1000; k < 3000; k += 41)
        bytes[k] ^= 1;
    sl_batch_add(batch, bytes, sizeof bytes, 0);
    round_trip(&rig, batch);
    assert_true(stats_of(&rig).matched_bytes > sizeof bytes - 100);
    sl_batch_free(batch);
    rig_close(&rig);
}

/* An epoch's end: offsets begin anew at 0, and nothing of before is referred to. */
static void test_offsets_begin_anew(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct sl_batch *const batch = new_batch(&config);
    uint8_t bytes[1000];
    uint64_t random = 11;
    struct rig rig;

    (void)state;
    rig_open(&rig, &config, "rabin");
    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = (uint8_t)test_random(&random);
    sl_batch_add(batch, bytes, sizeof bytes, 0);
    round_trip(&rig, batch);
    round_trip(&rig, batch);
    assert_int_equal(stats_of(&rig).matches, 1);
    rig.encoder->restart = true;
    round_trip(&rig, batch);
    assert_int_equal(stats_of(&rig).matches, 1);
    assert_int_equal(stats_of(&rig).epochs, 2);
    round_trip(&rig, batch);
    assert_int_equal(stats_of(&rig).matches, 2);

    struct sl_decoder_stats decoded;
    sl_decoder_stats(rig.decoder, &decoded);
    assert_int_equal(decoded.epochs, 2);
    assert_int_equal(decoded.holes, 0);
    sl_batch_free(batch);
    rig_close(&rig);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct sl_batch *const batch = new_batch(&config);
    static uint8_t bytes[2000];
    struct sl_frames frames;
    struct rig rig;

    (void)state;
    config.frame_max = 1500;
    rig_open(&rig, &config, "rabin");
    assert_int_equal(sl_batch_encoder_wait(rig.encoder, &frames), SL_EINVAL);

    sl_batch_add(batch, bytes, 1500, 0);
    round_trip(&rig, batch);
    for (int i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT; i++)
        assert_int_equal(submit(&rig, batch), SL_OK);
    struct sl_batch view = kind == SL_DEVICE_CUDA ? rig.views[0] : *batch;
    assert_int_equal(sl_batch_encoder_submit(rig.encoder, &view), SL_EINVAL);
    while (rig.n_waited < rig.n_submitted)
        finish(&rig);

    /* A packet that is too long: no frames, and the next packets are as if it had not been. */
    sl_batch_add(batch, bytes, 1501, 0);
    assert_int_equal(submit(&rig, batch), SL_OK);
    rig.n_waited++;
    assert_int_equal(sl_batch_encoder_wait(rig.encoder, &frames), SL_EINVAL);
    assert_int_equal(frames.n, 0);
    batch->n_items = 1;
    round_trip(&rig, batch);
    view.memory = kind == SL_DEVICE_CUDA ? SL_MEMORY_HOST : SL_MEMORY_DEVICE;
    assert_int_equal(sl_batch_encoder_submit(rig.encoder, &view), SL_EINVAL);
    sl_batch_free(batch);
    rig_close(&rig);
}

static void refuse(const struct sl_redundancy_config *config, enum sl_status expected)
{
    struct sl_batch_encoder_config whole;
    struct sl_batch_encoder *encoder;
    struct sl_diag diag = {0};

    sl_batch_encoder_config_init(&whole);
    whole.redundancy = *config;
    whole.kind = kind;
    assert_int_equal(sl_batch_encoder_create(&encoder, &whole, &diag), expected);
    assert_true(diag.text[0] != '\0');
}

static void test_configs_that_cannot_be_met(void **state)
{
    struct sl_redundancy_config config = small_config();

    (void)state;
    config.cache_len = 1;
    refuse(&config, SL_EINVAL);
    config = small_config();
    config.chunks = true;
    refuse(&config, SL_EUNSUPPORTED);
    config = small_config();
    config.acknowledged = true;
    refuse(&config, SL_EUNSUPPORTED);
    config = small_config();
    config.batch_len = (1u << 30) + 16;
    refuse(&config, SL_EINVAL);
    config = small_config();
    config.index_len = UINT64_C(1) << 35;
    refuse(&config, SL_EINVAL);
}

/* ---- captures -------------------------------------------------------------------------------- */

struct travel {
    struct rig rig;
    struct sl_batch *batch;
    uint64_t n_packets;
};

/* Whole packets of a capture, headers included, until the first that its format does not give. */
static void round_trip_capture(void *user, const char *path)
{
    struct travel *const travel = user;
    struct sl_batch *const batch = travel->batch;
    struct sl_capture *capture;
    struct sl_diag diag;

    if (sl_capture_open_file(&capture, path, 0, &diag) != SL_OK)
        return; /* some are made to be refused */
    for (enum sl_status status = SL_OK; status == SL_OK;) {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, &diag);
        travel->n_packets += batch->n_items;
        round_trip(&travel->rig, batch);
    }
    sl_capture_close(capture);
}

static void test_captures(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct travel travel = {.n_packets = 0};

    (void)state;
    (void)test_data();
    config.window = config.min_match = config.period = 32;
    config.batch_len = 1 << 20;
    config.max_items = 4096;
    config.cache_len = 16 << 20;
    config.frame_max = SL_CAPTURE_PACKET_MAX;
    rig_open(&travel.rig, &config, "rabin");
    travel.batch = new_batch(&config);
    fixture_each_capture(round_trip_capture, &travel);

    const struct sl_batch_encoder_stats stats = stats_of(&travel.rig);
    print_message("%llu packets, %.1f %% of the bytes found again, frames are %.1f %% of them\n",
                  (unsigned long long)travel.n_packets,
                  100.0 * (double)stats.matched_bytes / (double)stats.bytes,
                  100.0 * (double)stats.frame_bytes / (double)stats.bytes);
    assert_true(travel.n_packets > 0);
    sl_batch_free(travel.batch);
    rig_close(&travel.rig);
}

static bool choose_kind(const char *name)
{
    char why[SL_WHY_LEN];

    kind = strcmp(name, "cuda") == 0 ? SL_DEVICE_CUDA : SL_DEVICE_CPU;
    if (kind == SL_DEVICE_CPU || device_cuda_usable(why))
        return true;
    printf("skipped: %s\n", why);
    return false;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_is_xxh3),
        cmocka_unit_test(test_long_streams),
        cmocka_unit_test(test_batch_longer_than_cache),
        cmocka_unit_test(test_batches_of_one_packet),
        cmocka_unit_test(test_frames_do_not_differ),
        cmocka_unit_test(test_edges_of_packets),
        cmocka_unit_test(test_constant_payloads),
        cmocka_unit_test(test_what_is_found),
        cmocka_unit_test(test_changed_content),
        cmocka_unit_test(test_offsets_begin_anew),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_configs_that_cannot_be_met),
        cmocka_unit_test(test_captures),
    };

    if (!choose_kind(argc == 2 ? argv[1] : ""))
        return TEST_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
