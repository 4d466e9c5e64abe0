/* SPDX-License-Identifier: MIT */
/* Matcher, encoder and decoder against their definitions. */
#include "base/cpu.h"
#include "redundancy/frames/frame.h"
#include "redundancy/match/matcher.h"
#include "redundancy_fixture.h"
#include "sluice/capture.h"

enum { SAMPLES = 1 << 20 };

static struct sl_hit sample_space[SAMPLES];

static struct sl_redundancy_config small_config(void)
{
    struct sl_redundancy_config config;

    sl_redundancy_config_init(&config);
    config.cache_len = SL_REDUNDANCY_CACHE_MIN;
    config.index_len = 1 << 20;
    config.window = 16;
    config.period = 1;
    config.min_match = 16;
    config.batch_len = 1 << 20;
    return config;
}

/* ---- matches against all bytes there are ----------------------------------------------------- */

/* The log as one long array, written from the definition: each payload at its position. */
struct model {
    uint8_t *log;
    uint64_t reach;
};

/* The longest of what begins at `offset` of the item and at any earlier place of the log that may
 * be referred to. Source and bytes lie apart, or in one item. */
static uint32_t longest_at(const struct model *model, uint64_t position, uint32_t len,
                           uint32_t offset)
{
    const uint64_t first = position > model->reach ? position - model->reach : 0;
    uint32_t best = 0;

    for (uint64_t source = first; source < position + offset; source++) {
        uint32_t n = 0;

        while (offset + n < len && (source >= position || source + n < position) &&
               model->log[source + n] == model->log[position + offset + n])
            n++;
        best = n > best ? n : best;
    }
    return best;
}

/* Bytes covered by taking, from the left, the longest match there is. */
static uint64_t greedy_cover(const struct model *model, uint64_t position, uint32_t len,
                             uint32_t min_match)
{
    uint64_t covered = 0;

    for (uint32_t offset = 0; offset < len;) {
        const uint32_t n = longest_at(model, position, len, offset);

        covered += n >= min_match ? n : 0;
        offset += n >= min_match ? n : 1;
    }
    return covered;
}

static void check_match(const struct model *model, const struct sl_match *match, uint64_t position,
                        uint32_t len, uint32_t taken, uint32_t min_match)
{
    const uint8_t *const here = model->log + position + match->offset;
    const uint8_t *const there = model->log + match->source;
    const uint64_t first = position > model->reach ? position - model->reach : 0;

    assert_true(match->offset >= taken && match->len >= min_match);
    assert_true(match->offset + match->len <= len);
    assert_true(match->source >= first && match->source < position + match->offset);
    assert_true(match->source >= position || match->source + match->len <= position);
    assert_memory_equal(here, there, match->len);
}

/* Expanded means: no byte more could have been taken on either side. */
static void check_expanded(const struct model *model, const struct sl_match *match,
                           uint64_t position, uint32_t len, uint32_t taken)
{
    const uint64_t end = match->source + match->len;
    const uint64_t first = position > model->reach ? position - model->reach : 0;
    const uint64_t lowest = match->source >= position ? position : first;

    if (match->offset + match->len < len && end != position)
        assert_int_not_equal(model->log[end], model->log[position + match->offset + match->len]);
    if (match->offset > taken && match->source > lowest)
        assert_int_not_equal(model->log[match->source - 1],
                             model->log[position + match->offset - 1]);
}

struct totals {
    uint64_t bytes, matched, greedy;
};

