/* SPDX-License-Identifier: MIT */
/* How a rule is evaluated, as lines of text. */
#include <string.h>

#include "detect/compile/rule_literal.h"
#include "detect/parse/rule_option.h"
#include "explain_text.h"
#include "stream/stream.h"

/* Bytes as in a rule. */
static void put_bytes(struct explain_text *text, const uint8_t *bytes, uint32_t len)
{
    bool hex = false;

    explain_put(text, "\"");
    for (uint32_t i = 0; i < len; i++) {
        const bool plain =
            bytes[i] >= ' ' && bytes[i] < 0x7F && strchr("\":;\\|", bytes[i]) == NULL;

        if (plain == hex)
            explain_put(text, "|");
        else if (!plain)
            explain_put(text, " ");
        hex = !plain;
        explain_put(text, plain ? "%c" : "%02x", bytes[i]);
    }
    explain_put(text, hex ? "|\"" : "\"");
}

/* ---- the literal or key of a rule ------------------------------------------------------------ */

/* The other contents, and why it is none of them. */
static void put_others(struct explain_text *text, const struct rule *rule)
{
    for (size_t i = 0; i < rule->n_payloads; i++) {
        const struct rule_payload *content = &rule->payload[i];
        const char *unfit = rule_literal_unfit(rule, content);

        if (content->kind != RULE_CONTENT || content == rule->literal)
            continue;
        explain_put(text, "  not by ");
        put_bytes(text, content->bytes, content->len);
        explain_put(text, " in %s: ", rule_buffer_name(content->buffer));
        if (unfit != NULL)
            explain_put(text, "%s\n", unfit);
        else if (content->marked && rule_literal_is_common(rule_literal_of(content)))
            explain_put(text, "it is common\n");
        else
            explain_put(text, "its rarity is %u\n", rule_literal_rarity(content));
    }
}

static void put_literal(struct explain_text *text, const struct rule *rule)
{
    const struct sl_literal literal = rule_literal_of(rule->literal);

    explain_put(text, "found by the literal ");
    put_bytes(text, literal.bytes, literal.len);
    explain_put(text,
                "%s in %s: ", (literal.flags & SL_LITERAL_NOCASE) != 0 ? ", case ignored," : "",
                rule_buffer_name(rule->literal->buffer));
    if (rule->literal->kind == RULE_EXPRESSION)
        explain_put(text, "each match of an expression has it, and no content is fit\n");
    else if (rule->literal->marked)
        explain_put(text, "it is the content with fast_pattern\n");
    else
        explain_put(text, "of the contents that are fit it should be the rarest, with rarity %u\n",
                    rule_literal_rarity(rule->literal));
    put_others(text, rule);
}

static bool has_content(const struct rule *rule)
{
    for (size_t i = 0; i < rule->n_payloads; i++)
        if (rule->payload[i].kind == RULE_CONTENT && !rule->payload[i].negated)
            return true;
    return false;
}

