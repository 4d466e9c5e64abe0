/* SPDX-License-Identifier: MIT */
#include "evaluate_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "app/ntp.h"
#include "app/snmp.h"
#include "evaluate_message.h"
#include "evaluate_section.h"

struct bytes {
    const uint8_t *at;
    uint32_t len;
};

/* The first len bytes of a header. False: they were not captured, or the packet has another
 * protocol. */
static bool take_header(const struct rule_view *view, uint32_t protocol, const uint8_t *header,
                        uint32_t captured, uint32_t len, struct bytes *bytes)
{
    *bytes = (struct bytes){header, len};
    return (view->protocols & protocol) != 0 && header != NULL && len <= captured;
}

static bool take_transport(const struct rule_view *view, uint32_t protocol, uint32_t len,
                           struct bytes *bytes)
{
    return take_header(view, protocol, view->transport, view->transport_len, len, bytes);
}

/* Extension headers end where the transport header or the payload begins. Those of a tunnel's outer
 * header are not known. */
static uint32_t ipv6_header_len(const struct rule_view *view)
{
    const uint8_t *end = view->transport != NULL ? view->transport : view->scan->payload;

    return end != NULL ? (uint32_t)(end - view->ip) : 40;
}

static bool take_address(const struct rule_view *view, uint32_t ipv4_at, uint32_t ipv6_at,
                         struct bytes *bytes)
{
    const bool ipv4 = (view->protocols & RULE_IPV4) != 0;

    if (view->ip == NULL)
        return false;
    *bytes = ipv4 ? (struct bytes){view->ip + ipv4_at, 4} : (struct bytes){view->ip + ipv6_at, 16};
    return true;
}

/* A part of a message that has one place. */
static bool take_part(const struct rule_view *view, enum rule_buffer buffer, struct bytes *bytes)
{
    const uint8_t *const message = view->scan->payload;
    struct snmp_message snmp;

    if (buffer == RULE_BUFFER_NTP_REFERENCE_ID) {
        *bytes = (struct bytes){message + NTP_REFERENCE_ID_AT, 4};
        return view->scan->len >= NTP_LEN;
    }
    if (!snmp_read(&snmp, message, view->scan->len))
        return false;

    const struct snmp_span part = buffer == RULE_BUFFER_SNMP_USM ? snmp.user : snmp.community;

    *bytes = (struct bytes){part.at, part.len};
    return part.at != NULL;
}

/* A buffer that a packet has once. False: it does not have it. */
static bool take_single(const struct rule_view *view, enum rule_buffer buffer, struct bytes *bytes)
{
    switch (buffer) {
    case RULE_BUFFER_IPV4_HEADER:
        return view->ip != NULL &&
               take_header(view, RULE_IPV4, view->ip, view->ip_len, 4u * (view->ip[0] & 15), bytes);
    case RULE_BUFFER_IPV6_HEADER:
        return view->ip != NULL &&
               take_header(view, RULE_IPV6, view->ip, view->ip_len, ipv6_header_len(view), bytes);
    case RULE_BUFFER_TCP_HEADER:
        return view->transport_len > 12 &&
               take_transport(view, RULE_TCP, 4u * (view->transport[12] >> 4), bytes);
    case RULE_BUFFER_UDP_HEADER:
        return take_transport(view, RULE_UDP, 8, bytes);
    case RULE_BUFFER_SCTP_HEADER:
        return take_transport(view, RULE_SCTP, 12, bytes);
    case RULE_BUFFER_ICMPV4_HEADER:
        return take_transport(view, RULE_ICMPV4, 8, bytes);
    case RULE_BUFFER_ICMPV6_HEADER:
        return take_transport(view, RULE_ICMPV6, 8, bytes);
    case RULE_BUFFER_SOURCE:
        return take_address(view, 12, 8, bytes);
    case RULE_BUFFER_DESTINATION:
        return take_address(view, 16, 24, bytes);
    default:
        return take_part(view, buffer, bytes);
    }
}

/* The names of the message. NULL: no memory. */
static const struct rule_names *names_of(struct rule_buffers *buffers, const struct rule_view *view)
{
    if (!buffers->has_names)
        buffers->no_memory |=
            !rule_names_read(&buffers->names, view->scan->payload, view->scan->len);
    buffers->has_names = true;
    return buffers->no_memory ? NULL : &buffers->names;
}

/* The next part of a message of SIP. */
static bool take_sip(const struct rule_view *view, enum rule_buffer buffer, struct sip_walk *walk,
                     struct bytes *bytes)
{
    const struct rule_scan *payload = view->scan;
    struct sip_span span;

    if (!rule_view_is_message(view, SL_APP_SIP) ||
        !sip_next(&span, walk, payload->payload, payload->len, rule_buffer_sip(buffer)))
        return false;
    *bytes = (struct bytes){payload->payload + span.at, span.len};
    return true;
}

