/* SPDX-License-Identifier: MIT */
#include "batch_events.h"

#include <string.h>

#include "base/diag.h"
#include "base/least.h"
#include "sluice/app.h"

struct batch_events batch_events_of(const struct run_source *source, const struct sl_batch *batch,
                                    const struct sl_hits *hits, struct run_digest *digest,
                                    const struct sl_flow_keys *flows, const struct app_batch *apps)
{
    static const struct sl_hits none;
    static const struct app_batch silence;
    const struct run_policy *policy = digest->policy;
    const struct name_batch *joined = digest->joined;
    const struct sl_hits *names = policy->names_engine < 0 ? &none : &hits[policy->names_engine];

    return (struct batch_events){
        .source = source,
        .batch = batch,
        .digest = digest,
        .flows = flows,
        .apps = apps != NULL ? apps : &silence,
        .end_flow = sl_flow_keys_n_ends(flows),
        .header = policy->header_engine < 0 ? &none : &hits[policy->header_engine],
        .names = joined != NULL && joined->n != 0 ? &joined->others : names,
    };
}

static bool is_wanted(const struct batch_events *events, enum sl_event_kind kind)
{
    return (events->source->config->events >> kind & 1) != 0;
}

/* Kinds that are not wanted are passed over here; names have several kinds. */
void batch_events_begin(struct batch_events *events)
{
    const bool alerts = is_wanted(events, SL_EVENT_ALERT);

    events->h = is_wanted(events, SL_EVENT_ANOMALY) ? 0 : events->header->n;
    events->a = alerts ? 0 : events->digest->n_alerts;
    events->v = alerts ? 0 : payload_scan_count(events->digest->scan);
    events->f = events->first_flow;
    events->n = events->j = events->m = 0;
    events->t = is_wanted(events, SL_EVENT_PACKET) ? 0 : events->digest->n_tagged;
    events->l = events->s = 0;
    events->late_virus = (struct file_cursor){alerts ? 0 : events->apps->n_late, 0};
    events->virus = (struct file_cursor){alerts ? 0 : events->apps->n, 0};
    if (events->digest->name_events != NULL)
        name_events_begin(events->digest->name_events);
}

/* ---- flows and packets ------------------------------------------------------------------------
 */

/* Adds the community id of the event's flow, which is valid until the next one. `ids` NULL: events
 * have none. */
static enum sl_status identify(struct sl_event *event, struct community_ids *ids,
                               struct sl_diag *diag)
{
    if (ids == NULL)
        return SL_OK;
    event->community_id = community_ids_of(ids, event->origin.flow, &event->tuple);
    return event->community_id != NULL
               ? SL_OK
               : diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "OpenSSL fails to make a community_id");
}

/* Where and when the event is: in the record's flow, at this time. */
static enum sl_status place_in_flow(struct sl_event *event, const struct run_source *source,
                                    const struct sl_flow_record *record, int64_t time_ns,
                                    struct community_ids *ids, struct sl_diag *diag)
{
    memset(event, 0, sizeof *event);
    event->origin.time_ns = time_ns;
    event->origin.flow = record->id;
    event->origin.source = record->source;
    memcpy(event->origin.vlan, record->vlan, sizeof event->origin.vlan);
    event->source = run_source_name(source, record->source);
    event->live = source->config->interface != NULL;
    event->has_tuple = true;
    event->tuple = record->tuple;
    return identify(event, ids, diag);
}

/* The event of a record, which it borrows and completes. */
static enum sl_status describe_flow(struct sl_event *event, const struct run_source *source,
                                    struct sl_flow_record *record, struct community_ids *ids,
                                    struct sl_diag *diag)
{
    const enum sl_status status = place_in_flow(event, source, record, record->end_ns, ids, diag);

    event->kind = SL_EVENT_FLOW;
    record->app_proto = sl_app_name((enum sl_app)record->app);
    event->flow = record;
    return status;
}

static enum sl_status describe_packet(struct sl_event *event, const struct batch_events *events,
                                      const struct sl_batch *batch, uint32_t item,
                                      struct sl_diag *diag)
{
    memset(event, 0, sizeof *event);
    event->origin = batch->origin[item];
    event->source = run_source_name(events->source, event->origin.source);
    event->live = events->source->config->interface != NULL;
    event->has_tuple = sl_packet_tuple(batch, item, &event->tuple);
    event->payload_len = batch->payload[item].len;
    if (event->payload_len != 0)
        event->payload = batch->bytes + batch->payload[item].offset;
    event->nth_message = dns_messages_nth(&events->digest->messages, item);
    if (event->origin.flow != 0 && batch->total != NULL)
        event->total = &batch->total[item];
    return event->origin.flow == 0 ? SL_OK : identify(event, events->ids, diag);
}

