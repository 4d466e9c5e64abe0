/* SPDX-License-Identifier: MIT */
#include "run_digest.h"

#include <stdlib.h>

#include "app/dns.h"
#include "base/diag.h"
#include "run_sinks.h"

static enum sl_status fill(struct run_digest *digest, const struct run_sinks *sinks,
                           struct sl_diag *diag)
{
    const struct run_policy *policy = digest->policy;
    enum sl_status status = SL_OK;

    if (policy->rules != NULL)
        status = sl_evaluator_create(&digest->evaluator, policy->rules, diag);
    if (status == SL_OK)
        status = payload_scan_create(&digest->scan, policy->database, diag);
    if (status == SL_OK)
        status = file_scan_create(&digest->file_scan, policy->file_database, diag);
    if (status == SL_OK && policy->names != NULL) {
        digest->name_events = name_events_create(policy->names);
        if (digest->name_events == NULL)
            status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the names of a batch");
    }
    if (status == SL_OK && run_sinks_show_community_ids(sinks))
        status = community_ids_create(&digest->community_ids, diag);
    return status == SL_OK ? run_sinks_hold(sinks, digest->held, diag) : status;
}

enum sl_status run_digest_create(struct run_digest **digest, struct run_policy *policy,
                                 const struct run_sinks *sinks, struct sl_diag *diag)
{
    struct run_digest *made = calloc(1, sizeof *made);

    *digest = NULL;
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the events of a batch");
    made->policy = run_policy_hold(policy);
    const enum sl_status status = fill(made, sinks, diag);
    if (status == SL_OK)
        *digest = made;
    else
        run_digest_free(made);
    return status;
}

void run_digest_free(struct run_digest *digest)
{
    if (digest == NULL)
        return;
    sl_evaluator_free(digest->evaluator);
    payload_scan_free(digest->scan);
    file_scan_free(digest->file_scan);
    name_events_free(digest->name_events);
    community_ids_free(digest->community_ids);
    dns_messages_free(&digest->messages);
    free(digest->late_mark);
    for (uint32_t i = 0; i < SL_RUN_SINKS_MAX; i++)
        if (sl_sink_close(digest->held[i].sink, NULL, NULL) != SL_OK)
            continue; /* it was full when the run ended */
    run_policy_release(digest->policy);
    free(digest);
}

static enum sl_status evaluate_rules(struct run_digest *digest, const struct sl_batch *batch,
                                     const struct sl_hits *hits, struct sl_diag *diag)
{
    static const struct sl_hits none;
    const int engine = digest->policy->matcher_engine;

    if (digest->evaluator == NULL)
        return SL_OK;
    const enum sl_status status =
        sl_evaluator_run(digest->evaluator, batch, engine < 0 ? &none : &hits[engine],
                         &digest->alerts, &digest->n_alerts);
    return status == SL_OK
               ? SL_OK
               : diag_set(diag, status, NULL, 0, "evaluating rules: %s", sl_status_text(status));
}

enum sl_status run_digest_evaluate(struct run_digest *digest, const struct sl_batch *batch,
                                   const struct run_seen *seen, const struct sl_hits *hits,
                                   struct sl_diag *diag)
{
    const bool sees = digest->policy->sees_streams;
    const struct app_batch *const apps = seen->apps;

    digest->apps = apps;
    if (digest->evaluator != NULL) {
        sl_evaluator_set_streams(digest->evaluator, sees ? seen->parts : NULL);
        sl_evaluator_set_stream_facts(digest->evaluator, sees ? seen->facts : NULL);
        sl_evaluator_set_messages(digest->evaluator, apps->message, apps->n);
        sl_evaluator_set_late(digest->evaluator,
                              apps->rules.late.batch != NULL ? &apps->rules.late : NULL);
    }
    enum sl_status status = evaluate_rules(digest, batch, hits, diag);

