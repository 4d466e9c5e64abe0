/* SPDX-License-Identifier: MIT */
/* The summary. Devices, traffic and work are here; the findings of engines have a file each. */
#include "run_report.h"
#include "run_profile_option.h"

#include "cli/cli.h"
#include "cli/json_text.h"
#include "sluice/version.h"

/* ---- text ------------------------------------------------------------------------------------ */

static double seconds(const struct sl_run_result *result)
{
    return (double)result->pipeline->wall_ns / 1e9;
}

static void print_device(const struct sl_run_result *result, FILE *out)
{
    const struct sl_device *devices = result->devices;
    const bool cuda = devices[0].kind == SL_DEVICE_CUDA;

    fprintf(out, "sluice %s on ", sl_version());
    const bool both = cuda && devices[result->n_devices - 1].kind == SL_DEVICE_CPU;

    if (both)
        fprintf(out, "%s and %s", devices[0].name, devices[1].name);
    else if (result->n_devices > 1)
        fprintf(out, "%u GPUs", result->n_devices);
    else
        fputs(devices[0].name, out);
    fprintf(out, " (%s: %s)\n", both ? "cuda and cpu" : cuda ? "cuda" : "cpu", result->why);
}

/* Where there is more to say than the first line says. */
static void print_devices(const struct sl_run_result *result, FILE *out)
{
    const struct sl_pipeline_stats *stats = result->pipeline;
    char batches[32], redone[32], name[16];

    for (uint32_t i = 0; stats->n_devices > 1 && i < stats->n_devices; i++) {
        const struct sl_pipeline_device *device = &stats->devices[i];
        const bool cuda = device->device.kind == SL_DEVICE_CUDA;

        snprintf(name, sizeof name, cuda ? "cuda:%d" : "cpu", device->device.index);
        fprintf(out, "  %-9s %s, %s batches%s\n", name, device->device.name,
                cli_count(device->batches, batches), i >= result->n_devices ? ", took over" : "");
        if (device->dropped)
            fprintf(out, "            dropped: %s; %s batches were done again elsewhere\n",
                    device->why, cli_count(device->redone, redone));
    }
}

/* The variants that the run took in place of the defaults. */
static void print_variants(const struct sl_run_result *result, FILE *out)
{
    if (result->variants != NULL)
        fprintf(out, "variants   %s\n", result->variants);
}

static void print_totals(const struct sl_run_result *result, FILE *out)
{
    const struct sl_capture_stats *captured = &result->captured;
    const double s = seconds(result);
    char packets[32], bytes[32], rate[32], drops[32], of_interface[32];

    fprintf(out, "packets    %s, %s, in %.3f s: %s/s (%.2f Gbit/s), %.2f M packets/s\n",
            cli_count(captured->packets, packets), cli_bytes((double)captured->bytes, bytes), s,
            cli_bytes(s > 0 ? (double)captured->bytes / s : 0, rate),
            s > 0 ? (double)captured->bytes * 8 / s / 1e9 : 0,
            s > 0 ? (double)captured->packets / s / 1e6 : 0);
    if (result->live)
        fprintf(out, "dropped    %s by the kernel, %s by the interface\n",
                cli_count(captured->kernel_drops, drops),
                cli_count(captured->interface_drops, of_interface));
}

static double us(uint64_t ns)
{
    return (double)ns / 1e3;
}

static void print_latency(const struct sl_run_result *result, FILE *out)
{
    const struct sl_pipeline_stats *stats = result->pipeline;

    if (result->latency)
        fprintf(out,
                "latency    from arrival to result: p50 %.1f us, p99 %.1f us, p99.9 %.1f us, "
                "at most %.1f us\n",
                us(stats->latency.p50_ns), us(stats->latency.p99_ns), us(stats->latency.p999_ns),
                us(stats->latency.max_ns));
}

