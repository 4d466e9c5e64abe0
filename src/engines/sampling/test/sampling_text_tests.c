/* SPDX-License-Identifier: MIT */
/* Texts, lengths and edges of items, against the oracle. */
#include "test.h"

#include "batch/test/guarded_batch.h"
#include "sampling_rig.h"

/* All texts of two and of three letters up to a length, behind bytes of a third or fourth that fill
 * a window. */
static void test_all_short_texts(void **state)
{
    enum { FILL = SL_SAMPLING_WINDOW_MIN, LONGEST = 10 };
    static const char letters[] = "acb";
    uint64_t random = 20;

    (void)state;
    for (uint32_t round = 0; round < 24; round++) {
        const uint32_t n_letters = 2 + round % 2;
        const uint32_t longest = round % 2 == 0 ? LONGEST : 6;
        struct sl_sampling_config config = rig_drawn_config(&random);
        uint32_t n_texts = 1;

        config.window = FILL;
        config.period = 1u << round % 5;
        config.marker['a'] |= round % 3 != 0;
        for (uint32_t i = 0; i < longest; i++)
            n_texts *= n_letters;
        sl_batch_reset(rig.batch);
        for (uint32_t text = 0; text < n_texts; text++) {
            uint8_t item[LONGEST + FILL];
            uint32_t code = text;

            memset(item, round % 5 == 0 ? 'a' : 'd', sizeof item);
            for (uint32_t i = 0; i < longest; i++, code /= n_letters)
                item[i] = (uint8_t)letters[code % n_letters];
            rig_add(item, longest + FILL);
        }
        rig_check(&config);
    }
}

/* Few letters, periods and slopes: values tie, rise and fall everywhere. */
static void test_small_alphabets(void **state)
{
    enum { LEN = 9000 };
    static uint8_t text[LEN];
    uint64_t random = 21;

    (void)state;
    for (uint32_t round = 0; round < 60; round++) {
        struct sl_sampling_config config = rig_drawn_config(&random);
        const uint32_t n_letters = 1 + test_below(&random, 4);
        const uint32_t cycle = 1 + test_below(&random, 100);

        for (uint32_t i = 0; i < LEN; i++) {
            const uint32_t drawn = test_below(&random, n_letters);

            text[i] = (uint8_t)(round % 4 == 0   ? drawn
                                : round % 4 == 1 ? 250 + drawn
                                : round % 4 == 2 ? i % cycle + (test_below(&random, 500) == 0)
                                                 : i * 256 / LEN);
        }
        sl_batch_reset(rig.batch);
        for (uint32_t at = 0, len; at < LEN; at += len) {
            len = 1 + test_below(&random, 3000);
            rig_add(text + at, len < LEN - at ? len : LEN - at);
        }
        rig_check(&config);
    }
}

