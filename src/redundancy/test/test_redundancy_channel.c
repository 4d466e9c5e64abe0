/* SPDX-License-Identifier: MIT */
/* The live API over a model of a bad link. Frames and feedback are lost, reordered, repeated, sent
 * again long after, and damaged. Either side starts anew with nothing. No wrong byte is delivered,
 * and when the link is good again all packets come through again. */
#include "redundancy_fixture.h"

enum {
    PACKET_MAX = 700,
    DELAY_MAX = 8192, /* frames or feedback under way */
    OLD_MAX = 4096,   /* that may be sent once more */
    SAMPLES = 4096,
    FEEDBACK_EVERY = 8, /* packets */
    HISTORY = 1 << 20   /* bytes that traffic repeats */
};

struct channel {
    const char *name;
    uint32_t loss, repeat, flip, replay;   /* of 1,000 */
    uint32_t delay;                        /* how far frames may be moved */
    uint32_t restart;                      /* of 100,000, each side */
    bool loss_there;                       /* all frames are lost, feedback comes through */
    bool stale_epoch;                      /* the encoder starts again in an epoch that it had */
    uint64_t encoder_cache, decoder_cache; /* bytes */
    bool acknowledged;
};

struct parcel {
    uint8_t bytes[PACKET_MAX + SL_FRAME_HEADER_LEN + SL_FEEDBACK_MAX];
    uint32_t len;
};

/* Parcels under way, delivered in an order that the channel chooses. */
struct way {
    struct parcel parcels[DELAY_MAX];
    uint32_t n;
    struct parcel old[OLD_MAX]; /* the frames that came, each at a random place */
    uint32_t n_old;
};

struct run {
    const struct channel *channel;
    struct sl_redundancy_config config;
    struct sl_encoder *encoder;
    struct sl_decoder *decoder;
    struct traffic traffic;
    struct way *there, *back;
    uint8_t **sent; /* every packet, by its number in its first four bytes */
    uint32_t *sent_len;
    uint64_t n_sent, n_delivered, n_bytes, n_frame_bytes, n_restarts;
    uint64_t frames[SL_N_FRAME_VERDICTS]; /* of decoders that have ended too */
    uint64_t resent, epochs;
    bool *came; /* the packets that came, for the end */
};

static struct sl_hit sample_space[SAMPLES];

static uint32_t below(struct run *run, uint32_t n)
{
    return test_below(&run->traffic.random, n);
}

/* ---- sides ----------------------------------------------------------------------------------- */

static void count_encoder(struct run *run)
{
    struct sl_encoder_stats stats;

    sl_encoder_stats(run->encoder, &stats);
    run->resent += stats.resent;
    run->epochs += stats.epochs;
    run->n_frame_bytes += stats.frame_bytes;
}

static void count_decoder(struct run *run)
{
    struct sl_decoder_stats stats;

    sl_decoder_stats(run->decoder, &stats);
    for (int i = 0; i < SL_N_FRAME_VERDICTS; i++)
        run->frames[i] += stats.frames[i];
}

static void open_encoder(struct run *run)
{
    assert_int_equal(sl_encoder_create(&run->encoder, &run->config, NULL), SL_OK);
    if (!run->channel->stale_epoch)
        run->config.epoch++;
}

static void open_decoder(struct run *run)
{
    struct sl_redundancy_config config = run->config;

    config.cache_len = run->channel->decoder_cache;
    assert_int_equal(sl_decoder_create(&run->decoder, &config, NULL), SL_OK);
}

static void restart_encoder(struct run *run)
{
    count_encoder(run);
    sl_encoder_free(run->encoder);
    open_encoder(run);
    run->n_restarts++;
}

static void restart_decoder(struct run *run)
{
    count_decoder(run);
    sl_decoder_free(run->decoder);
    open_decoder(run);
    run->n_restarts++;
}

static void maybe_restart(struct run *run)
{
    if (below(run, 100000) < run->channel->restart)
        restart_encoder(run);
    if (below(run, 100000) < run->channel->restart)
        restart_decoder(run);
}

/* ---- the link -------------------------------------------------------------------------------- */

