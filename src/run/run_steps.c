/* SPDX-License-Identifier: MIT */
/* The steps of a batch through a run, as the pipeline calls them. */
#include "base/clock.h"
#include "base/diag.h"
#include "detect/match/match_class.h"
#include "run_internal.h"
#include "sluice/app.h"

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sl_run *run = user;
    struct run_batch *mine = run_batch_of(&run->batches, batch, diag);
    enum sl_status status = SL_OK;

    if (mine == NULL)
        return SL_ENOMEM;
    if (!run->started) {
        run->measures.first_ns = clock_ns();
        status = run_redundancy_begin(&run->redundancy, run->stats.n_batches, diag);
    }
    run->started = true;
    if (status != SL_OK)
        return status;
    run_policy_release(mine->policy); /* of a batch that was filled with nothing */
    mine->policy = run_take_policy(run);
    return source_batch_fill(&mine->source, &run->source, batch, diag);
}

static enum sl_status prepare(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct run_batch *mine = batch->filler;

    return source_batch_prepare(&mine->source, &((struct sl_run *)user)->source, batch, diag);
}

static enum sl_status order(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sl_run *run = user;
    struct run_batch *mine = batch->filler;

    return source_batch_order(&mine->source, &run->source, batch, diag);
}

static enum sl_status arrange(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    const struct sl_run *run = user;
    struct run_batch *mine = batch->filler;

    source_batch_arrange(&mine->source, &run->source, batch);
    return run->streams != NULL
               ? stream_batch_begin(&mine->streams, batch,
                                    run_policy_takes_parts(mine->policy) ? &mine->policy->seams
                                                                         : NULL,
                                    mine->policy->asks_stream_facts, run->viruses != NULL,
                                    run->streams->n_shards, diag)
               : SL_OK;
}

static void deal(void *user, struct sl_batch *batch)
{
    const struct run_batch *mine = batch->filler;

    source_batch_deal(&mine->source, &((struct sl_run *)user)->source, batch);
}

/* NULL: no checksum of segments is checked. */
static const struct sl_header_table *checksums(const struct sl_run *run,
                                               const struct run_policy *policy)
{
    return (run->config.header.checks & SL_HEADER_CHECKSUMS) != 0 ? policy->header : NULL;
}

static void collect(void *user, struct sl_batch *batch, uint32_t shard)
{
    struct sl_run *run = user;
    struct run_batch *mine = batch->filler;

    struct app_collecting apps = {0};

    source_batch_collect(&mine->source, &run->source, batch, shard);
    if (run->apps != NULL)
        apps = app_batch_begin(&mine->apps, run->apps, run->streams->of_flow[shard], batch, shard);
    if (run->streams != NULL)
        stream_batch_collect(&mine->streams, run->streams, batch, mine->source.keys,
                             checksums(run, mine->policy), run->apps != NULL ? &apps : NULL, shard);
    if (run->apps != NULL)
        app_batch_collected(&apps);
}

static void apply(void *user, struct sl_batch *batch)
{
    const struct sl_run *run = user;
    struct run_source *source = &((struct sl_run *)user)->source;
    struct run_batch *mine = batch->filler;

    source_batch_apply(&mine->source, source, batch);
    if (run->streams != NULL)
        stream_batch_apply(&mine->streams, run->streams->n_shards);
    if (run->apps != NULL)
        app_batch_apply(&mine->apps, batch, run->apps->n_shards);
    if (run->streams != NULL && (mine->policy->sees_streams || mine->policy->hears)) {
        stream_batch_list_ended(&mine->streams, run->streams->n_shards);
        app_batch_stand_in(&mine->apps, mine->streams.ended, mine->streams.n_ended, source->totals);
    }
    if (mine->policy->finds_app || run_source_reports_flows(source))
        sl_app_find(batch);
    if (mine->policy->wanted != NULL)
        match_class_note(batch, 0);
}

/* Names of datagrams come first, then items of streams, those of flows that ended behind the
 * others, then values of messages. */
enum { MADE_NAMES, MADE_STREAMS, MADE_LATE, MADE_VALUES, N_MADE };

#define MADE_AT 61 /* the bit from which on a number says which of them is next */

static uint64_t make_some(const struct sl_run *run, const struct sl_batch *batch,
                          struct sl_batch *to, uint64_t which, uint64_t from)
{
    const struct run_batch *mine = batch->filler;
    const struct run_policy *policy = mine->policy;
    const struct sl_late *late = &mine->apps.rules.late;

