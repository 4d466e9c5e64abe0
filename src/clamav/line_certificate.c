/* SPDX-License-Identifier: MIT */
/* Certificates that sign programs, trusted and blocked: .crb. */
#include <string.h>

#include "clamav/line_internal.h"

enum { FIELDS = 11 };
enum { NAME, TRUSTED, SUBJECT, SERIAL, KEY, EXPONENT, CODE, TIME, CERT };

static bool read_bit(struct clam_text text, uint8_t *bit)
{
    *bit = clam_text_is(text, "1");
    return *bit != 0 || clam_text_is(text, "0");
}

static bool read_sha1(struct clam_text text, uint8_t digest[20])
{
    return text.len == 40 && line_read_hex(text, digest);
}

/* The modulus of an RSA key. */
static enum clam_taken read_key(struct sl_clamav_set *set, struct clam_text text,
                                struct clam_certificate *certificate)
{
    enum { DIGITS_MAX = 4096 };

    for (; text.len > 0 && text.at[0] == '0'; text.at++)
        text.len--;
    if (text.len % 2 != 0) { /* the zero before it is a half of the first byte */
        text.at--;
        text.len++;
    }
    if (text.len == 0 || text.len > DIGITS_MAX)
        return clam_bad(set, "the key has no digit, or more than %d", (int)DIGITS_MAX);
    uint8_t *const key = clam_push(set, CLAM_A_BYTES, text.len / 2, &certificate->key);
    if (key == NULL)
        return CLAM_NO_MEMORY;
    certificate->key_len = (uint32_t)(text.len / 2);
    return line_read_hex(text, key) ? CLAM_TAKEN : clam_bad(set, "the key is not hexadecimal");
}

/* The fields that follow the comment. */
static enum clam_taken check_levels(struct sl_clamav_set *set, struct clam_text rest)
{
    struct clam_text field;
    uint64_t level[2] = {0, UINT32_MAX};

    for (int i = 0; i < 2 && rest.len > 0; i++) {
        clam_text_cut(&rest, ';', &field);
        if (field.len > 0 && !clam_text_number(field, UINT32_MAX, &level[i]))
            return clam_bad(set, "an engine level is no number");
    }
    return line_check_level(set, level[0], level[1]);
}

/* NAME;TRUSTED;SUBJECT;SERIAL;KEY;EXPONENT;CODE;TIME;CERT;NOT BEFORE;COMMENT[;LEVELS]. The exponent
 * is 65537, whatever the line says, and times are those of the certificates. */
enum clam_taken line_read_crb(struct sl_clamav_set *set, struct clam_text line)
{
    struct clam_text fields[FIELDS] = {{NULL, 0}};
    struct clam_certificate certificate = {0};
    uint8_t code, time, cert;
    uint32_t index;
    size_t n = 0;

    while (n < FIELDS && clam_text_cut(&line, ';', &fields[n]))
        n++;
    if (n + 1 < FIELDS)
        return clam_bad(set, "has less than eleven fields");
    enum clam_taken taken = check_levels(set, line);
    if (taken != CLAM_TAKEN)
        return taken;
    certificate.has_serial = fields[SERIAL].len > 0;
    if (!read_bit(fields[TRUSTED], &certificate.trusted) || !read_bit(fields[CODE], &code) ||
        !read_bit(fields[TIME], &time) || !read_bit(fields[CERT], &cert))
        return clam_bad(set, "what is trusted and signed is not 0 or 1");
    if (!read_sha1(fields[SUBJECT], certificate.subject) ||
        (certificate.has_serial && !read_sha1(fields[SERIAL], certificate.serial)))
        return clam_bad(set, "the subject or the serial number is no SHA-1");
    certificate.signs = code != 0 && cert != 0;
    taken = read_key(set, fields[KEY], &certificate);
    if (taken == CLAM_TAKEN)
        taken = line_put_name(set, fields[NAME], &certificate.name);
    struct clam_certificate *room =
        taken == CLAM_TAKEN ? clam_push(set, CLAM_A_CERTIFICATES, 1, &index) : NULL;
    if (room == NULL)
        return taken == CLAM_TAKEN ? CLAM_NO_MEMORY : taken;
    *room = certificate;
    return CLAM_TAKEN;
}
