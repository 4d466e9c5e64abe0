/* SPDX-License-Identifier: MIT */
/* Events: the reports of a run on packets, and the fields that every sink writes of them.
 *
 * An event is an open struct. Filling it needs no engine: names of checks, actions and protocols
 * are texts. sl_event_fields visits its fields, so that a caller's own sink writes what all sinks
 * write. */
#ifndef SLUICE_EVENT_H
#define SLUICE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/app.h"
#include "sluice/batch.h"
#include "sluice/dissect.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of events, by the types of Suricata's. DNS to NDN are names in packets. The types of
 * some messages are those of names, too. */
enum sl_event_kind {
    SL_EVENT_ALERT,
    SL_EVENT_ANOMALY,
    SL_EVENT_DNS,
    SL_EVENT_HTTP,
    SL_EVENT_TLS,
    SL_EVENT_NDN,
    SL_EVENT_FLOW,         /* a flow that ended */
    SL_EVENT_DNS_MESSAGE,  /* the payload is a DNS message */
    SL_EVENT_HTTP_MESSAGE, /* a transaction that is over */
    SL_EVENT_TLS_MESSAGE,  /* a handshake that is over */
    SL_EVENT_QUIC_MESSAGE, /* a client's hello */
    SL_EVENT_FILE,         /* a file that is over */
    SL_EVENT_PACKET,       /* a packet that a rule has tagged */
    SL_EVENT_SMTP_MESSAGE, /* a mail, or a client's greeting without one */
    SL_EVENT_SSH_MESSAGE,  /* a handshake up to where it encrypts */
    SL_EVENT_FTP_MESSAGE,  /* a command with its replies */
    SL_N_EVENT_KINDS
};

/* The type of Suricata's: "alert", "anomaly", "dns", "http", "tls", "ndn", "flow", "dns", "http",
 * "tls", "quic", "fileinfo", "packet", "smtp", "ssh", "ftp". Any thread. */
SL_API const char *sl_event_type(enum sl_event_kind kind);

/* The part of a rule that an alert shows. Strings have the bytes of the rule file, in UTF-8 or not,
 * and end in a NUL. The rule set owns them. */
struct sl_signature {
    const char *action;    /* "alert", "drop", ... as the rule has it; NULL is "alert" */
    const char *msg;       /* "" where absent */
    const char *classtype; /* "" where absent */
    const char *category;  /* the class's description; the classtype where none is known */
    uint32_t gid;          /* 1 where absent */
    uint32_t sid;
    uint32_t rev;                  /* 0 where absent */
    uint32_t priority;             /* from the rule, else from its class, else 3 */
    const char *const *references; /* "https://example.org", or "system,place" of a system whose
                                      address is not known; ended by NULL */
    const char *const *metadata;   /* "key value", ended by NULL */
    const char *file;              /* the rule's place */
    uint32_t line;
};

/* A name in a packet, and the rule that a table has for it. Texts may hold any bytes but NUL. Spans
 * lie in the event's payload. Of the four protocols only that of the event's kind is valid. */
struct sl_name_match {
    const char *name;          /* as sl_name_write writes it */
    const char *prefix;        /* the rule's name */
    const char *action;        /* the rule's: "block", "forward", ... */
    const char *verdict;       /* "blocked" or "allowed" where the action is one of them, or NULL */
    const char *const *values; /* next hops, addresses, categories, ...; ended by NULL */
    bool hops;                 /* the values are next hops: "HOP", or "HOP COST" */
    const char *list, *format; /* the rule's file, and how it is written */
    uint32_t line;
    struct {
        uint16_t id, flags; /* the message's header */
        uint16_t rrtype;
    } dns;
    struct {
        const char *host; /* the name's host alone */
        struct sl_span method, target;
        uint16_t port; /* of the Host field or absolute target; 0: none */
        uint8_t minor; /* HTTP/1.minor */
    } http;
    struct {
        uint16_t version; /* the highest that the client offers: 0x0303 is TLS 1.2 */
    } tls;
    struct {
        bool data; /* a Data packet, else an Interest */
    } ndn;
};

