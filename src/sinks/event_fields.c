/* SPDX-License-Identifier: MIT */
#define EVENT_TAKE hand_over
#include "event_fields.h"

const char *sl_event_type(enum sl_event_kind kind)
{
    static const char *const types[SL_N_EVENT_KINDS] = {
        [SL_EVENT_ALERT] = "alert",       [SL_EVENT_ANOMALY] = "anomaly",
        [SL_EVENT_DNS] = "dns",           [SL_EVENT_HTTP] = "http",
        [SL_EVENT_TLS] = "tls",           [SL_EVENT_NDN] = "ndn",
        [SL_EVENT_FLOW] = "flow",         [SL_EVENT_DNS_MESSAGE] = "dns",
        [SL_EVENT_HTTP_MESSAGE] = "http", [SL_EVENT_TLS_MESSAGE] = "tls",
        [SL_EVENT_QUIC_MESSAGE] = "quic", [SL_EVENT_FILE] = "fileinfo",
        [SL_EVENT_PACKET] = "packet",     [SL_EVENT_SMTP_MESSAGE] = "smtp",
        [SL_EVENT_SSH_MESSAGE] = "ssh",   [SL_EVENT_FTP_MESSAGE] = "ftp"};

    return types[kind];
}

struct caller {
    void (*visit)(void *user, const struct sl_field *field);
    void *user;
};

EVENT_INLINE void hand_over(void *to, enum event_field id, const struct sl_field *field)
{
    const struct caller *caller = to;

    (void)id;
    caller->visit(caller->user, field);
}

void sl_event_fields(const struct sl_event *event,
                     void (*visit)(void *user, const struct sl_field *field), void *user)
{
    struct caller caller = {visit, user};
    struct event_texts texts;

    event_visit(&caller, event, &texts);
    event_visit_rest(&caller, event, &texts);
}
