/* SPDX-License-Identifier: MIT */
/* Two sides of a pair over a model of a bad path, with a clock of its own. Sides are killed and
 * start again, also with their clock set back. No wrong byte and no packet twice comes out, nothing
 * is unresolved where no side was killed, and when the path is good again all packets come. */
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "redundancy/test/redundancy_fixture.h"
#include "relay.h"
#include "sluice/redundancy.h"
#include "test.h"
#include "tunnel/pair.h"
#include "tunnel/sampler.h"

#define MS UINT64_C(1000000)

enum {
    MTU = 1400,
    DATAGRAM = 1452,
    HEADERS = 28,
    NUMBERED = HEADERS + 8,
    HISTORY = 1 << 20,
    BURST = 24,
    FLOWS = 6, /* of each side; the source port tells which */
    FIRST_PORT = 1000,
    STEP_US = 200
};

struct scene {
    struct relay_config relay;
    uint32_t kill;          /* of 100,000 steps, each side */
    bool clock_back;        /* a side that starts again has an earlier time */
    uint32_t mtu_later;     /* of the path in the second half; 0: the same */
    uint32_t min_delivered; /* percent of what no fault took */
    bool resolves;          /* no packet may be unresolved */
    bool packs, pads;       /* zstd; datagrams of one length */
    bool keeps;             /* a side that starts again has a cache, which may be an old one */
    bool overtakes;         /* a datagram may be replayed before it comes by the path */
};

struct side {
    struct world *world;
    int number;
    struct pair *pair;
    struct network allowed;
    uint64_t time_s; /* of its own clock */
    int kept;        /* a file of its caches */
    uint64_t ended_deaths, unresolved, packets_in, bytes_in, bytes_sent;
    uint64_t dropped[PAIR_DROPS];
};

struct world {
    const struct scene *scene;
    struct side side[2];
    struct relay *relay;
    struct traffic traffic;
    uint64_t random, now;
    uint64_t *sent; /* the hash of each packet, by its number */
    uint8_t *came;  /* how often */
    uint64_t n_sent, n_came, n_twice, n_kills;
    uint64_t newest[2][FLOWS]; /* number of each side's flow that came */
    bool hears;
    struct forecast *forecast; /* NULL: nobody asks */
};

static void hear(const uint8_t *bytes, uint32_t len);

static uint64_t of_environment(const char *name, uint64_t without)
{
    const char *const asked = getenv(name);

    return asked != NULL ? strtoull(asked, NULL, 10) : without;
}

static const struct sockaddr_storage addresses[2] = {{.ss_family = AF_INET, .__ss_padding = "a"},
                                                     {.ss_family = AF_INET, .__ss_padding = "b"}};

/* ---- the world of a side --------------------------------------------------------------------- */

static void send_datagram(void *user, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                          const struct sockaddr_storage *to)
{
    const struct side *const side = user;

    (void)to;
    assert_true(len <= DATAGRAM);
    if (side->world->hears)
        hear(bytes, len);
    relay_send(side->world->relay, side->number, bytes, len, traffic_class, side->world->now);
}

/* A path that keeps the order of datagrams keeps that of a flow's packets. */
static void expect_order(struct world *world, const uint8_t *packet, uint64_t number)
{
    const uint32_t flow = ((uint32_t)packet[20] << 8 | packet[21]) - FIRST_PORT;
    const struct scene *const scene = world->scene;

    if (flow >= FLOWS)
        return;
    uint64_t *const newest = &world->newest[packet[13] - 1][flow];
    assert_true(scene->relay.jitter_us > 0 || scene->kill > 0 || scene->overtakes ||
                number >= *newest);
    *newest = number;
}

static void deliver(void *user, uint8_t *packet, uint32_t len)
{
    const struct side *const side = user;
    struct world *const world = side->world;
    uint64_t number;

    assert_true(len >= NUMBERED);
    memcpy(&number, packet + HEADERS, sizeof number);
    assert_true(number < world->n_sent);
    assert_true(XXH3_64bits(packet, len) == world->sent[number]);
    expect_order(world, packet, number);
    world->n_came += world->came[number] == 0 ? 1 : 0;
    world->n_twice += world->came[number] > 0 ? 1 : 0;
    world->came[number] = 1;
}