    if (status == SL_OK && digest->policy->reports_dns)
        status = dns_messages_list(&digest->messages, batch, diag);
    if (status == SL_OK)
        status = file_scan_run(digest->file_scan, apps, diag);
    if (status != SL_OK || digest->scan == NULL)
        return status;
    return payload_scan_run(digest->scan, batch, &hits[digest->policy->virus_engine],
                            digest->policy->joins_viruses, diag);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static int compare_late_marks(const void *a, const void *b)
{
    const struct late_mark *left = a, *right = b;
    const struct late_flow *l = left->flow, *r = right->flow;

    if (l->shard != r->shard)
        return l->shard < r->shard ? -1 : 1;
    if (l->index != r->index)
        return l->index < r->index ? -1 : 1;
    return left->mark.item < right->mark.item ? -1 : left->mark.item > right->mark.item;
}

/* Flows that ended with a virus in a file. */
static void list_late_viruses(struct run_digest *digest)
{
    const struct app_batch *apps = digest->apps;

    for (uint32_t i = 0; i < apps->n_late; i++)
        if (file_scan_count(&apps->late[i].message) != 0)
            digest->late_mark[digest->n_late_marks++] =
                (struct late_mark){apps->late[i].flow, {.item = UINT32_MAX, .alerted = true}};
}

static void add_late_mark(struct run_digest *digest, uint32_t late, uint32_t call)
{
    struct late_mark *const last =
        digest->n_late_marks != 0 ? &digest->late_mark[digest->n_late_marks - 1] : NULL;

    if (last != NULL && last->mark.item == late)
        return;
    digest->late_mark[digest->n_late_marks++] =
        (struct late_mark){digest->apps->rules.packets.part->side[late].flow,
                           {.item = late, .call = call, .alerted = call == 0}};
}

static void list_late_marks(struct run_digest *digest)
{
    size_t n_held = 0, h = 0;
    const struct sl_candidates *held = sl_evaluator_candidates(digest->evaluator, &n_held);

    for (size_t a = 0; a < digest->n_alerts;) {
        const bool waits = h < n_held && held[h].first == a;
        const uint32_t late = run_digest_late(digest, &digest->alerts[a]);

        if (waits && held[h].late != 0)
            add_late_mark(digest, held[h].late - 1, (uint32_t)h + 1);
        if (!waits && late != SL_ALERT_NO_MESSAGE)
            add_late_mark(digest, late, 0);
        a += waits ? held[h++].n : 1;
    }
}

bool run_digest_mark_late(struct run_digest *digest)
{
    const struct sl_late *late = &digest->apps->rules.late;

    const bool has_rules = late->batch != NULL && digest->evaluator != NULL;
    const uint32_t max = digest->apps->n_late + (has_rules ? late->batch->n_items : 0);

    digest->n_late_marks = 0;
    if (max == 0 || (!has_rules && digest->file_scan == NULL))
        return true;
    if (digest->max_late_marks < max) {
        free(digest->late_mark);
        digest->max_late_marks = max;
        digest->late_mark = malloc(digest->max_late_marks * sizeof *digest->late_mark);
        if (digest->late_mark == NULL) {
            digest->max_late_marks = 0;
            return false;
        }
    }
    if (has_rules)
        list_late_marks(digest);
    list_late_viruses(digest);
    if (digest->n_late_marks > 1)
        qsort(digest->late_mark, digest->n_late_marks, sizeof *digest->late_mark,
              compare_late_marks);
    return true;
}

/* Of an item's alerts and candidates those of flows that ended come first. */
static void skip_late(const struct run_digest *digest, uint32_t item,
                      const struct sl_candidates *held, size_t n_held, size_t *h, size_t *a)
{
    for (;;)
        if (*h < n_held && held[*h].item == item && held[*h].late != 0 && held[*h].first == *a)
            *a += held[(*h)++].n;
        else if (*a < digest->n_alerts && digest->alerts[*a].item == item &&
                 run_digest_late(digest, &digest->alerts[*a]) != SL_ALERT_NO_MESSAGE)
            ++*a;
        else
            return;
}

size_t run_digest_mark(const struct run_digest *digest, const struct sl_batch *batch,
                       struct sl_flow_mark *mark)
{
    const size_t n_viruses = payload_scan_count(digest->scan);
    const struct sl_candidates *held = NULL;
    const struct app_batch *const apps = digest->apps;
    size_t a = 0, v = 0, h = 0, n = 0, n_held = 0;
    uint32_t m = 0;

    if (digest->evaluator != NULL)
        held = sl_evaluator_candidates(digest->evaluator, &n_held);
    for (uint32_t i = 0; i < batch->n_items; i++) {
        skip_late(digest, i, held, n_held, &h, &a);
        const bool waits = h < n_held && held[h].item == i;
        const size_t before_v = v;

        a += waits ? held[h++].n : 0;
        const size_t before_a = a;
        while (a < digest->n_alerts && digest->alerts[a].item == i)
            a++;
        while (v < n_viruses && payload_scan_item(digest->scan, v) == i)
            v++;
        bool alerted = a != before_a || v != before_v;
        for (; m < apps->n && apps->message[m].item <= i; m++)
            alerted |= file_scan_count(&apps->message[m]) != 0;
        const uint8_t app = batch->origin[i].app;
        const bool is_message = dns_has_form(app) && batch->packet[i].protocol == SL_IP_UDP;
        const uint32_t counts = is_message && digest->policy->reports_dns ? CALL_MESSAGE : 0;

        if (waits || alerted || app != 0)
            mark[n++] = (struct sl_flow_mark){.item = i,
                                              .call = (waits ? (uint32_t)h : 0) | counts,
                                              .alerted = alerted,
                                              .app = app};
    }
    return n;
}
