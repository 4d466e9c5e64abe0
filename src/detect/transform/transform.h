/* SPDX-License-Identifier: MIT */
/* Transforms of buffers, in the order in which a rule names them. */
#ifndef DETECT_TRANSFORM_H
#define DETECT_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base64.h"

enum transform_kind {
    TRANSFORM_DOT_PREFIX,
    TRANSFORM_LOWER,
    TRANSFORM_UPPER,
    TRANSFORM_STRIP_WHITESPACE,
    TRANSFORM_COMPRESS_WHITESPACE,
    TRANSFORM_URL_DECODE,
    TRANSFORM_XOR,
    TRANSFORM_MD5,
    TRANSFORM_SHA1,
    TRANSFORM_SHA256,
    TRANSFORM_BASE64,
    TRANSFORM_STRIP_PSEUDO_HEADERS,
    TRANSFORM_HEADER_LOWER,
    TRANSFORM_GUNZIP,
    TRANSFORM_ZLIB,
    TRANSFORM_CAPTURE
};

struct rule_expression;
struct rule_matcher;

struct transform {
    enum transform_kind kind;
    enum base64_mode mode; /* TRANSFORM_BASE64 */
    uint32_t offset;       /* TRANSFORM_XOR, TRANSFORM_BASE64: bytes that are passed over */
    uint32_t len;          /* TRANSFORM_BASE64: bytes to decode, 0: all; TRANSFORM_XOR: of the key;
                              TRANSFORM_GUNZIP, TRANSFORM_ZLIB: of the result at most */
    const uint8_t *key;    /* TRANSFORM_XOR */
    struct rule_expression *expression; /* TRANSFORM_CAPTURE: RULE_CAPTURES, with a group */
};

/* The part that a chain leaves of the bytes that the matcher has searched. */
enum transform_finds {
    TRANSFORM_FINDS_BYTES,   /* a content of the result stands in the buffer too */
    TRANSFORM_FINDS_LETTERS, /* it does but for the case of letters */
    TRANSFORM_FINDS_NOTHING
};

enum {
    TRANSFORMS_MAX = 16,          /* of a chain */
    TRANSFORM_INFLATED_MAX = 8192 /* bytes */
};

/* Chains of a rule set with equal text are one. */
struct transform_chain {
    const char *text; /* the options, as in a rule */
    uint32_t n;
    struct transform step[TRANSFORMS_MAX];
};

/* Of the chain of the first n steps. */
enum transform_finds transform_chain_finds(const struct transform_chain *chain);

/* Bytes that a buffer of len bytes has at most on its way. */
uint32_t transform_chain_room(const struct transform_chain *chain, uint32_t len);

/* The workspace of hashes, unpacking and captures: one for each thread. Zeroed at first. */
struct transform_work {
    struct rule_matcher *matcher; /* of the caller; of TRANSFORM_CAPTURE alone */
    uint64_t effort;              /* that captures may take yet, as of a rule */
    bool limited;                 /* a capture took more: the result says nothing. Once set it
                                     stays, until the caller clears it. */
    uint8_t inflated[TRANSFORM_INFLATED_MAX];
    struct evp_md_ctx_st *context;
    struct evp_md_st *digest[TRANSFORM_SHA256 + 1]; /* by transform_kind */
};

void transform_work_free(struct transform_work *work);

/* Transforms *len bytes, which have transform_chain_room, in place. An empty buffer stays empty.
 * False: no memory. */
bool transform_chain_apply(const struct transform_chain *chain, struct transform_work *work,
                           uint8_t *bytes, uint32_t *len);

/* Whether a result of the transform can contain these bytes. */
bool transform_lets_through(const struct transform *transform, const uint8_t *bytes, uint32_t len);

#endif