    if (which == MADE_NAMES)
        return sl_app_make(batch, to, policy->buffers, from);
    if (which == MADE_STREAMS)
        return run_policy_takes_parts(policy)
                   ? run_streams_make(mine->streams.of_item, mine->streams.makes, batch,
                                      &policy->seams, 0, to, from)
                   : UINT64_MAX;
    if (which == MADE_LATE)
        return late->batch != NULL ? run_streams_make(late->streams, NULL, late->batch,
                                                      &policy->seams, batch->n_items, to, from)
                                   : UINT64_MAX;
    return run->apps != NULL
               ? app_batch_make(&mine->apps, to, batch->n_items, policy->buffers, from)
               : UINT64_MAX;
}

static uint64_t make_all(void *user, const struct sl_batch *batch, struct sl_batch *to,
                         uint64_t from)
{
    const uint64_t mask = (UINT64_C(1) << MADE_AT) - 1;

    for (uint64_t which = from >> MADE_AT; which < N_MADE; which++, from = 0) {
        const uint64_t next = make_some(user, batch, to, which, from & mask);

        if (next != UINT64_MAX)
            return which << MADE_AT | next;
    }
    return UINT64_MAX;
}

static uint64_t make(void *user, const struct sl_batch *batch, struct sl_batch *to, uint64_t from)
{
    const struct run_batch *mine = batch->filler;
    const uint64_t next = make_all(user, batch, to, from);

    if (mine->policy->wanted != NULL)
        match_class_note(to, to->n_items);
    return next;
}

static void sift(void *user, const struct sl_batch *batch, uint32_t e, struct sl_hits *hits)
{
    const struct run_batch *mine = batch->filler;
    const struct run_policy *policy = mine->policy;

    (void)user;
    if ((int)e == policy->matcher_engine && policy->rules != NULL)
        sl_rules_sift(policy->rules, batch, hits);
}

/* The batch's digest, for the policy that it holds. */
static enum sl_status digest_of(const struct sl_run *run, struct run_batch *mine,
                                struct sl_diag *diag)
{
    if (mine->digest != NULL && mine->digest->policy == mine->policy)
        return SL_OK;
    run_digest_free(mine->digest);
    return run_digest_create(&mine->digest, mine->policy, &run->sinks, diag);
}

static enum sl_status digest(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag)
{
    struct sl_run *run = user;
    struct run_batch *mine = batch->filler;
    const struct run_seen seen = {mine->streams.of_item, mine->streams.facts, &mine->apps};
    enum sl_status status = digest_of(run, mine, diag);

    if (status == SL_OK && (mine->streams.no_memory || mine->apps.no_memory))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the streams of a batch");
    if (status == SL_OK)
        status = run_digest_evaluate(mine->digest, batch, &seen, hits, diag);
    if (status == SL_OK && mine->policy->joins_names) {
        mine->digest->joined = &mine->streams.names;
        status = name_batch_look_up(&mine->streams.names, batch, &hits[mine->policy->names_engine],
                                    mine->policy->watch, run->streams->n_shards, diag);
    }
    if (status == SL_OK && !run_digest_mark_late(mine->digest))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for flows that end in a batch");
    if (status == SL_OK && run->source.settles)
        run_flows_mark(mine->digest, run->state, batch, &mine->source);
    if (status == SL_OK)
        status = run_redundancy_digest(&run->redundancy, &mine->savings, batch, hits, diag);
    return status;
}

static void settle(void *user, struct sl_batch *batch, const struct sl_hits *hits, uint32_t shard)
{
    struct sl_run *run = user;
    struct run_batch *mine = batch->filler;

    (void)hits;
    if (run->viruses != NULL)
        virus_batch_settle(&mine->viruses, run->viruses, &mine->streams, mine->digest->scan, batch,
                           shard);
    if (run->source.settles)
        run_flows_settle(mine->digest, run->state, &mine->source, &run->source,
                         &mine->viruses.shard[shard], shard);
    run_redundancy_settle(&run->redundancy, &mine->savings, batch, shard, run->pipeline.n_shards);
}

/* Once a batch, before its alerts are used. */
static void conclude(const struct sl_run *run, struct run_digest *digest)
{
    if (run->state == NULL)
        return;
    digest->tagged = sl_evaluator_tagged(digest->evaluator, &digest->n_tagged);
    sl_evaluator_conclude(digest->evaluator, &digest->alerts, &digest->n_alerts);
}

