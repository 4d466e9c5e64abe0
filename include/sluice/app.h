/* SPDX-License-Identifier: MIT */
/* Application protocols: which packets carry one, and the parts of their messages that rules name.
 *
 * Protocols are found by the bytes of a message, not by ports, but for NTP. Over UDP these are
 * read: DNS, with multicast DNS and LLMNR, which have its form, SIP, NTP, SNMP and DHCP. A datagram
 * is enough for each of them. Flows are read by a run (sluice/run.h): HTTP/1, TLS, DNS, SIP, SMTP,
 * FTP, SSH and DCE/RPC over TCP, and QUIC over UDP. */
#ifndef SLUICE_APP_H
#define SLUICE_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of sl_origin.app. */
enum sl_app {
    SL_APP_UNKNOWN,
    SL_APP_DNS,   /* over UDP and, for messages of flows, TCP */
    SL_APP_MDNS,  /* the form of DNS, with port 5353 */
    SL_APP_LLMNR, /* the form of DNS, with port 5355 */
    SL_APP_SIP,   /* as DNS */
    SL_APP_NTP,   /* with port 123 */
    SL_APP_SNMP,
    SL_APP_DHCP,
    SL_APP_HTTP, /* of a TCP flow, as the next one is */
    SL_APP_TLS,
    SL_APP_QUIC,
    SL_APP_SMTP,
    SL_APP_FTP,
    SL_APP_POP3, /* of a TCP flow: known, but not read, as all that follow but for SSH and DCERPC */
    SL_APP_IMAP,
    SL_APP_HTTP2,
    SL_APP_SSH,
    SL_APP_SMB,
    SL_APP_DCERPC,
    SL_APP_RDP,
    SL_APP_RFB,
    SL_APP_MQTT,
    SL_APP_PGSQL,
    SL_APP_DNP3,
    SL_APP_ENIP, /* over UDP, too */
    SL_APP_IKE,  /* over UDP */
    SL_N_APPS
};

/* The protocol's name in EVE: "dns", "mdns", "llmnr", "sip" and so on. NULL: SL_APP_UNKNOWN. Any
 * thread. */
SL_API const char *sl_app_name(enum sl_app app);

/* The buffers that contents of rules are searched for in. A name belongs to several. */
enum {
    SL_BUFFER_PAYLOAD = 1,
    SL_BUFFER_DNS_QUERY = 2,        /* names of the questions of requests */
    SL_BUFFER_DNS_QUERIES = 4,      /* names of questions */
    SL_BUFFER_DNS_ANSWERS = 8,      /* names of answers */
    SL_BUFFER_DNS_AUTHORITIES = 16, /* names of authorities */
    SL_BUFFER_DNS_ADDITIONALS = 32, /* names of additionals */
    SL_BUFFER_DNS_RESPONSE = 64,    /* names of the questions and records of responses */
    /* Values of messages (enum sl_app_value_id), as sl_app_buffer_of has them. */
    SL_BUFFER_HTTP_URI = 128,
    SL_BUFFER_HTTP_URI_RAW = 256,
    SL_BUFFER_HTTP_HOST = 512,
    SL_BUFFER_HTTP_HEADER = 1024,
    SL_BUFFER_HTTP_HEADER_RAW = 2048,
    SL_BUFFER_HTTP_COOKIE = 4096,
    SL_BUFFER_HTTP_USER_AGENT = 8192,
    SL_BUFFER_HTTP_FIELD = 16384, /* values of the other fields */
    SL_BUFFER_HTTP_LINE = 32768,  /* of the first line */
    SL_BUFFER_BODY = 65536,
    SL_BUFFER_TLS_NAME = 131072,
    SL_BUFFER_TLS_CERTIFICATE = 262144,
    SL_BUFFER_TLS_HASH = 524288, /* JA3, JA3S, JA4, and their texts */
    SL_BUFFER_FILE = 1048576,    /* names and kinds of files */
    SL_BUFFER_SIP = 2097152,     /* messages of SIP over TCP */
    SL_BUFFER_SESSION = 4194304  /* values of SMTP and its mails, SSH, FTP and DCERPC */
};

/* Buffers of made items that hold bytes of a TCP stream (struct sl_stream_part of sluice/detect.h).
 */
#define SL_BUFFER_STREAM (UINT32_C(1) << 31)
#define SL_BUFFER_STREAM_BACK (UINT32_C(1) << 30)

/* Sets origin.app of the packets of a dissected host batch that have none so far. Without origins
 * it does nothing. Any thread. */
