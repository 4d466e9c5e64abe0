/* SPDX-License-Identifier: MIT */
/* A rule as it is evaluated, and the set that holds all rules. */
#ifndef DETECT_RULE_H
#define DETECT_RULE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/sip.h"
#include "base/spread.h"
#include "detect/transform/transform.h"
#include "expression.h"
#include "rule_memory.h"
#include "rule_ranges.h"
#include "sluice/app.h"
#include "sluice/detect.h"

/* The protocols that a rule's header may ask for. A packet has several of them. */
enum {
    RULE_PACKET = 1, /* any packet, with or without IP ("pkthdr") */
    RULE_IP = 2,
    RULE_IPV4 = 4,
    RULE_IPV6 = 8,
    RULE_TCP = 16,
    RULE_UDP = 32,
    RULE_SCTP = 64,
    RULE_ICMPV4 = 128,
    RULE_ICMPV6 = 256
};

/* NULL: any, those of packets without ports too. */
struct rule_endpoint {
    const struct rule_ranges *addresses;
    const struct rule_ranges *ports;
};

/* Fields of a packet that options compare with numbers. */
enum rule_field {
    RULE_PAYLOAD_LEN,
    RULE_TTL, /* IPv6: hop limit */
    RULE_TOS, /* IPv4 */
    RULE_IP_ID,
    RULE_IP_PROTOCOL,
    RULE_FRAGMENT_BITS,   /* the byte of the IPv4 header that begins with reserved, DF, MF */
    RULE_FRAGMENT_OFFSET, /* in units of 8 bytes; IPv4 */
    RULE_IP_OPTIONS,      /* of the IPv4 header, as rule_ip_option_bit has them */
    RULE_TCP_FLAGS,
    RULE_TCP_SEQ,
    RULE_TCP_ACK,
    RULE_TCP_WINDOW,
    RULE_TCP_MSS,
    RULE_TCP_WSCALE,
    RULE_ICMP_TYPE,
    RULE_ICMP_CODE,
    RULE_ICMP_ID, /* of the types that have one */
    RULE_ICMP_SEQ,
    RULE_ICMPV6_MTU,
    RULE_IGMP_TYPE,
    RULE_VLAN_LAYERS,
    RULE_SAME_ADDRESS, /* 1: source and destination are one */
    RULE_IP_VERSION,
    RULE_DEFECT,           /* enum sl_defect */
    RULE_FRAGMENT_OVERLAP, /* 1: it overlaps others */
    RULE_IPV6_EVENTS,      /* IPV6_EVENT_* of ipv6_events */
    RULE_DNS_OPCODE,
    RULE_DNS_RCODE,
    RULE_DNS_EVENTS, /* bits of dns_events */
    RULE_NTP_VERSION,
    RULE_NTP_MODE,
    RULE_NTP_STRATUM,
    RULE_SNMP_VERSION,
    RULE_SNMP_PDU_TYPE,
    RULE_DHCP_LEASE_TIME,
    RULE_DHCP_RENEWAL_TIME,
    RULE_DHCP_REBINDING_TIME,
    RULE_TLS_VERSION, /* bits of the versions of the message's side; from here on of messages */
    RULE_FILE_SIZE,   /* of the file of a message */
    RULE_TLS_SEEN,    /* SL_TLS_SEEN_*, of messages of TLS */
    RULE_TLS_CHAIN,   /* certificates; the next fields are of the first, in seconds since 1970 */
    RULE_TLS_NOT_BEFORE,
    RULE_TLS_NOT_AFTER,
    RULE_TLS_EXPIRED, /* 1: the packet's time is behind the last */
    RULE_FTP_PORT,    /* of the connection for data */
    RULE_FTP_MODE,    /* enum sl_ftp_mode */
    RULE_CALL_OPNUM,  /* of a call of DCERPC, as the next one */
    RULE_CALL_VERSION,
    /* Fields that repeat. */
    RULE_APP, /* which: enum rule_app_side; `mask` is a set of enum sl_app */
    RULE_VLAN_ID,
    RULE_FLOW_AGE,     /* seconds */
    RULE_FLOW_PACKETS, /* of the client and the server, as RULE_FLOW_BYTES */
    RULE_FLOW_BYTES,
    RULE_STREAM_SIZE,  /* of the client and the server */
    RULE_STREAM_EVENT, /* enum stream_event */
    RULE_APP_EVENT,    /* of a message's side, as sl_app_event_find has them */
    RULE_DNS_RRTYPE    /* of questions of requests, of answers of responses */
};

