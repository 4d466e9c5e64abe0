/* SPDX-License-Identifier: MIT */
/* Tables whose bytes the fuzzer changes before the checksum is made, and names of any bytes.
 * Look-ups in a table that passes the checks read nothing outside the block, and answer existing
 * next hops alone. */
#include <stdlib.h>

#include "names/fib/fib_internal.h"

enum { MAX_NAMES = 40, ARENA = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A change: eight bytes less than this many at an offset, from the first byte on or the last back.
 */
struct patch {
    uint16_t offset;
    uint8_t from_end;
    uint8_t len;
    uint8_t bytes[8];
};

static struct sl_batch *batch;

static uint32_t make_name(uint8_t name[64], uint32_t i)
{
    static const char *const labels[] = {"a", "b", "abcdef", "abcdeg", ""};
    size_t len = 0;

    for (; i != 0; i /= 5)
        if (!sl_name_append(name, 64, &len, 8, labels[i % 5], strlen(labels[i % 5])))
            abort();
    return (uint32_t)len;
}

static struct sl_fib *build(const char *plane)
{
    static const uint8_t key[SL_FIB_KEY_LEN] = "fuzz";
    const struct sl_fib_config config = {.plane = plane, .key = key};
    struct sl_fib_entry entries[MAX_NAMES];
    uint8_t names[MAX_NAMES][64];
    struct sl_fib *fib;

    for (uint32_t i = 0; i < MAX_NAMES; i++)
        entries[i] = (struct sl_fib_entry){names[i], make_name(names[i], i * 3), i};
    if (sl_fib_build(&fib, &config, entries, MAX_NAMES, NULL) != SL_OK)
        abort();
    return fib;
}

/* Those of the table are its names' numbers. */
static void check_hops(const uint32_t next_hop[MAX_NAMES])
{
    for (uint32_t i = 0; i < batch->n_items; i++)
        if (next_hop[i] != SL_FIB_NONE && next_hop[i] >= MAX_NAMES)
            abort();
}

static void lookup(struct sl_fib_table *table)
{
    const struct sl_limits limits = {.max_items = MAX_NAMES, .max_bytes = ARENA};
    uint32_t next_hop[MAX_NAMES], len[MAX_NAMES];
    const struct sl_fib_answers answers = {next_hop, len, MAX_NAMES, SL_MEMORY_HOST};
    const struct sl_fib_engine *engine = sl_fib_engine(table);
    char why[SL_WHY_LEN];

    for (size_t i = 0; engine->backends[i] != NULL; i++) {
        const struct sl_fib_backend *backend = engine->backends[i];
        void *context;

        if (backend->device != SL_DEVICE_CPU || strstr(backend->name, "interwoven") != NULL ||
            !backend->usable(why) || backend->open(&context, table, &limits, NULL) != SL_OK)
            continue;
        if (backend->submit(context, batch, &answers) == SL_OK && backend->wait(context) == SL_OK)
            check_hops(next_hop);
        backend->close(context);
    }
}

static void lookup_in(const void *block, uint64_t len)
{
    const struct fib_plane *plane;
    struct sl_fib_table table;
    struct fib_view view;

    if (fib_block_open(block, len, "fuzz", MAX_NAMES, &view, &plane, NULL) != SL_OK)
        return;
    fib_table_init(&table, plane);
    atomic_store(&table.view, &view);
    lookup(&table);
    fib_table_end(&table);
}

/* The names of the table, and the input as one. */
static void fill_batch(const uint8_t *data, size_t size)
{
    uint8_t name[64];

    sl_batch_reset(batch);
    for (uint32_t i = 0; i + 1 < MAX_NAMES; i++)
        sl_batch_add(batch, name, make_name(name, i * 5 + 3), 0);
    sl_batch_add(batch, data, (uint32_t)(size < 4096 ? size : 4096), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sl_fib *fibs[3]; /* hash, mata, and ata where the build has it */
    static uint32_t n_fibs;

    if (batch == NULL && sl_batch_create(&batch, ARENA, MAX_NAMES, NULL) != SL_OK)
        abort();
    for (; n_fibs < 3 && sl_fib_planes()[n_fibs] != NULL; n_fibs++)
        fibs[n_fibs] = build(sl_fib_planes()[n_fibs]);
    if (size == 0)
        return 0;
    fill_batch(data + 1, size - 1);
    const uint32_t chosen = data[0] % n_fibs;
    lookup(sl_fib_table(fibs[chosen]));

    const struct fib_view *view = fib_view_of(fibs[chosen]);
    const size_t len = fib_block_len(view);
    struct fib_block *block = (struct fib_block *)aligned_alloc(64, len);
    if (block == NULL)
        return 0;
    fib_block_make(block, view, sl_fib_planes()[chosen]);
    data++;
    size--;
    for (struct patch patch; size >= sizeof patch; data += sizeof patch, size -= sizeof patch) {
        memcpy(&patch, data, sizeof patch);

        const size_t n = patch.len % 8 + 1;
        const size_t at =
            patch.from_end % 2 == 0 ? patch.offset % len : len - 1 - patch.offset % len;
        memcpy((uint8_t *)block + at, patch.bytes, n < len - at ? n : len - at);
    }
    fib_block_seal(block, len);
    lookup_in(block, len);
    free(block);
    return 0;
}
