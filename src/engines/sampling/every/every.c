/* SPDX-License-Identifier: MIT */
/* Every position: the table, and the backends on a CPU. */
#include "every.h"

#include <stdlib.h>

#include "base/diag.h"

static enum sl_status build(struct sl_sampling_table **table,
                            const struct sl_sampling_config *config, struct sl_diag *diag)
{
    struct every_table *made = (struct every_table *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the table of every");
    made->head = (struct sl_sampling_table){
        .len = sizeof *made, .window = config->window, .period = config->period};
    made->power = every_power(config->window);
    *table = &made->head;
    return SL_OK;
}

/* The positions from `begin` to before `end`. Counted once for all: a count in memory would be what
 * each position waits for. */
static void scan_strip(const struct every_table *table, const uint8_t *payload, uint64_t begin,
                       uint64_t end, uint32_t item, struct sl_hits *hits)
{
    const uint32_t window = table->head.window;
    const uint64_t room = hits->n < hits->cap ? hits->cap - hits->n : 0;
    struct sl_hit *out = room != 0 ? hits->hit + hits->n : NULL;

    if (begin >= end)
        return;
    hits->n += end - begin;
    if (end - begin > room)
        end = begin + room;
    if (begin == end)
        return;
    uint64_t sum = every_begin(payload + begin, window);
    for (uint64_t at = begin; at + 1 < end; at++) {
        *out++ = (struct sl_hit){item, (uint32_t)at, every_fingerprint(sum)};
        sum = every_roll(sum, payload + at, window, table->power);
    }
    *out = (struct sl_hit){item, (uint32_t)(end - 1), every_fingerprint(sum)};
}

static enum sl_status scalar_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits)
{
    const struct every_table *table = (const struct every_table *)cpu->table;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];

        if (span.len >= table->head.window)
            scan_strip(table, batch->bytes + span.offset, sampling_first(&table->head, batch, item),
                       (uint64_t)span.len - table->head.window + 1, item, hits);
    }
    return SL_OK;
}

CPU_BACKEND(every_scalar, "scalar", scalar_scan);

/* The tiling of the GPU: a strip a lane, all strips of a tile equally long. */
static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    const struct every_table *table = (const struct every_table *)cpu->table;
    const uint32_t window = table->head.window;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];
        const uint64_t end = span.len >= window ? (uint64_t)span.len - window + 1 : 0;

        for (uint64_t tile = sampling_first(&table->head, batch, item); tile < end;
             tile += EVERY_TILE) {
            const uint32_t n = end - tile < EVERY_TILE ? (uint32_t)(end - tile) : EVERY_TILE;

            for (uint32_t lane = 0; lane < 32; lane++)
                scan_strip(table, batch->bytes + span.offset, tile + every_strip(n, lane),
                           tile + every_strip(n, lane + 1), item, hits);
        }
    }
    return SL_OK;
}

CPU_BACKEND(every_tiled, "tiled", tiled_scan);

extern const struct sl_backend every_cuda;

static const struct sl_backend *const backends[] = {&every_cuda, &every_scalar, &every_tiled, NULL};

static const struct sl_engine engine = {
    .name = "sampling.every", .backends = backends, .takes = sampling_takes};

extern const struct sampler sampler_every;
const struct sampler sampler_every = {.name = "every", .build = build, .engine = &engine};