static void print_protocols(const struct sl_run_result *result, FILE *out)
{
    const struct sl_dissect_stats *stats = &result->dissected;
    char packets[32], bytes[32];

    for (int p = 0; p < SL_N_PROTOCOLS; p++)
        if (stats->packets[p] != 0)
            fprintf(out, "  %-16s %14s packets %12s\n", sl_protocol_name((enum sl_protocol)p),
                    cli_count(stats->packets[p], packets),
                    cli_bytes((double)stats->bytes[p], bytes));
    for (uint16_t l = 0; l < 256; l++) {
        char name[32];

        if (stats->unknown_links[l] != 0)
            fprintf(out, "  not dissected: link type %s, %s packets\n",
                    l == 255 ? "255 or above" : sl_link_type_name(l, name),
                    cli_count(stats->unknown_links[l], packets));
    }
    for (int d = 1; d < SL_N_DEFECTS; d++)
        if (stats->defects[d] != 0)
            fprintf(out, "  dissected in part: %s, %s packets\n", sl_defect_name((enum sl_defect)d),
                    cli_count(stats->defects[d], packets));
}

static void print_flows(const struct sl_run_result *result, FILE *out)
{
    const struct sl_flow_stats *stats = &result->flows;
    char flows[32], tcp[32], udp[32], other[32], midstream[32];
    char timed_out[32], evicted[32], reused[32], active[32];

    fprintf(out, "flows      %s: %s TCP (%s picked up midstream), %s UDP, %s other\n",
            cli_count(stats->flows, flows), cli_count(stats->tcp, tcp),
            cli_count(stats->midstream, midstream), cli_count(stats->udp, udp),
            cli_count(stats->other, other));
    fprintf(out, "  ended    %s timed out, %s evicted, %s ports used again, %s at the end\n",
            cli_count(stats->timed_out, timed_out), cli_count(stats->evicted, evicted),
            cli_count(stats->reused, reused), cli_count(stats->active, active));
}

static void print_state(const struct sl_run_result *result, FILE *out)
{
    const struct sl_state_stats *state = &result->state;
    char text[32], refused[32], hosts[32], evicted[32], values[32], lost[32];

    if (!result->has_state)
        return;
    fprintf(out, "state      %s variables of flows (%s not set), %s of hosts (%s evicted)\n",
            cli_count(state->flow_bits, text), cli_count(state->flow_bits_refused, refused),
            cli_count(state->hosts, hosts), cli_count(state->hosts_evicted, evicted));
    if (state->data_values + state->data_refused != 0)
        fprintf(out, "           %s values in sets of data that rules change (%s not set)\n",
                cli_count(state->data_values, values), cli_count(state->data_refused, lost));
}

static void print_evidence(const struct sl_run_result *result, FILE *out)
{
    const struct sl_run_evidence *evidence = &result->evidence;
    char flows[32], packets[32], bytes[32];

    if (result->has_evidence)
        fprintf(out, "captures   of %s flows with alerts: %s packets, %s bytes\n",
                cli_count(evidence->flows, flows), cli_count(evidence->packets, packets),
                cli_count(evidence->bytes, bytes));
}

static void print_filestore(const struct sl_run_result *result, FILE *out)
{
    const struct sl_run_filestore *store = &result->filestore;
    char files[32], bytes[32], known[32];

    if (result->has_filestore)
        fprintf(out, "files      %s stored, %s bytes; %s were there\n",
                cli_count(store->files, files), cli_count(store->bytes, bytes),
                cli_count(store->known, known));
}

static void print_streams(const struct sl_run_result *result, FILE *out)
{
    const struct sl_stream_stats *stats = &result->streams;
    char segments[32], bytes[32], queued[32], conflicts[32];

    if (stats->segments == 0)
        return;
    fprintf(out,
            "streams    %s segments of TCP, %s bytes: %s waited for others, %s differ from "
            "others\n",
            cli_count(stats->segments, segments), cli_count(stats->bytes, bytes),
            cli_count(stats->queued, queued), cli_count(stats->conflicts, conflicts));
}

