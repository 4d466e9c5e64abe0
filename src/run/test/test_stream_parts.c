/* SPDX-License-Identifier: MIT */
/* Parts and records of shards lie in the batch's room, and where that is full in memory of their
 * own. An engine gets the places between payloads, and packets get made items for the others. */
#include "run/stream_parts.h"

#include <stdlib.h>
#include <string.h>

#include "engines/seam/seam_table.h"
#include "test.h"

enum { N_ITEMS = 200, LEN = 8, N_SHARDS = 3, ROUNDS = 4 };

/* Packets of one flow, each with the next bytes of its stream, in every shard. */
struct batch {
    uint8_t bytes[N_ITEMS * LEN];
    struct sl_span payload[N_ITEMS];
    struct sl_batch batch;
    struct stream_record lent[N_ITEMS + 1];
    struct stream_batch mine;
};

static struct batch *make(size_t room_len)
{
    static const struct run_seams any = {.len = RUN_SEAM_MAX};
    struct batch *const made = calloc(1, sizeof *made);

    assert_non_null(made);
    for (uint32_t i = 0; i < N_ITEMS; i++)
        made->payload[i] = (struct sl_span){i * LEN, LEN};
    made->batch =
        (struct sl_batch){.bytes = made->bytes, .payload = made->payload, .n_items = N_ITEMS};
    made->mine.seams = &any;
    made->mine.of_item = calloc(N_ITEMS, sizeof(const struct sl_stream_part *));
    made->mine.makes = calloc(1, N_ITEMS + STREAM_MAKES_AT_ONCE);
    made->mine.room.len = room_len;
    made->mine.room.bytes = aligned_alloc(64, room_len);
    assert_true(made->mine.of_item != NULL && made->mine.makes != NULL &&
                made->mine.room.bytes != NULL);
    memset(made->mine.room.bytes, 0xEE, room_len);
    return made;
}

static void discard(struct batch *made)
{
    for (uint32_t i = 0; i < N_SHARDS; i++) {
        stream_output_free(&made->mine.shard[i].output);
        free(made->mine.shard[i].own);
    }
    free(made->mine.of_item);
    free(made->mine.makes);
    free(made->mine.room.bytes);
    free(made);
}

/* Shard i has the items i, i + N_SHARDS, ... */
static void collect(struct batch *made, uint32_t shard)
{
    struct stream_output *const output = &made->mine.shard[shard].output;

    stream_output_lend_records(output, made->lent, N_ITEMS + 1);
    output->n = 1;
    for (uint32_t item = shard; item < N_ITEMS; item += N_SHARDS, output->n++)
        output->record[output->n] = (struct stream_record){.offset = (output->n - 1) * LEN,
                                                           .item = item,
                                                           .source = item,
                                                           .at = item * LEN,
                                                           .len = LEN,
                                                           .previous = output->n - 1,
                                                           .kind = STREAM_PACKET,
                                                           .sender = 1};
    stream_parts_list(&made->mine, &made->batch, shard);
    stream_parts_keep(&made->mine, shard);
    memset(made->lent, 0xEE, sizeof made->lent);
}

/* Whether the memory is of the batch's room, within it. */
static bool is_in_room(const struct batch *made, const void *at, size_t len)
{
    const struct stream_room *const room = &made->mine.room;
    const uint8_t *const from = at;

    return from >= room->bytes && from + len <= room->bytes + room->len;
}

static void check(const struct batch *made, uint32_t shard)
{
    const struct stream_parts *const parts = &made->mine.shard[shard];

    assert_false(parts->no_memory);
    for (uint32_t r = 1; r < parts->output.n; r++) {
        const struct sl_stream_part *const part = &parts->part[r];
        const uint32_t item = shard + (r - 1) * N_SHARDS;

        assert_ptr_equal(made->mine.of_item[item], part);
        assert_ptr_equal(part->bytes, made->bytes + (size_t)item * LEN);
        assert_ptr_equal(part->before, r > 1 ? &parts->part[r - 1] : NULL);
        assert_int_equal(part->known, (r - 1) * LEN);
        assert_int_equal(made->mine.makes[item], r > 1);
        assert_true(part->whole && part->next == NULL);
        if (made->mine.keeps_records)
            assert_int_equal(parts->record[r].item, item);
    }
}

