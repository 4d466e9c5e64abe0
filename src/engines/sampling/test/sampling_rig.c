/* SPDX-License-Identifier: MIT */
#include "sampling_rig.h"

#include "test.h"

#include "device/test/engine_fixture.h"
#include "engines/sampling/rabin/rabin_polynomial.h"

struct rig rig;
const struct sl_limits rig_limits = {
    .max_items = MAX_ITEMS, .max_bytes = MAX_BYTES, .max_hits = MAX_HITS};

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
        assert_int_equal(sl_dynabyte_use(context, &drawn_state), SL_OK);
}

static size_t dynabyte_oracle(const struct sl_sampling_config *config, const struct sl_batch *host,
                              struct sl_hit *hits, size_t cap)
{
    return state_is_drawn ? dynabyte_ref(&drawn_state, config->window, host, hits, cap)
                          : samplebyte_ref(config, host, hits, cap);
}

struct sl_sampling_config rig_default_config(void)
{
    struct sl_sampling_config config;

    sl_sampling_config_init(&config);
    config.sampler = rig.subject->name;
    return config;
}

struct sl_sampling_config rig_drawn_config(uint64_t *random)
{
    struct sl_sampling_config config = rig_default_config();

    rig.subject->draw(&config, random);
    return config;
}

/* ---- running it ------------------------------------------------------------------------------ */

struct sl_sampling_table *rig_build(const struct sl_sampling_config *config)
{
    struct sl_sampling_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    if (sl_sampling_build(&table, config, &diag) != SL_OK)
        fail_msg("build: %s", diag.text);
    return table;
}

const struct sl_backend *rig_find(const struct sl_sampling_table *table)
{
    return engine_backend(sl_sampling_engine(table), rig.backend);
}

void *rig_open(const struct sl_backend *backend, const struct sl_sampling_table *table)
{
    void *context = NULL;
    struct sl_diag diag = {.text = ""};

    if (backend->open(&context, table, &rig_limits, &diag) != SL_OK)
        fail_msg("open: %s", diag.text);
    if (rig.subject->opened != NULL)
        rig.subject->opened(context);
    return context;
}

enum sl_status rig_scan(const struct sl_sampling_config *config, const struct sl_batch *host,
                        struct sl_hits *hits)
{
    struct sl_sampling_table *table = rig_build(config);
    const struct sl_backend *backend = rig_find(table);
    void *context = rig_open(backend, table);
    const enum sl_status status = engine_scan(backend, context, rig.stage, host, hits);

    backend->close(context);
    sl_sampling_free(table);
    return status;
}

void rig_same_hits(const struct sl_sampling_config *config)
{
    assert_true(rig.expected.n <= rig.expected.cap);
    sl_hits_sort(&rig.found);
    sl_hits_sort(&rig.expected);
    for (size_t i = 0; i < rig.found.n && i < rig.expected.n; i++) {
        const struct sl_hit f = rig.found.hit[i];
        const struct sl_hit e = rig.expected.hit[i];

        if (f.item != e.item || f.offset != e.offset || f.id != e.id)
            fail_msg("window %u, period %u, polynomial %llx, magic %llx: hit %zu of %zu: found "
                     "(%u, %u, %llx), expected (%u, %u, %llx)",
                     config->window, config->period, (unsigned long long)config->polynomial,
                     (unsigned long long)config->magic, i, rig.expected.n, f.item, f.offset,
                     (unsigned long long)f.id, e.item, e.offset, (unsigned long long)e.id);
    }
    if (rig.found.n != rig.expected.n)
        fail_msg("window %u, period %u, polynomial %llx, magic %llx: found %zu hits, expected %zu",
                 config->window, config->period, (unsigned long long)config->polynomial,
                 (unsigned long long)config->magic, rig.found.n, rig.expected.n);
}

void rig_expect(const struct sl_sampling_config *config, const struct sl_batch *host)
{
    rig.expected.n = rig.subject->oracle(config, host, rig.expected.hit, rig.expected.cap);
}

void rig_check_batch(const struct sl_sampling_config *config, const struct sl_batch *host)
{
    assert_int_equal(rig_scan(config, host, &rig.found), SL_OK);
    rig_expect(config, host);
    rig_same_hits(config);
}

void rig_check(const struct sl_sampling_config *config)
{
    rig_check_batch(config, rig.batch);
}

void rig_add(const void *bytes, uint32_t len)
{
    assert_true(sl_batch_fits(rig.batch, len));
    sl_batch_add(rig.batch, bytes, len, 0);
}

void rig_fill_random(uint64_t *random, uint8_t *to, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        to[i] = (uint8_t)(test_random(random) >> 56);
}

/* ---- the rig --------------------------------------------------------------------------------- */

static void allocate(void)
{
    rig.found.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *rig.found.hit);
    rig.expected.hit = (struct sl_hit *)malloc(MAX_HITS * sizeof *rig.expected.hit);
    rig.found.cap = rig.expected.cap = MAX_HITS;
    if (rig.found.hit == NULL || rig.expected.hit == NULL ||
        sl_batch_create(&rig.batch, MAX_BYTES, MAX_ITEMS, NULL) != SL_OK)
        exit(1);
}

bool rig_create(const char *argument)
{
    const char *dot = strchr(argument, '.');
    char why[SL_WHY_LEN] = "";

    for (size_t i = 0; dot != NULL && i < sizeof subjects / sizeof *subjects; i++)
        if (strlen(subjects[i].name) == (size_t)(dot - argument) &&
            strncmp(subjects[i].name, argument, (size_t)(dot - argument)) == 0)
            rig.subject = &subjects[i];
    if (rig.subject == NULL) {
        fprintf(stderr, "usage: test_sampling SAMPLER.BACKEND\n");
        exit(2);
    }
    rig.backend = dot + 1;

    const struct sl_sampling_config config = rig_default_config();
    struct sl_sampling_table *table = rig_build(&config);
    const struct sl_backend *backend = rig_find(table);
    if (backend == NULL) {
        fprintf(stderr, "%s has no backend %s\n", rig.subject->name, rig.backend);
        exit(2);
    }
    const bool usable = backend->usable(why);
    if (!usable)
        printf("skipped: %s\n", why);
    else if (backend->device == SL_DEVICE_CUDA &&
             sl_stage_open(&rig.stage, &rig_limits, NULL) != SL_OK)
        exit(1);
    sl_sampling_free(table);
    if (usable)
        allocate();
    return usable;
}

void rig_free(void)
{
    sl_batch_free(rig.batch);
    sl_stage_close(rig.stage);
    free(rig.found.hit);
    free(rig.expected.hit);
}
