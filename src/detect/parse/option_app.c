/* SPDX-License-Identifier: MIT */
/* The options that ask for an application protocol, and for fields of its messages. */
#include <stdio.h>
#include <string.h>

#include "app/dns.h"
#include "rule_fail.h"
#include "rule_option.h"

/* ---- DNS ------------------------------------------------------------------------------------- */

/* Adds a check of a message of DNS. DNS over TCP needs streams. */
static enum sl_status add_dns(struct rule_parser *parser, struct rule_check check, uint8_t field)
{
    if ((parser->rule->protocol & (RULE_UDP | RULE_IP | RULE_IPV4 | RULE_IPV6)) == 0)
        return rule_skip(parser, "", parser->option.name);
    parser->rule->app = SL_APP_DNS;
    check.field = field;
    return rule_check_add(parser, check);
}

typedef const char *code_text(uint16_t code, char number[DNS_NUMBER_LEN]);

/* Reads a range of numbers, or the name of one, with '!' before it or not. */
static enum sl_status read_code(struct rule_parser *parser, struct rule_text value,
                                const char *option, uint32_t max, code_text *text_of,
                                struct rule_check *check)
{
    struct rule_text name = value;
    const char *relation = rule_take_relation(&name);
    char number[DNS_NUMBER_LEN], text[DNS_NUMBER_LEN + 2];

    for (uint32_t code = 0; code <= max && name.len != 0; code++) {
        if (!rule_text_is(name, text_of((uint16_t)code, number)))
            continue;
        snprintf(text, sizeof text, "%s%u", relation, code);
        return rule_read_range(parser, (struct rule_text){text, strlen(text)}, option, max, check);
    }
    return rule_read_range(parser, value, option, max, check);
}

enum sl_status rule_read_dns_opcode(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;
    const enum sl_status status = rule_read_range(parser, value, "dns.opcode", 15, &check);

    return status == SL_OK ? add_dns(parser, check, RULE_DNS_OPCODE) : status;
}

enum sl_status rule_read_dns_rcode(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;
    const enum sl_status status = read_code(parser, value, "dns.rcode", 15, dns_rcode_text, &check);

    return status == SL_OK ? add_dns(parser, check, RULE_DNS_RCODE) : status;
}

/* "type" or "type,which". */
enum sl_status rule_read_dns_rrtype(struct rule_parser *parser, struct rule_text value)
{
    enum { TYPE_MAX = 65535, INDEX_MAX = 100 };
    struct rule_check check;
    struct rule_text type;
    int8_t which;

    rule_text_split(&value, ',', &type);
    enum sl_status status =
        rule_read_which(parser, rule_trim(value), -INDEX_MAX, INDEX_MAX, &which);
    if (status == SL_OK)
        status = read_code(parser, type, "dns.rrtype", TYPE_MAX, dns_type_text, &check);
    if (status != SL_OK)
        return status;
    check.which = which;
    return add_dns(parser, check, RULE_DNS_RRTYPE);
}

/* ---- protocols ------------------------------------------------------------------------------- */

/* Whether the word says which side's protocol is meant. A datagram of DNS has one. */
static bool is_side(struct rule_text word)
{
    static const char *const sides[] = {"final",     "original",  "either", "to_server",
                                        "to_client", "direction", "exact"};

    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        if (rule_text_is(word, sides[i]))
            return true;
    return false;
}

static enum sl_app find_app(struct rule_text name)
{
    for (int app = SL_APP_UNKNOWN + 1; app < SL_N_APPS; app++)
        if (rule_text_is(name, sl_app_name((enum sl_app)app)))
            return (enum sl_app)app;
    return SL_APP_UNKNOWN;
}

/* A protocol, with '!' before it or not, and sides behind commas. A negated one asks for another
 * protocol that is known. A list of several, and one that is not found here, skips the rule. */
enum sl_status rule_read_app_layer_protocol(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check = {.field = RULE_APP, .mask = UINT32_MAX};
    struct rule_text name, side;

    if (!rule_text_split(&value, ',', &name) || name.len == 0)
        return rule_bad(parser, "app-layer-protocol has no protocol");
    check.negated = name.at[0] == '!';
    if (check.negated)
        name = rule_trim((struct rule_text){name.at + 1, name.len - 1});
    while (rule_text_split(&value, ',', &side))
        if (!is_side(side))
            return rule_bad_at(parser, side.at, "app-layer-protocol does not know '%.*s'",
                               RULE_QUOTE(side));
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] != '|' && !rule_is_keyword((struct rule_text){name.at + i, 1}))
            return rule_bad_at(parser, name.at, "'%.*s' is no protocol", RULE_QUOTE(name));
    if (name.len == 0)
        return rule_bad(parser, "app-layer-protocol has no protocol");

    const enum sl_app app = find_app(name);

    if (app == SL_APP_UNKNOWN)
        return rule_skip(parser, "app-layer-protocol:", name);
    check.first = check.last = app;
    return rule_check_add(parser, check);
}