/* A value of a message. A packet alone has none. */
static bool take_value(const struct rule_view *view, enum rule_buffer buffer, size_t i,
                       struct bytes *bytes)
{
    struct sl_app_value value;

    if (view->message == NULL || !rule_message_value(view, buffer, i, &value))
        return false;
    *bytes = (struct bytes){value.bytes, value.len};
    return true;
}

/* Values of SIP are short, and a message may be made of them. Those beyond these are not tried. */
static bool is_beyond(enum rule_buffer buffer, size_t i)
{
    enum { VALUES_MAX = 64 };

    return rule_buffer_is_sip(buffer) && i >= VALUES_MAX;
}

/* The i-th buffer, for each i in turn: of names of all buffers the i-th. `walk` is zeroed at first.
 * False: the packet does not have it. */
static bool take(struct rule_buffers *buffers, const struct rule_view *view,
                 enum rule_buffer buffer, size_t i, struct sip_walk *walk, struct bytes *bytes)
{
    if (rule_buffer_is_value(buffer))
        return take_value(view, buffer, i, bytes);
    if (rule_buffer_is_sip(buffer))
        return take_sip(view, buffer, walk, bytes);
    if (!rule_buffer_is_name(buffer))
        return i == 0 && take_single(view, buffer, bytes);

    if (!rule_view_is_message(view, SL_APP_DNS))
        return false;

    const struct rule_names *names = names_of(buffers, view);

    if (names == NULL || i >= names->n)
        return false;
    *bytes = (struct bytes){names->text + names->name[i].at + 1, names->name[i].len - 1};
    return true;
}

/* ---- transforms ------------------------------------------------------------------------------ */

/* Transforms one buffer, and keeps the result. False: no memory. */
static bool derive_one(struct rule_buffers *buffers, const struct transform_chain *chain,
                       struct bytes from)
{
    const size_t room = buffers->made_len + transform_chain_room(chain, from.len);
    struct rule_made *result =
        rule_grow(buffers->result, &buffers->cap_results, buffers->n_results, sizeof *result);

    if (result == NULL)
        return false;
    buffers->result = result;
    if (room > buffers->made_cap) {
        uint8_t *made = realloc(buffers->made, 2 * room);

        if (made == NULL)
            return false;
        buffers->made = made;
        buffers->made_cap = 2 * room;
    }
    uint8_t *bytes = buffers->made + buffers->made_len;

    memcpy(bytes, from.at, from.len);
    result += buffers->n_results++;
    *result = (struct rule_made){buffers->made_len, from.len, false};
    buffers->transform.limited = false;
    if (!transform_chain_apply(chain, &buffers->transform, bytes, &result->len))
        return false;
    result->limited = buffers->transform.limited;
    buffers->made_len += result->len;
    return true;
}

/* The results of a chain for a buffer, made where a rule asks for them first. NULL: no memory. */
static const struct rule_derived *derive(struct rule_buffers *buffers, const struct rule_view *view,
                                         const struct rule_payload *step, struct rule_work *work)
{
    const uint64_t effort =
        rule_work_transform_effort(view->message == NULL ? view->scan->len : view->said);
    const enum rule_buffer buffer =
        rule_buffer_is_name(step->buffer) ? RULE_BUFFER_DNS_QUERY : step->buffer;
    const size_t first = buffers->n_results;
    struct sip_walk walk = {0};
    struct bytes bytes;

    for (size_t i = 0; i < buffers->n_derived; i++)
        if (buffers->derived[i].buffer == buffer && buffers->derived[i].chain == step->chain)
            return &buffers->derived[i];

    struct rule_derived *derived =
        rule_grow(buffers->derived, &buffers->cap_derived, buffers->n_derived, sizeof *derived);

    if (derived == NULL)
        return NULL;
    buffers->derived = derived;
    buffers->transform.effort = effort;
    for (size_t i = 0; !is_beyond(buffer, i) && take(buffers, view, buffer, i, &walk, &bytes); i++)
        if (!derive_one(buffers, step->chain, bytes))
            return NULL;
    work->spent += effort - buffers->transform.effort;
    derived += buffers->n_derived++;
    *derived = (struct rule_derived){step->chain, buffer, first};
    return derived;
}

/* A name alone, behind a period, lies in the text of names so. */
static bool is_dotted_name(const struct rule_payload *step)
{
    return rule_buffer_is_name(step->buffer) && step->chain->n == 1 &&
           step->chain->step[0].kind == TRANSFORM_DOT_PREFIX;
}

/* Puts the i-th buffer behind its transforms in the place of *bytes. False: the rule is stopped, or
 * there is no memory. */