SL_API void sl_app_find(struct sl_batch *batch);

/* Appends made items to `to`: the names in DNS messages that belong to one of `buffers`, in the
 * order of packets. `to` is the batch itself, or a batch without items, which takes the names that
 * the batch had no room for. A period stands before each name, and is no part of it. `from` is 0 at
 * first, then the result of the call before. UINT64_MAX: no name is left. `to` must have room for
 * one item of SL_APP_MADE_LEN bytes. Any thread. */
enum { SL_APP_MADE_LEN = 256 };
SL_API uint64_t sl_app_make(const struct sl_batch *batch, struct sl_batch *to, uint32_t buffers,
                            uint64_t from);

/* ---- messages of flows ----------------------------------------------------------------------- */

/* Values of a message, as rules and events name them. Those of HTTP are of the side that sent them,
 * and have Suricata's normal forms. */
enum sl_app_value_id {
    SL_HTTP_METHOD,
    SL_HTTP_URI,     /* normalised: path, query and fragment */
    SL_HTTP_URI_RAW, /* as it was sent */
    SL_HTTP_HOST,    /* of the URI, else of the field; in lower case, without port */
    SL_HTTP_HOST_RAW,
    SL_HTTP_PROTOCOL,
    SL_HTTP_START_LINE,   /* the first line */
    SL_HTTP_START,        /* the first line and all fields, normalised, and an empty line */
    SL_HTTP_HEADER,       /* "Name: value\r\n" for all fields but cookies */
    SL_HTTP_HEADER_RAW,   /* fields as they were sent, and the empty line */
    SL_HTTP_HEADER_NAMES, /* "\r\nName\r\n...\r\n\r\n" */
    SL_HTTP_COOKIE,       /* Cookie, or Set-Cookie */
    SL_HTTP_STAT_CODE,
    SL_HTTP_STAT_MSG,
    SL_HTTP_USER_AGENT, /* values of fields, from here on */
    SL_HTTP_REFERER,
    SL_HTTP_ACCEPT,
    SL_HTTP_ACCEPT_LANG,
    SL_HTTP_ACCEPT_ENC,
    SL_HTTP_CONNECTION,
    SL_HTTP_CONTENT_TYPE,
    SL_HTTP_CONTENT_LEN,
    SL_HTTP_SERVER,
    SL_HTTP_LOCATION,
    SL_TLS_SNI,
    SL_TLS_VERSION, /* that the server chose, "1.2" */
    SL_TLS_CERT_SUBJECT,
    SL_TLS_CERT_ISSUER,
    SL_TLS_CERT_SERIAL,
    SL_TLS_CERT_FINGERPRINT,
    SL_TLS_CERT_NOT_BEFORE,
    SL_TLS_CERT_NOT_AFTER,
    SL_TLS_JA3_HASH,
    SL_TLS_JA3,
    SL_TLS_JA3S_HASH,
    SL_TLS_JA3S,
    SL_TLS_JA4,
    SL_TLS_CERT,          /* in DER; one of these for each certificate, the server's own first */
    SL_TLS_CERT_ALT_NAME, /* one for each */
    SL_TLS_ALPN,          /* one for each */
    SL_TLS_RANDOM,        /* 32 bytes */
    SL_FILE_NAME,
    SL_FILE_MAGIC,  /* the kind, as libmagic names it */
    SL_DNS_MESSAGE, /* over TCP: all of it, as of SIP */
    SL_SIP_MESSAGE,
    SL_SMTP_HELO, /* of SMTP up to SL_EMAIL_ATTACHMENT */
    SL_SMTP_MAIL_FROM,
    SL_SMTP_RCPT_TO, /* one for each, up to 16 KiB, as of values of a mail */
    SL_EMAIL_FROM,   /* fields of the mail's head */
    SL_EMAIL_TO,     /* one for each address, as of SL_EMAIL_CC */
    SL_EMAIL_CC,
    SL_EMAIL_SUBJECT,
    SL_EMAIL_DATE,
    SL_EMAIL_MESSAGE_ID,
    SL_EMAIL_X_MAILER,
    SL_EMAIL_RECEIVED,   /* one for each field */
    SL_EMAIL_URL,        /* one for each in texts */
    SL_EMAIL_ATTACHMENT, /* one for each name */
    SL_SSH_PROTO,        /* "2.0" */
    SL_SSH_SOFTWARE,
    SL_SSH_HASSH, /* in hexadecimal digits */
    SL_SSH_HASSH_STRING,
    SL_FTP_COMMAND, /* in upper case */
    SL_FTP_COMMAND_DATA,
    SL_FTP_COMPLETION_CODE, /* one for each line that has one, up to 4 KiB */
    SL_FTP_REPLY,           /* one for each line, up to 4 KiB */
    SL_DCERPC_INTERFACE,    /* of a call: its UUID, in lower case */
    SL_APP_BODY,            /* as far as it has come, decoded; of SMTP: of an attachment; of DCERPC:
                               the data of a call's stub. Its bytes are NULL where a message
                               has `parts` */
    SL_N_APP_VALUES
};

