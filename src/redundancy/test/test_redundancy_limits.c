/* SPDX-License-Identifier: MIT */
/* Each limit that the headers and docs/frames.md state, at it and one beyond. */
#include "redundancy/batches/batch_match_core.h"
#include "redundancy/frames/frame.h"
#include "redundancy/live/feedback.h"
#include "redundancy/match/matcher.h"
#include "redundancy/match/packet_log.h"
#include "redundancy_fixture.h"

enum { BLOCK = SL_REFERENCE_MIN, N_BLOCKS = SL_FRAME_MAX / BLOCK };

_Static_assert(N_BLOCKS == SL_REFERENCES_MAX + 1, "the longest packet can have one too many");

static struct sl_redundancy_config wide_config(void)
{
    struct sl_redundancy_config config;

    sl_redundancy_config_init(&config);
    config.cache_len = 4 * SL_FRAME_MAX;
    config.index_len = 64 << 20;
    config.frame_max = SL_FRAME_MAX;
    config.window = config.min_match = BLOCK;
    config.period = 1;
    return config;
}

struct pair {
    struct sl_encoder *encoder;
    struct sl_decoder *decoder;
    uint8_t *frame;
};

static void pair_open(struct pair *pair, const struct sl_redundancy_config *config)
{
    assert_int_equal(sl_encoder_create(&pair->encoder, config, NULL), SL_OK);
    assert_int_equal(sl_decoder_create(&pair->decoder, config, NULL), SL_OK);
    pair->frame = malloc(SL_FRAME_MAX + SL_FRAME_HEADER_LEN);
}

static void pair_close(struct pair *pair)
{
    sl_encoder_free(pair->encoder);
    sl_decoder_free(pair->decoder);
    free(pair->frame);
}

/* Encodes a packet with these samples and returns its frame's length. */
static uint32_t encode(struct pair *pair, uint8_t *packet, uint32_t len, struct sl_hits *hits)
{
    struct single single;

    single_init(&single, packet, len);
    assert_int_equal(sl_encoder_batch(pair->encoder, &single.batch, hits, NULL), SL_OK);
    return sl_encoder_frame(pair->encoder, 0, pair->frame);
}

static void expect_packet(struct pair *pair, uint32_t frame_len, const uint8_t *packet,
                          uint32_t len)
{
    const uint8_t *decoded;
    uint32_t decoded_len;

    assert_int_equal(
        sl_decoder_decode(pair->decoder, pair->frame, frame_len, &decoded, &decoded_len),
        SL_FRAME_DELIVERED);
    assert_int_equal(decoded_len, len);
    assert_memory_equal(decoded, packet, len);
}

static void expect_round_trip(struct pair *pair, uint8_t *packet, uint32_t len)
{
    struct sl_hits hits = {0};

    expect_packet(pair, encode(pair, packet, len, &hits), packet, len);
}

/* ---- references of a frame ------------------------------------------------------------------- */

/* n blocks, those of the numbers first, first + step, ..., with a sample at the begin of each. The
 * neighbours of a block begin and end with other bytes than it, so that no match grows. */
static void make_blocks(uint8_t *packet, struct sl_hits *hits, uint32_t n, uint32_t first, int step)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t number = first + i * (uint32_t)step;
        uint64_t random = number;
        uint8_t *const block = packet + (size_t)i * BLOCK;

        memset(block, (int)(number % 251), BLOCK);
        put_le(block + 1, number, 4);
        put_le(block + 5, test_random(&random), 8);
        hits->hit[i] = (struct sl_hit){0, i * BLOCK, test_random(&random)};
    }
    hits->n = n;
}

/* n blocks come in one order and then in the opposite one, so that each is a reference of its own.
 */
