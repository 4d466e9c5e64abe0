/* SPDX-License-Identifier: MIT */
/* The options that ask for header fields, the payload's length and the flow. */
#include <stdio.h>
#include <string.h>

#include "detect/rule_ip_option.h"
#include "rule_fail.h"
#include "rule_option.h"

/* The options that compare a field with numbers. Those that Snort writes in quotes may have some.
 */
static const struct number {
    const char *name;
    uint8_t field; /* enum rule_field */
    bool may_be_quoted;
    uint32_t max;
} numbers[] = {
    {"dsize", RULE_PAYLOAD_LEN, false, 65535},
    {"ttl", RULE_TTL, false, 255},
    {"id", RULE_IP_ID, true, 65535},
    {"fragoffset", RULE_FRAGMENT_OFFSET, false, 8191},
    {"seq", RULE_TCP_SEQ, false, UINT32_MAX},
    {"tcp.seq", RULE_TCP_SEQ, false, UINT32_MAX},
    {"ack", RULE_TCP_ACK, false, UINT32_MAX},
    {"tcp.ack", RULE_TCP_ACK, false, UINT32_MAX},
    {"window", RULE_TCP_WINDOW, false, 65535},
    {"tcp.window", RULE_TCP_WINDOW, false, 65535},
    {"tcp.mss", RULE_TCP_MSS, false, 65535},
    {"tcp.wscale", RULE_TCP_WSCALE, false, 255},
    {"itype", RULE_ICMP_TYPE, false, 255},
    {"icode", RULE_ICMP_CODE, false, 255},
    {"icmp_id", RULE_ICMP_ID, true, 65535},
    {"icmp_seq", RULE_ICMP_SEQ, true, 65535},
    {"icmpv6.mtu", RULE_ICMPV6_MTU, false, UINT32_MAX},
    {"igmp.type", RULE_IGMP_TYPE, false, 255},
    {"vlan.layers", RULE_VLAN_LAYERS, false, RULE_N_VLANS},
};

static enum sl_status add_range(struct rule_parser *parser, struct rule_text value,
                                const char *name, uint32_t field, uint32_t max)
{
    struct rule_check check;
    const enum sl_status status = rule_read_range(parser, value, name, max, &check);

    check.field = (uint8_t)field;
    return status == SL_OK ? rule_check_add(parser, check) : status;
}

enum sl_status rule_read_number(struct rule_parser *parser, struct rule_text value)
{
    const struct number *number = numbers;

    while (!rule_text_is(parser->option.name, number->name))
        number++;
    if (number->may_be_quoted && value.len >= 2 && value.at[0] == '"' &&
        value.at[value.len - 1] == '"')
        value = rule_trim((struct rule_text){value.at + 1, value.len - 2});
    return add_range(parser, value, number->name, number->field, number->max);
}

/* Hexadecimal numbers have "x" before them, or "0x". */
enum sl_status rule_read_tos(struct rule_parser *parser, struct rule_text value)
{
    struct rule_text digits = value;
    const char *relation = rule_take_relation(&digits);
    char text[16];

    if (digits.len > 1 && digits.len <= 3 && (digits.at[0] | 0x20) == 'x') {
        snprintf(text, sizeof text, "%s0%.*s", relation, RULE_QUOTE(digits));
        if (add_range(parser, (struct rule_text){text, strlen(text)}, "tos", RULE_TOS, 255) ==
            SL_OK)
            return SL_OK;
    }
    return add_range(parser, value, "tos", RULE_TOS, 255);
}

/* "id" or "id,layer": a layer from 0, the outermost, or from -1, the innermost; "any", or "all". */
enum sl_status rule_read_vlan_id(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;
    struct rule_text id;
    int8_t which;

    rule_text_split(&value, ',', &id);
    enum sl_status status = rule_read_which(parser, rule_trim(value), -3, 2, &which);
    if (status == SL_OK)
        status = rule_read_range(parser, id, "vlan.id", 4095, &check);
    if (status != SL_OK)
        return status;
    check.field = RULE_VLAN_ID;
    check.which = which;
    return rule_check_add(parser, check);
}

