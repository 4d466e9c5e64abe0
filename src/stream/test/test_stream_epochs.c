/* SPDX-License-Identifier: MIT */
/* Batches that are read while later ones come: their contexts stay as they were. */
#include <stdlib.h>
#include <string.h>

#include "stream/stream_shard.h"
#include "stream_trial.h"
#include "test.h"

enum {
    MEMORY = 256 << 10,
    FLOWS = 150,
    BATCH_LEN = 60, /* segments */
    N_BATCHES = 400,
    IN_FLIGHT = 12,
    LEN_MAX = 700,
    TEXT_LEN = 1 << 16
};

struct flow {
    struct stream stream;
    uint32_t sent;
};

struct flight {
    struct stream_output output;
    uint8_t bytes[BATCH_LEN * LEN_MAX];
    bool is_read;
};

struct traffic {
    struct stream_shard *shard;
    struct flow flow[FLOWS];
    struct flight flight[IN_FLIGHT];
    char text[FLOWS][TEXT_LEN];
    uint64_t random;
    uint64_t n_pieces, n_copied; /* contexts that were in pieces, and that were copied */
    uint64_t others;             /* a hash of all records but for contexts */
    uint64_t contexts_lost;
};

/* Each flow has a text of its own, so that a block of another one is seen. */
static struct traffic *begin(void)
{
    struct traffic *const traffic = calloc(1, sizeof *traffic);
    struct stream_config config;

    assert_non_null(traffic);
    stream_config_init(&config);
    config.memory = MEMORY;
    config.context_len = config.overlap_len = STREAM_CONTEXT_MAX;
    config.omits_edges = true;
    assert_int_equal(stream_shards_create(&traffic->shard, 1, &config, NULL), SL_OK);
    traffic->random = 7;
    for (uint32_t i = 0; i < FLOWS; i++)
        for (uint32_t k = 0; k < TEXT_LEN; k++)
            traffic->text[i][k] = (char)test_below(&traffic->random, 256);
    return traffic;
}

static void end(struct traffic *traffic)
{
    for (uint32_t i = 0; i < IN_FLIGHT; i++)
        stream_output_free(&traffic->flight[i].output);
    stream_shards_free(traffic->shard, 1);
    free(traffic);
}

static void check_contexts(struct traffic *traffic, struct flight *flight)
{
    const struct stream_output *const output = &flight->output;

    for (uint32_t i = 1; flight->is_read && i < output->n; i++) {
        const struct stream_record *const record = &output->record[i];

        if (record->kind != STREAM_CONTEXT)
            continue;
        assert_true(
            trial_context_is(output, record, &traffic->text[record->flow - 1][record->offset]));
        traffic->n_pieces += record->cause;
        traffic->n_copied += !record->cause;
    }
    flight->is_read = false;
    stream_output_release(&flight->output);
}

static void take(struct traffic *traffic, struct flight *flight, uint32_t item)
{
    const uint32_t number = test_below(&traffic->random, FLOWS);
    const uint32_t len = 1 + test_below(&traffic->random, LEN_MAX - 1);
    struct flow *const flow = &traffic->flow[number];

    if (flow->sent + len > TEXT_LEN || test_below(&traffic->random, 200) == 0) {
        stream_end(traffic->shard, &flow->stream, 1 + number, item);
        flow->sent = 0;
    }
    const struct stream_segment segment = {
        .item = item, .at = item * LEN_MAX, .len = len, .seq = 1 + flow->sent, .ttl = 64};

    memcpy(flight->bytes + segment.at, &traffic->text[number][flow->sent], len);
    stream_take(traffic->shard, &flow->stream, 1 + number, &segment);
    flow->sent += len;
    assert_true(stream_shard_held(traffic->shard) <= MEMORY);
}

static void hash_records(struct traffic *traffic, const struct stream_output *output)
{
    for (uint32_t i = 1; i < output->n; i++) {
        const struct stream_record *const record = &output->record[i];

        if (record->kind != STREAM_CONTEXT)
            traffic->others =
                (traffic->others ^ (record->flow << 40 | record->offset << 8 | record->kind)) *
                UINT64_C(0x100000001B3);
    }
    traffic->contexts_lost += output->stats.contexts_lost;
}

static void play_batch(struct traffic *traffic, struct flight *flight)
{
    check_contexts(traffic, flight);
    stream_shard_begin(traffic->shard, &flight->output, flight->bytes);
    for (uint32_t item = 0; item < BATCH_LEN; item++)
        take(traffic, flight, item);
    stream_shard_end(traffic->shard);
    hash_records(traffic, &flight->output);
    flight->is_read = true;
}

/* Batches are checked when their output is needed again, or, some of them, before. */
static struct traffic *play(uint32_t n_flights, uint32_t released_early)
{
    struct traffic *const traffic = begin();
    uint64_t random = 3;

    for (uint32_t i = 0; i < N_BATCHES; i++) {
        play_batch(traffic, &traffic->flight[i % n_flights]);
        if (test_below(&random, 100) < released_early)
            check_contexts(traffic, &traffic->flight[test_below(&random, n_flights)]);
    }
    for (uint32_t i = 0; i < n_flights; i++)
        check_contexts(traffic, &traffic->flight[i]);
    return traffic;
}

