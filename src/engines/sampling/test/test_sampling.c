/* SPDX-License-Identifier: MIT */
/* One sampler and one of its backends against the oracle: test_sampling SAMPLER.BACKEND */
#include "test.h"

#include <dirent.h>

#include "batch/test/guarded_batch.h"
#include "engines/sampling/rabin/rabin_polynomial.h"
#include "sampling_ref.h"
#include "sluice/device.h"

enum {
    MAX_BYTES = 4 << 20, /* of a batch */
    MAX_ITEMS = 1 << 16,
    MAX_HITS = 4 << 20
};

static const struct sl_limits limits = {
    .max_items = MAX_ITEMS, .max_bytes = MAX_BYTES, .max_hits = MAX_HITS};

/* What a sampler is tried with. */
struct subject {
    const char *name;
    sampling_ref *oracle;
    void (*draw)(struct sl_sampling_config *config, uint64_t *random); /* any legal values */
    void (*opened)(void *context); /* what a new context is told, or NULL */
    bool by_window;                /* a window's own bytes say whether it is chosen */
};

static sampling_ref dynabyte_oracle;
static void draw_rabin(struct sl_sampling_config *config, uint64_t *random);
static void draw_markers(struct sl_sampling_config *config, uint64_t *random);
static void draw_dynabyte(struct sl_sampling_config *config, uint64_t *random);
static void draw_period(struct sl_sampling_config *config, uint64_t *random);
static void use_drawn_state(void *context);

static const struct subject subjects[] = {
    {"rabin", rabin_ref, draw_rabin, NULL, true},
    {"samplebyte", samplebyte_ref, draw_markers, NULL, false},
    {"dynabyte", dynabyte_oracle, draw_dynabyte, use_drawn_state, false},
    {"maxp", maxp_ref, draw_period, NULL, false},
    {"every", every_ref, draw_period, NULL, true},
};

static const struct subject *subject;
static const char *backend_name;
static struct sl_batch *batch;
static struct sl_stage *stage; /* where the backend is CUDA's */
static struct sl_hits found;
static struct sl_hits expected;

/* ---- configurations -------------------------------------------------------------------------- */

static void draw_window(struct sl_sampling_config *config, uint64_t *random)
{
    config->window = SL_SAMPLING_WINDOW_MIN +
                     test_below(random, SL_SAMPLING_WINDOW_MAX - SL_SAMPLING_WINDOW_MIN + 1);
}

static uint64_t draw_polynomial(uint64_t *random, uint32_t degree)
{
    uint64_t polynomial;

    do
        polynomial = test_random(random) >> (63 - degree) | UINT64_C(1) << degree | 1;
    while (!rabin_irreducible(polynomial));
    return polynomial;
}

static void draw_rabin(struct sl_sampling_config *config, uint64_t *random)
{
    draw_window(config, random);
    config->period = 1u << test_below(random, 13);
    config->polynomial = draw_polynomial(random, 53 + test_below(random, 11));
    config->magic = test_random(random);
}

static void draw_period(struct sl_sampling_config *config, uint64_t *random)
{
    draw_window(config, random);
    config->period = 1 + test_below(random, 1u << (1 + test_below(random, 12)));
}

/* A few markers, or many. */
static void draw_markers(struct sl_sampling_config *config, uint64_t *random)
{
    const uint32_t share = 2u << test_below(random, 6);

    draw_period(config, random);
    for (int byte = 0; byte < 256; byte++)
        config->marker[byte] = test_below(random, share) == 0;
    config->marker[test_below(random, 256)] = true;
}

/* ---- dynabyte's state ------------------------------------------------------------------------ */

static struct sl_dynabyte_state drawn_state;
static bool state_is_drawn;

static void draw_dynabyte(struct sl_sampling_config *config, uint64_t *random)
{
    draw_markers(config, random);
    for (int i = 0; i < 8; i++)
        drawn_state.marker[i] = (uint32_t)test_random(random) & (uint32_t)test_random(random);
    drawn_state.skip = test_below(random, 256 << test_below(random, 9));
    state_is_drawn = test_below(random, 4) != 0;
}

/* Some contexts keep what they were opened with. */
static void use_drawn_state(void *context)
{
    if (state_is_drawn)
        sl_dynabyte_use(context, &drawn_state);
}

