/* SPDX-License-Identifier: MIT */
/* Literals and a text from the fuzzer: every algorithm finds what the oracle finds, on every
 * backend that this CPU runs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpm_ref.h"
#include "sluice/mpm.h"

enum { MAX_LITERALS = 32, MAX_HITS = 1 << 16, MAX_TEXT = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sl_hit found_hit[MAX_HITS];
static struct sl_hit expected_hit[MAX_HITS];

/* Takes literals off the front: a byte of length and flag, then the bytes; a 0 ends them. */
static size_t take_literals(struct sl_literal *literals, const uint8_t **data, size_t *size)
{
    size_t n = 0;

    while (n<MAX_LITERALS && * size> 0) {
        const uint32_t len = **data & 0x7F;
        const uint32_t flags = **data >> 7;

        ++*data;
        --*size;
        if (len == 0 || len > *size)
            break;
        literals[n++] = (struct sl_literal){.bytes = *data, .len = len, .flags = flags};
        *data += len;
        *size -= len;
    }
    return n;
}

static void compare_backend(const struct sl_backend *backend, const struct sl_mpm_table *table,
                            const struct sl_batch *batch, const struct sl_hits *expected)
{
    const struct sl_limits limits = {.max_items = 64, .max_bytes = 4096, .max_hits = MAX_HITS};
    struct sl_hits found = {.hit = found_hit, .cap = MAX_HITS};
    void *context;

    if (backend->open(&context, table, &limits, NULL) != SL_OK ||
        backend->submit(context, batch, &found) != SL_OK || backend->wait(context) != SL_OK)
        abort();
    sl_hits_sort(&found);
    if (found.n != expected->n ||
        memcmp(found.hit, expected->hit, found.n * sizeof *found.hit) != 0)
        abort();
    backend->close(context);
}

static void compare(const char *algorithm, const struct sl_literal *literals, size_t n_literals,
                    const struct sl_batch *batch, const struct sl_hits *expected)
{
    /* Parts for CPUs lie in such tables too. */
    const struct sl_mpm_config config = {.algorithm = algorithm, .device = SL_DEVICE_CUDA};
    struct sl_mpm_table *table;
    char why[SL_WHY_LEN];

    if (sl_mpm_build(&table, &config, literals, n_literals, NULL) != SL_OK)
        abort();
    for (const struct sl_backend *const *b = sl_mpm_engine(table)->backends; *b != NULL; b++)
        if ((*b)->device == SL_DEVICE_CPU && (*b)->usable(why))
            compare_backend(*b, table, batch, expected);
    sl_mpm_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sl_batch *batch;
    struct sl_literal literals[MAX_LITERALS];
    struct sl_hits expected = {.hit = expected_hit, .cap = MAX_HITS};

    if (batch == NULL && sl_batch_create(&batch, 4096, 64, NULL) != SL_OK)
        abort();
    const size_t n_literals = take_literals(literals, &data, &size);
    if (size == 0 || size > MAX_TEXT)
        return 0;

    /* The first byte says where the text is cut into two items, and how much they overlap. */
    const uint32_t cut = data[0] < size ? data[0] : (uint32_t)size;
    const uint32_t overlap = cut / 4;
    sl_batch_reset(batch);
    sl_batch_add(batch, data, cut, 0);
    sl_batch_add(batch, data + cut - overlap, (uint32_t)size - cut + overlap, (uint16_t)overlap);

    expected.n = mpm_ref_scan(literals, n_literals, batch, expected.hit, expected.cap);
    if (expected.n > MAX_HITS)
        return 0;
    sl_hits_sort(&expected);
    for (const char *const *name = sl_mpm_algorithms(); *name != NULL; name++)
        compare(*name, literals, n_literals, batch, &expected);
    return 0;
}
