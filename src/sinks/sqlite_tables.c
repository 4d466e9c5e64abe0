/* SPDX-License-Identifier: MIT */
#include "sqlite_tables.h"

/* Columns that all tables begin with. Unknown is NULL. */
#define EVENT_COLUMNS                                                   \
    "  id INTEGER PRIMARY KEY,\n"                                       \
    "  time TEXT NOT NULL,       -- UTC, microseconds\n"                \
    "  time_ns INTEGER NOT NULL, -- nanoseconds since 1970-01-01 UTC\n" \
    "  source TEXT NOT NULL,     -- capture file or interface\n"        \
    "  packet INTEGER,           -- number in the source, from 1\n"     \
    "  flow_id INTEGER,\n"                                              \
    "  direction TEXT,           -- to_server, to_client\n"             \
    "  vlan INTEGER,\n"                                                 \
    "  vlan_inner INTEGER,\n"                                           \
    "  proto TEXT,               -- TCP, UDP, ICMP, ...\n"              \
    "  src_ip TEXT,\n"                                                  \
    "  src_port INTEGER,\n"                                             \
    "  dest_ip TEXT,\n"                                                 \
    "  dest_port INTEGER,\n"                                            \
    "  icmp_type INTEGER,\n"                                            \
    "  icmp_code INTEGER,\n"

static const char schema_1[] =
    "CREATE TABLE alerts(\n" EVENT_COLUMNS "  gid INTEGER NOT NULL,\n"
    "  sid INTEGER NOT NULL,\n"
    "  rev INTEGER NOT NULL,\n"
    "  signature TEXT NOT NULL,  -- the rule's message\n"
    "  classtype TEXT NOT NULL,\n"
    "  category TEXT NOT NULL,   -- the class in words\n"
    "  priority INTEGER NOT NULL, -- 1 is the highest\n"
    "  payload BLOB              -- the first 4,096 bytes\n"
    ");\n"
    "CREATE TABLE anomalies(\n" EVENT_COLUMNS
    "  event TEXT NOT NULL       -- the header check's name\n"
    ");\n"
    /* Indexes on addresses would cut the insert rate to a third, and more as a database grows. */
    "CREATE INDEX alerts_by_sid ON alerts(sid);\n"
    "CREATE INDEX alerts_by_time ON alerts(time);\n"
    "CREATE INDEX anomalies_by_event ON anomalies(event);\n"
    "CREATE INDEX anomalies_by_time ON anomalies(time);\n"
    "PRAGMA application_id = " DATABASE_TEXT_OF(
        DATABASE_APPLICATION_ID) ";\n"
                                 "PRAGMA user_version = 1;\n";

static const char schema_2[] =
    "CREATE TABLE names(\n" EVENT_COLUMNS "  protocol TEXT NOT NULL,   -- dns, http, tls, ndn\n"
    "  kind TEXT,                -- query, answer; a method; interest, data\n"
    "  name TEXT NOT NULL,       -- domain, URL or NDN name\n"
    "  prefix TEXT NOT NULL,     -- the rule's name\n"
    "  action TEXT NOT NULL,     -- block, forward, category, ...\n"
    "  verdict TEXT,             -- blocked, allowed\n"
    "  value TEXT,               -- next hops, addresses, categories, comma separated\n"
    "  list TEXT NOT NULL,\n"
    "  line INTEGER NOT NULL\n"
    ");\n"
    "CREATE INDEX names_by_prefix ON names(prefix);\n"
    "CREATE INDEX names_by_time ON names(time);\n"
    "PRAGMA user_version = 2;\n";

