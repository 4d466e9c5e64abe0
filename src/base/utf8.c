/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

static bool is_tail(const uint8_t *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((text[i] & 0xC0) != 0x80)
            return false;
    return true;
}

size_t utf8_len(const uint8_t *text, const uint8_t *end)
{
    const size_t left = (size_t)(end - text);
    const uint8_t lead = text[0];

    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;

    const size_t len = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (left < len || !is_tail(text + 1, len - 1))
        return 0;
    if ((lead == 0xE0 && text[1] < 0xA0) || /* overlong */
        (lead == 0xED && text[1] > 0x9F) || /* surrogates */
        (lead == 0xF0 && text[1] < 0x90) || /* overlong */
        (lead == 0xF4 && text[1] > 0x8F))   /* above U+10FFFF */
        return 0;
    return len;
}

bool utf8_is_control(const uint8_t *text)
{
    return text[0] < 0x20 || text[0] == 0x7F || (text[0] == 0xC2 && text[1] < 0xA0);
}

void utf8_escape(char out[UTF8_ESCAPE_LEN], uint8_t byte)
{
    static const char hex[] = "0123456789abcdef";

    out[0] = '\\';
    out[1] = 'x';
    out[2] = hex[byte >> 4];
    out[3] = hex[byte & 15];
}

size_t utf8_put(uint32_t c, char to[UTF8_MAX])
{
    const unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xC0, 0xE0, 0xF0};

    for (unsigned i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(first[n] | c);
    return n;
}