enum { RULE_N_VLANS = 3 }; /* layers that rules can ask for; the batch has the ids of two */

/* A range of numbers with more than 32 bits. */
struct rule_wide_range {
    uint64_t first, last;
};

/* (field & mask) is in first..last, or, negated, is not. A packet without the field never matches.
 */
struct rule_check {
    uint8_t field; /* enum rule_field */
    bool negated;
    int8_t which; /* of a field that repeats: the first is 0, the last -1; or RULE_ANY, RULE_ALL */
    uint32_t mask;
    union {
        struct {
            uint32_t first, last;
        };
        const struct rule_wide_range *wide; /* RULE_FLOW_*: without a mask */
    };
};

static inline bool rule_check_holds(const struct rule_check *check, uint32_t value)
{
    value &= check->mask;
    return (value >= check->first && value <= check->last) != check->negated;
}

enum {
    RULE_ANY = INT8_MAX,    /* one of them meets the check */
    RULE_ALL = INT8_MAX - 1 /* each does, and there is one */
};

/* Whose protocol is asked for. */
enum rule_app_side {
    RULE_APP_OF_SENDER, /* of the packet */
    RULE_APP_OF_FLOW,
    RULE_APP_BEFORE, /* of the flow, before it became a tunnel */
    RULE_APP_OF_EITHER,
    RULE_APP_OF_CLIENT,
    RULE_APP_OF_SERVER,
    RULE_APP_FOUND /* whether the sender's was found with this packet */
};

/* The objects that a rule inspects, and those that it is evaluated on. */
enum {
    RULE_SEES_PACKETS = 1, /* packets that are part of a stream */
    RULE_SEES_STREAMS = 2,
    RULE_SEES_OTHERS = 4, /* packets that are no part of one */
    RULE_SEES_ALL = 7,
    /* Messages of a side, and of what of it is new. Later: a part of its body, or its certificates.
     */
    RULE_SEES_CLIENT = 8,
    RULE_SEES_CLIENT_LATER = 16,
    RULE_SEES_SERVER = 32,
    RULE_SEES_SERVER_LATER = 64,
    RULE_SEES_FILES = 128,  /* that a message carried, of either side */
    RULE_SEES_EVENTS = 256, /* as soon as they are reported */
    RULE_SEES_MESSAGES = 504
};

enum { RULE_FLOW_KNOWN = 0x80 }; /* beside SL_FLOW_*: the packet belongs to a flow */

/* The bytes that a section of a rule is about. The first are those of SL_BUFFER_*, in their order:
 * the matcher searches them. */
enum rule_buffer {
    RULE_BUFFER_PAYLOAD,
    RULE_BUFFER_DNS_QUERY,
    RULE_BUFFER_DNS_QUERIES,
    RULE_BUFFER_DNS_ANSWERS,
    RULE_BUFFER_DNS_AUTHORITIES,
    RULE_BUFFER_DNS_ADDITIONALS,
    RULE_BUFFER_DNS_RESPONSE,
    RULE_BUFFER_IPV4_HEADER, /* headers: with their options */
    RULE_BUFFER_IPV6_HEADER, /* with extension headers */
    RULE_BUFFER_TCP_HEADER,
    RULE_BUFFER_UDP_HEADER,
    RULE_BUFFER_SCTP_HEADER,
    RULE_BUFFER_ICMPV4_HEADER,
    RULE_BUFFER_ICMPV6_HEADER,
    RULE_BUFFER_SOURCE, /* addresses: 4 or 16 bytes */
    RULE_BUFFER_DESTINATION,
    RULE_BUFFER_NTP_REFERENCE_ID, /* parts of the payload from here on */
    RULE_BUFFER_SNMP_COMMUNITY,
    RULE_BUFFER_SNMP_USM,
    RULE_BUFFER_SIP, /* and enum sip_field */
    RULE_BUFFER_SIP_END = RULE_BUFFER_SIP + SIP_N_FIELDS,
    RULE_BUFFER_VALUE = RULE_BUFFER_SIP_END /* of messages: by enum rule_side and value */
};

