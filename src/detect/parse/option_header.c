/* SPDX-License-Identifier: MIT */
/* The options that ask for header fields, the payload's length and the flow. */
#include <stdio.h>
#include <string.h>

#include "rule_fail.h"
#include "rule_option.h"

static enum sl_status add_check(struct rule_parser *parser, struct rule_check check)
{
    struct rule_check *grown =
        rule_grow(parser->check, &parser->cap_checks, parser->n_checks, sizeof check);

    if (grown == NULL)
        return rule_no_memory(parser);
    parser->check = grown;
    parser->check[parser->n_checks++] = check;
    return SL_OK;
}

/* Takes a comparison off the front: "<" and the like, "" where there is none. */
static const char *take_relation(struct rule_text *value)
{
    static const char *const relations[] = {"<=", ">=", "!=", "<", ">", "!", "="};

    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        const size_t len = strlen(relations[i]);

        if (value->len >= len && memcmp(value->at, relations[i], len) == 0) {
            *value = rule_trim((struct rule_text){value->at + len, value->len - len});
            return relations[i];
        }
    }
    return "";
}

/* "a<>b" and "a-b" hold the numbers between a and b, as in Suricata. Snort 3's "a<=>b" holds a and
 * b too. */
static bool read_between(struct rule_text value, int64_t max, int64_t *first, int64_t *last)
{
    static const struct {
        const char *separator;
        int64_t inside;
    } forms[] = {{"<=>", 0}, {"<>", 1}, {"-", 1}};

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const size_t len = strlen(forms[i].separator);
        const char *at = memmem(value.at, value.len, forms[i].separator, len);

        if (at == NULL)
            continue;

        const struct rule_text low = {value.at, (size_t)(at - value.at)};
        const struct rule_text high = {at + len, value.len - low.len - len};

        if (!rule_text_number(rule_trim(low), 0, max, first) ||
            !rule_text_number(rule_trim(high), 0, max, last))
            return false;
        *first += forms[i].inside;
        *last -= forms[i].inside;
        return true;
    }
    return false;
}

/* One number with or without a comparison. */
static bool read_compared(const char *relation, struct rule_text value, int64_t max, int64_t *first,
                          int64_t *last)
{
    int64_t number;

    if (!rule_text_number(value, 0, max, &number))
        return false;
    *first = relation[0] == '>' ? number + (relation[1] == '\0') : relation[0] == '<' ? 0 : number;
    *last = relation[0] == '<' ? number - (relation[1] == '\0') : relation[0] == '>' ? max : number;
    return true;
}

enum sl_status rule_read_range(struct rule_parser *parser, struct rule_text value, const char *name,
                               int64_t max, struct rule_check *check)
{
    struct rule_text number = value;
    const char *relation = take_relation(&number);
    int64_t first = 0, last = 0;

    if (!read_compared(relation, number, max, &first, &last) &&
        (relation[0] != '\0' || !read_between(value, max, &first, &last)))
        return rule_bad(parser, "%s is '%.*s', not n, <n, >n or a<>b of numbers up to %d", name,
                        RULE_QUOTE(value), (int)max);
    if (first > last)
        return rule_bad(parser, "%s is '%.*s', which no number meets", name, RULE_QUOTE(value));
    *check = (struct rule_check){.negated = relation[0] == '!',
                                 .mask = UINT32_MAX,
                                 .first = (uint32_t)first,
                                 .last = (uint32_t)last};
    return SL_OK;
}

static enum sl_status read_range(struct rule_parser *parser, struct rule_text value,
                                 const char *name, enum rule_field field, int64_t max)
{
    struct rule_check check;
    const enum sl_status status = rule_read_range(parser, value, name, max, &check);

    check.field = (uint8_t)field;
    return status == SL_OK ? add_check(parser, check) : status;
}

enum sl_status rule_read_dsize(struct rule_parser *parser, struct rule_text value)
{
    return read_range(parser, value, "dsize", RULE_PAYLOAD_LEN, 65535);
}

enum sl_status rule_read_ttl(struct rule_parser *parser, struct rule_text value)
{
    return read_range(parser, value, "ttl", RULE_TTL, 255);
}

enum sl_status rule_read_id(struct rule_parser *parser, struct rule_text value)
{
    if (value.len >= 2 && value.at[0] == '"' && value.at[value.len - 1] == '"')
        value = rule_trim((struct rule_text){value.at + 1, value.len - 2});
    return read_range(parser, value, "id", RULE_IP_ID, 65535);
}

enum sl_status rule_read_itype(struct rule_parser *parser, struct rule_text value)
{
    return read_range(parser, value, "itype", RULE_ICMP_TYPE, 255);
}

enum sl_status rule_read_icode(struct rule_parser *parser, struct rule_text value)
{
    return read_range(parser, value, "icode", RULE_ICMP_CODE, 255);
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
    const char *relation = take_relation(&name);
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        if (rule_text_is(name, protocols[i].name)) {
            snprintf(text, sizeof text, "%s%s", relation, protocols[i].number);
            value = (struct rule_text){text, strlen(text)};
            break;
        }
    }
    return read_range(parser, value, "ip_proto", RULE_IP_PROTOCOL, 255);
}

enum sl_status rule_read_sameip(struct rule_parser *parser, struct rule_text value)
{
    (void)value;
    return add_check(
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
        return add_check(parser, bits_check(RULE_TCP_FLAGS, 0xFF, '*', (uint8_t)~ignored));
    return add_check(parser, bits_check(RULE_TCP_FLAGS, set, mode, (uint8_t)~ignored));
}

enum sl_status rule_read_fragbits(struct rule_parser *parser, struct rule_text value)
{
    static const struct bit bits[] = {{'R', 0x80}, {'D', 0x40}, {'M', 0x20}, {'\0', 0}};
    uint8_t set;
    char mode = '\0';

    if (!read_bits(value, bits, &set, &mode) || set == 0)
        return rule_bad(parser, "fragbits are '%.*s', not letters of RDM with one of +*!",
                        RULE_QUOTE(value));
    return add_check(parser, bits_check(RULE_FRAGMENT_BITS, set, mode, 0xE0));
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
    } words[] = {
        {"to_server", side, side, false},
        {"from_client", side, side, false},
        {"to_client", side, RULE_FLOW_KNOWN, false},
        {"from_server", side, RULE_FLOW_KNOWN, false},
        {"established", SL_FLOW_ESTABLISHED, SL_FLOW_ESTABLISHED, false},
        {"not_established", SL_FLOW_ESTABLISHED, 0, false},
        {"stateless", 0, 0, false},
        {"no_stream", 0, 0, false}, /* packets are all there is, none of them reassembled */
        {"no_frag", 0, 0, false},
        {"only_stream", 0, 0, true},
        {"only_frag", 0, 0, true},
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
        if (!want_flow(parser->rule, words[i].mask, words[i].flags))
            return rule_bad_at(parser, word.at, "flow contradicts itself at '%.*s'",
                               RULE_QUOTE(word));
    }
    return SL_OK;
}
