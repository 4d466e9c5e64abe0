/* SPDX-License-Identifier: MIT */
/* Names and order of members are those of Suricata 8, with these facts:
 * - The code of a response is that of the header, and requests have it too.
 * - IPv6 addresses in data have all their digits.
 * - Each string of a TXT record is a record of its own.
 * - An OPT record without options is left out.
 * - Data of SRV is that of answers alone, as Suricata's schema has it.
 * - Data of other types than those of enum dns_form is left out, and so is the preference of MX. */
#include "dns_eve.h"

#include <string.h>

#include "base/address_text.h"

enum { ADDRESS_TEXT_LEN = 39 }; /* eight groups of four digits */

/* The message at hand. */
struct eve {
    const struct app_visit *visit;
    const uint8_t *message;
};

static void put_text(const struct eve *eve, const char *key, const char *text)
{
    eve->visit->text(eve->visit->to, key, text, strlen(text));
}

static void put_number(const struct eve *eve, const char *key, uint64_t number)
{
    eve->visit->number(eve->visit->to, key, number);
}

static void put_name(const struct eve *eve, const char *key, struct dns_name name)
{
    char text[DNS_NAME_TEXT_MAX];

    eve->visit->text(eve->visit->to, key, text, dns_name_text(eve->message, name, text));
}

static void put_flag(const struct eve *eve, const char *key, uint16_t flags, uint16_t bit)
{
    if ((flags & bit) != 0)
        eve->visit->truth(eve->visit->to, key);
}

static void open_member(const struct eve *eve, const char *key, char bracket)
{
    eve->visit->open(eve->visit->to, key, bracket);
}

static void close_member(const struct eve *eve, char bracket)
{
    eve->visit->close(eve->visit->to, bracket);
}

/* ---- texts of numbers ------------------------------------------------------------------------ */

static char *put_hex_digits(char *at, uint32_t value, uint32_t n_digits)
{
    for (uint32_t i = n_digits; i-- > 0;)
        *at++ = "0123456789abcdef"[value >> 4 * i & 15u];
    return at;
}

static void put_address(const struct eve *eve, const char *key, struct dns_bytes address)
{
    char text[ADDRESS_TEXT_LEN + 1], *at = text;

    if (address.len == 4) {
        eve->visit->text(eve->visit->to, key, text, address_put_ipv4(text, address.bytes));
        return;
    }
    for (uint32_t i = 0; i < 16; i += 2) {
        at = put_hex_digits(at, load_be16(address.bytes + i), 4);
        *at++ = ':';
    }
    eve->visit->text(eve->visit->to, key, text, (size_t)(at - 1 - text));
}

/* Without leading zeros. */
static void put_flags_text(const struct eve *eve, const char *key, uint16_t flags)
{
    uint32_t n_digits = 4;
    char text[4];

    while (n_digits > 1 && flags >> 4 * (n_digits - 1) == 0)
        n_digits--;
    put_hex_digits(text, flags, n_digits);
    eve->visit->text(eve->visit->to, key, text, n_digits);
}

/* ---- records --------------------------------------------------------------------------------- */

static void put_soa(const struct eve *eve, const char *key, const struct dns_record *record)
{
    open_member(eve, key, '{');
    put_name(eve, "mname", record->soa.mname);
    put_name(eve, "rname", record->soa.rname);
    put_number(eve, "serial", record->soa.serial);
    put_number(eve, "refresh", record->soa.refresh);
    put_number(eve, "retry", record->soa.retry);
    put_number(eve, "expire", record->soa.expire);
    put_number(eve, "minimum", record->soa.minimum);
    close_member(eve, '}');
}

static void put_srv(const struct eve *eve, const char *key, const struct dns_record *record)
{
    open_member(eve, key, '{');
    put_number(eve, "priority", record->srv.priority);
    put_number(eve, "weight", record->srv.weight);
    put_number(eve, "port", record->srv.port);
    put_name(eve, "name", record->srv.target);
    close_member(eve, '}');
}