static void match_stream(uint64_t seed, uint32_t n_packets, struct totals *totals)
{
    const struct sl_redundancy_config config = small_config();
    struct model model = {calloc(1, 1 << 20), config.cache_len};
    struct sl_matcher *matcher;
    struct traffic traffic;
    uint8_t packet[700];

    assert_int_equal(sl_matcher_create(&matcher, &config, NULL), SL_OK);
    traffic_init(&traffic, seed, 4096);
    for (uint32_t i = 0; i < n_packets; i++) {
        const uint32_t len = test_below(&traffic.random, sizeof packet);
        struct sl_hits hits = {sample_space, SAMPLES, 0, false};
        const struct sl_match *matches;
        struct single single;
        size_t n;

        traffic_packet(&traffic, packet, len);
        single_init(&single, packet, len);
        fixture_sample(&single.batch, config.window, 1, &hits);
        for (size_t k = hits.n; k > 1; k--) { /* any order is allowed */
            const size_t other = test_below(&traffic.random, (uint32_t)k);
            const struct sl_hit swapped = hits.hit[k - 1];

            hits.hit[k - 1] = hits.hit[other];
            hits.hit[other] = swapped;
        }
        assert_int_equal(sl_matcher_batch(matcher, &single.batch, &hits, &matches, &n, NULL),
                         SL_OK);

        const uint64_t position = sl_matcher_position(matcher, 0);
        uint32_t taken = 0;
        memcpy(model.log + position, packet, len);
        for (size_t k = 0; k < n; k++) {
            check_match(&model, &matches[k], position, len, taken, config.min_match);
            check_expanded(&model, &matches[k], position, len, taken);
            taken = matches[k].offset + matches[k].len;
            totals->matched += matches[k].len;
        }
        totals->greedy += greedy_cover(&model, position, len, config.min_match);
        totals->bytes += len;
    }
    traffic_free(&traffic);
    sl_matcher_free(matcher);
    free(model.log);
}

static void test_matches_are_true_and_complete(void **state)
{
    struct totals totals = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= test_fewer(60, 20); seed++)
        match_stream(seed, 25, &totals);
    print_message("matched %llu of %llu bytes, %llu by greedy longest match\n",
                  (unsigned long long)totals.matched, (unsigned long long)totals.bytes,
                  (unsigned long long)totals.greedy);
    assert_true(totals.greedy > totals.bytes / 4);
    assert_true(totals.matched * 100 >= totals.greedy * 98);
}

/* An epoch's end: offsets begin anew at 0, and nothing of before is referred to. */
static void test_offsets_begin_anew(void **state)
{
    const struct sl_redundancy_config config = small_config();
    const uint64_t begin = LOG_EPOCH_MAX - 20000;
    struct sl_matcher *matcher;
    struct traffic traffic;
    uint8_t packet[600];
    uint64_t last = begin, n_rewound = 0, n_matches = 0;

    (void)state;
    assert_int_equal(sl_matcher_create(&matcher, &config, NULL), SL_OK);
    log_restart(&matcher->search.log, begin);
    traffic_init(&traffic, 3, 4096);
    for (int i = 0; i < 200; i++) {
        struct sl_hits hits = {sample_space, SAMPLES, 0, false};
        const struct sl_match *matches;
        struct single single;
        size_t n;

        traffic_packet(&traffic, packet, sizeof packet);
        single_init(&single, packet, sizeof packet);
        fixture_sample(&single.batch, config.window, 1, &hits);
        assert_int_equal(sl_matcher_batch(matcher, &single.batch, &hits, &matches, &n, NULL),
                         SL_OK);

        const uint64_t position = sl_matcher_position(matcher, 0);
        n_rewound += position < last ? 1 : 0;
        assert_true(position >= last || position == 0);
        last = position;
        for (size_t k = 0; k < n; k++) {
            assert_true(matches[k].source < position + matches[k].offset);
            assert_true(n_rewound > 0 || matches[k].source >= begin);
        }
        n_matches += n;
    }
    assert_int_equal(n_rewound, 1);
    assert_true(n_matches > 200);
    traffic_free(&traffic);
    sl_matcher_free(matcher);
}

/* ---- round trips ----------------------------------------------------------------------------- */

struct pair {
    struct sl_encoder *encoder;
    struct sl_decoder *decoder;
    uint8_t *frame;
};

static void pair_open(struct pair *pair, const struct sl_redundancy_config *config)
{
    struct sl_diag diag;

    assert_int_equal(sl_encoder_create(&pair->encoder, config, &diag), SL_OK);
    assert_int_equal(sl_decoder_create(&pair->decoder, config, &diag), SL_OK);
    pair->frame = malloc(SL_FRAME_MAX + SL_FRAME_HEADER_LEN);
}

static void pair_close(struct pair *pair)
{
    sl_encoder_free(pair->encoder);
    sl_decoder_free(pair->decoder);
    free(pair->frame);
}

