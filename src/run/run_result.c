/* SPDX-License-Identifier: MIT */
/* The result of a run. */
#include <string.h>

#include "run_internal.h"

static void read_source(const struct sl_run *run, struct sl_run_result *result)
{
    result->captured = run->source.captured;
    result->live = run->config.interface != NULL;
    result->failed_sources = run->source.n_failed;
    result->found_capture = run_source_found(&run->source);
    result->dissected = run->source.dissected;
    if (run->source.flows != NULL)
        sl_flow_stats(run->source.flows, &result->flows);
}

static void read_pipeline(const struct sl_run *run, struct sl_run_result *result)
{
    result->devices = run->pipeline.devices;
    result->n_devices = run->pipeline.n_devices;
    result->why = run->why;
    result->pipeline = &run->stats;
    result->n_engines = run->pipeline.n_engines;
    for (uint32_t e = 0; e < run->pipeline.n_engines; e++)
        result->engines[e] = run->pipeline.engines[e].engine->name;
    result->latency = run->pipeline.latency;
    result->variants = run->config.variants;
}

static void read_policy(const struct run_policy *policy, struct sl_run_result *result)
{
    result->has_header_checks = policy->header_engine >= 0;
    result->rules = policy->rules;
    if (policy->matcher != NULL)
        sl_mpm_info(policy->matcher, &result->matcher);
    result->database = policy->database;
    result->names = policy->names;
    if (policy->watch != NULL)
        sl_packet_names_watch_count(policy->watch, &result->watched);
}

/* A packet of another network than was meant matches no rule that names the home network. */
static bool missed_home(const struct run_counts *counts, const struct sl_run_result *result)
{
    return result->rules != NULL && sl_rules_assume_home(result->rules) && !counts->saw_home &&
           result->captured.packets > 0;
}

static void read_counts(const struct run_counts *counts, struct sl_run_result *result)
{
    result->anomalies = counts->n_anomalies;
    memcpy(result->by_check, counts->by_check, sizeof result->by_check);
    result->alerts = counts->n_alerts;
    result->rules_stopped = counts->n_stopped;
    result->by_signature = counts->by_signature;

    result->viruses = counts->viruses.n_found;
    result->virus_payloads = counts->viruses.n_payloads;
    result->virus_files = counts->viruses.n_files;
    result->by_virus = counts->viruses.ranked;
    result->n_by_virus = counts->viruses.ranked != NULL ? counts->viruses.n_names : 0;

    result->names_matched = counts->names.n_matched;
    result->by_name_rule = counts->names.listed;
    result->n_by_name_rule = counts->names.listed != NULL ? counts->names.n_rules : 0;
}

void sl_run_result(const struct sl_run *run, struct sl_run_result *result)
{
    memset(result, 0, sizeof *result);
    result->status = run->status;
    read_source(run, result);
    read_pipeline(run, result);
    if (run->policy != NULL)
        read_policy(run->policy, result);
    read_counts(&run->counts, result);
    result->virus_hits_left_out = run_viruses_left_out(run->viruses);
    result->has_state = run->state != NULL;
    if (result->has_state)
        sl_state_stats(run->state, &result->state);
    result->has_streams = run->streams != NULL;
    run_streams_snapshot(run->streams, &result->streams);
    result->has_apps = run->apps != NULL;
    run_apps_snapshot(run->apps, &result->apps);
    result->fragments = run->source.fragment_stats;
    result->has_evidence = run->evidence != NULL;
    if (result->has_evidence)
        run_evidence_stats(run->evidence, &result->evidence);
    result->has_filestore = run->filestore != NULL;
    if (result->has_filestore)
        run_filestore_stats(run->filestore, &result->filestore);
    result->home_missed = missed_home(&run->counts, result);
    result->redundancy = &run->redundancy.config;
    result->n_samplers = run->redundancy.n_samplers;
    for (uint32_t i = 0; i < result->n_samplers; i++) {
        result->samplers[i].name = run->redundancy.samplers[i].name;
        result->samplers[i].savings = run->redundancy.samplers[i].savings;
    }
    result->n_sinks = run->sinks.n;
    for (uint32_t i = 0; i < run->sinks.n; i++)
        result->sinks[i] = run->sinks.sinks[i].result;
}