static void receive_frame(struct run *run, const struct parcel *parcel)
{
    const uint8_t *packet;
    uint32_t len, number;

    if (sl_decoder_decode(run->decoder, parcel->bytes, parcel->len, &packet, &len) !=
        SL_FRAME_DELIVERED)
        return;
    assert_true(len >= sizeof number);
    memcpy(&number, packet, sizeof number);
    assert_true(number < run->n_sent);
    assert_int_equal(len, run->sent_len[number]);
    assert_memory_equal(packet, run->sent[number], len);
    run->came[number] = true;
    run->n_delivered++;
}

static void receive_feedback(struct run *run, const struct parcel *parcel)
{
    sl_encoder_feedback(run->encoder, parcel->bytes, parcel->len);
}

static void deliver(struct run *run, struct way *way, uint32_t i,
                    void (*receive)(struct run *, const struct parcel *))
{
    const bool has_room = way->n_old < OLD_MAX;

    receive(run, &way->parcels[i]);
    if (run->channel->replay > 0)
        way->old[has_room ? way->n_old++ : below(run, OLD_MAX)] = way->parcels[i];
    if (below(run, 1000) < run->channel->replay)
        receive(run, &way->old[below(run, way->n_old)]);
    way->parcels[i] = way->parcels[--way->n];
}

static void put_parcel(struct run *run, struct way *way, const uint8_t *bytes, uint32_t len,
                       void (*receive)(struct run *, const struct parcel *))
{
    const struct channel *const channel = run->channel;
    const uint32_t copies = below(run, 1000) < channel->repeat ? 2 : 1;

    for (uint32_t i = 0; i < copies; i++) {
        if (below(run, 1000) < channel->loss || (channel->loss_there && way == run->there))
            continue;
        while (way->n > channel->delay || way->n == DELAY_MAX)
            deliver(run, way, channel->delay == 0 ? 0 : below(run, way->n), receive);

        struct parcel *const parcel = &way->parcels[way->n++];
        memcpy(parcel->bytes, bytes, len);
        parcel->len = len;
        if (len > 0 && below(run, 1000) < channel->flip)
            parcel->bytes[below(run, len)] ^= (uint8_t)(1 << below(run, 8));
        if (channel->delay == 0)
            deliver(run, way, 0, receive);
    }
}

static void send_feedback(struct run *run)
{
    uint8_t bytes[SL_FEEDBACK_MAX];
    uint8_t frame[PACKET_MAX + SL_FRAME_HEADER_LEN];
    uint32_t len = sl_decoder_feedback(run->decoder, bytes);

    put_parcel(run, run->back, bytes, len, receive_feedback);
    while ((len = sl_encoder_resend(run->encoder, frame)) > 0)
        put_parcel(run, run->there, frame, len, receive_frame);
}