static void put_sshfp(const struct eve *eve, const char *key, const struct dns_record *record)
{
    const struct dns_bytes fingerprint = record->sshfp.fingerprint;

    open_member(eve, key, '{');
    eve->visit->hex(eve->visit->to, "fingerprint", fingerprint.bytes, fingerprint.len, ':');
    put_number(eve, "algo", record->sshfp.algorithm);
    put_number(eve, "type", record->sshfp.type);
    close_member(eve, '}');
}

static void put_options(const struct eve *eve, struct dns_bytes rest)
{
    struct dns_option option;

    open_member(eve, "opt", '[');
    while (dns_next_option(&rest, &option)) {
        open_member(eve, NULL, '{');
        put_number(eve, "code", option.code);
        eve->visit->hex(eve->visit->to, "data", option.data.bytes, option.data.len, 0);
        close_member(eve, '}');
    }
    close_member(eve, ']');
}

/* `string` is that of a TXT record. */
static void put_data(const struct eve *eve, const char *key, const struct dns_record *record,
                     struct dns_bytes string)
{
    switch (record->form) {
    case DNS_FORM_RAW:
        if (record->type == DNS_TYPE_NULL)
            eve->visit->text(eve->visit->to, key, record->data.bytes, record->data.len);
        break;
    case DNS_FORM_ADDRESS:
        put_address(eve, key, record->data);
        break;
    case DNS_FORM_NAME:
        put_name(eve, key, record->target);
        break;
    case DNS_FORM_MX:
        put_name(eve, key, record->mx.exchange);
        break;
    case DNS_FORM_SOA:
        put_soa(eve, key, record);
        break;
    case DNS_FORM_SRV:
        if (record->section == DNS_ANSWER)
            put_srv(eve, key, record);
        break;
    case DNS_FORM_SSHFP:
        put_sshfp(eve, key, record);
        break;
    case DNS_FORM_TXT:
        eve->visit->text(eve->visit->to, key, string.bytes, string.len);
        break;
    case DNS_FORM_OPT:
        put_options(eve, record->data);
        break;
    default:
        break;
    }
}

static const char *key_of(enum dns_form form)
{
    return form == DNS_FORM_SOA     ? "soa"
           : form == DNS_FORM_SRV   ? "srv"
           : form == DNS_FORM_SSHFP ? "sshfp"
                                    : "rdata";
}

static void put_record(const struct eve *eve, const struct dns_record *record,
                       struct dns_bytes string)
{
    char number[DNS_NUMBER_LEN];

    open_member(eve, NULL, '{');
    put_name(eve, "rrname", record->name);
    put_text(eve, "rrtype", dns_type_text(record->type, number));
    if (record->section != DNS_QUESTION) {
        put_number(eve, "ttl", record->ttl);
        put_data(eve, key_of(record->form), record, string);
    }
    close_member(eve, '}');
}

/* A TXT record for each of its strings. */
static void put_records(const struct eve *eve, const struct dns_record *record)
{
    struct dns_bytes rest = record->data, string = {NULL, 0};

    if (record->form != DNS_FORM_TXT) {
        put_record(eve, record, string);
        return;
    }
    while (dns_next_string(&rest, &string))
        put_record(eve, record, string);
}

/* ---- answers by type ------------------------------------------------------------------------- */

static const uint16_t grouped[] = {DNS_TYPE_A,   DNS_TYPE_AAAA,  DNS_TYPE_CNAME, DNS_TYPE_MX,
                                   DNS_TYPE_NS,  DNS_TYPE_NULL,  DNS_TYPE_PTR,   DNS_TYPE_SOA,
                                   DNS_TYPE_SRV, DNS_TYPE_SSHFP, DNS_TYPE_TXT};

enum { N_GROUPED = sizeof grouped / sizeof *grouped };

