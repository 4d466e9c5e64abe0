/* SPDX-License-Identifier: MIT */
/* Certificates (RFC 5280): the fields that rules and events name. */
#include <stdio.h>

#include "app_digest.h"
#include "tls.h"

enum {
    DER_INTEGER = 0x02,
    DER_OID = 0x06,
    DER_SEQUENCE = 0x30,
    DER_SET = 0x31,
    DER_UTC_TIME = 0x17,
    DER_TIME = 0x18,
    DER_VERSION = 0xA0,    /* context 0 of a certificate */
    DER_EXTENSIONS = 0xA3, /* context 3 */
    DER_OCTETS = 0x04,
    DER_BMP_STRING = 0x1E,
    DER_DNS_NAME = 0x82, /* context 2 of an alternative name */
    SERIAL_MAX = 64,
    NAME_PARTS_MAX = 64
};

/* Cuts the tag and the length of the next element. False: they are not whole, or of no use. */
static bool cut_head(struct app_span *from, uint8_t *tag, uint32_t *len)
{
    struct app_span head, more;

    if (!tls_cut(from, 2, &head))
        return false;
    *tag = head.bytes[0];
    *len = head.bytes[1];
    if (*len >= 0x80) {
        const uint32_t n = *len & 0x7F;

        if (n == 0 || n > 4 || !tls_cut(from, n, &more))
            return false;
        *len = 0;
        for (uint32_t i = 0; i < n; i++)
            *len = *len << 8 | more.bytes[i];
    }
    return true;
}

/* Cuts the next element. False: the rest has none that is whole. */
static bool cut_der(struct app_span *from, uint8_t *tag, struct app_span *value)
{
    uint32_t len;

    return cut_head(from, tag, &len) && tls_cut(from, len, value);
}