/* The values of a message that rules name, and those made of them. */
enum rule_value_id {
    RULE_HTTP_FIELD_LINES = SL_N_APP_VALUES, /* "name: value", one for each field */
    RULE_FILE_MD5,                           /* of messages of files, as the next ones */
    RULE_FILE_SHA1,
    RULE_FILE_SHA256,
    RULE_QUIC_VERSION,     /* 4 bytes */
    RULE_TLS_RANDOM_TIME,  /* the first 4 bytes of SL_TLS_RANDOM */
    RULE_TLS_RANDOM_BYTES, /* those behind */
    RULE_N_VALUES
};

/* Whose value of a message. */
enum rule_side { RULE_OF_CLIENT, RULE_OF_SERVER, RULE_OF_SENDER /* of what is new */ };

static inline enum rule_buffer rule_buffer_of(enum rule_side side, uint32_t id)
{
    return (enum rule_buffer)(RULE_BUFFER_VALUE + (uint32_t)side * RULE_N_VALUES + id);
}

static inline bool rule_buffer_is_value(enum rule_buffer buffer)
{
    return buffer >= RULE_BUFFER_VALUE;
}

static inline enum rule_side rule_buffer_side(enum rule_buffer buffer)
{
    return (enum rule_side)((buffer - RULE_BUFFER_VALUE) / RULE_N_VALUES);
}

/* enum sl_app_value_id, or enum rule_value_id. */
static inline uint32_t rule_buffer_id(enum rule_buffer buffer)
{
    return (buffer - RULE_BUFFER_VALUE) % RULE_N_VALUES;
}

/* The value of the message that the buffer's bytes lie in; SL_N_APP_VALUES: in none. */
static inline enum sl_app_value_id rule_buffer_source(enum rule_buffer buffer)
{
    const uint32_t id = rule_buffer_id(buffer);

    if (id == RULE_HTTP_FIELD_LINES)
        return SL_HTTP_START;
    if (id == RULE_TLS_RANDOM_TIME || id == RULE_TLS_RANDOM_BYTES)
        return SL_TLS_RANDOM;
    return id < SL_N_APP_VALUES ? (enum sl_app_value_id)id : SL_N_APP_VALUES;
}

static inline bool rule_value_is_of_file(uint32_t id)
{
    return id == SL_FILE_NAME || id == SL_FILE_MAGIC ||
           (id >= RULE_FILE_MD5 && id <= RULE_FILE_SHA256);
}

/* Whether the value comes behind the head of its side. */
static inline bool rule_value_is_later(uint32_t id)
{
    return id == SL_APP_BODY || id == SL_TLS_CERT || id == SL_TLS_CERT_ALT_NAME ||
           (id >= SL_TLS_CERT_SUBJECT && id <= SL_TLS_CERT_NOT_AFTER) ||
           (id >= SL_EMAIL_FROM && id <= SL_EMAIL_ATTACHMENT) || id == SL_SSH_HASSH ||
           id == SL_SSH_HASSH_STRING;
}

/* SL_BUFFER_* of a buffer that the matcher searches; 0: it does not. */
static inline uint32_t rule_buffer_searched(enum rule_buffer buffer)
{
    if (rule_buffer_is_value(buffer))
        return sl_app_buffer_of(rule_buffer_source(buffer));
    if (buffer >= RULE_BUFFER_NTP_REFERENCE_ID)
        return buffer < RULE_BUFFER_SIP ? SL_BUFFER_PAYLOAD : SL_BUFFER_PAYLOAD | SL_BUFFER_SIP;
    return buffer <= RULE_BUFFER_DNS_RESPONSE ? UINT32_C(1) << buffer : 0;
}

