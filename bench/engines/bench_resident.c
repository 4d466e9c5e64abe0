/* SPDX-License-Identifier: MIT */
/* All engines over batches that lie on the GPU, each batch on a stream of its own: nothing crosses
 * but the counts of hits. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bench_pipeline.h"
#include "cli/console.h"

enum { PASSES = 100 /* over the data, a run */ };

/* A batch on the GPU, and a context of each engine for it. */
struct resident {
    struct bench_data data;
    void *contexts[SL_PIPELINE_ENGINES_MAX];
    struct sl_hits hits[SL_PIPELINE_ENGINES_MAX]; /* no room: hits stay on the GPU */
    bool begun;
};

struct residents {
    const struct bench_together *together;
    const struct sl_backend *backends[SL_PIPELINE_ENGINES_MAX];
    struct resident *batches;
    size_t n_batches;
    uint64_t hits[SL_PIPELINE_ENGINES_MAX]; /* of a run */
    bool failed;
};

/* Of those that open_residents chose. */
static const struct sl_backend *backend_of(const struct residents *all, unsigned e)
{
    assert(all->backends[e] != NULL);
    return all->backends[e];
}

static void close_contexts(const struct residents *all, struct resident *resident)
{
    for (unsigned e = 0; e < all->together->n_engines; e++) {
        if (resident->contexts[e] != NULL)
            backend_of(all, e)->close(resident->contexts[e]);
        resident->contexts[e] = NULL;
    }
}

/* With room for the hits that were found. False: an error was printed. */
static bool open_contexts(const struct residents *all, struct resident *resident)
{
    const struct sl_batch *batch = &resident->data.batches[0];

    for (unsigned e = 0; e < all->together->n_engines; e++) {
        const struct sl_limits limits = {.max_items = batch->n_items,
                                         .max_bytes = batch->bytes_len,
                                         .max_hits = (uint32_t)resident->hits[e].n + 1,
                                         .device = batch->device};
        struct sl_diag diag = {0};

        if (backend_of(all, e)->open(&resident->contexts[e], all->together->engines[e].table,
                                     &limits, &diag) != SL_OK) {
            cli_diag(&diag);
            return false;
        }
    }
    return true;
}

static void begin_batch(struct residents *all, struct resident *resident)
{
    for (unsigned e = 0; e < all->together->n_engines && !all->failed; e++)
        all->failed = backend_of(all, e)->submit(resident->contexts[e], &resident->data.batches[0],
                                                 &resident->hits[e]) != SL_OK;
    resident->begun = !all->failed;
}

static void end_batch(struct residents *all, struct resident *resident)
{
    for (unsigned e = 0; e < all->together->n_engines && resident->begun; e++) {
        const enum sl_status status = backend_of(all, e)->wait(resident->contexts[e]);

        all->failed |= status != SL_OK && status != SL_EOVERFLOW;
        all->hits[e] += resident->hits[e].n;
    }
    resident->begun = false;
}

static void go_over(struct residents *all, unsigned n_passes)
{
    memset(all->hits, 0, sizeof all->hits);
    for (size_t i = 0; i < n_passes * all->n_batches; i++) {
        struct resident *resident = &all->batches[i % all->n_batches];

        end_batch(all, resident);
        begin_batch(all, resident);
    }
    for (size_t i = 0; i < all->n_batches; i++)
        end_batch(all, &all->batches[i]);
}

static double run_once(void *user)
{
    struct residents *all = user;

    go_over(all, PASSES);
    for (unsigned e = 0; e < all->together->n_engines; e++)
        all->failed |= all->hits[e] != all->together->engines[e].hits * PASSES;
    return (double)all->together->data->bytes * PASSES;
}

static bool open_residents(struct residents *all)
{
    const struct bench_together *together = all->together;
    char why[SL_WHY_LEN];

    all->batches = calloc(together->data->n_batches, sizeof *all->batches);
    if (all->batches == NULL) {
        cli_error("no memory for %zu batches", together->data->n_batches);
        return false;
    }
    for (unsigned e = 0; e < together->n_engines; e++) {
        all->backends[e] = sl_engine_choose(together->engines[e].engine, SL_DEVICE_CUDA, why);
        if (all->backends[e] == NULL) {
            cli_error("bench: %s cannot run: %s", together->engines[e].name, why);
            return false;
        }
    }
    for (; all->n_batches < together->data->n_batches; all->n_batches++)
        if (!bench_to_device(&all->batches[all->n_batches].data, together->data, all->n_batches,
                             together->devices[0].index)) {
            bench_unload(&all->batches[all->n_batches].data);
            return false;
        }
    return true;
}

/* Contexts that have room, which takes counting once. */
static bool make_room(struct residents *all)
{
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < all->n_batches; i++) {
            close_contexts(all, &all->batches[i]);
            if (!open_contexts(all, &all->batches[i]))
                return false;
        }
        go_over(all, 1);
    }
    return true;
}

bool bench_run_resident(const struct bench *bench, const struct bench_together *together,
                        struct bench_rate *rate)
{
    struct residents all = {.together = together};
    const bool good = open_residents(&all) && make_room(&all);

    if (good)
        *rate = bench_measure(bench->frame.runs, run_once, &all);
    if (good && all.failed)
        cli_error("bench: engines on the GPU failed together, or did not find what they find "
                  "alone");
    for (size_t i = 0; i < all.n_batches; i++) {
        close_contexts(&all, &all.batches[i]);
        bench_unload(&all.batches[i].data);
    }
    free(all.batches);
    return good && !all.failed;
}
