/* SPDX-License-Identifier: MIT */
#include "run_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/diag.h"

void run_source_init(struct run_source *source, const struct sl_run_config *config,
                     struct run_notices *notices)
{
    memset(source, 0, sizeof *source);
    source->config = config;
    source->notices = notices;
    pthread_mutex_init(&source->lock, NULL);
}

void run_source_clear(struct run_source *source)
{
    run_source_end_capture(source);
    sl_flow_table_free(source->flows);
    run_fragments_free(source->fragments);
    run_hosts_free(source->hosts);
    pthread_mutex_destroy(&source->lock);
}

/* ---- captures -------------------------------------------------------------------------------- */

static void add_stats(struct sl_capture_stats *sum, const struct sl_capture_stats *stats)
{
    sum->packets += stats->packets;
    sum->bytes += stats->bytes;
    sum->file_bytes += stats->file_bytes;
    sum->kernel_packets += stats->kernel_packets;
    sum->kernel_drops += stats->kernel_drops;
    sum->interface_drops += stats->interface_drops;
    sum->skipped_blocks += stats->skipped_blocks;
}

void run_source_release(struct run_source *source, struct run_capture *capture)
{
    struct sl_capture_stats stats;

    if (atomic_fetch_sub(&capture->holders, 1) != 1)
        return;
    sl_capture_stats(capture->capture, &stats);
    pthread_mutex_lock(&source->lock);
    add_stats(&source->captured, &stats);
    memset(&source->live, 0, sizeof source->live); /* it is among them now */
    pthread_mutex_unlock(&source->lock);
    sl_capture_close(capture->capture);
    free(capture);
}

void run_source_end_capture(struct run_source *source)
{
    if (source->capture == NULL)
        return;
    atomic_store(&source->to_stop, NULL);
    while (atomic_load(&source->stopping) != 0)
        ;
    run_source_release(source, source->capture);
    source->capture = NULL;
}

/* A later file opens or fails: the one before is a notice. */
static void send_pending(struct run_source *source)
{
    if (source->has_pending)
        run_notices_text(source->notices, SL_RUN_SOURCE_FAILED, &source->pending);
    source->has_pending = false;
}

void run_source_fail_file(struct run_source *source, const struct sl_diag *diag)
{
    if (!source->opening) {
        run_notices_text(source->notices, SL_RUN_SOURCE_FAILED, diag);
    } else {
        send_pending(source);
        source->pending = *diag;
        source->has_pending = true;
    }
    pthread_mutex_lock(&source->lock);
    source->n_failed++;
    pthread_mutex_unlock(&source->lock);
}

/* Takes over the capture, or closes it. */
static enum sl_status hold(struct run_source *source, struct sl_capture *capture,
                           struct sl_diag *diag)
{
    const uint64_t max_latency_ns = source->config->max_latency_ns;
    struct run_capture *held = NULL;
    enum sl_status status = SL_OK;

    if (max_latency_ns != 0)
        status = sl_capture_limit_latency(capture, max_latency_ns, diag);
    if (status == SL_OK)
        held = malloc(sizeof *held);
    if (held == NULL) {
        if (status == SL_OK)
            status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to read %s",
                              sl_capture_name(capture));
        sl_capture_close(capture);
        return status;
    }
    held->capture = capture;
    atomic_init(&held->holders, 1);
    source->capture = held;
    atomic_store(&source->to_stop, capture);
    if (atomic_load(&source->stopped)) /* while it was opened: there was nothing to stop */
        sl_capture_stop(capture);
    return SL_OK;
}

/* The filter is the run's: where it does not compile, the run ends. */
static enum sl_status hold_file(struct run_source *source, struct sl_capture *capture,
                                struct sl_diag *diag)
{
    const char *const filter = source->config->filter;
    const enum sl_status status = filter != NULL ? sl_capture_filter(capture, filter, diag) : SL_OK;

    if (status == SL_OK)
        return hold(source, capture, diag);
    sl_capture_close(capture);
    return status;
}

enum sl_status run_source_next(struct run_source *source, struct sl_diag *diag)
{
    const struct sl_run_config *config = source->config;
    enum sl_status status = SL_OK;

    if (source->capture == NULL && atomic_load(&source->stopped))
        return SL_END;
    while (status == SL_OK && source->capture == NULL && source->next < config->n_files) {
        const size_t index = source->next++;
        struct sl_diag failed = {0};
        struct sl_capture *capture;

        if (sl_capture_open_file(&capture, config->files[index], (uint16_t)index, &failed) != SL_OK)
            run_source_fail_file(source, &failed);
        else
            status = hold_file(source, capture, diag);
    }
    return status == SL_OK && source->capture == NULL ? SL_END : status;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Waits for the header of the first capture, also of a pipe. SL_END: no file is a capture. */
static enum sl_status begin_first(struct run_source *source, struct sl_diag *diag)
{
    enum sl_status status;

