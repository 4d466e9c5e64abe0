/* SPDX-License-Identifier: MIT */
/* How a rule is evaluated, as lines of text. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "detect/compile/rule_literal.h"
#include "detect/parse/rule_option.h"
#include "rule.h"

/* A text of the caller. What does not fit is left out. */
struct text {
    char *at;
    size_t cap, len;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    const size_t room = text->cap - text->len;
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(text->at + text->len, room, format, args);
    va_end(args);
    if (n > 0)
        text->len += (size_t)n < room ? (size_t)n : room - 1;
}

/* Bytes as in a rule. */
static void put_bytes(struct text *text, const uint8_t *bytes, uint32_t len)
{
    bool hex = false;

    put(text, "\"");
    for (uint32_t i = 0; i < len; i++) {
        const bool plain =
            bytes[i] >= ' ' && bytes[i] < 0x7F && strchr("\":;\\|", bytes[i]) == NULL;

        if (plain == hex)
            put(text, "|");
        else if (!plain)
            put(text, " ");
        hex = !plain;
        put(text, plain ? "%c" : "%02x", bytes[i]);
    }
    put(text, hex ? "|\"" : "\"");
}

/* ---- what a rule is found by ----------------------------------------------------------------- */

static void put_literal(struct text *text, const struct rule *rule)
{
    const struct sl_literal literal = rule_literal_of(rule->literal);

    put(text, "found by the literal ");
    put_bytes(text, literal.bytes, literal.len);
    put(text, "%s in %s: %s\n", (literal.flags & SL_LITERAL_NOCASE) != 0 ? ", case ignored," : "",
        rule_buffer_name(rule->literal->buffer),
        rule->literal->marked ? "it is the content with fast_pattern"
                              : "of the contents that must be there it should be the rarest");
}

static bool has_content(const struct rule *rule)
{
    for (size_t i = 0; i < rule->n_payloads; i++)
        if (rule->payload[i].kind == RULE_CONTENT && !rule->payload[i].negated)
            return true;
    return false;
}

