/* SPDX-License-Identifier: MIT */
#include "payload_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "digits of Base64 are laid out in little-endian words"
#endif

enum { BLOCK_LEN = 16, TRIPLES = 4, TRIPLES_LEN = 3 * TRIPLES };

typedef uint8_t block __attribute__((vector_size(BLOCK_LEN)));
typedef uint32_t words __attribute__((vector_size(BLOCK_LEN)));

/* ---- Base64 ---------------------------------------------------------------------------------- */

/* 0 to 25 are 'A' to 'Z', then come 'a' to 'z', '0' to '9', '+' and '/': the distance to the
 * character changes at four places. */
static block base64_digits(block value)
{
    const block over25 = (block)(value > 25), over51 = (block)(value > 51);
    const block over61 = (block)(value > 61), over62 = (block)(value > 62);

    return value + 'A' + (over25 & ('a' - 'Z' - 1)) - (over51 & ('z' + 1 - '0')) -
           (over61 & ('9' + 1 - '+')) + (over62 & ('/' - '+' - 1));
}

static void base64_block(char out[BLOCK_LEN], const uint8_t bytes[TRIPLES_LEN])
{
    const words in = {load_be32(bytes) >> 8, load_be32(bytes + 3) >> 8, load_be32(bytes + 6) >> 8,
                      load_be32(bytes + 8) & 0xFFFFFF};
    const words values =
        in >> 18 | (in >> 4 & 0x3F00) | (in << 10 & 0x3F0000) | (in << 24 & 0x3F000000);
    const block text = base64_digits((block)values);

    memcpy(out, &text, sizeof text);
}

size_t payload_base64(char *out, const uint8_t *bytes, uint32_t len)
{
    const uint32_t rest = len % TRIPLES_LEN;
    const uint8_t *const end = bytes + (len - rest);
    uint8_t last[TRIPLES_LEN] = {0};
    char *at = out;

    for (; bytes < end; bytes += TRIPLES_LEN, at += BLOCK_LEN)
        base64_block(at, bytes);
    if (rest == 0)
        return (size_t)(at - out);

    const uint32_t n_digits = (8 * rest + 5) / 6, n_characters = (rest + 2) / 3 * 4;

    memcpy(last, bytes, rest);
    base64_block(at, last);
    memset(at + n_digits, '=', n_characters - n_digits);
    return (size_t)(at - out) + n_characters;
}

/* ---- printable ------------------------------------------------------------------------------- */

static block choose(block mask, block yes, block no)
{
    return (yes & mask) | (no & ~mask);
}

static bool is_zero(block value)
{
    uint64_t half[2];

    memcpy(half, &value, sizeof half);
    return (half[0] | half[1]) == 0;
}

/* Returns the characters that were written, at most two a byte. */
static size_t print_block(char *out, const uint8_t bytes[BLOCK_LEN])
{
    const block dots = (block){0} + '.', backslashes = (block){0} + '\\';
    block in;

    memcpy(&in, bytes, sizeof in);
    const block is_feed = (block)(in == '\n'), is_return = (block)(in == '\r');
    const block is_quoted = (block)(in == '"') | (block)(in == '\\');
    const block escaped = is_feed | is_return | is_quoted;
    const block is_plain = (block)(in - 0x20 < 0x7F - 0x20);
    const block first = choose(escaped, backslashes, choose(is_plain, in, dots));

    memcpy(out, &first, sizeof first);
    if (is_zero(escaped))
        return BLOCK_LEN;

    const block second = (is_quoted & in) | (is_feed & 'n') | (is_return & 'r');
    size_t n = 0;

    for (int i = 0; i < BLOCK_LEN; i++) {
        out[n] = (char)first[i];
        out[n + 1] = (char)second[i];
        n += 1u + (escaped[i] & 1);
    }
    return n;
}

size_t payload_printable(char *out, const uint8_t *bytes, uint32_t len)
{
    const uint32_t rest = len % BLOCK_LEN;
    const uint8_t *const end = bytes + (len - rest);
    uint8_t last[BLOCK_LEN] = {0};
    char *at = out;

    for (; bytes < end; bytes += BLOCK_LEN)
        at += print_block(at, bytes);
    if (rest == 0)
        return (size_t)(at - out);
    memcpy(last, bytes, rest);
    at += print_block(at, last);
    return (size_t)(at - out) - (BLOCK_LEN - rest); /* each byte that is none became a dot */
}
