/* SPDX-License-Identifier: MIT */
/* Savings are near what the encoder's frames show, and each packet's go to its protocol, port and
 * flow. */
#include "redundancy_fixture.h"
#include "sluice/dissect.h"
#include "sluice/redundancy.h"
#include "test.h"

enum { BATCH = 1 << 20, ITEMS = 700, HITS = BATCH, HEADERS = 14 + 20 + 20, N_FLOWS = 5 };

static struct sl_batch *batch;
static struct sl_hits hits;

/* Appends a TCP packet of a flow to or from its server, port 8000 + flow. */
static void add_packet(uint32_t flow, bool to_server, const uint8_t *payload, uint32_t len)
{
    static uint8_t packet[HEADERS + 2000];
    const uint16_t server = (uint16_t)(8000 + flow), client = 50000;
    const uint16_t src = to_server ? client : server, dst = to_server ? server : client;

    memset(packet, 0, HEADERS);
    packet[12] = 8;
    packet[14] = 0x45;
    packet[16] = (uint8_t)((len + 40) >> 8);
    packet[17] = (uint8_t)(len + 40);
    packet[23] = SL_IP_TCP;
    packet[29] = packet[33] = 1;
    packet[34] = (uint8_t)(src >> 8);
    packet[35] = (uint8_t)src;
    packet[36] = (uint8_t)(dst >> 8);
    packet[37] = (uint8_t)dst;
    packet[46] = 0x50;
    memcpy(packet + HEADERS, payload, len);

    const uint32_t item = sl_batch_add(batch, packet, HEADERS + len, 0);
    batch->origin[item].link_type = 1;
    batch->origin[item].wire_len = HEADERS + len;
    batch->origin[item].time_ns = INT64_C(1700000000000000000) + item;
    batch->origin[item].flow = flow + 1;
    batch->origin[item].flow_flags = to_server ? SL_FLOW_TO_SERVER : 0;
}

/* Random traffic of N_FLOWS flows; the first has no payload. */
static void fill(struct traffic *traffic)
{
    struct sl_dissect_stats stats = {0};
    uint8_t payload[1500];

    sl_batch_reset(batch);
    while (batch->n_items < ITEMS && sl_batch_fits(batch, HEADERS + sizeof payload)) {
        const uint32_t flow = test_below(&traffic->random, N_FLOWS);
        const uint32_t len = flow == 0 ? 0 : 1 + test_below(&traffic->random, sizeof payload);

        traffic_packet(traffic, payload, len);
        add_packet(flow, test_below(&traffic->random, 2) == 0, payload, len);
    }
    sl_dissect(batch, &stats);
}

static void init_config(struct sl_savings_config *config)
{
    sl_savings_config_init(config);
    config->redundancy.cache_len = 1 << 20;
    config->redundancy.batch_len = BATCH;
    config->redundancy.max_items = ITEMS;
    config->redundancy.frame_max = 2000;
    config->interval_len = 1000000;
}

/* Bytes of the frames of the batch's packets that have a payload. */
static uint64_t frame_bytes(struct sl_encoder *encoder)
{
    uint8_t frame[2000 + SL_FRAME_HEADER_LEN];
    struct sl_diag diag;
    uint64_t sum = 0;

    assert_int_equal(sl_encoder_batch(encoder, batch, &hits, &diag), SL_OK);
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint32_t len = sl_encoder_frame(encoder, item, frame);

        sum += batch->payload[item].len != 0 ? len : 0;
    }
    return sum;
}

static void test_savings_are_near_what_frames_show(void **state)
{
    struct sl_savings_config config;
    struct sl_savings *savings;
    struct sl_encoder *encoder;
    struct sl_savings_row total;
    struct traffic traffic;
    struct sl_diag diag;
    uint64_t frames = 0;

    (void)state;
    init_config(&config);
    traffic_init(&traffic, 5, 1 << 18);
    assert_int_equal(sl_savings_create(&savings, &config, &diag), SL_OK);
    assert_int_equal(sl_encoder_create(&encoder, &config.redundancy, &diag), SL_OK);
    for (int i = 0; i < 8; i++) {
        fill(&traffic);
        fixture_sample(batch, 32, 32, &hits);
        assert_int_equal(sl_savings_batch(savings, batch, &hits, &diag), SL_OK);
        frames += frame_bytes(encoder);
        sl_savings_total(savings, &total);
        const uint64_t shown = total.count.bytes - total.count.matched_bytes +
                               total.count.reference_bytes +
                               total.count.packets * SL_FRAME_HEADER_LEN;

        /* Samples inside a match enter the index too, so a later match may lie elsewhere. */
        assert_in_range(shown, frames - frames / 200, frames + frames / 200);
    }
    assert_true(total.count.matched_bytes > total.count.bytes / 10);
    sl_encoder_free(encoder);
    sl_savings_free(savings);
    traffic_free(&traffic);
}

static void add(struct sl_savings_count *sum, const struct sl_savings_count *more)
{
    sum->packets += more->packets;
    sum->bytes += more->bytes;
    sum->matched_bytes += more->matched_bytes;
    sum->reference_bytes += more->reference_bytes;
}

