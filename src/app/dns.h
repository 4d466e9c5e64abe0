/* SPDX-License-Identifier: MIT */
/* DNS messages: a reader of questions and records, and a probe that needs no port.
 *
 * The form is that of RFC 1035, section 4. EDNS (RFC 6891), dynamic updates (RFC 2136), multicast
 * DNS (RFC 6762) and LLMNR (RFC 4795) change the meaning of bits alone.
 *
 * The reader allocates nothing. Records and names refer to the caller's bytes. A damaged message
 * ends with a reason, and the parts read before stay valid. All functions: any thread. */
#ifndef APP_DNS_H
#define APP_DNS_H

#include <stdbool.h>
#include <stdint.h>

#include "dns_walk_core.h"
#include "sluice/app.h"

enum {
    DNS_NAME_TEXT_MAX = DNS_NAME_LEN_MAX - 2, /* bytes of the longest name as text */
    DNS_NUMBER_LEN = 6                        /* bytes of a 16-bit number as text, with its NUL */
};

/* Bits of struct dns_header.flags. */
enum {
    DNS_QR = 0x8000, /* a response */
    DNS_AA = 0x0400,
    DNS_TC = 0x0200,
    DNS_RD = 0x0100,
    DNS_RA = 0x0080,
    DNS_Z = 0x0040,
    DNS_AD = 0x0020,
    DNS_CD = 0x0010
};

/* Types whose data has a form here, and those with a meaning of their own. */
enum {
    DNS_TYPE_A = 1,
    DNS_TYPE_NS = 2,
    DNS_TYPE_CNAME = 5,
    DNS_TYPE_SOA = 6,
    DNS_TYPE_NULL = 10,
    DNS_TYPE_PTR = 12,
    DNS_TYPE_MX = 15,
    DNS_TYPE_TXT = 16,
    DNS_TYPE_AAAA = 28,
    DNS_TYPE_SRV = 33,
    DNS_TYPE_OPT = 41,
    DNS_TYPE_SSHFP = 44
};

enum dns_section { DNS_QUESTION, DNS_ANSWER, DNS_AUTHORITY, DNS_ADDITIONAL, DNS_N_SECTIONS };

const char *dns_damage_name(enum dns_damage damage); /* "name-pointers" */

struct dns_header {
    uint16_t id, flags;
    uint16_t n[DNS_N_SECTIONS]; /* questions or records, as the header says */
};

static inline uint32_t dns_opcode(uint16_t flags)
{
    return flags >> 11 & 15u;
}

/* The four bits of the header. The upper bits of EDNS lie in the TTL of the OPT record. */
static inline uint32_t dns_rcode(uint16_t flags)
{
    return flags & 15u;
}

/* A name that the reader has checked. */
struct dns_name {
    uint32_t at;       /* bytes from the message's first */
    uint32_t text_len; /* bytes of its text; 0: the root */
};

/* Writes the labels with periods between them and returns name.text_len. Bytes of labels stay as
 * they are, periods and letters of both cases too. No NUL. */
uint32_t dns_name_text(const uint8_t *message, struct dns_name name, char text[DNS_NAME_TEXT_MAX]);

struct dns_bytes {
    const uint8_t *bytes;
    uint32_t len;
};

/* The form of a record's data: the member of struct dns_record that is valid. */
enum dns_form {
    DNS_FORM_NONE,    /* no data: questions, and records without a byte of data */
    DNS_FORM_RAW,     /* data alone: NULL, and every type that is not listed below */
    DNS_FORM_ADDRESS, /* data alone: A, 4 bytes; AAAA, 16 bytes */
    DNS_FORM_NAME,    /* target: NS, CNAME, PTR */
    DNS_FORM_MX,
    DNS_FORM_SOA,
    DNS_FORM_SRV,
    DNS_FORM_SSHFP,
    DNS_FORM_TXT, /* data, by dns_next_string */
    DNS_FORM_OPT  /* data, by dns_next_option */
};