static uint64_t draw(void *user)
{
    return test_random(&((struct side *)user)->world->random);
}

static void receive(void *user, int side, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                    uint64_t now)
{
    struct world *const world = user;

    pair_datagram(world->side[side].pair, bytes, len, traffic_class, &addresses[1 - side], now);
}

/* ---- sides ----------------------------------------------------------------------------------- */

static void create(struct side *side)
{
    const struct pair_world world = {side, send_datagram, deliver, draw};
    struct pair_config config = {.cache_len = UINT64_C(1) << 20,
                                 .allowed = &side->allowed,
                                 .n_allowed = 1,
                                 .endpoint = addresses[1 - side->number],
                                 .mtu = MTU,
                                 .datagram_max = DATAGRAM,
                                 .dead_after = 1000 * MS,
                                 .compresses = side->world->scene->packs,
                                 .pads = side->world->scene->pads,
                                 .epoch = (uint32_t)side->time_s};

    sl_sampling_config_init(&config.sampling);
    config.sampling.window = 16;
    config.sampling.period = 8;
    assert_int_equal(pair_create(&side->pair, &config, &world, side->world->now, NULL), SL_OK);
}

/* *sends: as pair_load has it. */
static enum sl_status load(struct side *side, bool *sends)
{
    assert_int_equal(lseek(side->kept, 0, SEEK_SET), 0);
    return pair_load(side->pair, side->kept, sends, NULL);
}

static void start(struct side *side)
{
    bool sends;

    create(side);
    assert_int_equal(load(side, &sends), SL_OK);
}

static void keep(struct side *side)
{
    assert_int_equal(ftruncate(side->kept, 0), 0);
    assert_int_equal(lseek(side->kept, 0, SEEK_SET), 0);
    assert_int_equal(pair_save(side->pair, side->kept, NULL), SL_OK);
}

static void stop(struct side *side)
{
    struct pair_stats stats;

    pair_stats(side->pair, &stats);
    side->unresolved += stats.frames[3];
    side->packets_in += stats.packets_in;
    side->bytes_in += stats.bytes_in;
    side->bytes_sent += stats.bytes_sent;
    for (int i = 0; i < PAIR_DROPS; i++)
        side->dropped[i] += stats.dropped[i];
    pair_free(side->pair);
}

static void maybe_kill(struct side *side)
{
    struct world *const world = side->world;

    if (world->scene->kill == 0 || test_below(&world->random, 100000) >= world->scene->kill)
        return;
    if (world->scene->keeps && test_below(&world->random, 2) == 0)
        keep(side);
    stop(side);
    side->time_s += world->scene->clock_back ? (uint64_t)0 - 1000 : 1;
    start(side);
    world->n_kills++;
}

/* The same as `sluice run --redundancy ...,rtt=MS` does with a packet of a capture. */
struct forecast {
    struct sampler sampler;
    struct sl_savings *savings;
    struct sl_batch *batch;
};

static void foresee(struct forecast *forecast, const uint8_t *packet, uint32_t len, uint64_t now)
{
    struct sl_batch *const batch = forecast->batch;

    sl_batch_reset(batch);
    sl_batch_add(batch, packet + HEADERS, len - HEADERS, 0);
    batch->origin[0].time_ns = (int64_t)now;
    assert_int_equal(sampler_take(&forecast->sampler, batch, NULL), SL_OK);
    assert_int_equal(sl_savings_batch(forecast->savings, batch, &forecast->sampler.hits, NULL),
                     SL_OK);
}