static void test_contexts_stay(void **state)
{
    struct traffic *const alone = play(1, 0);

    (void)state;
    assert_true(alone->contexts_lost > 100);
    assert_int_equal(alone->n_copied, 0); /* no block waits */
    for (uint32_t n_flights = 2; n_flights <= IN_FLIGHT; n_flights++)
        for (uint32_t early = 0; early <= 50; early += 50) {
            struct traffic *const many = play(n_flights, early);

            assert_int_equal(many->others, alone->others);
            assert_int_equal(many->contexts_lost, alone->contexts_lost);
            assert_int_equal(many->n_pieces + many->n_copied, alone->n_pieces);
            assert_true(many->n_pieces > 100);
            end(many);
        }
    end(alone);
}

/* Where batches hold so many blocks that no more have room, contexts are copied. */
static void test_much_in_flight(void **state)
{
    struct traffic *const many = play(IN_FLIGHT, 0);

    (void)state;
    assert_true(many->n_copied > 100 && many->n_pieces > 100);
    end(many);
}

/* A batch that is never released holds back all blocks: contexts are copied in the end. */
static void test_one_stays(void **state)
{
    struct traffic *const traffic = begin();

    (void)state;
    for (uint32_t i = 0; i < N_BATCHES; i++)
        play_batch(traffic, &traffic->flight[i < 10 ? i : 10 + i % 2]);
    for (uint32_t i = 0; i < IN_FLIGHT; i++)
        check_contexts(traffic, &traffic->flight[i]);
    assert_true(traffic->n_copied > N_BATCHES);
    end(traffic);
}

/* ---- epochs alone ---------------------------------------------------------------------------- */

enum { N_BLOCKS = 64 };

struct kept {
    struct stream_arena arena;
    struct stream_epochs epochs;
};

static void open_kept(struct kept *kept)
{
    assert_true(stream_arena_open(&kept->arena, N_BLOCKS, N_BLOCKS));
    assert_true(stream_epochs_open(&kept->epochs, N_BLOCKS));
}

static void close_kept(struct kept *kept)
{
    stream_arena_close(&kept->arena);
    stream_epochs_close(&kept->epochs);
}

/* Retires a block, ends an epoch unless it is NULL, and reclaims. Returns how many blocks wait. */
static uint32_t retire(struct kept *kept, struct stream_epoch *over)
{
    stream_epochs_retire(&kept->epochs, stream_block_draw(&kept->arena));
    if (over != NULL)
        atomic_store(&over->is_over, true);
    stream_epochs_reclaim(&kept->epochs, &kept->arena);
    return stream_epochs_waiting(&kept->epochs);
}

/* A block waits for the epochs that had begun when it was retired, and for no others. */
static void test_blocks_wait_for_epochs(void **state)
{
    static struct kept kept;
    struct stream_epoch *epoch[3];

    (void)state;
    open_kept(&kept);
    assert_int_equal(retire(&kept, NULL), 0); /* no epoch */
    epoch[0] = stream_epochs_begin(&kept.epochs);
    assert_int_equal(retire(&kept, NULL), 1);
    epoch[1] = stream_epochs_begin(&kept.epochs);
    assert_int_equal(retire(&kept, NULL), 2);
    epoch[2] = stream_epochs_begin(&kept.epochs);
    assert_int_equal(retire(&kept, epoch[1]), 3); /* the first holds all back */
    assert_int_equal(retire(&kept, epoch[0]), 2); /* those behind the third remain */
    assert_int_equal(retire(&kept, epoch[2]), 0);
    close_kept(&kept);
}

/* Numbers begin anew, and those of long ago do not count. */
static void test_numbers_begin_anew(void **state)
{
    static struct kept kept;

    (void)state;
    open_kept(&kept);
    const uint32_t long_ago = stream_epochs_over(&kept.epochs);

    kept.epochs.oldest = kept.epochs.next = UINT32_MAX;
    for (uint32_t i = 0; i < 3; i++) {
        struct stream_epoch *const epoch = stream_epochs_begin(&kept.epochs);
        const uint32_t number = UINT32_MAX + i;

        assert_true(stream_epochs_has(&kept.epochs, number));
        assert_false(stream_epochs_has(&kept.epochs, stream_epochs_over(&kept.epochs)));
        assert_false(stream_epochs_has(&kept.epochs, number + 1));
        assert_int_equal(retire(&kept, NULL), 1);
        assert_int_equal(retire(&kept, epoch), 0);
        assert_false(stream_epochs_has(&kept.epochs, number));
    }
    kept.epochs.oldest = kept.epochs.next = (UINT32_C(1) << 31) + 7;
    assert_false(stream_epochs_has(&kept.epochs, long_ago));
    close_kept(&kept);
}

static void test_most_epochs(void **state)
{
    static struct kept kept;

    (void)state;
    open_kept(&kept);
    struct stream_epoch *const first = stream_epochs_begin(&kept.epochs);

    for (uint32_t i = 1; i < STREAM_EPOCHS_MAX; i++)
        assert_non_null(stream_epochs_begin(&kept.epochs));
    assert_null(stream_epochs_begin(&kept.epochs));
    assert_int_equal(retire(&kept, first), 1);
    assert_ptr_equal(stream_epochs_begin(&kept.epochs), first);
    close_kept(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contexts_stay),      cmocka_unit_test(test_much_in_flight),
        cmocka_unit_test(test_one_stays),          cmocka_unit_test(test_blocks_wait_for_epochs),
        cmocka_unit_test(test_numbers_begin_anew), cmocka_unit_test(test_most_epochs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
