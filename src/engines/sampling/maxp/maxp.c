/* SPDX-License-Identifier: MIT */
/* Local maxima: the table, the backends, and those of one core without vectors. */
#include "maxp.h"

#include <stdlib.h>

#include "base/diag.h"

static enum sl_status build(struct sl_sampling_table **table,
                            const struct sl_sampling_config *config, struct sl_diag *diag)
{
    struct maxp_table *made = (struct maxp_table *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the table of maxp");
    made->head = (struct sl_sampling_table){
        .len = sizeof *made, .window = config->window, .period = config->period};
    made->reach = config->period / 2;
    *table = &made->head;
    return SL_OK;
}

/* The blocks of an item that one of n_threads takes: thread, thread + n_threads, ... */
static void scan_blocks(const struct maxp_table *table, const struct sl_batch *batch, uint32_t item,
                        uint32_t thread, uint32_t n_threads, struct sl_hits *hits)
{
    const struct sl_span span = batch->payload[item];
    const uint8_t *payload = batch->bytes + span.offset;
    const uint32_t first = sampling_first(&table->head, batch, item);
    const uint32_t window = table->head.window;

    if (span.len < window)
        return;
    const uint64_t n_positions = (uint64_t)span.len - window + 1;
    const uint64_t n_blocks = maxp_blocks(n_positions, table->reach);
    for (uint64_t block = thread; block < n_blocks; block += n_threads) {
        uint32_t at;

        if (maxp_block(payload, n_positions, table->reach, block, &at) && at >= first)
            cpu_hits_append(hits, item, at, sampling_fingerprint(payload + at, window));
    }
}

void maxp_scan_scalar(const struct maxp_table *table, const struct sl_batch *batch,
                      struct sl_hits *hits)
{
    for (uint32_t item = 0; item < batch->n_items; item++)
        scan_blocks(table, batch, item, 0, 1, hits);
}

/* As on a GPU: three warps an item. */
static void maxp_scan_tiled(const struct maxp_table *table, const struct sl_batch *batch,
                            struct sl_hits *hits)
{
    enum { N_THREADS = 3 * 32 };

    for (uint32_t item = 0; item < batch->n_items; item++)
        for (uint32_t thread = 0; thread < N_THREADS; thread++)
            scan_blocks(table, batch, item, thread, N_THREADS, hits);
}

#define BACKEND(label, is_usable)                                                             \
    static enum sl_status label##_scan(struct cpu_context *cpu, const struct sl_batch *batch, \
                                       struct sl_hits *hits)                                  \
    {                                                                                         \
        maxp_scan_##label((const struct maxp_table *)cpu->table, batch, hits);                \
        return SL_OK;                                                                         \
    }                                                                                         \
    CPU_BACKEND_WHERE(maxp_##label, #label, is_usable, label##_scan)

BACKEND(avx512, maxp_avx512_usable);
BACKEND(avx2, maxp_avx2_usable);
BACKEND(scalar, cpu_backend_usable);
BACKEND(tiled, cpu_backend_usable);

extern const struct sl_backend maxp_cuda;

static const struct sl_backend *const backends[] = {&maxp_avx512, &maxp_avx2,  &maxp_cuda,
                                                    &maxp_scalar, &maxp_tiled, NULL};

static const struct sl_engine engine = {
    .name = "sampling.maxp", .backends = backends, .takes = sampling_takes};

extern const struct sampler sampler_maxp;
const struct sampler sampler_maxp = {.name = "maxp", .build = build, .engine = &engine};