/* A datagram of one of a few flows. The content of some of them never repeats. */
static void send_packet(struct side *side)
{
    struct world *const world = side->world;
    const uint32_t flow = test_below(&world->random, FLOWS);
    const uint32_t len = NUMBERED + test_below(&world->random, MTU - NUMBERED + 1);
    const uint64_t number = world->n_sent;
    uint8_t packet[MTU] = {0x45, 0};

    if (flow < 4)
        traffic_packet(&world->traffic, packet + HEADERS, len - HEADERS);
    else
        for (uint32_t i = HEADERS; i < len; i++)
            packet[i] = (uint8_t)test_random(&world->random);
    store_be16(packet + 2, len);
    packet[1] = flow == 3 ? 0xB8 : 0;
    packet[8] = 64;
    packet[9] = 17;
    packet[12] = packet[16] = 10;
    packet[13] = (uint8_t)(1 + side->number);
    packet[17] = (uint8_t)(2 - side->number);
    packet[15] = packet[19] = 1;
    store_be16(packet + 20, FIRST_PORT + flow);
    store_be16(packet + 22, 9000);
    store_be16(packet + 24, len - 20);
    memcpy(packet + HEADERS, &number, sizeof number);
    world->sent[number] = XXH3_64bits(packet, len);
    world->n_sent++;
    if (world->forecast != NULL)
        foresee(world->forecast, packet, len, world->now);
    pair_packet(side->pair, packet, len, world->now);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void step(struct world *world, uint32_t most)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t n = most > 0 ? test_below(&world->random, most) : 0;

        maybe_kill(&world->side[i]);
        for (uint32_t k = 0; k < n; k++)
            send_packet(&world->side[i]);
        if (most > 0)
            pair_set_busy(world->side[i].pair, test_below(&world->random, 2) == 0);
        if (n > 0)
            pair_flush(world->side[i].pair, world->now);
    }

    const uint64_t end = world->now + STEP_US * UINT64_C(1000);
    while (relay_next(world->relay) <= end) {
        if (relay_next(world->relay) > world->now)
            world->now = relay_next(world->relay);
        relay_run(world->relay, world->now);
    }
    world->now = end;
    for (int i = 0; i < 2; i++)
        pair_tick(world->side[i].pair, world->now);
}

static void settle(struct world *world, uint64_t ms)
{
    for (uint64_t end = world->now + ms * MS; world->now < end;)
        step(world, 0);
}

/* On a good path both sides are in step within a second, and from then on all packets come. */
static void expect_recovery(struct world *world)
{
    static const struct relay_config good = {.name = "good", .delay_us = 500};
    const struct scene *const bad = world->scene;
    static const struct scene quiet = {.kill = 0};

    relay_set(world->relay, &good);
    world->scene = &quiet;
    settle(world, 1000);

    const uint64_t begin = world->n_sent, came = world->n_came;
    for (int i = 0; i < 100; i++)
        step(world, BURST);
    settle(world, 50);
    assert_true(pair_is_alive(world->side[0].pair) && pair_is_alive(world->side[1].pair));
    assert_int_equal(world->n_came - came, world->n_sent - begin);
    relay_set(world->relay, &bad->relay);
    world->scene = bad;
}

static void print_scene(const struct world *world)
{
    const struct side *const s = world->side;
    const uint64_t bytes_in = s[0].bytes_in + s[1].bytes_in;
    uint64_t dropped[PAIR_DROPS];

    for (int i = 0; i < PAIR_DROPS; i++)
        dropped[i] = s[0].dropped[i] + s[1].dropped[i];
    print_message("%s: %llu packets, %llu came, %llu twice, %.1f %% of the bytes sent; "
                  "%llu datagrams lost, %llu unresolved, %llu kills, %llu forged\n",
                  world->scene->relay.name, (unsigned long long)world->n_sent,
                  (unsigned long long)world->n_came, (unsigned long long)world->n_twice,
                  100.0 * (double)(s[0].bytes_sent + s[1].bytes_sent) / (double)bytes_in,
                  (unsigned long long)relay_lost(world->relay),
                  (unsigned long long)(s[0].unresolved + s[1].unresolved),
                  (unsigned long long)world->n_kills,
                  (unsigned long long)relay_forged(world->relay));
    for (int i = 0; i < PAIR_DROPS; i++)
        if (dropped[i] > 0)
            print_message("  %s %llu\n", pair_drop_name((enum pair_drop)i),
                          (unsigned long long)dropped[i]);
}