static void print_fragments(const struct sl_run_result *result, FILE *out)
{
    const struct sl_fragment_stats *stats = &result->fragments;
    char fragments[32], joined[32], conflicts[32];

    if (stats->fragments != 0)
        fprintf(out, "fragments  %s, joined to %s datagrams, %s differ from others\n",
                cli_count(stats->fragments, fragments), cli_count(stats->joined, joined),
                cli_count(stats->conflicts, conflicts));
}

static void print_details(const struct sl_run_result *result, FILE *out)
{
    const struct sl_pipeline_stats *stats = result->pipeline;
    const double wall = seconds(result);
    char text[32];

    fprintf(out, "pipeline   %s batches, %u workers\n", cli_count(stats->batches, text),
            stats->n_workers);
    fprintf(out, "  read in order               %8.3f s busy of %.3f s\n",
            (double)stats->fill_ns / 1e9, wall);
    fprintf(out, "  load, dissect               %8.3f s, all threads\n",
            (double)stats->load_ns / 1e9);
    fprintf(out, "  join, track flows in order  %8.3f s\n", (double)stats->order_ns / 1e9);
    fprintf(out, "  engines                     %8.3f s, all workers\n",
            (double)stats->work_ns / 1e9);
    for (uint32_t e = 0; e < result->n_engines; e++)
        fprintf(out, "    %-10s %-14s %8.3f s, %s hits\n", result->engines[e], stats->backend[e],
                (double)stats->engine_ns[e] / 1e9, cli_count(stats->engine_hits[e], text));
    fprintf(out, "  evaluate, make events       %8.3f s, all workers\n",
            (double)stats->digest_ns / 1e9);
    fprintf(out, "  write in order              %8.3f s\n", (double)stats->drain_ns / 1e9);
    if (result->matcher.algorithm != NULL)
        fprintf(out, "matcher    %s: %s literals, table of %s\n", result->matcher.algorithm,
                cli_count(result->matcher.n_literals, text),
                cli_bytes((double)result->matcher.table_len, (char[32]){0}));
}

