/* SPDX-License-Identifier: MIT */
/* The fuzzer changes bytes of tables before their checksum is made. A scan with a table that passes
 * the checks reads nothing outside of the table's block, and reports literals that there are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines/mpm/mpm_internal.h"
#include "sluice/batch.h"

enum { MAX_HITS = 1 << 12, MAX_BYTES = 4 * SL_LITERAL_LEN_MAX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sl_batch *batch;
static struct sl_hit hit[MAX_HITS];

/* A change: eight bytes less than this many at an offset. */
struct patch {
    uint16_t offset;
    uint8_t where; /* modulo 3: from the header's first byte on, the body's, or the last one back */
    uint8_t len;
    uint8_t bytes[8];
};

static const char *const words[] = {"a",
                                    "ab",
                                    "abab",
                                    "babb",
                                    "bbbbbbbbbbbbbbbb",
                                    "aB",
                                    "BAB",
                                    "bab",
                                    "abcdefghijklmnopqrstuvwxyz"};

enum { N_WORDS = sizeof words / sizeof *words };

static struct sl_mpm_table *build(const char *algorithm)
{
    /* Such tables hold the parts for CPUs too. */
    const struct sl_mpm_config config = {.algorithm = algorithm, .device = SL_DEVICE_CUDA};
    struct sl_literal literals[N_WORDS];
    struct sl_mpm_table *table;

    for (uint32_t i = 0; i < N_WORDS; i++)
        literals[i] = (struct sl_literal){
            .bytes = (const uint8_t *)words[i], .len = (uint32_t)strlen(words[i]), .flags = i % 2};
    if (sl_mpm_build(&table, &config, literals, N_WORDS, NULL) != SL_OK)
        abort();
    return table;
}

/* Before the texts lie the bytes that a literal of a wrong length would read. */
static void make_batch(void)
{
    static uint8_t text[SL_LITERAL_LEN_MAX];

    if (sl_batch_create(&batch, MAX_BYTES, 8, NULL) != SL_OK)
        abort();
    memset(text, 'z', sizeof text);
    sl_batch_add(batch, text, sizeof text, 0);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t) "abB"[i * i % 7 % 3];
    memcpy(text + 1000, words[8], 26);
    sl_batch_add(batch, text, 3000, 7);
    sl_batch_add(batch, text, 99, 0);
}

/* Callers take them for indices. */
static void check_ids(const struct sl_mpm_table *table, const struct sl_hits *hits)
{
    for (size_t i = 0; i < hits->n && i < hits->cap; i++)
        if (hits->hit[i].id >= table->n_literals)
            abort();
}

static void scan(const struct sl_mpm_table *table)
{
    const struct sl_limits limits = {.max_items = 8, .max_bytes = MAX_BYTES, .max_hits = MAX_HITS};
    char why[SL_WHY_LEN];

    for (const struct sl_backend *const *b = sl_mpm_engine(table)->backends; *b != NULL; b++) {
        struct sl_hits hits = {.hit = hit, .cap = MAX_HITS};
        void *context;

        if ((*b)->device != SL_DEVICE_CPU || !(*b)->usable(why) ||
            (*b)->open(&context, table, &limits, NULL) != SL_OK)
            continue;
        if ((*b)->submit(context, batch, &hits) == SL_OK && (*b)->wait(context) == SL_OK)
            check_ids(table, &hits);
        (*b)->close(context);
    }
}

static uint64_t place(uint64_t len, uint64_t body, const struct patch *patch)
{
    if (patch->where % 3 == 0)
        return patch->offset % len;
    if (patch->where % 3 == 1 && body < len) /* the literals may be all there is */
        return body + patch->offset % (len - body);
    return len - 1 - patch->offset % len;
}

static void apply(struct sl_mpm_table *block, uint64_t len, uint64_t body,
                  const struct patch *patch)
{
    const uint64_t at = place(len, body, patch);
    const uint64_t n = patch->len % 8 + 1;

    memcpy((uint8_t *)block + at, patch->bytes, n < len - at ? n : len - at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sl_mpm_table *tables[16];
    size_t n = 0;

    for (; n < 16 && sl_mpm_algorithms()[n] != NULL; n++)
        if (tables[n] == NULL)
            tables[n] = build(sl_mpm_algorithms()[n]);
    if (batch == NULL)
        make_batch();
    if (n == 0 || size == 0)
        return 0;

    const struct sl_mpm_table *table = tables[data[0] % n];
    const uint64_t len = table->head.len;
    struct sl_mpm_table *block = (struct sl_mpm_table *)aligned_alloc(MPM_ALIGN, len);
    if (block == NULL)
        return 0;
    memcpy(block, table, len);
    data++;
    size--;
    for (struct patch patch; size >= sizeof patch; data += sizeof patch, size -= sizeof patch) {
        memcpy(&patch, data, sizeof patch);
        apply(block, len, table->body, &patch);
    }
    block->head.len = len;
    block_seal(&mpm_block_kind, block);
    if (mpm_table_check(block, len, "fuzz", NULL) == SL_OK)
        scan(block);
    free(block);
    return 0;
}