static void open_world(struct world *world, const struct scene *scene, uint64_t seed,
                       uint64_t n_packets)
{
    *world = (struct world){.scene = scene, .random = seed * 2 + 1, .now = 1000 * MS};
    for (int i = 0; i < 8; i++)
        test_random(&world->random);
    world->sent = calloc(n_packets, sizeof *world->sent);
    world->came = calloc(n_packets, sizeof *world->came);
    assert_true(world->sent != NULL && world->came != NULL);
    traffic_init(&world->traffic, seed, HISTORY);
    world->relay = relay_create(seed, receive, world);
    relay_set(world->relay, &scene->relay);
    for (int i = 0; i < 2; i++) {
        struct side *const side = &world->side[i];

        side->world = world;
        side->number = i;
        side->time_s = 1000000;
        side->kept = memfd_create("kept", MFD_CLOEXEC);
        assert_true(side->kept >= 0);
        assert_true(network_parse(&side->allowed, i == 0 ? "10.2.0.0/16" : "10.1.0.0/16"));
        start(side);
    }
}

static void close_world(struct world *world)
{
    for (int i = 0; i < 2; i++)
        close(world->side[i].kept);
    traffic_free(&world->traffic);
    relay_free(world->relay);
    free(world->sent);
    free(world->came);
}

static void run_scene(const struct scene *scene, uint64_t seed, uint64_t n_packets)
{
    struct world *const world = calloc(1, sizeof *world);

    open_world(world, scene, seed, n_packets + 4 * 100 * BURST + 2 * BURST);
    settle(world, 100);
    while (world->n_sent < n_packets) {
        if (scene->mtu_later > 0 && world->n_sent > n_packets / 2) {
            struct relay_config relay = scene->relay;

            relay.mtu = scene->mtu_later;
            relay_set(world->relay, &relay);
        }
        step(world, BURST);
    }
    settle(world, 300);

    const uint64_t lost = relay_lost(world->relay);
    const uint64_t came = world->n_came, sent = world->n_sent;
    expect_recovery(world);
    for (int i = 0; i < 2; i++)
        stop(&world->side[i]);
    print_scene(world);
    assert_true(came * 100 >= sent * scene->min_delivered);
    assert_int_equal(world->n_twice, 0);
    if (lost == 0 && scene->kill == 0)
        assert_int_equal(came, sent);
    if (scene->resolves)
        assert_int_equal(world->side[0].unresolved + world->side[1].unresolved, 0);
    close_world(world);
    free(world);
}

static const struct scene scenes[] = {
    {{.name = "good", .delay_us = 1000}, .min_delivered = 100, .resolves = true},
    {{.name = "loss 1 %", .loss = 10, .delay_us = 10000}, .min_delivered = 96, .resolves = true},
    {{.name = "loss 5 % in bursts", .loss = 10, .burst = 5, .delay_us = 5000},
     .min_delivered = 85,
     .resolves = true},
    {{.name = "reordered, repeated", .repeat = 50, .delay_us = 2000, .jitter_us = 3000},
     .min_delivered = 100,
     .resolves = true},
    {{.name = "slow", .delay_us = 20000, .rate = 200000000},
     .min_delivered = 100,
     .resolves = true},
    {{.name = "a shrinking path, without a word", .delay_us = 1000},
     .mtu_later = 1250,
     .min_delivered = 50},
    {{.name = "killed", .delay_us = 2000}, .kill = 300, .min_delivered = 20},
    {{.name = "killed, clocks set back", .delay_us = 2000},
     .kill = 300,
     .clock_back = true,
     .min_delivered = 20},
    {{.name = "loss 1 %, zstd, padded", .loss = 10, .delay_us = 2000},
     .packs = true,
     .pads = true,
     .min_delivered = 96,
     .resolves = true},
    {{.name = "killed, caches kept", .delay_us = 2000},
     .kill = 300,
     .keeps = true,
     .min_delivered = 20},
    {{.name = "forged, replayed, reflected",
      .replay = 500,
      .reflect = 300,
      .forge = 500,
      .delay_us = 1000},
     .min_delivered = 100,
     .resolves = true},
    {{.name = "all of it",
      .loss = 20,
      .burst = 2,
      .repeat = 30,
      .replay = 200,
      .reflect = 100,
      .forge = 200,
      .delay_us = 3000,
      .jitter_us = 2000},
     .kill = 60,
     .clock_back = true,
     .packs = true,
     .keeps = true,
     .min_delivered = 20},
};

