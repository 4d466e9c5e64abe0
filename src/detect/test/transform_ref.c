/* SPDX-License-Identifier: MIT */
#include "transform_ref.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int is_blank(int c)
{
    return c != 0 && strchr(" \t\n\v\f\r", c) != NULL;
}

static int is_hex(int c)
{
    return c < 128 && isxdigit(c);
}

static int to_hex(const unsigned char *digits)
{
    const char text[3] = {(char)digits[0], (char)digits[1], '\0'};

    return (int)strtol(text, NULL, 16);
}

static size_t url(const unsigned char *from, size_t n, unsigned char *to)
{
    size_t at = 0, len = 0;

    while (at < n) {
        if (from[at] == '%' && n - at >= 3 && is_hex(from[at + 1]) && is_hex(from[at + 2])) {
            to[len++] = (unsigned char)to_hex(from + at + 1);
            at += 3;
        } else if (from[at] == '%') { /* the bytes read up to the one that is no digit */
            size_t taken = 1;

            if (at + 1 < n)
                taken += 1;
            if (at + 1 < n && is_hex(from[at + 1]) && at + 2 < n)
                taken += 1;
            memcpy(to + len, from + at, taken);
            len += taken;
            at += taken;
        } else {
            to[len++] = from[at] == '+' ? ' ' : from[at];
            at++;
        }
    }
    return len;
}

/* The letters as a row of bits; 0: the row is no base64. */
static size_t bits_to_bytes(const unsigned char *row, size_t n, unsigned char *to)
{
    size_t len = 0;

    for (size_t at = 0; at < n; at += 4) {
        unsigned bits = 0;
        size_t n_padding = row[at + 2] == '=' ? 2 : row[at + 3] == '=';

        if (row[at] == '=' || row[at + 1] == '=')
            return 0;
        for (size_t i = 0; i < 4 - n_padding; i++)
            bits |= (unsigned)(strchr(letters, row[at + i]) - letters) << (6 * (3 - i));
        for (size_t i = 0; i < 3 - n_padding; i++)
            to[len++] = (unsigned char)(bits >> (8 * (2 - i)));
    }
    return len;
}

static size_t base64(const char *mode, const unsigned char *from, size_t n, unsigned char *to)
{
    unsigned char *row = malloc(n + 4);
    size_t n_row = 0, len;

    for (size_t i = 0; i < n; i++) {
        if (from[i] != 0 && (strchr(letters, from[i]) != NULL || from[i] == '='))
            row[n_row++] = from[i];
        else if (strcmp(mode, "mode rfc2045") != 0)
            break;
    }
    if (strcmp(mode, "mode rfc2045") == 0)
        n_row -= n_row % 4;
    while (n_row % 4 != 0)
        row[n_row++] = '=';
    len = bits_to_bytes(row, n_row, to);
    free(row);
    if (len == 0) {
        memcpy(to, from, n);
        return n;
    }
    return len;
}

static size_t headers(int pseudo, const unsigned char *from, size_t n, unsigned char *to)
{
    size_t len = 0;

    for (size_t at = 0; at < n;) {
        const unsigned char *end = memchr(from + at, '\n', n - at);
        const size_t line = end != NULL ? (size_t)(end - from) + 1 - at : n - at;
        const unsigned char *colon = memchr(from + at, ':', line);

        for (size_t i = at; i < at + line && !(pseudo && from[at] == ':'); i++) {
            /* A line without a colon does not end a name. */
            const int in_name = !pseudo && (colon == NULL || from + i < colon);

            to[len++] = (unsigned char)(in_name && from[i] < 128 ? tolower(from[i]) : from[i]);
        }
        at += line;
    }
    return len;
}

static size_t blanks(int keep_first, const unsigned char *from, size_t n, unsigned char *to)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++)
        if (!is_blank(from[i]) || (keep_first && (i == 0 || !is_blank(from[i - 1]))))
            to[len++] = from[i];
    return len;
}

size_t transform_ref(const char *name, const char *value, const unsigned char *from, size_t n,
                     unsigned char *to)
{
    if (n == 0)
        return 0;
    if (strcmp(name, "dotprefix") == 0) {
        sprintf((char *)to, ".");
        memcpy(to + 1, from, n);
        return n + 1;
    }
    if (strcmp(name, "url_decode") == 0)
        return url(from, n, to);
    if (strcmp(name, "from_base64") == 0)
        return base64(value, from, n, to);
    if (strcmp(name, "strip_pseudo_headers") == 0 || strcmp(name, "header_lowercase") == 0)
        return headers(name[0] == 's', from, n, to);
    if (strcmp(name, "strip_whitespace") == 0 || strcmp(name, "compress_whitespace") == 0)
        return blanks(name[0] == 'c', from, n, to);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, "xor") == 0)
            to[i] = from[i] ^
                    (unsigned char)to_hex((const unsigned char *)value + 2 * i % strlen(value));
        else if (from[i] > 127)
            to[i] = from[i];
        else
            to[i] = (unsigned char)(strcmp(name, "to_lowercase") == 0 ? tolower(from[i])
                                                                      : toupper(from[i]));
    }
    return n;
}
