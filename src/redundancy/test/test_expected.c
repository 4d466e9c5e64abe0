/* SPDX-License-Identifier: MIT */
/* Content that goes on where the last packet ended: it needs no samples, and frames are the same
 * with them, however packets are cut into batches. */
#include "redundancy/live/expected.h"
#include "redundancy_fixture.h"

enum {
    CONTENT_LEN = 200000,
    TIMES = 4, /* that the content is sent, in packets of another length each time */
    HEADER_LEN = 40,
    PACKET_MAX = 1500,
    GROUP = 16, /* packets between two feedbacks */
    SAMPLES = 4096
};

struct side {
    struct sl_encoder *encoder;
    struct sl_batch *batch;
    uint8_t frames[GROUP][PACKET_MAX + SL_FRAME_HEADER_LEN];
    uint32_t len[GROUP];
    uint32_t n_expected;
};

static struct sl_hit sample_space[SAMPLES];

static void open_side(struct side *side, const struct sl_redundancy_config *config)
{
    assert_int_equal(sl_encoder_create(&side->encoder, config, NULL), SL_OK);
    assert_int_equal(sl_batch_create(&side->batch, config->batch_len, config->max_items, NULL),
                     SL_OK);
}

static void close_side(struct side *side)
{
    sl_encoder_free(side->encoder);
    sl_batch_free(side->batch);
}

/* Encodes the packets in batches of `each`, all sampled, or those that are not expected alone. */
static void encode(struct side *side, uint8_t packets[GROUP][PACKET_MAX], const uint32_t *len,
                   uint32_t each, bool all_sampled)
{
    struct sl_hits hits = {.hit = sample_space, .cap = SAMPLES};

    side->n_expected = 0;
    for (uint32_t begin = 0; begin < GROUP; begin += each) {
        sl_batch_reset(side->batch);
        for (uint32_t i = 0; i < each; i++)
            (void)sl_batch_add(side->batch, packets[begin + i], len[begin + i], 0);
        const uint32_t n = encoder_expected(side->encoder, side->batch);
        const uint32_t first = all_sampled ? 0 : n;
        size_t kept = 0;

        side->n_expected += n;
        fixture_sample(side->batch, 32, 32, &hits);
        for (size_t i = 0; i < hits.n; i++)
            if (hits.hit[i].item >= first)
                hits.hit[kept++] = hits.hit[i];
        hits.n = kept;
        assert_int_equal(sl_encoder_batch(side->encoder, side->batch, &hits, NULL), SL_OK);
        for (uint32_t i = 0; i < each; i++)
            side->len[begin + i] = sl_encoder_frame(side->encoder, i, side->frames[begin + i]);
    }
}

/* The next packets of the content, each behind a header of its own. */
static uint32_t cut(const uint8_t *content, uint32_t at, uint32_t payload_len, uint64_t *random,
                    uint8_t packets[GROUP][PACKET_MAX], uint32_t len[GROUP])
{
    for (uint32_t i = 0; i < GROUP; i++) {
        const uint32_t left = CONTENT_LEN - at;
        const uint32_t n = left < payload_len ? left : payload_len;

        for (uint32_t k = 0; k < HEADER_LEN; k++)
            packets[i][k] = (uint8_t)test_random(random);
        memcpy(packets[i] + HEADER_LEN, content + at, n);
        len[i] = HEADER_LEN + n;
        at = n == left ? 0 : at + n;
    }
    return at;
}

/* Decodes the frames, and tells both encoders what came. */
static void decode(struct sl_decoder *decoder, struct side sides[2],
                   uint8_t packets[GROUP][PACKET_MAX], const uint32_t *len)
{
    uint8_t feedback[SL_FEEDBACK_MAX];
    const uint8_t *packet;
    uint32_t packet_len;

    for (uint32_t i = 0; i < GROUP; i++) {
        assert_int_equal(sides[0].len[i], sides[1].len[i]);
        assert_memory_equal(sides[0].frames[i], sides[1].frames[i], sides[0].len[i]);
        assert_int_equal(
            sl_decoder_decode(decoder, sides[0].frames[i], sides[0].len[i], &packet, &packet_len),
            SL_FRAME_DELIVERED);
        assert_int_equal(packet_len, len[i]);
        assert_memory_equal(packet, packets[i], packet_len);
    }
    const uint32_t feedback_len = sl_decoder_feedback(decoder, feedback);
    for (int i = 0; i < 2; i++)
        sl_encoder_feedback(sides[i].encoder, feedback, feedback_len);
}

static void test_content_goes_on(void **state)
{
    static const uint32_t payload_lens[TIMES] = {1400, 1400, 1111, 500};
    static struct side sides[2];
    static uint8_t packets[GROUP][PACKET_MAX], content[CONTENT_LEN];
    struct sl_redundancy_config config;
    struct sl_decoder *decoder;
    uint64_t random = 1;
    uint32_t len[GROUP];

    (void)state;
    sl_redundancy_config_init(&config);
    config.cache_len = UINT64_C(16) << 20;
    config.batch_len = GROUP * 2048;
    config.max_items = GROUP;
    config.frame_max = PACKET_MAX;
    config.acknowledged = true;
    for (int i = 0; i < 2; i++)
        open_side(&sides[i], &config);
    config.cache_len *= 2;
    assert_int_equal(sl_decoder_create(&decoder, &config, NULL), SL_OK);
    for (uint32_t i = 0; i < CONTENT_LEN; i++)
        content[i] = (uint8_t)test_random(&random);
    for (uint32_t time = 0; time < TIMES; time++) {
        uint32_t n_packets = 0, n_expected = 0, n_sent = 0;

        for (uint32_t at = 0, before = 0; at >= before; n_packets += GROUP) {
            before = at;
            at = cut(content, at, payload_lens[time], &random, packets, len);
            encode(&sides[0], packets, len, 1, true);
            encode(&sides[1], packets, len, GROUP, false);
            decode(decoder, sides, packets, len);
            n_expected += sides[1].n_expected;
            for (uint32_t i = 0; i < GROUP; i++)
                n_sent += sides[0].len[i];
        }
        if (time == 0)
            continue;
        assert_in_range(n_expected, n_packets - 3 * GROUP, n_packets);
        assert_in_range(n_sent, 0, n_packets * (HEADER_LEN + 100));
    }
    for (int i = 0; i < 2; i++)
        close_side(&sides[i]);
    sl_decoder_free(decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_content_goes_on)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
