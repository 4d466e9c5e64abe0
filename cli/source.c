/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "cli.h"

/* What the signal handler knows. It may run on any thread while the filling thread closes the
 * capture: who closes takes the pointer away first, and waits until no handler holds it. */
static _Atomic(struct sl_capture *) signal_capture;
static atomic_int signal_busy;
static atomic_bool signal_seen;

static void on_signal(int number)
{
    if (atomic_exchange(&signal_seen, true))
        signal(number, SIG_DFL); /* the user means it: the next one kills */
    atomic_fetch_add(&signal_busy, 1);
    struct sl_capture *capture = atomic_load(&signal_capture);
    if (capture != NULL)
        sl_capture_stop(capture);
    atomic_fetch_sub(&signal_busy, 1);
}

static void take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: reads return */

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void close_capture(struct source *source)
{
    struct sl_capture_stats stats;

    if (source->capture == NULL)
        return;
    atomic_store(&signal_capture, NULL);
    while (atomic_load(&signal_busy) != 0)
        ;
    sl_capture_stats(source->capture, &stats);
    source->captured.packets += stats.packets;
    source->captured.bytes += stats.bytes;
    source->captured.file_bytes += stats.file_bytes;
    source->captured.kernel_drops += stats.kernel_drops;
    source->captured.skipped_blocks += stats.skipped_blocks;
    sl_capture_close(source->capture);
    source->capture = NULL;
}

static void fail_file(struct source *source, const struct sl_diag *diag)
{
    cli_diag(diag);
    source->n_failed++;
}

/* Opens captures until one opens. SL_END: there are no more. */
static enum sl_status open_next(struct source *source)
{
    struct sl_diag diag = {0};

    while (source->capture == NULL && source->next < source->n_paths) {
        const size_t index = source->next++;

        if (sl_capture_open_file(&source->capture, source->paths[index], (uint16_t)index, &diag) !=
            SL_OK) {
            source->capture = NULL;
            fail_file(source, &diag);
        }
    }
    atomic_store(&signal_capture, source->capture);
    return source->capture == NULL ? SL_END : SL_OK;
}

bool source_open(struct source *source)
{
    struct sl_flow_config config;
    struct sl_diag diag = {0};

    sl_flow_config_init(&config);
    if (getrandom(config.hash_key, sizeof config.hash_key, 0) != (ssize_t)sizeof config.hash_key ||
        sl_flow_table_create(&source->flows, &config, &diag) != SL_OK) {
        cli_error("no flow table: %s", diag.text);
        return false;
    }
    take_signals();
    if (source->interface == NULL)
        return open_next(source) == SL_OK;

    if (sl_capture_open_live(&source->capture, source->interface, source->filter, 0, &diag) !=
        SL_OK) {
        source->capture = NULL;
        fail_file(source, &diag);
        return false;
    }
    atomic_store(&signal_capture, source->capture);
    return true;
}

enum sl_status source_fill(struct source *source, struct sl_batch *batch, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    /* Small files share a batch: go on until it is full, or, live, time has passed. */
    for (;;) {
        status = atomic_load(&signal_seen) && source->capture == NULL ? SL_END : open_next(source);
        if (status != SL_OK)
            break;
        status = sl_capture_read(source->capture, batch, diag);
        if (status == SL_OK || status == SL_EINVAL)
            break;
        if (status != SL_END)
            fail_file(source, diag);
        close_capture(source);
    }
    sl_dissect(batch, &source->dissected);
    sl_flow_track(source->flows, batch);
    return status;
}

const char *source_name(const struct source *source, uint16_t index)
{
    return source->interface != NULL ? source->interface : source->paths[index];
}

void source_end(struct source *source)
{
    close_capture(source);
}

void source_close(struct source *source)
{
    close_capture(source);
    sl_flow_table_free(source->flows);
    source->flows = NULL;
}