/* The last column of all tables, as SQLite adds columns behind the others alone. */
static const char schema_3[] =
    "ALTER TABLE alerts ADD COLUMN community_id TEXT;\n"
    "ALTER TABLE anomalies ADD COLUMN community_id TEXT;\n"
    "ALTER TABLE names ADD COLUMN community_id TEXT;\n"
    "CREATE TABLE flows(\n" EVENT_COLUMNS "  app_proto TEXT,           -- http, ...; failed\n"
    "  start_time TEXT NOT NULL, -- of the first packet; UTC, as all times\n"
    "  end_time TEXT NOT NULL,   -- of the last packet; time is when the flow ended\n"
    "  age INTEGER NOT NULL,     -- seconds between them\n"
    "  state TEXT NOT NULL,      -- new, established, closed\n"
    "  reason TEXT NOT NULL,     -- timeout, forced, shutdown, tcp_reuse\n"
    "  alerted INTEGER NOT NULL, -- 1: a packet of it matched a rule\n"
    "  pkts_toserver INTEGER NOT NULL,\n"
    "  pkts_toclient INTEGER NOT NULL,\n"
    "  bytes_toserver INTEGER NOT NULL,\n"
    "  bytes_toclient INTEGER NOT NULL,\n"
    "  tcp_flags TEXT,           -- hexadecimal, of all segments\n"
    "  tcp_flags_ts TEXT,        -- of those to the server\n"
    "  tcp_flags_tc TEXT,        -- of those to the client\n"
    "  tcp_state TEXT,           -- established, fin_wait1, ...\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE INDEX flows_by_time ON flows(time);\n"
    "CREATE TABLE dns(\n" EVENT_COLUMNS "  kind TEXT NOT NULL,       -- request, response\n"
    "  message INTEGER NOT NULL, -- its identifier\n"
    "  rcode TEXT NOT NULL,      -- NOERROR, NXDOMAIN, ...\n"
    "  rrname TEXT,              -- of the first question\n"
    "  rrtype TEXT,              -- A, AAAA, ...\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE INDEX dns_by_rrname ON dns(rrname);\n"
    "CREATE INDEX dns_by_time ON dns(time);\n"
    "PRAGMA user_version = 3;\n";

static const char schema_4[] =
    "CREATE TABLE http(\n" EVENT_COLUMNS "  method TEXT,\n"
    "  hostname TEXT,\n"
    "  url TEXT,\n"
    "  protocol TEXT,            -- of the request\n"
    "  status INTEGER,\n"
    "  length INTEGER NOT NULL,  -- bytes of the response's body\n"
    "  content_type TEXT,        -- of the response\n"
    "  user_agent TEXT,\n"
    "  refer TEXT,\n"
    "  redirect TEXT,\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE TABLE tls(\n" EVENT_COLUMNS "  kind TEXT NOT NULL,       -- tls, quic\n"
    "  version TEXT,             -- of TLS, or QUIC\n"
    "  sni TEXT,\n"
    "  subject TEXT,             -- of the server's certificate, as the next ones are\n"
    "  issuerdn TEXT,\n"
    "  serial TEXT,\n"
    "  fingerprint TEXT,\n"
    "  notbefore TEXT,\n"
    "  notafter TEXT,\n"
    "  ja3 TEXT,\n"
    "  ja3s TEXT,\n"
    "  ja4 TEXT,\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE TABLE files(\n" EVENT_COLUMNS "  filename TEXT NOT NULL,\n"
    "  magic TEXT,\n"
    "  size INTEGER NOT NULL,\n"
    "  state TEXT NOT NULL,      -- CLOSED, TRUNCATED\n"
    "  gaps INTEGER NOT NULL,    -- 1: bytes in its midst did not come\n"
    "  md5 TEXT,\n"
    "  sha1 TEXT,\n"
    "  sha256 TEXT,\n"
    "  hostname TEXT,            -- that it came from or went to\n"
    "  url TEXT,\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE INDEX http_by_hostname ON http(hostname);\n"
    "CREATE INDEX http_by_time ON http(time);\n"
    "CREATE INDEX tls_by_sni ON tls(sni);\n"
    "CREATE INDEX tls_by_time ON tls(time);\n"
    "CREATE INDEX files_by_sha256 ON files(sha256);\n"
    "CREATE INDEX files_by_time ON files(time);\n"
    "PRAGMA user_version = 4;\n";

