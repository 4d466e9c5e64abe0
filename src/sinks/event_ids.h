/* SPDX-License-Identifier: MIT */
/* The ids and names of events' fields, and what a visit fills: texts and picked fields. */
#ifndef SINKS_EVENT_IDS_H
#define SINKS_EVENT_IDS_H

#include "app/dns.h"
#include "event_names.h"
#include "message_text.h"
#include "sluice/event.h"

#define EVENT_FIELDS(FIELD)                         \
    FIELD(END, "")                                  \
    FIELD(TIMESTAMP, "timestamp")                   \
    FIELD(FLOW_ID, "flow_id")                       \
    FIELD(IN_IFACE, "in_iface")                     \
    FIELD(PCAP_CNT, "pcap_cnt")                     \
    FIELD(EVENT_TYPE, "event_type")                 \
    FIELD(VLAN, "vlan")                             \
    FIELD(SRC_IP, "src_ip")                         \
    FIELD(SRC_PORT, "src_port")                     \
    FIELD(DEST_IP, "dest_ip")                       \
    FIELD(DEST_PORT, "dest_port")                   \
    FIELD(PROTO, "proto")                           \
    FIELD(IP_V, "ip_v")                             \
    FIELD(ICMP_TYPE, "icmp_type")                   \
    FIELD(ICMP_CODE, "icmp_code")                   \
    FIELD(RESPONSE_ICMP_TYPE, "response_icmp_type") \
    FIELD(RESPONSE_ICMP_CODE, "response_icmp_code") \
    FIELD(PKT_SRC, "pkt_src")                       \
    FIELD(COMMUNITY_ID, "community_id")             \
    FIELD(TX_ID, "tx_id")                           \
    FIELD(ALERT, "alert")                           \
    FIELD(ACTION, "action")                         \
    FIELD(GID, "gid")                               \
    FIELD(SIGNATURE_ID, "signature_id")             \
    FIELD(REV, "rev")                               \
    FIELD(SIGNATURE, "signature")                   \
    FIELD(CATEGORY, "category")                     \
    FIELD(SEVERITY, "severity")                     \
    FIELD(REFERENCES, "references")                 \
    FIELD(METADATA, "metadata")                     \
    FIELD(CLASSTYPE, "classtype")                   \
    FIELD(DIRECTION, "direction")                   \
    FIELD(PAYLOAD, "payload")                       \
    FIELD(STREAM, "stream")                         \
    FIELD(ANOMALY, "anomaly")                       \
    FIELD(ANOMALY_APP, "app_proto")                 \
    FIELD(ANOMALY_TYPE, "type")                     \
    FIELD(ANOMALY_EVENT, "event")                   \
    FIELD(ANOMALY_LAYER, "layer")                   \
    FIELD(DNS, "dns")                               \
    FIELD(DNS_VERSION, "version")                   \
    FIELD(DNS_TYPE, "type")                         \
    FIELD(DNS_ID, "id")                             \
    FIELD(DNS_FLAGS, "flags")                       \
    FIELD(DNS_QR, "qr")                             \
    FIELD(DNS_AA, "aa")                             \
    FIELD(DNS_TC, "tc")                             \
    FIELD(DNS_RD, "rd")                             \
    FIELD(DNS_RA, "ra")                             \
    FIELD(DNS_RRNAME, "rrname")                     \
    FIELD(DNS_RRTYPE, "rrtype")                     \
    FIELD(DNS_RCODE, "rcode")                       \
    FIELD(DNS_OPCODE, "opcode")                     \
    FIELD(HTTP, "http")                             \
    FIELD(HTTP_HOSTNAME, "hostname")                \
    FIELD(HTTP_PORT, "http_port")                   \
    FIELD(HTTP_URL, "url")                          \
    FIELD(HTTP_USER_AGENT, "http_user_agent")       \
    FIELD(HTTP_XFF, "xff")                          \
    FIELD(HTTP_CONTENT_TYPE, "http_content_type")   \
    FIELD(HTTP_CONTENT_RANGE, "content_range")      \
    FIELD(HTTP_RANGE_RAW, "raw")                    \
    FIELD(HTTP_RANGE_START, "start")                \
    FIELD(HTTP_RANGE_END, "end")                    \
    FIELD(HTTP_RANGE_SIZE, "size")                  \
    FIELD(HTTP_REFER, "http_refer")                 \
    FIELD(HTTP_METHOD, "http_method")               \
    FIELD(HTTP_PROTOCOL, "protocol")                \
    FIELD(HTTP_STATUS, "status")                    \
    FIELD(HTTP_STATUS_STRING, "status_string")      \
    FIELD(HTTP_REDIRECT, "redirect")                \
    FIELD(HTTP_LENGTH, "length")                    \
    FIELD(TLS, "tls")                               \
    FIELD(TLS_SUBJECT, "subject")                   \
    FIELD(TLS_ISSUER, "issuerdn")                   \
    FIELD(TLS_ALT_NAMES, "subjectaltname")          \
    FIELD(TLS_RESUMED, "session_resumed")           \
    FIELD(TLS_SERIAL, "serial")                     \
    FIELD(TLS_FINGERPRINT, "fingerprint")           \
    FIELD(TLS_SNI, "sni")                           \
    FIELD(TLS_VERSION, "version")                   \
    FIELD(TLS_NOT_BEFORE, "notbefore")              \
    FIELD(TLS_NOT_AFTER, "notafter")                \
    FIELD(TLS_CHAIN, "chain")                       \
    FIELD(JA3, "ja3")                               \
    FIELD(JA3_HASH, "hash")                         \
    FIELD(JA3_STRING, "string")                     \
    FIELD(JA3S, "ja3s")                             \
    FIELD(JA3S_HASH, "hash")                        \
    FIELD(JA3S_STRING, "string")                    \
    FIELD(JA4, "ja4")                               \
    FIELD(TLS_CLIENT_ALPNS, "client_alpns")         \
    FIELD(TLS_SERVER_ALPNS, "server_alpns")         \
    FIELD(QUIC, "quic")                             \
    FIELD(QUIC_VERSION, "version")                  \
    FIELD(QUIC_SNI, "sni")                          \
    FIELD(SMTP, "smtp")                             \
    FIELD(SMTP_HELO, "helo")                        \
    FIELD(SMTP_MAIL_FROM, "mail_from")              \
    FIELD(SMTP_RCPT_TO, "rcpt_to")                  \
    FIELD(EMAIL, "email")                           \
    FIELD(EMAIL_STATUS, "status")                   \
    FIELD(EMAIL_FROM, "from")                       \
    FIELD(EMAIL_TO, "to")                           \
    FIELD(EMAIL_CC, "cc")                           \
    FIELD(EMAIL_SUBJECT, "subject")                 \
    FIELD(EMAIL_DATE, "date")                       \
    FIELD(EMAIL_MESSAGE_ID, "message_id")           \
    FIELD(EMAIL_X_MAILER, "x_mailer")               \
    FIELD(EMAIL_RECEIVED, "received")               \
    FIELD(EMAIL_URL, "url")                         \
    FIELD(EMAIL_ATTACHMENT, "attachment")           \
    FIELD(SSH, "ssh")                               \
    FIELD(SSH_CLIENT, "client")                     \
    FIELD(SSH_CLIENT_PROTO, "proto_version")        \
    FIELD(SSH_CLIENT_SOFTWARE, "software_version")  \
    FIELD(SSH_CLIENT_HASSH, "hassh")                \
    FIELD(SSH_CLIENT_HASSH_HASH, "hash")            \
    FIELD(SSH_CLIENT_HASSH_STRING, "string")        \
    FIELD(SSH_SERVER, "server")                     \
    FIELD(SSH_SERVER_PROTO, "proto_version")        \
    FIELD(SSH_SERVER_SOFTWARE, "software_version")  \
    FIELD(SSH_SERVER_HASSH, "hassh")                \
    FIELD(SSH_SERVER_HASSH_HASH, "hash")            \
    FIELD(SSH_SERVER_HASSH_STRING, "string")        \
    FIELD(FTP, "ftp")                               \
    FIELD(FTP_COMMAND, "command")                   \
    FIELD(FTP_COMMAND_DATA, "command_data")         \
    FIELD(FTP_COMMAND_CUT, "command_truncated")     \
    FIELD(FTP_CODE, "completion_code")              \
    FIELD(FTP_PORT, "dynamic_port")                 \
    FIELD(FTP_MODE, "mode")                         \
    FIELD(FTP_REPLY, "reply")                       \
    FIELD(FTP_REPLY_RECEIVED, "reply_received")     \
    FIELD(FTP_REPLY_CUT, "reply_truncated")         \
    FIELD(DCERPC, "dcerpc")                         \
    FIELD(DCERPC_REQUEST, "request")                \
    FIELD(DCERPC_RESPONSE, "response")              \
    FIELD(DCERPC_REQ, "req")                        \
    FIELD(DCERPC_RES, "res")                        \
    FIELD(DCERPC_OPNUM, "opnum")                    \
    FIELD(DCERPC_FRAGMENTS, "frag_cnt")             \
    FIELD(DCERPC_STUB_SIZE, "stub_data_size")       \
    FIELD(DCERPC_INTERFACES, "interfaces")          \
    FIELD(DCERPC_UUID, "uuid")                      \
    FIELD(DCERPC_VERSION, "version")                \
    FIELD(DCERPC_CALL_ID, "call_id")                \
    FIELD(DCERPC_RPC_VERSION, "rpc_version")        \
    FIELD(NTP, "ntp")                               \
    FIELD(NTP_VERSION, "version")                   \
    FIELD(NTP_MODE, "mode")                         \
    FIELD(NTP_STRATUM, "stratum")                   \
    FIELD(NTP_REFERENCE_ID, "reference_id")         \
    FIELD(VERDICT, "verdict")                       \
    FIELD(VERDICT_ACTION, "action")                 \
    FIELD(FILES, "files")                           \
    FIELD(FILEINFO, "fileinfo")                     \
    FIELD(FILE_NAME, "filename")                    \
    FIELD(FILE_MAGIC, "magic")                      \
    FIELD(FILE_GAPS, "gaps")                        \
    FIELD(FILE_STATE, "state")                      \
    FIELD(FILE_MD5, "md5")                          \
    FIELD(FILE_SHA1, "sha1")                        \
    FIELD(FILE_SHA256, "sha256")                    \
    FIELD(FILE_STORED, "stored")                    \
    FIELD(FILE_SIZE, "size")                        \
    FIELD(FILE_START, "start")                      \
    FIELD(FILE_END, "end")                          \
    FIELD(FILE_TX_ID, "tx_id")                      \
    FIELD(PACKET, "packet")                         \
    FIELD(PACKET_INFO, "packet_info")               \
    FIELD(LINK_TYPE, "linktype")                    \
    FIELD(LINK_NAME, "linktype_name")               \
    FIELD(NDN, "ndn")                               \
    FIELD(NDN_TYPE, "type")                         \
    FIELD(NDN_NAME, "name")                         \
    FIELD(NAMES, "names")                           \
    FIELD(NAMES_NAME, "name")                       \
    FIELD(NAMES_PREFIX, "prefix")                   \
    FIELD(NAMES_ACTION, "action")                   \
    FIELD(NAMES_VERDICT, "verdict")                 \
    FIELD(NAMES_NEXT_HOPS, "next_hops")             \
    FIELD(NAMES_VALUES, "values")                   \
    FIELD(NAMES_LIST, "list")                       \
    FIELD(NAMES_FORMAT, "format")                   \
    FIELD(NAMES_LINE, "line")                       \
    FIELD(APP_PROTO, "app_proto")                   \
    FIELD(FLOW, "flow")                             \
    FIELD(FLOW_PKTS_TOSERVER, "pkts_toserver")      \
    FIELD(FLOW_PKTS_TOCLIENT, "pkts_toclient")      \
    FIELD(FLOW_BYTES_TOSERVER, "bytes_toserver")    \
    FIELD(FLOW_BYTES_TOCLIENT, "bytes_toclient")    \
    FIELD(FLOW_START, "start")                      \
    FIELD(FLOW_END, "end")                          \
    FIELD(FLOW_AGE, "age")                          \
    FIELD(FLOW_STATE, "state")                      \
    FIELD(FLOW_REASON, "reason")                    \
    FIELD(FLOW_ALERTED, "alerted")                  \
    FIELD(FLOW_ACTION, "action")                    \
    FIELD(FLOW_SRC_IP, "src_ip")                    \
    FIELD(FLOW_DEST_IP, "dest_ip")                  \
    FIELD(FLOW_SRC_PORT, "src_port")                \
    FIELD(FLOW_DEST_PORT, "dest_port")              \
    FIELD(FLOW_EXCEPTION, "exception_policy")       \
    FIELD(FLOW_EXCEPTION_TARGET, "target")          \
    FIELD(FLOW_EXCEPTION_POLICY, "policy")          \
    FIELD(TCP, "tcp")                               \
    FIELD(TCP_FLAGS, "tcp_flags")                   \
    FIELD(TCP_FLAGS_TS, "tcp_flags_ts")             \
    FIELD(TCP_FLAGS_TC, "tcp_flags_tc")             \
    FIELD(TCP_SYN, "syn")                           \
    FIELD(TCP_FIN, "fin")                           \
    FIELD(TCP_RST, "rst")                           \
    FIELD(TCP_PSH, "psh")                           \
    FIELD(TCP_ACK, "ack")                           \
    FIELD(TCP_URG, "urg")                           \
    FIELD(TCP_ECN, "ecn")                           \
    FIELD(TCP_CWR, "cwr")                           \
    FIELD(TCP_STATE, "state")                       \
    FIELD(PCAP_FILENAME, "pcap_filename")

#define EVENT_FIELD_ID(id, name) FIELD_##id,
#define EVENT_FIELD_NAME(id, name) name,

enum event_field { EVENT_FIELDS(EVENT_FIELD_ID) N_EVENT_FIELDS };

/* Texts that are made for a visit, and live as long. */
struct event_texts {
    char protocol[4], dns_flags[8], dns_type[DNS_NUMBER_LEN], dns_rcode[DNS_NUMBER_LEN];
    char dns_name[DNS_NAME_TEXT_MAX];
    char http_protocol[12], tls_version[EVENT_NUMBER_LEN], quic_version[MESSAGE_VERSION_LEN];
    char app_event[MESSAGE_EVENT_LEN];
    char call_version[12], ntp_reference[12];
    char file_hash[SL_N_FILE_HASHES][MESSAGE_HASH_LEN];
    char tcp_flags[3][2];
};

/* Fields of an event by their ids, without names. A field that is absent is not valid. They point
 * into the event and into `texts`. */
struct event_picks {
    bool has[N_EVENT_FIELDS]; /* apart, as so they are cleared in a few stores */
    struct sl_field field[N_EVENT_FIELDS];
    struct event_texts texts;
};

#endif