/* ---- a cache that is kept -------------------------------------------------------------------- */

/* The same packets, whose content is new the first time. Returns the bytes that they took. */
static uint64_t send_again(struct world *world, uint64_t n)
{
    struct pair_stats before, after;
    uint64_t content = 4711;

    pair_stats(world->side[0].pair, &before);
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t len = NUMBERED + 1000;
        uint8_t packet[MTU] = {0x45, 0, (uint8_t)(len >> 8), (uint8_t)len, [8] = 64, [9] = 17};
        const uint64_t number = world->n_sent;

        packet[12] = packet[16] = 10;
        packet[13] = 1;
        packet[17] = 2;
        memcpy(packet + HEADERS, &number, sizeof number);
        for (uint32_t at = NUMBERED; at < len; at++)
            packet[at] = (uint8_t)test_random(&content);
        world->sent[world->n_sent++] = XXH3_64bits(packet, len);
        pair_packet(world->side[0].pair, packet, len, world->now);
        if (i % 8 == 7)
            step(world, 0);
        pair_flush(world->side[0].pair, world->now);
    }
    settle(world, 100);
    pair_stats(world->side[0].pair, &after);
    assert_int_equal(world->n_came, world->n_sent);
    return after.bytes_sent - before.bytes_sent;
}

static void again(struct side *side, bool keeps)
{
    if (keeps)
        keep(side);
    else
        assert_int_equal(ftruncate(side->kept, 0), 0);
    stop(side);
    side->time_s++;
    start(side);
    settle(side->world, 200);
}

/* Each side, and both, begin anew: content sent before is found, unless the cache was not kept. */
static void test_kept_caches(void **state)
{
    static const struct scene scene = {.relay = {.name = "kept", .delay_us = 1000}};
    struct world *const world = calloc(1, sizeof *world);
    const uint64_t n = 500, all = n * 1000;

    (void)state;
    open_world(world, &scene, 1, 20 * n);
    settle(world, 100);
    assert_true(send_again(world, n) > all);
    assert_true(send_again(world, n) < all / 4);
    again(&world->side[1], true);
    assert_true(send_again(world, n) < all / 4);
    again(&world->side[0], true);
    assert_true(send_again(world, n) < all / 4);
    again(&world->side[0], true);
    again(&world->side[1], true);
    assert_true(send_again(world, n) < all / 4);
    again(&world->side[1], false);
    assert_true(send_again(world, n) > all);
    for (int i = 0; i < 2; i++)
        stop(&world->side[i]);
    assert_int_equal(world->side[0].unresolved + world->side[1].unresolved, 0);
    close_world(world);
    free(world);
}

/* Of a file without its last byte the cache of what is sent goes on. Of a shorter one nothing does.
 */
static void test_cut_caches(void **state)
{
    static const struct scene scene = {.relay = {.name = "cut", .delay_us = 1000}};
    struct world *const world = calloc(1, sizeof *world);
    struct side *const side = &world->side[0];
    const uint64_t n = 500, all = n * 1000;

    (void)state;
    open_world(world, &scene, 1, 20 * n);
    settle(world, 100);
    assert_true(send_again(world, n) > all);
    for (int half = 1; half >= 0; half--) {
        bool sends;

        keep(side);
        assert_int_equal(ftruncate(side->kept, half == 1 ? lseek(side->kept, 0, SEEK_END) - 1 : 99),
                         0);
        stop(side);
        side->time_s++;
        create(side);
        assert_int_equal(load(side, &sends), half == 1 ? SL_EFORMAT : SL_ETRUNCATED);
        assert_int_equal(sends, half);
        settle(world, 200);
        assert_true(half == 1 ? send_again(world, n) < all / 4 : send_again(world, n) > all);
    }
    for (int i = 0; i < 2; i++)
        stop(&world->side[i]);
    assert_int_equal(world->side[0].unresolved + world->side[1].unresolved, 0);
    close_world(world);
    free(world);
}