static size_t dynabyte_oracle(const struct sl_sampling_config *config, const struct sl_batch *host,
                              struct sl_hit *hits, size_t cap)
{
    return state_is_drawn ? dynabyte_ref(&drawn_state, config->window, host, hits, cap)
                          : samplebyte_ref(config, host, hits, cap);
}

static struct sl_sampling_config default_config(void)
{
    struct sl_sampling_config config;

    sl_sampling_config_init(&config);
    config.sampler = subject->name;
    return config;
}

static struct sl_sampling_config drawn_config(uint64_t *random)
{
    struct sl_sampling_config config = default_config();

    subject->draw(&config, random);
    return config;
}

/* ---- running it ------------------------------------------------------------------------------ */

static struct sl_sampling_table *build(const struct sl_sampling_config *config)
{
    struct sl_sampling_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    if (sl_sampling_build(&table, config, &diag) != SL_OK)
        fail_msg("build: %s", diag.text);
    return table;
}

static const struct sl_backend *find_backend(const struct sl_sampling_table *table,
                                             const char *name)
{
    const struct sl_backend *const *backend = sl_sampling_engine(table)->backends;

    while (*backend != NULL && strcmp((*backend)->name, name) != 0)
        backend++;
    return *backend;
}

static void *open_context(const struct sl_backend *backend, const struct sl_sampling_table *table)
{
    void *context = NULL;
    struct sl_diag diag = {.text = ""};

    if (backend->open(&context, table, &limits, &diag) != SL_OK)
        fail_msg("open: %s", diag.text);
    if (subject->opened != NULL)
        subject->opened(context);
    return context;
}

/* Submits a host batch, over the stage where the backend wants it, and waits. */
static enum sl_status scan_batch(const struct sl_backend *backend, void *context,
                                 const struct sl_batch *host, struct sl_hits *hits)
{
    struct sl_batch view;

    if (backend->device == SL_DEVICE_CUDA) {
        assert_int_equal(sl_stage_upload(stage, host, &view), SL_OK);
        host = &view;
    }

    const enum sl_status status = backend->submit(context, host, hits);
    return status == SL_OK ? backend->wait(context) : status;
}

static enum sl_status scan_with(const char *name, const struct sl_sampling_config *config,
                                const struct sl_batch *host, struct sl_hits *hits)
{
    struct sl_sampling_table *table = build(config);
    const struct sl_backend *backend = find_backend(table, name);
    void *context = open_context(backend, table);
    const enum sl_status status = scan_batch(backend, context, host, hits);

    backend->close(context);
    sl_sampling_free(table);
    return status;
}

static void assert_same_hits(const struct sl_sampling_config *config)
{
    assert_true(expected.n <= expected.cap);
    sl_hits_sort(&found);
    sl_hits_sort(&expected);
    for (size_t i = 0; i < found.n && i < expected.n; i++) {
        const struct sl_hit f = found.hit[i];
        const struct sl_hit e = expected.hit[i];

        if (f.item != e.item || f.offset != e.offset || f.id != e.id)
            fail_msg("window %u, period %u, polynomial %llx, magic %llx: hit %zu of %zu: found "
                     "(%u, %u, %llx), expected (%u, %u, %llx)",
                     config->window, config->period, (unsigned long long)config->polynomial,
                     (unsigned long long)config->magic, i, expected.n, f.item, f.offset,
                     (unsigned long long)f.id, e.item, e.offset, (unsigned long long)e.id);
    }
    if (found.n != expected.n)
        fail_msg("window %u, period %u, polynomial %llx, magic %llx: found %zu hits, expected %zu",
                 config->window, config->period, (unsigned long long)config->polynomial,
                 (unsigned long long)config->magic, found.n, expected.n);
}

static void ask_oracle(const struct sl_sampling_config *config, const struct sl_batch *host)
{
    expected.n = subject->oracle(config, host, expected.hit, expected.cap);
}

/* The whole of `host` gives what the oracle says. */
static void check_batch(const struct sl_sampling_config *config, const struct sl_batch *host)
{
    assert_int_equal(scan_with(backend_name, config, host, &found), SL_OK);
    ask_oracle(config, host);
    assert_same_hits(config);
}

static void check(const struct sl_sampling_config *config)
{
    check_batch(config, batch);
}

static void add_item(const void *bytes, uint32_t len)
{
    assert_true(sl_batch_fits(batch, len));
    sl_batch_add(batch, bytes, len, 0);
}

static void fill_random(uint64_t *random, uint8_t *to, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        to[i] = (uint8_t)(test_random(random) >> 56);
}

