/* SPDX-License-Identifier: MIT */
#include "rule_literal.h"

#include <string.h>

#include "base/letters.h"

/* The part that the transforms of the content's buffer leave for the matcher. */
static enum transform_finds finds(const struct rule_payload *content)
{
    /* The payload has parts of a message as they are alone. */
    if (content->chain != NULL && content->buffer >= RULE_BUFFER_NTP_REFERENCE_ID &&
        !rule_buffer_is_value(content->buffer))
        return TRANSFORM_FINDS_NOTHING;
    return content->chain != NULL ? transform_chain_finds(content->chain) : TRANSFORM_FINDS_BYTES;
}

static bool ignores_case(const struct rule_payload *content)
{
    return content->nocase || finds(content) == TRANSFORM_FINDS_LETTERS;
}

/* The period that "dotprefix" puts before a value of a message is in no made item. */
static uint32_t unsearched(const struct rule_payload *content)
{
    if (content->chain == NULL || !rule_buffer_is_value(content->buffer) ||
        content->fast_offset != 0 || content->fast_len == 0 || content->bytes[0] != '.')
        return 0;
    for (uint32_t i = 0; i < content->chain->n; i++)
        if (content->chain->step[i].kind == TRANSFORM_DOT_PREFIX)
            return 1;
    return 0;
}

/* The last bytes: in a stream, no later segment brings a part of the content then. */
struct sl_literal rule_literal_of(const struct rule_payload *content)
{
    const uint32_t left = content->fast_len - unsearched(content);
    const uint32_t len = left < SL_RULE_LITERAL_MAX ? left : SL_RULE_LITERAL_MAX;
    const uint8_t *end = content->bytes + content->fast_offset + content->fast_len;

    return (struct sl_literal){
        .bytes = end - len, .len = len, .flags = ignores_case(content) ? SL_LITERAL_NOCASE : 0};
}

/* Whether a value is new in each message that the rule is evaluated on. Bytes of a packet need not
 * come with a message. */
static bool is_new(const struct rule *rule, enum rule_buffer buffer)
{
    static const uint16_t of_side[] = {
        [RULE_OF_CLIENT] = RULE_SEES_CLIENT | RULE_SEES_CLIENT_LATER,
        [RULE_OF_SERVER] = RULE_SEES_SERVER | RULE_SEES_SERVER_LATER,
        [RULE_OF_SENDER] = RULE_SEES_MESSAGES,
    };
    static const uint16_t later = RULE_SEES_CLIENT_LATER | RULE_SEES_SERVER_LATER;

    if ((rule->sees & RULE_SEES_MESSAGES) == 0 || rule_buffer_is_name(buffer) ||
        rule_buffer_is_sip(buffer))
        return true;
    if (!rule_buffer_is_value(buffer) || (rule->sees & RULE_SEES_FILES) != 0)
        return false;

    const uint32_t when = rule_value_is_later(rule_buffer_id(buffer)) ? later : ~(uint32_t)later;

    return (rule->sees & ~(of_side[rule_buffer_side(buffer)] & when)) == 0;
}

const char *rule_literal_unfit(const struct rule *rule, const struct rule_payload *content)
{
    if (content->negated)
        return "it is negated";
    if (content->optional)
        return "its buffer may be absent";
    if (content->decoded)
        return "it is in base64";
    if (rule_literal_of(content).len == 0)
        return "no byte of it is certain";
    if (rule_buffer_searched(content->buffer) == 0)
        return "its buffer is not searched";
    if (!is_new(rule, content->buffer))
        return "it came before what the rule waits for";
    return finds(content) == TRANSFORM_FINDS_NOTHING ? "its transforms hide it" : NULL;
}

/* Bytes that fill room in formats of all kinds. */
static bool fills(uint8_t byte)
{
    return byte == 0x00 || byte == 0xFF || byte == ' ';
}

uint32_t rule_literal_rarity(const struct rule_payload *content)
{
    enum { OF_BUFFER = 1 << 16 }; /* names are few bytes of the traffic */
    const struct sl_literal literal = rule_literal_of(content);
    bool seen[256] = {false};
    uint32_t sum = content->section != 0 ? OF_BUFFER : 0;

    for (uint32_t i = 0; i < literal.len; i++) {
        const uint8_t byte = literal.bytes[i];

        if (seen[byte] || fills(byte))
            sum += 1;
        else
            sum += 4;
        seen[byte] = true;
    }
    return sum;
}

bool rule_literal_is_run(struct sl_literal literal)
{
    const bool nocase = (literal.flags & SL_LITERAL_NOCASE) != 0;

    for (uint32_t i = 1; i < literal.len; i++)
        if (nocase ? letter_lower(literal.bytes[i]) != letter_lower(literal.bytes[0])
                   : literal.bytes[i] != literal.bytes[0])
            return false;
    return true;
}

bool rule_literal_is_common(struct sl_literal literal)
{
    enum { RARE_LEN = 16 };

    return literal.len <= 2 ||
           (rule_literal_is_run(literal) && (literal.len < RARE_LEN || fills(literal.bytes[0])));
}

