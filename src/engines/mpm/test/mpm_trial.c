/* SPDX-License-Identifier: MIT */
#include "mpm_trial.h"

#include <inttypes.h>
#include <time.h>

#include "mpm_ref.h"

struct trial_subject subject = {
    .limits = {.max_items = MAX_ITEMS, .max_bytes = MAX_BYTES, .max_hits = MAX_HITS},
    .longest_literal = SL_LITERAL_LEN_MAX,
    .content_stride = TEST_SANITIZED ? 20 : 1,
    .captures_s = TEST_SANITIZED ? 1 : 3,
};

const struct sl_backend *trial_find_backend(const struct sl_mpm_table *table, const char *name)
{
    const struct sl_backend *const *backend = sl_mpm_engine(table)->backends;

    while (*backend != NULL && strcmp((*backend)->name, name) != 0)
        backend++;
    return *backend;
}

struct sl_mpm_table *trial_build_with(const char *name, const struct sl_literal *literals,
                                      size_t n_literals)
{
    struct sl_mpm_config config;
    struct sl_mpm_table *table = NULL;
    struct sl_diag diag = {.text = ""};

    sl_mpm_config_init(&config);
    config.algorithm = name;
    config.device = subject.built_for;
    if (sl_mpm_build(&table, &config, literals, n_literals, &diag) != SL_OK)
        fail_msg("build: %s", diag.text);
    return table;
}

struct sl_mpm_table *trial_build(const struct sl_literal *literals, size_t n_literals)
{
    return trial_build_with(subject.algorithm, literals, n_literals);
}

void *trial_open_within(const struct sl_backend *backend, const struct sl_mpm_table *table,
                        const struct sl_limits *within)
{
    void *context = NULL;
    struct sl_diag diag = {.text = ""};

    if (backend->open(&context, table, within, &diag) != SL_OK)
        fail_msg("open: %s", diag.text);
    return context;
}

void *trial_open_context(const struct sl_backend *backend, const struct sl_mpm_table *table)
{
    return trial_open_within(backend, table, &subject.limits);
}

enum sl_status trial_scan_batch(const struct sl_backend *backend, void *context,
                                const struct sl_batch *host, struct sl_hits *hits)
{
    struct sl_batch view;

    if (backend->device == SL_DEVICE_CUDA) {
        assert_int_equal(sl_stage_upload(subject.stage, host, &view), SL_OK);
        host = &view;
    }

    const enum sl_status status = backend->submit(context, host, hits);
    return status == SL_OK ? backend->wait(context) : status;
}

enum sl_status trial_scan_table(const struct sl_mpm_table *table, const char *name,
                                const struct sl_batch *host, struct sl_hits *hits)
{
    const struct sl_backend *backend = trial_find_backend(table, name);
    void *context = trial_open_context(backend, table);
    const enum sl_status status = trial_scan_batch(backend, context, host, hits);

    backend->close(context);
    return status;
}

/* A number that says whether two results are the same set, without sorting them. */
static uint64_t trial_digest(const struct sl_hits *hits)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < hits->n && i < hits->cap; i++) {
        const struct sl_hit hit = hits->hit[i];
        uint64_t mixed = hit.item * UINT64_C(0x9E3779B97F4A7C15) +
                         hit.offset * UINT64_C(0xC2B2AE3D27D4EB4F) + hit.id + 1;

        mixed = (mixed ^ mixed >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
        sum += mixed ^ mixed >> 32;
    }
    return sum;
}

void trial_assert_same_hits(void)
{
    assert_true(subject.expected.n <= subject.expected.cap);
    if (subject.found.n == subject.expected.n &&
        trial_digest(&subject.found) == trial_digest(&subject.expected))
        return;
    sl_hits_sort(&subject.found);
    sl_hits_sort(&subject.expected);
    for (size_t i = 0; i < subject.found.n && i < subject.expected.n; i++) {
        const struct sl_hit f = subject.found.hit[i];
        const struct sl_hit e = subject.expected.hit[i];

        if (f.item != e.item || f.offset != e.offset || f.id != e.id)
            fail_msg("hit %zu: found (%u, %u, %" PRIu64 "), expected (%u, %u, %" PRIu64 ")", i,
                     f.item, f.offset, f.id, e.item, e.offset, e.id);
    }
    if (subject.found.n != subject.expected.n)
        fail_msg("found %zu hits, expected %zu", subject.found.n, subject.expected.n);
}

void trial_check_batch(const struct sl_batch *host, const struct sl_literal *literals,
                       size_t n_literals)
{
    struct sl_mpm_table *table = trial_build(literals, n_literals);

    assert_int_equal(trial_scan_table(table, subject.backend_name, host, &subject.found), SL_OK);
    subject.expected.n =
        mpm_ref_scan(literals, n_literals, host, subject.expected.hit, subject.expected.cap);
    trial_assert_same_hits();
    sl_mpm_free(table);
}

void trial_check(const struct sl_literal *literals, size_t n_literals)
{
    trial_check_batch(subject.batch, literals, n_literals);
}

void trial_add_item(const void *bytes, uint32_t len)
{
    assert_true(sl_batch_fits(subject.batch, len));
    sl_batch_add(subject.batch, bytes, len, 0);
}

struct sl_literal trial_literal_of(const char *text, uint32_t flags)
{
    return (struct sl_literal){
        .bytes = (const uint8_t *)text, .len = (uint32_t)strlen(text), .flags = flags};
}

uint32_t trial_fewer(uint32_t n, uint32_t few)
{
    return subject.takes_parts ? few : n;
}

double trial_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void trial_fill_random(uint64_t *random, uint8_t *to, uint32_t len, const char *alphabet)
{
    const uint32_t n = alphabet == NULL ? 0 : (uint32_t)strlen(alphabet);

    for (uint32_t i = 0; i < len; i++)
        to[i] =
            n == 0 ? (uint8_t)test_below(random, 256) : (uint8_t)alphabet[test_below(random, n)];
}

void trial_cut_literals(uint64_t *random, struct sl_literal *literals, uint8_t *bytes, size_t n,
                        const uint8_t *text, uint32_t text_len, uint32_t max_len)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = test_below(random, text_len);
        uint32_t len = 1 + test_below(random, max_len);

        if (len > text_len - at)
            len = text_len - at;
        memcpy(bytes, text + at, len);
        switch (test_below(random, 8)) {
        case 0:
            bytes[test_below(random, len)] = (uint8_t)test_below(random, 256);
            break;
        case 1:
            bytes[test_below(random, len)] ^= 0x20;
            break;
        case 2:
            if (i > 0) {
                const struct sl_literal *other = &literals[test_below(random, (uint32_t)i)];

                len = other->len < len ? other->len : len;
                memcpy(bytes, other->bytes, len);
            }
            break;
        default:
            break;
        }
        literals[i] =
            (struct sl_literal){.bytes = bytes,
                                .len = len,
                                .flags = test_below(random, 3) == 0 ? SL_LITERAL_NOCASE : 0};
        bytes += len;
    }
}
