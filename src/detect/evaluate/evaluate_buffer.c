/* SPDX-License-Identifier: MIT */
#include "evaluate_buffer.h"

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
        return false;
    }
}

/* The next name that belongs to the buffer, from *i on. False: there is none, or no memory. */
static bool take_name(struct rule_buffers *buffers, const struct rule_view *view,
                      const struct rule_payload *step, size_t *i, struct bytes *bytes)
{
    const struct rule_names *names = &buffers->names;
    const uint32_t skipped = !step->dotted, wanted = rule_buffer_searched(step->buffer);

    if (!buffers->has_names)
        buffers->no_memory |=
            !rule_names_read(&buffers->names, view->scan->payload, view->scan->len);
    buffers->has_names = true;
    while (*i < names->n && (names->name[*i].buffers & wanted) == 0)
        ++*i;
    if (buffers->no_memory || *i == names->n)
        return false;
    *bytes =
        (struct bytes){names->text + names->name[*i].at + skipped, names->name[*i].len - skipped};
    ++*i;
    return true;
}

/* The next buffer that the section is about: all are taken with *i from 0 on. */
static bool take_next(struct rule_buffers *buffers, const struct rule_view *view,
                      const struct rule_payload *step, size_t *i, struct bytes *bytes)
{
    if (rule_buffer_repeats(step->buffer))
        return take_name(buffers, view, step, i, bytes);
    return (*i)++ == 0 && take_single(view, step->buffer, bytes);
}

bool rule_buffers_match(struct rule_buffers *buffers, const struct rule_view *view,
                        const struct rule_payload *steps, size_t n)
{
    struct rule_scan *scan = &buffers->scan;
    struct bytes bytes;
    size_t i = 0;

    while (take_next(buffers, view, steps, &i, &bytes)) {
        if (!rule_scan_reserve(scan, bytes.len)) {
            buffers->no_memory = true;
            return false;
        }
        scan->payload = bytes.at;
        scan->len = bytes.len;
        scan->is_folded = false;
        if (rule_section_match(steps, n, scan))
            return true;
    }
    return false;
}

void rule_buffers_free(struct rule_buffers *buffers)
{
    rule_names_free(&buffers->names);
    rule_scan_free(&buffers->scan);
}