/* The bit of an answer's type; 0: it has no group. */
static uint32_t group_of(const struct dns_record *record)
{
    for (uint32_t i = 0; i < N_GROUPED; i++)
        if (record->section == DNS_ANSWER && record->form != DNS_FORM_NONE &&
            record->type == grouped[i])
            return 1u << i;
    return 0;
}

static void put_element(const struct eve *eve, const struct dns_record *record)
{
    struct dns_bytes rest = record->data, string = {NULL, 0};

    if (record->form != DNS_FORM_TXT)
        put_data(eve, NULL, record, string);
    else
        while (dns_next_string(&rest, &string))
            put_data(eve, NULL, record, string);
}

static void put_group(const struct eve *eve, uint32_t len, uint32_t group)
{
    struct dns_reader reader;
    struct dns_record record;

    (void)dns_open(&reader, eve->message, len);
    while (dns_next(&reader, &record) && record.section <= DNS_ANSWER)
        if (group_of(&record) == group)
            put_element(eve, &record);
}

static void put_groups(const struct eve *eve, uint32_t len, uint32_t groups)
{
    char number[DNS_NUMBER_LEN];

    if (groups == 0)
        return;
    open_member(eve, "grouped", '{');
    for (uint32_t i = 0; i < N_GROUPED; i++) {
        if ((groups >> i & 1) == 0)
            continue;
        open_member(eve, dns_type_text(grouped[i], number), '[');
        put_group(eve, len, 1u << i);
        close_member(eve, ']');
    }
    close_member(eve, '}');
}

/* ---- the object ------------------------------------------------------------------------------ */

static void put_header(const struct eve *eve, const struct dns_header *header, uint64_t tx_id)
{
    const uint16_t flags = header->flags;
    char number[DNS_NUMBER_LEN];

    put_number(eve, "version", 3);
    put_text(eve, "type", (flags & DNS_QR) != 0 ? "response" : "request");
    if (tx_id != DNS_NO_TX_ID)
        put_number(eve, "tx_id", tx_id);
    put_number(eve, "id", header->id);
    put_flags_text(eve, "flags", flags);
    put_flag(eve, "qr", flags, DNS_QR);
    put_flag(eve, "aa", flags, DNS_AA);
    put_flag(eve, "tc", flags, DNS_TC);
    put_flag(eve, "rd", flags, DNS_RD);
    put_flag(eve, "ra", flags, DNS_RA);
    put_flag(eve, "z", flags, DNS_Z);
    put_number(eve, "opcode", dns_opcode(flags));
    put_text(eve, "rcode", dns_rcode_text(flags, number));
}

static bool is_shown(const struct dns_record *record)
{
    return record->type != DNS_TYPE_OPT || record->section == DNS_QUESTION || record->data.len != 0;
}

enum dns_damage dns_eve_visit(const struct app_visit *visit, const uint8_t *bytes, uint32_t len,
                              uint64_t tx_id)
{
    static const char *const keys[] = {"queries", "answers", "authorities", "additionals"};
    const struct eve eve = {visit, bytes};
    enum dns_section open = DNS_N_SECTIONS; /* the list that is open */
    struct dns_reader reader;
    struct dns_record record;
    uint32_t groups = 0;

    if (!dns_open(&reader, bytes, len))
        return reader.damage;
    open_member(&eve, "dns", '{');
    put_header(&eve, &reader.header, tx_id);
    while (dns_next(&reader, &record)) {
        if (!is_shown(&record))
            continue;
        if (record.section != open) {
            if (open != DNS_N_SECTIONS)
                close_member(&eve, ']');
            open = record.section;
            open_member(&eve, keys[open], '[');
        }
        put_records(&eve, &record);
        groups |= group_of(&record);
    }
    if (open != DNS_N_SECTIONS)
        close_member(&eve, ']');
    put_groups(&eve, len, groups);
    close_member(&eve, '}');
    return reader.damage;
}