/* ---- texts ----------------------------------------------------------------------------------- */

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
        struct sl_sampling_config config = drawn_config(&random);
        uint32_t n_texts = 1;

        config.window = FILL;
        config.period = 1u << round % 5;
        config.marker['a'] |= round % 3 != 0;
        for (uint32_t i = 0; i < longest; i++)
            n_texts *= n_letters;
        sl_batch_reset(batch);
        for (uint32_t text = 0; text < n_texts; text++) {
            uint8_t item[LONGEST + FILL];
            uint32_t code = text;

            memset(item, round % 5 == 0 ? 'a' : 'd', sizeof item);
            for (uint32_t i = 0; i < longest; i++, code /= n_letters)
                item[i] = (uint8_t)letters[code % n_letters];
            add_item(item, longest + FILL);
        }
        check(&config);
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
        struct sl_sampling_config config = drawn_config(&random);
        const uint32_t n_letters = 1 + test_below(&random, 4);
        const uint32_t cycle = 1 + test_below(&random, 100);

        for (uint32_t i = 0; i < LEN; i++) {
            const uint32_t drawn = test_below(&random, n_letters);

            text[i] = (uint8_t)(round % 4 == 0   ? drawn
                                : round % 4 == 1 ? 250 + drawn
                                : round % 4 == 2 ? i % cycle + (test_below(&random, 500) == 0)
                                                 : i * 256 / LEN);
        }
        sl_batch_reset(batch);
        for (uint32_t at = 0, len; at < LEN; at += len) {
            len = 1 + test_below(&random, 3000);
            add_item(text + at, len < LEN - at ? len : LEN - at);
        }
        check(&config);
    }
}

/* One window an item, of the lowest and the highest bytes: it is compared with nothing. */
static void test_lone_windows(void **state)
{
    static const uint8_t bytes[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
    struct sl_sampling_config config = default_config();
    uint8_t item[SL_SAMPLING_WINDOW_MAX];

    (void)state;
    config.period = 16;
    sl_batch_reset(batch);
    for (size_t first = 0; first < sizeof bytes; first++) {
        for (size_t rest = 0; rest < sizeof bytes; rest++) {
            memset(item, bytes[rest], sizeof item);
            item[0] = bytes[first];
            add_item(item, config.window);
        }
    }
    check(&config);
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
        const struct sl_sampling_config config = drawn_config(&random);

        fill_random(&random, text, sizeof text);
        sl_batch_reset(batch);
        for (uint32_t len = 0; len <= LONGEST; len++)
            add_item(text + test_below(&random, LONGEST), len);
        check(&config);
    }
}

/* Each window and each period. */
static void test_every_window_and_period(void **state)
{
    static uint8_t text[3000];
    struct sl_sampling_config config = default_config();
    uint64_t random = 2;

    (void)state;
    for (uint32_t window = SL_SAMPLING_WINDOW_MIN; window <= SL_SAMPLING_WINDOW_MAX; window++) {
        subject->draw(&config, &random);
        fill_random(&random, text, sizeof text);
        sl_batch_reset(batch);
        add_item(text, 1000 + window);
        add_item(text + 1100, window);
        add_item(text + 1200, window - 1);
        add_item(text + 1300, 1500 + window);
        config.window = window;
        for (config.period = 1; config.period <= SL_SAMPLING_PERIOD_MAX; config.period *= 2)
            check(&config);
    }
}

/* Longer than any unit of work, and of lengths around powers of two. */
static void test_long_items(void **state)
{
    enum { LEN = 300000 };
    static uint8_t text[LEN];
    uint64_t random = 3;

    (void)state;
    fill_random(&random, text, LEN);
    for (int round = 0; round < 4; round++) {
        const struct sl_sampling_config config =
            round == 0 ? default_config() : drawn_config(&random);

        sl_batch_reset(batch);
        add_item(text, LEN / 2);
        for (uint32_t log = 5; log <= 15; log += 2)
            for (uint32_t more = 0; more < 3; more++)
                add_item(text + more * 1000, (1u << log) - 1 + more);
        check(&config);
    }
}

