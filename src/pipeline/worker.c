/* SPDX-License-Identifier: MIT */
#include "pipeline/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "device/device.h"
#include "device/wait.h"

/* Hits a batch for which contexts have room at first. Quiet traffic never reaches this number. */
enum { FIRST_MAX_HITS = 65536, FIRST_MAX_JOINING = 4096 /* hits that join another engine's */ };

/* ---- made items ------------------------------------------------------------------------------ */

/* Room for made items in a batch: a part of batch_len, and as many items as packets. For further
 * ones the engines run again, over made items alone. */
enum { MADE_SHARE = 8, MADE_LEN_MIN = 1024 /* bytes */ };

static bool makes_items(const struct sl_pipeline_config *config)
{
    bool scans = false;

    for (uint32_t e = 0; e < config->n_engines; e++)
        scans |= config->engines[e].scans_made;
    return scans && config->make != NULL;
}

static uint32_t made_len_of(const struct sl_pipeline_config *config)
{
    const uint32_t len = config->batch_len / MADE_SHARE & ~(uint32_t)(SL_BATCH_ALIGN - 1);

    if (!makes_items(config))
        return 0;
    return len < MADE_LEN_MIN ? (uint32_t)MADE_LEN_MIN : len;
}

static uint32_t n_made_of(const struct sl_pipeline_config *config)
{
    return makes_items(config) ? config->batch_items : 0;
}

enum sl_status worker_batch_create(const struct sl_pipeline_config *config, bool cuda, uint32_t len,
                                   uint32_t n, struct sl_batch **batch, struct sl_diag *diag)
{
    const uint32_t made_len = made_len_of(config), n_made = n_made_of(config);
    const enum sl_status status = sl_device_batch_create(
        batch, cuda ? SL_DEVICE_CUDA : SL_DEVICE_CPU, len + made_len, n + n_made, diag);

    return status == SL_OK && made_len != 0 ? sl_batch_reserve_made(*batch, made_len, n_made, diag)
                                            : status;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* An engine without a backend for GPUs works on the host's batch, while the others work on the
 * GPU's. A backend for GPUs that cannot run is not replaced. */
static enum sl_device_kind engine_kind(const struct worker *worker, const struct sl_engine *engine)
{
    for (size_t i = 0; worker->cuda && engine->backends[i] != NULL; i++)
        if (engine->backends[i]->device == SL_DEVICE_CUDA)
            return SL_DEVICE_CUDA;
    return SL_DEVICE_CPU;
}

/* Those of the engine's contexts. */
static void set_limits(struct worker *worker, uint32_t e, uint32_t max_hits)
{
    worker->limits.max_hits = max_hits;
    worker->limits.wanted = worker->config->engines[e].wanted;
    worker->limits.n_wanted = worker->config->engines[e].n_wanted;
    worker->limits.run_ends = worker->config->engines[e].run_ends;
    worker->limits.ordered = worker->config->engines[e].joins == 0;
}

static uint32_t first_max_hits(const struct sl_pipeline_config *config, uint32_t e)
{
    return config->engines[e].joins == 0 ? FIRST_MAX_HITS : FIRST_MAX_JOINING;
}

static enum sl_status open_engine(struct worker *worker, uint32_t e, struct sl_diag *diag)
{
    const struct sl_engine *engine = worker->config->engines[e].engine;
    struct worker_engine *opened = &worker->engines[e];
    char why[SL_WHY_LEN];

    opened->table = worker->config->engines[e].table;
    opened->max_hits = first_max_hits(worker->config, e);
    opened->backend = sl_engine_choose(engine, engine_kind(worker, engine), why);
    if (opened->backend == NULL)
        return diag_set(diag, SL_EDEVICE, NULL, 0, "%s cannot run: %s", engine->name, why);
    set_limits(worker, e, opened->max_hits);
    return sl_engine_open(&opened->context, engine, opened->backend, opened->table, &worker->limits,
                          diag);
}

enum sl_status worker_open(struct worker *worker, const struct sl_pipeline_config *config,
                           const struct sl_device *device, atomic_uint *max_hits,
                           struct sl_diag *diag)
{
    bool uploads = false;

    worker->config = config;
    worker->max_hits = max_hits;
    worker->cuda = device->kind == SL_DEVICE_CUDA;
    worker->limits.max_items = config->batch_items + n_made_of(config);
    worker->limits.max_bytes = config->batch_len + made_len_of(config) + SL_BATCH_ALIGN;
    worker->limits.device = device->index;
    worker->limits.max_wait_ms =
        config->max_wait_ms != 0 ? config->max_wait_ms : DEVICE_MAX_WAIT_MS;
    for (uint32_t e = 0; e < config->n_engines; e++) {
        const enum sl_status status = open_engine(worker, e, diag);
        if (status != SL_OK)
            return status;
        uploads |= worker->engines[e].backend->device == SL_DEVICE_CUDA;
    }
    if (!hits_scratch_reserve(&worker->scratch, FIRST_MAX_HITS) ||
        !hits_scratch_reserve_items(&worker->scratch, worker->limits.max_items))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to sort hits");
    return uploads ? sl_stage_open(&worker->stage, &worker->limits, diag) : SL_OK;
}

/* ---- hits ------------------------------------------------------------------------------------ */

uint32_t pipeline_n_gpus(const struct sl_pipeline_config *config)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < config->n_devices; i++)
        n += config->devices[i].kind == SL_DEVICE_CUDA;
    return n;
}

