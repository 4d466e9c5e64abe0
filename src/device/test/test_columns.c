/* SPDX-License-Identifier: MIT */
/* Columns behind the items of a batch, as an upload lays them there. */
#include "test.h"

#include "device/columns.h"

static struct sl_batch *make_batch(uint32_t arena_len, uint32_t max_items)
{
    struct sl_batch *batch;
    struct sl_diag diag;

    assert_int_equal(sl_batch_create(&batch, arena_len, max_items, &diag), SL_OK);
    return batch;
}

/* Fills a batch to its last item, or to its last byte. */
static void fill_batch(struct sl_batch *batch, uint32_t item_len, uint16_t overlap)
{
    uint8_t bytes[64];

    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 5 + 1);
    while (sl_batch_fits(batch, item_len)) {
        const uint32_t item = sl_batch_add(batch, bytes, item_len, item_len > 0 ? overlap : 0);

        batch->payload[item].offset += item_len / 3;
        batch->payload[item].len -= item_len / 3;
        batch->packet[item].network = (uint16_t)(item * 3 + 1);
        batch->kind[item] = (uint8_t)(item * 7 + 1);
        batch->before[item] = item * 11 + 1;
    }
}

/* The arena in memory that ends where a pinned arena's would: the columns of a full batch just fit.
 * The caller frees bytes. */
static struct sl_batch with_room(const struct sl_batch *batch)
{
    struct sl_batch view = *batch;

    view.room_len = columns_packed_room(batch->bytes_cap, batch->max_items) - SL_BATCH_SLACK;
    view.room = malloc(view.room_len);
    view.bytes = view.room;
    memset(view.bytes, 0xEE, view.room_len);
    memcpy(view.bytes, batch->bytes, batch->bytes_len);
    return view;
}

static void check_zeros(const uint8_t *bytes, size_t from, size_t to)
{
    assert_true(to - from < SL_BATCH_ALIGN);
    for (size_t at = from; at < to; at++)
        assert_int_equal(bytes[at], 0);
}

/* How many columns were laid behind the items, and how many there are. */
static unsigned pack(const struct sl_batch *view, unsigned *n_columns)
{
    const struct columns at = columns_of_batch(view);
    struct column column[COLUMNS_MAX];

    *n_columns = columns_of(column, view, &at);
    const unsigned n_packed = columns_pack(view, column, *n_columns);
    assert_int_equal(columns_aligned(columns_packed_len(view, column, n_packed)),
                     n_packed < *n_columns ? column[n_packed].at : columns_aligned(at.end));
    return n_packed;
}

static void check_all_packed(const struct sl_batch *view)
{
    unsigned n_columns;

    const unsigned n_packed = pack(view, &n_columns);
    assert_int_equal(n_packed, n_columns);
    assert_int_equal(n_packed, 1 + view->has_overlap + (view->packet != NULL) + view->has_kind +
                                   view->has_before);
}

static void check_packed(const struct sl_batch *batch, const struct sl_batch *view)
{
    const size_t n = batch->n_items;
    const struct columns at = columns_of_batch(view);

    check_all_packed(view);
    assert_memory_equal(view->bytes, batch->bytes, batch->bytes_len);
    assert_int_equal(at.payload, batch->bytes_len);
    assert_int_equal(at.overlap % SL_BATCH_ALIGN, 0);
    assert_int_equal(at.packet % SL_BATCH_ALIGN, 0);
    assert_memory_equal(view->bytes + at.payload, batch->payload, n * sizeof *batch->payload);
    check_zeros(view->bytes, at.payload + n * sizeof *batch->payload, at.overlap);
    if (view->has_overlap) {
        assert_memory_equal(view->bytes + at.overlap, batch->overlap, n * sizeof *batch->overlap);
        check_zeros(view->bytes, at.overlap + n * sizeof *batch->overlap, at.packet);
    }
    if (view->packet != NULL)
        assert_memory_equal(view->bytes + at.packet, batch->packet, n * sizeof *batch->packet);
    else
        assert_int_equal(at.kind, at.packet);
    if (view->has_kind) {
        assert_memory_equal(view->bytes + at.kind, batch->kind, n * sizeof *batch->kind);
        check_zeros(view->bytes, at.kind + n * sizeof *batch->kind, at.before);
    } else {
        assert_int_equal(at.before, at.kind);
    }
    if (view->has_before) {
        assert_memory_equal(view->bytes + at.before, batch->before, n * sizeof *batch->before);
        check_zeros(view->bytes, at.before + n * sizeof *batch->before, at.end);
    } else {
        assert_int_equal(at.end, at.before);
    }
    for (size_t behind = at.end; behind < view->room_len; behind++)
        assert_int_equal(view->bytes[behind], 0xEE);
}