/* Encodes a batch and decodes each frame at once. */
static void round_trip(struct pair *pair, const struct sl_redundancy_config *config,
                       const struct sl_batch *batch)
{
    struct sl_hits hits = {sample_space, SAMPLES, 0, false};
    struct sl_diag diag;

    fixture_sample(batch, config->window, config->period, &hits);
    assert_int_equal(sl_encoder_batch(pair->encoder, batch, &hits, &diag), SL_OK);
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];
        const uint32_t len = sl_encoder_frame(pair->encoder, item, pair->frame);
        const uint8_t *packet;
        uint32_t packet_len;

        assert_true(len <= span.len + SL_FRAME_HEADER_LEN);
        assert_int_equal(sl_decoder_decode(pair->decoder, pair->frame, len, &packet, &packet_len),
                         SL_FRAME_DELIVERED);
        assert_int_equal(packet_len, span.len);
        assert_memory_equal(packet, batch->bytes + span.offset, span.len);
    }
}

/* Many times the cache, so that the ring wraps and evicts at every alignment. */
static void round_trip_long(bool chunks, uint32_t period, uint32_t longest, uint32_t decoder_more)
{
    struct sl_redundancy_config config = small_config();
    struct traffic traffic;
    struct pair pair;
    struct sl_batch *batch;
    uint8_t *const packet = malloc(longest + 1);
    struct sl_encoder_stats stats;

    config.chunks = chunks;
    config.period = period;
    config.window = config.min_match = 20;
    config.cache_len += 48; /* no power of two */
    config.batch_len = 256 << 10;
    pair_open(&pair, &config);
    if (decoder_more > 0) { /* caches need not be of one size: the decoder's may be larger */
        sl_decoder_free(pair.decoder);
        config.cache_len += decoder_more;
        assert_int_equal(sl_decoder_create(&pair.decoder, &config, NULL), SL_OK);
    }
    assert_int_equal(sl_batch_create(&batch, config.batch_len, 64, NULL), SL_OK);
    traffic_init(&traffic, 7 + period, 3 << 20);
    for (int i = 0; i < 40; i++) {
        sl_batch_reset(batch);
        for (int k = 0; k < 64; k++) {
            const uint32_t len = test_below(&traffic.random, longest + 1);

            if (!sl_batch_fits(batch, len))
                break;
            traffic_packet(&traffic, packet, len);
            sl_batch_add(batch, packet, len, 0);
        }
        round_trip(&pair, &config, batch);
    }
    sl_encoder_stats(pair.encoder, &stats);
    assert_true(stats.match.matched_bytes > stats.match.bytes / 8);
    assert_true(stats.frame_bytes < stats.match.bytes);
    traffic_free(&traffic);
    sl_batch_free(batch);
    pair_close(&pair);
    free(packet);
}

static void test_long_streams(void **state)
{
    (void)state;
    round_trip_long(false, 8, 1500, 0);
    round_trip_long(false, 8, 1500, 4096 + 16);
    round_trip_long(false, 1, 3000, 0);
    round_trip_long(false, 32, 65535, 0);
    round_trip_long(true, 8, 1500, 0);
}

static void test_edges_of_packets(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct pair pair;
    uint8_t bytes[200];

    (void)state;
    pair_open(&pair, &config);
    for (uint32_t len = 0; len <= 100; len++)
        for (uint32_t shift = 0; shift < 17; shift++) {
            struct single single;

            for (uint32_t i = 0; i < len; i++)
                bytes[i] = (uint8_t)((i + shift) * 37);
            single_init(&single, bytes, len);
            round_trip(&pair, &config, &single.batch);
            memset(bytes, (int)shift, len); /* constant payloads: runs that repeat themselves */
            round_trip(&pair, &config, &single.batch);
        }
    pair_close(&pair);
}

/* Content that comes again with single bytes changed. Between the changes runs are shorter than any
 * match, and are found at the distance of the matches around them. In chunk mode they are not. */
