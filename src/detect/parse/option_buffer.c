/* SPDX-License-Identifier: MIT */
/* The options that choose a buffer for the contents behind them, and ask for its length. */
#include "rule_fail.h"
#include "rule_option.h"

enum { SIZE_MAX_OF_BUFFER = 1 << 30 };

struct rule_payload *rule_payload_add(struct rule_parser *parser, enum rule_payload_kind kind)
{
    struct rule_payload *grown =
        rule_grow(parser->payload, &parser->cap_payloads, parser->n_payloads, sizeof *grown);

    if (grown == NULL)
        return NULL;
    parser->payload = grown;

    struct rule_payload *payload = &grown[parser->n_payloads++];

    *payload = parser->section;
    payload->kind = kind;
    payload->window = RULE_NO_WINDOW;
    return payload;
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool has_steps(const struct rule_parser *parser)
{
    return parser->n_payloads != 0 &&
           parser->payload[parser->n_payloads - 1].section == parser->section.section;
}

enum sl_status rule_section_end(struct rule_parser *parser)
{
    return parser->section.section == 0 || has_steps(parser)
               ? SL_OK
               : rule_bad(parser, "a buffer has no content behind it");
}

/* Insertion: steps are few, and those of a section that is not the payload's are neighbours. */
void rule_section_sort(struct rule_parser *parser)
{
    for (size_t i = 1; i < parser->n_payloads; i++) {
        const struct rule_payload step = parser->payload[i];
        size_t to = i;

        for (; to > 0 && parser->payload[to - 1].section > step.section; to--)
            parser->payload[to] = parser->payload[to - 1];
        parser->payload[to] = step;
    }
}

/* ---- options --------------------------------------------------------------------------------- */

/* Each naming of a buffer begins a section: another name of the message may meet it. */
enum sl_status rule_read_buffer(struct rule_parser *parser, struct rule_text value)
{
    static const struct {
        const char *name;
        uint32_t buffer;
    } buffers[] = {
        {"dns.query", SL_BUFFER_DNS_QUERY},
        {"dns_query", SL_BUFFER_DNS_QUERY},
        {"dns.queries.rrname", SL_BUFFER_DNS_QUERIES},
        {"dns.answers.rrname", SL_BUFFER_DNS_ANSWERS},
        {"dns.authorities.rrname", SL_BUFFER_DNS_AUTHORITIES},
        {"dns.additionals.rrname", SL_BUFFER_DNS_ADDITIONALS},
        {"dns.response.rrname", SL_BUFFER_DNS_RESPONSE},
    };
    const struct rule_text name = parser->option.name;
    const enum sl_status status = rule_section_end(parser);
    size_t i = 0;

    (void)value;
    if (status != SL_OK)
        return status;
    if ((parser->rule->protocol & (RULE_UDP | RULE_IP | RULE_IPV4 | RULE_IPV6)) == 0)
        return rule_skip(parser, "", name);
    while (!rule_text_is(name, buffers[i].name))
        i++;
    parser->rule->app = SL_APP_DNS;
    parser->section =
        (struct rule_payload){.section = ++parser->n_sections, .buffer = buffers[i].buffer};
    parser->content = SIZE_MAX;
    return SL_OK;
}

enum sl_status rule_read_pkt_data(struct rule_parser *parser, struct rule_text value)
{
    const enum sl_status status = rule_section_end(parser);

    (void)value;
    parser->section = (struct rule_payload){.buffer = SL_BUFFER_PAYLOAD};
    parser->content = SIZE_MAX;
    return status;
}

enum sl_status rule_read_dotprefix(struct rule_parser *parser, struct rule_text value)
{
    (void)value;
    if (parser->section.section == 0 || has_steps(parser))
        return rule_bad_at(parser, parser->name, "dotprefix does not stand behind a buffer");
    parser->section.dotted = true;
    return SL_OK;
}

enum sl_status rule_read_bsize(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;

    if (parser->section.section == 0)
        return rule_bad_at(parser, parser->name, "bsize does not stand behind a buffer");
    const enum sl_status status =
        rule_read_range(parser, value, "bsize", SIZE_MAX_OF_BUFFER, &check);
    if (status != SL_OK)
        return status;
    struct rule_payload *step = rule_payload_add(parser, RULE_SIZE);
    if (step == NULL)
        return rule_no_memory(parser);
    step->negated = check.negated;
    step->distance = (int32_t)check.first;
    step->window = check.last;
    return SL_OK;
}