static void test_columns_fit_behind_each_full_batch(void **state)
{
    (void)state;
    for (uint32_t max_items = 1; max_items <= 20; max_items++)
        for (uint32_t item_len = 0; item_len <= 48; item_len += 12)
            for (uint32_t mask = 0; mask < 16; mask++) {
                struct sl_batch *batch = make_batch(256, max_items);

                fill_batch(batch, item_len, mask & 1);
                struct sl_batch view = with_room(batch);
                if ((mask & 2) != 0)
                    view.packet = NULL;
                view.has_kind = (mask & 4) != 0;
                view.has_before = (mask & 8) != 0;
                check_packed(batch, &view);
                free(view.bytes);
                sl_batch_free(batch);
            }
}

/* A batch that is crossing may be sent to another GPU, with other columns. */
static void test_packing_again_changes_nothing(void **state)
{
    struct sl_batch *batch = make_batch(256, 7);

    (void)state;
    fill_batch(batch, 20, 3);
    struct sl_batch view = with_room(batch);
    check_all_packed(&view);
    uint8_t *before = malloc(view.room_len);
    memcpy(before, view.bytes, view.room_len);

    view.packet = NULL;
    check_all_packed(&view);
    assert_memory_equal(view.bytes, before, view.room_len);
    free(before);
    free(view.bytes);
    sl_batch_free(batch);
}

static void test_columns_stay_out_of_memory_that_is_not_theirs(void **state)
{
    struct sl_batch *batch = make_batch(256, 4);
    uint8_t other[256];
    unsigned n;

    (void)state;
    fill_batch(batch, 64, 0);
    struct sl_batch view = with_room(batch);
    const size_t end = columns_of_batch(&view).end;

    assert_int_equal(pack(batch, &n), 0); /* not pinned: no room */
    view.room_len = end - 1;
    assert_int_equal(pack(&view, &n), 1);
    assert_int_equal(view.bytes[end - 1], 0xEE);
    view.room_len = end;
    view.bytes = other; /* a copy with an arena of its own */
    assert_int_equal(pack(&view, &n), 0);
    view.bytes = view.room;
    assert_int_equal(pack(&view, &n), 2);
    free(view.room);
    sl_batch_free(batch);
}

/* The longest columns that are laid behind the items, and those of one item more. */
static void test_long_columns_stay_where_they_are(void **state)
{
    enum { SPANS = COLUMNS_PACKED_LEN / sizeof(struct sl_span) };
    enum { PACKETS = COLUMNS_PACKED_LEN / sizeof(struct sl_packet) };
    static const struct {
        uint32_t n_items;
        bool overlap, packet;
        unsigned n_packed;
    } cases[] = {
        {SPANS, false, false, 1},    {SPANS + 1, false, false, 0}, {SPANS, true, false, 2},
        {SPANS + 1, true, false, 0}, {PACKETS, false, true, 2},    {PACKETS + 1, false, true, 1},
        {PACKETS, true, true, 3},    {PACKETS + 1, true, true, 2}, {SPANS + 1, true, true, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sl_batch *batch = make_batch(16 * (SPANS + 1), cases[i].n_items);
        unsigned n;

        fill_batch(batch, 16, cases[i].overlap ? 3 : 0);
        assert_int_equal(batch->n_items, cases[i].n_items);
        struct sl_batch view = with_room(batch);
        if (!cases[i].packet)
            view.packet = NULL;
        assert_int_equal(pack(&view, &n), cases[i].n_packed);
        free(view.room);
        sl_batch_free(batch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_fit_behind_each_full_batch),
        cmocka_unit_test(test_packing_again_changes_nothing),
        cmocka_unit_test(test_columns_stay_out_of_memory_that_is_not_theirs),
        cmocka_unit_test(test_long_columns_stay_where_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