static void put_key(struct explain_text *text, const struct rule *rule)
{
    static const char *const keys[] = {
        [RULE_BY_PROTOCOL] = "the protocol of the packet",
        [RULE_BY_DST_PORT] = "the destination port",
        [RULE_BY_SRC_PORT] = "the source port",
        [RULE_BY_EITHER_PORT] = "a port of either side",
        [RULE_BY_IP_PROTOCOL] = "the protocol in the IP header",
        [RULE_BY_ICMP_TYPE] = "the ICMP type",
        [RULE_BY_TCP_FLAGS] = "the flags of TCP",
        [RULE_BY_APP] = "the application protocol",
        [RULE_BY_SOURCE] = "the source address",
        [RULE_BY_DESTINATION] = "the destination address",
        [RULE_BY_MESSAGE] = "the side and kind of the message",
    };

    explain_put(text, "found by %s: %s\n", keys[rule_key_of(rule)],
                has_content(rule) ? "no content is fit, or the one that is is common"
                                  : "no content must be there");
    put_others(text, rule);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void put_app(struct explain_text *text, const struct rule_check *check)
{
    static const char *const sides[] = {
        [RULE_APP_OF_SENDER] = "the sender's protocol",
        [RULE_APP_OF_FLOW] = "the flow's protocol",
        [RULE_APP_BEFORE] = "the flow's protocol before its tunnel",
        [RULE_APP_OF_EITHER] = "either side's protocol",
        [RULE_APP_OF_CLIENT] = "the client's protocol",
        [RULE_APP_OF_SERVER] = "the server's protocol",
        [RULE_APP_FOUND] = "the sender's protocol was found with this packet",
    };

    explain_put(text, "check: %s", sides[check->which]);
    if (check->which != RULE_APP_FOUND)
        explain_put(text, check->negated ? " is not" : " is");
    for (int app = 0; app < SL_N_APPS; app++)
        if ((check->mask >> app & 1) != 0)
            explain_put(text, " %s", sl_app_name((enum sl_app)app));
    explain_put(text, "\n");
}

static void put_check(struct explain_text *text, const struct rule_check *check)
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
        [RULE_FRAGMENT_OVERLAP] = "decode-event of fragments",
        [RULE_IPV6_EVENTS] = "decode-event of IPv6",
        [RULE_DNS_OPCODE] = "dns.opcode",
        [RULE_DNS_RCODE] = "dns.rcode",
        [RULE_DNS_EVENTS] = "bits of app-layer-event of DNS",
        [RULE_NTP_VERSION] = "ntp.version",
        [RULE_NTP_MODE] = "ntp.mode",
        [RULE_NTP_STRATUM] = "ntp.stratum",
        [RULE_SNMP_VERSION] = "snmp.version",
        [RULE_SNMP_PDU_TYPE] = "snmp.pdu_type",
        [RULE_DHCP_LEASE_TIME] = "dhcp.leasetime",
        [RULE_DHCP_RENEWAL_TIME] = "dhcp.renewal_time",
        [RULE_DHCP_REBINDING_TIME] = "dhcp.rebinding_time",
        [RULE_TLS_VERSION] = "bits of tls.version",
        [RULE_FILE_SIZE] = "filesize",
        [RULE_TLS_SEEN] = "bits of ssl_state",
        [RULE_TLS_CHAIN] = "tls.cert_chain_len",
        [RULE_TLS_NOT_BEFORE] = "tls_cert_notbefore",
        [RULE_TLS_NOT_AFTER] = "tls_cert_notafter",
        [RULE_TLS_EXPIRED] = "tls_cert_expired",
        [RULE_FTP_PORT] = "ftp.dynamic_port",
        [RULE_FTP_MODE] = "ftp.mode",
        [RULE_CALL_OPNUM] = "dcerpc.opnum",
        [RULE_CALL_VERSION] = "version of dcerpc.iface",
        [RULE_VLAN_ID] = "vlan.id",
        [RULE_FLOW_AGE] = "flow.age",
        [RULE_FLOW_PACKETS] = "flow.pkts",
        [RULE_FLOW_BYTES] = "flow.bytes",
        [RULE_STREAM_SIZE] = "stream_size",
        [RULE_STREAM_EVENT] = "stream-event",
        [RULE_APP_EVENT] = "app-layer-event",
        [RULE_DNS_RRTYPE] = "dns.rrtype",
    };

    if (check->field == RULE_APP) {
        put_app(text, check);
        return;
    }
    explain_put(text, "check: %s", names[check->field]);
    if (check->field == RULE_STREAM_EVENT) {
        explain_put(text, " is %s\n", stream_event_name((enum stream_event)check->first));
        return;
    }
    if (check->mask != UINT32_MAX)
        explain_put(text, " & 0x%x", check->mask);
    explain_put(text, check->negated ? " is not" : " is");
    if (check->field >= RULE_FLOW_AGE && check->field <= RULE_STREAM_SIZE) {
        explain_put(text, " %llu to %llu\n", (unsigned long long)check->wide->first,
                    (unsigned long long)check->wide->last);
        return;
    }
    explain_put(text, check->first == check->last ? " %u\n" : " %u to %u\n", check->first,
                check->last);
}