static bool take_room(const struct sl_pipeline_config *config, struct sl_hits *hits, size_t cap)
{
    const size_t len = cap * sizeof *hits->hit;

    hits->hit =
        (struct sl_hit *)(pipeline_n_gpus(config) != 0 ? device_pinned_alloc(len) : malloc(len));
    hits->cap = hits->hit != NULL ? cap : 0;
    return hits->hit != NULL;
}

enum sl_status worker_take_hits(const struct sl_pipeline_config *config, uint32_t e,
                                struct sl_hits *hits, struct sl_diag *diag)
{
    return take_room(config, hits, first_max_hits(config, e))
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for hits");
}

void worker_free_hits(const struct sl_pipeline_config *config, struct sl_hits *hits)
{
    if (pipeline_n_gpus(config) != 0)
        device_pinned_free(hits->hit);
    else
        free(hits->hit);
    memset(hits, 0, sizeof *hits);
}

/* Makes room for `cap` hits where there is none for `need`. The hits in the array are lost. */
static enum sl_status grow_hits(const struct sl_pipeline_config *config, struct sl_hits *hits,
                                size_t need, size_t cap, struct sl_diag *diag)
{
    if (hits->cap >= need)
        return SL_OK;
    worker_free_hits(config, hits);
    return take_room(config, hits, cap)
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %zu hits of one batch", cap);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* A GPU without memory is of no more use than a GPU that fails. */
static enum sl_status gpu_status(const struct worker *worker, enum sl_status status)
{
    return worker->cuda && status == SL_ENOMEM ? SL_EDEVICE : status;
}

/* The text of a failure. For a GPU that hangs the text covers its memory too. */
static const char *why_failed(const struct worker *worker, enum sl_status status)
{
    return worker->cuda && device_is_hung(worker->limits.device)
               ? "the GPU does not come back: it hangs. Its memory and pinned batches are not "
                 "freed "
                 "before the process ends"
               : sl_status_text(status);
}

static enum sl_status engine_failed(const struct worker *worker, uint32_t e, const char *doing,
                                    enum sl_status status, struct sl_diag *diag)
{
    return diag_set(diag, gpu_status(worker, status), NULL, 0, "%s failed %s a batch: %s",
                    worker->config->engines[e].engine->name, doing, why_failed(worker, status));
}

static enum sl_status open_context(struct worker *worker, uint32_t e, uint32_t max_hits,
                                   void **context, struct sl_diag *diag)
{
    const struct worker_engine *engine = &worker->engines[e];

    set_limits(worker, e, max_hits);
    return engine->backend->open(context, engine->table, &worker->limits, diag);
}

/* At least this many bytes of a batch for each hit, or the other workers do not prepare for it.
 * Every batch in flight has an array. Memory for a rarer or a hostile batch is taken when it comes.
 */
enum { READY_BYTES_A_HIT = 32 };

/* Publishes the room that a batch needed to the device's other workers. */
static void expect_burst(struct worker *worker, uint32_t e)
{
    const uint32_t needed = worker->engines[e].max_hits;
    const uint32_t most = worker->config->batch_len / READY_BYTES_A_HIT;
    const uint32_t wanted = needed < most ? needed : most;
    uint32_t known = atomic_load(&worker->max_hits[e]);

    while (known < wanted && !atomic_compare_exchange_weak(&worker->max_hits[e], &known, wanted))
        ;
}

/* Grows the array to the room that an earlier batch needed. Without memory for that the array stays
 * as it is. */
static void ready_array(const struct worker *worker, uint32_t e, struct sl_hits *hits)
{
    const uint32_t wanted = atomic_load(&worker->max_hits[e]);
    struct sl_hits array = {0};

    if (hits->cap < wanted && take_room(worker->config, &array, wanted)) {
        worker_free_hits(worker->config, hits);
        *hits = array;
    }
}

/* The hits for which a context needs more room. 0: it needs none, or there was no memory for it. */
static uint32_t room_to_make(const struct worker *worker, uint32_t e)
{
    const struct worker_engine *engine = &worker->engines[e];
    const uint32_t wanted = atomic_load(&worker->max_hits[e]);

    return wanted > engine->max_hits && wanted != engine->refused ? wanted : 0;
}

bool worker_is_ready(const struct worker *worker)
{
    for (uint32_t e = 0; e < worker->config->n_engines; e++)
        if (room_to_make(worker, e) != 0)
            return false;
    return true;
}

void worker_get_ready(struct worker *worker)
{
    for (uint32_t e = 0; e < worker->config->n_engines; e++) {
        struct worker_engine *engine = &worker->engines[e];
        const uint32_t room = room_to_make(worker, e);
        void *context = NULL;

        if (room == 0)
            continue;
        if (open_context(worker, e, room, &context, NULL) != SL_OK) {
            engine->refused = room;
            continue;
        }
        engine->backend->close(engine->context);
        engine->context = context;
        engine->max_hits = room;
    }
}

/* After an overflow: grows the array and the context to half as much again as the hits. */
static enum sl_status grow_engine(struct worker *worker, uint32_t e, struct sl_hits *hits,
                                  struct sl_diag *diag)
{
    struct worker_engine *engine = &worker->engines[e];
    const size_t need = hits->n, cap = need + need / 2;
    enum sl_status status = grow_hits(worker->config, hits, need, cap, diag);

    if (status != SL_OK || need <= engine->max_hits)
        return gpu_status(worker, status);
    if (cap > UINT32_MAX)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "%zu hits in one batch are beyond a context",
                        cap);
    engine->backend->close(engine->context);
    engine->context = NULL;
    engine->max_hits = (uint32_t)cap;
    status = open_context(worker, e, engine->max_hits, &engine->context, diag);
    if (status != SL_OK && worker->cuda && device_is_hung(worker->limits.device))
        return engine_failed(worker, e, "to make room for", status, diag);
    if (status == SL_OK)
        expect_burst(worker, e);
    return gpu_status(worker, status);
}