static const char schema_5[] =
    "CREATE TABLE packets(\n" EVENT_COLUMNS "  linktype INTEGER NOT NULL,\n"
    "  bytes BLOB NOT NULL,\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE INDEX packets_by_time ON packets(time);\n"
    "PRAGMA user_version = 5;\n";

/* Of several addresses, codes or replies there are commas between them. */
static const char schema_6[] =
    "CREATE TABLE smtp(\n" EVENT_COLUMNS "  helo TEXT,\n"
    "  mail_from TEXT,\n"
    "  rcpt_to TEXT,\n"
    "  sender TEXT,              -- of the mail's head, as the next ones are\n"
    "  recipients TEXT,\n"
    "  subject TEXT,\n"
    "  message_id TEXT,\n"
    "  attachments TEXT,\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE TABLE ssh(\n" EVENT_COLUMNS "  client TEXT,              -- its software\n"
    "  server TEXT,\n"
    "  hassh TEXT,               -- of the client\n"
    "  hassh_server TEXT,\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE TABLE ftp(\n" EVENT_COLUMNS "  command TEXT,\n"
    "  data TEXT,                -- behind the command\n"
    "  codes TEXT,\n"
    "  replies TEXT,\n"
    "  port INTEGER,             -- of the connection for data\n"
    "  community_id TEXT\n"
    ");\n"
    "CREATE INDEX smtp_by_time ON smtp(time);\n"
    "CREATE INDEX ssh_by_time ON ssh(time);\n"
    "CREATE INDEX ftp_by_time ON ftp(time);\n"
    "PRAGMA user_version = 6;\n";

const char *const table_schemas[DATABASE_VERSION] = {schema_1, schema_2, schema_3,
                                                     schema_4, schema_5, schema_6};

/* ---- the fields of the columns --------------------------------------------------------------- */

#define EVENT_VALUES "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"

const struct table_column table_event_columns[TABLE_N_EVENT_COLUMNS] = {
    {.fields = {FIELD_TIMESTAMP}, .as_text = true},
    {.fields = {FIELD_TIMESTAMP}},
    {.fields = {FIELD_IN_IFACE, FIELD_PCAP_FILENAME}},
    {.fields = {FIELD_PCAP_CNT}},
    {.fields = {FIELD_FLOW_ID}},
    {.fields = {FIELD_DIRECTION}},
    {.fields = {FIELD_VLAN}, .nth = 0},
    {.fields = {FIELD_VLAN}, .nth = 1},
    {.fields = {FIELD_PROTO}},
    {.fields = {FIELD_SRC_IP}},
    {.fields = {FIELD_SRC_PORT}},
    {.fields = {FIELD_DEST_IP}},
    {.fields = {FIELD_DEST_PORT}},
    {.fields = {FIELD_ICMP_TYPE}},
    {.fields = {FIELD_ICMP_CODE}},
};

const struct table_column table_last_column = {.fields = {FIELD_COMMUNITY_ID}};

static const struct table_column alert_columns[] = {
    {.fields = {FIELD_GID}},       {.fields = {FIELD_SIGNATURE_ID}}, {.fields = {FIELD_REV}},
    {.fields = {FIELD_SIGNATURE}}, {.fields = {FIELD_CLASSTYPE}},    {.fields = {FIELD_CATEGORY}},
    {.fields = {FIELD_SEVERITY}},  {.fields = {FIELD_PAYLOAD}},
};

static const struct table_column anomaly_columns[] = {{.fields = {FIELD_ANOMALY_EVENT}}};

static const struct table_column name_columns[] = {
    {.fields = {FIELD_EVENT_TYPE}},
    {.fields = {FIELD_DNS_TYPE, FIELD_HTTP_METHOD, FIELD_NDN_TYPE}},
    {.fields = {FIELD_NAMES_NAME}},
    {.fields = {FIELD_NAMES_PREFIX}},
    {.fields = {FIELD_NAMES_ACTION}},
    {.fields = {FIELD_NAMES_VERDICT}},
    {.fields = {FIELD_NAMES_NEXT_HOPS, FIELD_NAMES_VALUES}},
    {.fields = {FIELD_NAMES_LIST}},
    {.fields = {FIELD_NAMES_LINE}},
};