static bool transform_bytes(struct rule_buffers *buffers, const struct rule_view *view,
                            const struct rule_payload *step, size_t i, struct rule_work *work,
                            struct bytes *bytes)
{
    if (bytes->len == 0)
        return true;
    if (is_dotted_name(step)) {
        *bytes = (struct bytes){bytes->at - 1, bytes->len + 1};
        return true;
    }
    const struct rule_derived *derived = derive(buffers, view, step, work);

    if (derived == NULL) {
        buffers->no_memory = true;
        return false;
    }
    const struct rule_made *made = &buffers->result[derived->first + i];

    *bytes = (struct bytes){buffers->made + made->at, made->len};
    if (made->limited)
        rule_work_stop(work);
    return !made->limited;
}

/* Whether the i-th name belongs to the buffer; other buffers are there once. */
static bool belongs(const struct rule_buffers *buffers, enum rule_buffer buffer, size_t i)
{
    return !rule_buffer_is_name(buffer) ||
           (buffers->names.name[i].buffers & rule_buffer_searched(buffer)) != 0;
}

/* Whether the message goes the way of those that have the buffer. */
static bool may_have(const struct rule_view *view, enum rule_buffer buffer)
{
    const struct rule_scan *message = view->scan;
    struct sip_walk walk = {0};
    struct sip_span span;

    if (rule_buffer_is_value(buffer))
        return rule_message_lacks(view, buffer);
    if (rule_buffer_is_name(buffer) && !rule_view_is_message(view, SL_APP_DNS))
        return false;
    if (buffer == RULE_BUFFER_DNS_QUERY || buffer == RULE_BUFFER_DNS_RESPONSE)
        return message->len > 2 && message->payload[2] >> 7 == (buffer == RULE_BUFFER_DNS_RESPONSE);
    if (rule_buffer_is_sip(buffer) && !rule_view_is_message(view, SL_APP_SIP))
        return false;
    if (buffer < RULE_BUFFER_SIP || rule_buffer_sip(buffer) > SIP_RESPONSE_LINE ||
        rule_buffer_sip(buffer) == SIP_PROTOCOL)
        return true;

    const bool response = sip_next(&span, &walk, message->payload, message->len, SIP_RESPONSE_LINE);

    return response == (rule_buffer_sip(buffer) > SIP_PROTOCOL);
}

/* Whether the packet could have the buffer, and does not. */
static bool is_absent(struct rule_buffers *buffers, const struct rule_view *view,
                      enum rule_buffer buffer)
{
    struct sip_walk walk = {0};
    struct bytes bytes;

    for (size_t i = 0; take(buffers, view, buffer, i, &walk, &bytes); i++)
        if (belongs(buffers, buffer, i))
            return false;
    return !buffers->no_memory && may_have(view, buffer);
}

bool rule_buffers_match(struct rule_buffers *buffers, const struct rule_view *view,
                        const struct rule_payload *steps, size_t n, struct rule_work *work)
{
    struct rule_scan *scan = &buffers->scan;
    struct sip_walk walk = {0};
    struct bytes bytes;
    bool kept = false;

    if (steps[0].kind == RULE_ABSENT) {
        if (is_absent(buffers, view, steps[0].buffer))
            return true;
        if (!steps[0].optional)
            return false;
        steps++;
        n--;
    }
    for (size_t i = 0; take(buffers, view, steps[0].buffer, i, &walk, &bytes); i++) {
        if (!belongs(buffers, steps[0].buffer, i))
            continue;
        if (is_beyond(steps[0].buffer, i)) {
            rule_work_stop(work);
            return false;
        }
        if (steps[0].chain != NULL && !transform_bytes(buffers, view, &steps[0], i, work, &bytes))
            return kept;
        if (!rule_scan_reserve(scan, bytes.len)) {
            buffers->no_memory = true;
            return false;
        }
        scan->payload = bytes.at;
        scan->len = bytes.len;
        scan->is_open =
            rule_buffer_is_value(steps[0].buffer) && rule_message_goes_on(view, steps[0].buffer);
        scan->is_little =
            view->message != NULL && view->message->call.is_little[view->message->side];
        if (!rule_section_match(steps, n, scan, work))
            continue;
        if (!steps[0].asks)
            return true;
        if (!buffers->keeps_values)
            rule_values_begin_packet(buffers->values,
                                     view->message != NULL ? view->said : view->scan->len);
        buffers->keeps_values = true;
        if (!rule_values_add(buffers->values, steps[0].section, bytes.at, bytes.len)) {
            rule_work_stop(work);
            return kept;
        }
        kept = true;
    }
    return kept;
}

void rule_buffers_free(struct rule_buffers *buffers)
{
    rule_names_free(&buffers->names);
    free(buffers->derived);
    free(buffers->result);
    free(buffers->made);
    transform_work_free(&buffers->transform);
    rule_scan_free(&buffers->scan);
}
