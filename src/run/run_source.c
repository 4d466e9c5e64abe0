/* SPDX-License-Identifier: MIT */
#include "run_source.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/diag.h"
#include "cli.h"

enum { LIVE_LOOK_NS = 100000000 }; /* asking the kernel opens files */

/* What the signal handler knows. It may run on any thread while the filling thread closes the
 * capture: who closes takes the pointer away first, and waits until no handler holds it. */
static _Atomic(struct sl_capture *) signal_capture;
static atomic_int signal_busy;
static atomic_bool signal_seen;

static void on_signal(int number)
{
    if (atomic_exchange(&signal_seen, true)) { /* the user means it */
        signal(number, SIG_DFL);
        (void)raise(number); /* which comes when the handler is left */
    }
    atomic_fetch_add(&signal_busy, 1);
    struct sl_capture *capture = atomic_load(&signal_capture);
    if (capture != NULL)
        sl_capture_stop(capture);
    atomic_fetch_sub(&signal_busy, 1);
}

void source_take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: reads return */

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* An open capture. The filling thread holds it, and each part of it that is not joined yet. */
struct source_open {
    struct sl_capture *capture;
    atomic_uint holders;
};

/* What is known of a batch in flight; batch->filler. */
struct source_batch {
    struct source_batch *next;
    struct source_open *open; /* whose part the batch is, until it is joined; else NULL */
    bool is_part;             /* it was not filled in order */
    struct sl_capture_part part;
    struct sl_dissect_stats dissected;
    struct sl_flow_keys *keys;
    void *room;     /* source_room */
    uint64_t bytes; /* captured, of its packets */
};

static void add_stats(struct source *source, const struct sl_capture_stats *stats)
{
    source->captured.packets += stats->packets;
    source->captured.bytes += stats->bytes;
    source->captured.file_bytes += stats->file_bytes;
    source->captured.kernel_packets += stats->kernel_packets;
    source->captured.kernel_drops += stats->kernel_drops;
    source->captured.skipped_blocks += stats->skipped_blocks;
}

/* The last holder closes. */
static void let_go(struct source *source, struct source_open *open)
{
    struct sl_capture_stats stats;

    if (atomic_fetch_sub(&open->holders, 1) != 1)
        return;
    sl_capture_stats(open->capture, &stats);
    pthread_mutex_lock(&source->lock);
    add_stats(source, &stats);
    memset(&source->live, 0, sizeof source->live); /* it is among them now */
    pthread_mutex_unlock(&source->lock);
    sl_capture_close(open->capture);
    free(open);
}

/* The filling thread has no more to do with the capture. */
static void leave_capture(struct source *source)
{
    if (source->open == NULL)
        return;
    atomic_store(&signal_capture, NULL);
    while (atomic_load(&signal_busy) != 0)
        ;
    let_go(source, source->open);
    source->open = NULL;
}

static void fail_file(struct source *source, const struct sl_diag *diag)
{
    pthread_mutex_lock(&source->lock);
    cli_diag(diag);
    source->n_failed++;
    pthread_mutex_unlock(&source->lock);
}

/* Takes over the capture; false: no memory, or it cannot be read in time, and it is closed. */
static bool hold(struct source *source, struct sl_capture *capture)
{
    struct sl_diag diag = {0};

    if (source->max_latency_ns != 0 &&
        sl_capture_limit_latency(capture, source->max_latency_ns, &diag) != SL_OK) {
        fail_file(source, &diag);
        sl_capture_close(capture);
        return false;
    }
    source->open = malloc(sizeof *source->open);
    if (source->open == NULL) {
        cli_error("no memory to read %s", sl_capture_name(capture));
        sl_capture_close(capture);
        return false;
    }
    source->open->capture = capture;
    atomic_init(&source->open->holders, 1);
    atomic_store(&signal_capture, capture);
    if (atomic_load(&signal_seen)) /* while it was opened: the handler knew of none to stop */
        sl_capture_stop(capture);
    return true;
}

/* Opens captures until one opens. SL_END: there are no more. */
static enum sl_status open_next(struct source *source)
{
    struct sl_diag diag = {0};

