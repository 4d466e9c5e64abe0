/* SPDX-License-Identifier: MIT */
/* The cost of a packet of a flood to the flow table, all steps together. A plain packet is the
 * measure: one of 4,096 flows that go on, and of another flow than the packet before. A core
 * changes its pace, so both are timed in turn. */
#include <time.h>

#include "test.h"

#include "dissect/flow_table.h"
#include "flow_tracker.h"

enum {
    N_BATCHES = 4,
    BATCH = 8192,
    PACKETS = N_BATCHES * BATCH,
    N_FLOWS = PACKETS / 2, /* of the table: where each packet is of a new flow, it is full */
    N_PLAIN = 4096,
    TRIALS = TEST_SANITIZED ? 7 : 15,
    FACTOR_MAX = 8
};

/* The n-th packet of a flood; its time is a part of a pass over all packets, which takes
 * pass_seconds. */
typedef struct flow_event packet_of(uint32_t n);

struct flood {
    const char *name;
    packet_of *packet;
    int64_t pass_seconds;
    uint64_t ends; /* how many flows end in a pass at least */
};

static const struct sl_flow_config config = {.max_flows = N_FLOWS,
                                             .tcp_handshake_seconds = 60,
                                             .tcp_established_seconds = 600,
                                             .tcp_closed_seconds = 60,
                                             .new_seconds = 30,
                                             .established_seconds = 300,
                                             .keep_ends = true,
                                             .hash_key = {7, 9}};

static struct flow_event udp(uint32_t n)
{
    return (struct flow_event){
        .protocol = SL_IP_UDP, .addr = {1, 2}, .port = {(uint16_t)n, (uint16_t)(n >> 16)}};
}

static struct flow_event plain(uint32_t n)
{
    return udp(n % N_PLAIN);
}

static struct flow_event one_packet_flows(uint32_t n)
{
    return udp(n);
}

static struct flow_event syn(uint32_t n)
{
    struct flow_event event = udp(n);

    event.protocol = SL_IP_TCP;
    event.tcp_flags = 2;
    return event;
}

/* Connections that are reset and begun again. */
static struct flow_event resets(uint32_t n)
{
    struct flow_event event = syn(n / 2 % N_PLAIN);

    event.tcp_flags = n % 2 == 0 ? 2 : 4;
    return event;
}

/* Each packet comes so late that the flow before has timed out, */
static struct flow_event late(uint32_t n)
{
    struct flow_event event = udp(n);

    event.time = 31 * SECOND * n;
    return event;
}

/* or so early that all flows end. */
static struct flow_event set_back(uint32_t n)
{
    struct flow_event event = udp(n);

    event.time = n % 2 == 0 ? 1000 * SECOND : 0;
    return event;
}

/* The flows of each batch time out while one flow sends the second half of it. */
static struct flow_event late_in_a_run(uint32_t n)
{
    const uint32_t batch = n / BATCH, i = n % BATCH;
    struct flow_event event = udp(i < BATCH / 2 ? n : PACKETS);

    event.time = 100 * SECOND * batch + (i < BATCH / 2 ? 0 : 60 * SECOND * i / BATCH);
    return event;
}

/* Tuples that another key of the hash puts in one bucket of one shard. */
static uint32_t colliding[N_FLOWS];

static void find_colliding(void)
{
    uint64_t secret[FLOW_KEY_WORDS];
    uint32_t n = 0;

    flow_key_secret(secret, (const uint64_t[2]){7, 8});
    for (uint32_t i = 0; n < N_FLOWS; i++) {
        const struct flow_key key = {
            .word = {0, 0xFFFF00000001, 0, 0xFFFF00000002,
                     i | (uint64_t)SL_NO_VLAN << 32 | (uint64_t)SL_NO_VLAN << 48, SL_IP_UDP}};

        if ((flow_key_hash(&key, secret) & 0xFF) == 0)
            colliding[n++] = i;
    }
}

static struct flow_event colliding_tuples(uint32_t n)
{
    return udp(colliding[n % (N_FLOWS / 2)]);
}

/* ---- timing ---------------------------------------------------------------------------------- */

struct traffic {
    struct sl_flow_table *table;
    struct sl_batch *batch[N_BATCHES];
    struct sl_flow_keys *keys[N_BATCHES];
    int64_t pass_ns;
    uint64_t ends;
};