enum sl_status rule_read_ipopts(struct rule_parser *parser, struct rule_text value)
{
    static const struct {
        const char *name;
        uint8_t kind; /* the byte that the option begins with */
    } options[] = {
        {"eol", 0},     {"nop", 1},    {"rr", 7},       {"qs", 25},    {"ts", 68},
        {"sec", 130},   {"lsrr", 131}, {"lsrre", 132},  {"esec", 133}, {"cipso", 134},
        {"satid", 136}, {"ssrr", 137}, {"rtralt", 148},
    };
    struct rule_check check = {.field = RULE_IP_OPTIONS, .mask = UINT32_MAX, .negated = true};

    if (rule_text_is(value, "any")) /* more than none */
        return rule_check_add(parser, check);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (!rule_text_is(value, options[i].name))
            continue;
        check.mask = check.first = check.last = rule_ip_option_bit(options[i].kind);
        check.negated = false;
        return rule_check_add(parser, check);
    }
    return rule_bad(parser, "'%.*s' is no option of IPv4", RULE_QUOTE(value));
}

enum sl_status rule_read_ip_proto(struct rule_parser *parser, struct rule_text value)
{
    static const struct {
        const char *name;
        const char *number;
    } protocols[] = {
        {"icmp", "1"},  {"igmp", "2"},  {"ipip", "4"},       {"tcp", "6"},     {"egp", "8"},
        {"igp", "9"},   {"udp", "17"},  {"ipv6", "41"},      {"rsvp", "46"},   {"gre", "47"},
        {"esp", "50"},  {"ah", "51"},   {"ipv6-icmp", "58"}, {"icmpv6", "58"}, {"eigrp", "88"},
        {"ospf", "89"}, {"pim", "103"}, {"vrrp", "112"},     {"l2tp", "115"},  {"sctp", "132"},
    };
    struct rule_text name = value;
    char text[8];

    /* The name's number takes its place behind the comparison. */
    const char *relation = rule_take_relation(&name);
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        if (rule_text_is(name, protocols[i].name)) {
            snprintf(text, sizeof text, "%s%s", relation, protocols[i].number);
            value = (struct rule_text){text, strlen(text)};
            break;
        }
    }
    return add_range(parser, value, "ip_proto", RULE_IP_PROTOCOL, 255);
}

enum sl_status rule_read_sameip(struct rule_parser *parser, struct rule_text value)
{
    (void)value;
    return rule_check_add(
        parser,
        (struct rule_check){.field = RULE_SAME_ADDRESS, .mask = UINT32_MAX, .first = 1, .last = 1});
}

/* Letters that stand for bits. */
struct bit {
    char letter;
    uint8_t bit;
};

/* Reads letters, blanks between them ignored, and at most one of "+*!". '0' stands for no bit. */
static bool read_bits(struct rule_text text, const struct bit *bits, uint8_t *value, char *mode)
{
    *value = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.at[i];
        const char upper = (char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
        const struct bit *bit = bits;

        if (c == '0' || rule_blank(c))
            continue;
        if (c == '+' || c == '*' || c == '!') {
            if (mode == NULL || *mode != '\0')
                return false;
            *mode = c;
            continue;
        }
        while (bit->letter != '\0' && bit->letter != upper)
            bit++;
        if (bit->letter == '\0')
            return false;
        *value |= bit->bit;
    }
    return text.len != 0;
}

/* `compared` are the bits that count. "!" asks that none of the bits is set, as both manuals state
 * and as Snort does. Suricata's code asks that not all of them are set. */
static struct rule_check bits_check(enum rule_field field, uint8_t bits, char mode,
                                    uint8_t compared)
{
    struct rule_check check = {.field = (uint8_t)field};

    switch (mode) {
    case '+': /* all of them, whatever else */
        check.mask = bits & compared;
        check.first = check.last = bits;
        break;
    case '*': /* at least one of them */
    case '!': /* none of them */
        check.mask = bits & compared;
        check.negated = mode == '*';
        break;
    default: /* these alone */
        check.mask = compared;
        check.first = check.last = bits;
        break;
    }
    return check;
}