/* Runs of one byte have one fingerprint, which is chosen everywhere or nowhere. */
static void test_constant_payloads(void **state)
{
    static const uint8_t values[] = {0x00, 0xFF, 'a', 0x80, 0x01};
    static uint8_t run[5000];
    uint64_t random = 4;

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct sl_sampling_config config = round < 2 ? default_config() : drawn_config(&random);

        if (round % 4 == 1)
            config.magic = 0; /* chooses all windows of zeros */
        for (size_t v = 0; v < sizeof values; v++) {
            memset(run, values[v], sizeof run);
            sl_batch_reset(batch);
            for (uint32_t len = 0; len < 100; len++)
                add_item(run, len);
            add_item(run, sizeof run);
            check(&config);
        }
    }
}

/* Windows that touch an item's ends, and none that reach over them: each chosen window lies alone
 * in an item, then with a byte less at either end, then with one more. */
static void test_windows_at_the_ends(void **state)
{
    enum { LEN = 20000, MOST = 500 };
    static uint8_t text[LEN];
    static struct sl_hit chosen[MOST];
    uint64_t random = 5;

    (void)state;
    fill_random(&random, text, LEN);
    for (int round = 0; round < 6; round++) {
        struct sl_sampling_config config = round == 0 ? default_config() : drawn_config(&random);

        if (config.period > 256)
            config.period = 256;
        sl_batch_reset(batch);
        add_item(text, LEN);
        size_t n = subject->oracle(&config, batch, chosen, MOST);
        if (n > MOST)
            n = MOST;
        assert_true(n >= 20);
        sl_batch_reset(batch);
        for (size_t i = 0; i < n; i++) {
            const uint32_t at = chosen[i].offset;
            const uint32_t before = at > 0, behind = at + config.window < LEN;

            add_item(text + at, config.window);
            add_item(text + at + 1, config.window - 1);
            add_item(text + at, config.window - 1);
            add_item(text + at - before, config.window + before + behind);
        }
        check(&config);
        assert_true(found.n >= 2 * n);
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
    for (int round = 0; round < 30; round++) {
        struct sl_sampling_config config = drawn_config(&random);

        if (config.period > 64)
            config.period = 64;
        sl_batch_reset(batch);
        for (int i = 0; i < 60; i++) {
            const uint32_t len = test_below(&random, PACKET + 1);

            fill_random(&random, packet, len);
            const uint32_t item = sl_batch_add(batch, packet, len, 0);
            const uint32_t header = test_below(&random, (len < 100 ? len : 100) + 1);
            const uint32_t trailer =
                test_below(&random, 3) == 0
                    ? test_below(&random, (len - header < 60 ? len - header : 60) + 1)
                    : 0;

            batch->payload[item].offset += header;
            batch->payload[item].len = len - header - trailer;
        }
        check(&config);
    }
}

static void test_no_item_and_no_byte(void **state)
{
    const struct sl_sampling_config config = default_config();

    (void)state;
    sl_batch_reset(batch);
    check(&config);
    for (int i = 0; i < 2000; i++)
        add_item("", 0);
    check(&config);
    assert_int_equal(found.n, 0);
}

static void test_guard_pages(void **state)
{
    uint64_t random = 7;

    (void)state;
    for (uint32_t len = 0; len <= GUARDED_PAYLOAD_MAX; len++) {
        const struct sl_sampling_config config =
            len % 2 == 0 ? default_config() : drawn_config(&random);
        struct guarded_batch guarded;

        guarded_batch_open(&guarded, len);
        fill_random(&random, guarded.batch.bytes, GUARDED_PAGE);
        check_batch(&config, &guarded.batch);
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
        struct sl_sampling_config config = drawn_config(&random);

        if (config.period > 16)
            config.period = 16;
        fill_random(&random, text, len);
        sl_batch_reset(batch);
        add_item(text, len);
        check(&config);
    }
}

/* ---- the contract ---------------------------------------------------------------------------- */

static void test_overflow_counts_exactly(void **state)
{
    enum { LEN = 20000 };
    static uint8_t text[LEN];
    struct sl_sampling_config config = default_config();
    uint64_t random = 9;

    (void)state;
    config.period = 16;
    fill_random(&random, text, LEN);
    sl_batch_reset(batch);
    add_item(text, LEN);
    ask_oracle(&config, batch);
    const size_t n = expected.n;
    assert_true(n > 100);

    const size_t caps[] = {0, 1, 7, n - 1, n, n + 1};
    struct sl_hit *few = (struct sl_hit *)malloc((n + 2) * sizeof *few);
    assert_non_null(few);
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct sl_hits hits = {.hit = few, .cap = caps[i], .n = 12345};

        memset(few, 0xAA, (n + 2) * sizeof *few);
        assert_int_equal(scan_with(backend_name, &config, batch, &hits),
                         caps[i] < n ? SL_EOVERFLOW : SL_OK);
        assert_int_equal(hits.n, n);
        for (size_t k = 0; k < caps[i] && k < n; k++)
            assert_true(few[k].item == 0 && few[k].offset < LEN);
        assert_int_equal(few[caps[i]].item, 0xAAAAAAAAu);
    }
    free(few);
}

