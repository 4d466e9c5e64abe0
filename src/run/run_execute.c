/* SPDX-License-Identifier: MIT */
/* A run while it is executed. */
#include "base/clock.h"
#include "base/diag.h"
#include "flow_events.h"
#include "message_events.h"
#include "run_internal.h"

/* A kill loses the events of 200 ms at most: an interval, and the batch that holds the sinks at its
 * end. */
enum { FLUSH_MS = 100 };

static void write_stats(void *user)
{
    struct sl_run *run = user;
    struct sl_stats stats;

    sl_run_snapshot(run, &stats);
    run_sinks_write_stats(&run->sinks, &stats);
}

static void flush_sinks(void *user)
{
    run_sinks_flush(&((struct sl_run *)user)->sinks);
}

static enum sl_status start_clock(struct run_clock *clock, uint64_t interval_ns,
                                  void (*call)(void *user), struct sl_run *run,
                                  struct sl_diag *diag)
{
    *clock = (struct run_clock){
        .interval_ns = interval_ns, .begin_ns = run->begin_ns, .call = call, .user = run};
    return run_clock_start(clock, diag);
}

static enum sl_status begin(struct sl_run *run, struct sl_diag *diag)
{
    run->pipeline.monitor = run->monitor;
    pthread_mutex_lock(&run->lock);
    run->start_ns = clock_wall_ns();
    run->begin_ns = clock_ns();
    pthread_mutex_unlock(&run->lock);
    const enum sl_status status =
        run->sinks.n == 0
            ? SL_OK
            : start_clock(&run->flush_clock, FLUSH_MS * UINT64_C(1000000), flush_sinks, run, diag);
    if (status != SL_OK || run->config.stats_seconds == 0)
        return status;
    return start_clock(&run->stats_clock, run->config.stats_seconds * UINT64_C(1000000000),
                       write_stats, run, diag);
}

/* Each part releases the capture that it holds of the source, and the last counters are written. */
static enum sl_status end(struct sl_run *run, struct sl_diag *diag)
{
    run_source_end_capture(&run->source);
    for (struct run_batch *mine = run->batches; mine != NULL; mine = mine->next)
        source_batch_abandon(&mine->source, &run->source);
    run_clock_end(&run->flush_clock);
    run_clock_end(&run->stats_clock);
    return run_counts_end(&run->counts, diag);
}

enum sl_status sl_run_execute(struct sl_run *run, struct sl_diag *diag)
{
    enum sl_status status = run->opened ? SL_OK : sl_run_open(run, diag);
    struct sl_diag later;

    if (diag == NULL)
        diag = &later;
    if (status != SL_OK)
        return status;
    if (!run->ready || run->executed)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the run is not open, or has ended");
    run->executed = true;
    run_pinning_stop(&run->pinning);
    status = begin(run, diag);
    if (status == SL_OK)
        status = run_pipeline(run, diag);
    if (status == SL_OK)
        run_keep_pace(run);
    if (status == SL_OK && run->streams != NULL)
        status = message_events_finish(run, diag);
    if (status == SL_OK && run_source_reports_flows(&run->source))
        status = flow_events_finish(&run->source, run->state, &run->sinks, diag);
    const enum sl_status ended = end(run, status == SL_OK ? diag : &later);
    run->status = status == SL_OK ? ended : status;
    if (run->state != NULL) {
        const enum sl_status saved =
            sl_state_save(run->state, run->status == SL_OK ? diag : &later);
        run->status = run->status == SL_OK ? saved : run->status;
    }
    const enum sl_status closed =
        run_sinks_close(&run->sinks, run->status == SL_OK ? diag : &later);
    return run->status == SL_OK ? closed : run->status;
}
