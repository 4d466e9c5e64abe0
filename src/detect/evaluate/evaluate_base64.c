/* SPDX-License-Identifier: MIT */
/* Suricata ends at the first byte that is not of base64. Snort passes such bytes over, and ends
 * where a line does that no blank continues. */
#include "evaluate_base64.h"

#include <stdlib.h>

/* The bytes before the first line break without a blank behind it. */
static uint32_t folded_len(const uint8_t *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        if (text[i] == '\n' && (i + 1 == len || (text[i + 1] != ' ' && text[i + 1] != '\t')))
            return i;
    return len;
}

struct base64_text rule_base64_find(const struct rule_bytes *base64, const struct rule_scan *scan,
                                    uint32_t cursor)
{
    const uint64_t begin = (uint64_t)cursor + (uint64_t)base64->offset.number;
    struct base64_text text = {NULL, 0, base64->snort3 ? BASE64_RFC2045 : BASE64_RFC4648};

    if (begin >= scan->len)
        return text;
    text.at = scan->payload + begin;
    text.len = scan->len - (uint32_t)begin;
    if (base64->count.number != 0 && base64->count.number < text.len)
        text.len = (uint32_t)base64->count.number;
    if (base64->snort3)
        text.len = folded_len(text.at, text.len);
    return text;
}

/* Makes room for the bytes that a text of len bytes holds. False: no memory. */
static bool reserve(struct rule_decoded *decoded, uint32_t len)
{
    if (len <= decoded->cap)
        return true;
    free(decoded->bytes);
    decoded->bytes = malloc(len);
    decoded->no_memory = decoded->bytes == NULL || !rule_scan_reserve(&decoded->scan, len);
    decoded->cap = decoded->no_memory ? 0 : len;
    return !decoded->no_memory;
}

bool rule_base64_decode(struct base64_text text, struct rule_decoded *decoded)
{
    if (text.len == 0 || !reserve(decoded, text.len))
        return false;
    decoded->scan.payload = decoded->bytes;
    decoded->scan.len = base64_decode(text.mode, text.at, text.len, decoded->bytes);
    return decoded->scan.len != 0;
}

void rule_decoded_free(struct rule_decoded *decoded)
{
    free(decoded->bytes);
    rule_scan_free(&decoded->scan);
}