/* Plays some batches. Returns how many shards had all that they have in the room. */
static uint32_t play(size_t room_len, bool keeps_records)
{
    struct batch *const made = make(room_len);
    uint32_t n_in_room = 0;

    for (int round = 0; round < ROUNDS; round++) {
        made->mine.room.used = 0;
        made->mine.keeps_records = keeps_records;
        for (uint32_t shard = 0; shard < N_SHARDS; shard++)
            collect(made, shard);
        for (uint32_t shard = 0; shard < N_SHARDS; shard++) {
            const struct stream_parts *const parts = &made->mine.shard[shard];
            const uint32_t n = parts->output.n;

            check(made, shard);
            assert_int_equal(parts->record != NULL, keeps_records);
            n_in_room +=
                is_in_room(made, parts->part, n * sizeof *parts->part) &&
                (!keeps_records || is_in_room(made, parts->record, n * sizeof *parts->record));
        }
    }
    discard(made);
    return n_in_room;
}

static void test_rooms_of_all_lengths(void **state)
{
    enum { ROOMY = 1 << 16 };

    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        assert_int_equal(play(ROOMY, keeps), ROUNDS * N_SHARDS);
        assert_int_equal(play(64, keeps), 0);
        for (size_t len = 128; len < 24576; len += 512)
            (void)play(len, keeps);
        const uint32_t n = play(7040, keeps);

        assert_true(n > 0 && n < ROUNDS * N_SHARDS);
    }
}

/* ---- pieces ---------------------------------------------------------------------------------- */

enum { N_PIECES = 2, TEXT_LEN = N_PIECES * SL_STREAM_PIECE };

static const uint8_t next_bytes[] = "bbab";

/* The bytes of a record of kind STREAM_CONTEXT, in pieces and together, before those of a packet.
 */
struct context {
    _Alignas(8) uint8_t copied[N_PIECES * sizeof(const uint8_t *)];
    uint8_t pieces[N_PIECES][SL_STREAM_PIECE];
    struct sl_stream_part part[2]; /* the context, and the packet's part */
};

static void lay(struct context *context, const uint8_t *text, uint32_t skip, uint32_t len,
                bool in_pieces)
{
    const struct sl_stream_part before = {
        .bytes = text + skip, .len = len, .skip = (uint8_t)skip, .in_pieces = in_pieces};
    const uint8_t *const piece[N_PIECES] = {context->pieces[1], context->pieces[0]};

    memcpy(context->pieces[1], text, SL_STREAM_PIECE);
    memcpy(context->pieces[0], text + SL_STREAM_PIECE, SL_STREAM_PIECE);
    memcpy(context->copied, piece, sizeof piece);
    context->part[0] = before;
    if (in_pieces)
        context->part[0].piece = (const uint8_t *const *)(const void *)context->copied;
    context->part[1] = (struct sl_stream_part){.bytes = next_bytes,
                                               .offset = len,
                                               .before = &context->part[0],
                                               .len = sizeof next_bytes - 1,
                                               .known = len};
}

