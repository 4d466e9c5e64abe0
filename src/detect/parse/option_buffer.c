/* SPDX-License-Identifier: MIT */
/* The options that choose a buffer for the contents behind them, and ask for its length. */
#include <string.h>

#include "rule_fail.h"
#include "rule_option.h"
#include "rule_section.h"

enum {
    ANY_IP = RULE_PACKET | RULE_IP | RULE_IPV4 | RULE_IPV6,
    OVER_UDP = RULE_UDP | RULE_IP | RULE_IPV4 | RULE_IPV6,
    OVER_BOTH = OVER_UDP | RULE_TCP
};

#define OF_SIP(name, field)                                                        \
    {                                                                              \
        name, (enum rule_buffer)(RULE_BUFFER_SIP + (field)), OVER_BOTH, SL_APP_SIP \
    }

static const struct buffer {
    const char *name;
    enum rule_buffer buffer;
    uint16_t protocols; /* any of them in the header of the rule */
    uint8_t app;        /* enum sl_app of the packet */
} buffers[] = {
    {"dns.query", RULE_BUFFER_DNS_QUERY, OVER_BOTH, SL_APP_DNS},
    {"dns_query", RULE_BUFFER_DNS_QUERY, OVER_BOTH, SL_APP_DNS},
    {"dns.queries.rrname", RULE_BUFFER_DNS_QUERIES, OVER_BOTH, SL_APP_DNS},
    {"dns.query.name", RULE_BUFFER_DNS_QUERIES, OVER_BOTH, SL_APP_DNS},
    {"dns.answers.rrname", RULE_BUFFER_DNS_ANSWERS, OVER_BOTH, SL_APP_DNS},
    {"dns.answer.name", RULE_BUFFER_DNS_ANSWERS, OVER_BOTH, SL_APP_DNS},
    {"dns.authorities.rrname", RULE_BUFFER_DNS_AUTHORITIES, OVER_BOTH, SL_APP_DNS},
    {"dns.additionals.rrname", RULE_BUFFER_DNS_ADDITIONALS, OVER_BOTH, SL_APP_DNS},
    {"dns.response.rrname", RULE_BUFFER_DNS_RESPONSE, OVER_BOTH, SL_APP_DNS},
    {"ipv4.hdr", RULE_BUFFER_IPV4_HEADER, UINT16_MAX, 0},
    {"ipv6.hdr", RULE_BUFFER_IPV6_HEADER, UINT16_MAX, 0},
    {"tcp.hdr", RULE_BUFFER_TCP_HEADER, ANY_IP | RULE_TCP, 0},
    {"udp.hdr", RULE_BUFFER_UDP_HEADER, ANY_IP | RULE_UDP, 0},
    {"sctp.hdr", RULE_BUFFER_SCTP_HEADER, ANY_IP | RULE_SCTP, 0},
    {"icmpv4.hdr", RULE_BUFFER_ICMPV4_HEADER, ANY_IP | RULE_ICMPV4, 0},
    {"icmpv6.hdr", RULE_BUFFER_ICMPV6_HEADER, ANY_IP | RULE_ICMPV6, 0},
    {"ip.src", RULE_BUFFER_SOURCE, UINT16_MAX, 0},
    {"ip.dst", RULE_BUFFER_DESTINATION, UINT16_MAX, 0},
    {"ntp.reference_id", RULE_BUFFER_NTP_REFERENCE_ID, OVER_UDP, SL_APP_NTP},
    {"snmp.community", RULE_BUFFER_SNMP_COMMUNITY, OVER_UDP, SL_APP_SNMP},
    {"snmp.usm", RULE_BUFFER_SNMP_USM, OVER_UDP, SL_APP_SNMP},
    OF_SIP("sip.method", SIP_METHOD),
    OF_SIP("sip.uri", SIP_URI),
    OF_SIP("sip.request_line", SIP_REQUEST_LINE),
    OF_SIP("sip.protocol", SIP_PROTOCOL),
    OF_SIP("sip.stat_code", SIP_STAT_CODE),
    OF_SIP("sip.stat_msg", SIP_STAT_MSG),
    OF_SIP("sip.response_line", SIP_RESPONSE_LINE),
    OF_SIP("sip.from", SIP_FROM),
    OF_SIP("sip.to", SIP_TO),
    OF_SIP("sip.via", SIP_VIA),
    OF_SIP("sip.user_agent", SIP_USER_AGENT),
    OF_SIP("sip.ua", SIP_USER_AGENT),
    OF_SIP("sip.content_type", SIP_CONTENT_TYPE),
    OF_SIP("sip.content_length", SIP_CONTENT_LENGTH),
    OF_SIP("sdp.origin", SDP_ORIGIN),
    OF_SIP("sdp.session_name", SDP_SESSION_NAME),
    OF_SIP("sdp.session_info", SDP_SESSION_INFO),
    OF_SIP("sdp.uri", SDP_URI),
    OF_SIP("sdp.email", SDP_EMAIL),
    OF_SIP("sdp.phone_number", SDP_PHONE_NUMBER),
    OF_SIP("sdp.connection_data", SDP_CONNECTION_DATA),
    OF_SIP("sdp.bandwidth", SDP_BANDWIDTH),
    OF_SIP("sdp.time", SDP_TIME),
    OF_SIP("sdp.repeat_time", SDP_REPEAT_TIME),
    OF_SIP("sdp.timezone", SDP_TIMEZONE),
    OF_SIP("sdp.encryption_key", SDP_ENCRYPTION_KEY),
    OF_SIP("sdp.attribute", SDP_ATTRIBUTE),
    OF_SIP("sdp.media.media", SDP_MEDIA),
    OF_SIP("sdp.media.media_info", SDP_MEDIA_INFO),
    OF_SIP("sdp.media.connection_data", SDP_MEDIA_CONNECTION_DATA),
    OF_SIP("sdp.media.encryption_key", SDP_MEDIA_ENCRYPTION_KEY),
};