/* ---- a forecast ------------------------------------------------------------------------------ */

static void open_forecast(struct forecast *forecast, uint32_t rtt_ms)
{
    struct sl_sampling_config sampling;
    struct sl_savings_config config;

    sl_sampling_config_init(&sampling);
    sampling.window = 16;
    sampling.period = 8;
    sl_savings_config_init(&config);
    config.redundancy.cache_len = 1 << 20;
    config.redundancy.window = config.redundancy.min_match = 16;
    config.redundancy.period = 8;
    config.rtt_ms = rtt_ms;
    assert_int_equal(sl_savings_create(&forecast->savings, &config, NULL), SL_OK);
    assert_int_equal(sl_batch_create(&forecast->batch, 2 * MTU, 1, NULL), SL_OK);
    assert_int_equal(sampler_open(&forecast->sampler, &sampling, 2 * MTU, 1, NULL), SL_OK);
}

static void close_forecast(struct forecast *forecast)
{
    sampler_close(&forecast->sampler);
    sl_batch_free(forecast->batch);
    sl_savings_free(forecast->savings);
}

/* The savings that a forecast reports, in bytes. */
static int64_t foreseen(const struct forecast *forecast)
{
    struct sl_savings_row total;

    sl_savings_total(forecast->savings, &total);
    return (int64_t)(total.count.matched_bytes - total.count.reference_bytes -
                     total.count.packets * SL_FRAME_HEADER_LEN);
}

static int64_t saved(const struct world *world)
{
    struct pair_stats stats;

    pair_stats(world->side[0].pair, &stats);
    return (int64_t)(stats.bytes_in - stats.bytes_sent);
}

/* Sends n packets of one side, and foresees what they save. */
static void send_foreseen(struct world *world, uint64_t n)
{
    for (const uint64_t end = world->n_sent + n; world->n_sent < end;) {
        for (uint32_t k = 1 + test_below(&world->random, 8); k > 0; k--)
            send_packet(&world->side[0]);
        pair_flush(world->side[0].pair, world->now);
        step(world, 0);
    }
}

/* In steady state a pair saves what a run with rtt=MS says, within a tenth. */
static void test_a_forecast(void **state)
{
    (void)state;
    for (uint32_t rtt_ms = 4; rtt_ms <= 16; rtt_ms += 12) {
        const struct scene scene = {.relay = {.name = "foreseen", .delay_us = rtt_ms * 500}};
        struct world *const world = calloc(1, sizeof *world);
        struct forecast forecast;

        open_world(world, &scene, 2, 8000);
        settle(world, 100);
        open_forecast(&forecast, rtt_ms);
        world->forecast = &forecast;
        send_foreseen(world, 2000);
        const int64_t saved_before = saved(world), foreseen_before = foreseen(&forecast);
        send_foreseen(world, 4000);
        const int64_t is = saved(world) - saved_before;
        const int64_t was_foreseen = foreseen(&forecast) - foreseen_before;

        print_message("%u ms: %lld bytes saved, %lld foreseen\n", rtt_ms, (long long)is,
                      (long long)was_foreseen);
        assert_in_range(is, was_foreseen - was_foreseen / 10, was_foreseen + was_foreseen / 10);
        for (int i = 0; i < 2; i++)
            stop(&world->side[i]);
        close_forecast(&forecast);
        close_world(world);
        free(world);
    }
}

/* ---- nothing to send ------------------------------------------------------------------------- */

/* A pair that has nothing to send stays alive, sixty times as long as silence may last, by few
 * datagrams: so a NAT between both keeps their addresses. Its minute tells what was sent before. */