static void expect_references(bool chunks, uint32_t n, uint32_t n_references)
{
    struct sl_redundancy_config config = wide_config();
    const uint32_t len = n * BLOCK;
    struct reference *const references = malloc((N_BLOCKS + 1) * sizeof *references);
    struct sl_hits hits = {calloc(n, sizeof *hits.hit), n, 0, false};
    uint8_t *const packet = malloc(len);
    struct frame_header header;
    const uint8_t *literals;
    struct pair pair;

    config.chunks = chunks;
    pair_open(&pair, &config);
    make_blocks(packet, &hits, n, 0, 1);
    expect_packet(&pair, encode(&pair, packet, len, &hits), packet, len);
    make_blocks(packet, &hits, n, n - 1, -1);

    const uint32_t frame_len = encode(&pair, packet, len, &hits);
    assert_true(frame_read_header(&header, pair.frame, frame_len, SL_FRAME_MAX));
    assert_int_equal(header.n_references, n_references);
    assert_true(frame_read_references(references, &literals, &header, pair.frame, frame_len));
    assert_int_equal(pair.frame + frame_len - literals, (n - n_references) * BLOCK);
    expect_packet(&pair, frame_len, packet, len);

    pair_close(&pair);
    free(packet);
    free(hits.hit);
    free(references);
}

static void test_references(void **state)
{
    (void)state;
    for (int chunks = 0; chunks < 2; chunks++) {
        expect_references(chunks != 0, SL_REFERENCES_MAX, SL_REFERENCES_MAX);
        expect_references(chunks != 0, SL_REFERENCES_MAX + 1, SL_REFERENCES_MAX);
    }
}

/* Whole batches: matches given beyond the most references stay as they are in the packet. */
static void test_references_of_whole_batches(void **state)
{
    struct sl_match *const given = calloc(N_BLOCKS, sizeof *given);
    struct encode_matching matching = {.given = given, .progress = frame_begin(N_BLOCKS)};
    uint32_t frame_len = 0;

    (void)state;
    matching.packet.frame_len = SL_FRAME_HEADER_LEN + SL_FRAME_MAX;
    for (uint32_t i = 0; i < N_BLOCKS; i++) {
        frame_len = i == SL_REFERENCES_MAX ? matching.packet.frame_len : 0;
        encode_give(&matching, i * BLOCK, BLOCK, (uint64_t)(N_BLOCKS - i) * BLOCK);
    }
    assert_int_equal(matching.packet.n_matches, SL_REFERENCES_MAX);
    assert_int_equal(matching.packet.frame_len, frame_len);
    assert_int_equal(given[SL_REFERENCES_MAX].len, 0);
    free(given);
}

/* ---- a frame's header ------------------------------------------------------------------------ */

static bool accepts(uint32_t len, uint64_t position, uint32_t n_references, uint32_t frame_max)
{
    uint8_t frame[SL_FRAME_HEADER_LEN] = {FRAME_KIND};
    struct frame_header header;

    put_le(frame + 1, len, 3);
    put_le(frame + 8, position, 6);
    put_le(frame + 14, n_references, 2);
    return frame_read_header(&header, frame, sizeof frame, frame_max);
}

static void test_header(void **state)
{
    const uint64_t last = (LOG_OFFSET_MAX - SL_FRAME_MAX) / LOG_GRANULE * LOG_GRANULE;
    uint8_t frame[SL_FRAME_HEADER_LEN - 1] = {FRAME_KIND};
    struct frame_header header;

    (void)state;
    assert_true(accepts(SL_FRAME_MAX, 0, SL_REFERENCES_MAX, SL_FRAME_MAX));
    assert_true(accepts(SL_REFERENCES_MAX * BLOCK, 0, SL_REFERENCES_MAX, SL_FRAME_MAX));
    assert_false(accepts(SL_REFERENCES_MAX * BLOCK - 1, 0, SL_REFERENCES_MAX, SL_FRAME_MAX));
    assert_true(accepts(BLOCK, 0, 1, SL_FRAME_MAX));
    assert_false(accepts(BLOCK - 1, 0, 1, SL_FRAME_MAX));
    assert_false(accepts(SL_FRAME_MAX + 1, 0, 0, SL_FRAME_MAX));
    assert_true(accepts(1500, 0, 0, 1500));
    assert_false(accepts(1501, 0, 0, 1500));
    assert_true(accepts(0, last, 0, 1500));
    assert_false(accepts(0, last + LOG_GRANULE, 0, 1500));
    assert_false(accepts(0, LOG_GRANULE - 1, 0, 1500));
    assert_false(frame_read_header(&header, frame, sizeof frame, 1500));
}

