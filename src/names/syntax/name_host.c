/* SPDX-License-Identifier: MIT */
/* Domains and URLs as texts: reasons in words, and writing. */
#include "name_host_core.h"
#include "name_text.h"

static const char *why_text(enum name_why why)
{
    switch (why) {
    case NAME_GOOD:
        return NULL;
    case NAME_TOO_LONG:
        return name_too_long;
    case NAME_EMPTY:
        return "an empty name";
    case NAME_NUL:
        return "a NUL byte";
    case NAME_NO_IPV4:
        return "the last label is a number, and it is no IPv4 address";
    case NAME_NO_IPV6:
        return "what stands in brackets is no IPv6 address";
    case NAME_EMPTY_LABEL:
        return "an empty label";
    case NAME_LONG_LABEL:
        return "a label longer than 63 bytes";
    case NAME_LONG_DOMAIN:
        return "a domain longer than 253 characters";
    case NAME_BEYOND_ASCII:
        return "a letter beyond ASCII (write the label as IDNA does, xn--...)";
    case NAME_NO_HOST_BYTE:
        return "a character that no host name has";
    case NAME_NO_PORT:
        return "something other than a port stands behind the host";
    case NAME_BAD_PORT:
        return "the port is no number";
    }
    return NULL;
}

const char *name_read_domain(struct name_build *build, const char *text, size_t text_len)
{
    return why_text(name_core_domain(build, text, text_len));
}

const char *name_read_url(struct name_build *build, uint32_t *host_len, const char *text,
                          size_t text_len)
{
    uint16_t port;

    return why_text(name_core_url(build, host_len, &port, text, text_len));
}

/* ---- writing --------------------------------------------------------------------------------- */

/* RFC 1035, section 5.1: a byte that is no host name's character is written \DDD, or behind '\'. */
static void put_label(struct text_out *out, const struct sl_name_component *label, bool alone)
{
    uint32_t n_host = 0; /* these stand for themselves */

    while (n_host + 4 <= label->len && name_is_host4(name_load4(label->bytes + n_host)))
        n_host += 4;
    text_put(out, (const char *)label->bytes, n_host);
    for (uint32_t i = n_host; i < label->len; i++) {
        const uint8_t byte = label->bytes[i];
        char text[8];

        if ((byte == '.' && !alone) || byte == '\\' || byte == '"' || byte == ';')
            text_put(out, "\\", 1);
        if (byte > 0x20 && byte < 0x7F)
            text_put(out, (const char *)&byte, 1);
        else
            text_put(out, text, (size_t)snprintf(text, sizeof text, "\\%03u", byte));
    }
}

void name_write_host(struct text_out *out, const struct sl_name *name)
{
    struct sl_name_component label[NAME_LABELS_MAX];
    size_t at = 0;
    uint32_t n = 0;

    while (n < NAME_LABELS_MAX && sl_name_next(name->bytes, name->host_len, &at, &label[n]))
        n++;
    if (n == 0)
        text_put(out, ".", 1);
    /* An address is one component with periods or colons of its own. */
    const bool bracket = n == 1 && memchr(label[0].bytes, ':', label[0].len) != NULL;
    if (bracket)
        text_put(out, "[", 1);
    for (uint32_t i = n; i-- > 0;) {
        put_label(out, &label[i], n == 1);
        if (i > 0)
            text_put(out, ".", 1);
    }
    if (bracket)
        text_put(out, "]", 1);
}
