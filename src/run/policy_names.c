/* SPDX-License-Identifier: MIT */
/* The table of names of a policy. */
#include "base/diag.h"
#include "run_policy.h"

static void send_ignored(struct run_notices *notices, const struct sl_names *names)
{
    struct sl_diag diag = {0};
    const struct sl_run_notice notice = {
        .kind = SL_RUN_NAMES_IGNORED, .diag = &diag, .names = names};
    struct sl_names_count count;

    sl_names_count(names, &count);
    if (count.ignored + count.skipped == 0)
        return;
    (void)diag_set(&diag, SL_OK, NULL, 0,
                   "%llu of %llu lines of tables of names are ignored, %llu skipped",
                   (unsigned long long)count.ignored, (unsigned long long)count.lines,
                   (unsigned long long)count.skipped);
    run_notices_send(notices, &notice);
}

enum sl_status run_policy_build_names(struct run_policy *policy,
                                      const struct run_policy_build *build, struct sl_diag *diag)
{
    struct sl_names_config config = build->config->names;
    enum sl_status status;

    if (config.n_files == 0)
        return SL_OK;
    if (build->variants->plane[0] != '\0')
        config.plane = build->variants->plane;
    status = sl_names_open_files(&policy->names, &config, diag);
    if (status != SL_OK)
        return status;
    send_ignored(build->notices, policy->names);
    policy->joins_names = build->config->stream_memory != 0;
    status = sl_packet_names_watch_create(&policy->watch, policy->names, diag);
    if (status == SL_OK)
        policy->names_engine =
            run_add_engine(build->pipeline, sl_packet_names_engine(), policy->watch);
    return status;
}