/* A report on one packet, or on a flow. All pointers are borrowed for the call that takes the
 * event. The origin of a flow's event has its id, its VLANs, its source and the time when it ended;
 * its tuple begins at the client. */
struct sl_event {
    enum sl_event_kind kind;
    const struct sl_signature *signature; /* alerts */
    const char *check;                    /* anomalies: the header check's name */
    const struct sl_name_match *match;    /* names */
    const struct sl_flow_record *flow;    /* flows */

    /* Messages of HTTP, TLS and QUIC, files, and alerts of rules that such a message matches. NULL:
     * none. */
    const struct sl_app_message *message;

    struct sl_origin origin; /* time, packet number, flow, VLANs, direction */
    const char *source;      /* the file's path or the interface's name */
    bool live;               /* source is an interface */
    bool has_tuple;          /* tuple is valid */
    struct sl_tuple tuple;
    const struct sl_flow_total *total; /* that its flow has sent up to the packet; NULL: not counted
                                        */
    const char *community_id; /* version 1, seed 0, of the tuple; NULL: no flow, or not asked for */
    uint32_t nth_message;     /* of a flow's DNS messages the payload is the n-th, from 1 on; 0: not
                                 counted. EVE's "tx_id" counts from 0. Where `message` is there, it
                                 is the transaction */
    const uint8_t *payload;   /* the packet's payload; NULL where payload_len is 0 */
    uint32_t payload_len;     /* bytes */
    struct {
        const uint8_t *bytes;
        uint32_t len;
        const char *link; /* the name of its link type */
    } packet; /* the whole of it, which alerts and SL_EVENT_PACKET show; len 0: there is none */
};

enum { SL_EVENT_PAYLOAD_MAX = 4096 }; /* bytes of an alert's payload in its field, as Suricata */

/* The types of fields, and the members of struct sl_field that each has. */
enum sl_field_type {
    SL_FIELD_NONE,     /* never visited */
    SL_FIELD_OBJECT,   /* the fields that follow lie in an object of this name, */
    SL_FIELD_END,      /* to its end */
    SL_FIELD_NUMBER,   /* number */
    SL_FIELD_UNKNOWN,  /* a number that the packet does not have; EVE shows 0 */
    SL_FIELD_TRUE,     /* a flag that is set, */
    SL_FIELD_FALSE,    /* and one that is not, where EVE shows those */
    SL_FIELD_TEXT,     /* n bytes at text, of any encoding, not ended by NUL */
    SL_FIELD_TEXTS,    /* texts, ended by NULL; at least one */
    SL_FIELD_NUMBERS,  /* n numbers; at least one */
    SL_FIELD_BYTES,    /* n bytes */
    SL_FIELD_TIME,     /* time_ns since 1970-01-01 UTC */
    SL_FIELD_ADDR,     /* addr */
    SL_FIELD_LIST,     /* the objects that follow, of no name, lie in a list of this name, */
    SL_FIELD_LIST_END, /* to its end */
    SL_FIELD_VALUES,   /* n values, of any bytes; at least one */
    SL_FIELD_MESSAGE   /* n bytes: a DNS message; EVE has an object of all of it */
};

/* A field of an event. */
struct sl_field {
    const char *name; /* of EVE; static. "" for SL_FIELD_END */
    enum sl_field_type type;
    uint32_t n;
    union {
        uint64_t number;
        const char *text;
        const char *const *texts;
        const uint16_t *numbers;
        const uint8_t *bytes;
        const struct sl_app_value *values;
        int64_t time_ns;
        const struct sl_addr *addr;
    };
};

/* Visits the fields of an event. First come those of EVE in EVE's order, each in its object. Then
 * come those that EVE lacks: "classtype", and "pcap_cnt" and "direction" where EVE has them for
 * other events alone; of a DNS message header and first question. Absent fields are not visited.
 * The field and what it points to are borrowed for the call of `visit`. Any thread. */
SL_API void sl_event_fields(const struct sl_event *event,
                            void (*visit)(void *user, const struct sl_field *field), void *user);

#ifdef __cplusplus
}
#endif
#endif
