/* SPDX-License-Identifier: MIT */
/* The cost of floods: probes of a look-up, and memory. */
#include "test.h"

#include "dissect/flow_runs.h"
#include "flow_tracker.h"

enum { N_FLOWS = 4096, N_PACKETS = 40000, MAX_PROBES = 12 };

/* The n-th packet of a flood. */
typedef struct flow_event flood(uint32_t n);

static struct flow_event udp(uint8_t src, uint32_t src_port, uint8_t dst, uint32_t dst_port)
{
    return (struct flow_event){.protocol = SL_IP_UDP,
                               .addr = {src, dst},
                               .port = {(uint16_t)src_port, (uint16_t)dst_port}};
}

/* One host scans the ports of another, */
static struct flow_event scan(uint32_t n)
{
    return udp(1, 40000, 2, n);
}

/* and all ports of one go to all of the other, */
static struct flow_event product(uint32_t n)
{
    return udp(1, n % 200, 2, n / 200);
}

/* and ports that differ in their high bits alone, from many hosts. */
static struct flow_event high_bits(uint32_t n)
{
    return udp((uint8_t)(n % 64), (n / 64 % 64) << 10, (uint8_t)(64 + n / 4096), 0);
}

static void send(struct tracker *t, struct flow_event event)
{
    event.time = t->time;
    if (t->batch->n_items == 256) {
        tracker_run(t);
        sl_batch_reset(t->batch);
    }
    tracker_add(t, &event);
}

/* The mean of the probes that finding each flow takes, and the most. */
static double probes(const struct sl_flow_table *table, uint32_t *most)
{
    uint64_t sum = 0, n_flows = 0;

    *most = 0;
    for (uint32_t s = 0; s < table->n_shards; s++) {
        const struct flow_shard *shard = &table->shards[s];

        for (uint32_t b = 0; b <= shard->bucket_mask; b++) {
            uint32_t n = 0;

            for (uint32_t i = shard->buckets[b]; i != 0; i = shard->flows[i].chain)
                sum += ++n;
            n_flows += n;
            *most = n > *most ? n : *most;
        }
    }
    return (double)sum / (double)n_flows;
}

static void check_flood(flood *of)
{
    const struct sl_flow_config config = {
        .max_flows = N_FLOWS, .new_seconds = 1, .hash_key = {7, 9}};
    struct tracker t;
    uint32_t most;

    tracker_start(&t, &config);
    for (uint32_t n = 0; n < N_PACKETS; n++)
        send(&t, of(n));
    tracker_run(&t);

    const struct sl_flow_stats stats = tracker_stats(&t);

    assert_int_equal(stats.flows, N_PACKETS);
    assert_in_range(stats.active, N_FLOWS * 9 / 10, N_FLOWS); /* each shard is full */
    assert_int_equal(stats.flows, stats.active + stats.evicted);
    assert_true(probes(t.table, &most) < 1.6); /* a full table of chance: 1.5 */
    assert_in_range(most, 1, MAX_PROBES);
    tracker_stop(&t);
}

static void test_floods_of_new_flows(void **state)
{
    (void)state;
    check_flood(scan);
    check_flood(product);
    check_flood(high_bits);
}

static struct flow_key key_of(uint32_t n)
{
    return (struct flow_key){
        .word = {0, 0xFFFF00000000, 0, 0xFFFF00000001, n | (uint64_t)SL_NO_VLAN << 32, SL_IP_UDP}};
}

/* Keys that one secret puts in one bucket are as good as random ones for another. */
static void test_collisions_need_the_secret(void **state)
{
    enum { N_BUCKETS = 1024, N_KEYS = 512 };
    uint64_t secret[2][FLOW_KEY_WORDS];
    uint32_t n_in[N_BUCKETS] = {0}, most = 0, n = 0;

    (void)state;
    flow_key_secret(secret[0], (const uint64_t[2]){1, 2});
    flow_key_secret(secret[1], (const uint64_t[2]){1, 3});
    for (uint32_t i = 0; n < N_KEYS; i++) {
        const struct flow_key key = key_of(i);

        if (flow_key_hash(&key, secret[0]) % N_BUCKETS != 0)
            continue;
        n++;
        const uint32_t here = ++n_in[flow_key_hash(&key, secret[1]) % N_BUCKETS];
        most = here > most ? here : most;
    }
    assert_in_range(most, 1, 8);
}

static void test_memory_is_bounded(void **state)
{
    const uint64_t sizes[] = {10000, 100000, 1 << 20, 5000000};
    struct sl_flow_config config = {.max_flows = SL_FLOWS_MAX, .keep_ends = true};
    struct sl_flow_table *table;
    struct sl_diag diag;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t len, n_flows = 0;

        config.memory = sizes[i];
        assert_int_equal(sl_flow_table_create(&table, &config, &diag), SL_OK);
        len = sizeof *table;
        for (uint32_t s = 0; s < table->n_shards; s++) {
            const struct flow_shard *shard = &table->shards[s];

            n_flows += shard->n_flows - N_LISTS;
            len += sizeof *shard +
                   shard->n_flows * (sizeof(struct flow) + sizeof(struct flow_settled) +
                                     sizeof(struct flow_end)) +
                   (shard->bucket_mask + 1) * sizeof *shard->buckets;
        }
        assert_in_range(len, sizes[i] * 3 / 4, sizes[i]);
        assert_true(n_flows * 290 >= sizes[i] / 2);
        sl_flow_table_free(table);
    }
    config.memory = 1000;
    assert_int_equal(sl_flow_table_create(&table, &config, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "expected at least"));
}

static void test_slots_count(void **state)
{
    struct sl_flow_config config = {.max_flows = SL_FLOWS_MAX, .memory = 1 << 20, .n_slots = 2};
    struct sl_flow_table *plain, *table;
    struct sl_diag diag;

    (void)state;
    config.slots[0] = (struct sl_flow_slot){.len = 20, .align = 4, .more_len = 100};
    config.slots[1] = (struct sl_flow_slot){.len = 8, .align = 8};
    assert_int_equal(sl_flow_table_create(&table, &config, &diag), SL_OK);
    config.n_slots = 0;
    assert_int_equal(sl_flow_table_create(&plain, &config, &diag), SL_OK);
    /* 2 bytes of the table's own, 20 and 8 in 32 with it, and 100 elsewhere. */
    assert_int_equal(table->slots.len, 32);
    assert_true((uint64_t)sl_flow_shard_max(table) * sl_flow_n_shards(table) * (128 + 132) <=
                config.memory);
    assert_true(sl_flow_shard_max(plain) * sl_flow_n_shards(plain) >
                sl_flow_shard_max(table) * sl_flow_n_shards(table));
    sl_flow_table_free(table);
    sl_flow_table_free(plain);
    for (uint32_t i = 0; i < 4; i++) {
        static const struct sl_flow_slot wrong[] = {{.len = 0, .align = 1},
                                                    {.len = 257, .align = 1},
                                                    {.len = 8, .align = 3},
                                                    {.len = 8, .align = 32}};

        config.n_slots = 1;
        config.slots[0] = wrong[i];
        assert_int_equal(sl_flow_table_create(&table, &config, &diag), SL_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floods_of_new_flows),
                                       cmocka_unit_test(test_collisions_need_the_secret),
                                       cmocka_unit_test(test_memory_is_bounded),
                                       cmocka_unit_test(test_slots_count)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