static void put_flow(struct explain_text *text, const struct rule *rule)
{
    static const struct {
        uint8_t flag;
        const char *set, *clear;
    } flags[] = {
        {SL_FLOW_TO_SERVER, "to the server", "to the client"},
        {SL_FLOW_ESTABLISHED, "established", "not established"},
        {SL_FLOW_FIRST, "new to the sender", ""},
    };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if ((rule->flow_mask & flags[i].flag) != 0)
            explain_put(text, "check: flow is %s\n",
                        (rule->flow_flags & flags[i].flag) != 0 ? flags[i].set : flags[i].clear);
    if (rule->app != SL_APP_UNKNOWN)
        explain_put(text, "check: application protocol is %s\n",
                    sl_app_name((enum sl_app)rule->app));
}

static void put_endpoint(struct explain_text *text, const char *side,
                         const struct rule_endpoint *endpoint)
{
    if (endpoint->addresses != NULL)
        explain_put(text, "check: %s address, of %zu ranges\n", side, endpoint->addresses->n);
    if (endpoint->ports != NULL)
        explain_put(text, "check: %s port, of %zu ranges\n", side, endpoint->ports->n);
}

/* ---- contents -------------------------------------------------------------------------------- */

static void put_content(struct explain_text *text, const struct rule_payload *content)
{
    explain_put(text, "  content %s", content->negated ? "!" : "");
    put_bytes(text, content->bytes, content->len);
    if (content->nocase)
        explain_put(text, ", case ignored");
    if (content->decoded)
        explain_put(text, ", in what is decoded");
    if (content->has_begin)
        explain_put(text, ", %s %d", content->relative ? "distance" : "offset", content->distance);
    if (content->has_end && content->window != RULE_NO_WINDOW)
        explain_put(text, ", %s %u", content->relative ? "within" : "depth", content->window);
    explain_put(text, content->at_end ? ", at the end\n" : "\n");
}

/* A step that is no content. */
static void put_step(struct explain_text *text, const struct sl_rules *rules,
                     const struct rule_payload *step)
{
    static const char *const names[] = {
        [RULE_DATA_AT] = "isdataat",    [RULE_BYTE_TEST] = "byte_test",
        [RULE_BYTE_JUMP] = "byte_jump", [RULE_BYTE_SET] = "a number is read",
        [RULE_EXPRESSION] = "pcre",     [RULE_BASE64] = "base64_decode",
        [RULE_ABSENT] = "absent",
    };

    if (step->kind == RULE_DATA)
        explain_data(text, rules, step->data);
    else if (step->kind == RULE_SIZE)
        explain_put(text, "  %d to %u bytes\n", step->distance, step->window);
    else
        explain_put(text, "  %s%s%s\n", step->negated ? "!" : "", names[step->kind],
                    step->relative ? ", relative" : "");
}

static void put_section(struct explain_text *text, const struct sl_rules *rules,
                        const struct rule_payload *steps, size_t n)
{
    explain_put(text, "buffer: %s", rule_buffer_name(steps[0].buffer));
    if (steps[0].chain != NULL)
        explain_put(text, ", transformed by %s", steps[0].chain->text);
    explain_put(text, "\n");
    for (size_t i = 0; i < n; i++) {
        if (steps[i].kind == RULE_CONTENT)
            put_content(text, &steps[i]);
        else
            put_step(text, rules, &steps[i]);
    }
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
    struct explain_text text = {bytes, cap, 0};
    size_t end;

    if (rule == NULL || cap == 0)
        return false;
    explain_put(&text, "%s:%u: %u:%u:%u %s\n", rule->signature.file, rule->signature.line, gid, sid,
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
        put_section(&text, rules, &rule->payload[i], end - i);
    }
    explain_state(&text, rules, rule);
    explain_order(&text, rules, rule);
    return true;
}
