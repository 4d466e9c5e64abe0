/* SPDX-License-Identifier: MIT */
#include "flow_events.h"

#include <string.h>

#include "base/diag.h"
#include "sluice/app.h"

enum sl_status flow_event_identify(struct sl_event *event, struct community_ids *ids,
                                   struct sl_diag *diag)
{
    if (ids == NULL)
        return SL_OK;
    event->community_id = community_ids_of(ids, &event->tuple);
    return event->community_id != NULL
               ? SL_OK
               : diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "OpenSSL fails to make a community_id");
}

enum sl_status flow_event_describe(struct sl_event *event, const struct run_source *source,
                                   struct sl_flow_record *record, struct community_ids *ids,
                                   struct sl_diag *diag)
{
    memset(event, 0, sizeof *event);
    event->kind = SL_EVENT_FLOW;
    record->app_proto = sl_app_name((enum sl_app)record->app);
    event->flow = record;
    event->origin.time_ns = record->end_ns;
    event->origin.flow = record->id;
    event->origin.source = record->source;
    memcpy(event->origin.vlan, record->vlan, sizeof event->origin.vlan);
    event->source = run_source_name(source, record->source);
    event->live = source->config->interface != NULL;
    event->has_tuple = true;
    event->tuple = record->tuple;
    return flow_event_identify(event, ids, diag);
}

struct finishing {
    const struct run_source *source;
    struct sl_state *state;
    struct run_sinks *sinks;
    struct community_ids *ids;
    struct sl_diag *diag;
};

static enum sl_status take(void *user, struct sl_flow_record *record)
{
    const struct finishing *finishing = user;
    struct sl_event event;

    if (finishing->state != NULL && !record->alerted)
        record->alerted = sl_state_alerted(finishing->state, record->id);
    const enum sl_status status =
        flow_event_describe(&event, finishing->source, record, finishing->ids, finishing->diag);

    return status == SL_OK ? run_sinks_write_one(finishing->sinks, &event, finishing->diag)
                           : status;
}

enum sl_status flow_events_finish(const struct run_source *source, struct sl_state *state,
                                  struct run_sinks *sinks, struct sl_diag *diag)
{
    struct sl_diag why = {.text = "no memory for the flows at the end"};
    struct finishing finishing = {.source = source, .state = state, .sinks = sinks, .diag = &why};
    enum sl_status status = SL_OK;

    if (run_sinks_show_community_ids(sinks))
        status = community_ids_create(&finishing.ids, &why);

    if (status == SL_OK)
        status = sl_flow_table_finish(source->flows, take, &finishing);
    community_ids_free(finishing.ids);
    if (status != SL_OK)
        *diag = why;
    return status;
}
