/* SPDX-License-Identifier: MIT */
/* The naive algorithm's table, which is the literals, and its backends on a CPU. */
#include "base/diag.h"
#include "engines/mpm/mpm_internal.h"
#include "engines/mpm/papers/mpm_starts.h"
#include "naive_core.h"

static const char name[] = "naive";

static enum sl_status naive_build(struct sl_mpm_table **table, const struct mpm_set *set,
                                  const struct sl_mpm_config *config, struct sl_diag *diag)
{
    (void)config;
    *table = mpm_table_create(set, name, 0, 0);
    return *table != NULL
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u literals", set->n_literals);
}

/* It has no body. */
static const char *naive_check(const struct sl_mpm_table *table)
{
    (void)table;
    return NULL;
}

/* The positions first, first + stride, ... of an item. */
static void scan_starts(const struct naive_view *view, const struct sl_batch *batch, uint32_t item,
                        uint32_t first, uint32_t stride, struct sl_hits *hits)
{
    const struct sl_span span = batch->payload[item];
    const uint32_t overlap = mpm_overlap(batch, item);

    for (uint64_t pos = first; pos < span.len; pos += stride) {
        const struct naive_start start =
            naive_start(batch->bytes + span.offset, span.len, overlap, (uint32_t)pos);

        for (uint32_t i = 0; i < view->n_literals; i++)
            if (naive_matches(view, &view->literals[i], &start))
                cpu_hits_append(hits, item, start.pos + view->literals[i].len,
                                view->literals[i].id);
    }
}

/* All items, each shared by n_threads that run one after another. */
static enum sl_status scan_items(const struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits, uint32_t n_threads)
{
    const struct naive_view view = naive_view(cpu->table);

    for (uint32_t item = 0; item < batch->n_items; item++)
        for (uint32_t thread = 0; thread < n_threads; thread++)
            scan_starts(&view, batch, item, thread, n_threads, hits);
    return SL_OK;
}

static enum sl_status scalar_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits)
{
    return scan_items(cpu, batch, hits, 1);
}

CPU_BACKEND(mpm_naive_scalar, "scalar", scalar_scan);

/* The tiling of the GPU: proves the core where no GPU is. */
static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    return scan_items(cpu, batch, hits, MPM_STARTS_BLOCK);
}

CPU_BACKEND(mpm_naive_tiled, "tiled", tiled_scan);

extern const struct sl_backend mpm_naive_cuda;

static const struct sl_backend *const backends[] = {&mpm_naive_cuda, &mpm_naive_scalar,
                                                    &mpm_naive_tiled, NULL};

static const struct sl_engine engine = {
    .name = "mpm.naive", .backends = backends, .takes = mpm_takes};

extern const struct mpm_algorithm mpm_naive;
const struct mpm_algorithm mpm_naive = {
    .name = name, .build = naive_build, .check = naive_check, .engine = &engine};