/* Whole or in pieces of any length, a source gives the same hits at the same source offsets. */
static void test_pieces_give_the_same_hits(void **state)
{
    enum { LEN = 1500 };
    static uint8_t text[LEN];
    uint64_t random = 10;

    (void)state;
    if (!subject->by_window)
        skip(); /* where a piece begins says what its windows are compared with, or skipped by */
    fill_random(&random, text, LEN);
    for (uint32_t piece = SL_SAMPLING_WINDOW_MIN; piece <= LEN; piece += 1 + piece / 20) {
        struct sl_sampling_config config = drawn_config(&random);
        uint64_t done = 0;

        if (config.window > piece)
            config.window = SL_SAMPLING_WINDOW_MIN;
        sl_batch_reset(batch);
        add_item(text, LEN);
        ask_oracle(&config, batch);

        sl_batch_reset(batch);
        sl_batch_add_pieces(batch, text, LEN, piece, (uint16_t)(config.window - 1), &done);
        assert_int_equal(done, LEN);
        assert_int_equal(scan_with(backend_name, &config, batch, &found), SL_OK);
        for (size_t i = 0; i < found.n; i++) {
            found.hit[i].offset += (uint32_t)batch->origin[found.hit[i].item].position;
            found.hit[i].item = 0;
        }
        assert_same_hits(&config);
    }
}

/* Overlaps longer and shorter than the window, up to the whole item. */
static void test_overlap(void **state)
{
    static uint8_t text[400];
    uint64_t random = 11;

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct sl_sampling_config config = drawn_config(&random);

        if (config.period > 4)
            config.period = 4;
        sl_batch_reset(batch);
        for (int i = 0; i < 40; i++) {
            const uint32_t len = test_below(&random, sizeof text + 1);

            fill_random(&random, text, len);
            sl_batch_add(batch, text, len, (uint16_t)test_below(&random, len + 1));
        }
        check(&config);
    }
}

/* However items are spread over batches, and in whatever order, each gives the same hits. */
static void test_split_and_permuted(void **state)
{
    enum { N = 300, LEN = 20000 };
    static uint8_t text[LEN];
    static struct sl_hit gathered[1 << 16];
    uint32_t order[N], begin[N], len[N];
    uint64_t random = 12;

    (void)state;
    fill_random(&random, text, LEN);
    for (uint32_t i = 0; i < N; i++) {
        order[i] = i;
        len[i] = test_below(&random, 400);
        begin[i] = test_below(&random, LEN - 400);
    }
    for (uint32_t i = N - 1; i > 0; i--) {
        const uint32_t other = test_below(&random, i + 1);
        const uint32_t kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t per_batch = 1; per_batch <= N; per_batch = per_batch * 3 + 1) {
        struct sl_sampling_config config = drawn_config(&random);
        size_t n = 0;

        if (config.period < 4)
            config.period = 4;
        for (uint32_t at = 0; at < N; at += per_batch) {
            sl_batch_reset(batch);
            for (uint32_t i = at; i < N && i < at + per_batch; i++)
                add_item(text + begin[order[i]], len[order[i]]);
            assert_int_equal(scan_with(backend_name, &config, batch, &found), SL_OK);
            for (size_t i = 0; i < found.n; i++, n++) {
                assert_true(n < sizeof gathered / sizeof *gathered);
                gathered[n] = found.hit[i];
                gathered[n].item = order[at + gathered[n].item];
            }
        }
        memcpy(found.hit, gathered, n * sizeof *gathered);
        found.n = n;

        sl_batch_reset(batch);
        for (uint32_t i = 0; i < N; i++)
            add_item(text + begin[i], len[i]);
        ask_oracle(&config, batch);
        assert_same_hits(&config);
    }
}