_Static_assert(1 << RULE_BUFFER_PAYLOAD == SL_BUFFER_PAYLOAD &&
                   1 << RULE_BUFFER_DNS_QUERY == SL_BUFFER_DNS_QUERY &&
                   1 << RULE_BUFFER_DNS_QUERIES == SL_BUFFER_DNS_QUERIES &&
                   1 << RULE_BUFFER_DNS_ANSWERS == SL_BUFFER_DNS_ANSWERS &&
                   1 << RULE_BUFFER_DNS_AUTHORITIES == SL_BUFFER_DNS_AUTHORITIES &&
                   1 << RULE_BUFFER_DNS_ADDITIONALS == SL_BUFFER_DNS_ADDITIONALS &&
                   1 << RULE_BUFFER_DNS_RESPONSE == SL_BUFFER_DNS_RESPONSE,
               "searched buffers have the order of SL_BUFFER_*");

/* A name in a message of DNS. */
static inline bool rule_buffer_is_name(enum rule_buffer buffer)
{
    return buffer >= RULE_BUFFER_DNS_QUERY && buffer <= RULE_BUFFER_DNS_RESPONSE;
}

static inline enum sip_field rule_buffer_sip(enum rule_buffer buffer)
{
    return (enum sip_field)(buffer - RULE_BUFFER_SIP);
}

static inline bool rule_buffer_is_sip(enum rule_buffer buffer)
{
    return buffer >= RULE_BUFFER_SIP && buffer < RULE_BUFFER_SIP_END;
}

/* A buffer of which a message may have several. Each is matched alone. */
static inline bool rule_buffer_repeats(enum rule_buffer buffer)
{
    if (rule_buffer_is_value(buffer)) {
        const uint32_t id = rule_buffer_id(buffer);

        return id == SL_TLS_CERT || id == SL_TLS_CERT_ALT_NAME || id == SL_TLS_ALPN ||
               id == RULE_HTTP_FIELD_LINES || id == SL_SMTP_RCPT_TO || id == SL_EMAIL_TO ||
               id == SL_EMAIL_CC || (id >= SL_EMAIL_RECEIVED && id <= SL_EMAIL_ATTACHMENT) ||
               id == SL_FTP_COMPLETION_CODE || id == SL_FTP_REPLY;
    }
    return rule_buffer_is_name(buffer) ||
           (rule_buffer_is_sip(buffer) && !sip_field_is_single(rule_buffer_sip(buffer)));
}

enum rule_payload_kind {
    RULE_CONTENT,
    RULE_DATA_AT,
    RULE_SIZE,
    RULE_BYTE_TEST,
    RULE_BYTE_JUMP,
    RULE_BYTE_SET, /* byte_extract, byte_math */
    RULE_EXPRESSION,
    RULE_DATA,
    RULE_ABSENT, /* the first of its section: the buffer is not there */
    RULE_BASE64  /* the steps of its section behind it are over the bytes it decodes */
};

enum { RULE_SIZE_MAX = 1 << 30 /* of a buffer, as options compare it; the largest: any more */ };

#define RULE_NO_WINDOW UINT32_MAX /* a content may reach to the payload's end */

enum { RULE_NAMES_MAX = 16 }; /* results of byte_extract and byte_math in a rule */

/* A number of a rule, or the name of one that an earlier step reads. */
struct rule_operand {
    int64_t number;
    uint8_t name; /* from 1 on; 0: the number counts */
};

enum rule_operator {
    RULE_EQUAL,
    RULE_LESS,
    RULE_LESS_EQUAL,
    RULE_GREATER,
    RULE_GREATER_EQUAL,
    RULE_COMMON_BIT,
    RULE_OTHER_BIT, /* "^": some bit differs */
    RULE_PLUS,
    RULE_MINUS,
    RULE_TIMES,
    RULE_DIVIDED,
    RULE_LEFT,
    RULE_RIGHT
};

enum rule_origin { RULE_FROM_NUMBER, RULE_FROM_BEGIN, RULE_FROM_END };