/* ---- lengths --------------------------------------------------------------------------------- */

static void test_longest_packet(void **state)
{
    struct sl_redundancy_config config = wide_config();
    uint8_t *const packet = calloc(1, SL_FRAME_MAX + 1);
    struct sl_hits hits = {0};
    struct single single;
    struct pair pair;

    (void)state;
    pair_open(&pair, &config);
    expect_round_trip(&pair, packet, SL_FRAME_MAX);
    single_init(&single, packet, SL_FRAME_MAX + 1);
    assert_int_equal(sl_encoder_batch(pair.encoder, &single.batch, &hits, NULL), SL_EINVAL);
    pair_close(&pair);

    /* A decoder for shorter packets than the encoder's: those arrive, longer ones never do. */
    pair_open(&pair, &config);
    sl_decoder_free(pair.decoder);
    config.frame_max = 1500;
    assert_int_equal(sl_decoder_create(&pair.decoder, &config, NULL), SL_OK);
    expect_round_trip(&pair, packet, 1500);
    const uint32_t frame_len = encode(&pair, packet, 1501, &hits);
    const uint8_t *decoded;
    uint32_t decoded_len;
    assert_int_equal(sl_decoder_decode(pair.decoder, pair.frame, frame_len, &decoded, &decoded_len),
                     SL_FRAME_DAMAGED);
    assert_null(decoded);
    expect_round_trip(&pair, packet, 1500);
    pair_close(&pair);
    free(packet);
}

/* A packet that repeats so many bytes of the one before, between others. */
static uint32_t references_for(uint32_t n_repeated)
{
    struct sl_redundancy_config config = wide_config();
    struct sl_hit space[256];
    struct sl_hits hits = {space, 256, 0, false};
    uint8_t first[60], second[60];
    struct frame_header header;
    struct single single;
    struct pair pair;

    config.window = SL_SAMPLING_WINDOW_MIN;
    config.min_match = SL_REFERENCE_MIN;
    pair_open(&pair, &config);
    for (uint32_t i = 0; i < sizeof first; i++) {
        first[i] = (uint8_t)i;
        second[i] = (uint8_t)(i >= 20 && i < 20 + n_repeated ? i - 10 : 255 - i);
    }
    single_init(&single, first, sizeof first);
    fixture_sample(&single.batch, config.window, 1, &hits);
    expect_packet(&pair, encode(&pair, first, sizeof first, &hits), first, sizeof first);
    single_init(&single, second, sizeof second);
    fixture_sample(&single.batch, config.window, 1, &hits);
    const uint32_t frame_len = encode(&pair, second, sizeof second, &hits);
    assert_true(frame_read_header(&header, pair.frame, frame_len, SL_FRAME_MAX));
    expect_packet(&pair, frame_len, second, sizeof second);
    pair_close(&pair);
    return header.n_references;
}

static void test_shortest_reference(void **state)
{
    (void)state;
    assert_int_equal(references_for(SL_REFERENCE_MIN - 1), 0);
    assert_int_equal(references_for(SL_REFERENCE_MIN), 1);
}

/* ---- configurations -------------------------------------------------------------------------- */

static bool is_legal(const struct sl_redundancy_config *config)
{
    struct sl_diag diag = {0};
    const enum sl_status status = matcher_check(config, &diag);

    assert_true(status == SL_OK || status == SL_EINVAL);
    assert_true((status == SL_OK) == (diag.text[0] == '\0'));
    return status == SL_OK;
}

static bool is_legal_with_lengths(uint32_t frame_max, uint32_t min_match, bool chunks)
{
    struct sl_redundancy_config config;

    sl_redundancy_config_init(&config);
    config.frame_max = frame_max;
    config.min_match = min_match;
    config.chunks = chunks;
    return is_legal(&config);
}

