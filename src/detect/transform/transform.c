/* SPDX-License-Identifier: MIT */
#include "transform.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/hex.h"
#include "base/inflate.h"
#include "base/letters.h"
#include "detect/expression.h"

enum { DIGEST_LEN_MAX = 32 };

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static uint8_t upper(uint8_t c)
{
    return (uint8_t)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Drops blanks, or all but the first of a run. */
static uint32_t drop_spaces(uint8_t *bytes, uint32_t len, bool keep_first)
{
    uint32_t n = 0;
    bool in_run = false;

    for (uint32_t i = 0; i < len; i++) {
        const bool space = is_space(bytes[i]);

        if (!space || (keep_first && !in_run))
            bytes[n++] = bytes[i];
        in_run = space;
    }
    return n;
}

/* "%41" is a byte, and '+' a blank. A '%' without two digits behind it stands for itself, and takes
 * a '+' that is read with it along. */
static uint32_t url_decode(uint8_t *bytes, uint32_t len)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < len; i++) {
        if (bytes[i] != '%') {
            bytes[n++] = bytes[i] == '+' ? ' ' : bytes[i];
            continue;
        }
        const int high = i + 1 < len ? hex_digit((char)bytes[i + 1]) : -1;
        const int low = high >= 0 && i + 2 < len ? hex_digit((char)bytes[i + 2]) : -1;

        if (low >= 0) {
            bytes[n++] = (uint8_t)(high << 4 | low);
            i += 2;
            continue;
        }
        for (uint32_t taken = high >= 0 ? 3 : 2; taken != 0 && i < len; taken--)
            bytes[n++] = bytes[i++];
        i--;
    }
    return n;
}

static void lower_header_names(uint8_t *bytes, uint32_t len)
{
    bool in_value = false;

    for (uint32_t i = 0; i < len; i++) {
        if (!in_value)
            bytes[i] = letter_lower(bytes[i]);
        in_value = in_value ? bytes[i] != '\n' : bytes[i] == ':';
    }
}

/* Drops the lines that begin with a colon. */
static uint32_t strip_pseudo_headers(uint8_t *bytes, uint32_t len)
{
    uint32_t n = 0;
    bool dropped = false;

    for (uint32_t i = 0; i < len; i++) {
        if (i == 0 || bytes[i - 1] == '\n')
            dropped = bytes[i] == ':';
        if (!dropped)
            bytes[n++] = bytes[i];
    }
    return n;
}

static void apply_xor(const struct transform *transform, uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = transform->offset, k = 0; i < len; i++, k = (k + 1) % transform->len)
        bytes[i] ^= transform->key[k];
}

/* A buffer that has nothing to decode stays as it is, as in Suricata. */
static uint32_t from_base64(const struct transform *transform, uint8_t *bytes, uint32_t len)
{
    uint32_t n = len - transform->offset;

    if (transform->offset >= len || transform->len >= n)
        return len;
    if (transform->len != 0)
        n = transform->len;
    const uint32_t decoded =
        base64_decode_over(transform->mode, bytes + transform->offset, n, bytes);

    return decoded != 0 ? decoded : len;
}

/* The unpacked bytes before damage, and up to a bound. */
static bool unpack(const struct transform *transform, struct transform_work *work, uint8_t *bytes,
                   uint32_t *len)
{
    struct inflate *const inflate =
        inflate_open(transform->kind == TRANSFORM_GUNZIP ? INFLATE_GZIP : INFLATE_ZLIB);
    struct inflate_out out = {work->inflated, 0, transform->len};
    const uint8_t *in = bytes;
    size_t left = *len;

    if (inflate == NULL)
        return false;
    (void)inflate_into(inflate, &in, &left, &out);
    inflate_close(inflate);
    *len = (uint32_t)out.at;
    memcpy(bytes, work->inflated, *len);
    return true;
}

/* A buffer that the expression does not match, or not with its group, stays as it is, as in
 * Suricata. */
