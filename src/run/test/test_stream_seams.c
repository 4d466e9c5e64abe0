/* SPDX-License-Identifier: MIT */
/* Many places are looked at together: what is found is what a look at each place alone finds, and
 * every literal that was cut. */
#include "run/stream_seams.h"

#include <stdlib.h>
#include <string.h>

#include "base/least.h"
#include "detect/match/seam_filter.h"
#include "test.h"

enum { N_RECORDS = 400, LEN_MAX = 12, LITERALS = 30, LITERAL_MAX = 9, ROUNDS = 300 };

/* The streams of a shard in a batch. Record 0 is none. */
struct streams {
    uint64_t seed;
    struct sl_literal literal[LITERALS];
    uint8_t literal_bytes[LITERALS][LITERAL_MAX];
    struct seam_filter *filter;
    struct run_seams seams;
    struct stream_record record[N_RECORDS];
    struct sl_stream_part part[N_RECORDS];
};

static uint8_t some_byte(struct streams *streams)
{
    return (uint8_t)("abcdE!"[test_below(&streams->seed, 6)]);
}

static void make_literals(struct streams *streams)
{
    for (uint32_t id = 0; id < LITERALS; id++) {
        const uint32_t len = 1 + test_below(&streams->seed, LITERAL_MAX);

        for (uint32_t i = 0; i < len; i++)
            streams->literal_bytes[id][i] = some_byte(streams);
        streams->literal[id] =
            (struct sl_literal){streams->literal_bytes[id], len, SL_LITERAL_NOCASE};
    }
    streams->filter = seam_filter_create(streams->literal, LITERALS);
    assert_non_null(streams->filter);
    streams->seams = (struct run_seams){.len = LITERAL_MAX - 1};
    for (uint32_t half = 0; half < 2; half++)
        streams->seams.filter[half] = test_below(&streams->seed, 8) != 0 ? streams->filter : NULL;
}

/* Bytes of a half, most of them from where a literal was left. */
static void put_bytes(struct streams *streams, uint8_t *bytes, uint32_t len, const uint8_t **rest,
                      uint32_t *n_rest)
{
    for (uint32_t i = 0; i < len; i++) {
        if (*n_rest == 0 && test_below(&streams->seed, 3) == 0) {
            const struct sl_literal *some = &streams->literal[test_below(&streams->seed, LITERALS)];

            *rest = some->bytes;
            *n_rest = some->len;
        }
        bytes[i] = *n_rest != 0 ? *(*rest)++ : some_byte(streams);
        *n_rest -= *n_rest != 0;
    }
}

static void make_records(struct streams *streams)
{
    const uint8_t *rest[2] = {NULL, NULL};
    uint32_t n_rest[2] = {0, 0}, last[2] = {0, 0};

    for (uint32_t r = 1; r < N_RECORDS; r++) {
        struct stream_record *const record = &streams->record[r];
        struct sl_stream_part *const part = &streams->part[r];
        const uint8_t half = (uint8_t)test_below(&streams->seed, 2);
        const struct sl_stream_part *before = last[half] != 0 ? &streams->part[last[half]] : NULL;

        *record = (struct stream_record){
            .half = half, .kind = (uint8_t)test_below(&streams->seed, STREAM_END + 1)};
        if (test_below(&streams->seed, 4) != 0)
            record->kind = STREAM_PACKET;
        *part = (struct sl_stream_part){0};
        if (record->kind == STREAM_GAP)
            last[half] = 0;
        if (record->kind > STREAM_CONTEXT || (record->kind == STREAM_CONTEXT && before != NULL))
            continue;
        record->previous = last[half];
        last[half] = r;
        part->len = record->len = 1 + test_below(&streams->seed, LEN_MAX);
        uint8_t *const bytes =
            malloc(part->len); /* a sanitizer sees all that is read beside them */
        assert_non_null(bytes);
        part->bytes = bytes;
        part->before = before;
        part->known = before != NULL ? before->known + before->len : 0;
        put_bytes(streams, bytes, part->len, &rest[half], &n_rest[half]);
    }
}

static uint8_t fold(uint8_t byte)
{
    return byte >= 0x40 ? byte | 0x20 : byte;
}

/* Whether a literal lies across the begin of the part, by all bytes of the stream before it. */
static bool is_cut(const struct streams *streams, const struct sl_stream_part *part)
{
    const uint32_t n_before = (uint32_t)least(part->known, LITERAL_MAX - 1);
    uint8_t bytes[LITERAL_MAX + LEN_MAX];

    stream_part_copy_before(part, bytes, n_before);
    memcpy(bytes + n_before, part->bytes, part->len);
    for (uint32_t id = 0; id < LITERALS; id++)
        for (uint32_t at = 0; at < n_before; at++) {
            const struct sl_literal *const literal = &streams->literal[id];
            uint32_t i = 0;

            if (at + literal->len <= n_before || at + literal->len > n_before + part->len)
                continue;
            while (i < literal->len && fold(literal->bytes[i]) == fold(bytes[at + i]))
                i++;
            if (i == literal->len)
                return true;
        }
    return false;
}

/* Compares the records of a set. Returns how many are in it. */
static uint32_t check_set(const struct streams *streams, uint32_t set, uint32_t begin, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct stream_record *const record = &streams->record[begin + i];
        const struct sl_stream_part *const part = &streams->part[begin + i];
        const bool adds = record->kind <= STREAM_COPIED;

        assert_int_equal(set >> i & 1,
                         adds && stream_seam_crosses(&streams->seams, part, record->half));
        if (adds && streams->seams.filter[record->half] != NULL)
            assert_int_equal(set >> i & 1, is_cut(streams, part));
    }
    return (uint32_t)__builtin_popcount(set);
}

static void test_places_together_are_as_alone(void **state)
{
    struct streams *const streams = malloc(sizeof *streams);
    uint32_t n_found = 0;

    (void)state;
    assert_non_null(streams);
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        streams->seed = seed + 1;
        make_literals(streams);
        make_records(streams);
        for (uint32_t begin = 1, n; begin < N_RECORDS; begin += n) {
            n = (uint32_t)least(1 + test_below(&streams->seed, STREAM_SEAMS_MAX),
                                N_RECORDS - begin);
            n_found += check_set(streams,
                                 stream_seams_find(&streams->seams, &streams->record[begin],
                                                   &streams->part[begin], n),
                                 begin, n);
        }
        seam_filter_free(streams->filter);
        for (uint32_t r = 1; r < N_RECORDS; r++)
            free((void *)streams->part[r].bytes);
    }
    assert_true(n_found > ROUNDS * N_RECORDS / 10 && n_found < ROUNDS * N_RECORDS / 2);
    free(streams);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_together_are_as_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
