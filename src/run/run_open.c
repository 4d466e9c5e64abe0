/* SPDX-License-Identifier: MIT */
/* A run until it is executed: its config, creating, opening and closing. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/reserved.h"
#include "run_internal.h"

static const uint32_t ALL_EVENTS = (1u << SL_N_EVENT_KINDS) - 1;

/* Those that a packet or a rule does not raise, so that they are many. */
static const uint32_t RECORDS =
    1u << SL_EVENT_FLOW | 1u << SL_EVENT_DNS_MESSAGE | 1u << SL_EVENT_HTTP_MESSAGE |
    1u << SL_EVENT_TLS_MESSAGE | 1u << SL_EVENT_QUIC_MESSAGE | 1u << SL_EVENT_FILE |
    1u << SL_EVENT_SMTP_MESSAGE | 1u << SL_EVENT_SSH_MESSAGE | 1u << SL_EVENT_FTP_MESSAGE;

#define STREAM_MEMORY (UINT64_C(256) << 20) /* bytes */

void sl_run_config_init(struct sl_run_config *config)
{
    memset(config, 0, sizeof *config);
    config->devices = "auto";
    config->events = ALL_EVENTS & ~RECORDS;
    sl_header_config_init(&config->header);
    sl_sampling_config_init(&config->redundancy.sampling);
    sl_savings_config_init(&config->redundancy.savings);
    sl_names_config_init(&config->names);
    config->stream_memory = STREAM_MEMORY;
    config->redundancy.sampling.period = config->redundancy.savings.redundancy.period;
}

bool sl_run_add_packet(struct sl_batch *batch, const void *bytes, uint32_t len, int64_t time_ns,
                       uint16_t link_type)
{
    const uint32_t kept = len < SL_CAPTURE_PACKET_MAX ? len : SL_CAPTURE_PACKET_MAX;

    if (!sl_batch_fits(batch, kept))
        return false;
    struct sl_origin *origin = &batch->origin[sl_batch_add(batch, bytes, kept, 0)];
    origin->time_ns = time_ns;
    origin->link_type = link_type;
    origin->wire_len = len;
    return true;
}

/* ---- creating -------------------------------------------------------------------------------- */

static enum sl_status check_limit(const char *what, size_t n, size_t max, struct sl_diag *diag)
{
    return n <= max ? SL_OK
                    : diag_set(diag, SL_EINVAL, NULL, 0, "%zu %s (expected at most %zu a run)", n,
                               what, max);
}

static enum sl_status check(const struct sl_run_config *config, struct sl_diag *diag)
{
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status != SL_OK)
        return status;
    if ((config->n_files != 0) + (config->interface != NULL) + (config->fill != NULL) != 1)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "a run reads files, an interface or a function (expected one of them)");
    if (config->filter != NULL && config->fill != NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "a filter is for files and interfaces, and not for a function");
    if (config->compiled != NULL && config->rules == NULL && config->n_rule_files == 0)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "compiled literals need the rules that they were compiled from");
    if ((config->events & ~ALL_EVENTS) != 0)
        return diag_set(diag, SL_EINVAL, NULL, 0, "events 0x%x (expected bits of at most 0x%x)",
                        config->events, ALL_EVENTS);
    status = check_limit("captures", config->n_files, SL_RUN_FILES_MAX, diag);
    if (status == SL_OK)
        status =
            check_limit("sinks", config->n_sinks + (config->event != NULL), SL_RUN_SINKS_MAX, diag);
    if (status == SL_OK)
        status = check_limit("databases", config->n_databases, SL_RUN_DATABASES_MAX, diag);
    return status;
}

/* All that sl_run_close clears. */
static void init(struct sl_run *run, const struct sl_run_config *config)
{
    run->config = *config;
    if (run->config.devices == NULL)
        run->config.devices = "auto";
    run_notices_init(&run->notices, &run->config);
    run_source_init(&run->source, &run->config, &run->notices);
    run_redundancy_init(&run->redundancy, &run->config);
    run_sinks_init(&run->sinks, &run->config);
    pthread_mutex_init(&run->lock, NULL);
    sl_pipeline_config_init(&run->pipeline);
    run_set_steps(run);
}

enum sl_status sl_run_create(struct sl_run **run, const struct sl_run_config *config,
                             struct sl_diag *diag)
{
    struct sl_run *made = calloc(1, sizeof *made);
    enum sl_status status;

    *run = made;
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a run");
    init(made, config);
    made->measures.created_ns = clock_ns();
    status = check(&made->config, diag);
    if (status == SL_OK)
        status = sl_pipeline_monitor_create(&made->monitor, diag);
    if (status == SL_OK)
        status = run_variants_parse(&made->variants, &made->config, diag);
    if (status == SL_OK)
        run_probe_devices(made);
    return status;
}

