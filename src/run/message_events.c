/* SPDX-License-Identifier: MIT */
#include "message_events.h"

#include <stdlib.h>

#include "base/diag.h"
#include "late_packets.h"
#include "run_internal.h"

enum { LATE_ITEMS_MAX = 4096 }; /* packets a batch */

/* The messages of flows at the end: a pipeline of its own evaluates rules on them, and writes
 * events. */
struct finish {
    struct sl_run *run;
    struct run_policy *whole;  /* of the run, held */
    struct run_policy *policy; /* its rules, without other engines */
    struct run_digest *digest;
    struct sl_flow_keys *keys; /* whose ends are the flows */
    struct stream_batch *streams;
    struct app_batch *said;
    struct late_packets packets;
    uint32_t next;          /* the first of their parts that is not filled */
    struct app_batch heard; /* the messages that rules see of the batch that is drained */
    struct sl_flow_mark mark[LATE_ITEMS_MAX];
};

/* ---- the steps of a batch -------------------------------------------------------------------- */

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct finish *finish = user;
    struct late_part *const part = &finish->packets.part[finish->next++];

    if (finish->run->source.totals && batch->total == NULL) {
        const enum sl_status status = sl_batch_reserve_totals(batch, diag);

        if (status != SL_OK)
            return status;
    }
    batch->filler = part;
    late_packets_fill(part, batch);
    return finish->next < finish->packets.n_parts ? SL_OK : SL_END;
}

/* Items of streams come first, then values of messages. */
#define OF_MESSAGES (UINT64_C(1) << 62)

static uint64_t make(void *user, const struct sl_batch *batch, struct sl_batch *to, uint64_t from)
{
    const struct finish *finish = user;
    const struct late_part *const part = batch->filler;
    const struct app_batch said = {.message = part->message, .n = part->n};
    uint64_t next = UINT64_MAX;

    if ((from & OF_MESSAGES) == 0)
        next = finish->policy->sees_streams ? run_streams_make(part->stream, NULL, batch,
                                                               &finish->policy->seams, 0, to, from)
                                            : UINT64_MAX;
    if (next != UINT64_MAX)
        return next;
    next = app_batch_make(&said, to, batch->n_items, finish->policy->buffers,
                          (from & OF_MESSAGES) != 0 ? from & ~OF_MESSAGES : 0);
    return next != UINT64_MAX ? next | OF_MESSAGES : UINT64_MAX;
}

/* In the order of flows, then of sides. */
static void settle(struct finish *finish, const struct sl_batch *batch)
{
    const struct late_part *const part = batch->filler;
    const struct run_policy *const policy = finish->policy;
    const size_t n = run_digest_mark(finish->digest, batch, finish->mark);
    struct sl_run *const run = finish->run;

    for (size_t i = 0; i < n; i++)
        run_flows_settle_end(finish->digest, run->state, run->source.flows, finish->keys,
                             part->side[finish->mark[i].item].flow, &finish->mark[i]);
    if (run->state != NULL && policy->rules != NULL && sl_rules_decide(policy->rules))
        sl_state_decide(run->state, finish->digest->evaluator, batch);
}

/* The decisions take effect. */
static void conclude(struct finish *finish)
{
    const struct sl_run *const run = finish->run;

    run_filestore_want(run->filestore, finish->digest);
    if (run->state != NULL && finish->digest->evaluator != NULL)
        sl_evaluator_conclude(finish->digest->evaluator, &finish->digest->alerts,
                              &finish->digest->n_alerts);
    if (run->filestore != NULL)
        run_filestore_take(run->filestore, finish->digest);
}