static void decide(void *user, struct sl_batch *batch, const struct sl_hits *hits)
{
    struct sl_run *run = user;
    const struct run_batch *mine = batch->filler;

    (void)hits;
    if (run->state != NULL && sl_rules_decide(mine->policy->rules))
        run_flows_decide(mine->digest, run->state, batch, &mine->source, &run->source);
    if (run->filestore == NULL)
        return;
    run_filestore_want(run->filestore, mine->digest);
    conclude(run, mine->digest);
    run_filestore_take(run->filestore, mine->digest);
}

static enum sl_status report(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag)
{
    struct sl_run *run = user;
    const struct run_batch *mine = batch->filler;
    enum sl_status status = SL_OK;

    run_redundancy_report(&run->redundancy, &mine->savings, batch);
    if (run->viruses != NULL)
        status =
            virus_batch_report(&mine->viruses, mine->digest->scan, run->streams->n_shards, diag);
    if (status == SL_OK && run_source_reports_flows(&run->source))
        status = source_batch_sort_ends(&mine->source, &run->source, diag);
    if (status != SL_OK)
        return status;
    if (run->filestore == NULL)
        conclude(run, mine->digest);
    const struct batch_events events =
        batch_events_of(&run->source, batch, hits, mine->digest, mine->source.keys, &mine->apps);
    return run_sinks_write_ahead(&run->sinks, mine->digest->held, &events, diag);
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct sl_run *run = user;
    struct run_batch *mine = batch->filler;
    const struct batch_events events =
        batch_events_of(&run->source, batch, hits, mine->digest, mine->source.keys, &mine->apps);
    enum sl_status status = run_redundancy_drain(&run->redundancy, &mine->savings, batch, diag);

    if (status == SL_OK)
        status = run_counts_add(&run->counts, &events, diag);
    if (status == SL_OK && run->evidence != NULL)
        status = run_evidence_take(run->evidence, batch, mine->digest, diag);
    if (run->streams != NULL)
        stream_batch_count(&mine->streams, run->streams);
    if (run->apps != NULL)
        app_batch_count(&mine->apps, run->apps);
    own_checksums_add(&run->own_checksums, &events, &run->config, &run->notices);
    if (status == SL_OK)
        status = run_sinks_write(&run->sinks, mine->digest->held, &events, diag);
    if (run->streams != NULL)
        stream_batch_release(&mine->streams, run->streams->n_shards);
    run_policy_release(mine->policy);
    mine->policy = NULL;
    return status;
}

static void dropped(void *user, const struct sl_pipeline_device *device)
{
    struct sl_run *run = user;
    struct sl_diag diag = {0};
    const struct sl_run_notice notice = {
        .kind = SL_RUN_DEVICE_DROPPED, .diag = &diag, .device = device};

    (void)diag_set(&diag, SL_OK, NULL, 0,
                   "cuda:%d is dropped: %s; batches to be done again elsewhere: %llu",
                   device->device.index, device->why, (unsigned long long)device->redone);
    run_notices_send(&run->notices, &notice);
}

void run_set_steps(struct sl_run *run)
{
    struct sl_pipeline_config *pipeline = &run->pipeline;
    uint64_t len;

    pipeline->fill = fill;
    pipeline->prepare = prepare;
    pipeline->order = order;
    pipeline->arrange = arrange;
    pipeline->deal = deal;
    pipeline->collect = collect;
    pipeline->apply = apply;
    pipeline->make = make;
    pipeline->sift = sift;
    pipeline->digest = digest;
    pipeline->report = report;
    pipeline->drain = drain;
    pipeline->dropped = dropped;
    pipeline->user = run;
    pipeline->fill_anywhere = run_source_is_files(&run->config, &len);
    pipeline->latency = run->config.max_latency_ns != 0;
}

void run_set_shards(struct sl_run *run, const struct run_policy *policy)
{
    run->pipeline.n_shards = sl_flow_n_shards(run->source.flows);
    const bool settles =
        run->source.settles || run->redundancy.n_samplers != 0 || run->viruses != NULL;

    run->pipeline.settle = settles ? settle : NULL;
    const bool decides = run->state != NULL && sl_rules_decide(policy->rules);

    run->pipeline.decide = decides || run->filestore != NULL ? decide : NULL;
}