void sl_run_close(struct sl_run *run)
{
    if (run == NULL)
        return;
    run_join_prober(run);
    run_pinning_end(&run->pinning);
    run_batch_free(run->batches, &run->source);
    run_sinks_clear(&run->sinks);
    run_counts_clear(&run->counts);
    run_evidence_close(run->evidence);
    run_filestore_close(run->filestore);
    run_redundancy_clear(&run->redundancy);
    run_viruses_free(run->viruses);
    run_policy_release(run->policy);
    run_apps_free(run->apps);
    run_streams_free(run->streams);
    run_source_clear(&run->source);
    sl_state_free(run->state);
    sl_pipeline_monitor_free(run->monitor);
    run_notices_clear(&run->notices);
    pthread_mutex_destroy(&run->lock);
    free(run);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The engines in this order: the rules' matcher is the last, but for one that joins it. */
static enum sl_status build(struct sl_run *run, struct run_policy *policy,
                            const struct run_policy_build *parts, struct sl_diag *diag)
{
    enum sl_status status = run_policy_build_header(policy, parts, diag);

    if (status == SL_OK)
        status = run_redundancy_open(&run->redundancy, &run->variants, &run->pipeline, diag);
    if (status == SL_OK)
        status = run_policy_build_viruses(policy, parts, diag);
    if (status == SL_OK)
        status = run_policy_build_names(policy, parts, diag);
    return status == SL_OK ? run_policy_build_matcher(policy, parts, diag) : status;
}

static enum sl_status open_sinks(struct sl_run *run, struct sl_diag *diag)
{
    const enum sl_status status = run_sinks_open(&run->sinks, &run->config, diag);

    if (status != SL_OK || run->config.stats_seconds == 0 || run_sinks_take_stats(&run->sinks))
        return status;
    return diag_set(diag, SL_EINVAL, NULL, 0,
                    "counters of every %u s are to be written, and no sink takes them (expected "
                    "eve:FILE or console)",
                    run->config.stats_seconds);
}

static enum sl_status open_tables(struct sl_run *run, struct run_policy *policy,
                                  struct sl_diag *diag)
{
    const struct run_policy_build parts = {&run->config, &run->variants, &run->notices,
                                           &run->pipeline};
    policy->reports_dns = policy->finds_app = (run->config.events >> SL_EVENT_DNS_MESSAGE & 1) != 0;
    enum sl_status status = run_policy_load_rules(policy, &parts, diag);

    if (status == SL_OK)
        status = run_choose_devices(run, diag);
    if (status == SL_OK)
        status = build(run, policy, &parts, diag);
    run_policy_choose_apps(policy, &run->config, run_source_reports_flows(&run->source));
    if (status == SL_OK && policy->apps.has_files)
        status = run_policy_check_files(policy, diag);
    if (status == SL_OK)
        status = run_counts_open(&run->counts, policy, diag);
    if (status == SL_OK)
        status = open_sinks(run, diag);
    if (status == SL_OK && run->config.evidence_folder != NULL)
        status =
            run_evidence_open(&run->evidence, run->config.evidence_folder, EVIDENCE_FILES, diag);
    if (status == SL_OK && run->config.filestore_folder != NULL)
        status = run_filestore_open(&run->filestore, run->config.filestore_folder,
                                    policy->rules == NULL, FILESTORE_FILES, &run->notices, diag);
    if (status == SL_OK)
        status = run_try_devices(run, &parts, policy, diag);
    if (status == SL_OK)
        status = run_flows_open(&run->source, &run->state, policy, diag);
    if (status == SL_OK && run_policy_has_streams(policy))
        status = run_streams_create(&run->streams, &run->source, policy->joins_names,
                                    run_policy_takes_parts(policy), diag);
    if (status == SL_OK && policy->joins_viruses)
        status = run_viruses_create(&run->viruses, run->streams, policy->database, diag);
    if (status == SL_OK && policy->reads_apps)
        status = run_apps_create(&run->apps, run->source.flows, &policy->apps, diag);
    return status;
}

enum sl_status sl_run_open(struct sl_run *run, struct sl_diag *diag)
{
    struct sl_diag unwanted;

    if (diag == NULL)
        diag = &unwanted;
    if (run->opened)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the run is open already");
    run->opened = true;
    enum sl_status status = run_source_open(&run->source, diag);
    own_checksums_open(&run->own_checksums, &run->config);
    if (status != SL_OK)
        return status;
    struct run_policy *policy = run_policy_create();
    if (policy == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for tables");
    status = open_tables(run, policy, diag);
    run->ready = status == SL_OK;
    if (run->ready)
        run_set_shards(run, policy);
    pthread_mutex_lock(&run->lock);
    run->policy = policy;
    pthread_mutex_unlock(&run->lock);
    return status;
}