/* The bit of a value in a set of them. Those of SMTP, SSH, FTP and DCERPC share one. */
static inline uint64_t sl_app_value_bit(enum sl_app_value_id id)
{
    if (id == SL_APP_BODY)
        return UINT64_C(1) << 63;
    return UINT64_C(1) << (id < SL_SMTP_HELO ? id : SL_SMTP_HELO);
}

/* Returns the SL_BUFFER_* that a value belongs to. Any thread. */
SL_API uint32_t sl_app_buffer_of(enum sl_app_value_id id);

/* A value's bytes, which need not be text. */
struct sl_app_value {
    const uint8_t *bytes;
    uint32_t len; /* bytes */
    uint32_t id;  /* enum sl_app_value_id */
};

/* One side's part of a transaction so far. */
struct sl_app_half {
    const struct sl_app_value *value; /* ids ascend; some repeat */
    uint32_t n_values;
    bool has_head;     /* whole: a value that is not listed is not there */
    bool has_ended;    /* nothing more comes */
    uint64_t body_len; /* bytes of the body so far, decoded */
    uint64_t wire_len; /* before content codings were decoded */
};

/* Whether a file is whole. */
enum sl_file_state {
    SL_FILE_CLOSED,   /* all of it came */
    SL_FILE_TRUNCATED /* its end did not come */
};

/* Hashes of a file. */
enum sl_file_hash { SL_FILE_MD5, SL_FILE_SHA1, SL_FILE_SHA256, SL_N_FILE_HASHES };

enum { SL_FILE_HASH_MAX = 32 }; /* bytes of the longest hash */

/* Of a run alone. */
struct app_contents;

/* A file that a message carried: a body, or a part of one. */
struct sl_app_file {
    struct sl_app_value name;  /* as the sender names it, else the path of the URI */
    struct sl_app_value magic; /* its kind, as libmagic names it; len 0: not inspected */
    uint64_t size;             /* bytes that came */
    uint32_t number;           /* among the files of the side of the transaction, from 0 on */
    uint8_t state;             /* enum sl_file_state */
    bool has_gaps;             /* bytes in its midst did not come */
    uint8_t hashes;            /* which of hash[] were made, as bits */
    uint8_t hash[SL_N_FILE_HASHES][SL_FILE_HASH_MAX]; /* by enum sl_file_hash: its first bytes */
    bool is_stored;                /* the run wrote it into its folder of files */
    struct app_contents *contents; /* its bytes, for the run alone; NULL: they were not kept */
};

/* The next bytes of a body that lies in packets of the batch. */
struct sl_app_part {
    const struct sl_app_part *next; /* of the bytes behind these; NULL: there are none */
    const uint8_t *bytes;
    uint32_t len; /* of bytes, 1 or more */
};

/* Bytes of a body as a packet of the batch holds them. */
struct sl_app_piece {
    const struct sl_app_piece *next; /* of the bytes behind these; NULL: there are none */
    uint32_t item;                   /* the packet */
    uint32_t begin, len;             /* bytes of its payload */
};

/* The reason of a message. */
enum sl_app_step {
    SL_APP_HEAD,  /* the side's head is whole, or says more: a hello, then certificates; an
                     envelope, then its mail; a banner, then keys */
    SL_APP_MORE,  /* more of the side's body has come */
    SL_APP_FILE,  /* a file of the side is over */
    SL_APP_END,   /* the side has sent its part */
    SL_APP_EVENT, /* the side broke a rule of the protocol */
    SL_APP_DONE   /* the transaction is over, for its event; rules have seen all of it before */
};

/* A transaction, as far as a packet of this batch completed it. Its content does not depend on cuts
 * into batches: a body is shown at each SL_APP_BODY_STEP bytes from its first on, at its end, and
 * at SL_APP_BODY_MAX bytes, behind which it is not shown. The maker of a message owns it and all
 * that it points to. In an event they are valid during the call, else as long as the batch. */
