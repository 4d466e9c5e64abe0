/* SPDX-License-Identifier: MIT */
#include "dns.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"

enum {
    NETBIOS_LABEL_LEN = 32,
    NETBIOS_TYPE_NB = 32,
    POINTER = 0xC0,                  /* the bits of a length byte that make it a pointer's first */
    QUESTION_LEN = 4,                /* bytes behind the name of a question */
    RECORD_LEN = 10,                 /* bytes between the name and the data of a record */
    SOA_LEN = 20,                    /* bytes behind the two names */
    QUESTION_MIN = 1 + QUESTION_LEN, /* bytes, with a name */
    RECORD_MIN = 1 + RECORD_LEN
};

const char *dns_damage_name(enum dns_damage damage)
{
    static const char *const names[DNS_N_DAMAGES] = {
        [DNS_WHOLE] = "none",
        [DNS_HEADER_CUT] = "header-cut",
        [DNS_NAME_CUT] = "name-cut",
        [DNS_NAME_LABEL] = "name-label",
        [DNS_NAME_LONG] = "name-long",
        [DNS_NAME_POINTERS] = "name-pointers",
        [DNS_RECORD_CUT] = "record-cut",
        [DNS_DATA] = "data",
    };

    return names[damage];
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Reads the name at *at, which goes behind it. `end` bounds the bytes before the first pointer. */
static enum dns_damage read_name(const struct dns_bytes *message, uint32_t *at, uint32_t end,
                                 struct dns_name *name)
{
    struct dns_walk walk = dns_walk_begin(*at);
    uint32_t label, label_len;

    do {
        const enum dns_damage damage =
            dns_walk_next(&walk, message->bytes, message->len, end, &label, &label_len);

        if (damage != DNS_WHOLE)
            return damage;
    } while (label_len != 0);
    name->at = *at;
    name->text_len = walk.labels_len == 0 ? 0 : walk.labels_len - 1;
    *at = walk.behind;
    return DNS_WHOLE;
}

uint32_t dns_name_text(const uint8_t *message, struct dns_name name, char text[DNS_NAME_TEXT_MAX])
{
    uint32_t at = name.at, len = 0;

    while (len < name.text_len) {
        const uint32_t label_len = message[at];

        if (label_len >= POINTER) {
            at = load_be16(message + at) & 0x3FFFu;
            continue;
        }
        if (len != 0)
            text[len++] = '.';
        memcpy(text + len, message + at + 1, label_len);
        len += label_len;
        at += 1 + label_len;
    }
    return len;
}

/* ---- data ------------------------------------------------------------------------------------ */

static enum dns_form form_of(uint16_t type)
{
    switch (type) {
    case DNS_TYPE_A:
    case DNS_TYPE_AAAA:
        return DNS_FORM_ADDRESS;
    case DNS_TYPE_NS:
    case DNS_TYPE_CNAME:
    case DNS_TYPE_PTR:
        return DNS_FORM_NAME;
    case DNS_TYPE_MX:
        return DNS_FORM_MX;
    case DNS_TYPE_SOA:
        return DNS_FORM_SOA;
    case DNS_TYPE_SRV:
        return DNS_FORM_SRV;
    case DNS_TYPE_SSHFP:
        return DNS_FORM_SSHFP;
    case DNS_TYPE_TXT:
        return DNS_FORM_TXT;
    case DNS_TYPE_OPT:
        return DNS_FORM_OPT;
    default:
        return DNS_FORM_RAW;
    }
}

bool dns_next_string(struct dns_bytes *rest, struct dns_bytes *string)
{
    if (rest->len == 0 || rest->bytes[0] > rest->len - 1)
        return false;
    string->len = rest->bytes[0];
    string->bytes = rest->bytes + 1;
    rest->bytes += 1 + string->len;
    rest->len -= 1 + string->len;
    return true;
}

bool dns_next_option(struct dns_bytes *rest, struct dns_option *option)
{
    if (rest->len < 4 || load_be16(rest->bytes + 2) > rest->len - 4)
        return false;
    option->code = load_be16(rest->bytes);
    option->data.len = load_be16(rest->bytes + 2);
    option->data.bytes = rest->bytes + 4;
    rest->bytes += 4 + option->data.len;
    rest->len -= 4 + option->data.len;
    return true;
}

static bool are_strings(struct dns_bytes rest)
{
    struct dns_bytes string;

    while (dns_next_string(&rest, &string))
        ;
    return rest.len == 0;
}

static bool are_options(struct dns_bytes rest)
{
    struct dns_option option;

    while (dns_next_option(&rest, &option))
        ;
    return rest.len == 0;
}

static enum dns_damage read_soa(const struct dns_bytes *message, uint32_t at, uint32_t end,
                                struct dns_record *record)
{
    enum dns_damage damage = read_name(message, &at, end, &record->soa.mname);

    if (damage == DNS_WHOLE)
        damage = read_name(message, &at, end, &record->soa.rname);
    if (damage != DNS_WHOLE)
        return damage;
    if (end - at < SOA_LEN)
        return DNS_DATA;
    const uint8_t *const numbers = message->bytes + at;

    record->soa.serial = load_be32(numbers);
    record->soa.refresh = load_be32(numbers + 4);
    record->soa.retry = load_be32(numbers + 8);
    record->soa.expire = load_be32(numbers + 12);
    record->soa.minimum = load_be32(numbers + 16);
    return DNS_WHOLE;
}

/* Reads the data, which lies at [at, end) and has at least a byte. */
static enum dns_damage read_data(const struct dns_bytes *message, uint32_t at, uint32_t end,
                                 struct dns_record *record)
{
    const uint8_t *const data = record->data.bytes;
    const uint32_t len = record->data.len;

    switch (record->form) {
    case DNS_FORM_NONE:
    case DNS_FORM_RAW:
        break;
    case DNS_FORM_ADDRESS:
        return len == (record->type == DNS_TYPE_A ? 4u : 16u) ? DNS_WHOLE : DNS_DATA;
    case DNS_FORM_NAME:
        return read_name(message, &at, end, &record->target);
    case DNS_FORM_MX:
        if (len < 2)
            return DNS_DATA;
        at += 2;
        record->mx.preference = load_be16(data);
        return read_name(message, &at, end, &record->mx.exchange);
    case DNS_FORM_SOA:
        return read_soa(message, at, end, record);
    case DNS_FORM_SRV:
        if (len < 6)
            return DNS_DATA;
        at += 6;
        record->srv.priority = load_be16(data);
        record->srv.weight = load_be16(data + 2);
        record->srv.port = load_be16(data + 4);
        return read_name(message, &at, end, &record->srv.target);
    case DNS_FORM_SSHFP:
        if (len < 2)
            return DNS_DATA;
        record->sshfp.algorithm = data[0];
        record->sshfp.type = data[1];
        record->sshfp.fingerprint = (struct dns_bytes){data + 2, len - 2};
        break;
    case DNS_FORM_TXT:
        return are_strings(record->data) ? DNS_WHOLE : DNS_DATA;
    case DNS_FORM_OPT:
        return are_options(record->data) ? DNS_WHOLE : DNS_DATA;
    }
    return DNS_WHOLE;
}

/* ---- messages -------------------------------------------------------------------------------- */

bool dns_open(struct dns_reader *reader, const uint8_t *bytes, uint32_t len)
{
    *reader = (struct dns_reader){.message = {bytes, len}, .at = DNS_HEADER_LEN};
    if (len < DNS_HEADER_LEN) {
        reader->damage = DNS_HEADER_CUT;
        return false;
    }
    reader->header.id = load_be16(bytes);
    reader->header.flags = load_be16(bytes + 2);
    for (uint32_t i = 0; i < DNS_N_SECTIONS; i++)
        reader->header.n[i] = load_be16(bytes + 4 + 2 * i);
    reader->left = reader->header.n[DNS_QUESTION];
    return true;
}

/* Reads what lies at *at, which goes behind it. */
static enum dns_damage read_record(const struct dns_bytes *message, uint32_t *at,
                                   struct dns_record *record)
{
    const uint32_t fixed_len = record->section == DNS_QUESTION ? QUESTION_LEN : RECORD_LEN;
    const enum dns_damage damage = read_name(message, at, message->len, &record->name);

    if (damage != DNS_WHOLE)
        return damage;
    if (message->len - *at < fixed_len)
        return DNS_RECORD_CUT;
    const uint8_t *const fixed = message->bytes + *at;

    *at += fixed_len;
    record->type = load_be16(fixed);
    record->rrclass = load_be16(fixed + 2);
    record->ttl = 0;
    record->form = DNS_FORM_NONE;
    record->data = (struct dns_bytes){message->bytes + *at, 0};
    if (record->section == DNS_QUESTION)
        return DNS_WHOLE;
    record->ttl = load_be32(fixed + 4);
    record->data.len = load_be16(fixed + 8);
    if (record->data.len > message->len - *at)
        return DNS_RECORD_CUT;
    if (record->data.len == 0)
        return DNS_WHOLE;
    const uint32_t begin = *at;

    *at += record->data.len;
    record->form = form_of(record->type);
    return read_data(message, begin, *at, record);
}

bool dns_next(struct dns_reader *reader, struct dns_record *record)
{
    uint32_t at = reader->at;

    if (reader->damage != DNS_WHOLE)
        return false;
    while (reader->left == 0) {
        if (reader->section == DNS_ADDITIONAL)
            return false;
        reader->left = reader->header.n[++reader->section];
    }
    record->section = reader->section;
    reader->damage = read_record(&reader->message, &at, record);
    if (reader->damage != DNS_WHOLE)
        return false;
    reader->left--;
    reader->at = at;
    return true;
}

/* ---- the probe ------------------------------------------------------------------------------- */

/* The bytes that the header's counts take at least. */
static uint32_t least_len(const struct dns_header *header)
{
    return DNS_HEADER_LEN + QUESTION_MIN * header->n[DNS_QUESTION] +
           RECORD_MIN * ((uint32_t)header->n[DNS_ANSWER] + header->n[DNS_AUTHORITY] +
                         header->n[DNS_ADDITIONAL]);
}

/* IN, CH, HS, and NONE and ANY of updates and transactions. The top bit is one of multicast DNS. */
static bool is_class(uint16_t rrclass)
{
    const uint32_t without_bit = rrclass & 0x7FFFu;

    return without_bit == 1 || without_bit == 3 || without_bit == 4 || without_bit == 254 ||
           without_bit == 255;
}

static bool is_usual(const struct dns_record *record)
{
    if (record->type == DNS_TYPE_OPT && record->section != DNS_QUESTION)
        return record->section == DNS_ADDITIONAL && record->name.text_len == 0;
    return record->type != 0 && is_class(record->rrclass);
}

/* Whether it is NetBIOS's: a first label of 32 bytes, each half of a byte a letter from A to P, or
 * of its type NB, which DNS does not use. */
static bool is_netbios(const uint8_t *message, const struct dns_record *record)
{
    const uint8_t *const label = message + record->name.at;

    if (label[0] != NETBIOS_LABEL_LEN)
        return false;
    for (uint32_t i = 1; i <= NETBIOS_LABEL_LEN; i++)
        if (label[i] < 'A' || label[i] > 'P')
            return record->type == NETBIOS_TYPE_NB;
    return true;
}

enum dns_verdict dns_probe(const uint8_t *bytes, uint32_t len, uint32_t sent_len)
{
    struct dns_reader reader;
    struct dns_record record;
    uint32_t n_read = 0;

    if (!dns_open(&reader, bytes, len) || least_len(&reader.header) > sent_len)
        return DNS_NO;
    const uint16_t flags = reader.header.flags;
    const uint32_t opcode = dns_opcode(flags);
    bool usual = opcode <= 6 && opcode != 3;

    if ((flags & DNS_QR) == 0 && reader.header.n[DNS_QUESTION] == 0)
        return DNS_NO;
    if (least_len(&reader.header) == DNS_HEADER_LEN)
        return sent_len == DNS_HEADER_LEN && dns_rcode(flags) != 0 && usual ? DNS_MAYBE : DNS_NO;
    for (; dns_next(&reader, &record); n_read++) {
        if (n_read == 0 && is_netbios(bytes, &record))
            return DNS_NO;
        usual = usual && is_usual(&record);
    }
    const bool whole = reader.damage == DNS_WHOLE && reader.at == sent_len;

    if (n_read == 0 || (!whole && !usual))
        return DNS_NO;
    return whole && usual ? DNS_YES : DNS_MAYBE;
}

/* ---- events ---------------------------------------------------------------------------------- */

const char *dns_event_name(enum dns_event event)
{
    static const char *const names[DNS_N_EVENTS] = {
        [DNS_MALFORMED_DATA] = "malformed_data",
        [DNS_INVALID_AUTHORITIES] = "invalid_authorities",
        [DNS_INVALID_ADDITIONALS] = "invalid_additionals",
        [DNS_Z_FLAG_SET] = "z_flag_set",
        [DNS_INVALID_OPCODE] = "invalid_opcode",
        [DNS_NOT_A_REQUEST] = "not_a_request",
        [DNS_NOT_A_RESPONSE] = "not_a_response",
    };

    return names[event];
}

/* The event of a message that the reader found damaged. */
static enum dns_event event_of_damage(const struct dns_reader *reader)
{
    return reader->section == DNS_AUTHORITY    ? DNS_INVALID_AUTHORITIES
           : reader->section == DNS_ADDITIONAL ? DNS_INVALID_ADDITIONALS
                                               : DNS_MALFORMED_DATA;
}

uint32_t dns_events(const uint8_t *bytes, uint32_t len, bool to_server)
{
    enum { OPCODE_MAX = 6 };
    struct dns_reader reader;
    struct dns_record record;
    uint32_t events = 0;

    if (!dns_open(&reader, bytes, len))
        return 0;
    const uint16_t flags = reader.header.flags;
    const bool is_response = (flags & DNS_QR) != 0;

    while (dns_next(&reader, &record))
        ;
    if (reader.damage != DNS_WHOLE)
        events |= 1u << event_of_damage(&reader);
    if ((flags & DNS_Z) != 0)
        events |= 1u << DNS_Z_FLAG_SET;
    if (dns_opcode(flags) > OPCODE_MAX)
        events |= 1u << DNS_INVALID_OPCODE;
    if (is_response && to_server)
        events |= 1u << DNS_NOT_A_REQUEST;
    if (!is_response && !to_server)
        events |= 1u << DNS_NOT_A_RESPONSE;
    return events;
}

/* ---- names of numbers ------------------------------------------------------------------------ */

/* Writes a number and its NUL. */
static const char *number_text(uint32_t value, char number[DNS_NUMBER_LEN])
{
    char *at = number + DNS_NUMBER_LEN - 1;

    *at = '\0';
    do
        *--at = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    return at;
}

/* IANA, "Domain Name System (DNS) Parameters", resource record types. */
const char *dns_type_text(uint16_t type, char number[DNS_NUMBER_LEN])
{
    static const char *const low[] = {
        [1] = "A",         [2] = "NS",      [3] = "MD",          [4] = "MF",
        [5] = "CNAME",     [6] = "SOA",     [7] = "MB",          [8] = "MG",
        [9] = "MR",        [10] = "NULL",   [11] = "WKS",        [12] = "PTR",
        [13] = "HINFO",    [14] = "MINFO",  [15] = "MX",         [16] = "TXT",
        [17] = "RP",       [18] = "AFSDB",  [19] = "X25",        [20] = "ISDN",
        [21] = "RT",       [22] = "NSAP",   [23] = "NSAPPTR",    [24] = "SIG",
        [25] = "KEY",      [26] = "PX",     [27] = "GPOS",       [28] = "AAAA",
        [29] = "LOC",      [30] = "NXT",    [31] = "EID",        [32] = "NIMLOC",
        [33] = "SRV",      [34] = "ATMA",   [35] = "NAPTR",      [36] = "KX",
        [37] = "CERT",     [38] = "A6",     [39] = "DNAME",      [40] = "SINK",
        [41] = "OPT",      [42] = "APL",    [43] = "DS",         [44] = "SSHFP",
        [45] = "IPSECKEY", [46] = "RRSIG",  [47] = "NSEC",       [48] = "DNSKEY",
        [49] = "DHCID",    [50] = "NSEC3",  [51] = "NSEC3PARAM", [52] = "TLSA",
        [53] = "SMIMEA",   [55] = "HIP",    [56] = "NINFO",      [57] = "RKEY",
        [58] = "TALINK",   [59] = "CDS",    [60] = "CDNSKEY",    [61] = "OPENPGPKEY",
        [62] = "CSYNC",    [63] = "ZONEMD", [64] = "SVCB",       [65] = "HTTPS",
        [99] = "SPF",      [108] = "EUI48", [109] = "EUI64",     [249] = "TKEY",
        [250] = "TSIG",    [251] = "IXFR",  [252] = "AXFR",      [253] = "MAILB",
        [254] = "MAILA",   [255] = "ANY",   [256] = "URI",       [257] = "CAA",
    };

    return type < sizeof low / sizeof *low && low[type] != NULL ? low[type]
                                                                : number_text(type, number);
}

/* IANA, the same page, codes of four bits. */
const char *dns_rcode_text(uint16_t flags, char number[DNS_NUMBER_LEN])
{
    static const char *const codes[] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                        "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
                                        "NXRRSET", "NOTAUTH", "NOTZONE"};
    const uint32_t code = dns_rcode(flags);

    return code < sizeof codes / sizeof *codes ? codes[code] : number_text(code, number);
}
