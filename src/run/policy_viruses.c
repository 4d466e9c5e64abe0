/* SPDX-License-Identifier: MIT */
/* The virus signatures of a policy. */
#include "base/diag.h"
#include "run_policy.h"
#include "run_streams.h"

static void send_skipped(struct run_notices *notices, const struct sl_clamav_set *set)
{
    struct sl_clamav_count count;
    struct sl_diag diag = {0};
    const struct sl_run_notice notice = {
        .kind = SL_RUN_DATABASES_SKIPPED, .diag = &diag, .skipped = &count};

    sl_clamav_set_count(set, &count);
    if (count.bad + count.skipped == 0)
        return;
    (void)diag_set(&diag, SL_OK, NULL, 0,
                   "%zu wrong lines and %zu signatures that are not supported are left out",
                   count.bad, count.skipped);
    run_notices_send(notices, &notice);
}

enum sl_status run_policy_build_viruses(struct run_policy *policy,
                                        const struct run_policy_build *build, struct sl_diag *diag)
{
    const struct sl_run_config *config = build->config;
    struct sl_clamav_set *set = NULL;
    const struct sl_engine *engine;
    const void *table;
    enum sl_status status;

    if (config->n_databases == 0)
        return SL_OK;
    status = sl_clamav_load_paths(&policy->database, &set, config->databases, config->n_databases,
                                  NULL, build->pipeline->devices[0].kind, diag);
    if (status == SL_OK && set != NULL)
        send_skipped(build->notices, set);
    sl_clamav_set_free(set);
    if (status != SL_OK)
        return status;
    sl_clamav_engine(policy->database, &engine, &table);
    policy->virus_engine = run_add_engine(build->pipeline, engine, table);
    policy->joins_viruses = config->stream_memory != 0;
    policy->seams = (struct run_seams){.len = RUN_SEAM_MAX}; /* they may lie across any place */
    build->pipeline->engines[policy->virus_engine].scans_made = policy->joins_viruses;
    return SL_OK;
}