/* The lowest and the highest value of one number of the configuration. */
#define EXPECT_RANGE(member, lowest, highest)                                            \
    do {                                                                                 \
        const uint64_t tried[] = {(lowest), (highest), (lowest)-1ull, (highest) + 1ull}; \
        for (int i = 0; i < 4; i++) {                                                    \
            struct sl_redundancy_config ranged;                                          \
                                                                                         \
            sl_redundancy_config_init(&ranged);                                          \
            ranged.member = tried[i];                                                    \
            assert_int_equal(is_legal(&ranged), i < 2);                                  \
        }                                                                                \
    } while (0)

static void test_configurations(void **state)
{
    struct sl_redundancy_config config;

    (void)state;
    sl_redundancy_config_init(&config);
    config.n_in_flight = 1 << 25; /* the next power of two */
    assert_false(is_legal(&config));
    EXPECT_RANGE(cache_len, SL_REDUNDANCY_CACHE_MIN, LOG_OFFSET_MAX / 4);
    EXPECT_RANGE(index_len, 0, LOG_OFFSET_MAX / 4);
    EXPECT_RANGE(batch_len, SL_BATCH_ALIGN, UINT32_MAX);
    EXPECT_RANGE(max_items, 1, UINT32_MAX / 2);
    EXPECT_RANGE(window, SL_SAMPLING_WINDOW_MIN, SL_SAMPLING_WINDOW_MAX);
    EXPECT_RANGE(period, 1, SL_SAMPLING_PERIOD_MAX);
    EXPECT_RANGE(n_in_flight, 1, 1u << 24);
    assert_false(is_legal_with_lengths(SL_FRAME_MAX + 1, 32, false));
    assert_true(is_legal_with_lengths(SL_FRAME_MAX, 32, false));
    assert_true(is_legal_with_lengths(32, 32, false));
    assert_false(is_legal_with_lengths(31, 32, false));
    assert_true(is_legal_with_lengths(1500, SL_REFERENCE_MIN, false));
    assert_false(is_legal_with_lengths(1500, SL_REFERENCE_MIN - 1, false));
    assert_true(is_legal_with_lengths(1500, 32, true));
    assert_false(is_legal_with_lengths(1500, 33, true));
}

/* ---- feedback -------------------------------------------------------------------------------- */

/* Of more runs and misses than there is room for, the newest are reported. */
static void test_feedback(void **state)
{
    struct feedback feedback = {.has_epoch = true}, read;
    uint8_t bytes[SL_FEEDBACK_MAX];

    (void)state;
    for (uint32_t i = 0; i <= FEEDBACK_RUNS; i++)
        feedback_add_run(&feedback, 32 * i, 16);
    for (uint32_t i = 0; i <= FEEDBACK_MISSES; i++)
        feedback_miss(&feedback, 32 * i, 16);

    const uint32_t len = feedback_write(&feedback, bytes);
    assert_true(len <= SL_FEEDBACK_MAX);
    assert_true(feedback_read(&read, bytes, len));
    assert_int_equal(read.n_runs, FEEDBACK_RUNS);
    assert_int_equal(read.n_misses, FEEDBACK_MISSES);
    assert_int_equal(read.runs[0].position, 32);
    assert_int_equal(read.misses[FEEDBACK_MISSES - 1].position, 32 * FEEDBACK_MISSES);
    assert_false(feedback_read(&read, bytes, len - 1));
    bytes[2]++;
    assert_false(feedback_read(&read, bytes, len));
}

/* Of more frames than may be in flight the oldest is taken as lost. */
static void test_frames_in_flight(void **state)
{
    struct sl_redundancy_config config = wide_config();
    struct sl_encoder_stats stats;
    uint8_t packet[100] = {0};
    struct pair pair;

    (void)state;
    config.acknowledged = true;
    config.n_in_flight = 4;
    pair_open(&pair, &config);
    for (uint32_t i = 0; i <= config.n_in_flight; i++) {
        sl_encoder_stats(pair.encoder, &stats);
        assert_int_equal(stats.expired, 0);
        expect_round_trip(&pair, packet, sizeof packet);
    }
    sl_encoder_stats(pair.encoder, &stats);
    assert_int_equal(stats.expired, 1);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_references_of_whole_batches),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_longest_packet),
        cmocka_unit_test(test_shortest_reference),
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_feedback),
        cmocka_unit_test(test_frames_in_flight),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
