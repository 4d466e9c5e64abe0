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
    name_events_free(digest->name_events);
    community_ids_free(digest->community_ids);
    dns_messages_free(&digest->messages);
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
                                   const struct stream_batch *streams, const struct app_batch *apps,
                                   const struct sl_hits *hits, struct sl_diag *diag)
{
    const bool sees = digest->policy->sees_streams;

    if (digest->evaluator != NULL) {
        sl_evaluator_set_streams(digest->evaluator, sees ? streams->of_item : NULL);
        sl_evaluator_set_stream_facts(digest->evaluator, sees ? streams->facts : NULL);
        sl_evaluator_set_messages(digest->evaluator, apps->message, apps->n);
    }
    enum sl_status status = evaluate_rules(digest, batch, hits, diag);

    if (status == SL_OK && digest->policy->reports_dns)
        status = dns_messages_list(&digest->messages, batch, diag);
    if (status != SL_OK || digest->scan == NULL)
        return status;
    return payload_scan_run(digest->scan, batch, &hits[digest->policy->virus_engine], diag);
}

size_t run_digest_mark(const struct run_digest *digest, const struct sl_batch *batch,
                       struct sl_flow_mark *mark)
{
    const size_t n_viruses = payload_scan_count(digest->scan);
    const struct sl_candidates *held = NULL;
    size_t a = 0, v = 0, h = 0, n = 0, n_held = 0;

    if (digest->evaluator != NULL)
        held = sl_evaluator_candidates(digest->evaluator, &n_held);
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const bool waits = h < n_held && held[h].item == i;
        const size_t before_v = v;

        a += waits ? held[h++].n : 0;
        const size_t before_a = a;
        while (a < digest->n_alerts && digest->alerts[a].item == i)
            a++;
        while (v < n_viruses && payload_scan_item(digest->scan, v) == i)
            v++;
        const bool alerted = a != before_a || v != before_v;
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
