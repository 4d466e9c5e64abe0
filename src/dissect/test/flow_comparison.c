/* SPDX-License-Identifier: MIT */
#include "flow_comparison.h"

#include "test.h"

#include "dissect/flow_runs.h"

static uint32_t shard_of(const struct tracker *t, uint32_t item)
{
    const struct flow_run *run = t->keys->run;

    while (run->end <= item)
        run++;
    return flow_shard_index(t->twin, run->hash);
}

static const struct tracker *ids; /* for the order of the oracle's ends */

static int compare_ends(const void *a, const void *b)
{
    const struct flow_oracle_end *left = a, *right = b;

    if (left->packet != right->packet)
        return left->packet < right->packet ? -1 : 1;
    if (left->record.first_ns != right->record.first_ns)
        return left->record.first_ns < right->record.first_ns ? -1 : 1;
    return ids->id[left->record.id] < ids->id[right->record.id] ? -1 : 1;
}

static void check_record(const struct tracker *t, struct sl_flow_record record,
                         const struct sl_flow_record *oracle)
{
    struct sl_flow_record expected = *oracle;

    expected.id = t->id[oracle->id];
    memset(record.tuple.src.byte, 0, 15);
    memset(record.tuple.dst.byte, 0, 15);
    assert_memory_equal(&record, &expected, sizeof record);
}

/* Settles a batch, from the last shard on, and compares what ended in it. */
static void settle(struct tracker *t, struct flow_oracle *oracle, const struct unsettled *batch)
{
    struct flow_oracle_end *expected;
    struct sl_flow_record record;
    size_t n;

    sl_flow_keys_mark(batch->keys, batch->mark, batch->n_marks);
    for (uint32_t shard = sl_flow_n_shards(t->twin); shard-- > 0;)
        sl_flow_settle_shard(t->twin, batch->keys, shard, NULL);
    assert_int_equal(sl_flow_keys_sort_ends(batch->keys, t->twin), SL_OK);
    expected = flow_oracle_ends(oracle, &n);
    while (n != 0 && expected[n - 1].packet >= batch->first + batch->n)
        n--; /* of the batch behind */
    ids = t;
    if (n != 0)
        qsort(expected, n, sizeof *expected, compare_ends);
    assert_int_equal(sl_flow_keys_n_ends(batch->keys), n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(batch->first + sl_flow_keys_end(batch->keys, i, &record),
                         expected[i].packet);
        check_record(t, record, &expected[i].record);
    }
    flow_oracle_forget(oracle, n);
}

static void finish(struct tracker *t, struct flow_oracle *oracle)
{
    struct flow_oracle_end *expected;
    struct sl_flow_record record;
    size_t n;

    flow_oracle_finish(oracle);
    expected = flow_oracle_ends(oracle, &n);
    ids = t;
    if (n != 0)
        qsort(expected, n, sizeof *expected, compare_ends);
    sl_flow_table_finish(t->twin, t->keys);
    assert_int_equal(sl_flow_keys_sort_ends(t->keys, t->twin), SL_OK);
    assert_int_equal(sl_flow_keys_n_ends(t->keys), n);
    for (size_t i = 0; i < n; i++) {
        (void)sl_flow_keys_end(t->keys, i, &record);
        check_record(t, record, &expected[i].record);
    }
}

void comparison_start(struct comparison *comparison, const struct sl_flow_config *config)
{
    memset(&comparison->before, 0, sizeof comparison->before);
    comparison->oracle = flow_oracle_create(config);
    tracker_start(&comparison->tracker, config);
}

/* Compares the flow of each packet. */
static void compare_packets(struct comparison *comparison, struct unsettled *batch,
                            struct flow_event *events)
{
    struct tracker *t = &comparison->tracker;

    for (uint32_t i = 0; i < batch->n; i++) {
        events[i].shard = shard_of(t, i);

        const struct flow_verdict verdict = flow_oracle_track(comparison->oracle, &events[i]);

        tracker_expect(t, &t->batch->origin[i], verdict.flow, verdict.flags);
        if (verdict.flow != 0)
            assert_memory_equal(&t->batch->total[i], &verdict.total, sizeof verdict.total);
        if (events[i].alerted || events[i].app != 0)
            batch->mark[batch->n_marks++] = (struct sl_flow_mark){
                .item = i, .alerted = events[i].alerted, .app = events[i].app};
    }
}

void comparison_track(struct comparison *comparison, struct flow_event *events, uint32_t n)
{
    struct tracker *t = &comparison->tracker;
    struct unsettled *before = &comparison->before;
    struct unsettled batch = {.first = before->first + before->n, .n = n};

    sl_batch_reset(t->batch);
    for (uint32_t i = 0; i < n; i++) {
        tracker_add(t, &events[i]);
        t->batch->origin[i].wire_len = events[i].wire_len;
    }
    tracker_run(t);
    batch.keys = t->keys;
    compare_packets(comparison, &batch, events);
    if (before->keys != NULL)
        settle(t, comparison->oracle, before);
    *before = batch;

    const struct sl_flow_stats stats = tracker_stats(t);
    const struct sl_flow_stats expected = flow_oracle_stats(comparison->oracle);
    assert_memory_equal(&stats, &expected, sizeof stats);
}

struct sl_flow_stats comparison_end(struct comparison *comparison)
{
    struct tracker *t = &comparison->tracker;
    const struct sl_flow_stats stats = tracker_stats(t);

    assert_int_equal(t->added.flows, stats.flows);
    assert_int_equal(t->added.evicted, stats.evicted);
    if (comparison->before.keys != NULL)
        settle(t, comparison->oracle, &comparison->before);
    finish(t, comparison->oracle);
    flow_oracle_free(comparison->oracle);
    tracker_stop(t);
    return stats;
}
