/* SPDX-License-Identifier: MIT */
/* Installers of NSIS: blocks behind a mark, each packed alone or all as one ("solid"). */

#include "unpack/little.h"
#include "unpack/streams.h"
#include "unpack/unpack.h"

enum {
    FIRST_AT = 24, /* behind the mark and two lengths */
    SUM_LEN = 4,
    PROPERTIES_LEN = 5
};

#define PACKED (UINT32_C(1) << 31) /* in a block's length */

enum method { LZMA, DEFLATE, BZIP2 };

static enum method method_of(const uint8_t *at)
{
    return at[0] == 0x5D && at[1] == 0 && at[2] == 0 ? LZMA : at[0] == '1' ? BZIP2 : DEFLATE;
}

/* False: it is cut, damaged, or of a method that no library has: bzip2 without its marks. */
static bool unpack_bytes(const uint8_t *at, size_t len, struct unpack_buffer *buffer)
{
    size_t used;

    if (len <= PROPERTIES_LEN || method_of(at) == BZIP2)
        return false;
    return method_of(at) == LZMA ? stream_lzma1(at, at + PROPERTIES_LEN, len - PROPERTIES_LEN,
                                                UINT64_MAX, buffer, &used)
                                 : stream_inflate(at, len, INFLATE_BARE, buffer, &used);
}

static void give_block(struct unpack *unpack, const struct unpack_object *object, const uint8_t *at,
                       size_t len, bool packed)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);

    if (!packed) {
        (void)unpack_child(unpack, object, at, len, KINDS);
        return;
    }
    if (!unpack_bytes(at, len, buffer))
        unpack_incomplete(unpack, object, "a block is damaged, or its method is not known");
    if (buffer->cut)
        unpack_cut(unpack, buffer);
    (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
}

/* Each block has its length before it. */
static void give_blocks(struct unpack *unpack, const struct unpack_object *object,
                        const uint8_t *at, size_t left)
{
    while (left > SUM_LEN && !unpack_is_over(unpack)) {
        const uint32_t head = little32(at);
        size_t len = head & ~PACKED;

        at += 4;
        left -= 4;
        if (len > left) {
            unpack_incomplete(unpack, object, "cut");
            len = left;
        }
        give_block(unpack, object, at, len, (head & PACKED) != 0);
        at += len;
        left -= len;
    }
}

void unpack_nsis(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer all = {0};
    const uint8_t *at = object->bytes + FIRST_AT;
    const size_t left = object->len > FIRST_AT ? object->len - FIRST_AT : 0;

    if (left < 8) {
        unpack_incomplete(unpack, object, "cut");
        return;
    }
    if (method_of(at) != LZMA && (little32(at) & PACKED) != 0) {
        give_blocks(unpack, object, at, left);
        return;
    }
    unpack_buffer_init(unpack, &all);
    if (!unpack_bytes(at, left, &all))
        unpack_incomplete(unpack, object, "damaged, or its method is not known");
    if (all.cut)
        unpack_cut(unpack, &all);
    give_blocks(unpack, object, all.bytes, all.len);
    unpack_buffer_free(&all);
}
