/* SPDX-License-Identifier: MIT */
#include "clamav/url.h"

#include <ctype.h>
#include <string.h>

#include "base/hex.h"
#include "clamav/tld.h"
#include "clamav/url_internal.h"

/* ---- characters ------------------------------------------------------------------------------ */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The characters of a label of a name. */
static bool is_of_label(char c)
{
    return is_letter(c) || is_digit(c) || (c >= '!' && c <= '-') || c == '@' || c == '_';
}

/* ---- what is an address ---------------------------------------------------------------------- */

/* The last byte of a scheme that begins the text. NULL: it is none of the usual ones. */
static char *usual_scheme(char *text)
{
    static const char *const schemes[] = {"https:", "http:", "ftp:", "mailto://"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(text, schemes[i], strlen(schemes[i])) == 0)
            return text + strlen(schemes[i]) - 1;
    return NULL;
}

static bool is_scheme(const char *from, const char *to)
{
    if (from >= to || !is_letter(*from))
        return false;
    while (++from < to)
        if (!is_of_label(*from) || *from == '#' || *from == '+')
            return false;
    return true;
}

/* A mail address is none, but for one with a top-level domain before "@". */
static bool is_mail(const char *from, const char *to)
{
    const char *const sign = memchr(from, '@', (size_t)(to - from));
    const char *dot = sign;

    if (sign == NULL)
        return false;
    while (dot > from && dot[-1] != '.')
        dot--;
    return dot <= from + 1 || !tld_is(dot, (size_t)(sign - dot));
}

/* Whether a text consists of labels, of which the last is a top-level domain. Where another one
 * is, and `cuts`, the text ends behind that. */
static bool is_name(char *from, const char *to, bool cuts)
{
    char *label = from, *behind = NULL, *dot;

    while ((dot = strchr(label, '.')) != NULL && dot <= to) {
        for (const char *c = label; c < dot; c++)
            if (!is_of_label(*c))
                return false;
        if (dot == label)
            return false;
        if (cuts && tld_is(label, (size_t)(dot - label)))
            behind = dot;
        label = dot + 1;
    }
    if (label == from)
        return false;
    if (tld_is(label, to > label ? (size_t)(to - label) : 0))
        return true;
    if (behind != NULL)
        *behind = '\0';
    return behind != NULL;
}

bool url_is_link(char *text, bool any_scheme)
{
    bool has_scheme = false;

    text += strspn(text, " ");
    char *scheme = usual_scheme(text);
    if (scheme != NULL && scheme[1] == '/' && scheme[2] == '/')
        return true;
    if (any_scheme)
        scheme = strchr(text, ':');
    if (scheme != NULL && is_scheme(text, scheme)) {
        has_scheme = true;
        text = scheme + 1;
        for (int i = 0; i < 2 && *text == '/'; i++)
            text++;
    }
    const char *const end = text + strcspn(text, "/");
    return (has_scheme || !is_mail(text, end)) && is_name(text, end, any_scheme);
}

/* ---- the host of an address ------------------------------------------------------------------ */

/* Takes a text out, at most once where the part begins with it. Its last byte stays. */
static void take_out(struct url_part *part, const char *text)
{
    const size_t n = strlen(text);

    if (part->last <= part->at || strlen(part->at) < n)
        return;
    if (strncmp(part->at, text, n) == 0)
        part->at += n;
    if (part->last < part->at) {
        part->last = part->at - 1;
        return;
    }
    while ((size_t)(part->last - part->at) >= n && strncmp(part->last - n + 1, text, n) == 0)
        part->last -= n;
    for (char *at = part->at + 1; at + n <= part->last; at++)
        while (at + n <= part->last && strncmp(at, text, n) == 0) {
            memmove(at, at + n, (size_t)(part->last - at - (ptrdiff_t)n) + 1);
            part->last -= n;
        }
}

/* The byte that two digits stand for. A zero is 1, which is looked for later. */
static char byte_of(const char *digits)
{
    const int high = hex_digit(digits[0]), low = hex_digit(digits[1]);
    const int value = (high > 0 ? high << 4 : 0) | (low > 0 ? low : 0);

    return digits[0] == '0' && digits[1] == '0' ? 1 : (char)value;
}

static bool is_escape(const char *at)
{
    return at[0] == '%' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0;
}

void url_unescape(struct url_part *part)
{
    bool again = true;

    if (part->last <= part->at + 1)
        return;
    if (*part->at == '%') {
        part->at[2] = byte_of(part->at + 1);
        part->at += 2;
    }
    while (again) {
        again = false;
        for (char *at = part->at + 1; at + 3 <= part->last; at++)
            if (is_escape(at)) {
                *at = byte_of(at + 1);
                again |= *at == '%';
                memmove(at + 1, at + 3, (size_t)(part->last - at) - 2);
                part->last -= 2;
            }
    }
}