/* A context is used again and again, and what is left from one batch is not seen in the next. */
static void test_contexts_are_reusable(void **state)
{
    static uint8_t text[4000];
    const struct sl_sampling_config config = default_config();
    struct sl_sampling_table *table = build(&config);
    const struct sl_backend *backend = find_backend(table, backend_name);
    void *contexts[] = {open_context(backend, table), open_context(backend, table)};
    uint64_t random = 13;

    (void)state;
    for (int i = 0; i < 20; i++) {
        sl_batch_reset(batch);
        for (uint32_t k = test_below(&random, 5); k > 0; k--) {
            const uint32_t len = test_below(&random, sizeof text + 1);

            fill_random(&random, text, len);
            add_item(text, len);
        }
        assert_int_equal(scan_batch(backend, contexts[i % 2], batch, &found), SL_OK);
        ask_oracle(&config, batch);
        assert_same_hits(&config);
    }
    backend->close(contexts[0]);
    assert_int_equal(scan_batch(backend, contexts[1], batch, &found), SL_OK);
    assert_same_hits(&config);
    backend->close(contexts[1]);
    backend->close(NULL);
    sl_sampling_free(table);
}

static void test_batches_outside_the_contract(void **state)
{
    const struct sl_sampling_config config = default_config();
    struct sl_sampling_table *table = build(&config);
    const struct sl_backend *backend = find_backend(table, backend_name);
    void *context = open_context(backend, table);
    struct sl_batch wrong;

    (void)state;
    sl_batch_reset(batch);
    add_item("ab", 2);
    wrong = *batch;
    wrong.memory = backend->device == SL_DEVICE_CUDA ? SL_MEMORY_HOST : SL_MEMORY_DEVICE;
    assert_int_equal(backend->submit(context, &wrong, &found), SL_EINVAL);
    wrong = *batch;
    wrong.memory = backend->device == SL_DEVICE_CUDA ? SL_MEMORY_DEVICE : SL_MEMORY_HOST;
    wrong.n_items = MAX_ITEMS + 1;
    assert_int_equal(backend->submit(context, &wrong, &found), SL_EINVAL);
    wrong.n_items = 1;
    wrong.bytes_len = MAX_BYTES + SL_BATCH_ALIGN;
    assert_int_equal(backend->submit(context, &wrong, &found), SL_EINVAL);
    backend->close(context);
    sl_sampling_free(table);
}

/* ---- building -------------------------------------------------------------------------------- */

static void assert_refused(const struct sl_sampling_config *config, const char *text)
{
    struct sl_sampling_table *table = NULL;
    struct sl_diag diag = {.line = 99};

    assert_int_equal(sl_sampling_build(&table, config, &diag), SL_EINVAL);
    assert_null(table);
    if (strstr(diag.text, text) == NULL)
        fail_msg("'%s' does not say '%s'", diag.text, text);
}

static void test_bad_configurations_are_refused(void **state)
{
    struct sl_sampling_config config = default_config();

    (void)state;
    config.window = SL_SAMPLING_WINDOW_MIN - 1;
    assert_refused(&config, "11 bytes");
    config.window = SL_SAMPLING_WINDOW_MAX + 1;
    assert_refused(&config, "65 bytes");
    config = default_config();
    config.period = 0;
    assert_refused(&config, "0 bytes");
    config.period = SL_SAMPLING_PERIOD_MAX + 1;
    assert_refused(&config, "4097 bytes");
    config = default_config();
    config.sampler = "bogus";
    assert_refused(&config, "'bogus'");
    for (const char *const *name = sl_samplers(); *name != NULL; name++)
        assert_refused(&config, *name);
    sl_sampling_free(NULL);
}

static void test_bad_polynomials_are_refused(void **state)
{
    struct sl_sampling_config config = default_config();

    (void)state;
    if (strcmp(subject->name, "rabin") != 0)
        skip();
    config.period = 48;
    assert_refused(&config, "power of two");
    config = default_config();
    config.polynomial = 0;
    assert_refused(&config, "degree 53");
    config.polynomial = UINT64_C(0x10000000000081) >> 1;
    assert_refused(&config, "degree 53");
    config.polynomial = default_config().polynomial ^ 1; /* x divides it */
    assert_refused(&config, "reducible");
    config.polynomial = default_config().polynomial ^ 2; /* x + 1 does */
    assert_refused(&config, "reducible");
}

/* ---- real captures --------------------------------------------------------------------------- */