static void check_sum(const struct sl_savings_row *rows, size_t n,
                      const struct sl_savings_row *total)
{
    struct sl_savings_count sum = {0};

    for (size_t i = 0; i < n; i++) {
        add(&sum, &rows[i].count);
        assert_true(i == 0 || rows[i].count.matched_bytes <= rows[i - 1].count.matched_bytes);
    }
    assert_memory_equal(&sum, &total->count, sizeof sum);
}

static void test_parts_add_up(void **state)
{
    struct sl_savings_config config;
    struct sl_savings *savings;
    struct sl_savings_row total, rows[16];
    struct traffic traffic;
    struct sl_diag diag;
    uint64_t samples = 0;
    size_t n;

    (void)state;
    init_config(&config);
    traffic_init(&traffic, 6, 1 << 18);
    assert_int_equal(sl_savings_create(&savings, &config, &diag), SL_OK);
    for (int i = 0; i < 8; i++) {
        fill(&traffic);
        fixture_sample(batch, 32, 32, &hits);
        samples += hits.n;
        assert_int_equal(sl_savings_batch(savings, batch, &hits, &diag), SL_OK);
    }
    sl_savings_total(savings, &total);
    assert_int_equal(total.samples, samples);

    n = sl_savings_protocols(savings, rows, 16);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].protocol, SL_IP_TCP);
    check_sum(rows, n, &total);
    n = sl_savings_ports(savings, rows, 16);
    assert_int_equal(n, N_FLOWS - 1);
    check_sum(rows, n, &total);
    n = sl_savings_flows(savings, rows, 16);
    assert_int_equal(n, N_FLOWS - 1);
    check_sum(rows, n, &total);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rows[i].port, 8000 + rows[i].flow - 1);

    /* A short list holds the largest. */
    struct sl_savings_row two[2];
    assert_int_equal(sl_savings_flows(savings, two, 2), 2);
    assert_int_equal(two[0].flow, rows[0].flow);
    assert_int_equal(two[1].flow, rows[1].flow);
    sl_savings_free(savings);
    traffic_free(&traffic);
}

static void test_intervals_add_up(void **state)
{
    struct sl_savings_config config;
    struct sl_savings *savings;
    struct sl_savings_row total;
    struct traffic traffic;
    struct sl_diag diag;
    struct sl_savings_count sum = {0};
    uint64_t samples = 0, eligible = 0;
    size_t n;

    (void)state;
    init_config(&config);
    traffic_init(&traffic, 7, 1 << 18);
    assert_int_equal(sl_savings_create(&savings, &config, &diag), SL_OK);
    for (int i = 0; i < 8; i++) {
        fill(&traffic);
        fixture_sample(batch, 32, 32, &hits);
        assert_int_equal(sl_savings_batch(savings, batch, &hits, &diag), SL_OK);
    }
    sl_savings_total(savings, &total);
    const struct sl_savings_row *rows = sl_savings_intervals(savings, &n);
    assert_true(n > 2);
    for (size_t i = 0; i < n; i++) {
        assert_true(i + 1 == n || rows[i].count.bytes >= config.interval_len);
        add(&sum, &rows[i].count);
        samples += rows[i].samples;
        eligible += rows[i].eligible;
    }
    assert_memory_equal(&sum, &total.count, sizeof sum);
    assert_int_equal(samples, total.samples);
    assert_int_equal(eligible, total.eligible);
    sl_savings_free(savings);
    traffic_free(&traffic);
}

static void test_intervals_of_time(void **state)
{
    static const int64_t seconds[] = {0, 3, 9, 10, 12, 19, 40, 45};
    static const size_t expected[] = {1, 1, 1, 2, 2, 2, 3, 3};
    struct sl_savings_config config;
    struct sl_savings *savings;
    uint8_t payload[100] = "";
    struct sl_diag diag;
    size_t n;

    (void)state;
    init_config(&config);
    config.interval_len = 0;
    config.interval_ns = INT64_C(10000000000);
    assert_int_equal(sl_savings_create(&savings, &config, &diag), SL_OK);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        struct sl_dissect_stats stats = {0};

        sl_batch_reset(batch);
        add_packet(1, true, payload, sizeof payload);
        sl_dissect(batch, &stats);
        batch->origin[0].time_ns = 1000 + seconds[i] * 1000000000;
        hits.n = 0;
        assert_int_equal(sl_savings_batch(savings, batch, &hits, &diag), SL_OK);
        sl_savings_intervals(savings, &n);
        assert_int_equal(n, expected[i]);
    }
    sl_savings_free(savings);
}

/* ---- a round trip ---------------------------------------------------------------------------- */

enum { TRIP_PACKETS = 4000, TRIP_STEP = 100000 /* ns between two packets */ };

/* A link of this round trip: frames come, and are acknowledged, so long after they were sent. */
struct link {
    struct sl_encoder *encoder;
    struct sl_decoder *decoder;
    uint8_t (*frames)[2000 + SL_FRAME_HEADER_LEN];
    uint32_t lens[TRIP_PACKETS], n_sent, n_come;
    uint64_t bytes;
};