/* Contexts in pieces are as those that lie together. */
static void test_pieces(void **state)
{
    static const struct seam_wanted wanted = {(const uint8_t *)"abbab", 5, false, {true, true}, 0};
    static uint8_t text[TEXT_LEN];
    struct seam_table *const table = seam_table_create(&wanted, 1, 0);
    const struct run_seams seams = {.len = RUN_SEAM_MAX, .table = table};
    uint64_t random = 5;
    uint32_t n_crosses = 0;

    (void)state;
    for (uint32_t i = 0; i < TEXT_LEN; i++)
        text[i] = "ab"[test_below(&random, 2)];
    for (uint32_t skip = 0; skip < SL_STREAM_PIECE; skip += 15)
        for (uint32_t len = 1; skip + len <= TEXT_LEN; len++) {
            struct context pieces, flat;
            uint8_t copy[2][TEXT_LEN];
            uint32_t together;

            lay(&pieces, text, skip, len, true);
            lay(&flat, text, skip, len, false);
            stream_part_copy_before(&pieces.part[1], copy[0], len);
            stream_part_copy_before(&flat.part[1], copy[1], len);
            assert_memory_equal(copy[0], copy[1], len);
            const uint8_t *const end = stream_part_end(&pieces.part[0], &together);

            assert_in_range(together, 1, len);
            assert_memory_equal(end - together, text + skip + len - together, together);
            const bool crosses = stream_seam_crosses(&seams, &flat.part[1], true);

            assert_int_equal(stream_seam_crosses(&seams, &pieces.part[1], true), crosses);
            n_crosses += crosses;
        }
    assert_true(n_crosses > 100);
    seam_table_free(table);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* What a record has, and what becomes of the place before it. */
struct place {
    uint8_t kind, half, len; /* of the record; a packet's payload has LEN bytes, or LONG */
    uint8_t previous;        /* record */
    uint8_t trained;
    uint8_t before; /* of its item: the item before, and 1; 0: no engine has the place */
    uint8_t makes;
};

enum { LONG = 20, SEAM_LEN = 10 };

/* Records, the items of packets being counted from 0 on. */
static const struct place places[] = {
    {STREAM_CONTEXT, 0, 30, 0, 0, 0, 0},
    {STREAM_PACKET, 0, LEN, 1, 0, 0, 1},     /* bytes before it are in no packet, */
    {STREAM_PACKET, 0, LEN, 2, 1, 0, 1},     /* nor some of those */
    {STREAM_PACKET, 0, LONG, 3, 1, 0, 1},    /* */
    {STREAM_PACKET, 0, LEN, 4, 1, 3, 0},     /* as long as any literal */
    {STREAM_PACKET, 0, LEN, 5, 1, 4, 0},     /* shorter, behind a longer one */
    {STREAM_PACKET, 0, LEN / 2, 6, 0, 0, 1}, /* a part of a payload, */
    {STREAM_PACKET, 0, LEN, 7, 0, 0, 1},     /* and the bytes behind it */
    {STREAM_PACKET, 1, LEN, 0, 0, 0, 0},     /* the first of its stream, */
    {STREAM_PACKET, 1, LEN, 9, 1, 8, 0},     /* before which there are none */
    {STREAM_COPIED, 1, LEN, 10, 0, 0, 1},
    {STREAM_PACKET, 1, LEN, 11, 0, 0, 1},
};

enum { N_PLACES = sizeof places / sizeof places[0] };

/* All bytes are alike, so that a literal lies across all places. */
static void fill_places(struct batch *made, struct stream_output *output, uint8_t *copied)
{
    uint32_t item = 0, at = 0;

    memset(copied, 'a', LONG * 2);
    memset(made->bytes, 'a', sizeof made->bytes);
    stream_output_lend_records(output, made->lent, N_ITEMS + 1);
    stream_output_lend_copied(output, copied, LONG * 2);
    output->n = 1;
    for (uint32_t i = 0; i < N_PLACES; i++) {
        const struct place *const place = &places[i];
        const bool has_item = place->kind != STREAM_CONTEXT;
        const uint32_t len = place->len == LONG ? LONG : LEN;

        output->record[output->n++] =
            (struct stream_record){.item = item,
                                   .source = item,
                                   .at = place->kind == STREAM_PACKET ? at : 0,
                                   .len = place->len,
                                   .previous = place->previous,
                                   .kind = place->kind,
                                   .half = place->half,
                                   .cause = place->trained,
                                   .sender = 1 + place->half};
        if (!has_item)
            continue;
        made->payload[item++] = (struct sl_span){at, len};
        at += len;
    }
    made->batch.n_items = item;
}

static void test_places(void **state)
{
    static const struct seam_wanted wanted = {(const uint8_t *)"aaaa", 4, false, {true, true}, 0};
    struct batch *const made = make(1 << 16);
    struct seam_table *const table = seam_table_create(&wanted, 1, 0);
    const struct run_seams seams = {.len = SEAM_LEN, .table = table};
    uint32_t before[N_PLACES] = {0}, item = 0;
    uint8_t copied[LONG * 2];

    (void)state;
    assert_non_null(table);
    made->mine.seams = &seams;
    made->mine.before = made->batch.before = before;
    fill_places(made, &made->mine.shard[0].output, copied);
    stream_parts_list(&made->mine, &made->batch, 0);
    for (uint32_t i = 0; i < N_PLACES; i++) {
        const struct place *const place = &places[i];

        if (place->kind == STREAM_CONTEXT)
            continue;
        assert_int_equal(made->mine.makes[item], place->makes);
        assert_int_equal(before[item] & SL_BEFORE_NUMBER, place->before);
        assert_int_equal((before[item] & SL_BEFORE_TO_SERVER) != 0,
                         place->before != 0 && place->half == 0);
        item++;
    }
    discard(made);
    seam_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rooms_of_all_lengths),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