static void scan_pieces(const struct sl_sampling_config *config, double *n_bytes, size_t *n_hits)
{
    check(config);
    *n_bytes += batch->bytes_len;
    *n_hits += found.n;
    sl_batch_reset(batch);
}

/* Whole files, in pieces where they do not fit into the room that is left. */
static void scan_captures(const char *folder, const struct sl_sampling_config *config,
                          double *n_bytes, size_t *n_hits)
{
    static uint8_t file_bytes[MAX_BYTES / 4];
    struct dirent *entry;
    DIR *dir = opendir(folder);
    int n_batches = 0;

    assert_non_null(dir);
    sl_batch_reset(batch);
    while (n_batches < 6 && (entry = readdir(dir)) != NULL) {
        char path[2048];
        uint64_t done = 0;

        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_name[0] != '.' ? fopen(path, "rb") : NULL;
        if (file == NULL)
            continue;
        const size_t len = fread(file_bytes, 1, sizeof file_bytes, file);
        fclose(file);
        while (done < len) {
            const uint32_t piece_len = 200 + (uint32_t)(len * 7 % 9000);

            sl_batch_add_pieces(batch, file_bytes, len, piece_len, (uint16_t)(config->window - 1),
                                &done);
            if (done < len || batch->bytes_len > MAX_BYTES / 2) {
                scan_pieces(config, n_bytes, n_hits);
                n_batches++;
            }
        }
    }
    scan_pieces(config, n_bytes, n_hits);
    closedir(dir);
}

static void test_captures(void **state)
{
    const char *data = getenv("SLUICE_TEST_DATA");
    struct sl_sampling_config config = default_config();
    char folder[1024];
    double n_bytes = 0;
    size_t n_hits = 0;

    (void)state;
    if (data == NULL) {
        puts("SLUICE_TEST_DATA is not set: no captures to test with");
        skip();
    }
    snprintf(folder, sizeof folder, "%s/pcap", data);
    scan_captures(folder, &config, &n_bytes, &n_hits);
    printf("%zu hits in %.0f MB as the oracle's\n", n_hits, n_bytes / 1e6);
    assert_true(n_hits > 0);
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Reads "rabin.textbook"; false, with the reason printed, where that cannot run here. */
static bool choose_backend(const char *argument)
{
    const char *dot = strchr(argument, '.');
    char why[SL_WHY_LEN] = "";

    for (size_t i = 0; dot != NULL && i < sizeof subjects / sizeof *subjects; i++)
        if (strlen(subjects[i].name) == (size_t)(dot - argument) &&
            strncmp(subjects[i].name, argument, (size_t)(dot - argument)) == 0)
            subject = &subjects[i];
    if (subject == NULL) {
        fprintf(stderr, "usage: test_sampling SAMPLER.BACKEND\n");
        exit(2);
    }
    backend_name = dot + 1;

    const struct sl_sampling_config config = default_config();
    struct sl_sampling_table *table = build(&config);
    const struct sl_backend *backend = find_backend(table, backend_name);
    if (backend == NULL) {
        fprintf(stderr, "%s has no backend %s\n", subject->name, backend_name);
        exit(2);
    }
    const bool usable = backend->usable(why);
    if (!usable)
        printf("skipped: %s\n", why);
    else if (backend->device == SL_DEVICE_CUDA && sl_stage_open(&stage, &limits, NULL) != SL_OK)
        exit(1);
    sl_sampling_free(table);
    return usable;
}

int main(int argc, char **argv)
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
        cmocka_unit_test(test_overflow_counts_exactly),
        cmocka_unit_test(test_pieces_give_the_same_hits),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_split_and_permuted),
        cmocka_unit_test(test_contexts_are_reusable),
        cmocka_unit_test(test_batches_outside_the_contract),
        cmocka_unit_test(test_bad_configurations_are_refused),
        cmocka_unit_test(test_bad_polynomials_are_refused),
        cmocka_unit_test(test_captures),
    };

    if (!choose_backend(argc == 2 ? argv[1] : ""))
        return TEST_SKIPPED;
    found.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *found.hit);
    expected.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *expected.hit);
    found.cap = expected.cap = MAX_HITS;
    if (found.hit == NULL || expected.hit == NULL ||
        sl_batch_create(&batch, MAX_BYTES, MAX_ITEMS, NULL) != SL_OK)
        return 1;

    const int failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
    sl_batch_free(batch);
    sl_stage_close(stage);
    free(found.hit);
    free(expected.hit);
    return failed;
}
