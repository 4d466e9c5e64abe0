/* SPDX-License-Identifier: MIT */
/* The keywords of Suricata and Snort beyond those that are understood. The sources are the keywords
 * that Suricata 8 and its development branch register, with older names. Others are the options and
 * services of Snort 3, and Snort 2.9 Users Manual, chapter 3. */
#include "foreign_keyword.h"

#include <stdlib.h>
#include <string.h>

/* Both are sorted, in lower case. */
/* clang-format off */
static const char *const keywords[] = {
    "absent", "ack", "activated_by", "activates", "alert", "app-layer-event", "app-layer-protocol",
    "app-layer-state", "appid", "appids", "asn1", "base64_data", "base64_decode", "ber_data",
    "ber_skip", "bufferlen", "bypass", "cip_attribute", "cip_class", "cip_conn_path_class",
    "cip_instance", "cip_req", "cip_rsp", "cip_service", "cip_status", "compress_whitespace",
    "config", "count", "cvs", "datarep",
    "dataset", "dce_iface", "dce_opnum", "dce_stub_data", "dcerpc.iface", "dcerpc.opnum",
    "dcerpc.stub_data", "decode-event", "dhcp.leasetime", "dhcp.rebinding_time",
    "dhcp.renewal_time", "dnp3.data", "dnp3.func", "dnp3.ind", "dnp3.obj", "dnp3_data", "dnp3_func",
    "dnp3_ind", "dnp3_obj", "dns.answer.name", "dns.opcode", "dns.query.name", "dns.rcode",
    "dns.rrtype", "domain", "email.body_md5", "email.cc", "email.date", "email.from",
    "email.message_id", "email.received", "email.subject", "email.to", "email.url",
    "email.x_mailer", "enable", "engine-event", "enip.capabilities", "enip.cip_attribute",
    "enip.cip_class", "enip.cip_extendedstatus", "enip.cip_instance", "enip.cip_status",
    "enip.device_type", "enip.identity_status", "enip.product_code", "enip.product_name",
    "enip.protocol_version", "enip.revision", "enip.serial", "enip.service_name", "enip.state",
    "enip.status", "enip.vendor_id", "enip_command", "enip_req", "enip_rsp", "entropy", "ether.hdr",
    "file.data", "file.magic", "file.name", "file_data", "file_group", "file_meta", "file_type",
    "fileext", "filemagic", "filemd5", "filename", "filesha1", "filesha256", "filesize",
    "filestore", "flow.age", "flow.bytes", "flow.bytes_toclient", "flow.bytes_toserver",
    "flow.elephant", "flow.pkts", "flow.pkts_toclient", "flow.pkts_toserver", 
    "flowvar", "fragoffset", "frame", "from_base64", "ftp.command", "ftp.command_data",
    "ftp.completion_code", "ftp.dynamic_port", "ftp.mode", "ftp.reply", "ftp.reply_received",
    "ftpbounce", "ftpdata_command", "geoip", "gtp_info", "gtp_type", "gtp_version", "gunzip",
    "hash", "header_lowercase", "hostbits", "http.accept", "http.accept_enc", "http.accept_lang",
    "http.connection", "http.content_len", "http.content_type", "http.cookie", "http.header",
    "http.header.raw", "http.header_names", "http.host", "http.host.raw", "http.location",
    "http.method", "http.protocol", "http.referer", "http.request_body", "http.request_header",
    "http.request_line", "http.response_body", "http.response_header", "http.response_line",
    "http.server", "http.start", "http.stat_code", "http.stat_msg", "http.uri",
    "http.uri.normalized", "http.uri.raw", "http.user_agent", "http2.errorcode", "http2.frametype",
    "http2.header_name", "http2.priority", "http2.settings", "http2.size_update", "http2.window",
    "http2_decoded_header", "http2_frame_data", "http2_frame_header", "http_accept",
    "http_accept_enc", "http_accept_lang", "http_client_body", "http_connection",
    "http_content_len", "http_content_type", "http_cookie", "http_decoded_uri", "http_encode",
    "http_header", "http_header_names", "http_header_test", "http_host", "http_max_header_line",
    "http_max_trailer_line", "http_method", "http_num_cookies", "http_num_headers",
    "http_num_trailers", "http_param", "http_protocol", "http_raw_body", "http_raw_cookie",
    "http_raw_header", "http_raw_host", "http_raw_request", "http_raw_status", "http_raw_trailer",
    "http_raw_uri", "http_referer", "http_request_line", "http_response_line", "http_server_body",
    "http_start", "http_stat_code", "http_stat_msg", "http_trailer", "http_trailer_test",
    "http_true_ip", "http_uri", "http_user_agent", "http_version", "http_version_match", "icmp_id",
    "icmp_seq", "icmpv4-csum", "icmpv4.hdr", "icmpv6-csum", "icmpv6.hdr", "icmpv6.mtu",
    "iec104_apci_type", "iec104_asdu_func", "igmp-csum", "igmp.hdr", "igmp.type",
    "ike.chosen_sa_attribute", "ike.exchtype", "ike.init_spi", "ike.key_exchange_payload",
    "ike.key_exchange_payload_length", "ike.nonce_payload", "ike.nonce_payload_length",
    "ike.resp_spi", "ike.vendor", "ike_init_spi", "ike_resp_spi", "ip.dst", "ip.src", "ipopts",
    "iprep", "ipv4-csum", "ipv4.hdr", "ipv6.hdr", "ja3.hash", "ja3.string", "ja3_hash",
    "ja3_string", "ja3s.hash", "ja3s.string", "ja4.hash", "ja4_hash", "js_data", "krb5.cname",
    "krb5.sname", "krb5.ticket_encryption", "krb5_cname", "krb5_err_code", "krb5_msg_type",
    "krb5_sname", "l3_proto", "ldap.request.attribute_type", "ldap.request.dn",
    "ldap.request.operation", "ldap.responses.attribute_type", "ldap.responses.count",
    "ldap.responses.dn", "ldap.responses.message", "ldap.responses.operation",
    "ldap.responses.result_code", "length", "llmnr.additionals.rrname", "llmnr.answers.rrname",
    "llmnr.authorities.rrname", "llmnr.queries.rrname", "llmnr.response.rrname", "logto", "lua",
    "luajit", "luaxform", "md5", "mdns.additionals.rrname", "mdns.answers.rrname",
    "mdns.authorities.rrname", "mdns.queries.rrname", "mdns.response.rrname", "mms_data",
    "mms_func", "modbus", "modbus_data", "modbus_func", "modbus_unit",
    "mqtt.connack.session_present", "mqtt.connect.clientid", "mqtt.connect.flags",
    "mqtt.connect.password", "mqtt.connect.protocol_string", "mqtt.connect.username",
    "mqtt.connect.willmessage", "mqtt.connect.willtopic", "mqtt.flags", "mqtt.protocol_version",
    "mqtt.publish.message", "mqtt.publish.topic", "mqtt.qos", "mqtt.reason_code",
    "mqtt.subscribe.topic", "mqtt.type", "mqtt.unsubscribe.topic", "mss", "nfq_set_mark",
    "nfs.version", "nfs_procedure", "nfs_version", "ntp.mode", "ntp.reference_id",
    "ntp.stratum", "ntp.version", "opcua_msg_service", "opcua_msg_type", "opcua_node_id",
    "opcua_node_namespace_index", "pcrexform", "pgsql.query", "pktvar", "protected_content",
    "quic.cyu.hash", "quic.cyu.string", "quic.sni", "quic.ua", "quic.version", "quic_sni",
    "quic_ua", "quic_version", "raw_data", "react", "regex", "replace", "requires", "resp",
    "rfb.name", "rfb.secresult", "rfb.sectype", "rpc", "s7commplus_content", "s7commplus_func",
    "s7commplus_opcode", "script_data", "sctp.chunk_cnt", "sctp.chunk_data", "sctp.chunk_type",
    "sctp.hdr", "sctp.vtag", "sd_pattern", "sdp.attribute", "sdp.bandwidth", "sdp.connection_data",
    "sdp.email", "sdp.encryption_key", "sdp.media.connection_data", "sdp.media.encryption_key",
    "sdp.media.media", "sdp.media.media_info", "sdp.media.session_info", "sdp.origin",
    "sdp.phone_number", "sdp.repeat_time", "sdp.session_info", "sdp.session_name", "sdp.time",
    "sdp.timezone", "sdp.uri", "seq", "session", "sha256", "sha512", "sip.content_length",
    "sip.content_type", "sip.from", "sip.method", "sip.protocol", "sip.request_line",
    "sip.response_line", "sip.stat_code", "sip.stat_msg", "sip.to", "sip.ua", "sip.uri",
    "sip.user_agent", "sip.via", "sip_body", "sip_header", "sip_method", "sip_stat_code",
    "smb.named_pipe", "smb.ntlmssp_domain", "smb.ntlmssp_user", "smb.share", "smb.version",
    "smb_named_pipe", "smb_ntlmssp_domain", "smb_ntlmssp_user", "smb_share", "smtp.helo",
    "smtp.mail_from", "smtp.rcpt_to", "snmp.community", "snmp.pdu_type", "snmp.trap_address",
    "snmp.trap_oid", "snmp.trap_type", "snmp.usm", "snmp.version", "so", "socks_address_type",
    "socks_command", "socks_remote_address", "socks_remote_port", "socks_state", "socks_version",
    "ssh-hassh", "ssh-hassh-server", "ssh-hassh-server-string", "ssh-hassh-string", "ssh.hassh",
    "ssh.hassh.server", "ssh.hassh.server.string", "ssh.hassh.string", "ssh.proto",
    "ssh.protoversion", "ssh.software", "ssh.softwareversion", "ssh_proto", "ssh_software",
    "ssl_state", "ssl_version", "stream-event", "stream_reassemble", "stream_size",
    "strip_pseudo_headers", "strip_whitespace", "subslice", "tcp.ack", "tcp.hdr", "tcp.mss",
    "tcp.seq", "tcp.session", "tcp.window", "tcp.wscale", "tcpv4-csum", "tcpv6-csum", 
    "tld", "tls.alpn", "tls.cert_chain_len", "tls.cert_fingerprint", "tls.cert_issuer",
    "tls.cert_serial", "tls.cert_subject", "tls.certs", "tls.fingerprint", "tls.issuerdn",
    "tls.random", "tls.random_bytes", "tls.random_time", "tls.sni", "tls.store", "tls.subject",
    "tls.subjectaltname", "tls.version", "tls_cert_expired", "tls_cert_fingerprint",
    "tls_cert_issuer", "tls_cert_notafter", "tls_cert_notbefore", "tls_cert_serial",
    "tls_cert_subject", "tls_cert_valid", "tls_sni", "tls_store", "to_lowercase", "to_md5",
    "to_sha1", "to_sha256", "to_uppercase", "tos", "udp.hdr", "udpv4-csum", "udpv6-csum", "urg",
    "uricontent", "urilen", "url_decode", "vba_data", "vlan.id", "vlan.layers", "websocket.flags",
    "websocket.mask", "websocket.opcode", "websocket.payload", "window", "wscale", "xor",
    "zlib_deflate",
};