static void test_changed_content(void **state)
{
    enum { LEN = 600, FIRST = 150, LAST = 450, STEP = 40, WINDOW = 32 };
    struct sl_redundancy_config config = small_config();
    uint64_t random = 5;
    uint8_t bytes[LEN];

    (void)state;
    config.window = WINDOW;
    config.min_match = 2 * WINDOW;
    for (size_t i = 0; i < LEN; i++)
        bytes[i] = (uint8_t)test_random(&random);
    for (int step = STEP; step >= WINDOW; step -= STEP - WINDOW) {
        struct sl_matcher *matcher;
        struct sl_matcher_stats stats;
        uint64_t n_changed = 0;

        assert_int_equal(sl_matcher_create(&matcher, &config, NULL), SL_OK);
        for (int round = 0; round < 2; round++) {
            struct sl_hits hits = {sample_space, SAMPLES, 0, false};
            const struct sl_match *matches;
            struct single single;
            size_t n;

            for (size_t i = FIRST; round == 1 && i <= LAST; i += (size_t)step) {
                bytes[i] ^= 0xFF;
                n_changed++;
            }
            single_init(&single, bytes, LEN);
            fixture_sample(&single.batch, WINDOW, 1, &hits);
            assert_int_equal(sl_matcher_batch(matcher, &single.batch, &hits, &matches, &n, NULL),
                             SL_OK);
        }
        sl_matcher_stats(matcher, &stats);
        /* 39 bytes are half of 64 and more; 31 are not. */
        const uint64_t last = FIRST + (n_changed - 1) * (uint64_t)step;
        assert_int_equal(stats.matched_bytes,
                         step == STEP ? LEN - n_changed : LEN - 1 - (last - FIRST));
        sl_matcher_free(matcher);
    }
}

/* A bucket is a queue of eight. The first that was put is the first that is lost; one that comes
 * again gets its old place. */
static void test_buckets_are_queues(void **state)
{
    struct fingerprint_index index;

    (void)state;
    assert_int_equal(index_create(&index, 1, NULL), SL_OK);
    assert_int_equal(index.n_buckets, 1);
    for (uint64_t tag = 1; tag <= INDEX_WAYS + 1; tag++)
        assert_true(index_put(&index, tag << 16, tag << 40 | tag) == UINT64_MAX);
    assert_true(index_get(&index, 1 << 16) == UINT64_MAX);
    for (uint64_t tag = 2; tag <= INDEX_WAYS + 1; tag++)
        assert_true(index_get(&index, tag << 16) == (tag << 40 | tag));
    assert_true(index_put(&index, 5 << 16, 77) == (UINT64_C(5) << 40 | 5));
    assert_true(index_get(&index, 5 << 16) == 77);
    index_clear(&index);
    assert_true(index_get(&index, 5 << 16) == UINT64_MAX);
    index_free(&index);
}

/* The hashes of a seed are found, but for a few, and 100,000 of them take little memory. */
static void check_growth(uint64_t index_len, uint64_t seed)
{
    enum { ENTRIES = 100000 };
    const uint64_t before = test_memory_of("VmRSS:");
    struct fingerprint_index index;
    uint64_t random = seed, lost = 0;

    assert_int_equal(index_create(&index, index_len, NULL), SL_OK);
    const uint64_t begin = index.n_buckets;
    for (uint64_t i = 1; i <= ENTRIES; i++)
        index_put(&index, test_random(&random), i);
    random = seed;
    for (uint64_t i = 1; i <= ENTRIES; i++)
        lost += index_get(&index, test_random(&random)) != i;
    assert_true(lost < 10);
    assert_true(test_memory_of("VmRSS:") - before < 64 << 20);
    index_clear(&index);
    assert_int_equal(index.n_buckets, begin);
    random = seed;
    assert_true(index_get(&index, test_random(&random)) == UINT64_MAX);
    index_free(&index);
}

static void test_the_index_grows(void **state)
{
    (void)state;
    check_growth(16 << 20, 1);
    check_growth(700 << 20, 2);
}

