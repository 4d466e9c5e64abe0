/* SPDX-License-Identifier: MIT */
/* Values of messages as made items: each value that is searched lies in an item of its buffer, and
 * an item has no buffer for nothing. */
#include "test.h"

#include "run/run_apps.h"

enum { VALUES_MAX = 12, MESSAGES = 5, ITEMS = 64, MADE = 32 };

/* A head's values lie in its text, or elsewhere. */
static uint32_t make_values(uint64_t *seed, uint8_t *text, uint32_t len, struct sl_app_value *value)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < len; i++)
        text[i] = (uint8_t)test_below(seed, 256);
    for (uint32_t id = SL_HTTP_METHOD; id <= SL_HTTP_LOCATION && n < VALUES_MAX; id++) {
        const uint32_t value_len = 1 + test_below(seed, len);

        if (test_below(seed, 2) == 0)
            value[n++] =
                (struct sl_app_value){text + test_below(seed, len - value_len + 1), value_len, id};
    }
    return n;
}

static bool holds(const struct sl_batch *batch, uint32_t made, const struct sl_app_value *value)
{
    const struct sl_span item = batch->payload[batch->n_items + made];

    return memmem(batch->bytes + item.offset, item.len, value->bytes, value->len) != NULL;
}

/* Some item of the message has the value for its buffer. */
static bool is_searched(const struct sl_batch *batch, uint32_t item,
                        const struct sl_app_value *value)
{
    const uint32_t buffer = sl_app_buffer_of((enum sl_app_value_id)value->id);

    for (uint32_t i = 0; i < batch->n_made; i++)
        if (batch->made[i].item == item && (batch->made[i].buffers & buffer) != 0 &&
            holds(batch, i, value))
            return true;
    return false;
}

/* Each buffer of the item is that of a value that lies in it, and is asked for. */
static void check_item(const struct sl_batch *batch, uint32_t made, const struct sl_app_half *half,
                       uint32_t buffers)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < half->n_values; i++)
        if (holds(batch, made, &half->value[i]))
            found |= sl_app_buffer_of((enum sl_app_value_id)half->value[i].id) & buffers;
    assert_int_not_equal(batch->made[made].buffers, 0);
    assert_int_equal(batch->made[made].buffers & ~found, 0);
}

static const struct sl_app_half *half_of(const struct app_batch *said, uint32_t m)
{
    return &said->message[m].half[said->message[m].side];
}

/* Makes items until all are made, batch by batch, and checks each. Returns their bytes. */
static uint64_t check(const struct app_batch *said, struct sl_batch *to, uint32_t buffers)
{
    bool searched[MESSAGES][VALUES_MAX] = {{false}};
    uint64_t bytes = 0;

    for (uint64_t from = 0; from != UINT64_MAX;) {
        sl_batch_reset(to);
        from = app_batch_make(said, to, ITEMS, buffers, from);
        assert_true(from == UINT64_MAX || to->n_made != 0);
        bytes += to->made_len;
        for (uint32_t m = 0; m < MESSAGES; m++)
            for (uint32_t v = 0; v < half_of(said, m)->n_values; v++)
                searched[m][v] |=
                    is_searched(to, said->message[m].item, &half_of(said, m)->value[v]);
        for (uint32_t i = 0; i < to->n_made; i++) {
            const uint32_t m = to->made[i].item;

            assert_int_equal(said->message[m].step, SL_APP_HEAD); /* the others say nothing new */
            check_item(to, i, half_of(said, m), buffers);
        }
    }
    for (uint32_t m = 0; m < MESSAGES; m++)
        for (uint32_t v = 0; v < half_of(said, m)->n_values; v++) {
            const uint32_t id = half_of(said, m)->value[v].id;
            const bool is_asked = (sl_app_buffer_of((enum sl_app_value_id)id) & buffers) != 0;

            assert_true(searched[m][v] || !is_asked || said->message[m].step != SL_APP_HEAD);
        }
    return bytes;
}

static void test_values_of_heads_are_searched(void **state)
{
    static uint8_t text[MESSAGES][900];
    struct sl_app_value value[MESSAGES][VALUES_MAX];
    struct sl_app_message *const message = calloc(MESSAGES, sizeof *message);
    uint64_t seed = 1, values = 0, made = 0;

    (void)state;
    assert_non_null(message);
    for (int round = 0; round < 400; round++) {
        const struct app_batch said = {.message = message, .n = MESSAGES};
        const uint32_t buffers = round % 4 == 0 ? UINT32_MAX & ~(uint32_t)SL_BUFFER_PAYLOAD
                                                : (uint32_t)test_random(&seed) << 7;
        struct sl_batch *to = NULL;

        assert_int_equal(sl_batch_create(&to, 16384, ITEMS + MADE, NULL), SL_OK);
        assert_int_equal(sl_batch_reserve_made(to, 1024 + test_below(&seed, 8000), MADE, NULL),
                         SL_OK);
        for (uint32_t m = 0; m < MESSAGES; m++) {
            const uint32_t len = 20 + test_below(&seed, 800);

            message[m] = (struct sl_app_message){.item = m,
                                                 .side = (uint8_t)test_below(&seed, 2),
                                                 .step = test_below(&seed, 4) == 0 ? SL_APP_MORE
                                                                                   : SL_APP_HEAD};
            struct sl_app_half *const half = &message[m].half[message[m].side];

            half->value = value[m];
            half->n_values = make_values(&seed, text[m], len, value[m]);
            for (uint32_t v = 0; v < half->n_values && message[m].step == SL_APP_HEAD; v++)
                values += value[m][v].len;
        }
        made += check(&said, to, buffers);
        sl_batch_free(to);
    }
    free(message);
    assert_in_range(made, values / 4, 3 * values / 4); /* those within others are made once */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_heads_are_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