static const char *const protocols[] = {
    "arp", "bgp", "bittorrent-dht", "cip", "dce_http_proxy", "dce_http_server", "dcerpc", "dhcp",
    "dnp3", "dnstcp", "dnsudp", "doh2", "enip", "ether", "file", "finger", "ftp", "ftp-data", "gtp",
    "http", "http1", "http2", "http3", "iec104", "ike", "ikev2", "imap", "irc", "jabber",
    "kerberos", "krb5", "ldap", "llmnr", "mdns", "mms", "modbus", "mqtt", "msn", "mysql",
    "netbios-dgm", "netbios-ns", "netbios-ssn", "netflow", "nfs", "nntp", "ntp", "opcua", "oracle",
    "pgsql", "pop3", "postgresql", "quic", "rdp", "rfb", "rlogin", "rpc", "rsh", "s7commplus",
    "sip", "smb", "smb2", "smtp", "snmp", "socks", "ssdp", "ssh", "ssl", "sunrpc", "syslog",
    "telnet", "tftp", "tls", "tns", "user", "vnc-server", "websocket", "wins",
};
/* clang-format on */

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static int compare(const void *key, const void *element)
{
    const struct rule_text *text = key;
    const char *word = *(const char *const *)element;

    for (size_t i = 0; i < text->len; i++) {
        const int order = lower(text->at[i]) - word[i];

        if (order != 0 || word[i] == '\0')
            return order != 0 ? order : 1;
    }
    return word[text->len] == '\0' ? 0 : -1;
}

static bool is_among(const char *const *words, size_t n, struct rule_text text)
{
    return bsearch(&text, words, n, sizeof *words, compare) != NULL;
}

bool rule_keyword_is_foreign(struct rule_text name)
{
    return is_among(keywords, sizeof keywords / sizeof keywords[0], name);
}

bool rule_protocol_is_foreign(struct rule_text name)
{
    const char *hook = memchr(name.at, ':', name.len);

    if (hook != NULL)
        name.len = (size_t)(hook - name.at);
    return is_among(protocols, sizeof protocols / sizeof protocols[0], name);
}