/* Indices that take turns hold what each would alone, and leave the others' buckets. */
static void test_indices_take_turns(void **state)
{
    enum { N_LOG = 2, N = 1 << N_LOG, BUCKETS = 16 * 75, ENTRIES = 20000 };
    const uint64_t room = index_room(BUCKETS, N_LOG);
    struct index_bucket *const memory = aligned_alloc(64, room * sizeof *memory);
    struct fingerprint_index turns[N], alone[N];
    uint64_t random = 3;

    (void)state;
    memset(memory, 0, room * sizeof *memory);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(index_create(&alone[i], BUCKETS * sizeof *memory, NULL), SL_OK);
        alone[i].shift -= N_LOG;
        index_place(&turns[i], memory, BUCKETS, N_LOG, i);
    }
    for (uint64_t at = 1; at <= ENTRIES; at++) {
        const uint64_t hash = test_random(&random) >> (at % 3 == 0) * 2; /* the first has more */
        const uint32_t i = (uint32_t)(hash >> (64 - N_LOG));

        assert_int_equal(index_put(&turns[i], hash, at), index_put(&alone[i], hash, at));
    }
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(turns[i].n_buckets, BUCKETS);
        for (uint64_t k = 0; k < BUCKETS; k++)
            assert_memory_equal(index_bucket_at(&turns[i], k), &alone[i].buckets[k],
                                sizeof *memory);
        index_free(&alone[i]);
        index_clear(&turns[i]);
    }
    for (uint64_t k = 0; k < room; k++) /* all are cleared once each has grown to its most */
        assert_int_equal(memory[k].tag[0], 0);
    free(memory);
}

/* A run is one reference into itself. */
static void test_runs_refer_to_themselves(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct pair pair;
    struct sl_hits hits = {sample_space, SAMPLES, 0, false};
    struct single single;
    uint8_t bytes[4000] = {0};

    (void)state;
    pair_open(&pair, &config);
    single_init(&single, bytes, sizeof bytes);
    fixture_sample(&single.batch, config.window, 1, &hits);
    assert_int_equal(hits.n, sizeof bytes - config.window + 1);
    assert_int_equal(sl_encoder_batch(pair.encoder, &single.batch, &hits, NULL), SL_OK);
    assert_true(sl_encoder_frame(pair.encoder, 0, pair.frame) < SL_FRAME_HEADER_LEN + 32);
    pair_close(&pair);
}

/* Content that cannot be found again costs the header and nothing more. */
static void test_never_larger(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct pair pair;
    uint64_t random = 99;
    uint8_t bytes[1000];

    (void)state;
    pair_open(&pair, &config);
    for (int i = 0; i < 200; i++) {
        struct single single;

        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)test_random(&random);
        single_init(&single, bytes, sizeof bytes);
        round_trip(&pair, &config, &single.batch);
    }
    pair_close(&pair);
}

static void test_bad_calls(void **state)
{
    struct sl_redundancy_config config = small_config();
    struct sl_encoder *encoder;
    struct sl_diag diag = {0};
    struct single single;
    uint8_t bytes[100] = {0};
    struct sl_hit hit = {1, 0, 1};
    struct sl_hits hits = {&hit, 1, 1, false};

    (void)state;
    config.cache_len = SL_REDUNDANCY_CACHE_MIN - 1;
    assert_int_equal(sl_encoder_create(&encoder, &config, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "a cache of 1048575 (expected 1048576 to"));
    config.cache_len = UINT64_C(1) << 45;
    assert_int_equal(sl_encoder_create(&encoder, &config, &diag), SL_ENOMEM);
    assert_non_null(strstr(diag.text, "this machine has"));
    config = small_config();
    config.min_match = 15;
    assert_int_equal(sl_encoder_create(&encoder, &config, &diag), SL_EINVAL);
    config = small_config();
    config.n_in_flight = 3;
    assert_int_equal(sl_encoder_create(&encoder, &config, &diag), SL_EINVAL);

    config = small_config();
    config.frame_max = 99;
    assert_int_equal(sl_encoder_create(&encoder, &config, &diag), SL_OK);
    single_init(&single, bytes, 100);
    assert_int_equal(sl_encoder_batch(encoder, &single.batch, &hits, &diag), SL_EINVAL);
    single_init(&single, bytes, 50);
    assert_int_equal(sl_encoder_batch(encoder, &single.batch, &hits, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "a hit in item 1 of 1"));
    hit = (struct sl_hit){0, 40, 1}; /* a window that leaves the payload is passed over */
    assert_int_equal(sl_encoder_batch(encoder, &single.batch, &hits, &diag), SL_OK);
    hit = (struct sl_hit){0, UINT32_MAX, 1};
    assert_int_equal(sl_encoder_batch(encoder, &single.batch, &hits, &diag), SL_OK);

    struct sl_hit two[] = {{7, 0, 1}, {0, 0, 1}};
    struct sl_hits wrong = {two, 2, 2, true}; /* they are in no order, whatever it says */
    assert_int_equal(sl_encoder_batch(encoder, &single.batch, &wrong, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "a hit in item 7 of 1"));
    sl_encoder_free(encoder);
}