const char *rule_buffer_name(enum rule_buffer buffer)
{
    if (rule_buffer_is_value(buffer))
        return rule_value_name(buffer);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        if (buffers[i].buffer == buffer)
            return buffers[i].name;
    return "the payload";
}

/* Begins a section. Each naming of a buffer that repeats begins another: another name of the
 * message may meet it. */
enum sl_status rule_read_buffer(struct rule_parser *parser, struct rule_text value)
{
    const struct rule_text name = parser->option.name;
    const enum sl_status status = rule_section_end(parser);
    const struct buffer *buffer = buffers;

    (void)value;
    if (status != SL_OK)
        return status;
    while (!rule_text_is(name, buffer->name))
        buffer++;
    if ((parser->rule->protocol & buffer->protocols) == 0)
        return buffer->app != SL_APP_UNKNOWN
                   ? rule_skip(parser, "", name)
                   : rule_bad_at(parser, parser->name, "%s is no buffer of the rule's protocol",
                                 buffer->name);
    if (buffer->app != SL_APP_UNKNOWN)
        parser->rule->app = buffer->app;
    parser->section =
        (struct rule_payload){.section = ++parser->n_sections, .buffer = buffer->buffer};
    parser->content = SIZE_MAX;
    return SL_OK;
}

/* Whether it is a method, or a code of three digits, or the first digit of one. */
static bool is_sip_word(struct rule_text word, bool is_code)
{
    bool fits = word.len != 0 && (is_code ? word.len == 1 || word.len == 3 : word.len < 32);

    for (size_t i = 0; i < word.len; i++) {
        const char c = word.at[i];

        fits &= is_code ? c >= '0' && c <= '9' : (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    }
    return fits;
}

/* Snort's options on a message's method and code. */
enum sl_status rule_read_sip_word(struct rule_parser *parser, struct rule_text value)
{
    const bool is_code = rule_text_is(parser->option.name, "sip_stat_code");
    const bool negated = value.len != 0 && value.at[0] == '!';
    const struct rule_text word =
        rule_trim((struct rule_text){value.at + negated, value.len - negated});
    const struct rule_payload section = parser->section;

    if (memchr(value.at, ',', value.len) != NULL || (parser->rule->protocol & OVER_BOTH) == 0)
        return rule_skip(parser, "", parser->option.name);
    if (!is_sip_word(word, is_code))
        return rule_bad(parser, "%.*s is '%.*s', no %s", RULE_QUOTE(parser->option.name),
                        RULE_QUOTE(word), is_code ? "digit or three" : "method");
    parser->rule->app = SL_APP_SIP;
    parser->section = (struct rule_payload){
        .section = ++parser->n_sections,
        .buffer = (enum rule_buffer)(RULE_BUFFER_SIP + (is_code ? SIP_STAT_CODE : SIP_METHOD))};

    struct rule_payload *content = rule_payload_add(parser, RULE_CONTENT);
    char *bytes = rule_arena_text(parser->arena, word.at, word.len);

    parser->section = section;
    if (content == NULL || bytes == NULL)
        return rule_no_memory(parser);
    for (size_t i = 0; i < word.len; i++)
        bytes[i] = (char)(bytes[i] | 0x20); /* in lower case; digits have the bit */
    content->bytes = (const uint8_t *)bytes;
    content->len = content->fast_len = content->window = (uint32_t)word.len;
    content->negated = negated;
    content->nocase = content->has_begin = content->has_end = true;
    content->at_end = !is_code || word.len == 3;
    return SL_OK;
}

enum sl_status rule_read_pkt_data(struct rule_parser *parser, struct rule_text value)
{
    const enum sl_status status = rule_section_end(parser);

    (void)value;
    parser->section = (struct rule_payload){.buffer = RULE_BUFFER_PAYLOAD};
    parser->content = SIZE_MAX;
    return status;
}

enum sl_status rule_read_bsize(struct rule_parser *parser, struct rule_text value)
{
    struct rule_check check;

    if (memmem(value.at, value.len, "relative", strlen("relative")) != NULL) /* Snort 3's */
        return rule_skip(parser, "a relative bufferlen", (struct rule_text){NULL, 0});
    if (parser->section.section == 0 && !parser->section.decoded)
        return rule_bad_at(parser, parser->name, "bsize does not stand behind a buffer");
    const enum sl_status status = rule_read_range(parser, value, "bsize", RULE_SIZE_MAX, &check);

    return status == SL_OK ? rule_size_add(parser, &check) : status;
}

/* A message of a protocol may lack a buffer. Alone, or with "or_else" before other options. */
enum sl_status rule_read_absent(struct rule_parser *parser, struct rule_text value)
{
    const enum rule_buffer buffer = parser->section.buffer;

    if (parser->section.section == 0 || parser->section.decoded || rule_section_has_steps(parser))
        return rule_bad_at(parser, parser->name, "absent is not the first option of a buffer");
    if (value.len != 0 && !rule_text_is(value, "or_else"))
        return rule_bad(parser, "absent takes or_else, not '%.*s'", RULE_QUOTE(value));
    if (buffer >= RULE_BUFFER_IPV4_HEADER && buffer <= RULE_BUFFER_DESTINATION)
        return rule_skip(parser, "absent for a header", (struct rule_text){NULL, 0});
    parser->section.optional = value.len != 0;
    return rule_payload_add(parser, RULE_ABSENT) != NULL ? SL_OK : rule_no_memory(parser);
}
