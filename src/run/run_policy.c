/* SPDX-License-Identifier: MIT */
#include "run_policy.h"

#include <stdlib.h>

#include "base/diag.h"
#include "detect/match/class_matcher.h"
#include "engines/seam/seam_table.h"

struct run_policy *run_policy_create(void)
{
    struct run_policy *policy = calloc(1, sizeof *policy);

    if (policy == NULL)
        return NULL;
    atomic_init(&policy->holders, 1);
    policy->header_engine = policy->matcher_engine = -1;
    policy->virus_engine = policy->names_engine = -1;
    return policy;
}

struct run_policy *run_policy_hold(struct run_policy *policy)
{
    atomic_fetch_add_explicit(&policy->holders, 1, memory_order_relaxed);
    return policy;
}

void run_policy_release(struct run_policy *policy)
{
    if (policy == NULL || atomic_fetch_sub(&policy->holders, 1) != 1)
        return;
    sl_packet_names_watch_free(policy->watch);
    sl_names_free(policy->names);
    sl_clamav_free(policy->database);
    class_matcher_free(policy->classes);
    free(policy->wanted);
    seam_table_free(policy->seam_table);
    sl_mpm_free(policy->matcher);
    if (policy->owns_rules)
        sl_rules_free(policy->rules);
    sl_header_free(policy->header);
    free(policy);
}

int run_add_engine(struct sl_pipeline_config *pipeline, const struct sl_engine *engine,
                   const void *table)
{
    pipeline->engines[pipeline->n_engines] =
        (struct sl_pipeline_engine){.engine = engine, .table = table};
    return (int)pipeline->n_engines++;
}

enum sl_status run_policy_build_header(struct run_policy *policy,
                                       const struct run_policy_build *build, struct sl_diag *diag)
{
    enum sl_status status;

    if (!build->config->check_headers)
        return SL_OK;
    status = sl_header_build(&policy->header, &build->config->header, diag);
    if (status == SL_OK)
        policy->header_engine = run_add_engine(build->pipeline, sl_header_engine(), policy->header);
    return status;
}