void run_report_text(const struct sl_run_result *result, bool details, size_t n_profiled, FILE *out)
{
    print_device(result, out);
    print_devices(result, out);
    print_variants(result, out);
    print_totals(result, out);
    print_latency(result, out);
    print_protocols(result, out);
    print_flows(result, out);
    print_fragments(result, out);
    print_streams(result, out);
    print_state(result, out);
    run_rules_text(result, out);
    run_anomalies_text(result, out);
    run_alerts_text(result, details, out);
    print_evidence(result, out);
    print_filestore(result, out);
    run_profile_text(result, n_profiled, out);
    run_viruses_text(result, details, out);
    run_names_text(result, details, out);
    run_redundancy_text(result, out);
    run_left_out_text(result, out);
    if (details)
        print_details(result, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *evidence(const struct sl_run_result *result)
{
    return json_pack("{s:o, s:o, s:o}", "flows", cli_json_uint(result->evidence.flows), "packets",
                     cli_json_uint(result->evidence.packets), "bytes",
                     cli_json_uint(result->evidence.bytes));
}

static json_t *filestore(const struct sl_run_result *result)
{
    return json_pack("{s:o, s:o, s:o}", "files", cli_json_uint(result->filestore.files), "bytes",
                     cli_json_uint(result->filestore.bytes), "known",
                     cli_json_uint(result->filestore.known));
}

static json_t *devices(const struct sl_run_result *result)
{
    const struct sl_pipeline_stats *stats = result->pipeline;
    json_t *array = json_array();

    for (uint32_t i = 0; i < stats->n_devices; i++) {
        const struct sl_pipeline_device *device = &stats->devices[i];
        const bool cuda = device->device.kind == SL_DEVICE_CUDA;
        json_t *entry = json_pack("{s:s, s:i, s:s, s:o, s:b, s:o}", "kind", cuda ? "cuda" : "cpu",
                                  "index", device->device.index, "name", device->device.name,
                                  "batches", cli_json_uint(device->batches), "dropped",
                                  device->dropped, "redone", cli_json_uint(device->redone));

        if (device->dropped)
            json_object_set_new(entry, "why", json_string(device->why));
        json_array_append_new(array, entry);
    }
    return array;
}

static json_t *latency(const struct sl_run_result *result)
{
    const struct sl_pipeline_stats *stats = result->pipeline;

    return json_pack("{s:o, s:f, s:f, s:f, s:f}", "packets", cli_json_uint(stats->latency.packets),
                     "p50_us", (double)stats->latency.p50_ns / 1e3, "p99_us",
                     (double)stats->latency.p99_ns / 1e3, "p99.9_us",
                     (double)stats->latency.p999_ns / 1e3, "max_us",
                     (double)stats->latency.max_ns / 1e3);
}

static json_t *protocols(const struct sl_run_result *result)
{
    const struct sl_dissect_stats *stats = &result->dissected;
    json_t *object = json_object();

    for (int p = 0; p < SL_N_PROTOCOLS; p++)
        if (stats->packets[p] != 0)
            json_object_set_new(object, sl_protocol_name((enum sl_protocol)p),
                                json_pack("{s:o, s:o}", "packets", cli_json_uint(stats->packets[p]),
                                          "bytes", cli_json_uint(stats->bytes[p])));
    return object;
}

static json_t *unknown_links(const struct sl_run_result *result)
{
    const struct sl_dissect_stats *stats = &result->dissected;
    json_t *object = json_object();
    char name[32];

    for (uint16_t l = 0; l < 256; l++)
        if (stats->unknown_links[l] != 0)
            json_object_set_new(object, l == 255 ? "other" : sl_link_type_name(l, name),
                                cli_json_uint(stats->unknown_links[l]));
    return object;
}

static json_t *defects(const struct sl_run_result *result)
{
    const struct sl_dissect_stats *stats = &result->dissected;
    json_t *object = json_object();

    for (int d = 1; d < SL_N_DEFECTS; d++)
        if (stats->defects[d] != 0)
            json_object_set_new(object, sl_defect_name((enum sl_defect)d),
                                cli_json_uint(stats->defects[d]));
    return object;
}

static json_t *flows(const struct sl_run_result *result)
{
    const struct sl_flow_stats *stats = &result->flows;

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total",
                     cli_json_uint(stats->flows), "tcp", cli_json_uint(stats->tcp), "udp",
                     cli_json_uint(stats->udp), "other", cli_json_uint(stats->other), "midstream",
                     cli_json_uint(stats->midstream), "evicted", cli_json_uint(stats->evicted),
                     "timed_out", cli_json_uint(stats->timed_out), "reused",
                     cli_json_uint(stats->reused), "active", cli_json_uint(stats->active));
}

static void add_count(void *user, const char *group, const char *name, uint64_t value)
{
    json_t *object = user;

    if (group != NULL && json_object_get(object, group) == NULL)
        json_object_set_new(object, group, json_object());
    if (group != NULL)
        object = json_object_get(object, group);
    json_object_set_new(object, name, cli_json_uint(value));
}

static json_t *streams(const struct sl_run_result *result)
{
    json_t *object = json_object();

    sl_stream_stats_each(&result->streams, add_count, object);
    return object;
}

static json_t *fragments(const struct sl_run_result *result)
{
    json_t *object = json_object();

    sl_fragment_stats_each(&result->fragments, add_count, object);
    return object;
}

static void add_app_count(void *user, const char *name, uint64_t value)
{
    json_object_set_new(user, name, cli_json_uint(value));
}

static json_t *apps(const struct sl_run_result *result)
{
    json_t *object = json_object();

    sl_app_stats_each(&result->apps, add_app_count, object);
    return object;
}

static json_t *pipeline(const struct sl_run_result *result)
{
    const struct sl_pipeline_stats *stats = result->pipeline;
    json_t *engines = json_array();

    for (uint32_t e = 0; e < result->n_engines; e++)
        json_array_append_new(engines, json_pack("{s:s, s:s, s:f, s:o}", "engine",
                                                 result->engines[e], "backend", stats->backend[e],
                                                 "seconds", (double)stats->engine_ns[e] / 1e9,
                                                 "hits", cli_json_uint(stats->engine_hits[e])));
    return json_pack("{s:o, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "batches",
                     cli_json_uint(stats->batches), "workers", (int)stats->n_workers,
                     "fill_seconds", (double)stats->fill_ns / 1e9, "load_seconds",
                     (double)stats->load_ns / 1e9, "order_seconds", (double)stats->order_ns / 1e9,
                     "work_seconds", (double)stats->work_ns / 1e9, "digest_seconds",
                     (double)stats->digest_ns / 1e9, "drain_seconds", (double)stats->drain_ns / 1e9,
                     "engines", engines);
}

void run_report_json(const struct sl_run_result *result, bool details, size_t n_profiled, FILE *out)
{
    const struct sl_device *device = &result->devices[0];
    const struct sl_capture_stats *captured = &result->captured;
    const bool cuda = device->kind == SL_DEVICE_CUDA;
    json_t *root = json_pack(
        "{s:s, s:{s:s, s:s, s:s}, s:o, s:o, s:f, s:o, s:o, s:o}", "version", sl_version(), "device",
        "kind", cuda ? "cuda" : "cpu", "name", device->name, "why", result->why, "packets",
        cli_json_uint(captured->packets), "bytes", cli_json_uint(captured->bytes), "seconds",
        (double)result->pipeline->wall_ns / 1e9, "kernel_drops",
        cli_json_uint(captured->kernel_drops), "interface_drops",
        cli_json_uint(captured->interface_drops), "failed_sources",
        cli_json_uint(result->failed_sources));

    json_object_set_new(root, "devices", devices(result));
    if (result->variants != NULL)
        json_object_set_new(root, "variants", json_string(result->variants));
    if (result->latency)
        json_object_set_new(root, "latency", latency(result));
    json_object_set_new(root, "protocols", protocols(result));
    json_object_set_new(root, "unknown_link_types", unknown_links(result));
    json_object_set_new(root, "defects", defects(result));
    json_object_set_new(root, "flows", flows(result));
    if (result->fragments.fragments != 0)
        json_object_set_new(root, "fragments", fragments(result));
    if (result->has_streams)
        json_object_set_new(root, "streams", streams(result));
    if (result->has_apps)
        json_object_set_new(root, "apps", apps(result));
    json_object_set_new(root, "rules", run_rules_json(result));
    json_object_set_new(root, "anomalies_total", cli_json_uint(result->anomalies));
    json_object_set_new(root, "anomalies", run_anomalies_json(result));
    json_object_set_new(root, "alerts_total", cli_json_uint(result->alerts));
    json_object_set_new(root, "alerts", run_alerts_json(result));
    json_object_set_new(root, "rules_stopped", cli_json_uint(result->rules_stopped));
    if (n_profiled != 0)
        json_object_set_new(root, "rule_profile", run_profile_json(result, n_profiled));
    if (result->has_evidence)
        json_object_set_new(root, "captures_of_alerts", evidence(result));
    if (result->has_filestore)
        json_object_set_new(root, "stored_files", filestore(result));
    if (result->database != NULL)
        json_object_set_new(root, "viruses", run_viruses_json(result));
    if (result->names != NULL)
        json_object_set_new(root, "names", run_names_json(result, details));
    if (result->n_samplers != 0)
        json_object_set_new(root, "redundancy", run_redundancy_json(result));
    json_object_set_new(root, "left_out", run_left_out_json(result));
    if (details)
        json_object_set_new(root, "pipeline", pipeline(result));
    json_dumpf(root, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', out);
    json_decref(root);
}