/* ---- messages of flows ----------------------------------------------------------------------- */

/* SL_N_EVENT_KINDS: none. */
static enum sl_event_kind kind_of(const struct sl_app_message *message)
{
    if (message->step == SL_APP_FILE)
        return SL_EVENT_FILE;
    if (message->step == SL_APP_EVENT && message->event != 0)
        return SL_EVENT_ANOMALY;
    if (message->step != SL_APP_DONE)
        return SL_N_EVENT_KINDS;
    return message->app == SL_APP_HTTP   ? SL_EVENT_HTTP_MESSAGE
           : message->app == SL_APP_TLS  ? SL_EVENT_TLS_MESSAGE
           : message->app == SL_APP_QUIC ? SL_EVENT_QUIC_MESSAGE
           : message->app == SL_APP_DNS  ? SL_EVENT_DNS_MESSAGE
           : message->app == SL_APP_SMTP ? SL_EVENT_SMTP_MESSAGE
           : message->app == SL_APP_SSH  ? SL_EVENT_SSH_MESSAGE
           : message->app == SL_APP_FTP  ? SL_EVENT_FTP_MESSAGE
                                         : SL_N_EVENT_KINDS;
}

/* Anomalies of protocols belong to the events of protocols. */
static bool is_event(const struct batch_events *events, const struct sl_app_message *message)
{
    const enum sl_event_kind kind = kind_of(message);

    return is_wanted(events, kind) &&
           (kind != SL_EVENT_ANOMALY || events->digest->policy->apps.is_done != 0);
}

/* The items of the next messages that are events; behind the last: `end`. */
static uint32_t item_of_late(struct batch_events *events, uint32_t end)
{
    const struct app_batch *apps = events->apps;

    while (events->l < apps->n_late && !is_event(events, &apps->late[events->l].message))
        events->l++;
    return events->l < apps->n_late ? apps->late[events->l].message.item : end;
}

static uint32_t item_of_said(struct batch_events *events, uint32_t end)
{
    const struct app_batch *apps = events->apps;

    while (events->s < apps->n && !is_event(events, &apps->message[events->s]))
        events->s++;
    return events->s < apps->n ? apps->message[events->s].item : end;
}

/* The items of the next files with a virus. */
static uint32_t item_of_late_virus(struct batch_events *events, uint32_t end)
{
    const struct app_batch *apps = events->apps;
    struct file_cursor *const at = &events->late_virus;

    while (at->message < apps->n_late &&
           at->match >= file_scan_count(&apps->late[at->message].message))
        *at = (struct file_cursor){at->message + 1, 0};
    return at->message < apps->n_late ? apps->late[at->message].message.item : end;
}

static uint32_t item_of_file_virus(struct batch_events *events, uint32_t end)
{
    const struct app_batch *apps = events->apps;
    struct file_cursor *const at = &events->virus;

    while (at->message < apps->n && at->match >= file_scan_count(&apps->message[at->message]))
        *at = (struct file_cursor){at->message + 1, 0};
    return at->message < apps->n ? apps->message[at->message].item : end;
}

/* DNS and SIP over TCP are as datagrams with the message. */
static bool is_datagram(const struct sl_app_message *message)
{
    return message->app == SL_APP_DNS || message->app == SL_APP_SIP;
}

static void describe_datagram(struct sl_event *event, const struct sl_app_message *message)
{
    const struct sl_app_half *half = &message->half[message->side];

    event->message = NULL;
    event->origin.app = message->app;
    if (message->app == SL_APP_DNS)
        event->nth_message = (uint32_t)message->transaction + 1;
    if (half->n_values != 0) {
        event->payload = half->value[0].bytes;
        event->payload_len = half->value[0].len;
    }
}

/* The tuple begins at the client, but for files and DNS, which begin at their sender, and
 * anomalies, which have that of the packet. */