/* ---- damage ---------------------------------------------------------------------------------- */

enum { STREAM_PACKETS = 12, PACKET_MAX = 400 };

struct sent {
    uint8_t packet[STREAM_PACKETS][PACKET_MAX];
    uint32_t packet_len[STREAM_PACKETS];
    uint8_t frame[STREAM_PACKETS][PACKET_MAX + SL_FRAME_HEADER_LEN];
    uint32_t frame_len[STREAM_PACKETS];
};

static void send_stream(struct sent *sent, struct traffic *traffic, struct sl_encoder *encoder,
                        const struct sl_redundancy_config *config)
{
    for (uint32_t i = 0; i < STREAM_PACKETS; i++) {
        struct sl_hits hits = {sample_space, SAMPLES, 0, false};
        struct single single;

        sent->packet_len[i] = test_below(&traffic->random, PACKET_MAX + 1);
        traffic_packet(traffic, sent->packet[i], sent->packet_len[i]);
        single_init(&single, sent->packet[i], sent->packet_len[i]);
        fixture_sample(&single.batch, config->window, config->period, &hits);
        assert_int_equal(sl_encoder_batch(encoder, &single.batch, &hits, NULL), SL_OK);
        sent->frame_len[i] = sl_encoder_frame(encoder, 0, sent->frame[i]);
    }
}

/* Returns the new length. */
static uint32_t damage(uint8_t *frame, uint32_t len, uint64_t *random)
{
    switch (test_below(random, 4)) {
    case 0: /* bits */
        for (uint32_t n = 1 + test_below(random, 3); n > 0; n--)
            frame[test_below(random, len)] ^= (uint8_t)(1 << test_below(random, 8));
        return len;
    case 1: /* cut */
        return test_below(random, len);
    case 2: /* bytes of another frame's */
        for (uint32_t n = test_below(random, len); n < len; n++)
            frame[n] = (uint8_t)test_random(random);
        return len;
    default: /* one number */
        frame[test_below(random, len < 40 ? len : 40)] = (uint8_t)test_random(random);
        return len;
    }
}

/* Frames come in a changed order, some of them twice, some never, some damaged: each delivered
 * packet is as it was sent. Returns how many were delivered. */
static uint32_t receive_damaged(struct sent *sent, struct sl_decoder *decoder, uint64_t *random)
{
    uint32_t n_delivered = 0;

    for (uint32_t i = 0; i < STREAM_PACKETS * 2; i++) {
        const uint32_t k =
            test_below(random, 4) != 0 ? i % STREAM_PACKETS : test_below(random, STREAM_PACKETS);
        uint8_t frame[PACKET_MAX + SL_FRAME_HEADER_LEN];
        uint32_t len = sent->frame_len[k];
        const uint8_t *packet;
        uint32_t packet_len;

        memcpy(frame, sent->frame[k], len);
        if (test_below(random, 3) == 0)
            len = damage(frame, len, random);
        if (sl_decoder_decode(decoder, frame, len, &packet, &packet_len) != SL_FRAME_DELIVERED) {
            assert_null(packet);
            continue;
        }
        assert_int_equal(packet_len, sent->packet_len[k]);
        assert_memory_equal(packet, sent->packet[k], packet_len);
        n_delivered++;
    }
    return n_delivered;
}