static const struct table_column flow_columns[] = {
    {.fields = {FIELD_APP_PROTO}},
    {.fields = {FIELD_FLOW_START}, .as_text = true},
    {.fields = {FIELD_FLOW_END}, .as_text = true},
    {.fields = {FIELD_FLOW_AGE}},
    {.fields = {FIELD_FLOW_STATE}},
    {.fields = {FIELD_FLOW_REASON}},
    {.fields = {FIELD_FLOW_ALERTED}},
    {.fields = {FIELD_FLOW_PKTS_TOSERVER}},
    {.fields = {FIELD_FLOW_PKTS_TOCLIENT}},
    {.fields = {FIELD_FLOW_BYTES_TOSERVER}},
    {.fields = {FIELD_FLOW_BYTES_TOCLIENT}},
    {.fields = {FIELD_TCP_FLAGS}},
    {.fields = {FIELD_TCP_FLAGS_TS}},
    {.fields = {FIELD_TCP_FLAGS_TC}},
    {.fields = {FIELD_TCP_STATE}},
};

static const struct table_column dns_columns[] = {
    {.fields = {FIELD_DNS_TYPE}},   {.fields = {FIELD_DNS_ID}},     {.fields = {FIELD_DNS_RCODE}},
    {.fields = {FIELD_DNS_RRNAME}}, {.fields = {FIELD_DNS_RRTYPE}},
};

static const struct table_column http_columns[] = {
    {.fields = {FIELD_HTTP_METHOD}},       {.fields = {FIELD_HTTP_HOSTNAME}},
    {.fields = {FIELD_HTTP_URL}},          {.fields = {FIELD_HTTP_PROTOCOL}},
    {.fields = {FIELD_HTTP_STATUS}},       {.fields = {FIELD_HTTP_LENGTH}},
    {.fields = {FIELD_HTTP_CONTENT_TYPE}}, {.fields = {FIELD_HTTP_USER_AGENT}},
    {.fields = {FIELD_HTTP_REFER}},        {.fields = {FIELD_HTTP_REDIRECT}},
};

static const struct table_column tls_columns[] = {
    {.fields = {FIELD_EVENT_TYPE}},
    {.fields = {FIELD_TLS_VERSION, FIELD_QUIC_VERSION}},
    {.fields = {FIELD_TLS_SNI, FIELD_QUIC_SNI}},
    {.fields = {FIELD_TLS_SUBJECT}},
    {.fields = {FIELD_TLS_ISSUER}},
    {.fields = {FIELD_TLS_SERIAL}},
    {.fields = {FIELD_TLS_FINGERPRINT}},
    {.fields = {FIELD_TLS_NOT_BEFORE}},
    {.fields = {FIELD_TLS_NOT_AFTER}},
    {.fields = {FIELD_JA3_HASH}},
    {.fields = {FIELD_JA3S_HASH}},
    {.fields = {FIELD_JA4}},
};

static const struct table_column file_columns[] = {
    {.fields = {FIELD_FILE_NAME}},     {.fields = {FIELD_FILE_MAGIC}},
    {.fields = {FIELD_FILE_SIZE}},     {.fields = {FIELD_FILE_STATE}},
    {.fields = {FIELD_FILE_GAPS}},     {.fields = {FIELD_FILE_MD5}},
    {.fields = {FIELD_FILE_SHA1}},     {.fields = {FIELD_FILE_SHA256}},
    {.fields = {FIELD_HTTP_HOSTNAME}}, {.fields = {FIELD_HTTP_URL}},
};

static const struct table_column packet_columns[] = {{.fields = {FIELD_LINK_TYPE}},
                                                     {.fields = {FIELD_PACKET}}};

static const struct table_column smtp_columns[] = {
    {.fields = {FIELD_SMTP_HELO}},        {.fields = {FIELD_SMTP_MAIL_FROM}},
    {.fields = {FIELD_SMTP_RCPT_TO}},     {.fields = {FIELD_EMAIL_FROM}},
    {.fields = {FIELD_EMAIL_TO}},         {.fields = {FIELD_EMAIL_SUBJECT}},
    {.fields = {FIELD_EMAIL_MESSAGE_ID}}, {.fields = {FIELD_EMAIL_ATTACHMENT}},
};