struct sl_app_message {
    uint32_t item;        /* the packet */
    uint8_t app;          /* enum sl_app */
    uint8_t side;         /* 0: the client sent what is new, 1: the server */
    uint8_t step;         /* enum sl_app_step */
    uint64_t flow;        /* as the packet's origin has it */
    uint64_t transaction; /* of the flow, from 0 on */
    struct sl_app_half half[2];
    const struct sl_app_file *file;    /* FILE: it; END: that ended with the body; NULL: none */
    uint32_t quic_version;             /* QUIC: of the side's first packet */
    uint32_t body_len;                 /* bytes of the value SL_APP_BODY of the side */
    uint32_t body_shown;               /* of them, those that the message before showed */
    const struct sl_app_piece *pieces; /* all bytes behind those; NULL: some lie in no packet of the
                                          batch, or in too many */
    const struct sl_app_part *parts;   /* the bytes of the value SL_APP_BODY of the side, perhaps
                                          with some behind them; NULL: the value has bytes */
    uint16_t status;                   /* HTTP: 0: none, or no number of three digits */
    uint16_t seen;                     /* TLS: messages that were seen, SL_TLS_SEEN_* */
    uint16_t version[2]; /* TLS: that the client offers, that the server chose; 0: not seen */
    uint16_t port;       /* HTTP: that the URI or the field Host names; FTP: of the connection for
                            data; 0: none */
    uint16_t n_certificates;
    bool later;        /* HEAD: of the side another one came before */
    bool truncated[2]; /* FTP: a line of the side was too long, and is cut */
    uint8_t mail;      /* SMTP: enum sl_mail_state */
    uint8_t ftp_mode;  /* enum sl_ftp_mode */
    struct {
        uint32_t id;
        uint16_t opnum;
        uint16_t major, minor;   /* version of the interface */
        uint16_t n_fragments[2]; /* of the sides */
        bool is_little[2];       /* the lowest byte of the side's numbers comes first */
    } call;                      /* DCERPC */
    uint8_t event;               /* EVENT: which; see sl_app_event_find */
    uint64_t events;             /* of the side so far: bit i is event i */
};

/* Returns the number, below 64, of an event by its name of len bytes in Suricata's rules,
 * "tls.invalid_record_type". *app is its protocol. 0: no such event is reported. Any thread. */
SL_API uint32_t sl_app_event_find(const char *name, size_t len, enum sl_app *app);

/* How far a mail has come. */
enum sl_mail_state { SL_MAIL_NONE, SL_MAIL_HEAD, SL_MAIL_BODY, SL_MAIL_DONE };

/* Who opens FTP's connection for data: with "active" the server. */
enum sl_ftp_mode { SL_FTP_UNSTATED, SL_FTP_ACTIVE, SL_FTP_PASSIVE };

/* Bytes of a body: from one message of it to the next, and that messages show. */
enum { SL_APP_BODY_STEP = 32768, SL_APP_BODY_MAX = 102400 };

/* Messages of a TLS handshake. */
enum {
    SL_TLS_SEEN_CLIENT_HELLO = 1,
    SL_TLS_SEEN_SERVER_HELLO = 2,
    SL_TLS_SEEN_CLIENT_KEYS = 4,
    SL_TLS_SEEN_SERVER_KEYS = 8,
    SL_TLS_SEEN_CERTIFICATE = 16,
    SL_TLS_SEEN_RESUMED = 32 /* the server encrypted without a certificate, before TLS 1.3 */
};

/* ---- counters -------------------------------------------------------------------------------- */

/* Counters of messages of flows. */
struct sl_app_stats {
    uint64_t flows;         /* of protocols that are read */
    uint64_t messages;      /* given to rules and events */
    uint64_t transactions;  /* that are over */
    uint64_t flows_evicted; /* read no further, as memory was short */
    uint64_t left_out;      /* messages that flows paid too few bytes for: pipelined without end */
    uint64_t bodies_cut;    /* bodies that rules do not see whole, for the same reason, or as they
                               have more than SL_APP_BODY_MAX bytes */
    uint64_t files_cut;     /* files that are neither scanned nor stored: they have gaps or more
                               than 64 MiB, or there was no room for them */
};

/* Calls `call` for each counter with its name, "flows_evicted". Any thread. */
SL_API void sl_app_stats_each(const struct sl_app_stats *stats,
                              void (*call)(void *user, const char *name, uint64_t value),
                              void *user);

#ifdef __cplusplus
}
#endif
#endif