/* A number in the payload, and its use. */
struct rule_bytes {
    struct rule_operand count; /* bytes; of digits, at most; RULE_BASE64: at most, 0: all */
    struct rule_operand offset;
    struct rule_operand operand; /* RULE_BYTE_TEST: compared with; RULE_BYTE_JUMP: added to the
                                    place; byte_math: right of the operator */
    bool digits;                 /* a text; otherwise binary */
    bool little;                 /* the lowest byte comes first */
    bool dce;                    /* it does where it does in the call of DCERPC */
    bool snort3;                 /* 32 bits, and the other rules of Snort 3 */
    bool has_operator;
    bool keeps_cursor; /* RULE_BYTE_SET: the cursor does not move behind the bytes */
    bool negated;
    enum rule_operator operator;
    enum rule_origin origin; /* RULE_BYTE_JUMP */
    uint8_t base;            /* of digits; 0: as a prefix says */
    uint8_t align;           /* the number is rounded up to a multiple of it */
    uint8_t result;          /* RULE_BYTE_SET: the name, from 1 on */
    uint32_t multiplier;
    uint32_t mask; /* 0: none; the number is shifted right by the zeros at the mask's end */
};

/* One step of a rule's walk over the payload, or over another buffer. The cursor is the position
 * behind the last content that was found, 0 at first; a negated content does not move it. The steps
 * of a section are neighbours, and each section is a walk of its own. Where a buffer repeats, it
 * may be over any one of them. */
struct rule_payload {
    enum rule_payload_kind kind;
    bool negated;
    uint32_t section;                    /* its number in the rule; 0: the payload */
    enum rule_buffer buffer;             /* of the section */
    const struct transform_chain *chain; /* of the section: transforms of the buffer; NULL: none */
    bool relative;                       /* to the cursor; otherwise to the payload's first byte */
    bool moved;                          /* a modifier behind it has put it into its section */
    bool decoded;                        /* it is behind a RULE_BASE64 of its section */
    bool optional;    /* of the section: where its buffer is absent the other steps are met */
    bool nocase;      /* `bytes` are lower case */
    bool at_end;      /* RULE_CONTENT: ends where the payload ends */
    bool first_only;  /* RULE_CONTENT, RULE_EXPRESSION: no later step can prefer another occurrence
                         to the first */
    bool unplaced;    /* RULE_CONTENT: "fast_pattern:only"; nothing may be relative to it */
    bool marked;      /* RULE_CONTENT: "fast_pattern" */
    bool has_begin;   /* RULE_CONTENT: the rule says where it may begin */
    bool has_end;     /* RULE_CONTENT: the rule says how far it may reach */
    int32_t distance; /* RULE_CONTENT: first byte allowed; RULE_DATA_AT: a byte is there;
                         RULE_SIZE: least length */
    uint32_t window;  /* RULE_CONTENT: bytes allowed from there on, or RULE_NO_WINDOW; RULE_SIZE:
                         largest length */
    uint8_t distance_name;           /* a number that is added to `distance`, from 1 on; 0: none */
    uint8_t window_name;             /* one that takes the place of `window` */
    const struct rule_bytes *number; /* RULE_BYTE_*, RULE_BASE64 */
    struct rule_expression *expression; /* of the set */
    bool asks; /* its section asks a set that rules change: its values are kept */
    const struct rule_data *data; /* RULE_DATA: its act on a set of data */
    const uint8_t *bytes; /* of a content; RULE_EXPRESSION: a literal that each match holds */
    uint32_t len;
    uint32_t fast_offset, fast_len; /* the part of `bytes` that the matcher gets */
};

/* The steps of a section. */
struct rule_section {
    const struct rule_payload *steps;
    size_t n;
};