static enum sl_status submit(struct worker *worker, uint32_t e, const struct sl_batch *batch,
                             struct sl_hits *hits, struct sl_diag *diag)
{
    struct worker_engine *engine = &worker->engines[e];
    const uint64_t begin = clock_ns();
    const enum sl_status status = engine->backend->submit(engine->context, batch, hits);

    engine->busy_ns += clock_ns() - begin;
    return status == SL_OK ? SL_OK : engine_failed(worker, e, "to start on", status, diag);
}

static enum sl_status wait(struct worker *worker, uint32_t e)
{
    struct worker_engine *engine = &worker->engines[e];
    const uint64_t begin = clock_ns();
    const enum sl_status status = engine->backend->wait(engine->context);

    engine->busy_ns += clock_ns() - begin;
    return status;
}

/* Ends what submit began; as often as the hits did not fit, makes room and runs again. */
static enum sl_status finish(struct worker *worker, uint32_t e, const struct sl_batch *batch,
                             struct sl_hits *hits, struct sl_diag *diag)
{
    enum sl_status status = wait(worker, e);

    while (status == SL_EOVERFLOW) {
        status = grow_engine(worker, e, hits, diag);
        if (status != SL_OK)
            return status;
        status = submit(worker, e, batch, hits, diag);
        if (status != SL_OK)
            return status;
        status = wait(worker, e);
    }
    if (status != SL_OK)
        return engine_failed(worker, e, "on", status, diag);
    return SL_OK;
}