    while (source->open == NULL && source->next < source->n_paths) {
        const size_t index = source->next++;
        struct sl_capture *capture;

        if (sl_capture_open_file(&capture, source->paths[index], (uint16_t)index, &diag) != SL_OK)
            fail_file(source, &diag);
        else if (!hold(source, capture))
            return SL_ENOMEM;
    }
    return source->open == NULL ? SL_END : SL_OK;
}

/* Waits for the first capture's header, also of a pipe. False: there is none, of no capture. */
static bool begin_first(struct source *source)
{
    while (open_next(source) == SL_OK) {
        enum sl_status status = SL_OK;
        struct sl_diag diag = {0};
        bool begun = false;

        while (status == SL_OK && !begun)
            status = sl_capture_begin(source->open->capture, &begun, &diag);
        if (status == SL_OK || status == SL_END) /* which the first read says again */
            return true;
        fail_file(source, &diag);
        leave_capture(source);
    }
    return false;
}

bool source_open(struct source *source)
{
    struct sl_flow_config config;
    struct sl_capture *capture;
    struct sl_diag diag = {0};

    pthread_mutex_init(&source->lock, NULL);
    sl_flow_config_init(&config);
    if (getrandom(config.hash_key, sizeof config.hash_key, 0) != (ssize_t)sizeof config.hash_key ||
        sl_flow_table_create(&source->flows, &config, &diag) != SL_OK) {
        cli_error("no flow table: %s", diag.text);
        return false;
    }
    if (source->interface == NULL)
        return begin_first(source);

    if (sl_capture_open_live(&capture, source->interface, source->filter, 0, &diag) != SL_OK) {
        fail_file(source, &diag);
        return false;
    }
    return hold(source, capture);
}

void source_batches(struct sl_pipeline_config *config)
{
    config->batch_items = config->batch_len / SL_BATCH_ALIGN + 1;
}

/* ---- fill ------------------------------------------------------------------------------------ */

/* The batch's own record; the first time it is met, it is made. NULL: no memory. */
static struct source_batch *own(struct source *source, struct sl_batch *batch)
{
    struct source_batch *mine = batch->filler;

    if (mine == NULL && (mine = calloc(1, sizeof *mine)) != NULL) {
        if (sl_flow_keys_create(&mine->keys, batch->max_items, NULL) != SL_OK) {
            free(mine);
            return NULL;
        }
        mine->next = source->batches;
        source->batches = mine;
        batch->filler = mine;
    }
    return mine;
}

/* Reads on, or claims a part where the file is a large one. SL_END: this capture has no more for
 * the filling thread. */
static enum sl_status fill_some(struct source *source, struct sl_batch *batch,
                                struct source_batch *mine, struct sl_diag *diag)
{
    const enum sl_status status = sl_capture_claim(source->open->capture, batch, &mine->part);

    if (status == SL_EUNSUPPORTED)
        return sl_capture_read(source->open->capture, batch, diag);
    if (status == SL_OK) {
        mine->open = source->open;
        mine->is_part = true;
        atomic_fetch_add(&mine->open->holders, 1);
    }
    return status;
}

static void look_at_kernel(struct source *source)
{
    const uint64_t now = clock_ns();
    struct sl_capture_stats stats;

    if (source->interface == NULL || now - source->looked_ns < LIVE_LOOK_NS)
        return;
    sl_capture_stats(source->open->capture, &stats);
    pthread_mutex_lock(&source->lock);
    source->live = stats;
    source->looked_ns = now;
    pthread_mutex_unlock(&source->lock);
}

enum sl_status source_fill(struct source *source, struct sl_batch *batch, struct sl_diag *diag)
{
    struct source_batch *mine = own(source, batch);