static bool cut_tagged(struct app_span *from, uint8_t wanted, struct app_span *value)
{
    uint8_t tag;

    return cut_der(from, &tag, value) && tag == wanted;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void add_string(struct app_text *text, const char *string)
{
    app_text_add(text, string, (uint32_t)strlen(string));
}

/* An object identifier in digits and periods. */
static void add_oid(struct app_text *text, struct app_span oid)
{
    char digits[32];
    uint64_t number = 0;
    bool first = true;

    for (uint32_t i = 0; i < oid.len; i++) {
        number = number << 7 | (oid.bytes[i] & 0x7F);
        if ((oid.bytes[i] & 0x80) != 0)
            continue;
        const uint64_t root = number < 40 ? 0 : number < 80 ? 1 : 2;
        if (first)
            (void)snprintf(digits, sizeof digits, "%u.%lu", (unsigned)root,
                           (unsigned long)(number - root * 40));
        else
            (void)snprintf(digits, sizeof digits, ".%lu", (unsigned long)number);
        add_string(text, digits);
        number = 0;
        first = false;
    }
}

/* The short name of an attribute (RFC 4519), else its number. */
static void add_attribute(struct app_text *text, struct app_span oid)
{
    static const struct {
        uint8_t last; /* of 2.5.4.x */
        const char *name;
    } names[] = {{3, "CN"},          {4, "SN"},     {5, "serialNumber"}, {6, "C"},
                 {7, "L"},           {8, "ST"},     {9, "street"},       {10, "O"},
                 {11, "OU"},         {12, "title"}, {13, "description"}, {15, "businessCategory"},
                 {17, "postalCode"}, {42, "GN"}};
    static const uint8_t email[] = {0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01};
    static const uint8_t domain[] = {0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19};

    if (oid.len == sizeof email && memcmp(oid.bytes, email, sizeof email) == 0) {
        add_string(text, "emailAddress");
        return;
    }
    if (oid.len == sizeof domain && memcmp(oid.bytes, domain, sizeof domain) == 0) {
        add_string(text, "DC");
        return;
    }
    for (size_t i = 0; oid.len == 3 && i < sizeof names / sizeof *names; i++)
        if (oid.bytes[0] == 0x55 && oid.bytes[1] == 4 && oid.bytes[2] == names[i].last) {
            add_string(text, names[i].name);
            return;
        }
    add_oid(text, oid);
}

/* A value of an attribute. Of UTF-16 the ASCII is taken. */
static void add_value(struct app_text *text, uint8_t tag, struct app_span value)
{
    if (tag != DER_BMP_STRING) {
        app_text_add(text, value.bytes, value.len);
        return;
    }
    for (uint32_t i = 0; i + 1 < value.len; i += 2)
        app_text_add_byte(text, value.bytes[i] == 0 ? value.bytes[i + 1] : '?');
}

/* "C=DE, O=Example, CN=x": in the order of the certificate. */
static void read_name(struct app_text *text, struct app_span name)
{
    struct app_span set, pair, oid, value;
    uint32_t n = 0;
    uint8_t tag;

    text->len = 0;
    while (name.len != 0 && cut_tagged(&name, DER_SET, &set))
        for (bool first = true; set.len != 0 && n < NAME_PARTS_MAX; first = false) {
            if (!cut_tagged(&set, DER_SEQUENCE, &pair) || !cut_tagged(&pair, DER_OID, &oid) ||
                !cut_der(&pair, &tag, &value))
                return;
            if (n++ != 0)
                add_string(text, first ? ", " : " + ");
            add_attribute(text, oid);
            app_text_add_byte(text, '=');
            add_value(text, tag, value);
        }
}

/* ---- times, numbers -------------------------------------------------------------------------- */

/* Years of two digits are from 1950 on. False: it is no time. */
static bool read_time(char text[20], struct app_span *from)
{
    struct app_span value;
    uint8_t tag;

    if (!cut_der(from, &tag, &value) || (tag != DER_UTC_TIME && tag != DER_TIME))
        return false;
    const uint32_t year_len = tag == DER_TIME ? 4 : 2;
    const char *digits = (const char *)value.bytes;

    if (value.len < year_len + 10)
        return false;
    for (uint32_t i = 0; i < year_len + 10; i++)
        if (digits[i] < '0' || digits[i] > '9')
            return false;
    const char *century = tag == DER_TIME ? "" : digits[0] < '5' ? "20" : "19";
    const char *rest = digits + year_len;
    (void)snprintf(text, 20, "%s%.*s-%.2s-%.2sT%.2s:%.2s:%.2s", century, (int)year_len, digits,
                   rest, rest + 2, rest + 4, rest + 6, rest + 8);
    return true;
}

/* "00:FF:0A", with the zero byte that keeps a number positive, as rules have it. */
static void read_serial(struct app_text *text, struct app_span number)
{
    char digits[4];

    text->len = 0;
    for (uint32_t i = 0; i < number.len && i < SERIAL_MAX; i++) {
        (void)snprintf(digits, sizeof digits, i == 0 ? "%02X" : ":%02X", number.bytes[i]);
        add_string(text, digits);
    }
}

static void read_fingerprint(char text[60], struct app_span der)
{
    uint8_t digest[APP_SHA1_LEN];

    if (!app_digest(digest, APP_SHA1, der.bytes, der.len))
        return;
    for (unsigned i = 0; i < APP_SHA1_LEN; i++)
        (void)snprintf(text + (i == 0 ? 0 : 3 * i - 1), 4, i == 0 ? "%02x" : ":%02x", digest[i]);
}

/* ---- alternative names ----------------------------------------------------------------------- */

static void read_alternatives(struct app_text *names, struct app_span octets)
{
    struct app_span list, value;
    uint8_t tag;

    if (!cut_tagged(&octets, DER_SEQUENCE, &list))
        return;
    while (list.len != 0 && cut_der(&list, &tag, &value)) {
        if (tag == DER_DNS_NAME && value.len < TLS_NAMES_MAX - names->len)
            app_text_add_ended(names, value);
    }
}

static void read_extensions(struct app_text *names, struct app_span context)
{
    static const uint8_t alternative[] = {0x55, 0x1D, 0x11};
    struct app_span list, extension, oid, value;
    uint8_t tag;

    names->len = 0;
    if (!cut_tagged(&context, DER_SEQUENCE, &list))
        return;
    while (list.len != 0 && cut_tagged(&list, DER_SEQUENCE, &extension)) {
        if (!cut_tagged(&extension, DER_OID, &oid) || oid.len != sizeof alternative ||
            memcmp(oid.bytes, alternative, oid.len) != 0)
            continue;
        while (extension.len != 0 && cut_der(&extension, &tag, &value))
            if (tag == DER_OCTETS)
                read_alternatives(names, value);
    }
}

/* ---- a certificate --------------------------------------------------------------------------- */

bool tls_read_certificate(struct tls_session *session, struct app_span der)
{
    struct app_span certificate, body, algorithm, part, validity, rest = der;
    uint8_t tag;

    read_fingerprint(session->fingerprint, der);
    if (!cut_tagged(&rest, DER_SEQUENCE, &certificate) ||
        !cut_tagged(&certificate, DER_SEQUENCE, &body) || !cut_der(&body, &tag, &part))
        return false;
    if (tag == DER_VERSION && !cut_der(&body, &tag, &part))
        return false;
    if (tag != DER_INTEGER)
        return false;
    read_serial(&session->serial, part);
    if (!cut_tagged(&body, DER_SEQUENCE, &algorithm) || !cut_tagged(&body, DER_SEQUENCE, &part))
        return false;
    read_name(&session->issuer, part);
    if (!cut_tagged(&body, DER_SEQUENCE, &validity) || !read_time(session->not_before, &validity) ||
        !read_time(session->not_after, &validity) || !cut_tagged(&body, DER_SEQUENCE, &part))
        return false;
    read_name(&session->subject, part);
    while (body.len != 0 && cut_der(&body, &tag, &part))
        if (tag == DER_EXTENSIONS)
            read_extensions(&session->names, part);
    return true;
}

bool tls_certificate_lacks_length(struct app_span der)
{
    struct app_span part;
    uint32_t len, depth = 0;
    uint8_t tag;

    while (der.len != 0) {
        if (!cut_head(&der, &tag, &len))
            return true;
        if (!tls_cut(&der, len, &part))
            return false;
        if (tag == DER_SEQUENCE && depth++ < 2) /* the certificate, and its body in it */
            der = part;
    }
    return false;
}