static void describe_message(struct sl_event *event, const struct sl_app_message *message,
                             bool from_client)
{
    const bool begins_at_client =
        (message->step != SL_APP_FILE && !is_datagram(message)) || message->side == 0;
    const struct sl_tuple tuple = event->tuple;

    event->kind = kind_of(message);
    event->message = message;
    event->nth_message = event->payload_len = 0;
    event->payload = NULL;
    if (is_datagram(message))
        describe_datagram(event, message);
    if (from_client == begins_at_client || message->step == SL_APP_EVENT)
        return;
    event->tuple.src = tuple.dst;
    event->tuple.dst = tuple.src;
    event->tuple.src_port = tuple.dst_port;
    event->tuple.dst_port = tuple.src_port;
}

static enum sl_status late_event(struct batch_events *events, struct sl_event *event,
                                 struct sl_diag *diag)
{
    const struct late_message *late = &events->apps->late[events->l++];
    const enum sl_status status = place_in_flow(event, events->source, &late->flow->record,
                                                late->flow->record.last_ns, events->ids, diag);

    describe_message(event, &late->message, true);
    return status;
}

static void said_event(struct batch_events *events, struct sl_event *event)
{
    describe_message(event, &events->apps->message[events->s++],
                     (event->origin.flow_flags & SL_FLOW_TO_SERVER) != 0);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static enum sl_status name_event(struct batch_events *events, struct sl_event *event,
                                 struct sl_diag *diag)
{
    const struct sl_hit *hit = &events->names->hit[events->n++];

    return name_events_write(events->digest->name_events, events->batch, hit, event)
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the names of a batch");
}

/* To those that show the packet. */
static void lend_packet(struct batch_events *events, struct sl_event *event, uint32_t item)
{
    const struct sl_packet *packet = &events->batch->packet[item];

    if (event->kind != SL_EVENT_ALERT && event->kind != SL_EVENT_PACKET)
        return;
    event->packet.bytes = events->batch->bytes + packet->offset;
    event->packet.len = packet->len;
    event->packet.link = sl_link_type_name(event->origin.link_type, events->link);
}

/* The item of the next name across segments; behind the last: `end`. */
static uint32_t item_of_joined(const struct batch_events *events, uint32_t end)
{
    const struct name_batch *const joined = events->digest->joined;

    return joined != NULL && events->j < joined->hits.n
               ? joined->joined[joined->hits.hit[events->j].item]->item
               : end;
}

/* Its packet is one of those that were joined. */
static enum sl_status joined_event(struct batch_events *events, struct sl_event *event,
                                   struct sl_diag *diag)
{
    const struct name_batch *const joined = events->digest->joined;
    const struct sl_hit *const hit = &joined->hits.hit[events->j++];
    const enum sl_status status = describe_packet(event, events, joined->batch, hit->item, diag);
    bool done;

    event->nth_message = 0;
    name_events_begin(events->digest->name_events);
    done = name_events_write(events->digest->name_events, joined->batch, hit, event);
    name_events_begin(events->digest->name_events);
    if (status != SL_OK || done)
        return status;
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the names of a batch");
}

static void alert_event(const struct batch_events *events, struct sl_event *event,
                        const struct sl_alert *alert)
{
    event->signature = sl_rules_signature(events->digest->policy->rules, alert->signature);
    if (alert->message != SL_ALERT_NO_MESSAGE)
        event->message = &events->apps->message[alert->message];
    if (event->message != NULL && is_datagram(event->message))
        describe_datagram(event, event->message);
}

/* The next virus of a file, which `message` reports. */
static void file_virus_event(struct batch_events *events, struct sl_event *event,
                             const struct sl_app_message *message, struct file_cursor *at)
{
    event->kind = SL_EVENT_ALERT;
    event->message = message;
    event->signature = virus_signature_of(
        &events->lent, file_scan_match(events->digest->file_scan, message, at->match++));
}

static enum sl_status late_virus_event(struct batch_events *events, struct sl_event *event,
                                       struct sl_diag *diag)
{
    const struct late_message *late = &events->apps->late[events->late_virus.message];
    const enum sl_status status = place_in_flow(event, events->source, &late->flow->record,
                                                late->flow->record.last_ns, events->ids, diag);

    file_virus_event(events, event, &late->message, &events->late_virus);
    return status;
}

/* The next alert, where it is of a flow that ended. */
static const struct sl_alert *late_alert(const struct batch_events *events)
{
    const struct run_digest *digest = events->digest;
    const struct sl_alert *alert = &digest->alerts[events->a];

    return events->a < digest->n_alerts && run_digest_late(digest, alert) != SL_ALERT_NO_MESSAGE
               ? alert
               : NULL;
}

static enum sl_status late_alert_event(struct batch_events *events, struct sl_event *event,
                                       struct sl_diag *diag)
{
    const struct late_rules *rules = &events->apps->rules;
    const struct sl_alert *alert = &events->digest->alerts[events->a++];
    const enum sl_status status =
        describe_packet(event, events, rules->batch, run_digest_late(events->digest, alert), diag);

    event->kind = SL_EVENT_ALERT;
    event->signature = sl_rules_signature(events->digest->policy->rules, alert->signature);
    if (alert->message - events->apps->n < rules->late.n_messages)
        event->message = &rules->late.messages[alert->message - events->apps->n];
    if (event->message != NULL && is_datagram(event->message))
        describe_datagram(event, event->message);
    return status;
}

static enum sl_status next_of_packets(struct batch_events *events, struct sl_event *event,
                                      struct sl_diag *diag)
{
    struct run_digest *digest = events->digest;
    const struct sl_hits *header = events->header, *names = events->names;
    const uint32_t end = events->batch->n_items;
    const uint32_t of_header = events->h < header->n ? header->hit[events->h].item : end;
    const uint32_t of_alert = events->a < digest->n_alerts ? digest->alerts[events->a].item : end;
    const uint32_t of_virus = events->v < payload_scan_count(digest->scan)
                                  ? payload_scan_item(digest->scan, events->v)
                                  : end;
    const uint32_t of_name = events->n < names->n ? names->hit[events->n].item : end;
    const uint32_t of_flow =
        events->f < events->end_flow ? sl_flow_keys_end(events->flows, events->f, NULL) : end;
    const uint32_t of_message =
        events->m < digest->messages.n ? digest->messages.item[events->m] : end;
    const uint32_t of_late = item_of_late(events, end), of_said = item_of_said(events, end);
    const uint32_t of_tagged = events->t < digest->n_tagged ? digest->tagged[events->t] : end;
    const uint32_t of_late_virus = item_of_late_virus(events, end);
    const uint32_t of_file_virus = item_of_file_virus(events, end);
    const uint32_t of_joined = item_of_joined(events, end);
    const uint32_t first =
        least(least(least(of_header, of_alert), least(of_virus, least(of_name, of_joined))),
              least(least(of_message, of_said), least(of_tagged, of_file_virus)));

    if (late_alert(events) != NULL &&
        of_alert <= least(least(of_flow, least(of_late, of_late_virus)), first))
        return late_alert_event(events, event, diag);
    if (of_late_virus <= least(least(of_flow, of_late), first) && of_late_virus != end)
        return late_virus_event(events, event, diag);
    if (of_late <= least(of_flow, first) && of_late != end)
        return late_event(events, event, diag);
    if (of_flow <= first && of_flow != end) {
        (void)sl_flow_keys_end(events->flows, events->f++, &events->record);
        return describe_flow(event, events->source, &events->record, events->ids, diag);
    }
    if (first == end)
        return SL_END;
    enum sl_status status = describe_packet(event, events, events->batch, first, diag);
    event->kind = of_header == first ? SL_EVENT_ANOMALY : SL_EVENT_ALERT;
    if (of_header == first)
        event->check = sl_header_check_name((enum sl_header_check)header->hit[events->h++].id);
    else if (of_alert == first)
        alert_event(events, event, &digest->alerts[events->a++]);
    else if (of_virus == first)
        event->signature = payload_scan_signature(digest->scan, events->v++);
    else if (of_file_virus == first)
        file_virus_event(events, event, &events->apps->message[events->virus.message],
                         &events->virus);
    else if (of_name == first)
        status = status == SL_OK ? name_event(events, event, diag) : status;
    else if (of_joined == first)
        status = joined_event(events, event, diag);
    else if (of_message == first) {
        event->kind = SL_EVENT_DNS_MESSAGE;
        events->m++;
    } else if (of_said == first) {
        said_event(events, event);
    } else {
        event->kind = SL_EVENT_PACKET;
        events->t++;
    }
    lend_packet(events, event, first);
    return status;
}

enum sl_status batch_events_next(struct batch_events *events, struct sl_event *event,
                                 struct sl_diag *diag)
{
    enum sl_status status;

    do
        status = next_of_packets(events, event, diag);
    while (status == SL_OK && !is_wanted(events, event->kind));
    return status;
}
