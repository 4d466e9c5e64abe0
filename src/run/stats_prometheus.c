/* SPDX-License-Identifier: MIT */
/* Counters in Prometheus' text format, version 0.0.4: for each metric a HELP and a TYPE line, then
 * its samples. Times are seconds, sizes bytes, and counters end in _total, as Prometheus' naming
 * rules ask. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "stats_text.h"

/* The end of the text checks once whether memory sufficed. */
struct exposition {
    FILE *out;
    const char *metric; /* of the samples that follow */
};

static void begin(struct exposition *to, const char *metric, const char *type, const char *help)
{
    fprintf(to->out, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, type);
    to->metric = metric;
}

/* A label's value between its quotes: UTF-8, with backslash, quote and line feed escaped. A byte
 * that is no UTF-8 becomes \xNN, as in all sinks. Its backslash is then escaped. */
static void put_label(FILE *out, const char *name, const char *value)
{
    const uint8_t *at = (const uint8_t *)value, *const end = at + strlen(value);
    char escaped[UTF8_ESCAPE_LEN];

    fprintf(out, "%s=\"", name);
    while (at < end) {
        const size_t len = utf8_len(at, end);

        if (len == 0) {
            utf8_escape(escaped, *at++);
            fprintf(out, "\\%.*s", UTF8_ESCAPE_LEN, escaped);
            continue;
        }
        if (*at == '\n')
            fputs("\\n", out);
        else
            fprintf(out, "%s%.*s", *at == '\\' || *at == '"' ? "\\" : "", (int)len,
                    (const char *)at);
        at += len;
    }
    fputc('"', out);
}

static void put_count(struct exposition *to, uint64_t value)
{
    fprintf(to->out, "%s %" PRIu64 "\n", to->metric, value);
}

static void put_count_of(struct exposition *to, const char *label, const char *name, uint64_t value)
{
    fprintf(to->out, "%s{", to->metric);
    put_label(to->out, label, name);
    fprintf(to->out, "} %" PRIu64 "\n", value);
}