static const struct table_column ssh_columns[] = {
    {.fields = {FIELD_SSH_CLIENT_SOFTWARE}},
    {.fields = {FIELD_SSH_SERVER_SOFTWARE}},
    {.fields = {FIELD_SSH_CLIENT_HASSH_HASH}},
    {.fields = {FIELD_SSH_SERVER_HASSH_HASH}},
};

static const struct table_column ftp_columns[] = {
    {.fields = {FIELD_FTP_COMMAND}}, {.fields = {FIELD_FTP_COMMAND_DATA}},
    {.fields = {FIELD_FTP_CODE}},    {.fields = {FIELD_FTP_REPLY}},
    {.fields = {FIELD_FTP_PORT}},
};

#define COLUMNS(array) (array), sizeof(array) / sizeof *(array)

const struct table_insert table_inserts[N_TABLES] = {
    [TABLE_ALERTS] = {"INSERT INTO alerts VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?,?,?,?)",
                      COLUMNS(alert_columns)},
    [TABLE_ANOMALIES] = {"INSERT INTO anomalies VALUES(NULL," EVENT_VALUES ",?,?)",
                         COLUMNS(anomaly_columns)},
    [TABLE_NAMES] = {"INSERT INTO names VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?,?,?,?,?)",
                     COLUMNS(name_columns)},
    [TABLE_FLOWS] = {"INSERT INTO flows VALUES(NULL," EVENT_VALUES
                     ",?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                     COLUMNS(flow_columns)},
    [TABLE_DNS] = {"INSERT INTO dns VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?)",
                   COLUMNS(dns_columns)},
    [TABLE_HTTP] = {"INSERT INTO http VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?,?,?,?,?,?)",
                    COLUMNS(http_columns)},
    [TABLE_TLS] = {"INSERT INTO tls VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?,?,?,?,?,?,?,?)",
                   COLUMNS(tls_columns)},
    [TABLE_FILES] = {"INSERT INTO files VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?,?,?,?,?,?)",
                     COLUMNS(file_columns)},
    [TABLE_PACKETS] = {"INSERT INTO packets VALUES(NULL," EVENT_VALUES ",?,?,?)",
                       COLUMNS(packet_columns)},
    [TABLE_SMTP] = {"INSERT INTO smtp VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?,?,?,?)",
                    COLUMNS(smtp_columns)},
    [TABLE_SSH] = {"INSERT INTO ssh VALUES(NULL," EVENT_VALUES ",?,?,?,?,?)", COLUMNS(ssh_columns)},
    [TABLE_FTP] = {"INSERT INTO ftp VALUES(NULL," EVENT_VALUES ",?,?,?,?,?,?)",
                   COLUMNS(ftp_columns)},
};

enum table table_of(enum sl_event_kind kind)
{
    switch (kind) {
    case SL_EVENT_ALERT:
        return TABLE_ALERTS;
    case SL_EVENT_ANOMALY:
        return TABLE_ANOMALIES;
    case SL_EVENT_FLOW:
        return TABLE_FLOWS;
    case SL_EVENT_DNS_MESSAGE:
        return TABLE_DNS;
    case SL_EVENT_HTTP_MESSAGE:
        return TABLE_HTTP;
    case SL_EVENT_TLS_MESSAGE:
    case SL_EVENT_QUIC_MESSAGE:
        return TABLE_TLS;
    case SL_EVENT_FILE:
        return TABLE_FILES;
    case SL_EVENT_PACKET:
        return TABLE_PACKETS;
    case SL_EVENT_SMTP_MESSAGE:
        return TABLE_SMTP;
    case SL_EVENT_SSH_MESSAGE:
        return TABLE_SSH;
    case SL_EVENT_FTP_MESSAGE:
        return TABLE_FTP;
    default:
        return TABLE_NAMES;
    }
}