static void test_keep_alive(void **state)
{
    static const struct scene scene = {.relay = {.name = "idle", .delay_us = 1000}};
    struct world *const world = calloc(1, sizeof *world);
    struct pair_saving minutes[PAIR_MINUTES];
    struct pair_stats before, after;

    (void)state;
    open_world(world, &scene, 4, 4 * 100 * BURST);
    settle(world, 1000);
    for (int i = 0; i < 10; i++)
        step(world, BURST);
    settle(world, 1000);
    pair_stats(world->side[0].pair, &before);
    settle(world, 60000);
    pair_stats(world->side[0].pair, &after);
    assert_true(after.alive);
    assert_int_equal(after.deaths, 0);
    assert_int_equal(after.sessions, 1);
    assert_in_range(after.datagrams_sent - before.datagrams_sent, 120, 600);
    assert_in_range(after.datagrams_received - before.datagrams_received, 120, 600);
    assert_int_equal(pair_minutes(world->side[0].pair, minutes), 1);
    assert_true(minutes[0].packets > 0 && minutes[0].packets == before.packets_in);
    assert_int_equal(minutes[0].bytes, before.bytes_in);
    assert_true(minutes[0].sent >= before.bytes_sent && minutes[0].sent <= after.bytes_sent);
    expect_recovery(world);
    for (int i = 0; i < 2; i++)
        stop(&world->side[i]);
    close_world(world);
    free(world);
}

/* ---- somebody beside the link ---------------------------------------------------------------- */

enum { HEARD_MAX = 64 };

/* Datagrams that were really sent, as somebody who reads the link has them. */
struct heard {
    uint8_t bytes[HEARD_MAX][DATAGRAM];
    uint32_t len[HEARD_MAX];
    uint64_t n;
};

static struct heard heard;

static void hear(const uint8_t *bytes, uint32_t len)
{
    const uint64_t i = heard.n++ % HEARD_MAX;

    memcpy(heard.bytes[i], bytes, len);
    heard.len[i] = len;
}

/* Somebody who does not read the link guesses numbers of sessions; replays need none. */
static void forge(struct world *world, uint64_t i)
{
    static const struct sockaddr_storage elsewhere = {.ss_family = AF_INET, .__ss_padding = "c"};
    struct side *const to = &world->side[i % 2];
    const uint64_t which = test_below(&world->random, HEARD_MAX);
    uint8_t bytes[DATAGRAM];
    uint32_t len = heard.len[which];

    memcpy(bytes, heard.bytes[which], len);
    switch (i / 2 % 5) {
    case 0: /* as it came, to one side or the other: replayed or reflected */
        break;
    case 1: /* cut */
        len = test_below(&world->random, len);
        break;
    case 2: /* of sessions that are guessed */
        for (int at = 8; at < 16; at++)
            bytes[at] = (uint8_t)test_random(&world->random);
        break;
    case 3: /* a hello of somebody else, with a challenge that is guessed */
        memset(bytes, 0, sizeof bytes);
        bytes[0] = 0xD1;
        bytes[1] = bytes[2] = 1;
        bytes[8] = (uint8_t)test_random(&world->random) | 1;
        bytes[16] = 6;
        bytes[17] = 17;
        bytes[19] = 1;
        for (int at = 20; at < 36; at++)
            bytes[at] = (uint8_t)test_random(&world->random);
        len = 36;
        break;
    default: /* noise */
        len = 1 + test_below(&world->random, DATAGRAM);
        for (uint32_t at = 0; at < len; at++)
            bytes[at] = (uint8_t)test_random(&world->random);
    }
    pair_datagram(to->pair, bytes, len, 0,
                  i / 2 % 5 == 3 || i % 3 == 0 ? &elsewhere : &addresses[1 - to->number],
                  world->now);
}

