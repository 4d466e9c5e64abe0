/* SPDX-License-Identifier: MIT */
#include "rule_parse.h"

#include <stdlib.h>
#include <string.h>

#include "detect/state/rule_state.h"
#include "foreign_keyword.h"
#include "option_cut.h"
#include "rule_fail.h"
#include "rule_lex.h"
#include "rule_list.h"
#include "rule_option.h"

void rule_parser_free(struct rule_parser *parser)
{
    free(parser->payload);
    free(parser->check);
    free(parser->state_option);
    free(parser->references.text);
    free(parser->metadata.text);
    free(parser->lacks.text);
}

static enum sl_status read_action(struct rule_parser *parser, struct rule_text *rest)
{
    const struct rule_text word = rule_word(rest);
    const struct rule_action *action = rule_action_find(word);

    parser->where = word.at;
    if (action == NULL)
        return rule_bad(parser, "'%.*s' is no action, so this is no rule", RULE_QUOTE(word));
    if (!action->supported)
        return rule_skip(parser, "action ", word);
    parser->rule->pass = rule_text_is(word, "pass");
    parser->rule->signature.action = rule_arena_text(parser->arena, word.at, word.len);
    return parser->rule->signature.action != NULL ? SL_OK : rule_no_memory(parser);
}

/* The transport that an application protocol is found over. */
static uint16_t transport_of(enum sl_app app)
{
    if (app == SL_APP_DNS || app == SL_APP_SIP || app == SL_APP_ENIP)
        return RULE_UDP | RULE_TCP;
    return app == SL_APP_HTTP || app == SL_APP_TLS || (app >= SL_APP_SMTP && app <= SL_APP_DNP3)
               ? RULE_TCP
               : RULE_UDP;
}

static enum sl_status read_protocol(struct rule_parser *parser, struct rule_text *rest)
{
    static const struct {
        const char *name;
        uint16_t protocol;
    } protocols[] = {
        {"tcp", RULE_TCP},       {"udp", RULE_UDP},
        {"ip", RULE_IP},         {"icmp", RULE_ICMPV4 | RULE_ICMPV6},
        {"tcp-pkt", RULE_TCP},   {"tcp-stream", RULE_TCP},
        {"sctp", RULE_SCTP},     {"pkthdr", RULE_PACKET},
        {"ipv4", RULE_IPV4},     {"ip4", RULE_IPV4},
        {"ipv6", RULE_IPV6},     {"ip6", RULE_IPV6},
        {"icmpv4", RULE_ICMPV4}, {"icmpv6", RULE_ICMPV6},
    };
    const struct rule_text word = rule_word(rest);

    parser->where = word.at;
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        if (rule_text_is(word, protocols[i].name)) {
            parser->rule->protocol = protocols[i].protocol;
            if (rule_text_is(word, "tcp-pkt"))
                parser->rule->sees = RULE_SEES_PACKETS | RULE_SEES_OTHERS;
            if (rule_text_is(word, "tcp-stream"))
                parser->rule->sees = RULE_SEES_STREAMS;
            return SL_OK;
        }
    }
    parser->rule->app = (uint8_t)rule_app_find(word);
    if (parser->rule->app != SL_APP_UNKNOWN) {
        parser->rule->protocol = transport_of((enum sl_app)parser->rule->app);
        return SL_OK;
    }
    for (size_t i = 0; i < word.len; i++) {
        const char c = word.at[i];

        if (c <= ' ' || c >= 0x7F || strchr("\"$![];", c) != NULL)
            return rule_bad(parser, "'%.*s' is no protocol", RULE_QUOTE(word));
    }
    if (word.len == 0)
        return rule_bad(parser, "the protocol is missing");
    if (rule_text_is(word, "any"))
        return rule_bad(parser, "'any' is no protocol: ip stands for any");
    if (!rule_protocol_is_foreign(word))
        return rule_bad(parser, "'%.*s' is no protocol of Suricata or Snort", RULE_QUOTE(word));
    return rule_skip(parser, "protocol ", word);
}

static bool is_balanced(struct rule_text word)
{
    size_t open = 0, close = 0;

    for (size_t i = 0; i < word.len; i++) {
        open += word.at[i] == '[';
        close += word.at[i] == ']';
    }
    return open <= close;
}

/* Reads a word of the header as a list of addresses or of ports. */
static enum sl_status read_list(struct rule_parser *parser, enum rule_list_kind kind,
                                struct rule_text *rest, const struct rule_ranges **ranges)
{
    const struct rule_text word = rule_word(rest);

    if (word.len == 0)
        return rule_bad_at(parser, word.at,
                           "the header ends early: expected action, protocol, addresses, ports, "
                           "direction, addresses, ports");
    if (!is_balanced(word))
        return rule_bad_at(parser, word.at, "a '[' has no ']'");
    return rule_list_read(parser->rules, kind, word, ranges, &parser->where, parser->diag);
}

static enum sl_status read_endpoint(struct rule_parser *parser, struct rule_text *rest,
                                    struct rule_endpoint *endpoint)
{
    const enum sl_status status = read_list(parser, RULE_ADDRESSES, rest, &endpoint->addresses);

