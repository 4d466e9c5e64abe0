/* SPDX-License-Identifier: MIT */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "cli.h"

bool findings_open(struct findings *findings)
{
    struct sl_diag diag = {0};
    struct sl_rules_count count = {0};

    if (findings->rules != NULL)
        sl_rules_count(findings->rules, &count);
    findings->by_signature = calloc(count.loaded + 1, sizeof *findings->by_signature);
    if (findings->by_signature == NULL) {
        cli_error("no memory for %zu signatures", count.loaded);
        return false;
    }
    for (uint32_t i = 0; i < findings->n_sinks; i++) {
        if (sl_sink_open(&findings->sinks[i].sink, findings->sinks[i].spec, &diag) != SL_OK) {
            findings->sinks[i].sink = NULL;
            cli_diag(&diag);
            return false;
        }
    }
    return true;
}

static void describe_packet(struct sl_event *event, const struct findings *findings,
                            const struct sl_batch *batch, uint32_t item)
{
    memset(event, 0, sizeof *event);
    event->origin = batch->origin[item];
    event->source = source_name(findings->source, event->origin.source);
    event->live = findings->source->interface != NULL;
    event->has_tuple = sl_packet_tuple(batch, item, &event->tuple);
    event->payload_len = batch->payload[item].len;
    if (event->payload_len != 0)
        event->payload = batch->bytes + batch->payload[item].offset;
}

static enum sl_status write_event(struct findings *findings, const struct sl_event *event,
                                  struct sl_diag *diag)
{
    for (uint32_t i = 0; i < findings->n_sinks; i++) {
        const enum sl_status status = sl_sink_write(findings->sinks[i].sink, event, diag);
        findings->sinks[i].failed = status != SL_OK;
        if (status != SL_OK)
            return status;
    }
    return SL_OK;
}

static enum sl_status write_anomaly(struct findings *findings, const struct sl_batch *batch,
                                    const struct sl_hit *hit, struct sl_diag *diag)
{
    struct sl_event event;

    describe_packet(&event, findings, batch, hit->item);
    event.kind = SL_EVENT_ANOMALY;
    event.check = (enum sl_header_check)hit->id;
    findings->by_check[hit->id]++;
    findings->n_anomalies++;
    return write_event(findings, &event, diag);
}

static enum sl_status write_alert(struct findings *findings, const struct sl_batch *batch,
                                  const struct sl_alert *alert, struct sl_diag *diag)
{
    struct sl_event event;

    describe_packet(&event, findings, batch, alert->item);
    event.kind = SL_EVENT_ALERT;
    event.signature = sl_rules_signature(findings->rules, alert->signature);
    findings->by_signature[alert->signature]++;
    findings->n_alerts++;
    return write_event(findings, &event, diag);
}

/* Without a sink it is only counted. */
static enum sl_status write_name(struct findings *findings, const struct sl_batch *batch,
                                 const struct sl_hit *hit, struct sl_diag *diag)
{
    struct sl_event event;

    if (findings->n_sinks == 0)
        return run_names_take(findings->names, hit, NULL, diag);
    describe_packet(&event, findings, batch, hit->item);
    const enum sl_status status = run_names_take(findings->names, hit, &event, diag);
    return status == SL_OK ? write_event(findings, &event, diag) : status;
}

/* Evaluates the rules; where the alerts do not fit, makes room and evaluates again. */
static enum sl_status evaluate(struct findings *findings, const struct sl_batch *batch,
                               const struct sl_hits *hits, size_t *n, struct sl_diag *diag)
{
    *n = 0;
    if (findings->rules == NULL)
        return SL_OK;
    for (;;) {
        const enum sl_status status = sl_rules_evaluate(findings->rules, batch, hits,
                                                        findings->alerts, findings->max_alerts, n);
        if (status != SL_EOVERFLOW)
            return status == SL_OK ? SL_OK
                                   : diag_set(diag, status, NULL, 0, "evaluating rules: %s",
                                              sl_status_text(status));
        free(findings->alerts);
        findings->max_alerts = *n + *n / 2;
        findings->alerts = malloc(findings->max_alerts * sizeof *findings->alerts);
        if (findings->alerts == NULL)
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %zu alerts", *n);
    }
}

enum sl_status findings_drain(struct findings *findings, const struct sl_batch *batch,
                              const struct sl_hits *hits, struct sl_diag *diag)
{
    const struct sl_hits none = {0};
    const struct sl_hits *header =
        findings->header_engine < 0 ? &none : &hits[findings->header_engine];
    const struct sl_hits *matcher =
        findings->matcher_engine < 0 ? &none : &hits[findings->matcher_engine];
    const struct sl_hits *names =
        findings->names->engine < 0 ? &none : &hits[findings->names->engine];
    size_t n_alerts, h = 0, a = 0, n = 0;

    enum sl_status status = evaluate(findings, batch, matcher, &n_alerts, diag);

    /* All lists are in item order: merged, so that events come in packet order. */
    run_names_batch(findings->names, batch);
    while (status == SL_OK) {
        const uint32_t of_header = h < header->n ? header->hit[h].item : UINT32_MAX;
        const uint32_t of_alert = a < n_alerts ? findings->alerts[a].item : UINT32_MAX;
        const uint32_t of_name = n < names->n ? names->hit[n].item : UINT32_MAX;

        if (h < header->n && of_header <= of_alert && of_header <= of_name)
            status = write_anomaly(findings, batch, &header->hit[h++], diag);
        else if (a < n_alerts && of_alert <= of_name)
            status = write_alert(findings, batch, &findings->alerts[a++], diag);
        else if (n < names->n)
            status = write_name(findings, batch, &names->hit[n++], diag);
        else
            break;
    }
    for (uint32_t i = 0; findings->flush_each_batch && status == SL_OK && i < findings->n_sinks;
         i++) {
        status = sl_sink_flush(findings->sinks[i].sink, diag);
        findings->sinks[i].failed = status != SL_OK;
    }
    return status;
}

bool findings_close(struct findings *findings)
{
    bool complete = true;

    for (uint32_t i = 0; i < findings->n_sinks; i++) {
        struct sl_diag diag = {0};
        char text[32];

        if (findings->sinks[i].sink == NULL)
            continue;
        const bool was_failed = findings->sinks[i].failed;
        const enum sl_status status =
            sl_sink_close(findings->sinks[i].sink, &findings->sinks[i].written, &diag);
        findings->sinks[i].sink = NULL;
        if (status == SL_OK && !was_failed)
            continue;
        if (!was_failed) /* a failed write has been said already */
            cli_diag(&diag);
        cli_error("%s: %s events were written before that", findings->sinks[i].spec,
                  cli_count(findings->sinks[i].written, text));
        complete = false;
    }
    return complete;
}

void findings_free(struct findings *findings)
{
    (void)findings_close(findings);
    free(findings->alerts);
    free(findings->by_signature);
}