_Static_assert((int)SL_PIPELINE_ENGINES_MAX <= SL_STAGE_VIEWS_MAX, "a view for each engine");

/* Each engine on a GPU has a view of its own, so that they run side by side. */
static enum sl_status upload(struct worker *worker, const struct sl_batch *batch,
                             struct sl_batch *views, struct sl_diag *diag)
{
    enum sl_status status = sl_stage_upload(worker->stage, batch, &views[0]);
    uint32_t number = 0;

    for (uint32_t e = 0; e < worker->config->n_engines && status == SL_OK; e++)
        if (worker->engines[e].backend->device == SL_DEVICE_CUDA)
            status = sl_stage_view(worker->stage, number++, &views[e]);

    return status == SL_OK
               ? SL_OK
               : diag_set(diag, gpu_status(worker, status), NULL, 0,
                          "copying a batch to the GPU failed: %s", why_failed(worker, status));
}

/* Runs all engines over a batch, or those alone that scan made items. Hits are in no order. */
static enum sl_status run_engines(struct worker *worker, const struct sl_batch *batch,
                                  struct sl_hits *hits, bool made_alone, struct sl_diag *diag)
{
    const struct sl_pipeline_engine *engines = worker->config->engines;
    const uint32_t n_engines = worker->config->n_engines;
    const struct sl_batch whole = sl_batch_whole(batch);
    struct sl_batch views[SL_PIPELINE_ENGINES_MAX];
    enum sl_status status = SL_OK;

    if (worker->stage != NULL)
        status = upload(worker, &whole, views, diag);
    for (uint32_t e = 0; e < n_engines; e++) {
        if (worker->engines[e].backend->device != SL_DEVICE_CUDA)
            views[e] = whole;
        if (engines[e].scans_made)
            continue;
        views[e].n_items = batch->n_items;
        views[e].bytes_len = batch->bytes_len;
        views[e].n_made = 0;
    }
    /* All are started before the first is waited for. Those that return when they are done, the
     * CPU's, come last. */
    for (int kind = SL_DEVICE_CUDA; kind >= SL_DEVICE_CPU; kind--)
        for (uint32_t e = 0; e < n_engines && status == SL_OK; e++)
            if ((int)worker->engines[e].backend->device == kind &&
                (engines[e].scans_made || !made_alone))
                status = submit(worker, e, &views[e], &hits[e], diag);
    for (uint32_t e = 0; e < n_engines && status == SL_OK; e++) {
        if (made_alone && !engines[e].scans_made)
            continue;
        status = finish(worker, e, &views[e], &hits[e], diag);
        if (status == SL_OK) /* hits of a failed device may be of no item */
            sl_hits_resolve_made(&hits[e], batch);
    }
    return status;
}

/* ---- made items that do not fit the batch ---------------------------------------------------- */

static enum sl_status take_rest(struct worker *worker, struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = worker->config;
    enum sl_status status = SL_OK;

    if (worker->rest != NULL)
        return SL_OK;
    status = worker_batch_create(config, worker->cuda, SL_BATCH_ALIGN, 1, &worker->rest, diag);
    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++)
        if (config->engines[e].scans_made)
            status = worker_take_hits(config, e, &worker->rest_hits[e], diag);
    return status;
}