    return status == SL_OK ? read_list(parser, RULE_PORTS, rest, &endpoint->ports) : status;
}

static enum sl_status read_direction(struct rule_parser *parser, struct rule_text *rest)
{
    const struct rule_text word = rule_word(rest);

    parser->direction = word.at;
    parser->rule->both_ways = rule_text_is(word, "<>");
    parser->rule->both_sides = rule_text_is(word, "=>");
    if (!parser->rule->both_ways && !parser->rule->both_sides && !rule_text_is(word, "->"))
        return rule_bad_at(parser, word.at, "the direction is '%.*s', not ->, <> or =>",
                           RULE_QUOTE(word));
    return SL_OK;
}

static enum sl_status read_header(struct rule_parser *parser, struct rule_text *rest)
{
    enum sl_status status = read_action(parser, rest);

    if (status == SL_OK)
        status = read_protocol(parser, rest);
    if (status != SL_OK)
        return status;

    /* Snort 3 lets a header end here: any addresses and ports. */
    *rest = rule_trim(*rest);
    if (rest->len != 0 && rest->at[0] == '(') {
        parser->snort3 = true;
        return SL_OK;
    }
    status = read_endpoint(parser, rest, &parser->rule->from);
    if (status == SL_OK)
        status = read_direction(parser, rest);
    if (status == SL_OK)
        status = read_endpoint(parser, rest, &parser->rule->to);
    return status;
}

/* ---- unsupported keywords -------------------------------------------------------------------- */

/* Keeps the keyword of the diagnostic. SL_EUNSUPPORTED, or SL_ENOMEM. */
static enum sl_status add_lack(struct rule_parser *parser)
{
    struct rule_strings *lacks = &parser->lacks;
    const char *keyword = parser->diag->text;
    const char **grown;

    for (size_t i = 0; i < lacks->n; i++)
        if (strcmp(lacks->text[i], keyword) == 0)
            return SL_EUNSUPPORTED;
    grown = rule_grow(lacks->text, &lacks->cap, lacks->n, sizeof *grown);
    if (grown == NULL)
        return rule_no_memory(parser);
    lacks->text = grown;
    lacks->text[lacks->n] = rule_arena_text(parser->arena, keyword, strlen(keyword));
    return lacks->text[lacks->n++] != NULL ? SL_EUNSUPPORTED : rule_no_memory(parser);
}

/* Reads the option at hand. Of a rule that is not supported (`status`) options only have to be of a
 * known name: other faults in them may come from the part that was not read. */
static enum sl_status read_option(struct rule_parser *parser, enum sl_status status)
{
    const enum sl_status its = rule_option_read(parser);

    if (its == SL_EUNSUPPORTED)
        return add_lack(parser);
    return its == SL_ENOMEM || status == SL_OK ? its : status;
}

/* Reads the options behind a header that is supported, or is not (`status`). */
static enum sl_status read_options(struct rule_parser *parser, struct rule_text rest,
                                   enum sl_status status)
{
    enum sl_status next;

    while ((next = option_cut_next(parser, &rest)) == SL_OK) {
        const struct rule_text name = parser->option.name;

        if (parser->option.known == NULL && !rule_keyword_is_foreign(name))
            return rule_bad_at(parser, name.at, "'%.*s' is no option of Suricata or Snort",
                               RULE_QUOTE(name));
        status = read_option(parser, status);
        if (status == SL_OK || status == SL_EUNSUPPORTED)
            continue;

        const char *word = option_cut_last_word(parser->option.value);

        if (status == SL_EFORMAT && parser->option.quoted.at == NULL && word != NULL)
            return rule_bad_at(parser, word, "no ';' ends the option %.*s",
                               RULE_QUOTE(parser->option.name));
        return status;
    }
    if (next != SL_END)
        return next;
    rest = rule_trim(rest);
    if (rest.len != 0 && rest.at[0] != '#')
        return rule_bad_at(parser, rest.at, "'%.*s' stands behind the rule's end",
                           RULE_QUOTE(rest));
    return status;
}

static bool begins_with(struct rule_text text, const char *word)
{
    const size_t len = strlen(word);

    return text.len >= len && rule_text_is((struct rule_text){text.at, len}, word);
}

/* The first quote or bracket, or the first ';', or `end`. */
static const char *next_mark(const char *at, const char *end)
{
    while (at < end && *at != '"' && *at != ';' && *at != '(')
        at++;
    return at;
}

/* Whether the options show that the rule is Snort 3's, which has other senses for some names: by
 * "service:", or by modifiers behind the quotes of a content. */
static bool shows_snort3(struct rule_text options)
{
    const char *const end = options.at + options.len;
    struct rule_text option = {options.at, 0};

    for (const char *at = options.at; (at = next_mark(at, end)) < end; at++) {
        const bool quoted = *at == '"';

        for (at += quoted; quoted && at < end && *at != '"'; at++)
            at += *at == '\\';
        if (at >= end)
            return false;
        if (quoted && !begins_with(option, "content"))
            continue;

        const struct rule_text behind =
            rule_trim_begin((struct rule_text){at + 1, (size_t)(end - at - 1)});

        if (quoted && begins_with(behind, ","))
            return true;
        if (!quoted)
            option = behind;
        if (!quoted && begins_with(option, "service:"))
            return true;
    }
    return false;
}