static void send_packet(struct run *run)
{
    struct sl_hits hits = {sample_space, SAMPLES, 0, false};
    const uint32_t number = (uint32_t)run->n_sent;
    const uint32_t len = (uint32_t)sizeof number + below(run, PACKET_MAX - sizeof number);
    uint8_t *const packet = malloc(len);
    uint8_t frame[PACKET_MAX + SL_FRAME_HEADER_LEN];
    struct single single;

    traffic_packet(&run->traffic, packet, len);
    memcpy(packet, &number, sizeof number);
    run->sent[number] = packet;
    run->sent_len[number] = len;
    run->n_sent++;
    run->n_bytes += len;
    single_init(&single, packet, len);
    fixture_sample(&single.batch, run->config.window, run->config.period, &hits);
    assert_int_equal(sl_encoder_batch(run->encoder, &single.batch, &hits, NULL), SL_OK);
    put_parcel(run, run->there, frame, sl_encoder_frame(run->encoder, 0, frame), receive_frame);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* The bound of sluice/redundancy.h: packets encoded after two feedbacks came through are all made.
 */
enum { GOOD_PACKETS = 150, LOST_MAX = 2 };

static void empty_ways(struct run *run)
{
    while (run->there->n > 0)
        deliver(run, run->there, 0, receive_frame);
    while (run->back->n > 0)
        deliver(run, run->back, 0, receive_feedback);
}

/* Over a good link with feedback after each packet: all but the first few come, and soon packets
 * are sent as references again. The cost of that is printed. */
static void expect_recovery(struct run *run, const char *after)
{
    static const struct channel good = {.name = "good"};
    const struct channel *const bad = run->channel;
    const uint64_t begin = run->n_sent;
    uint64_t n_lost = 0, n_raw = 0, n_late_raw = 0;

    run->channel = &good;
    for (int i = 0; i < GOOD_PACKETS; i++) {
        struct sl_encoder_stats before, now;

        sl_encoder_stats(run->encoder, &before);
        send_packet(run);
        sl_encoder_stats(run->encoder, &now);
        n_raw += now.raw_frames - before.raw_frames;
        if (i >= GOOD_PACKETS / 2)
            n_late_raw += now.raw_frames - before.raw_frames;
        send_feedback(run);
    }
    for (uint64_t i = begin; i < run->n_sent; i++)
        n_lost += run->came[i] ? 0 : 1;
    print_message("  a good link after %s: %llu packets lost, %llu of %d without a reference\n",
                  after, (unsigned long long)n_lost, (unsigned long long)n_raw, GOOD_PACKETS);
    assert_true(n_lost <= LOST_MAX);
    assert_true(n_late_raw < GOOD_PACKETS / 2 - 4); /* new logs hold little to refer to */
    run->channel = bad;
}

/* The encoder starts anew in the epoch that it is in, and its first packets are lost: the decoder
 * then acknowledges other packets. */
static void restart_unnoticed(struct run *run, int n_lost, bool reports_early)
{
    static const struct channel one_way = {.name = "one way", .loss_there = true};
    const struct channel *const bad = run->channel;
    const uint32_t epoch = run->config.epoch;

    run->config.epoch = run->channel->stale_epoch ? epoch : epoch - 1;
    restart_encoder(run);
    run->config.epoch = epoch;
    run->channel = &one_way;
    for (int i = 0; i < n_lost; i++) {
        send_packet(run);
        if (reports_early || i == n_lost - 1)
            send_feedback(run);
    }
    run->channel = bad;
}

static void expect_recoveries(struct run *run)
{
    empty_ways(run);
    expect_recovery(run, "this");
    restart_decoder(run);
    expect_recovery(run, "a restart of the decoder");
    restart_encoder(run);
    expect_recovery(run, "a restart of the encoder");
    restart_encoder(run);
    restart_decoder(run);
    expect_recovery(run, "restarts of both");
    restart_unnoticed(run, 20, true);
    expect_recovery(run, "a restart in the same epoch, unnoticed");
    restart_encoder(run);
    restart_decoder(run);
    expect_recovery(run, "restarts of both");
    restart_unnoticed(run, 400, false);
    expect_recovery(run, "the same, with log that seems acknowledged");
}

/* Nine of ten of those that are neither lost nor damaged nor under way have come; two of three
 * where so much is under way that the bytes that frames refer to are evicted before they come. */
static void expect_delivery(const struct run *run)
{
    const uint64_t n_whole =
        run->n_sent * (1000 - run->channel->loss - run->channel->flip) / 1000 - run->there->n;
    const uint64_t percent = run->channel->delay > 1000 ? 67 : 90;

    assert_true(run->n_delivered * 100 >= n_whole * percent);
}

static void run_channel(const struct channel *channel, uint64_t seed, uint64_t n_packets)
{
    struct run *const run = calloc(1, sizeof *run);
    const uint64_t room = n_packets + 7 * GOOD_PACKETS + 420;

    run->channel = channel;
    sl_redundancy_config_init(&run->config);
    run->config.cache_len = channel->encoder_cache;
    run->config.batch_len = 4096;
    run->config.window = run->config.min_match = 16;
    run->config.period = 4;
    run->config.n_in_flight = 8192;
    run->config.acknowledged = channel->acknowledged;
    run->config.epoch = (uint32_t)seed * 0x60000000u; /* epochs wrap around too */
    run->sent = calloc(room, sizeof *run->sent);
    run->sent_len = calloc(room, sizeof *run->sent_len);
    run->came = calloc(room, sizeof *run->came);
    run->there = calloc(2, sizeof *run->there);
    run->back = run->there + 1;
    traffic_init(&run->traffic, seed, HISTORY);
    open_encoder(run);
    open_decoder(run);
    while (run->n_sent < n_packets) {
        send_packet(run);
        if (run->n_sent % FEEDBACK_EVERY == 0)
            send_feedback(run);
        maybe_restart(run);
    }
    count_encoder(run);
    count_decoder(run);
    print_message("%s, seed %llu: %llu packets, %llu delivered, %.1f %% of the bytes sent; "
                  "%llu unresolved, %llu resent, %llu late, %llu repeated, %llu damaged; "
                  "%llu restarts, %llu epochs\n",
                  channel->name, (unsigned long long)seed, (unsigned long long)run->n_sent,
                  (unsigned long long)run->n_delivered,
                  100.0 * (double)run->n_frame_bytes / (double)run->n_bytes,
                  (unsigned long long)run->frames[SL_FRAME_UNRESOLVED],
                  (unsigned long long)run->resent, (unsigned long long)run->frames[SL_FRAME_LATE],
                  (unsigned long long)run->frames[SL_FRAME_REPEATED],
                  (unsigned long long)run->frames[SL_FRAME_DAMAGED],
                  (unsigned long long)run->n_restarts, (unsigned long long)run->epochs);
    expect_delivery(run);
    expect_recoveries(run);

    sl_encoder_free(run->encoder);
    sl_decoder_free(run->decoder);
    traffic_free(&run->traffic);
    for (uint64_t i = 0; i < room; i++)
        free(run->sent[i]);
    free(run->sent);
    free(run->sent_len);
    free(run->came);
    free(run->there);
    free(run);
}

#define CACHE SL_REDUNDANCY_CACHE_MIN

static const struct channel channels[] = {
    {.name = "no loss", .encoder_cache = CACHE, .decoder_cache = CACHE, .acknowledged = true},
    {.name = "loss 1 %",
     .loss = 10,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "loss 30 %",
     .loss = 300,
     .delay = 4,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "reordered, repeated",
     .repeat = 100,
     .delay = 30,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "damaged",
     .flip = 200,
     .delay = 3,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "restarts",
     .restart = 200,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "all of it",
     .loss = 100,
     .repeat = 50,
     .flip = 50,
     .delay = 16,
     .restart = 100,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "all of it, epochs that were",
     .loss = 100,
     .repeat = 50,
     .flip = 50,
     .delay = 16,
     .restart = 100,
     .stale_epoch = true,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "all of it, and old frames and feedback",
     .loss = 100,
     .repeat = 50,
     .flip = 50,
     .replay = 100,
     .delay = 16,
     .restart = 100,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "larger cache there",
     .loss = 50,
     .encoder_cache = CACHE,
     .decoder_cache = 4 * CACHE,
     .acknowledged = true},
    {.name = "smaller cache there",
     .loss = 50,
     .encoder_cache = 4 * CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "caches smaller than what is under way",
     .loss = 20,
     .delay = 6000,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE,
     .acknowledged = true},
    {.name = "no loss, not acknowledged, restarts",
     .restart = 200,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE},
    {.name = "loss 5 %, not acknowledged",
     .loss = 50,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE},
    {.name = "all of it, not acknowledged, epochs that were",
     .loss = 20,
     .repeat = 50,
     .flip = 20,
     .replay = 100,
     .delay = 4,
     .restart = 100,
     .stale_epoch = true,
     .encoder_cache = CACHE,
     .decoder_cache = CACHE},
};

#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 1 }; /* each is slow */
#else
enum { SEEDS = 2 };
#endif

static void test_channel(void **state)
{
    const char *const wanted = getenv("SLUICE_TEST_PACKETS");
    const uint64_t n_packets =
        wanted != NULL ? strtoull(wanted, NULL, 10) : test_fewer(20000, 8000);

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_channel((const struct channel *)*state, seed, n_packets);
}

int main(void)
{
    struct CMUnitTest tests[sizeof channels / sizeof *channels];

    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
        tests[i] = (struct CMUnitTest){.name = channels[i].name,
                                       .test_func = test_channel,
                                       .initial_state = (void *)&channels[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