/* Puts hits behind others. */
static enum sl_status append_hits(const struct sl_pipeline_config *config, struct sl_hits *hits,
                                  const struct sl_hits *more, struct sl_diag *diag)
{
    struct sl_hits grown = {0};

    if (hits->n + more->n > hits->cap) {
        if (!take_room(config, &grown, (hits->n + more->n) * 2))
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for hits of one batch");
        memcpy(grown.hit, hits->hit, hits->n * sizeof *hits->hit);
        grown.n = hits->n;
        worker_free_hits(config, hits);
        *hits = grown;
    }
    if (more->n != 0)
        memcpy(hits->hit + hits->n, more->hit, more->n * sizeof *more->hit);
    hits->n += more->n;
    hits->in_order = false;
    return SL_OK;
}

/* Hits that are to become another engine's. */
static enum sl_status join_hits(struct worker *worker, struct sl_hits *hits, struct sl_diag *diag)
{
    const struct sl_pipeline_config *const config = worker->config;
    enum sl_status status = SL_OK;

    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++) {
        if (config->engines[e].joins == 0 || hits[e].n == 0)
            continue;
        status = append_hits(config, &hits[config->engines[e].joins - 1], &hits[e], diag);
        hits[e].n = 0;
    }
    return gpu_status(worker, status);
}

/* Runs the engines over made items from `from` on, a batch of them at a time. */
static enum sl_status run_rest(struct worker *worker, const struct sl_batch *batch, uint64_t from,
                               struct sl_hits *hits, struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = worker->config;
    enum sl_status status = take_rest(worker, diag);

    while (from != UINT64_MAX && status == SL_OK) {
        sl_batch_reset(worker->rest);
        from = config->make(config->user, batch, worker->rest, from);
        status = run_engines(worker, worker->rest, worker->rest_hits, true, diag);
        for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++)
            if (config->engines[e].scans_made)
                status = append_hits(config, &hits[e], &worker->rest_hits[e], diag);
    }
    return gpu_status(worker, status);
}

static void free_rest(struct worker *worker)
{
    for (uint32_t e = 0; worker->rest != NULL && e < worker->config->n_engines; e++)
        worker_free_hits(worker->config, &worker->rest_hits[e]);
    sl_batch_free(worker->rest);
    worker->rest = NULL;
}

/* ---- a batch --------------------------------------------------------------------------------- */

enum sl_status worker_run(struct worker *worker, struct sl_batch *batch, struct sl_hits *hits,
                          struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = worker->config;
    const uint64_t begin = clock_ns();
    uint64_t rest = UINT64_MAX;

    for (uint32_t e = 0; e < config->n_engines; e++)
        ready_array(worker, e, &hits[e]);
    batch->n_made = batch->made_len = 0; /* another worker may have failed on the batch */
    if (batch->max_made != 0)
        rest = config->make(config->user, batch, batch, 0);
    enum sl_status status = run_engines(worker, batch, hits, false, diag);
    if (status == SL_OK && rest != UINT64_MAX)
        status = run_rest(worker, batch, rest, hits, diag);
    if (status == SL_OK)
        status = join_hits(worker, hits, diag);
    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++) {
        if (config->sift != NULL)
            config->sift(config->user, batch, e, &hits[e]);
        hits_sort(&hits[e], &worker->scratch);
    }
    worker->busy_ns += clock_ns() - begin;
    return status;
}

void worker_move_times(struct worker *worker, struct sl_pipeline_stats *stats)
{
    stats->work_ns += worker->busy_ns;
    worker->busy_ns = 0;
    for (uint32_t e = 0; e < SL_PIPELINE_ENGINES_MAX; e++) {
        stats->engine_ns[e] += worker->engines[e].busy_ns;
        worker->engines[e].busy_ns = 0;
    }
}

void worker_close(struct worker *worker)
{
    sl_stage_close(worker->stage);
    worker->stage = NULL;
    for (uint32_t e = 0; e < SL_PIPELINE_ENGINES_MAX; e++) {
        if (worker->engines[e].context != NULL)
            worker->engines[e].backend->close(worker->engines[e].context);
        worker->engines[e].context = NULL;
    }
    free_rest(worker); /* no engine writes to it any more */
    hits_scratch_free(&worker->scratch);
}