/* Of the contents, or of the expressions. */
static const struct rule_payload *rarest(const struct rule *rule, enum rule_payload_kind kind,
                                         bool may_be_common)
{
    const struct rule_payload *best = NULL;
    uint32_t best_rarity = 0;

    for (size_t i = 0; i < rule->n_payloads; i++) {
        const struct rule_payload *content = &rule->payload[i];

        if (content->kind != kind || rule_literal_unfit(rule, content) != NULL ||
            (!may_be_common && rule_literal_is_common(rule_literal_of(content))))
            continue;
        if (content->marked)
            return content;

        const uint32_t its = rule_literal_rarity(content);

        if (its > best_rarity) {
            best = content;
            best_rarity = its;
        }
    }
    return best;
}

/* Whether the rule is rather tried on each packet that its header asks for. One byte occurs more
 * often than packets do. */
static bool is_dearer(const struct rule *rule, struct sl_literal literal)
{
    const enum rule_key key = rule_key_of(rule);

    return literal.len == 1 ||
           (rule_literal_is_common(literal) && key != RULE_BY_PROTOCOL && key != RULE_BY_TCP_FLAGS);
}

const struct rule_payload *rule_literal_choose(const struct rule *rule)
{
    const struct rule_payload *content = rarest(rule, RULE_CONTENT, true);

    if (content == NULL)
        content = rarest(rule, RULE_EXPRESSION, true);
    if (content == NULL || !is_dearer(rule, rule_literal_of(content)))
        return content;
    return rule_key_of(rule) == RULE_BY_MESSAGE ? rarest(rule, RULE_CONTENT, false) : NULL;
}

const struct rule_payload *rule_literal_sought(const struct rule *rule)
{
    const struct rule_payload *content = rarest(rule, RULE_CONTENT, true);

    return content != NULL && content->section == 0 ? content : NULL;
}

static bool few_ports(const struct rule_ranges *ports)
{
    unsigned __int128 n = 0;

    if (ports == NULL)
        return false;
    for (size_t i = 0; i < ports->n; i++)
        n += ports->range[i].last - ports->range[i].first + 1;
    return n <= RULE_KEYS_MAX;
}

const struct rule_ranges *rule_either_ports(const struct rule *rule)
{
    if (!rule->both_ways)
        return NULL;
    if (few_ports(rule->to.ports))
        return rule->to.ports;
    return few_ports(rule->from.ports) ? rule->from.ports : NULL;
}

static const struct rule_check *few_values(const struct rule *rule, enum rule_field field)
{
    for (size_t i = 0; i < rule->n_checks; i++) {
        const struct rule_check *check = &rule->check[i];

        if (check->field == field && !check->negated && check->mask == UINT32_MAX &&
            check->last <= UINT8_MAX && check->last - check->first < RULE_KEYS_MAX)
            return check;
    }
    return NULL;
}

const struct rule_check *rule_icmp_types(const struct rule *rule)
{
    return few_values(rule, RULE_ICMP_TYPE);
}

const struct rule_check *rule_ip_protocols(const struct rule *rule)
{
    return few_values(rule, RULE_IP_PROTOCOL);
}

const struct rule_check *rule_tcp_flags(const struct rule *rule)
{
    if (rule->protocol != RULE_TCP)
        return NULL;
    for (size_t i = 0; i < rule->n_checks; i++) {
        const struct rule_check *check = &rule->check[i];
        unsigned n = 0;

        for (uint32_t flags = 0; check->field == RULE_TCP_FLAGS && flags <= UINT8_MAX; flags++)
            n += rule_check_holds(check, flags);
        if (n != 0 && n <= RULE_KEYS_MAX)
            return check;
    }
    return NULL;
}

/* Most packets have one of the networks that variables name. Less than a sixteenth of IPv4, and of
 * all addresses, is few. */
static bool few_addresses(const struct rule_ranges *addresses)
{
    const unsigned __int128 ipv4 = UINT64_C(0xFFFF) << 32, one = 1;
    unsigned __int128 n = 0, n_ipv4 = 0;

    if (addresses == NULL || addresses->of_variables)
        return false;
    for (size_t i = 0; i < addresses->n; i++) {
        const struct rule_range range = addresses->range[i];

        n += range.last - range.first + 1;
        if (range.first >= ipv4 && range.last <= (ipv4 | UINT32_MAX))
            n_ipv4 += range.last - range.first + 1;
        else if (range.first <= (ipv4 | UINT32_MAX) && range.last >= ipv4)
            return false;
    }
    return n < one << 124 && n_ipv4 < one << 28;
}

enum rule_key rule_key_of(const struct rule *rule)
{
    if ((rule->sees & RULE_SEES_ALL) == 0)
        return RULE_BY_MESSAGE;
    if (!rule->both_ways && few_addresses(rule->from.addresses))
        return RULE_BY_SOURCE;
    if (!rule->both_ways && few_addresses(rule->to.addresses))
        return RULE_BY_DESTINATION;
    if (rule->app != SL_APP_UNKNOWN)
        return RULE_BY_APP;
    if (rule_icmp_types(rule) != NULL)
        return RULE_BY_ICMP_TYPE;
    if (rule_ip_protocols(rule) != NULL)
        return RULE_BY_IP_PROTOCOL;
    if (!rule->both_ways && few_ports(rule->to.ports))
        return RULE_BY_DST_PORT;
    if (!rule->both_ways && few_ports(rule->from.ports))
        return RULE_BY_SRC_PORT;
    if (rule_either_ports(rule) != NULL)
        return RULE_BY_EITHER_PORT;
    return rule_tcp_flags(rule) != NULL ? RULE_BY_TCP_FLAGS : RULE_BY_PROTOCOL;
}
