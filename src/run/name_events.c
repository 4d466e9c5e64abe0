/* SPDX-License-Identifier: MIT */
#include "name_events.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4 * SL_NAME_LEN_MAX + 64 }; /* a written name: four characters a byte at most */

struct name_events {
    const struct sl_names *names;

    /* The names of the item at hand. */
    uint32_t item, n_found;
    struct sl_packet_name found[SL_PACKET_NAMES_MAX];
    uint8_t bytes[SL_PACKET_NAMES_LEN];

    /* The texts of a match. */
    struct sl_name_match match;
    char name[TEXT_MAX], host[TEXT_MAX], prefix[TEXT_MAX];
    char *values_text;
    const char **values;
    size_t max_values, max_values_text;
};

struct name_events *name_events_create(const struct sl_names *names)
{
    struct name_events *events = calloc(1, sizeof *events);

    if (events == NULL)
        return NULL;
    events->names = names;
    name_events_begin(events);
    return events;
}

void name_events_free(struct name_events *events)
{
    if (events == NULL)
        return;
    free(events->values_text);
    free(events->values);
    free(events);
}

void name_events_begin(struct name_events *events)
{
    events->item = UINT32_MAX;
}

/* The name at the hit's offset in its item, found again. */
static const struct sl_packet_name *find(struct name_events *events, const struct sl_batch *batch,
                                         const struct sl_hit *hit)
{
    uint32_t misses, i = 0;

    if (events->item != hit->item)
        events->n_found =
            sl_packet_names_find(batch, hit->item, events->found, events->bytes, &misses);
    events->item = hit->item;
    while (i + 1 < events->n_found && events->found[i].offset != hit->offset)
        i++;
    return &events->found[i];
}

/* The rule's values as strings. False: no memory. */
static bool copy_values(struct name_events *events, const struct sl_names_answer *answer)
{
    size_t n = 0, text_len = 0, len;

    while (sl_names_value(events->names, answer, (uint32_t)n, &len) != NULL) {
        text_len += len + 1;
        n++;
    }
    if (n + 1 > events->max_values) {
        const char **grown = reallocarray(events->values, n + 1, sizeof *grown);

        if (grown == NULL)
            return false;
        events->values = grown;
        events->max_values = n + 1;
    }
    if (text_len > events->max_values_text) {
        char *grown = realloc(events->values_text, text_len);

        if (grown == NULL)
            return false;
        events->values_text = grown;
        events->max_values_text = text_len;
    }
    char *to = events->values_text;
    for (size_t i = 0; i < n; i++) {
        const char *value = sl_names_value(events->names, answer, (uint32_t)i, &len);

        events->values[i] = to;
        memcpy(to, value, len);
        to[len] = '\0';
        to += len + 1;
    }
    events->values[n] = NULL;
    return true;
}

/* The first len bytes of a name, in its syntax. */
static void write_part(const struct sl_name *name, uint32_t len, char *text)
{
    struct sl_name part = *name;

    part.len = len;
    if (part.host_len > len)
        part.host_len = len;
    (void)sl_name_write(&part, text, TEXT_MAX);
}

/* The verdict that an action amounts to; NULL: none. */
static const char *verdict_of(enum sl_names_action action)
{
    switch (action) {
    case SL_NAMES_BLOCK:
    case SL_NAMES_NXDOMAIN:
    case SL_NAMES_NODATA:
    case SL_NAMES_REFUSE:
    case SL_NAMES_DROP:
        return "blocked";
    case SL_NAMES_ALLOW:
        return "allowed";
    default:
        return NULL;
    }
}

static void describe_protocol(struct sl_name_match *match, const struct sl_packet_name *found,
                              const char *host)
{
    switch (found->protocol) {
    case SL_PACKET_NAMES_DNS:
        match->dns.id = found->dns.id;
        match->dns.flags = found->dns.flags;
        match->dns.rrtype = found->dns.rrtype;
        break;
    case SL_PACKET_NAMES_HTTP:
        match->http.host = host;
        match->http.method = found->http.method;
        match->http.target = found->http.target;
        match->http.port = found->http.port;
        match->http.minor = found->http.minor;
        break;
    case SL_PACKET_NAMES_TLS:
        match->tls.version = found->tls.version;
        break;
    default:
        match->ndn.data = found->ndn.data;
    }
}

static bool describe(struct name_events *events, const struct sl_packet_name *found,
                     const struct sl_names_answer *answer)
{
    struct sl_name_match *match = &events->match;

    if (!copy_values(events, answer))
        return false;
    write_part(&found->name, found->name.len, events->name);
    write_part(&found->name, found->name.host_len, events->host);
    write_part(&found->name, answer->prefix_len, events->prefix);
    *match = (struct sl_name_match){.name = events->name,
                                    .prefix = events->prefix,
                                    .action = sl_names_action_name(answer->action),
                                    .verdict = verdict_of(answer->action),
                                    .values = events->values,
                                    .hops = answer->action == SL_NAMES_FORWARD,
                                    .line = answer->line};
    match->list = sl_names_list(events->names, answer->list, &match->format);
    describe_protocol(match, found, events->host);
    return true;
}

bool name_events_write(struct name_events *events, const struct sl_batch *batch,
                       const struct sl_hit *hit, struct sl_event *event)
{
    static const enum sl_event_kind kinds[SL_N_PACKET_NAMES_PROTOCOLS] = {
        [SL_PACKET_NAMES_DNS] = SL_EVENT_DNS,
        [SL_PACKET_NAMES_HTTP] = SL_EVENT_HTTP,
        [SL_PACKET_NAMES_TLS] = SL_EVENT_TLS,
        [SL_PACKET_NAMES_NDN] = SL_EVENT_NDN};
    const struct sl_packet_name *found = find(events, batch, hit);
    struct sl_names_answer answer;

    sl_packet_names_hit(events->names, hit->id, &answer);
    event->kind = kinds[found->protocol];
    event->match = &events->match;
    return describe(events, found, &answer);
}

const char *name_events_prefix(struct name_events *events, const struct sl_batch *batch,
                               const struct sl_hit *hit)
{
    struct sl_names_answer answer;

    sl_packet_names_hit(events->names, hit->id, &answer);
    write_part(&find(events, batch, hit)->name, answer.prefix_len, events->prefix);
    return events->prefix;
}