struct rule {
    uint16_t protocol; /* RULE_*, any of them suffices */
    uint8_t app;       /* enum sl_app of the packet; SL_APP_UNKNOWN: any */
    bool both_ways;    /* "<>" */
    bool both_sides;   /* "=>": it may ask for values of both sides */
    bool pass;
    bool alerts;        /* a pass rule: it alerts as well */
    bool drops;         /* it drops or rejects */
    bool ends_flow;     /* it passes, drops or rejects: later packets of the flow meet no rule */
    bool ends_late;     /* the same, once all packets before were decided */
    bool before_pass;   /* its action comes before pass, which does not take its alerts away */
    bool replaced;      /* by one of higher rev */
    bool stores_file;   /* that it matches */
    uint16_t sees;      /* RULE_SEES_*; 0: as its options ask */
    uint8_t flow_mask;  /* of RULE_FLOW_KNOWN and SL_FLOW_* */
    uint8_t flow_flags; /* the values of those bits */
    struct rule_endpoint from, to;
    const struct rule_check *check;
    size_t n_checks;
    const struct rule_payload *payload;
    size_t n_payloads;
    const struct rule_section *walk; /* once compiled: its sections, as they are walked */
    size_t n_sections;
    const struct rule_payload *literal; /* the content that the matcher searches for, or NULL */
    const struct rule_payload *opening; /* a content that a value of the message must have at its
                                           `distance`; NULL: there is none, or the set is not
                                           compiled */
    const struct rule_payload *placed;  /* the same of the payload */
    const struct rule_payload *sought;  /* of a rule without a literal: a content that each match
                                           in the payload has; NULL: none is known */
    const struct rule_payload *size;    /* the length of a value of the message; NULL: none */
    struct rule_state *state;           /* NULL: it asks nothing of other packets */
    uint32_t key[2];                    /* gid, sid */
    struct sl_signature signature;
};

/* A rule that was not loaded. */
struct rule_note {
    const char *file;
    const char *text;
    uint32_t line, column; /* of what is wrong; of a skipped rule, its first line and no column */
};

struct rule_notes {
    struct rule_note *note;
    size_t n, cap;
};

/* A filter of alerts that a line of its own asks for; gid or sid 0: of all. */
struct rule_filter_of {
    uint32_t gid, sid;
    const struct state_filter *filter;
};

/* The actions that Suricata's action-order names. The other ones of rules are like one of them. */
enum rule_action_kind { RULE_PASS, RULE_DROP, RULE_REJECT, RULE_ALERT, RULE_N_ACTIONS };

/* Files of configuration that are read with the rule files beside them. */
enum rule_beside { RULE_CLASSES, RULE_REFERENCES, RULE_FILTERS, RULE_N_BESIDE };

struct sl_rules {
    struct rule_arena arena;                         /* rules and what belongs to one of them */
    struct rule_arena shared;                        /* names, lists, classes, literals */
    struct rule_arena of_thread[SPREAD_THREADS_MAX]; /* the same of rules that threads read, and
                                                      what they make of expressions */
    unsigned threads;                                /* that read rules, at most */
    pthread_mutex_t lock;               /* of what they share: lists, chains, expressions */
    struct rule_map variables;          /* name -> value (char *) */
    struct rule_map lists[2];           /* by enum rule_list_kind: text -> struct rule_list */
    struct rule_map classes;            /* name -> struct rule_class */
    struct rule_map references;         /* system, in lower case -> address (char *) */
    struct rule_map chains;             /* text -> struct transform_chain */
    struct rule_map skips;              /* keyword -> struct sl_rules_lack */
    struct rule_map lacks;              /* the keywords of a skipped rule -> themselves (char *) */
    struct rule_map by_sid;             /* key[] -> struct rule */
    struct rule_map datasets;           /* name in lower case -> struct rule_dataset */
    struct rule_map expressions;        /* options and text -> struct rule_expression */
    struct rule_expression *expression; /* the newest */
    struct rule_dataset *dataset;       /* the newest */
    uint8_t action_place[RULE_N_ACTIONS]; /* in the order in which they take effect */
    const char *data_folder;              /* with a slash behind it; NULL: sets are not saved */

    struct rule **rule; /* in order of files and lines */
    size_t n_rules, cap_rules;
    size_t n_replaced; /* of them; 0 but within a load */
    struct rule_filter_of *filter;
    size_t n_filters, cap_filters;
    struct rule_notes bad, skipped, unclassed;
    struct sl_rules_lack **skip; /* largest first */
    size_t n_skips, cap_skips;
    struct sl_rules_count count;
    const char *beside[RULE_N_BESIDE]; /* the files beside the last rule file */
    bool configured; /* files of configuration were named; those beside are not read */

    bool names_home, home_is_set;   /* the rules name HOME_NET; the caller has set it */
    const struct rule_ranges *home; /* once compiled: rules name its default; NULL: they do not */

    bool compiled;
    struct rule_index *index;     /* once compiled */
    struct rule_profile *profile; /* of each rule; NULL: it is not measured */
};

#endif