/* A million datagrams of somebody beside the link change nothing, not even while a side begins. */
static void test_forged(void **state)
{
    static const struct scene scene = {.relay = {.name = "forged", .delay_us = 500},
                                       .overtakes = true};
    const uint64_t n = of_environment("SLUICE_TEST_FORGED", 1000000);
    const uint64_t each = n < 500 ? 1 : n < 1000000 ? n / 500 : 2000; /* of them in a step */
    struct world *const world = calloc(1, sizeof *world);
    struct pair_stats stats;

    (void)state;
    heard.n = 0;
    open_world(world, &scene, 3, 100000 + n / 100);
    world->hears = true;
    settle(world, 100);
    while (heard.n < HEARD_MAX)
        step(world, BURST);
    world->hears = false;
    for (uint64_t i = 0; i < n; i++) {
        forge(world, i);
        if (i % each == 0)
            step(world, BURST);
        if (i == n / 2) {
            settle(world, 10);
            assert_int_equal(world->n_came, world->n_sent);
            stop(&world->side[1]);
            start(&world->side[1]);
        }
        if (i == n / 2 + n / 8)
            assert_true(pair_is_alive(world->side[1].pair));
    }
    for (int i = 0; i < 2; i++) {
        pair_stats(world->side[i].pair, &stats);
        assert_int_equal(stats.sessions, 2 - i);
        assert_int_equal(stats.moves, 0);
        assert_int_equal(stats.deaths, 0);
        assert_int_equal(stats.frames[SL_FRAME_DAMAGED], 0);
    }
    expect_recovery(world);
    assert_int_equal(world->n_twice, 0);
    for (int i = 0; i < 2; i++)
        stop(&world->side[i]);
    close_world(world);
    free(world);
}

/* ---- what losses cost ------------------------------------------------------------------------ */

enum { TRIALS = TEST_SANITIZED ? 6 : 20, LOSSES = 3 };

static double trial(const struct scene *scene, uint64_t seed, uint64_t n_packets)
{
    struct world *const world = calloc(1, sizeof *world);
    struct side *const side = world->side;

    open_world(world, scene, seed, n_packets + 2 * BURST);
    settle(world, 50);
    while (world->n_sent < n_packets)
        step(world, 4); /* some 20 Mbit/s each way */
    settle(world, 50);
    for (int i = 0; i < 2; i++)
        stop(&side[i]);
    assert_int_equal(world->n_twice, 0);
    assert_int_equal(side[0].unresolved + side[1].unresolved, 0);
    assert_true(world->n_came * 1000 >= world->n_sent * (1000 - 4 * scene->relay.loss));
    if (relay_lost(world->relay) == 0)
        assert_int_equal(world->n_came, world->n_sent);
    const double sent = (double)(side[0].bytes_sent + side[1].bytes_sent) /
                        (double)(side[0].bytes_in + side[1].bytes_in);
    close_world(world);
    free(world);
    return sent;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Datagrams are lost, reordered and repeated. Lost datagrams are not referred to, so that less is
 * saved, but nothing else. */
static void test_losses(void **state)
{
    static const uint32_t losses[LOSSES] = {0, 10, 50}; /* of 1,000 */
    const uint64_t n = of_environment("SLUICE_TEST_PACKETS", 10000) / 10;
    double sent[LOSSES][TRIALS];

    (void)state;
    for (int i = 0; i < LOSSES; i++) {
        const struct scene scene = {.relay = {.name = "lossy",
                                              .loss = losses[i],
                                              .repeat = 20,
                                              .delay_us = 5000,
                                              .jitter_us = 3000}};

        for (uint64_t seed = 0; seed < TRIALS; seed++)
            sent[i][seed] = trial(&scene, seed + 1, n);
        qsort(sent[i], TRIALS, sizeof sent[i][0], by_value);
        print_message("%u of 1,000 lost: %.1f %% of the bytes sent (%.1f to %.1f)\n", losses[i],
                      100 * sent[i][TRIALS / 2], 100 * sent[i][0], 100 * sent[i][TRIALS - 1]);
        assert_true(sent[i][TRIALS / 2] < sent[0][TRIALS / 2] + 0.05);
    }
}

static void test_scenes(void **state)
{
    const uint64_t n = of_environment("SLUICE_TEST_PACKETS", test_fewer(8000, 4000));
    const uint64_t n_seeds = of_environment("SLUICE_TEST_SEEDS", 1);

    (void)state;
    for (uint64_t seed = 1; seed <= n_seeds; seed++)
        for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
            run_scene(&scenes[i], seed, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_caches), cmocka_unit_test(test_cut_caches),
        cmocka_unit_test(test_a_forecast),  cmocka_unit_test(test_keep_alive),
        cmocka_unit_test(test_forged),      cmocka_unit_test(test_losses),
        cmocka_unit_test(test_scenes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