static enum sl_status evaluate(struct finish *finish, const struct sl_batch *batch,
                               const struct sl_hits *hits, struct sl_diag *diag)
{
    const struct late_part *const part = batch->filler;
    const struct run_seen seen = {part->stream, part->facts, &finish->heard};

    finish->heard.message = part->message;
    finish->heard.n = part->n;
    const enum sl_status status = run_digest_evaluate(finish->digest, batch, &seen, hits, diag);

    if (status == SL_OK && finish->run->source.settles)
        settle(finish, batch);
    if (status == SL_OK)
        conclude(finish);
    return status;
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct finish *finish = user;
    struct sl_run *const run = finish->run;
    const struct late_part *const part = batch->filler;
    const struct app_batch said = {.message = part->message, .late = part->late, .n_late = part->n};
    enum sl_status status = evaluate(finish, batch, hits, diag);

    if (status != SL_OK)
        return status;
    const struct batch_events events =
        batch_events_of(&run->source, batch, hits, finish->digest, finish->keys, &said);
    status = run_counts_add(&run->counts, &events, diag);
    if (status == SL_OK && run->evidence != NULL)
        status = run_evidence_take_late(run->evidence, batch, finish->digest, diag);
    return status == SL_OK ? run_sinks_write(&run->sinks, finish->digest->held, &events, diag)
                           : status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Rules, where they inspect messages or streams, and their matcher. */
static enum sl_status choose_policy(struct finish *finish, struct sl_pipeline_config *pipeline,
                                    struct sl_diag *diag)
{
    const struct run_policy *const whole = finish->whole;
    struct run_policy *const policy = finish->policy = run_policy_create();

    if (policy == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what flows say at the end");
    policy->file_database = whole->file_database;
    if (!whole->hears && !whole->sees_streams)
        return SL_OK;
    policy->rules = whole->rules;
    policy->sees_streams = whole->sees_streams;
    policy->seams = whole->seams;
    policy->buffers = whole->buffers;
    if (whole->matcher_engine < 0)
        return SL_OK;
    policy->matcher_engine =
        run_add_engine(pipeline, sl_mpm_engine(whole->matcher), whole->matcher);
    pipeline->engines[policy->matcher_engine].scans_made = true;
    return SL_OK;
}

static enum sl_status open_pipeline(struct finish *finish, struct sl_pipeline_config *pipeline,
                                    struct sl_diag *diag)
{
    char why[SL_WHY_LEN];

    sl_pipeline_config_init(pipeline);
    pipeline->n_devices = 1;
    pipeline->batch_len = LATE_PACKET_LEN * LATE_ITEMS_MAX;
    pipeline->batch_items = LATE_ITEMS_MAX;
    pipeline->n_workers = finish->run->pipeline.n_workers;
    pipeline->fill = fill;
    pipeline->make = make;
    pipeline->drain = drain;
    pipeline->user = finish;
    return sl_device_choose(&pipeline->devices[0], "cpu", why, diag);
}

/* Late messages become events with the first packet of their flow. */
static bool list_packets(struct finish *finish)
{
    const struct late_said said = {finish->streams->ended, finish->streams->n_ended,
                                   finish->said->late, finish->said->n_late};

    if (!late_packets_list(&finish->packets, &said, LATE_ITEMS_MAX))
        return false;
    for (uint32_t p = 0; p < finish->packets.n_parts; p++) {
        const struct late_part *const part = &finish->packets.part[p];

        for (uint32_t i = 0, item = 0; i < part->n; i++) {
            while (part->side[item].flow != part->late[i].flow)
                item++;
            part->late[i].message.item = item;
        }
    }
    return true;
}

static enum sl_status write_messages(struct finish *finish, struct sl_diag *diag)
{
    struct sl_pipeline_config pipeline;
    struct sl_pipeline_stats stats;
    enum sl_status status = open_pipeline(finish, &pipeline, diag);

    if (status == SL_OK)
        status = choose_policy(finish, &pipeline, diag);
    if (status == SL_OK)
        status = run_digest_create(&finish->digest, finish->policy, &finish->run->sinks, diag);
    if (status == SL_OK && finish->digest->evaluator != NULL)
        sl_evaluator_see_messages(finish->digest->evaluator);
    return status == SL_OK ? sl_pipeline_run(&pipeline, &stats, diag) : status;
}

static enum sl_status open_finish(struct finish *finish, struct sl_run *run, struct sl_diag *diag)
{
    finish->run = run;
    finish->whole = run_take_policy(run);
    finish->streams = calloc(1, sizeof *finish->streams);
    finish->said = calloc(1, sizeof *finish->said);
    if (finish->streams == NULL || finish->said == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what flows say at the end");
    return sl_flow_keys_create(&finish->keys, 1, diag);
}

static void close_finish(struct finish *finish)
{
    run_digest_free(finish->digest);
    late_packets_clear(&finish->packets);
    if (finish->said != NULL)
        app_batch_clear(finish->said);
    free(finish->said);
    if (finish->streams != NULL)
        stream_batch_clear(finish->streams);
    free(finish->streams);
    sl_flow_keys_free(finish->keys);
    run_policy_release(finish->policy);
    run_policy_release(finish->whole);
}

enum sl_status message_events_finish(struct sl_run *run, struct sl_diag *diag)
{
    struct finish *finish = calloc(1, sizeof *finish);

    if (finish == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what flows say at the end");
    enum sl_status status = open_finish(finish, run, diag);

    if (status == SL_OK) {
        sl_flow_table_finish(run->source.flows, finish->keys);
        status = run_streams_finish(run->streams, run->apps, finish->keys, finish->streams,
                                    finish->said, diag);
    }
    if (status == SL_OK)
        run_viruses_finish(run->viruses, finish->streams);
    if (status == SL_OK && !list_packets(finish))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for what flows say at the end");
    if (status == SL_OK && finish->packets.n_parts != 0)
        status = write_messages(finish, diag);
    if (finish->said != NULL && run->apps != NULL)
        app_batch_count(finish->said, run->apps);
    close_finish(finish);
    free(finish);
    return status;
}
