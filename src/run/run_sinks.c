/* SPDX-License-Identifier: MIT */
#include "run_sinks.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "cli.h"

/* Text of events that a batch may hold for each sink. What is beyond, drain makes itself: memory
 * stays bounded whatever the traffic. */
enum { HOLD_LEN = 16 << 20 };

/* What digest makes of a batch, for drain. */
struct digest {
    struct digest *next;
    struct sl_evaluator *evaluator; /* NULL: there are no rules */
    const struct sl_alert *alerts;
    size_t n_alerts;
    struct virus_batch *viruses;     /* NULL: payloads are not scanned */
    struct name_teller *teller;      /* NULL: names are not looked up */
    struct sl_sink *held[MAX_SINKS]; /* the first events of the batch; NULL: the sink holds none */
};

bool findings_open(struct findings *findings)
{
    struct sl_diag diag = {0};
    struct sl_rules_count count = {0};

    pthread_mutex_init(&findings->lock, NULL);
    if (findings->rules != NULL)
        sl_rules_count(findings->rules, &count);
    pthread_mutex_init(&findings->sinks_lock, NULL);
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

/* ---- events ---------------------------------------------------------------------------------- */

/* The events of a batch: anomalies, alerts, viruses and names, each in item order, merged into
 * packet order. */
struct events {
    const struct findings *findings;
    const struct sl_batch *batch;
    const struct sl_hits *header;
    const struct sl_alert *alerts;
    size_t n_alerts;
    struct virus_batch *viruses;
    size_t n_viruses;
    const struct sl_hits *names;
    struct name_teller *teller;
    size_t h, a, v, n; /* the next of each */
    bool no_memory;    /* the next one could not be told */
};

static const struct sl_hits no_hits;

static bool looks_names_up(const struct findings *findings)
{
    return findings->names != NULL && findings->names->engine >= 0;
}

static struct events events_of(const struct findings *findings, const struct sl_batch *batch,
                               const struct sl_hits *hits, const struct digest *digest)
{
    return (struct events){
        .findings = findings,
        .batch = batch,
        .header = findings->header_engine < 0 ? &no_hits : &hits[findings->header_engine],
        .alerts = digest->alerts,
        .n_alerts = digest->n_alerts,
        .viruses = digest->viruses,
        .n_viruses = virus_batch_count(digest->viruses),
        .names = looks_names_up(findings) ? &hits[findings->names->engine] : &no_hits,
        .teller = digest->teller,
    };
}

static void describe_packet(struct sl_event *event, const struct events *events, uint32_t item)
{
    const struct sl_batch *batch = events->batch;
    const struct source *source = events->findings->source;

    memset(event, 0, sizeof *event);
    event->origin = batch->origin[item];
    event->source = source_name(source, event->origin.source);
    event->live = source->interface != NULL;
    event->has_tuple = sl_packet_tuple(batch, item, &event->tuple);
    event->payload_len = batch->payload[item].len;
    if (event->payload_len != 0)
        event->payload = batch->bytes + batch->payload[item].offset;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* False: there are no more, or no_memory. */
static bool next_event(struct events *events, struct sl_event *event)
{
    const struct sl_hits *header = events->header, *names = events->names;
    const uint32_t end = events->batch->n_items;
    const uint32_t of_header = events->h < header->n ? header->hit[events->h].item : end;
    const uint32_t of_alert = events->a < events->n_alerts ? events->alerts[events->a].item : end;
    const uint32_t of_virus =
        events->v < events->n_viruses ? virus_batch_item(events->viruses, events->v) : end;
    const uint32_t of_name = events->n < names->n ? names->hit[events->n].item : end;
    const uint32_t first = least(least(of_header, of_alert), least(of_virus, of_name));

    if (first == end)
        return false;
    describe_packet(event, events, first);
    event->kind = of_header == first ? SL_EVENT_ANOMALY : SL_EVENT_ALERT;
    if (of_header == first)
        event->check = sl_header_check_name((enum sl_header_check)header->hit[events->h++].id);
    else if (of_alert == first)
        event->signature =
            sl_rules_signature(events->findings->rules, events->alerts[events->a++].signature);
    else if (of_virus == first)
        event->signature = virus_batch_signature(events->viruses, events->v++);
    else
        events->no_memory =
            !name_teller_tell(events->teller, events->batch, &names->hit[events->n++], event);
    return !events->no_memory;
}

/* ---- digest ---------------------------------------------------------------------------------- */

static void free_digest(struct digest *digest)
{
    sl_evaluator_free(digest->evaluator);
    virus_batch_free(digest->viruses);
    name_teller_free(digest->teller);
    for (uint32_t i = 0; i < MAX_SINKS; i++)
        if (sl_sink_close(digest->held[i], NULL, NULL) != SL_OK)
            continue; /* it was full when the run ended */
    free(digest);
}

static enum sl_status make_digest(struct digest **out, struct findings *findings,
                                  struct sl_diag *diag)
{
    struct digest *made = calloc(1, sizeof *made);
    enum sl_status status = SL_OK;

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the events of a batch");
    if (findings->rules != NULL)
        status = sl_evaluator_create(&made->evaluator, findings->rules, diag);
    if (status == SL_OK)
        status = virus_batch_create(&made->viruses, &findings->virus, diag);
    if (status == SL_OK && looks_names_up(findings)) {
        made->teller = name_teller_create(findings->names->names);
        if (made->teller == NULL)
            status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the names of a batch");
    }
    for (uint32_t i = 0; i < findings->n_sinks && status == SL_OK; i++) {
        status = sl_sink_hold(&made->held[i], findings->sinks[i].sink, HOLD_LEN, diag);
        if (status == SL_EUNSUPPORTED)
            status = SL_OK;
    }
    if (status != SL_OK) {
        free_digest(made);
        return status;
    }
    pthread_mutex_lock(&findings->lock);
    made->next = findings->digests;
    findings->digests = made;
    pthread_mutex_unlock(&findings->lock);
    *out = made;
    return SL_OK;
}

static enum sl_status evaluate(const struct findings *findings, const struct sl_batch *batch,
                               const struct sl_hits *hits, struct digest *digest,
                               struct sl_diag *diag)
{
    const struct sl_hits *matcher =
        findings->matcher_engine < 0 ? &no_hits : &hits[findings->matcher_engine];

    if (digest->evaluator == NULL)
        return SL_OK;
    const enum sl_status status =
        sl_evaluator_run(digest->evaluator, batch, matcher, &digest->alerts, &digest->n_alerts);
    return status == SL_OK
               ? SL_OK
               : diag_set(diag, status, NULL, 0, "evaluating rules: %s", sl_status_text(status));
}

/* Writes a batch's events behind the first `skip`. */
static enum sl_status write_events(struct sl_sink *sink, struct events events, uint64_t skip,
                                   struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    struct sl_event event;

    if (events.teller != NULL)
        name_teller_begin(events.teller);
    while (status == SL_OK && next_event(&events, &event))
        if (skip != 0)
            skip--;
        else
            status = sl_sink_write(sink, &event, diag);
    if (status == SL_OK && events.no_memory)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the names of a batch");
    return status;
}

enum sl_status findings_digest(struct findings *findings, const struct sl_batch *batch,
                               const struct sl_hits *hits, struct sl_diag *diag)
{
    struct digest *digest = *source_room(batch);
    enum sl_status status = SL_OK;

    if (digest == NULL) {
        status = make_digest(&digest, findings, diag);
        if (digest == NULL)
            return status;
        *source_room(batch) = digest;
    }
    status = evaluate(findings, batch, hits, digest, diag);
    if (status == SL_OK)
        status = virus_batch_scan(digest->viruses, &findings->virus, batch, hits, diag);
    for (uint32_t i = 0; i < findings->n_sinks && status == SL_OK; i++) {
        if (digest->held[i] == NULL)
            continue;
        status = write_events(digest->held[i], events_of(findings, batch, hits, digest), 0, diag);
        if (status == SL_EOVERFLOW)
            status = SL_OK;
    }
    return status;
}

/* ---- drain ----------------------------------------------------------------------------------- */

static void count(struct findings *findings, const struct events *events)
{
    for (size_t i = 0; i < events->header->n; i++)
        findings->by_check[events->header->hit[i].id]++;
    for (size_t i = 0; i < events->n_alerts; i++)
        findings->by_signature[events->alerts[i].signature]++;
    findings->n_anomalies += events->header->n;
    findings->n_alerts += events->n_alerts;
}

/* The events that were made ahead, and then those that were not. */
static enum sl_status drain_to(struct sl_sink *sink, struct sl_sink *held,
                               const struct events *events, bool flush, struct sl_diag *diag)
{
    uint64_t n_held = 0;
    enum sl_status status = SL_OK;

    if (held != NULL) {
        n_held = sl_sink_written(held);
        status = sl_sink_pass(held, sink, diag);
    }
    if (status == SL_OK &&
        n_held < events->header->n + events->n_alerts + events->n_viruses + events->names->n)
        status = write_events(sink, *events, n_held, diag);
    if (status == SL_OK && flush)
        status = sl_sink_flush(sink, diag);
    return status;
}

static void show_counts(struct findings *findings)
{
    atomic_store_explicit(&findings->seen_alerts, findings->n_alerts, memory_order_relaxed);
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        atomic_store_explicit(&findings->seen_by_check[c], findings->by_check[c],
                              memory_order_relaxed);
}

enum sl_status findings_drain(struct findings *findings, const struct sl_batch *batch,
                              const struct sl_hits *hits, struct sl_diag *diag)
{
    const struct digest *digest = *source_room(batch);
    const struct events events = events_of(findings, batch, hits, digest);
    enum sl_status status = SL_OK;

    count(findings, &events);
    if (!virus_count(&findings->virus, digest->viruses))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for names of viruses");
    if (looks_names_up(findings))
        status = run_names_count(findings->names, batch, events.names, diag);
    pthread_mutex_lock(&findings->sinks_lock);
    for (uint32_t i = 0; i < findings->n_sinks && status == SL_OK; i++) {
        status = drain_to(findings->sinks[i].sink, digest->held[i], &events,
                          findings->flush_each_batch, diag);
        findings->sinks[i].failed = status != SL_OK;
    }
    pthread_mutex_unlock(&findings->sinks_lock);
    show_counts(findings);
    return status;
}

void findings_look(struct findings *findings, struct sl_stats *stats)
{
    stats->has_header_checks = findings->header_engine >= 0;
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        stats->anomalies[c] =
            atomic_load_explicit(&findings->seen_by_check[c], memory_order_relaxed);
    stats->has_rules = findings->rules != NULL;
    if (stats->has_rules)
        sl_rules_count(findings->rules, &stats->rules);
    stats->alerts = atomic_load_explicit(&findings->seen_alerts, memory_order_relaxed);
}

bool findings_take_stats(const struct findings *findings)
{
    for (uint32_t i = 0; i < findings->n_sinks; i++)
        if (sl_sink_takes_stats(findings->sinks[i].sink))
            return true;
    return false;
}

void findings_write_stats(struct findings *findings, const struct sl_stats *stats)
{
    pthread_mutex_lock(&findings->sinks_lock);
    for (uint32_t i = 0; i < findings->n_sinks; i++) {
        struct sl_sink *sink = findings->sinks[i].sink;

        if (sl_sink_takes_stats(sink) &&
            (sl_sink_write_stats(sink, stats, NULL) != SL_OK || sl_sink_flush(sink, NULL) != SL_OK))
            continue; /* it will say so again */
    }
    pthread_mutex_unlock(&findings->sinks_lock);
}

/* ---- the end --------------------------------------------------------------------------------- */

bool findings_is_stdout(const char *spec)
{
    return strcmp(spec, "console") == 0 || strcmp(spec, "eve:-") == 0;
}

static bool is_reader_left(const char *spec)
{
    struct pollfd output = {.fd = STDOUT_FILENO};

    return findings_is_stdout(spec) && poll(&output, 1, 0) == 1 && output.revents & POLLERR;
}

bool findings_reader_left(const struct findings *findings)
{
    for (uint32_t i = 0; i < findings->n_sinks; i++)
        if (findings->sinks[i].failed && is_reader_left(findings->sinks[i].spec))
            return true;
    return false;
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
        complete = false;
        findings->sinks[i].failed = true;
        if (is_reader_left(findings->sinks[i].spec))
            continue;
        if (!was_failed) /* a failed write has been said already */
            cli_diag(&diag);
        cli_error("%s: %s events were written before that", findings->sinks[i].spec,
                  cli_count(findings->sinks[i].written, text));
    }
    return complete;
}

void findings_free(struct findings *findings)
{
    (void)findings_close(findings);
    while (findings->digests != NULL) {
        struct digest *next = findings->digests->next;

        free_digest(findings->digests);
        findings->digests = next;
    }
    free(findings->by_signature);
    virus_close(&findings->virus);
}