/* One window an item, of the lowest and the highest bytes: it is compared with nothing. */
static void test_lone_windows(void **state)
{
    static const uint8_t bytes[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
    struct sl_sampling_config config = rig_default_config();
    uint8_t item[SL_SAMPLING_WINDOW_MAX];

    (void)state;
    config.period = 16;
    sl_batch_reset(rig.batch);
    for (size_t first = 0; first < sizeof bytes; first++) {
        for (size_t rest = 0; rest < sizeof bytes; rest++) {
            memset(item, bytes[rest], sizeof item);
            item[0] = bytes[first];
            rig_add(item, config.window);
        }
    }
    rig_check(&config);
}

/* ---- lengths and edges ----------------------------------------------------------------------- */

/* Items of every length, each a part of its own of one text, by many configurations. */
static void test_every_length(void **state)
{
    enum { LONGEST = 200 };
    static uint8_t text[2 * LONGEST];
    uint64_t random = 1;

    (void)state;
    for (int round = 0; round < 40; round++) {
        const struct sl_sampling_config config = rig_drawn_config(&random);

        rig_fill_random(&random, text, sizeof text);
        sl_batch_reset(rig.batch);
        for (uint32_t len = 0; len <= LONGEST; len++)
            rig_add(text + test_below(&random, LONGEST), len);
        rig_check(&config);
    }
}

/* Each window and each period. Under a sanitizer a window meets a third of the periods. */
static void test_every_window_and_period(void **state)
{
    static uint8_t text[3000];
    struct sl_sampling_config config = rig_default_config();
    uint64_t random = 2;

    (void)state;
    for (uint32_t window = SL_SAMPLING_WINDOW_MIN; window <= SL_SAMPLING_WINDOW_MAX; window++) {
        rig.subject->draw(&config, &random);
        rig_fill_random(&random, text, sizeof text);
        sl_batch_reset(rig.batch);
        rig_add(text, 1000 + window);
        rig_add(text + 1100, window);
        rig_add(text + 1200, window - 1);
        rig_add(text + 1300, 1500 + window);
        config.window = window;
        for (config.period = test_fewer(1, 1u << window % 3);
             config.period <= SL_SAMPLING_PERIOD_MAX; config.period *= test_fewer(2, 8))
            rig_check(&config);
    }
}

/* Longer than any unit of work, and of lengths around powers of two. */
static void test_long_items(void **state)
{
    enum { LEN = 300000 };
    static uint8_t text[LEN];
    uint64_t random = 3;

    (void)state;
    rig_fill_random(&random, text, LEN);
    for (int round = 0; round < 4; round++) {
        const struct sl_sampling_config config =
            round == 0 ? rig_default_config() : rig_drawn_config(&random);

        sl_batch_reset(rig.batch);
        rig_add(text, LEN / 2);
        for (uint32_t log = 5; log <= 15; log += 2)
            for (uint32_t more = 0; more < 3; more++)
                rig_add(text + more * 1000, (1u << log) - 1 + more);
        rig_check(&config);
    }
}

/* Runs of one byte have one fingerprint, which is chosen everywhere or nowhere. */
static void test_constant_payloads(void **state)
{
    static const uint8_t values[] = {0x00, 0xFF, 'a', 0x80, 0x01};
    static uint8_t run[5000];
    uint64_t random = 4;

    (void)state;
    for (uint32_t round = 0; round < test_fewer(20, 8); round++) {
        struct sl_sampling_config config =
            round < 2 ? rig_default_config() : rig_drawn_config(&random);

        if (round % 4 == 1)
            config.magic = 0; /* chooses all windows of zeros */
        for (size_t v = 0; v < sizeof values; v++) {
            memset(run, values[v], sizeof run);
            sl_batch_reset(rig.batch);
            for (uint32_t len = 0; len < 100; len++)
                rig_add(run, len);
            rig_add(run, sizeof run);
            rig_check(&config);
        }
    }
}

/* Windows touch an item's ends, and none reach over them. Each chosen window lies alone in an item,
 * then with a byte less at either end, then with one more. */
static void test_windows_at_the_ends(void **state)
{
    enum { LEN = 20000, MOST = 500 };
    static uint8_t text[LEN];
    static struct sl_hit chosen[MOST];
    uint64_t random = 5;

    (void)state;
    rig_fill_random(&random, text, LEN);
    for (int round = 0; round < 6; round++) {
        struct sl_sampling_config config =
            round == 0 ? rig_default_config() : rig_drawn_config(&random);

        if (config.period > 256)
            config.period = 256;
        sl_batch_reset(rig.batch);
        rig_add(text, LEN);
        size_t n = rig.subject->oracle(&config, rig.batch, chosen, MOST);
        if (n > MOST)
            n = MOST;
        assert_true(n >= 20);
        sl_batch_reset(rig.batch);
        for (size_t i = 0; i < n; i++) {
            const uint32_t at = chosen[i].offset;
            const uint32_t before = at > 0, behind = at + config.window < LEN;

            rig_add(text + at, config.window);
            rig_add(text + at + 1, config.window - 1);
            rig_add(text + at, config.window - 1);
            rig_add(text + at - before, config.window + before + behind);
        }
        rig_check(&config);
        assert_true(rig.found.n >= 2 * n);
    }
}

/* Payloads that begin anywhere in the arena, with bytes before and between them that are not
 * theirs, of the kind that would be chosen. */
static void test_payloads_inside_packets(void **state)
{
    enum { PACKET = 1514 };
    static uint8_t packet[PACKET];
    uint64_t random = 6;

    (void)state;
    for (uint32_t round = 0; round < test_fewer(30, 10); round++) {
        struct sl_sampling_config config = rig_drawn_config(&random);

        if (config.period > 64)
            config.period = 64;
        sl_batch_reset(rig.batch);
        for (int i = 0; i < 60; i++) {
            const uint32_t len = test_below(&random, PACKET + 1);

            rig_fill_random(&random, packet, len);
            const uint32_t item = sl_batch_add(rig.batch, packet, len, 0);
            const uint32_t header = test_below(&random, (len < 100 ? len : 100) + 1);
            const uint32_t trailer =
                test_below(&random, 3) == 0
                    ? test_below(&random, (len - header < 60 ? len - header : 60) + 1)
                    : 0;

            rig.batch->payload[item].offset += header;
            rig.batch->payload[item].len = len - header - trailer;
        }
        rig_check(&config);
    }
}

static void test_no_item_and_no_byte(void **state)
{
    const struct sl_sampling_config config = rig_default_config();

    (void)state;
    sl_batch_reset(rig.batch);
    rig_check(&config);
    for (int i = 0; i < 2000; i++)
        rig_add("", 0);
    rig_check(&config);
    assert_int_equal(rig.found.n, 0);
}

static void test_guard_pages(void **state)
{
    uint64_t random = 7;

    (void)state;
    for (uint32_t len = 0; len <= GUARDED_PAYLOAD_MAX; len += test_fewer(1, 3)) {
        const struct sl_sampling_config config =
            len % 2 == 0 ? rig_default_config() : rig_drawn_config(&random);
        struct guarded_batch guarded;

        guarded_batch_open(&guarded, len);
        rig_fill_random(&random, guarded.batch.bytes, GUARDED_PAGE);
        rig_check_batch(&config, &guarded.batch);
        guarded_batch_close(&guarded);
    }
}

/* An arena that ends with its last payload's last byte, at each of its lengths. */
static void test_short_arenas(void **state)
{
    static uint8_t text[700];
    uint64_t random = 8;

    (void)state;
    for (uint32_t len = 1; len <= sizeof text; len += 1 + len / 50) {
        struct sl_sampling_config config = rig_drawn_config(&random);

        if (config.period > 16)
            config.period = 16;
        rig_fill_random(&random, text, len);
        sl_batch_reset(rig.batch);
        rig_add(text, len);
        rig_check(&config);
    }
}

int sampling_text_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_short_texts),
        cmocka_unit_test(test_small_alphabets),
        cmocka_unit_test(test_lone_windows),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_every_window_and_period),
        cmocka_unit_test(test_long_items),
        cmocka_unit_test(test_constant_payloads),
        cmocka_unit_test(test_windows_at_the_ends),
        cmocka_unit_test(test_payloads_inside_packets),
        cmocka_unit_test(test_no_item_and_no_byte),
        cmocka_unit_test(test_guard_pages),
        cmocka_unit_test(test_short_arenas),
    };

    return cmocka_run_group_tests_name("texts", tests, NULL, NULL);
}