static void put_seconds_of(struct exposition *to, const char *label, const char *name, uint64_t ns)
{
    fprintf(to->out, "%s{", to->metric);
    put_label(to->out, label, name);
    fprintf(to->out, "} %" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

static void count(struct exposition *to, const char *metric, const char *help, uint64_t value)
{
    begin(to, metric, "counter", help);
    put_count(to, value);
}

static void gauge(struct exposition *to, const char *metric, const char *help, uint64_t value)
{
    begin(to, metric, "gauge", help);
    put_count(to, value);
}

static void put_run(struct exposition *to, const struct sl_stats *stats)
{
    const uint64_t start_ns = stats->start_ns < 0 ? 0 : (uint64_t)stats->start_ns;

    begin(to, "sluice_info", "gauge", "1; a label has the version.");
    put_count_of(to, "version", stats->version, 1);
    begin(to, "sluice_start_time_seconds", "gauge", "When the run began, since 1970-01-01 UTC.");
    fprintf(to->out, "%s %" PRIu64 ".%09" PRIu64 "\n", to->metric, start_ns / 1000000000,
            start_ns % 1000000000);
    gauge(to, "sluice_running", "1 while the pipeline runs.", stats->pipeline.running);
}

static void put_source(struct exposition *to, const struct sl_stats *stats)
{
    count(to, "sluice_packets_total", "Packets taken from the source and dissected.",
          stats->packets);
    count(to, "sluice_bytes_total", "Captured bytes of those packets.", stats->bytes);
    count(to, "sluice_failed_sources_total", "Files that could not be read to their end.",
          stats->failed_sources);
    if (!stats->live)
        return;
    count(to, "sluice_kernel_packets_total",
          "Packets that the capture filter let pass, also those dropped.", stats->kernel_packets);
    count(to, "sluice_kernel_drops_total",
          "Packets of sluice_kernel_packets_total that the kernel dropped for want of room.",
          stats->kernel_drops);
    count(to, "sluice_interface_drops_total", "Packets that the interface dropped.",
          stats->interface_drops);
}

static void put_dissected(struct exposition *to, const struct sl_dissect_stats *stats)
{
    begin(to, "sluice_protocol_packets_total", "counter", "Packets that contain the protocol.");
    for (int p = 0; p < SL_N_PROTOCOLS; p++)
        put_count_of(to, "protocol", sl_protocol_name((enum sl_protocol)p), stats->packets[p]);
    begin(to, "sluice_protocol_bytes_total", "counter", "Captured bytes of those packets.");
    for (int p = 0; p < SL_N_PROTOCOLS; p++)
        put_count_of(to, "protocol", sl_protocol_name((enum sl_protocol)p), stats->bytes[p]);
    begin(to, "sluice_undecodable_packets_total", "counter",
          "Packets that were dissected in part or not at all, by what stopped it.");
    for (int d = SL_DEFECT_NONE + 1; d < SL_N_DEFECTS; d++)
        put_count_of(to, "reason", sl_defect_name((enum sl_defect)d), stats->defects[d]);
}

static void put_flows(struct exposition *to, const struct sl_flow_stats *flows)
{
    begin(to, "sluice_flows_total", "counter", "Flows that began.");
    put_count_of(to, "protocol", "TCP", flows->tcp);
    put_count_of(to, "protocol", "UDP", flows->udp);
    put_count_of(to, "protocol", "other", flows->other);
    count(to, "sluice_flows_midstream_total", "TCP flows that began without a SYN.",
          flows->midstream);
    count(to, "sluice_flows_evicted_total", "Flows that ended because the table was full.",
          flows->evicted);
    count(to, "sluice_flows_timed_out_total", "Flows that ended because they were idle.",
          flows->timed_out);
    count(to, "sluice_flows_reused_total", "TCP flows that ended as a SYN came after their end.",
          flows->reused);
    gauge(to, "sluice_flows_active", "Flows in the table.", flows->active);
}

static void put_state(struct exposition *to, const struct sl_state_stats *state)
{
    begin(to, "sluice_state_variables", "gauge", "What rules keep now, by its owner.");
    put_count_of(to, "owner", "flow", state->flow_bits);
    put_count_of(to, "owner", "host", state->hosts);
    put_count_of(to, "owner", "data", state->data_values);
    begin(to, "sluice_state_lost_total", "counter", "What rules could not keep, by its owner.");
    put_count_of(to, "owner", "flow", state->flow_bits_refused);
    put_count_of(to, "owner", "host", state->hosts_evicted);
    put_count_of(to, "owner", "data", state->data_refused);
}

static void put_fragments(struct exposition *to, const struct sl_fragment_stats *fragments)
{
    count(to, "sluice_fragments_total", "Fragments of IP.", fragments->fragments);
    count(to, "sluice_fragments_joined_total", "Datagrams that they made.", fragments->joined);
    count(to, "sluice_fragments_conflicts_total", "Fragments whose bytes differ from earlier ones.",
          fragments->conflicts);
    count(to, "sluice_fragments_lost_total",
          "Datagrams that were not whole in time, gave way to others, or found no room.",
          fragments->timed_out + fragments->evicted + fragments->left_out);
    begin(to, "sluice_fragments_faults_total", "counter", "Fragments left out, by their fault.");
    for (int f = 0; f < SL_N_FRAGMENT_FAULTS; f++)
        put_count_of(to, "reason", sl_fragment_fault_name((enum sl_fragment_fault)f),
                     fragments->faults[f]);
}

static void put_doubts(struct exposition *to, const struct sl_stream_stats *streams)
{
    begin(to, "sluice_stream_gaps_total", "counter", "Gaps in TCP streams, by their cause.");
    for (int g = 0; g < SL_N_GAPS; g++)
        put_count_of(to, "cause", sl_stream_gap_name((enum sl_stream_gap)g), streams->gaps[g]);
    begin(to, "sluice_stream_gap_bytes_total", "counter", "Bytes of those gaps.");
    for (int g = 0; g < SL_N_GAPS; g++)
        put_count_of(to, "cause", sl_stream_gap_name((enum sl_stream_gap)g), streams->gap_bytes[g]);
    begin(to, "sluice_stream_doubts_total", "counter",
          "Segments that were left out or had to be acknowledged first, by the reason.");
    for (int d = 0; d < SL_N_DOUBTS; d++)
        put_count_of(to, "reason", sl_stream_doubt_name((enum sl_stream_doubt)d),
                     streams->doubts[d]);
}

static void put_streams(struct exposition *to, const struct sl_stream_stats *streams)
{
    count(to, "sluice_stream_segments_total", "Segments of TCP streams.", streams->segments);
    count(to, "sluice_stream_bytes_total", "Bytes of TCP streams, each once.", streams->bytes);
    count(to, "sluice_stream_queued_total", "Segments that waited behind a hole.", streams->queued);
    count(to, "sluice_stream_retransmitted_bytes_total", "Bytes that the stream had already.",
          streams->retransmitted);
    count(to, "sluice_stream_conflicts_total", "Segments whose bytes differ from earlier ones.",
          streams->conflicts);
    count(to, "sluice_stream_dropped_bytes_total", "Bytes in doubt that no one acknowledged.",
          streams->dropped);
    count(to, "sluice_stream_unevaluated_bytes_total",
          "Bytes that rules did not see, as their flow gave way to another.", streams->unevaluated);
    count(to, "sluice_stream_unacknowledged_total",
          "Times that bytes were taken as acknowledged, as too many waited.",
          streams->unacknowledged);
    count(to, "sluice_stream_contexts_lost_total",
          "Sides of flows whose last bytes were given up, as memory was short.",
          streams->contexts_lost);
    put_doubts(to, streams);
}

static void put_apps(struct exposition *to, const struct sl_app_stats *apps)
{
    count(to, "sluice_app_flows_total", "Flows of protocols that are read.", apps->flows);
    count(to, "sluice_app_messages_total", "Messages for rules and events.", apps->messages);
    count(to, "sluice_app_transactions_total", "Transactions that are over.", apps->transactions);
    count(to, "sluice_app_flows_evicted_total", "Flows read no further, as memory was short.",
          apps->flows_evicted);
    count(to, "sluice_app_left_out_total", "Messages that flows had too few bytes for.",
          apps->left_out);
    count(to, "sluice_app_bodies_cut_total", "Bodies that rules saw in part.", apps->bodies_cut);
    count(to, "sluice_app_files_cut_total", "Files that were neither scanned nor stored.",
          apps->files_cut);
}

static void put_findings(struct exposition *to, const struct sl_stats *stats)
{
    if (stats->has_rules) {
        begin(to, "sluice_rules", "gauge", "Rules that were read, by what became of them.");
        put_count_of(to, "state", "loaded", stats->rules.loaded);
        put_count_of(to, "state", "skipped", stats->rules.skipped);
        put_count_of(to, "state", "bad", stats->rules.bad);
        count(to, "sluice_alerts_total", "Alerts of signature rules.", stats->alerts);
        count(to, "sluice_rules_stopped_total", "Rules on packets that took too many steps.",
              stats->rules_stopped);
    }
    if (!stats->has_header_checks)
        return;
    begin(to, "sluice_anomalies_total", "counter", "Anomalies that header checks found.");
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        put_count_of(to, "check", sl_header_check_name((enum sl_header_check)c),
                     stats->anomalies[c]);
}

static void put_engines(struct exposition *to, const struct sl_pipeline_snapshot *pipeline)
{
    char name[STATS_NAME_LEN];

    if (pipeline->n_engines == 0)
        return;
    begin(to, "sluice_engine_info", "gauge", "1; a label has the backend of the engine.");
    for (uint32_t e = 0; e < pipeline->n_engines; e++) {
        fputs("sluice_engine_info{", to->out);
        put_label(to->out, "engine", stats_engine(pipeline, e, name));
        fputc(',', to->out);
        put_label(to->out, "backend", pipeline->stats.backend[e]);
        fputs("} 1\n", to->out);
    }
    begin(to, "sluice_engine_hits_total", "counter", "Hits of the engine.");
    for (uint32_t e = 0; e < pipeline->n_engines; e++)
        put_count_of(to, "engine", stats_engine(pipeline, e, name), pipeline->stats.engine_hits[e]);
    begin(to, "sluice_engine_seconds_total", "counter", "Busy time of the engine, all workers.");
    for (uint32_t e = 0; e < pipeline->n_engines; e++)
        put_seconds_of(to, "engine", stats_engine(pipeline, e, name), pipeline->stats.engine_ns[e]);
}

static void put_devices(struct exposition *to, const struct sl_pipeline_stats *stats)
{
    char name[STATS_NAME_LEN];

    if (stats->n_devices == 0)
        return;
    begin(to, "sluice_device_info", "gauge", "1; a label has the device's name.");
    for (uint32_t d = 0; d < stats->n_devices; d++) {
        fputs("sluice_device_info{", to->out);
        put_label(to->out, "device", stats_device(&stats->devices[d].device, name));
        fputc(',', to->out);
        put_label(to->out, "name", stats->devices[d].device.name);
        fputs("} 1\n", to->out);
    }
    begin(to, "sluice_device_batches_total", "counter", "Batches whose engines ran on the device.");
    for (uint32_t d = 0; d < stats->n_devices; d++)
        put_count_of(to, "device", stats_device(&stats->devices[d].device, name),
                     stats->devices[d].batches);
    begin(to, "sluice_device_redone_total", "counter",
          "Batches that the device failed on, done again elsewhere.");
    for (uint32_t d = 0; d < stats->n_devices; d++)
        put_count_of(to, "device", stats_device(&stats->devices[d].device, name),
                     stats->devices[d].redone);
    begin(to, "sluice_device_dropped", "gauge", "1 where the device failed and was dropped.");
    for (uint32_t d = 0; d < stats->n_devices; d++)
        put_count_of(to, "device", stats_device(&stats->devices[d].device, name),
                     stats->devices[d].dropped);
}

static void put_latency(struct exposition *to, const struct sl_pipeline_stats *stats)
{
    if (stats->latency.packets == 0)
        return;
    begin(to, "sluice_latency_seconds", "summary",
          "From a packet's arrival to its result, since the run began.");
    put_seconds_of(to, "quantile", "0.5", stats->latency.p50_ns);
    put_seconds_of(to, "quantile", "0.99", stats->latency.p99_ns);
    put_seconds_of(to, "quantile", "0.999", stats->latency.p999_ns);
    put_seconds_of(to, "quantile", "1", stats->latency.max_ns);
    fprintf(to->out, "sluice_latency_seconds_count %" PRIu64 "\n", stats->latency.packets);
}

static void put_stages(struct exposition *to, const struct sl_pipeline_snapshot *pipeline)
{
    const struct sl_pipeline_stats *stats = &pipeline->stats;
    const uint64_t busy_ns[SL_N_PIPELINE_STAGES] = {stats->fill_ns, stats->load_ns, stats->work_ns,
                                                    stats->drain_ns};

    count(to, "sluice_batches_total", "Batches that went through all stages.", stats->batches);
    begin(to, "sluice_stage_seconds_total", "counter", "Busy time of the stage, all its threads.");
    for (int s = 0; s < SL_N_PIPELINE_STAGES; s++)
        put_seconds_of(to, "stage", sl_pipeline_stage_name((enum sl_pipeline_stage)s), busy_ns[s]);
    put_seconds_of(to, "stage", "order", stats->order_ns);   /* at the end of `load` */
    put_seconds_of(to, "stage", "digest", stats->digest_ns); /* after the engines, in `work` */
    begin(to, "sluice_queue_depth", "gauge",
          "Batches that wait for the stage; before fill, the free ones.");
    for (int s = 0; s < SL_N_PIPELINE_STAGES; s++)
        put_count_of(to, "stage", sl_pipeline_stage_name((enum sl_pipeline_stage)s),
                     pipeline->stage[s].waiting);
    begin(to, "sluice_stage_batches", "gauge", "Batches in the stage.");
    for (int s = 0; s < SL_N_PIPELINE_STAGES; s++)
        put_count_of(to, "stage", sl_pipeline_stage_name((enum sl_pipeline_stage)s),
                     pipeline->stage[s].busy);
    gauge(to, "sluice_workers", "Threads that load batches, run engines and evaluate.",
          stats->n_workers);
}

enum sl_status sl_stats_prometheus(const struct sl_stats *stats, char **text, size_t *len)
{
    struct exposition to = {.out = open_memstream(text, len)};

    if (to.out == NULL)
        return SL_ENOMEM;
    put_run(&to, stats);
    put_source(&to, stats);
    put_dissected(&to, &stats->dissected);
    put_fragments(&to, &stats->fragments);
    put_flows(&to, &stats->flows);
    if (stats->has_state)
        put_state(&to, &stats->state);
    if (stats->has_streams)
        put_streams(&to, &stats->streams);
    if (stats->has_apps)
        put_apps(&to, &stats->apps);
    put_findings(&to, stats);
    put_engines(&to, &stats->pipeline);
    put_devices(&to, &stats->pipeline.stats);
    put_stages(&to, &stats->pipeline);
    put_latency(&to, &stats->pipeline.stats);

    const bool failed = ferror(to.out) != 0;
    if (fclose(to.out) == 0 && !failed)
        return SL_OK;
    free(*text);
    *text = NULL;
    return SL_ENOMEM;
}
