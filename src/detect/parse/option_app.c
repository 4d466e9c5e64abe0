/* SPDX-License-Identifier: MIT */
/* The options that ask for an application protocol, and for fields of its messages. */
#include <stdio.h>
#include <string.h>

#include "app/dns.h"
#include "detect/state/rule_state.h"
#include "rule_fail.h"
#include "rule_option.h"

/* ---- DNS ------------------------------------------------------------------------------------- */

/* Adds a check of a message of DNS. */
static enum sl_status add_dns(struct rule_parser *parser, struct rule_check check, uint8_t field)
{
    if ((parser->rule->protocol & (RULE_UDP | RULE_TCP | RULE_IP | RULE_IPV4 | RULE_IPV6)) == 0)
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

/* The name behind "dns." */
bool rule_read_dns_event(struct rule_parser *parser, struct rule_text name, enum sl_status *status)
{
    for (uint32_t i = 0; i < DNS_N_EVENTS; i++) {
        const uint32_t bit = 1u << i;

        if (!rule_text_is(name, dns_event_name((enum dns_event)i)))
            continue;
        *status = add_dns(parser, (struct rule_check){.mask = bit, .first = bit, .last = bit},
                          RULE_DNS_EVENTS);
        return true;
    }
    return false;
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

/* ---- other messages -------------------------------------------------------------------------- */

/* The names that Suricata has for numbers, up to NULL. */
static const char *const ntp_modes[] = {"reserved", "symmetric_active", "symmetric_passive",
                                        "client",   "server",           "broadcast",
                                        "control",  "private",          NULL};
static const char *const pdu_types[] = {
    "get_request",      "get_next_request", "response", "set_request", "trap_v1",
    "get_bulk_request", "inform_request",   "trap_v2",  "report",      NULL};

/* Writes the number of a name behind its relation. False: it is none of them. */
static bool name_number(const char *const *names, struct rule_text value, char text[16])
{
    const char *relation = rule_take_relation(&value);

    for (int i = 0; names != NULL && names[i] != NULL; i++)
        if (rule_text_is(value, names[i])) {
            snprintf(text, 16, "%s%d", relation, i);
            return true;
        }
    return false;
}

enum sl_status rule_read_message_number(struct rule_parser *parser, struct rule_text value)
{
    static const struct {
        const char *name;
        uint8_t field, app;
        uint32_t max;
        const char *const *names;
    } numbers[] = {
        {"ntp.version", RULE_NTP_VERSION, SL_APP_NTP, 255, NULL},
        {"ntp.mode", RULE_NTP_MODE, SL_APP_NTP, 255, ntp_modes},
        {"ntp.stratum", RULE_NTP_STRATUM, SL_APP_NTP, 255, NULL},
        {"snmp.version", RULE_SNMP_VERSION, SL_APP_SNMP, UINT32_MAX, NULL},
        {"snmp.pdu_type", RULE_SNMP_PDU_TYPE, SL_APP_SNMP, UINT32_MAX, pdu_types},
        {"dhcp.leasetime", RULE_DHCP_LEASE_TIME, SL_APP_DHCP, UINT32_MAX, NULL},
        {"dhcp.renewal_time", RULE_DHCP_RENEWAL_TIME, SL_APP_DHCP, UINT32_MAX, NULL},
        {"dhcp.rebinding_time", RULE_DHCP_REBINDING_TIME, SL_APP_DHCP, UINT32_MAX, NULL},
    };
    struct rule_check check;
    char text[16];
    size_t i = 0;

    while (!rule_text_is(parser->option.name, numbers[i].name))
        i++;
    if (name_number(numbers[i].names, value, text))
        value = (struct rule_text){text, strlen(text)};
    const enum sl_status status =
        rule_read_range(parser, value, numbers[i].name, numbers[i].max, &check);

    if (status != SL_OK)
        return status;
    if ((parser->rule->protocol & (RULE_UDP | RULE_IP | RULE_IPV4 | RULE_IPV6)) == 0)
        return rule_skip(parser, "", parser->option.name);
    parser->rule->app = numbers[i].app;
    check.field = numbers[i].field;
    return rule_check_add(parser, check);
}

/* ---- protocols ------------------------------------------------------------------------------- */

/* Takes the word that says whose protocol is meant. False: it is none. */
static bool read_side(struct rule_text word, int8_t *side)
{
    static const struct {
        const char *word;
        enum rule_app_side side;
    } sides[] = {{"final", RULE_APP_OF_FLOW},       {"original", RULE_APP_BEFORE},
                 {"either", RULE_APP_OF_EITHER},    {"to_server", RULE_APP_OF_CLIENT},
                 {"to_client", RULE_APP_OF_SERVER}, {"direction", RULE_APP_OF_SENDER},
                 {"exact", RULE_APP_OF_SENDER}};

    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        if (rule_text_is(word, sides[i].word)) {
            *side = (int8_t)sides[i].side;
            return true;
        }
    return false;
}

/* Suricata calls HTTP/1 so, and Snort TLS. */
enum sl_app rule_app_find(struct rule_text name)
{
    if (rule_text_is(name, "http1"))
        return SL_APP_HTTP;
    if (rule_text_is(name, "ssl"))
        return SL_APP_TLS;
    for (int app = SL_APP_UNKNOWN + 1; app < SL_N_APPS; app++)
        if (rule_text_is(name, sl_app_name((enum sl_app)app)))
            return (enum sl_app)app;
    return SL_APP_UNKNOWN;
}

/* The protocols of a name, as bits. "http" stands for all versions, as in Suricata. */
static uint32_t app_bits(struct rule_text name)
{
    const enum sl_app app = rule_app_find(name);
    const uint32_t more = rule_text_is(name, "http") ? 1u << SL_APP_HTTP2 : 0;

    return app != SL_APP_UNKNOWN ? 1u << app | more : 0;
}

_Static_assert(SL_N_APPS < 32, "protocols are bits of a mask");

/* A protocol, with '!' before it or not, and sides behind commas. A negated one asks for another
 * protocol, or for a side that shows none. A list of several, and one that is not found here, skips
 * the rule. */
enum sl_status rule_read_app_layer_protocol(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check = {.field = RULE_APP, .which = RULE_APP_OF_SENDER};
    struct rule_text name, side;

    if (!rule_text_split(&value, ',', &name) || name.len == 0)
        return rule_bad(parser, "app-layer-protocol has no protocol");
    check.negated = name.at[0] == '!';
    if (check.negated)
        name = rule_trim((struct rule_text){name.at + 1, name.len - 1});
    while (rule_text_split(&value, ',', &side))
        if (!read_side(side, &check.which))
            return rule_bad_at(parser, side.at, "app-layer-protocol does not know '%.*s'",
                               RULE_QUOTE(side));
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] != '|' && !rule_is_keyword((struct rule_text){name.at + i, 1}))
            return rule_bad_at(parser, name.at, "'%.*s' is no protocol", RULE_QUOTE(name));
    if (name.len == 0)
        return rule_bad(parser, "app-layer-protocol has no protocol");

    check.mask = app_bits(name);
    if (check.mask == 0)
        return rule_skip(parser, "app-layer-protocol:", name);
    return rule_check_add(parser, check);
}

/* Whether the rule asks for protocols of flows alone, and for a direction. */
static bool asks_protocol_alone(const struct rule_parser *parser)
{
    const struct rule *rule = parser->rule;

    for (size_t i = 0; i < parser->n_checks; i++)
        if (parser->check[i].field != RULE_APP)
            return false;
    for (size_t i = 0; i < parser->n_state_options; i++)
        if (parser->state_option[i].act != STATE_SET)
            return false;
    return parser->n_checks != 0 && parser->n_payloads == 0 && rule->app == SL_APP_UNKNOWN &&
           (rule->flow_mask & ~(RULE_FLOW_KNOWN | SL_FLOW_TO_SERVER)) == 0 && rule->sees == 0;
}

enum sl_status rule_app_finish(struct rule_parser *parser)
{
    return asks_protocol_alone(parser)
               ? rule_check_add(parser,
                                (struct rule_check){.field = RULE_APP, .which = RULE_APP_FOUND})
               : SL_OK;
}