struct dns_record {
    enum dns_section section;
    enum dns_form form;
    uint16_t type, rrclass;
    uint32_t ttl; /* seconds; OPT: upper bits of the rcode, version, flags; questions: 0 */
    struct dns_name name;
    struct dns_bytes data; /* as it lies in the message */
    union {
        struct dns_name target;
        struct {
            uint16_t preference;
            struct dns_name exchange;
        } mx;
        struct {
            struct dns_name mname, rname;
            uint32_t serial, refresh, retry, expire, minimum;
        } soa;
        struct {
            uint16_t priority, weight, port;
            struct dns_name target;
        } srv;
        struct {
            uint8_t algorithm, type;
            struct dns_bytes fingerprint;
        } sshfp;
    };
};

struct dns_option {
    uint16_t code;
    struct dns_bytes data;
};

/* The state of reading. `header` is valid unless `damage` is DNS_HEADER_CUT. */
struct dns_reader {
    struct dns_bytes message;
    struct dns_header header;
    enum dns_section section; /* of the record read last, or of the one that is damaged */
    uint32_t left;            /* records of the section that were not read */
    uint32_t at;              /* where the next record begins */
    enum dns_damage damage;
};

/* Begins to read a message, which must stay as it is. False: there is no header. */
bool dns_open(struct dns_reader *reader, const uint8_t *bytes, uint32_t len);

/* Reads the next question or record, section by section. False: all were read, or reader->damage
 * says why not. A name takes at most 255 steps, whatever its pointers are. */
bool dns_next(struct dns_reader *reader, struct dns_record *record);

/* Takes the next string of a TXT record, or option of an OPT record, from *rest, which begins as
 * record->data. False: there are no more. */
bool dns_next_string(struct dns_bytes *rest, struct dns_bytes *string);
bool dns_next_option(struct dns_bytes *rest, struct dns_option *option);

/* Whether messages of a protocol have the form of DNS. */
static inline bool dns_has_form(enum sl_app app)
{
    return app == SL_APP_DNS || app == SL_APP_MDNS || app == SL_APP_LLMNR;
}

enum dns_verdict {
    DNS_NO,    /* no message of DNS */
    DNS_MAYBE, /* one, if the port or the flow says so */
    DNS_YES    /* one, on any port */
};

/* Judges the payload of a UDP datagram: len bytes, of sent_len (at least len) that UDP says there
 * were. All that the header counts must fit, and a request must have a question.
 * - A message is whole where all that the header counts was read, and nothing lies behind it.
 * - A message is usual where its opcode and all classes are assigned, and only the root of the
 *   additional section has an OPT record.
 * - YES: whole and usual. MAYBE: whole or usual, with a question or record that was read; or a
 *   response that is a header alone, with an error.
 * - Names of NetBIOS (RFC 1002, port 137), which have the same form, are NO. */
enum dns_verdict dns_probe(const uint8_t *bytes, uint32_t len, uint32_t sent_len);

/* The events of a message, which have Suricata's names. */
enum dns_event {
    DNS_MALFORMED_DATA, /* of questions or answers */
    DNS_INVALID_AUTHORITIES,
    DNS_INVALID_ADDITIONALS,
    DNS_Z_FLAG_SET,
    DNS_INVALID_OPCODE,
    DNS_NOT_A_REQUEST,  /* a response to the server */
    DNS_NOT_A_RESPONSE, /* a request to the client */
    DNS_N_EVENTS
};

const char *dns_event_name(enum dns_event event); /* "malformed_data" */

/* Returns those of a message, bit i for event i. */
uint32_t dns_events(const uint8_t *bytes, uint32_t len, bool to_server);

/* "AAAA"; the number where the type has no name. Returns a constant or `number`. */
const char *dns_type_text(uint16_t type, char number[DNS_NUMBER_LEN]);

/* "NXDOMAIN"; the number where the code has no name. Returns a constant or `number`. */
const char *dns_rcode_text(uint16_t flags, char number[DNS_NUMBER_LEN]);

#endif