static void replace(const struct url_part *part, const char *bytes, char with)
{
    for (char *at = part->at; at <= part->last; at++)
        if (*at != '\0' && strchr(bytes, *at) != NULL)
            *at = with;
}

/* Where the host begins: behind the scheme. */
static char *host_in(const struct url_part *part)
{
    char *host = strchr(part->at, ':');

    if (host == NULL)
        return part->at;
    while (host < part->last && host[1] == '/')
        host++;
    return host + 1;
}

/* Ends the part with its host, which becomes lower case. */
static void end_with_host(struct url_part *part)
{
    char *const host = host_in(part);
    char *end = host + strcspn(host, ":/?");

    if (end > part->last + 1)
        end = part->last + 1;
    part->last = end - 1;
    *end = '\0';
    for (char *c = host; c < end; c++)
        *c = url_lower(*c);
}

static void copy_part(char *to, const struct url_part *part)
{
    const size_t len = part->last >= part->at ? (size_t)(part->last - part->at) + 1 : 0;

    memmove(to, part->at, len);
    to[len] = '\0';
}

static void trim(struct url_part *part)
{
    while (part->at <= part->last && *part->at == ' ')
        part->at++;
    while (part->at <= part->last && *part->last == ' ')
        part->last--;
}

/* Takes blanks and other marks from what is shown. A "/" behind it stays. */
static void take_out_marks(struct url_part *part)
{
    take_out(part, " ");
    while (part->at <= part->last && !isalnum((unsigned char)*part->at))
        part->at++;
    while (part->last >= part->at && !isalnum((unsigned char)*part->last))
        part->last--;
    if (part->last >= part->at && part->last[1] == '/')
        part->last++;
}

/* Names of products that look like hosts. */
static bool is_product(const char *text)
{
    return strncmp(text, ".net", 4) == 0 || strncmp(text, "ado.net", 7) == 0 ||
           strncmp(text, "asp.net", 7) == 0;
}

void url_reduce(char url[URL_ROOM], char *before)
{
    for (char *c = url; *c != '\0'; c++) {
        *c &= 0x7F;
        *c = *c < ' ' ? ' ' : *c;
    }
    struct url_part part = {url + strspn(url, " "), NULL};
    if (strlen(part.at) < 2 || is_product(part.at)) {
        *url = '\0';
        if (before != NULL)
            *before = '\0';
        return;
    }
    part.last = part.at + strlen(part.at) - 1;
    while (*part.last == ' ')
        part.last--;
    replace(&part, "\\", '/');
    end_with_host(&part);
    replace(&part, "<>\";", ' ');
    take_out(&part, "&lt");
    take_out(&part, "&gt");
    url_unescape(&part);
    if (before == NULL) {
        take_out(&part, " ");
    } else {
        trim(&part);
        copy_part(before, &part);
        take_out_marks(&part);
    }
    copy_part(url, &part);
}

bool url_find_host(const char *url, bool is_shown, size_t *from, size_t *to)
{
    const char *start = strstr(url, "://"), *sign;
    bool is_mail = false;

    if (start != NULL) {
        start += 3;
    } else {
        is_mail = strncmp(url, "mailto:", 7) == 0;
        start = url + (is_mail ? 7 : 0);
    }
    while ((sign = strchr(start, '@')) != NULL) { /* names of users are before it */
        const size_t len = strcspn(start, ":/?");

        if (len > 0 && sign > start + len)
            break;
        start = sign + 1;
    }
    *from = (size_t)(start - url);
    *to = *from + strcspn(start, ":/?");
    return is_shown || !is_mail;
}

/* The last dot before `end`. NULL: there is none. */
static const char *dot_before(const char *text, const char *end)
{
    while (end > text)
        if (*--end == '.')
            return end;
    return NULL;
}

const char *url_domain(const char *host)
{
    const char *const end = host + strlen(host);
    const char *top = dot_before(host, end);

    if (top == NULL)
        return host;
    if (tld_is_country(top + 1, (size_t)(end - top) - 1)) {
        const char *const country = top;

        top = dot_before(host, country);
        if (top == NULL)
            return host;
        if (!tld_is(top + 1, (size_t)(country - top) - 1))
            return top + 1; /* domain.uk, and not domain.com.uk */
    }
    const char *const dot = dot_before(host, top);
    return dot != NULL ? dot + 1 : host;
}
