/* SPDX-License-Identifier: MIT */
/* What flows are asked for: by events, and by rules. */
#include "run_policy.h"

/* Bits first to last. */
static uint64_t bits(enum sl_app_value_id first, enum sl_app_value_id last)
{
    return (UINT64_C(2) << last) - (UINT64_C(1) << first);
}

void run_policy_choose_apps(struct run_policy *policy, const struct sl_run_config *config,
                            bool reports_flows)
{
    static const struct {
        enum sl_event_kind kind;
        enum sl_app app;
        enum sl_app_value_id first, last; /* the values that its event shows */
    } events[] = {{SL_EVENT_DNS_MESSAGE, SL_APP_DNS, SL_DNS_MESSAGE, SL_DNS_MESSAGE},
                  {SL_EVENT_HTTP_MESSAGE, SL_APP_HTTP, SL_HTTP_METHOD, SL_HTTP_LOCATION},
                  {SL_EVENT_TLS_MESSAGE, SL_APP_TLS, SL_TLS_SNI, SL_TLS_JA4},
                  {SL_EVENT_TLS_MESSAGE, SL_APP_TLS, SL_TLS_CERT, SL_TLS_ALPN},
                  {SL_EVENT_QUIC_MESSAGE, SL_APP_QUIC, SL_TLS_SNI, SL_TLS_JA4},
                  {SL_EVENT_QUIC_MESSAGE, SL_APP_QUIC, SL_TLS_ALPN, SL_TLS_ALPN}};
    struct app_config *apps = &policy->apps;
    const bool has_sink = config->n_sinks != 0 || config->event != NULL;

    if (config->stream_memory == 0)
        return;
    for (size_t i = 0; has_sink && i < sizeof events / sizeof *events; i++)
        if ((config->events >> events[i].kind & 1) != 0) {
            apps->is_done |= 1u << events[i].app;
            apps->values |= bits(events[i].first, events[i].last);
        }
    apps->memory = config->stream_memory;
    policy->reads_apps = apps->has_steps || apps->is_done != 0 || reports_flows;
}