static uint32_t capture(const struct transform *transform, struct transform_work *work,
                        uint8_t *bytes, uint32_t len)
{
    uint32_t begin, end;
    const enum rule_found found = rule_matcher_capture(work->matcher, transform->expression, bytes,
                                                       len, &work->effort, &begin, &end);

    work->limited |= found == RULE_LIMITED;
    if (found != RULE_FOUND)
        return len;
    memmove(bytes, bytes + begin, end - begin);
    return end - begin;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

void transform_work_free(struct transform_work *work)
{
    EVP_MD_CTX_free(work->context);
    for (size_t i = 0; i < sizeof work->digest / sizeof work->digest[0]; i++)
        EVP_MD_free(work->digest[i]);
}

static bool hash(enum transform_kind kind, struct transform_work *work, uint8_t *bytes,
                 uint32_t *len)
{
    static const char *const names[] = {
        [TRANSFORM_MD5] = "MD5", [TRANSFORM_SHA1] = "SHA1", [TRANSFORM_SHA256] = "SHA256"};
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned digest_len;

    if (work->context == NULL)
        work->context = EVP_MD_CTX_new();
    if (work->digest[kind] == NULL)
        work->digest[kind] = EVP_MD_fetch(NULL, names[kind], NULL);
    if (work->context == NULL || work->digest[kind] == NULL ||
        EVP_DigestInit_ex2(work->context, work->digest[kind], NULL) != 1 ||
        EVP_DigestUpdate(work->context, bytes, *len) != 1 ||
        EVP_DigestFinal_ex(work->context, digest, &digest_len) != 1)
        return false;
    memcpy(bytes, digest, digest_len);
    *len = digest_len;
    return true;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static bool apply(const struct transform *transform, struct transform_work *work, uint8_t *bytes,
                  uint32_t *len)
{
    switch (transform->kind) {
    case TRANSFORM_DOT_PREFIX:
        memmove(bytes + 1, bytes, *len);
        bytes[0] = '.';
        ++*len;
        return true;
    case TRANSFORM_LOWER:
        for (uint32_t i = 0; i < *len; i++)
            bytes[i] = letter_lower(bytes[i]);
        return true;
    case TRANSFORM_UPPER:
        for (uint32_t i = 0; i < *len; i++)
            bytes[i] = upper(bytes[i]);
        return true;
    case TRANSFORM_STRIP_WHITESPACE:
    case TRANSFORM_COMPRESS_WHITESPACE:
        *len = drop_spaces(bytes, *len, transform->kind == TRANSFORM_COMPRESS_WHITESPACE);
        return true;
    case TRANSFORM_URL_DECODE:
        *len = url_decode(bytes, *len);
        return true;
    case TRANSFORM_XOR:
        apply_xor(transform, bytes, *len);
        return true;
    case TRANSFORM_MD5:
    case TRANSFORM_SHA1:
    case TRANSFORM_SHA256:
        return hash(transform->kind, work, bytes, len);
    case TRANSFORM_BASE64:
        *len = from_base64(transform, bytes, *len);
        return true;
    case TRANSFORM_STRIP_PSEUDO_HEADERS:
        *len = strip_pseudo_headers(bytes, *len);
        return true;
    case TRANSFORM_HEADER_LOWER:
        lower_header_names(bytes, *len);
        return true;
    case TRANSFORM_GUNZIP:
    case TRANSFORM_ZLIB:
        return unpack(transform, work, bytes, len);
    case TRANSFORM_CAPTURE:
        *len = capture(transform, work, bytes, *len);
        return true;
    }
    return true;
}

bool transform_chain_apply(const struct transform_chain *chain, struct transform_work *work,
                           uint8_t *bytes, uint32_t *len)
{
    for (uint32_t i = 0; i < chain->n && *len != 0; i++)
        if (!apply(&chain->step[i], work, bytes, len))
            return false;
    return true;
}

uint32_t transform_chain_room(const struct transform_chain *chain, uint32_t len)
{
    uint32_t room = len > DIGEST_LEN_MAX ? len : (uint32_t)DIGEST_LEN_MAX;

    for (uint32_t i = 0; i < chain->n; i++)
        if (chain->step[i].kind >= TRANSFORM_GUNZIP && chain->step[i].len > room)
            room = chain->step[i].len;
    return room + chain->n; /* a period of each */
}

/* A period is put before each name that the matcher searches. So it is found where the bytes
 * behind it are those of the name's begin. */
enum transform_finds transform_chain_finds(const struct transform_chain *chain)
{
    enum transform_finds finds = TRANSFORM_FINDS_BYTES;
    bool dotted = false;

    for (uint32_t i = 0; i < chain->n; i++) {
        const enum transform_kind kind = chain->step[i].kind;

        if (kind == TRANSFORM_LOWER || kind == TRANSFORM_UPPER || kind == TRANSFORM_HEADER_LOWER)
            finds = TRANSFORM_FINDS_LETTERS;
        else if (kind != TRANSFORM_DOT_PREFIX || dotted)
            return TRANSFORM_FINDS_NOTHING;
        dotted |= kind == TRANSFORM_DOT_PREFIX;
    }
    return finds;
}

bool transform_lets_through(const struct transform *transform, const uint8_t *bytes, uint32_t len)
{
    const enum transform_kind kind = transform->kind;
    bool after_space = false;

    for (uint32_t i = 0; i < len; i++) {
        const bool space = is_space(bytes[i]);

        if ((kind == TRANSFORM_LOWER && bytes[i] != letter_lower(bytes[i])) ||
            (kind == TRANSFORM_UPPER && bytes[i] != upper(bytes[i])) ||
            (kind == TRANSFORM_STRIP_WHITESPACE && space) ||
            (kind == TRANSFORM_COMPRESS_WHITESPACE && space && after_space))
            return false;
        after_space = space;
    }
    return true;
}