enum sl_status rule_read_flags(struct rule_parser *parser, struct rule_text value)
{
    static const struct bit bits[] = {{'F', 0x01}, {'S', 0x02}, {'R', 0x04}, {'P', 0x08},
                                      {'A', 0x10}, {'U', 0x20}, {'E', 0x40}, {'2', 0x40},
                                      {'C', 0x80}, {'1', 0x80}, {'\0', 0}};
    struct rule_text rest = value, flags;
    uint8_t set, ignored = 0;
    char mode = '\0';

    rule_text_split(&rest, ',', &flags);
    rest = rule_trim(rest);
    if (!read_bits(flags, bits, &set, &mode) ||
        (rest.len != 0 && !read_bits(rest, bits, &ignored, NULL)) ||
        (set == 0 && (mode == '+' || mode == '*')))
        return rule_bad(parser, "flags are '%.*s', not letters of FSRPAUEC120 with one of +*!",
                        RULE_QUOTE(value));
    if (set == 0 && mode == '!') /* not no flag: any */
        return rule_check_add(parser, bits_check(RULE_TCP_FLAGS, 0xFF, '*', (uint8_t)~ignored));
    return rule_check_add(parser, bits_check(RULE_TCP_FLAGS, set, mode, (uint8_t)~ignored));
}

enum sl_status rule_read_fragbits(struct rule_parser *parser, struct rule_text value)
{
    static const struct bit bits[] = {{'R', 0x80}, {'D', 0x40}, {'M', 0x20}, {'\0', 0}};
    uint8_t set;
    char mode = '\0';

    if (!read_bits(value, bits, &set, &mode) || set == 0)
        return rule_bad(parser, "fragbits are '%.*s', not letters of RDM with one of +*!",
                        RULE_QUOTE(value));
    return rule_check_add(parser, bits_check(RULE_FRAGMENT_BITS, set, mode, 0xE0));
}

/* Asks for flow flags; false: the rule asks for their opposite already. */
static bool want_flow(struct rule *rule, uint8_t mask, uint8_t flags)
{
    if (((rule->flow_flags ^ flags) & rule->flow_mask & mask) != 0)
        return false;
    rule->flow_mask |= mask;
    rule->flow_flags |= flags;
    return true;
}

enum sl_status rule_read_flow(struct rule_parser *parser, struct rule_text value)
{
    const uint8_t side = RULE_FLOW_KNOWN | SL_FLOW_TO_SERVER;
    const struct {
        const char *name;
        uint8_t mask, flags;
        bool skip;
        uint8_t sees;
    } words[] = {
        {"to_server", side, side, false, 0},
        {"from_client", side, side, false, 0},
        {"to_client", side, RULE_FLOW_KNOWN, false, 0},
        {"from_server", side, RULE_FLOW_KNOWN, false, 0},
        {"established", SL_FLOW_ESTABLISHED, SL_FLOW_ESTABLISHED, false, 0},
        {"not_established", SL_FLOW_ESTABLISHED, 0, false, 0},
        {"stateless", 0, 0, false, 0},
        {"no_stream", 0, 0, false, RULE_SEES_PACKETS | RULE_SEES_OTHERS},
        {"no_frag", 0, 0, false, 0},
        {"only_stream", 0, 0, false, RULE_SEES_STREAMS},
        {"only_frag", 0, 0, true, 0},
    };
    const size_t n_words = sizeof words / sizeof words[0];
    struct rule_text word;

    if (parser->has_flow)
        return rule_bad_at(parser, parser->name, "the rule has more than one flow");
    parser->has_flow = true;
    while (rule_text_split(&value, ',', &word)) {
        size_t i = 0;

        while (i < n_words && !rule_text_is(word, words[i].name))
            i++;
        if (i == n_words)
            return rule_bad_at(parser, word.at, "flow does not know '%.*s'", RULE_QUOTE(word));
        if (words[i].skip)
            return rule_skip(parser, "flow ", word);
        if (words[i].sees != 0)
            parser->rule->sees = words[i].sees;
        if (!want_flow(parser->rule, words[i].mask, words[i].flags))
            return rule_bad_at(parser, word.at, "flow contradicts itself at '%.*s'",
                               RULE_QUOTE(word));
    }
    return SL_OK;
}