static void send_over(struct link *link, uint32_t n_behind)
{
    uint8_t feedback[SL_FEEDBACK_MAX];
    struct sl_diag diag;

    for (; link->n_come + n_behind <= link->n_sent; link->n_come++) {
        const uint8_t *packet;
        uint32_t len;

        assert_int_equal(sl_decoder_decode(link->decoder, link->frames[link->n_come],
                                           link->lens[link->n_come], &packet, &len),
                         SL_FRAME_DELIVERED);
        sl_encoder_feedback(link->encoder, feedback, sl_decoder_feedback(link->decoder, feedback));
    }
    assert_int_equal(sl_encoder_batch(link->encoder, batch, &hits, &diag), SL_OK);
    link->lens[link->n_sent] = sl_encoder_frame(link->encoder, 0, link->frames[link->n_sent]);
    link->bytes += link->lens[link->n_sent++];
}

/* Returns the share of the bytes that is saved, in 1,000. */
static uint64_t save_over_a_round_trip(uint32_t rtt_ms, int64_t step_back)
{
    struct link *const link = calloc(1, sizeof *link);
    struct sl_savings_config config;
    struct sl_savings *savings;
    struct sl_savings_row total;
    struct traffic traffic;
    struct sl_diag diag;
    uint8_t payload[1500];

    init_config(&config);
    config.rtt_ms = rtt_ms;
    assert_int_equal(sl_savings_create(&savings, &config, &diag), SL_OK);
    config.redundancy.acknowledged = true;
    assert_int_equal(sl_encoder_create(&link->encoder, &config.redundancy, &diag), SL_OK);
    assert_int_equal(sl_decoder_create(&link->decoder, &config.redundancy, &diag), SL_OK);
    link->frames = malloc(TRIP_PACKETS * sizeof *link->frames);
    traffic_init(&traffic, 9, 1 << 18);
    for (uint32_t i = 0; i < TRIP_PACKETS; i++) {
        const uint32_t len = 1 + test_below(&traffic.random, sizeof payload);

        traffic_packet(&traffic, payload, len);
        sl_batch_reset(batch);
        sl_batch_add(batch, payload, len, 0);
        batch->origin[0].time_ns =
            INT64_C(1700000000000000000) + (int64_t)i * TRIP_STEP - (i % 7 == 0 ? step_back : 0);
        fixture_sample(batch, 32, 32, &hits);
        assert_int_equal(sl_savings_batch(savings, batch, &hits, &diag), SL_OK);
        send_over(link, (rtt_ms * 2 + SL_FEEDBACK_MS) * 500000 / TRIP_STEP);
    }
    sl_savings_total(savings, &total);
    const uint64_t shown = total.count.bytes - total.count.matched_bytes +
                           total.count.reference_bytes + total.count.packets * SL_FRAME_HEADER_LEN;
    const uint64_t saved = total.count.matched_bytes * 1000 / total.count.bytes;

    print_message("%u ms: %llu bytes of frames, %llu counted, %llu of 1,000 matched\n", rtt_ms,
                  (unsigned long long)link->bytes, (unsigned long long)shown,
                  (unsigned long long)saved);
    assert_in_range(shown, link->bytes - link->bytes / 100, link->bytes + link->bytes / 100);
    sl_encoder_free(link->encoder);
    sl_decoder_free(link->decoder);
    sl_savings_free(savings);
    traffic_free(&traffic);
    free(link->frames);
    free(link);
    return saved;
}

/* The savings of a link whose encoder refers to acknowledged packets alone. Times that are out of
 * order by little change nothing. */
static void test_a_round_trip(void **state)
{
    uint64_t before = 1000;

    (void)state;
    for (uint32_t rtt_ms = 5; rtt_ms <= 45; rtt_ms += 20) {
        const uint64_t saved = save_over_a_round_trip(rtt_ms, 50000);

        assert_true(saved < before);
        before = saved;
    }
}

static void test_bad_configs(void **state)
{
    struct sl_savings_config config;
    struct sl_savings *savings = NULL;
    struct sl_diag diag;

    (void)state;
    init_config(&config);
    config.redundancy.cache_len = 1;
    assert_int_equal(sl_savings_create(&savings, &config, &diag), SL_EINVAL);
    assert_null(savings);
    init_config(&config);
    config.rtt_ms = 60001;
    assert_int_equal(sl_savings_create(&savings, &config, &diag), SL_EINVAL);
    assert_null(savings);
    sl_savings_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_savings_are_near_what_frames_show),
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_intervals_add_up),
        cmocka_unit_test(test_intervals_of_time),
        cmocka_unit_test(test_a_round_trip),
        cmocka_unit_test(test_bad_configs),
    };
    struct sl_diag diag;

    if (sl_batch_create(&batch, BATCH, ITEMS, &diag) != SL_OK)
        return 1;
    hits.cap = HITS;
    hits.hit = malloc(hits.cap * sizeof *hits.hit);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(hits.hit);
    sl_batch_free(batch);
    return failed;
}