static void put_key(struct text *text, const struct rule *rule)
{
    static const char *const keys[] = {
        [RULE_BY_PROTOCOL] = "the protocol of the packet",
        [RULE_BY_DST_PORT] = "the destination port",
        [RULE_BY_SRC_PORT] = "the source port",
        [RULE_BY_ICMP_TYPE] = "the ICMP type",
        [RULE_BY_APP] = "the application protocol",
    };

    put(text, "found by %s: %s\n", keys[rule_key_of(rule)],
        has_content(rule) ? "no content that must be there can be searched for, or it is common"
                          : "no content must be there");
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void put_check(struct text *text, const struct rule_check *check)
{
    static const char *const names[] = {
        [RULE_PAYLOAD_LEN] = "dsize",
        [RULE_TTL] = "ttl",
        [RULE_TOS] = "tos",
        [RULE_IP_ID] = "id",
        [RULE_IP_PROTOCOL] = "ip_proto",
        [RULE_FRAGMENT_BITS] = "fragbits",
        [RULE_FRAGMENT_OFFSET] = "fragoffset",
        [RULE_IP_OPTIONS] = "ipopts",
        [RULE_TCP_FLAGS] = "flags",
        [RULE_TCP_SEQ] = "seq",
        [RULE_TCP_ACK] = "ack",
        [RULE_TCP_WINDOW] = "window",
        [RULE_TCP_MSS] = "tcp.mss",
        [RULE_TCP_WSCALE] = "tcp.wscale",
        [RULE_ICMP_TYPE] = "itype",
        [RULE_ICMP_CODE] = "icode",
        [RULE_ICMP_ID] = "icmp_id",
        [RULE_ICMP_SEQ] = "icmp_seq",
        [RULE_ICMPV6_MTU] = "icmpv6.mtu",
        [RULE_IGMP_TYPE] = "igmp.type",
        [RULE_VLAN_LAYERS] = "vlan.layers",
        [RULE_SAME_ADDRESS] = "sameip",
        [RULE_IP_VERSION] = "version of IP",
        [RULE_DEFECT] = "decode-event",
        [RULE_APP] = "app-layer-protocol",
        [RULE_DNS_OPCODE] = "dns.opcode",
        [RULE_DNS_RCODE] = "dns.rcode",
        [RULE_VLAN_ID] = "vlan.id",
        [RULE_DNS_RRTYPE] = "dns.rrtype",
    };

    put(text, "check: %s", names[check->field]);
    if (check->mask != UINT32_MAX)
        put(text, " & 0x%x", check->mask);
    put(text, check->negated ? " is not" : " is");
    put(text, check->first == check->last ? " %u\n" : " %u to %u\n", check->first, check->last);
}

static void put_flow(struct text *text, const struct rule *rule)
{
    static const struct {
        uint8_t flag;
        const char *set, *clear;
    } flags[] = {
        {SL_FLOW_TO_SERVER, "to the server", "to the client"},
        {SL_FLOW_ESTABLISHED, "established", "not established"},
    };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if ((rule->flow_mask & flags[i].flag) != 0)
            put(text, "check: flow is %s\n",
                (rule->flow_flags & flags[i].flag) != 0 ? flags[i].set : flags[i].clear);
    if (rule->app != SL_APP_UNKNOWN)
        put(text, "check: application protocol is %s\n", sl_app_name((enum sl_app)rule->app));
}

static void put_endpoint(struct text *text, const char *side, const struct rule_endpoint *endpoint)
{
    if (endpoint->addresses != NULL)
        put(text, "check: %s address, of %zu ranges\n", side, endpoint->addresses->n);
    if (endpoint->ports != NULL)
        put(text, "check: %s port, of %zu ranges\n", side, endpoint->ports->n);
}

/* ---- contents -------------------------------------------------------------------------------- */

static void put_content(struct text *text, const struct rule_payload *content)
{
    put(text, "  content %s", content->negated ? "!" : "");
    put_bytes(text, content->bytes, content->len);
    if (content->nocase)
        put(text, ", case ignored");
    if (content->has_begin)
        put(text, ", %s %d", content->relative ? "distance" : "offset", content->distance);
    if (content->has_end && content->window != RULE_NO_WINDOW)
        put(text, ", %s %u", content->relative ? "within" : "depth", content->window);
    put(text, content->at_end ? ", at the end\n" : "\n");
}

static void put_section(struct text *text, const struct rule_payload *steps, size_t n)
{
    size_t n_others = 0;

    put(text, "buffer: %s", rule_buffer_name(steps[0].buffer));
    if (steps[0].chain != NULL)
        put(text, ", transformed by %s", steps[0].chain->text);
    put(text, "\n");
    for (size_t i = 0; i < n; i++) {
        if (steps[i].kind == RULE_CONTENT)
            put_content(text, &steps[i]);
        else
            n_others++;
    }
    if (n_others != 0)
        put(text, "  %zu other %s\n", n_others, n_others == 1 ? "option" : "options");
}

static const struct rule *find_rule(const struct sl_rules *rules, uint32_t gid, uint32_t sid)
{
    const uint32_t key[2] = {gid, sid};

    return rule_map_get(&rules->by_sid, key, sizeof key);
}

bool sl_rules_explain(const struct sl_rules *rules, uint32_t gid, uint32_t sid, char *bytes,
                      size_t cap)
{
    const struct rule *rule = find_rule(rules, gid, sid);
    struct text text = {bytes, cap, 0};
    size_t end;

    if (rule == NULL || cap == 0)
        return false;
    put(&text, "%s:%u: %u:%u:%u %s\n", rule->signature.file, rule->signature.line, gid, sid,
        rule->signature.rev, rule->signature.msg);
    if (rule->literal != NULL)
        put_literal(&text, rule);
    else
        put_key(&text, rule);
    put_flow(&text, rule);
    for (size_t i = 0; i < rule->n_checks; i++)
        put_check(&text, &rule->check[i]);
    put_endpoint(&text, "source", &rule->from);
    put_endpoint(&text, "destination", &rule->to);
    for (size_t i = 0; i < rule->n_payloads; i = end) {
        for (end = i + 1;
             end < rule->n_payloads && rule->payload[end].section == rule->payload[i].section;)
            end++;
        put_section(&text, &rule->payload[i], end - i);
    }
    return true;
}
