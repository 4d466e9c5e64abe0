/* SPDX-License-Identifier: MIT */
/* Datagrams among the packets of a batch, beside a batch that is filled one packet after another.
 */
#include "test.h"

#include "run/run_datagrams.h"

enum { ITEMS_MAX = 64, LEN_MAX = 200, TRIALS = 2000 };

struct laying {
    struct sl_batch *batch, *expected;
    struct run_datagrams made;
    uint64_t seed;
};

/* A packet of random bytes, without alignment's: its number is its position and its time. */
static uint32_t add(struct sl_batch *batch, uint32_t number, uint32_t len)
{
    uint8_t bytes[LEN_MAX];
    uint64_t seed = number + 1;

    for (uint32_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(1 + test_below(&seed, 255));
    const uint32_t item = sl_batch_add(batch, bytes, len, 0);

    batch->origin[item].position = number;
    batch->packet[item].network = (uint16_t)(number % 50);
    batch->payload[item].offset += len / 2;
    batch->payload[item].len = len - len / 2;
    return item;
}

static void make(struct laying *laying, uint32_t behind, uint32_t number, uint32_t len)
{
    struct run_datagrams *made = &laying->made;
    struct sl_batch *one;
    struct sl_diag diag;

    assert_int_equal(sl_batch_create(&one, 4096, 1, &diag), SL_OK);
    add(one, number, len);
    assert_true(run_datagrams_reserve((void **)&made->bytes, &made->cap, made->len + len, 1));
    assert_true(run_datagrams_reserve((void **)&made->datagram, &made->max, made->n + 1,
                                      sizeof *made->datagram));
    if (len != 0)
        memcpy(made->bytes + made->len, one->bytes, len);
    made->datagram[made->n++] = (struct run_datagram){.behind = behind,
                                                      .at = made->len,
                                                      .packet = one->packet[0],
                                                      .payload = one->payload[0],
                                                      .origin = one->origin[0]};
    made->len += len;
    sl_batch_free(one);
}

/* Cuts a taken fragment to so many bytes. */
static void cut(struct sl_batch *batch, uint32_t item, uint32_t len)
{
    batch->packet[item].len = len;
    batch->payload[item] = (struct sl_span){batch->packet[item].offset + len, 0};
}

static void fill(struct laying *laying)
{
    const uint32_t n = (uint32_t)test_below(&laying->seed, 20);
    const uint32_t cuts = (uint32_t)test_below(&laying->seed, 4);
    const uint32_t datagrams = (uint32_t)test_below(&laying->seed, 4);
    uint32_t number = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t len = (uint32_t)test_below(&laying->seed, LEN_MAX);
        const bool is_cut = test_below(&laying->seed, 6) < cuts;
        const uint32_t left = is_cut ? (uint32_t)test_below(&laying->seed, len + 1) : len;

        const uint32_t item = add(laying->batch, number, len);
        const uint32_t wanted = add(laying->expected, number++, len);
        if (is_cut) {
            cut(laying->batch, item, left);
            cut(laying->expected, wanted, left);
            laying->expected->bytes_len =
                laying->expected->packet[wanted].offset + run_datagrams_aligned(left);
            sl_batch_pad(laying->expected->bytes, laying->expected->packet[wanted].offset + left,
                         laying->expected->bytes_len);
        }
        for (uint32_t d = 0; d < 2; d++)
            if (test_below(&laying->seed, 6) < datagrams) {
                const uint32_t more = (uint32_t)test_below(&laying->seed, LEN_MAX);

                make(laying, item, number, more);
                add(laying->expected, number++, more);
            }
    }
}

static void test_a_batch_is_laid_as_if_it_were_filled_so(void **state)
{
    struct laying laying = {.seed = 1};
    struct sl_diag diag;

    (void)state;
    assert_int_equal(sl_batch_create(&laying.batch, ITEMS_MAX * 256, ITEMS_MAX, &diag), SL_OK);
    assert_int_equal(sl_batch_create(&laying.expected, ITEMS_MAX * 256, ITEMS_MAX, &diag), SL_OK);
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        const struct sl_batch *batch = laying.batch, *expected = laying.expected;

        sl_batch_reset(laying.batch);
        sl_batch_reset(laying.expected);
        laying.made.n = laying.made.len = 0;
        fill(&laying);
        run_datagrams_lay(&laying.made, laying.batch);
        assert_int_equal(batch->n_items, expected->n_items);
        assert_int_equal(batch->bytes_len, expected->bytes_len);
        assert_memory_equal(batch->bytes, expected->bytes, expected->bytes_len);
        for (uint32_t i = 0; i < batch->n_items; i++) {
            assert_memory_equal(&batch->packet[i], &expected->packet[i], sizeof *batch->packet);
            assert_memory_equal(&batch->payload[i], &expected->payload[i], sizeof *batch->payload);
            assert_int_equal(batch->origin[i].position, expected->origin[i].position);
            assert_int_equal(batch->overlap[i], 0);
        }
    }
    run_datagrams_clear(&laying.made);
    sl_batch_free(laying.batch);
    sl_batch_free(laying.expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_batch_is_laid_as_if_it_were_filled_so)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
