/* SPDX-License-Identifier: MIT */
/* The options that are understood. */
#include <pthread.h>
#include <string.h>

#include "rule_fail.h"
#include "rule_option.h"

/* tools/rule-options writes the names and groups into docs/rules.md. */
static const struct rule_option options[] = {
    /* ---- Payload ----------------------------------------------------------------------------- */
    {"content", rule_read_content, RULE_A_CONTENT},
    {"uricontent", rule_read_uricontent, RULE_A_CONTENT},
    {"isdataat", rule_read_isdataat, RULE_A_VALUE},
    {"pcre", rule_read_pcre, RULE_AN_EXPRESSION},
    {"byte_test", rule_read_byte_test, RULE_A_VALUE},
    {"byte_jump", rule_read_byte_jump, RULE_A_VALUE},
    {"byte_extract", rule_read_byte_extract, RULE_A_VALUE},
    {"byte_math", rule_read_byte_math, RULE_A_VALUE},
    {"base64_decode", rule_read_base64_decode, RULE_MAYBE_VALUE},
    {"base64_data", rule_read_base64_data, RULE_NO_VALUE},
    {"absent", rule_read_absent, RULE_MAYBE_VALUE},
    {"bsize", rule_read_bsize, RULE_A_VALUE},
    {"bufferlen", rule_read_bsize, RULE_A_VALUE},
    {"urilen", rule_read_urilen, RULE_A_VALUE},
    {"dataset", rule_read_dataset, RULE_A_VALUE},
    {"datarep", rule_read_datarep, RULE_A_VALUE},
    {"dsize", rule_read_number, RULE_A_VALUE},
    {"pkt_data", rule_read_pkt_data, RULE_NO_VALUE},
    {"raw_data", rule_read_pkt_data, RULE_NO_VALUE},

    /* ---- Buffers ----------------------------------------------------------------------------- */
    {"dns.query", rule_read_buffer, RULE_NO_VALUE},
    {"dns_query", rule_read_buffer, RULE_NO_VALUE},
    {"dns.queries.rrname", rule_read_buffer, RULE_NO_VALUE},
    {"dns.answers.rrname", rule_read_buffer, RULE_NO_VALUE},
    {"dns.authorities.rrname", rule_read_buffer, RULE_NO_VALUE},
    {"dns.additionals.rrname", rule_read_buffer, RULE_NO_VALUE},
    {"dns.response.rrname", rule_read_buffer, RULE_NO_VALUE},
    {"dns.query.name", rule_read_buffer, RULE_NO_VALUE},
    {"dns.answer.name", rule_read_buffer, RULE_NO_VALUE},
    {"ipv4.hdr", rule_read_buffer, RULE_NO_VALUE},
    {"ipv6.hdr", rule_read_buffer, RULE_NO_VALUE},
    {"tcp.hdr", rule_read_buffer, RULE_NO_VALUE},
    {"udp.hdr", rule_read_buffer, RULE_NO_VALUE},
    {"sctp.hdr", rule_read_buffer, RULE_NO_VALUE},
    {"icmpv4.hdr", rule_read_buffer, RULE_NO_VALUE},
    {"icmpv6.hdr", rule_read_buffer, RULE_NO_VALUE},
    {"ip.src", rule_read_buffer, RULE_NO_VALUE},
    {"ip.dst", rule_read_buffer, RULE_NO_VALUE},
    {"ntp.reference_id", rule_read_buffer, RULE_NO_VALUE},
    {"snmp.community", rule_read_buffer, RULE_NO_VALUE},
    {"snmp.usm", rule_read_buffer, RULE_NO_VALUE},
    {"sip.method", rule_read_buffer, RULE_NO_VALUE},
    {"sip.uri", rule_read_buffer, RULE_NO_VALUE},
    {"sip.request_line", rule_read_buffer, RULE_NO_VALUE},
    {"sip.protocol", rule_read_buffer, RULE_NO_VALUE},
    {"sip.stat_code", rule_read_buffer, RULE_NO_VALUE},
    {"sip.stat_msg", rule_read_buffer, RULE_NO_VALUE},
    {"sip.response_line", rule_read_buffer, RULE_NO_VALUE},
    {"sip.from", rule_read_buffer, RULE_NO_VALUE},
    {"sip.to", rule_read_buffer, RULE_NO_VALUE},
    {"sip.via", rule_read_buffer, RULE_NO_VALUE},
    {"sip.user_agent", rule_read_buffer, RULE_NO_VALUE},
    {"sip.ua", rule_read_buffer, RULE_NO_VALUE},
    {"sip.content_type", rule_read_buffer, RULE_NO_VALUE},
    {"sip.content_length", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.origin", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.session_name", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.session_info", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.uri", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.email", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.phone_number", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.connection_data", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.bandwidth", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.time", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.repeat_time", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.timezone", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.encryption_key", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.attribute", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.media.media", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.media.media_info", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.media.connection_data", rule_read_buffer, RULE_NO_VALUE},
    {"sdp.media.encryption_key", rule_read_buffer, RULE_NO_VALUE},
    {"http.method", rule_read_value, RULE_NO_VALUE},
    {"http.uri", rule_read_value, RULE_NO_VALUE},
    {"http.uri.raw", rule_read_value, RULE_NO_VALUE},
    {"http.host", rule_read_value, RULE_NO_VALUE},
    {"http.host.raw", rule_read_value, RULE_NO_VALUE},
    {"http.protocol", rule_read_value, RULE_MAYBE_VALUE},
    {"http_protocol", rule_read_value, RULE_MAYBE_VALUE},
    {"http.request_line", rule_read_value, RULE_NO_VALUE},
    {"http_request_line", rule_read_value, RULE_NO_VALUE},
    {"http.response_line", rule_read_value, RULE_NO_VALUE},
    {"http_response_line", rule_read_value, RULE_NO_VALUE},
    {"http.start", rule_read_value, RULE_MAYBE_VALUE},
    {"http_start", rule_read_value, RULE_MAYBE_VALUE},
    {"http.header", rule_read_value, RULE_MAYBE_VALUE},
    {"http.header.raw", rule_read_value, RULE_MAYBE_VALUE},
    {"http.header_names", rule_read_value, RULE_MAYBE_VALUE},
    {"http_header_names", rule_read_value, RULE_MAYBE_VALUE},
    {"http.cookie", rule_read_value, RULE_MAYBE_VALUE},
    {"http.request_header", rule_read_value, RULE_NO_VALUE},
    {"http.response_header", rule_read_value, RULE_NO_VALUE},
    {"http.stat_code", rule_read_value, RULE_NO_VALUE},
    {"http.stat_msg", rule_read_value, RULE_NO_VALUE},
    {"http.user_agent", rule_read_value, RULE_NO_VALUE},
    {"http.referer", rule_read_value, RULE_NO_VALUE},
    {"http_referer", rule_read_value, RULE_NO_VALUE},
    {"http.accept", rule_read_value, RULE_NO_VALUE},
    {"http_accept", rule_read_value, RULE_NO_VALUE},
    {"http.accept_lang", rule_read_value, RULE_NO_VALUE},
    {"http_accept_lang", rule_read_value, RULE_NO_VALUE},
    {"http.accept_enc", rule_read_value, RULE_NO_VALUE},
    {"http_accept_enc", rule_read_value, RULE_NO_VALUE},
    {"http.connection", rule_read_value, RULE_MAYBE_VALUE},
    {"http_connection", rule_read_value, RULE_MAYBE_VALUE},
    {"http.content_type", rule_read_value, RULE_MAYBE_VALUE},
    {"http_content_type", rule_read_value, RULE_MAYBE_VALUE},
    {"http.content_len", rule_read_value, RULE_MAYBE_VALUE},
    {"http_content_len", rule_read_value, RULE_MAYBE_VALUE},
    {"http.server", rule_read_value, RULE_NO_VALUE},
    {"http.location", rule_read_value, RULE_NO_VALUE},
    {"http.request_body", rule_read_value, RULE_NO_VALUE},
    {"http.response_body", rule_read_value, RULE_NO_VALUE},
    {"file.data", rule_read_value, RULE_MAYBE_VALUE},
    {"file_data", rule_read_value, RULE_MAYBE_VALUE},
    {"file.name", rule_read_value, RULE_MAYBE_VALUE},
    {"file.magic", rule_read_value, RULE_MAYBE_VALUE},
    {"tls.sni", rule_read_value, RULE_NO_VALUE},
    {"tls_sni", rule_read_value, RULE_NO_VALUE},
    {"tls.cert_subject", rule_read_value, RULE_NO_VALUE},
    {"tls_cert_subject", rule_read_value, RULE_NO_VALUE},
    {"tls.cert_issuer", rule_read_value, RULE_NO_VALUE},
    {"tls_cert_issuer", rule_read_value, RULE_NO_VALUE},
    {"tls.cert_serial", rule_read_value, RULE_NO_VALUE},
    {"tls_cert_serial", rule_read_value, RULE_NO_VALUE},
    {"tls.cert_fingerprint", rule_read_value, RULE_NO_VALUE},
    {"tls_cert_fingerprint", rule_read_value, RULE_NO_VALUE},
    {"tls.certs", rule_read_value, RULE_NO_VALUE},
    {"tls.subjectaltname", rule_read_value, RULE_NO_VALUE},
    {"tls.alpn", rule_read_value, RULE_MAYBE_VALUE},
    {"tls.random", rule_read_value, RULE_MAYBE_VALUE},
    {"tls.random_time", rule_read_value, RULE_MAYBE_VALUE},
    {"tls.random_bytes", rule_read_value, RULE_MAYBE_VALUE},
    {"ja3.hash", rule_read_value, RULE_NO_VALUE},
    {"ja3_hash", rule_read_value, RULE_NO_VALUE},
    {"ja3.string", rule_read_value, RULE_NO_VALUE},
    {"ja3_string", rule_read_value, RULE_NO_VALUE},
    {"ja3s.hash", rule_read_value, RULE_NO_VALUE},
    {"ja3s.string", rule_read_value, RULE_NO_VALUE},
    {"ja4.hash", rule_read_value, RULE_NO_VALUE},
    {"ja4_hash", rule_read_value, RULE_NO_VALUE},
    {"quic.sni", rule_read_value, RULE_NO_VALUE},
    {"quic.version", rule_read_value, RULE_NO_VALUE},
    {"quic_version", rule_read_value, RULE_NO_VALUE},
    {"quic_sni", rule_read_value, RULE_NO_VALUE},
    {"smtp.helo", rule_read_value, RULE_NO_VALUE},
    {"smtp.mail_from", rule_read_value, RULE_NO_VALUE},
    {"smtp.rcpt_to", rule_read_value, RULE_NO_VALUE},
    {"email.from", rule_read_value, RULE_NO_VALUE},
    {"email.to", rule_read_value, RULE_NO_VALUE},
    {"email.cc", rule_read_value, RULE_NO_VALUE},
    {"email.subject", rule_read_value, RULE_NO_VALUE},
    {"email.date", rule_read_value, RULE_NO_VALUE},
    {"email.message_id", rule_read_value, RULE_NO_VALUE},
    {"email.x_mailer", rule_read_value, RULE_NO_VALUE},
    {"email.received", rule_read_value, RULE_NO_VALUE},
    {"email.url", rule_read_value, RULE_NO_VALUE},
    {"ssh.proto", rule_read_value, RULE_NO_VALUE},
    {"ssh_proto", rule_read_value, RULE_NO_VALUE},
    {"ssh.software", rule_read_value, RULE_NO_VALUE},
    {"ssh_software", rule_read_value, RULE_NO_VALUE},
    {"ssh.hassh", rule_read_value, RULE_NO_VALUE},
    {"ssh.hassh.string", rule_read_value, RULE_NO_VALUE},
    {"ssh.hassh.server", rule_read_value, RULE_NO_VALUE},
    {"ssh.hassh.server.string", rule_read_value, RULE_NO_VALUE},
    {"dcerpc.stub_data", rule_read_value, RULE_NO_VALUE},
    {"dce_stub_data", rule_read_value, RULE_NO_VALUE},
    {"dcerpc.iface", rule_read_call_interface, RULE_A_VALUE},
    {"dce_iface", rule_read_call_interface, RULE_A_VALUE},
    {"dcerpc.opnum", rule_read_call_opnum, RULE_A_VALUE},
    {"dce_opnum", rule_read_call_opnum, RULE_A_VALUE},
    {"ftp.command", rule_read_value, RULE_NO_VALUE},
    {"ftp.command_data", rule_read_value, RULE_NO_VALUE},
    {"ftp.completion_code", rule_read_value, RULE_NO_VALUE},
    {"ftp.reply", rule_read_value, RULE_NO_VALUE},
    {"ftp.dynamic_port", rule_read_ftp_port, RULE_A_VALUE},
    {"ftp.mode", rule_read_ftp_mode, RULE_A_VALUE},
    {"http_method", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_uri", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_raw_uri", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_host", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_raw_host", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_header", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_raw_header", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_cookie", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_user_agent", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_stat_code", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_stat_msg", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_client_body", rule_read_value_or_modifier, RULE_MAYBE_VALUE},
    {"http_server_body", rule_read_value_or_modifier, RULE_MAYBE_VALUE},

    /* ---- Transforms of a buffer -------------------------------------------------------------- */
    {"dotprefix", rule_read_transform, RULE_NO_VALUE},
    {"to_lowercase", rule_read_transform, RULE_NO_VALUE},
    {"to_uppercase", rule_read_transform, RULE_NO_VALUE},
    {"strip_whitespace", rule_read_transform, RULE_NO_VALUE},
    {"compress_whitespace", rule_read_transform, RULE_NO_VALUE},
    {"url_decode", rule_read_transform, RULE_NO_VALUE},
    {"xor", rule_read_xor, RULE_A_VALUE},
    {"to_md5", rule_read_transform, RULE_NO_VALUE},
    {"to_sha1", rule_read_transform, RULE_NO_VALUE},
    {"to_sha256", rule_read_transform, RULE_NO_VALUE},
    {"from_base64", rule_read_from_base64, RULE_MAYBE_VALUE},
    {"strip_pseudo_headers", rule_read_transform, RULE_NO_VALUE},
    {"header_lowercase", rule_read_transform, RULE_NO_VALUE},
    {"gunzip", rule_read_unpack, RULE_MAYBE_VALUE},
    {"zlib_deflate", rule_read_unpack, RULE_MAYBE_VALUE},
    {"pcrexform", rule_read_pcrexform, RULE_AN_EXPRESSION},

    /* ---- Messages and protocols -------------------------------------------------------------- */
    {"dns.opcode", rule_read_dns_opcode, RULE_A_VALUE},
    {"dns.rcode", rule_read_dns_rcode, RULE_A_VALUE},
    {"dns.rrtype", rule_read_dns_rrtype, RULE_A_VALUE},
    {"ntp.version", rule_read_message_number, RULE_A_VALUE},
    {"ntp.mode", rule_read_message_number, RULE_A_VALUE},
    {"ntp.stratum", rule_read_message_number, RULE_A_VALUE},
    {"snmp.version", rule_read_message_number, RULE_A_VALUE},
    {"snmp.pdu_type", rule_read_message_number, RULE_A_VALUE},
    {"dhcp.leasetime", rule_read_message_number, RULE_A_VALUE},
    {"dhcp.renewal_time", rule_read_message_number, RULE_A_VALUE},
    {"dhcp.rebinding_time", rule_read_message_number, RULE_A_VALUE},
    {"fileext", rule_read_file_text, RULE_A_VALUE},
    {"filename", rule_read_file_text, RULE_A_VALUE},
    {"filestore", rule_read_filestore, RULE_MAYBE_VALUE},
    {"filemagic", rule_read_file_text, RULE_A_VALUE},
    {"filesize", rule_read_filesize, RULE_A_VALUE},
    {"filemd5", rule_read_file_digest, RULE_A_VALUE},
    {"filesha256", rule_read_file_digest, RULE_A_VALUE},
    {"tls.subject", rule_read_tls_text, RULE_A_VALUE},
    {"tls.issuerdn", rule_read_tls_text, RULE_A_VALUE},
    {"tls.fingerprint", rule_read_tls_text, RULE_A_VALUE},
    {"tls.version", rule_read_tls_version, RULE_A_VALUE},
    {"ssl_version", rule_read_tls_version, RULE_A_VALUE},
    {"ssl_state", rule_read_ssl_state, RULE_A_VALUE},
    {"sip_method", rule_read_sip_word, RULE_A_VALUE},
    {"sip_stat_code", rule_read_sip_word, RULE_A_VALUE},
    {"tls.cert_chain_len", rule_read_tls_chain, RULE_A_VALUE},
    {"tls_cert_notbefore", rule_read_tls_date, RULE_A_VALUE},
    {"tls_cert_notafter", rule_read_tls_date, RULE_A_VALUE},
    {"tls_cert_expired", rule_read_tls_validity, RULE_NO_VALUE},
    {"tls_cert_valid", rule_read_tls_validity, RULE_NO_VALUE},
    {"app-layer-event", rule_read_app_layer_event, RULE_A_VALUE},
    {"app-layer-protocol", rule_read_app_layer_protocol, RULE_A_VALUE},
    {"decode-event", rule_read_decode_event, RULE_A_VALUE},
    {"stream-event", rule_read_stream_event, RULE_A_VALUE},

    /* ---- Flow and headers -------------------------------------------------------------------- */
    {"flow", rule_read_flow, RULE_A_VALUE},
    {"flow.age", rule_read_flow_age, RULE_A_VALUE},
    {"flow.pkts", rule_read_flow_total, RULE_A_VALUE},
    {"flow.pkts_toclient", rule_read_flow_total_of, RULE_A_VALUE},
    {"flow.pkts_toserver", rule_read_flow_total_of, RULE_A_VALUE},
    {"flow.bytes", rule_read_flow_total, RULE_A_VALUE},
    {"flow.bytes_toclient", rule_read_flow_total_of, RULE_A_VALUE},
    {"flow.bytes_toserver", rule_read_flow_total_of, RULE_A_VALUE},
    {"stream_size", rule_read_stream_size, RULE_A_VALUE},
    {"ttl", rule_read_number, RULE_A_VALUE},
    {"id", rule_read_number, RULE_A_VALUE},
    {"fragoffset", rule_read_number, RULE_A_VALUE},
    {"tos", rule_read_tos, RULE_A_VALUE},
    {"ipopts", rule_read_ipopts, RULE_A_VALUE},
    {"ip_proto", rule_read_ip_proto, RULE_A_VALUE},
    {"fragbits", rule_read_fragbits, RULE_A_VALUE},
    {"sameip", rule_read_sameip, RULE_NO_VALUE},
    {"flags", rule_read_flags, RULE_A_VALUE},
    {"tcp.flags", rule_read_flags, RULE_A_VALUE},
    {"seq", rule_read_number, RULE_A_VALUE},
    {"tcp.seq", rule_read_number, RULE_A_VALUE},
    {"ack", rule_read_number, RULE_A_VALUE},
    {"tcp.ack", rule_read_number, RULE_A_VALUE},
    {"window", rule_read_number, RULE_A_VALUE},
    {"tcp.window", rule_read_number, RULE_A_VALUE},
    {"tcp.mss", rule_read_number, RULE_A_VALUE},
    {"tcp.wscale", rule_read_number, RULE_A_VALUE},
    {"itype", rule_read_number, RULE_A_VALUE},
    {"icode", rule_read_number, RULE_A_VALUE},
    {"icmp_id", rule_read_number, RULE_A_VALUE},
    {"icmp_seq", rule_read_number, RULE_A_VALUE},
    {"icmpv6.mtu", rule_read_number, RULE_A_VALUE},
    {"igmp.type", rule_read_number, RULE_A_VALUE},
    {"vlan.id", rule_read_vlan_id, RULE_A_VALUE},
    {"vlan.layers", rule_read_number, RULE_A_VALUE},

    /* ---- State ------------------------------------------------------------------------------- */
    {"flowbits", rule_read_flowbits, RULE_A_VALUE},
    {"xbits", rule_read_xbits, RULE_A_VALUE},
    {"flowint", rule_read_flowint, RULE_A_VALUE},
    {"threshold", rule_read_threshold, RULE_A_VALUE},
    {"detection_filter", rule_read_detection_filter, RULE_A_VALUE},
    {"tag", rule_read_tag, RULE_A_VALUE},
    {"noalert", rule_read_noalert, RULE_NO_VALUE},
    {"alert", rule_read_alert, RULE_NO_VALUE},

    /* ---- About the rule ---------------------------------------------------------------------- */
    {"msg", rule_read_msg, RULE_A_TEXT},
    {"sid", rule_read_sid, RULE_A_VALUE},
    {"rev", rule_read_rev, RULE_A_VALUE},
    {"gid", rule_read_gid, RULE_A_VALUE},
    {"priority", rule_read_priority, RULE_A_VALUE},
    {"classtype", rule_read_classtype, RULE_A_VALUE},
    {"reference", rule_read_reference, RULE_A_VALUE},
    {"metadata", rule_read_metadata, RULE_A_VALUE},
    {"requires", rule_read_requires, RULE_A_VALUE},

    /* ---- Accepted, without effect on matches ------------------------------------------------- */
    /* These options describe the rule, steer the engine, or ask for records after an alert. None
     * changes which packets match. */
    {"rem", rule_read_nothing, RULE_MAYBE_VALUE},
    {"target", rule_read_target, RULE_A_VALUE},
    {"soid", rule_read_nothing, RULE_A_VALUE},
    {"prefilter", rule_read_nothing, RULE_NO_VALUE},
    {"bypass", rule_read_nothing, RULE_NO_VALUE},
    {"service", rule_read_service, RULE_A_VALUE},
};

enum { N_OPTIONS = sizeof options / sizeof options[0], N_SLOTS = 1024 };

_Static_assert(2 * (int)N_OPTIONS <= (int)N_SLOTS, "most slots are empty");

/* 1 + the place of an option, by the hash of its name; 0: empty. The first look-up fills it. */
static uint16_t slots[N_SLOTS];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

/* The slot where the search for a name begins; the case of letters makes no difference. */
static uint32_t first_slot(struct rule_text name)
{
    uint32_t hash = 2166136261; /* FNV-1a */

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (uint8_t)(name.at[i] | 0x20)) * 16777619;
    return (hash ^ hash >> 16) % N_SLOTS;
}

static void fill_slots(void)
{
    for (uint32_t i = 0; i < N_OPTIONS; i++) {
        uint32_t slot = first_slot((struct rule_text){options[i].name, strlen(options[i].name)});

        while (slots[slot] != 0)
            slot = (slot + 1) % N_SLOTS;
        slots[slot] = (uint16_t)(i + 1);
    }
}

static const struct rule_option *find(struct rule_text name)
{
    pthread_once(&filled, fill_slots);
    for (uint32_t slot = first_slot(name); slots[slot] != 0; slot = (slot + 1) % N_SLOTS)
        if (rule_text_is(name, options[slots[slot] - 1].name))
            return &options[slots[slot] - 1];
    return NULL;
}

const struct rule_option *rule_option_known(struct rule_text name)
{
    const struct rule_option *option = find(name);

    return option != NULL ? option : rule_modifier_find(name);
}

enum sl_status rule_option_read(struct rule_parser *parser)
{
    const struct rule_text name = parser->option.name;
    const struct rule_option *known = parser->option.known;

    if (known == NULL)
        return rule_skip(parser, "", name);
    return rule_option_apply(parser, known, name, parser->option.value);
}