static void test_damaged_streams(void **state)
{
    struct sl_redundancy_config config = small_config();
    const char *const wanted = getenv("SLUICE_TEST_STREAMS");
    const uint64_t n_streams =
        wanted != NULL ? strtoull(wanted, NULL, 10) : test_fewer(10000, 2000);
    uint64_t n_delivered = 0;
    struct sent *const sent = malloc(sizeof *sent);

    (void)state;
    config.index_len = 4096;
    config.batch_len = 4096;
    config.period = 4;
    for (uint64_t seed = 1; seed <= n_streams; seed++) {
        struct sl_encoder *encoder;
        struct sl_decoder *decoder;
        struct traffic traffic;

        traffic_init(&traffic, seed, 2048);
        config.epoch = (uint32_t)test_random(&traffic.random);
        assert_int_equal(sl_encoder_create(&encoder, &config, NULL), SL_OK);
        assert_int_equal(sl_decoder_create(&decoder, &config, NULL), SL_OK);
        send_stream(sent, &traffic, encoder, &config);
        n_delivered += receive_damaged(sent, decoder, &traffic.random);
        sl_encoder_free(encoder);
        sl_decoder_free(decoder);
        traffic_free(&traffic);
    }
    print_message("%llu streams, %llu packets delivered, none wrong\n",
                  (unsigned long long)n_streams, (unsigned long long)n_delivered);
    assert_true(n_delivered > n_streams * 2);
    free(sent);
}

/* ---- captures -------------------------------------------------------------------------------- */

/* user: the packets so far. */
static void round_trip_capture(void *user, const char *path)
{
    struct sl_redundancy_config config = small_config();
    struct sl_capture *capture;
    struct sl_batch *batch;
    struct sl_diag diag;
    struct pair pair;
    uint64_t *const n_packets = user;
    enum sl_status status = SL_OK;

    if (sl_capture_open_file(&capture, path, 0, &diag) != SL_OK)
        return; /* some are made to be refused */
    config.window = 32;
    config.period = 16;
    config.frame_max = SL_CAPTURE_PACKET_MAX;
    pair_open(&pair, &config);
    assert_int_equal(sl_batch_create(&batch, config.batch_len, 4096, NULL), SL_OK);
    while (status == SL_OK) {
        sl_batch_reset(batch);
        status = sl_capture_read(capture, batch, &diag);
        round_trip(&pair, &config, batch);
        *n_packets += batch->n_items;
    }
    sl_batch_free(batch);
    pair_close(&pair);
    sl_capture_close(capture);
}

/* Each length that XXH3 treats in its own way, and some blocks of 1,024 bytes, at any address. */
static void test_checks_agree(void **state)
{
    enum { LEN = 4200 };
    static uint8_t bytes[FRAME_CHECKED_LEN + LEN];
    struct traffic traffic;

    (void)state;
    if (cpu_level() < CPU_AVX2)
        test_skip("this CPU, or SLUICE_CPU, has no AVX2");
    traffic_init(&traffic, 9, 1 << 16);
    traffic_packet(&traffic, bytes, sizeof bytes);
    for (uint32_t len = 0; len <= LEN; len++) {
        const uint8_t *const packet = bytes + FRAME_CHECKED_LEN + (LEN - len);

        assert_int_equal(frame_check_avx2(bytes, packet, len),
                         frame_check_scalar(bytes, packet, len));
    }
    traffic_free(&traffic);
}

static void test_captures(void **state)
{
    uint64_t n_packets = 0;
    const uint64_t n_files = fixture_each_capture(round_trip_capture, &n_packets);

    (void)state;
    print_message("%llu files, %llu packets\n", (unsigned long long)n_files,
                  (unsigned long long)n_packets);
    assert_true(n_packets > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches_are_true_and_complete),
        cmocka_unit_test(test_offsets_begin_anew),
        cmocka_unit_test(test_long_streams),
        cmocka_unit_test(test_edges_of_packets),
        cmocka_unit_test(test_changed_content),
        cmocka_unit_test(test_buckets_are_queues),
        cmocka_unit_test(test_the_index_grows),
        cmocka_unit_test(test_indices_take_turns),
        cmocka_unit_test(test_runs_refer_to_themselves),
        cmocka_unit_test(test_never_larger),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_damaged_streams),
        cmocka_unit_test(test_checks_agree),
        cmocka_unit_test(test_captures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
