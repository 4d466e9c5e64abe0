/* SPDX-License-Identifier: MIT */
/* The summary as one JSON object. */
#include <jansson.h>
#include <string.h>

#include "cli.h"
#include "run_report.h"
#include "sluice/version.h"

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *protocols(const struct sl_run_result *result)
{
    const struct sl_dissect_stats *stats = &result->dissected;
    json_t *object = json_object();

    for (int p = 0; p < SL_N_PROTOCOLS; p++)
        if (stats->packets[p] != 0)
            json_object_set_new(object, sl_protocol_name((enum sl_protocol)p),
                                json_pack("{s:o, s:o}", "packets", number(stats->packets[p]),
                                          "bytes", number(stats->bytes[p])));
    return object;
}

static json_t *defects(const struct sl_run_result *result)
{
    const struct sl_dissect_stats *stats = &result->dissected;
    json_t *object = json_object();

    for (int d = 1; d < SL_N_DEFECTS; d++)
        if (stats->defects[d] != 0)
            json_object_set_new(object, sl_defect_name((enum sl_defect)d),
                                number(stats->defects[d]));
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
                                number(stats->unknown_links[l]));
    return object;
}

static json_t *flows(const struct sl_run_result *result)
{
    const struct sl_flow_stats *stats = &result->flows;

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total", number(stats->flows),
                     "tcp", number(stats->tcp), "udp", number(stats->udp), "other",
                     number(stats->other), "midstream", number(stats->midstream), "evicted",
                     number(stats->evicted), "timed_out", number(stats->timed_out), "active",
                     number(stats->active));
}

static json_t *anomalies(const struct sl_run_result *result)
{
    json_t *object = json_object();

    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        if (result->by_check[c] != 0)
            json_object_set_new(object, sl_header_check_name((enum sl_header_check)c),
                                number(result->by_check[c]));
    return object;
}

static json_t *alerts(const struct sl_run_result *result)
{
    struct sl_rules_count count;
    json_t *array = json_array();

    if (result->rules == NULL)
        return array;
    sl_rules_count(result->rules, &count);
    for (size_t i = 0; i < count.loaded; i++) {
        const struct sl_signature *signature = sl_rules_signature(result->rules, i);
        json_t *entry;

        if (result->by_signature[i] == 0)
            continue;
        entry = json_pack("{s:I, s:I, s:I, s:o}", "gid", (json_int_t)signature->gid, "signature_id",
                          (json_int_t)signature->sid, "rev", (json_int_t)signature->rev, "count",
                          number(result->by_signature[i]));
        /* A message of any bytes: left out where it is no UTF-8. */
        json_object_set_new(entry, "signature", json_string(signature->msg));
        json_array_append_new(array, entry);
    }
    return array;
}

static json_t *rules(const struct sl_run_result *result)
{
    struct sl_rules_count count = {0};

    if (result->rules != NULL)
        sl_rules_count(result->rules, &count);
    json_t *object = json_pack("{s:I, s:I, s:I}", "loaded", (json_int_t)count.loaded, "skipped",
                               (json_int_t)count.skipped, "bad", (json_int_t)count.bad);
    if (result->home_missed)
        json_object_set_new(object, "home_missed", json_true());
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
                                                 "hits", number(stats->engine_hits[e])));
    return json_pack("{s:o, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "batches",
                     number(stats->batches), "workers", (int)stats->n_workers, "loaders",
                     (int)stats->n_loaders, "fill_seconds", (double)stats->fill_ns / 1e9,
                     "load_seconds", (double)stats->load_ns / 1e9, "order_seconds",
                     (double)stats->order_ns / 1e9, "work_seconds", (double)stats->work_ns / 1e9,
                     "digest_seconds", (double)stats->digest_ns / 1e9, "drain_seconds",
                     (double)stats->drain_ns / 1e9, "engines", engines);
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
                                  "batches", number(device->batches), "dropped", device->dropped,
                                  "redone", number(device->redone));

        if (device->dropped)
            json_object_set_new(entry, "why", json_string(device->why));
        json_array_append_new(array, entry);
    }
    return array;
}

static json_t *latency(const struct sl_run_result *result)
{
    const struct sl_pipeline_stats *stats = result->pipeline;

    return json_pack("{s:o, s:f, s:f, s:f, s:f}", "packets", number(stats->latency.packets),
                     "p50_us", (double)stats->latency.p50_ns / 1e3, "p99_us",
                     (double)stats->latency.p99_ns / 1e3, "p99.9_us",
                     (double)stats->latency.p999_ns / 1e3, "max_us",
                     (double)stats->latency.max_ns / 1e3);
}

void run_report_json(const struct sl_run_result *result, bool details, FILE *out)
{
    const struct sl_device *device = &result->devices[0];
    const struct sl_capture_stats *captured = &result->captured;
    const bool cuda = device->kind == SL_DEVICE_CUDA;
    json_t *root = json_pack(
        "{s:s, s:{s:s, s:s, s:s}, s:o, s:o, s:f, s:o, s:o, s:o}", "version", sl_version(), "device",
        "kind", cuda ? "cuda" : "cpu", "name", device->name, "why", result->why, "packets",
        number(captured->packets), "bytes", number(captured->bytes), "seconds",
        (double)result->pipeline->seconds_ns / 1e9, "kernel_drops", number(captured->kernel_drops),
        "interface_drops", number(captured->interface_drops), "failed_sources",
        number(result->failed_sources));

    json_object_set_new(root, "devices", devices(result));
    if (result->variants != NULL)
        json_object_set_new(root, "variants", json_string(result->variants));
    if (result->latency)
        json_object_set_new(root, "latency", latency(result));
    json_object_set_new(root, "protocols", protocols(result));
    json_object_set_new(root, "unknown_link_types", unknown_links(result));
    json_object_set_new(root, "defects", defects(result));
    json_object_set_new(root, "flows", flows(result));
    json_object_set_new(root, "rules", rules(result));
    json_object_set_new(root, "anomalies_total", number(result->anomalies));
    json_object_set_new(root, "anomalies", anomalies(result));
    json_object_set_new(root, "alerts_total", number(result->alerts));
    json_object_set_new(root, "alerts", alerts(result));
    if (result->database != NULL)
        json_object_set_new(root, "viruses", run_viruses_json(result));
    if (result->names != NULL)
        json_object_set_new(root, "names", run_names_json(result, details));
    if (result->n_samplers != 0)
        json_object_set_new(root, "redundancy", run_redundancy_json(result));
    if (details)
        json_object_set_new(root, "pipeline", pipeline(result));
    json_dumpf(root, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', out);
    json_decref(root);
}