    if (mine == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to read captures");
    mine->open = NULL;
    mine->is_part = false;
    /* Small files share a batch: go on until it is full, or, live, time has passed. */
    for (;;) {
        enum sl_status status =
            atomic_load(&signal_seen) && source->open == NULL ? SL_END : open_next(source);

        if (status == SL_OK)
            status = fill_some(source, batch, mine, diag);
        else
            return status;
        look_at_kernel(source);
        if (status == SL_OK || status == SL_EINVAL)
            return status;
        if (status != SL_END)
            fail_file(source, diag);
        leave_capture(source);
    }
}

/* ---- prepare, order, apply ------------------------------------------------------------------- */

static void dissect(const struct source *source, struct source_batch *mine, struct sl_batch *batch)
{
    memset(&mine->dissected, 0, sizeof mine->dissected);
    sl_dissect(batch, &mine->dissected);
    sl_flow_keys_read(mine->keys, source->flows, batch);
    mine->bytes = 0;
    for (uint32_t i = 0; i < batch->n_items; i++)
        mine->bytes += batch->packet[i].len;
}

enum sl_status source_prepare(struct source *source, struct sl_batch *batch)
{
    struct source_batch *mine = batch->filler;

    if (mine->open != NULL)
        sl_capture_load(&mine->part, batch);
    dissect(source, mine, batch);
    return SL_OK;
}

static void join(struct source *source, struct source_batch *mine, struct sl_batch *batch)
{
    struct sl_diag diag = {0};
    bool changed;
    const enum sl_status status = sl_capture_join(&mine->part, batch, &changed, &diag);

    if (changed)
        dissect(source, mine, batch);
    if (status != SL_OK && status != SL_END)
        fail_file(source, &diag);
    let_go(source, mine->open);
    mine->open = NULL;
}

static void add_dissected(struct sl_dissect_stats *sum, const struct sl_dissect_stats *more)
{
    for (int i = 0; i < SL_N_PROTOCOLS; i++) {
        sum->packets[i] += more->packets[i];
        sum->bytes[i] += more->bytes[i];
    }
    for (int i = 0; i < SL_N_DEFECTS; i++)
        sum->defects[i] += more->defects[i];
    for (int i = 0; i < 256; i++)
        sum->unknown_links[i] += more->unknown_links[i];
}

enum sl_status source_order(struct source *source, struct sl_batch *batch)
{
    struct source_batch *mine = batch->filler;

    if (mine->open != NULL)
        join(source, mine, batch);
    sl_flow_track_keys(source->flows, batch, mine->keys);
    pthread_mutex_lock(&source->lock);
    source->packets += batch->n_items;
    source->bytes += mine->bytes;
    add_dissected(&source->dissected, &mine->dissected);
    sl_flow_stats(source->flows, &source->flow_stats);
    pthread_mutex_unlock(&source->lock);
    return SL_OK;
}

void source_apply(struct sl_batch *batch)
{
    const struct source_batch *mine = batch->filler;

    if (mine->is_part)
        sl_capture_number(&mine->part, batch);
    sl_flow_keys_tell(mine->keys, batch);
}

void source_look(struct source *source, struct sl_stats *stats)
{
    stats->live = source->interface != NULL;
    pthread_mutex_lock(&source->lock);
    stats->packets = source->packets;
    stats->bytes = source->bytes;
    stats->failed_sources = source->n_failed;
    stats->kernel_packets = source->captured.kernel_packets + source->live.kernel_packets;
    stats->kernel_drops = source->captured.kernel_drops + source->live.kernel_drops;
    stats->dissected = source->dissected;
    stats->flows = source->flow_stats;
    pthread_mutex_unlock(&source->lock);
}

/* ---- the end --------------------------------------------------------------------------------- */

void **source_room(const struct sl_batch *batch)
{
    return &((struct source_batch *)batch->filler)->room;
}

const char *source_name(const struct source *source, uint16_t index)
{
    return source->interface != NULL ? source->interface : source->paths[index];
}

void source_end(struct source *source)
{
    leave_capture(source);
    for (struct source_batch *mine = source->batches; mine != NULL; mine = mine->next)
        if (mine->open != NULL) {
            let_go(source, mine->open);
            mine->open = NULL;
        }
}

bool source_was_capture(const struct source *source)
{
    return source->interface != NULL || source->n_failed < source->n_paths ||
           source->captured.file_bytes != 0;
}

void source_close(struct source *source)
{
    source_end(source);
    while (source->batches != NULL) {
        struct source_batch *next = source->batches->next;

        sl_flow_keys_free(source->batches->keys);
        free(source->batches);
        source->batches = next;
    }
    sl_flow_table_free(source->flows);
    source->flows = NULL;
}
