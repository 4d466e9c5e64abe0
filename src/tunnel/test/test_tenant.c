/* SPDX-License-Identifier: MIT */
/* A hub with two peers of one tenant, over links that lose nothing. The packets that come out are
 * compared with those that were put in. A peer has itself had the bytes that it is sent as
 * references. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "redundancy/match/packet_log.h"
#include "sluice/redundancy.h"
#include "test.h"
#include "tunnel/pair.h"
#include "tunnel/tenant.h"

#define MS UINT64_C(1000000)
#define CACHE_LEN (UINT64_C(4) << 20)

enum { PEERS = 2, LEN = 1028, HEADERS = 28, QUEUE_LEN = 1 << 20, DATAGRAM = 1452, ROUND = 8 };

/* Datagrams on their way to a side. */
struct way {
    struct side *to;
    uint8_t bytes[QUEUE_LEN];
    uint32_t len[QUEUE_LEN / 64];
    uint32_t n, used;
};

struct side {
    struct pair *pair;
    struct way *out; /* to the other side */
    struct network allowed;
    uint64_t content, came; /* seeds and packets that are to come next, and packets that came */
    uint64_t random;
};

struct world {
    struct side hub[PEERS], peer[PEERS];
    struct way ways[2 * PEERS];
    struct pair *pairs[PEERS]; /* of the hub */
    uint64_t now;
};

static const struct sockaddr_storage somewhere = {.ss_family = AF_INET, .__ss_padding = "a"};

static void send_datagram(void *user, const uint8_t *bytes, uint32_t len, uint8_t traffic_class,
                          const struct sockaddr_storage *to)
{
    struct way *const way = ((struct side *)user)->out;

    (void)traffic_class;
    (void)to;
    assert_true(way->used + len <= QUEUE_LEN && way->n < QUEUE_LEN / 64);
    memcpy(way->bytes + way->used, bytes, len);
    way->used += len;
    way->len[way->n++] = len;
}

/* The next packet of a content: its bytes follow from the seed alone. */
static void make_packet(uint8_t packet[LEN], uint64_t *seed, bool to_peer)
{
    memset(packet, 0, HEADERS);
    packet[0] = 0x45;
    packet[2] = LEN >> 8;
    packet[3] = (uint8_t)LEN;
    packet[8] = 64;
    packet[9] = 17;
    packet[12] = packet[16] = 10;
    packet[13] = to_peer ? 1 : 2;
    packet[17] = to_peer ? 2 : 1;
    for (int at = HEADERS; at < LEN; at++)
        packet[at] = (uint8_t)test_random(seed);
}

static void deliver(void *user, uint8_t *packet, uint32_t len)
{
    struct side *const side = user;
    uint8_t expected[LEN];

    make_packet(expected, &side->content, side->allowed.address[13] == 1);
    assert_int_equal(len, LEN);
    assert_memory_equal(packet, expected, LEN);
    side->came++;
}

static uint64_t draw(void *user)
{
    return test_random(&((struct side *)user)->random);
}

static void carry(struct world *world)
{
    world->now += 5 * MS;
    for (int i = 0; i < 2 * PEERS; i++) {
        struct way *const way = &world->ways[i];
        uint32_t at = 0;

        for (uint32_t k = 0; k < way->n; at += way->len[k++])
            pair_datagram(way->to->pair, way->bytes + at, way->len[k], 0, &somewhere, world->now);
        way->n = way->used = 0;
    }
    for (int i = 0; i < PEERS; i++) {
        pair_tick(world->hub[i].pair, world->now);
        pair_tick(world->peer[i].pair, world->now);
    }
    tenant_settle(world->pairs, PEERS, CACHE_LEN);
}

static void open_side(struct world *world, struct side *side, bool is_hub, struct way *out,
                      struct side *to)
{
    const struct pair_world callbacks = {side, send_datagram, deliver, draw};
    struct pair_config config = {.cache_len = CACHE_LEN,
                                 .n_sharing = is_hub ? PEERS : 1,
                                 .allowed = &side->allowed,
                                 .n_allowed = 1,
                                 .endpoint = somewhere,
                                 .mtu = 1400,
                                 .datagram_max = DATAGRAM,
                                 .dead_after = 100000 * MS,
                                 .epoch = 1};

    static uint64_t seed = 1;

    sl_sampling_config_init(&config.sampling);
    side->random = ++seed;
    side->out = out;
    out->to = to;
    assert_true(network_parse(&side->allowed, is_hub ? "10.2.0.0/16" : "10.1.0.0/16"));
    assert_int_equal(pair_create(&side->pair, &config, &callbacks, world->now, NULL), SL_OK);
}

static struct world *open_world(void)
{
    struct world *const world = calloc(1, sizeof *world);

    assert_non_null(world);
    world->now = 1000 * MS;
    for (int i = 0; i < PEERS; i++) {
        open_side(world, &world->hub[i], true, &world->ways[2 * i], &world->peer[i]);
        open_side(world, &world->peer[i], false, &world->ways[2 * i + 1], &world->hub[i]);
        world->pairs[i] = world->hub[i].pair;
    }
    for (int i = 0; i < 40; i++)
        carry(world);
    return world;
}