static void fill(struct sl_batch *batch, packet_of *packet, uint32_t first)
{
    static struct tracker adder; /* of which the batch alone is used */
    struct sl_dissect_stats stats = {0};

    adder.batch = batch;
    for (uint32_t n = first; n < first + BATCH; n++) {
        struct flow_event event = packet(n);

        event.time += 1700000000 * SECOND;
        tracker_add(&adder, &event);
    }
    sl_dissect(batch, &stats);
}

static void open_traffic(struct traffic *traffic, packet_of *packet, int64_t pass_seconds)
{
    struct sl_diag diag;

    *traffic = (struct traffic){.pass_ns = pass_seconds * SECOND};
    assert_int_equal(sl_flow_table_create(&traffic->table, &config, &diag), SL_OK);
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        assert_int_equal(sl_batch_create(&traffic->batch[b], BATCH * 64, BATCH, &diag), SL_OK);
        assert_int_equal(sl_flow_keys_create(&traffic->keys[b], BATCH, &diag), SL_OK);
        fill(traffic->batch[b], packet, b * BATCH);
    }
}

static void close_traffic(struct traffic *traffic)
{
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        sl_batch_free(traffic->batch[b]);
        sl_flow_keys_free(traffic->keys[b]);
    }
    sl_flow_table_free(traffic->table);
}

static void take(struct sl_flow_table *table, struct sl_batch *batch, struct sl_flow_keys *keys)
{
    const uint32_t n_shards = sl_flow_n_shards(table);

    sl_flow_keys_read(keys, table, batch);
    sl_flow_deal(table, batch, keys);
    for (uint32_t shard = 0; shard < n_shards; shard++)
        sl_flow_track_shard(table, batch, keys, shard);
    sl_flow_keys_apply(keys, batch);
    sl_flow_keys_mark(keys, NULL, 0);
    for (uint32_t shard = 0; shard < n_shards; shard++)
        sl_flow_settle_shard(table, keys, shard, NULL);
    assert_int_equal(sl_flow_keys_sort_ends(keys, table), SL_OK);
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds of a packet. The next pass comes behind this one. */
static double pass_ns(struct traffic *traffic)
{
    const double begin = cpu_ns();

    for (uint32_t b = 0; b < N_BATCHES; b++)
        take(traffic->table, traffic->batch[b], traffic->keys[b]);
    const double end = cpu_ns();

    traffic->ends = 0;
    for (uint32_t b = 0; b < N_BATCHES; b++) {
        struct sl_batch *batch = traffic->batch[b];

        traffic->ends += sl_flow_keys_n_ends(traffic->keys[b]);
        for (uint32_t i = 0; i < BATCH; i++)
            batch->origin[i].time_ns += traffic->pass_ns;
    }
    return (end - begin) / PACKETS;
}

static int compare_factors(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* How many plain packets one of the flood costs: the lower quartile of the trials. Another program
 * may have the core in some. */
static double check_flood(const struct flood *flood)
{
    struct traffic measure, floods;
    double factors[TRIALS];

    open_traffic(&measure, plain, 0);
    open_traffic(&floods, flood->packet, flood->pass_seconds);
    for (int i = -1; i < TRIALS; i++) { /* the first pass fills the tables */
        const double ns = pass_ns(&measure), of_flood = pass_ns(&floods);

        assert_int_equal(measure.ends, 0);
        if (i >= 0) {
            factors[i] = of_flood / ns;
            assert_in_range(floods.ends, flood->ends, PACKETS);
        }
    }
    close_traffic(&measure);
    close_traffic(&floods);
    qsort(factors, TRIALS, sizeof factors[0], compare_factors);
    return factors[TRIALS / 4];
}

static void test_floods_cost_little(void **state)
{
    static const struct flood floods[] = {
        {"flows of one packet, the table is full", one_packet_flows, 0, PACKETS},
        {"connections of a SYN, the table is full", syn, 0, PACKETS},
        {"connections that are reset and begun again", resets, 0, PACKETS / 2},
        {"flows that time out at the next packet", late, INT64_C(31) * PACKETS, PACKETS},
        {"a clock that is set back and forth", set_back, 0, PACKETS / 2},
        {"flows that time out in a run of another", late_in_a_run, 100 * N_BATCHES, PACKETS / 2},
        {"tuples that collide under another key", colliding_tuples, 0, 0},
    };
    double most = 0;

    (void)state;
    find_colliding();
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
        const double factor = check_flood(&floods[i]);

        printf("%5.1f plain packets  %s\n", factor, floods[i].name);
        most = factor > most ? factor : most;
    }
    assert_true(most < FACTOR_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floods_cost_little)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
