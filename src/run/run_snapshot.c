/* SPDX-License-Identifier: MIT */
/* A run as other threads see and stop it. */
#include <string.h>

#include "base/clock.h"
#include "run_internal.h"
#include "sluice/version.h"

struct run_policy *run_take_policy(struct sl_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct run_policy *policy = run->policy != NULL ? run_policy_hold(run->policy) : NULL;
    pthread_mutex_unlock(&run->lock);
    return policy;
}

void sl_run_stop(struct sl_run *run)
{
    run_source_stop(&run->source);
}

void sl_run_snapshot(struct sl_run *run, struct sl_stats *stats)
{
    struct run_policy *policy = run_take_policy(run);

    memset(stats, 0, sizeof *stats);
    stats->version = sl_version();
    stats->time_ns = clock_wall_ns();
    pthread_mutex_lock(&run->lock);
    stats->start_ns = run->start_ns;
    stats->uptime_ns = run->begin_ns != 0 ? clock_ns() - run->begin_ns : 0;
    pthread_mutex_unlock(&run->lock);
    run_source_snapshot(&run->source, stats);
    run_counts_snapshot(&run->counts, stats);
    stats->has_state = policy != NULL && run->state != NULL;
    if (stats->has_state)
        sl_state_stats(run->state, &stats->state);
    stats->has_streams = policy != NULL && run->streams != NULL;
    run_streams_snapshot(stats->has_streams ? run->streams : NULL, &stats->streams);
    stats->has_apps = policy != NULL && run->apps != NULL;
    run_apps_snapshot(stats->has_apps ? run->apps : NULL, &stats->apps);
    if (policy != NULL) {
        stats->has_header_checks = policy->header_engine >= 0;
        stats->has_rules = policy->rules != NULL;
        if (stats->has_rules)
            sl_rules_count(policy->rules, &stats->rules);
    }
    run_policy_release(policy);
    if (run->monitor != NULL) /* NULL: sl_run_create has failed before */
        sl_pipeline_snapshot(run->monitor, &stats->pipeline);
}