    while ((status = run_source_next(source, diag)) == SL_OK) {
        struct sl_diag failed = {0};
        enum sl_status begin = SL_OK;
        bool begun = false;

        while (begin == SL_OK && !begun)
            begin = sl_capture_begin(source->capture->capture, &begun, &failed);
        if (begin == SL_OK || begin == SL_END) /* which the first read gives again */
            return SL_OK;
        run_source_fail_file(source, &failed);
        run_source_end_capture(source);
    }
    return status;
}

static enum sl_status open_files(struct run_source *source, struct sl_diag *diag)
{
    enum sl_status status;

    source->opening = true;
    status = begin_first(source, diag);
    source->opening = false;
    if (status == SL_END && source->has_pending) {
        *diag = source->pending;
        return SL_EIO;
    }
    send_pending(source);
    return status == SL_END ? SL_OK : status; /* stopped before the first: nothing is read */
}

bool run_source_reports_flows(const struct run_source *source)
{
    const struct sl_run_config *config = source->config;

    return (config->events >> SL_EVENT_FLOW & 1) != 0 &&
           (config->n_sinks != 0 || config->event != NULL);
}

bool run_source_is_files(const struct sl_run_config *config, uint64_t *len)
{
    struct stat status;

    *len = 0;
    for (size_t i = 0; i < config->n_files; i++) {
        if (stat(config->files[i], &status) != 0 || !S_ISREG(status.st_mode))
            return false;
        *len += (uint64_t)status.st_size;
    }
    return config->n_files > 0 && config->interface == NULL && config->fill == NULL;
}

enum sl_status run_source_open(struct run_source *source, struct sl_diag *diag)
{
    const struct sl_run_config *config = source->config;
    struct sl_capture *capture;
    enum sl_status status;

    if (config->fill != NULL)
        return SL_OK;
    if (config->interface == NULL)
        return open_files(source, diag);
    status = sl_capture_open_live(&capture, config->interface, config->filter, 0, diag);
    return status == SL_OK ? hold(source, capture, diag) : status;
}

enum sl_status run_source_open_flows(struct run_source *source, const struct sl_flow_slot *slots,
                                     uint32_t n_slots, bool keeps_ends, struct sl_diag *diag)
{
    const struct sl_run_config *config = source->config;
    struct sl_flow_config flows;

    source->settles = run_source_reports_flows(source) || n_slots != 0;
    sl_flow_config_init(&flows);
    for (uint32_t i = 0; i < n_slots; i++)
        flows.slots[flows.n_slots++] = slots[i];
    flows.sensor_id = config->sensor_id;
    flows.totals = source->totals;
    flows.keep_ends = /* slots keep ends as well, and spare the counts */
        run_source_reports_flows(source) || (keeps_ends && n_slots == 0);
    flows.memory = config->flow_memory;
    if (config->flow_memory != 0)
        flows.max_flows = SL_FLOWS_MAX;
    if (config->flow_seed != NULL)
        memcpy(flows.hash_key, config->flow_seed, sizeof flows.hash_key);
    else if (getrandom(flows.hash_key, sizeof flows.hash_key, 0) != (ssize_t)sizeof flows.hash_key)
        return diag_set(diag, SL_EIO, NULL, 0, "no flow table: no random numbers");
    enum sl_status status =
        run_hosts_create(&source->hosts, config->host_policies, config->n_host_policies, diag);
    if (status == SL_OK)
        status = run_fragments_create(&source->fragments, source->hosts,
                                      config->check_headers ? &config->header : NULL,
                                      flows.hash_key, diag);
    return status == SL_OK ? sl_flow_table_create(&source->flows, &flows, diag) : status;
}

/* ---- other threads --------------------------------------------------------------------------- */

void run_source_stop(struct run_source *source)
{
    atomic_store(&source->stopped, true);
    atomic_fetch_add(&source->stopping, 1);
    struct sl_capture *capture = atomic_load(&source->to_stop);
    if (capture != NULL)
        sl_capture_stop(capture);
    atomic_fetch_sub(&source->stopping, 1);
}

void run_source_snapshot(struct run_source *source, struct sl_stats *stats)
{
    stats->live = source->config->interface != NULL;
    pthread_mutex_lock(&source->lock);
    stats->packets = source->packets;
    stats->bytes = source->bytes;
    stats->failed_sources = source->n_failed;
    stats->kernel_packets = source->captured.kernel_packets + source->live.kernel_packets;
    stats->kernel_drops = source->captured.kernel_drops + source->live.kernel_drops;
    stats->interface_drops = source->captured.interface_drops + source->live.interface_drops;
    stats->dissected = source->dissected;
    stats->flows = source->flow_stats;
    stats->fragments = source->fragment_stats;
    pthread_mutex_unlock(&source->lock);
}

/* ---- results --------------------------------------------------------------------------------- */

const char *run_source_name(const struct run_source *source, uint16_t index)
{
    const struct sl_run_config *config = source->config;

    if (config->fill != NULL)
        return config->fill_name != NULL ? config->fill_name : "memory";
    return config->interface != NULL ? config->interface : config->files[index];
}

bool run_source_found(const struct run_source *source)
{
    return source->config->n_files == 0 || source->n_failed < source->config->n_files ||
           source->captured.file_bytes != 0;
}