/* Reads the text behind the header. */
static enum sl_status read_body(struct rule_parser *parser, struct rule_text rest,
                                enum sl_status status)
{
    while (status == SL_EUNSUPPORTED && rule_word(&rest).len != 0) /* the rest of the header */
        continue;
    rest = rule_trim(rest);
    if (rest.len == 0 || rest.at[0] != '(')
        return rule_bad_at(parser, rest.at,
                           "the options are missing: expected '(' behind the header");
    parser->snort3 |= shows_snort3(rest);
    return read_options(parser, (struct rule_text){rest.at + 1, rest.len - 1}, status);
}

/* Whether the rule asks for a header, which a stream does not have. */
static bool asks_header(const struct rule_parser *parser)
{
    for (size_t i = 0; i < parser->n_checks; i++)
        if (parser->check[i].field != RULE_STREAM_SIZE)
            return true;
    return false;
}

/* Contents of TCP are looked for in streams, and those that say where in packets as well. */
static uint8_t what_it_sees(const struct rule_parser *parser)
{
    const struct rule *rule = parser->rule;
    uint8_t sees = RULE_SEES_STREAMS | RULE_SEES_OTHERS;

    if ((rule->protocol & (RULE_TCP | RULE_IP | RULE_IPV4 | RULE_IPV6)) == 0 ||
        asks_header(parser) || parser->n_sections != 0 || parser->n_payloads == 0)
        return RULE_SEES_PACKETS | RULE_SEES_OTHERS;
    for (size_t i = 0; i < parser->n_payloads; i++) {
        const struct rule_payload *step = &parser->payload[i];

        if (step->kind == RULE_CONTENT && !step->relative && !step->decoded &&
            (step->has_begin || step->has_end))
            sees |= RULE_SEES_PACKETS;
    }
    return sees;
}

/* Whether the rule asks for addresses, ports and a protocol of IP alone. Bits of its flow it may
 * only set. */
static bool asks_addresses_alone(const struct rule_parser *parser)
{
    const struct rule *rule = parser->rule;

    for (size_t i = 0; i < parser->n_state_options; i++) {
        const struct state_option *option = &parser->state_option[i];

        if (option->scope == STATE_TX ||
            (option->scope == STATE_FLOW && (option->act != STATE_SET || option->is_number)))
            return false;
    }
    return parser->n_checks == 0 && parser->n_payloads == 0 && rule->app == SL_APP_UNKNOWN &&
           (rule->protocol & RULE_PACKET) == 0 && !parser->has_flow && !parser->snort3;
}

static enum sl_status finish(struct rule_parser *parser)
{
    struct rule *rule = parser->rule;
    enum sl_status status = rule_app_finish(parser);

    if (status != SL_OK)
        return status;
    if (asks_addresses_alone(parser)) {
        rule->flow_mask |= SL_FLOW_FIRST;
        rule->flow_flags |= SL_FLOW_FIRST;
    }
    rule->n_checks = parser->n_checks;
    rule->check =
        rule_arena_copy(parser->arena, parser->check, parser->n_checks * sizeof *parser->check);
    if (rule->check == NULL)
        return rule_no_memory(parser);

    status = rule_value_finish(parser);
    if (rule->sees == 0)
        rule->sees = what_it_sees(parser);
    if (status == SL_OK)
        status = rule_content_finish(parser);
    if (status == SL_OK)
        status = rule_state_finish(parser);
    return status == SL_OK ? rule_signature_finish(parser) : status;
}

enum sl_status rule_parse(struct rule_parser *parser, struct rule_text line, struct rule **rule)
{
    const char *begin = line.at;

    parser->where = begin;
    parser->rule = rule_arena_alloc(parser->arena, sizeof *parser->rule);
    if (parser->rule == NULL)
        return rule_no_memory(parser);
    parser->n_payloads = parser->n_checks = parser->references.n = parser->metadata.n = 0;
    parser->n_state_options = 0;
    parser->state = NULL;
    parser->lacks.n = 0;
    parser->content = SIZE_MAX;
    parser->section = (struct rule_payload){.buffer = RULE_BUFFER_PAYLOAD};
    parser->base64 = (struct rule_payload){.decoded = false};
    parser->n_sections = 0;
    parser->n_names = 0;
    parser->has_flow = parser->asks_files = parser->snort3 = parser->has_service = false;
    parser->class = (struct rule_text){NULL, 0};

    enum sl_status status = read_header(parser, &line);
    if (status == SL_EUNSUPPORTED) {
        parser->rule->protocol = UINT16_MAX; /* it may have any of the buffers */
        status = add_lack(parser);
    }
    if (status == SL_OK || status == SL_EUNSUPPORTED)
        status = read_body(parser, line, status);
    if (status == SL_OK) {
        parser->where = begin; /* a missing option has no place of its own */
        status = finish(parser);
        if (status == SL_EUNSUPPORTED)
            status = add_lack(parser);
    }
    *rule = parser->rule;
    return status;
}