static void close_world(struct world *world)
{
    for (int i = 0; i < PEERS; i++) {
        struct pair_stats stats;

        for (int k = 0; k < 2; k++) {
            pair_stats(k == 0 ? world->hub[i].pair : world->peer[i].pair, &stats);
            assert_int_equal(stats.frames[SL_FRAME_UNRESOLVED], 0);
            assert_int_equal(stats.frames[SL_FRAME_DAMAGED], 0);
        }
        pair_free(world->hub[i].pair);
        pair_free(world->peer[i].pair);
    }
    free(world);
}

/* Sends packets of a content to one side. Returns percent of their bytes. */
static double send_content(struct world *world, struct side *from, struct side *to,
                           uint64_t content, uint64_t n)
{
    struct pair_stats before, after;
    const uint64_t came = to->came;
    uint64_t seed = content;

    pair_stats(from->pair, &before);
    to->content = content;
    for (uint64_t i = 0; i < n; i++) {
        uint8_t packet[LEN];

        make_packet(packet, &seed, to->allowed.address[13] == 1);
        pair_packet(from->pair, packet, LEN, world->now);
        if (i % ROUND == ROUND - 1 || i + 1 == n) {
            pair_flush(from->pair, world->now);
            carry(world);
            for (int k = 0; k < 2; k++)
                assert_true(pair_held(world->pairs[0], k) + pair_held(world->pairs[1], k) <=
                            CACHE_LEN);
        }
    }
    carry(world);
    carry(world);
    pair_stats(from->pair, &after);
    assert_int_equal(to->came - came, n);
    return 100.0 * (double)(after.bytes_sent - before.bytes_sent) / (double)(n * LEN);
}

/* Bytes that one peer has had are new to the other one. */
static void test_memory_is_shared_and_knowledge_is_not(void **state)
{
    struct world *const world = open_world();

    (void)state;
    for (int i = 0; i < PEERS; i++) {
        assert_true(send_content(world, &world->hub[i], &world->peer[i], 100, 500) > 100);
        assert_true(send_content(world, &world->hub[i], &world->peer[i], 100, 500) < 25);
    }
    for (int i = 0; i < PEERS; i++) {
        assert_true(send_content(world, &world->peer[i], &world->hub[i], 200, 500) > 100);
        assert_true(send_content(world, &world->peer[i], &world->hub[i], 200, 500) < 25);
    }
    close_world(world);
}

/* A cache that one peer has filled goes to the other one by half, and the newest half stays. */
static void test_the_one_that_holds_most_gives(bool from_hub)
{
    struct world *const world = open_world();
    struct side *const a = from_hub ? world->hub : world->peer;
    struct side *const b = from_hub ? world->peer : world->hub;
    const enum pair_cache cache = from_hub ? PAIR_SENT : PAIR_CAME;

    send_content(world, &a[0], &b[0], 1, 3000);
    send_content(world, &a[0], &b[0], 2, 1500);
    assert_true(pair_held(world->pairs[0], cache) > CACHE_LEN * 7 / 8);
    send_content(world, &a[1], &b[1], 3, 3000);
    for (int i = 0; i < PEERS; i++)
        assert_in_range(pair_held(world->pairs[i], cache), CACHE_LEN * 3 / 8, CACHE_LEN * 5 / 8);
    assert_true(send_content(world, &a[0], &b[0], 2, 1000) < 60);
    assert_true(send_content(world, &a[1], &b[1], 3, 1000) > 100);
    close_world(world);
}

static void test_caches_of_what_is_sent(void **state)
{
    (void)state;
    test_the_one_that_holds_most_gives(true);
}

static void test_caches_of_what_comes(void **state)
{
    (void)state;
    test_the_one_that_holds_most_gives(false);
}

static uint64_t n_resident(const struct packet_log *log)
{
    static unsigned char pages[1 << 12];
    const uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t n = 0;

    assert_int_equal(mincore(log->bytes, log->len, pages), 0);
    for (uint64_t i = 0; i < log->len / page_len; i++)
        n += pages[i] & 1;
    return n * page_len;
}

/* Forgotten bytes leave the machine's memory, also where the ring's end lies between. */
static void test_memory_comes_back(void **state)
{
    static uint8_t bytes[1 << 16];
    struct packet_log log;
    uint8_t copy[100];

    (void)state;
    memset(bytes, 7, sizeof bytes);
    assert_int_equal(log_create(&log, CACHE_LEN, true, NULL), SL_OK);
    log.gives_back = true;
    for (int i = 0; i < 96; i++) /* one ring and a half */
        log_append(&log, bytes, sizeof bytes);
    assert_int_equal(n_resident(&log), CACHE_LEN);
    log_drop(&log, log.end - (1 << 20) - 100);
    assert_in_range(n_resident(&log), 1 << 20, (1 << 20) + 8192);
    log_copy(&log, log_start(&log), copy, sizeof copy);
    assert_memory_equal(copy, bytes, sizeof copy);
    log_restart(&log, log.end);
    assert_int_equal(n_resident(&log), 0);
    log_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_comes_back),
                                       cmocka_unit_test(test_memory_is_shared_and_knowledge_is_not),
                                       cmocka_unit_test(test_caches_of_what_is_sent),
                                       cmocka_unit_test(test_caches_of_what_comes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
