/* SPDX-License-Identifier: MIT */
/* tar, as ClamAV reads it: each header with the bytes behind it. A sparse file is its stored bytes,
 * and what describes the next member (long names, pax) is none. */
#include <string.h>

#include "unpack/unpack.h"

enum {
    BLOCK = 512,
    NAME_LEN = 100,
    SIZE_AT = 124,
    SIZE_LEN = 12,
    SUM_AT = 148,
    SUM_LEN = 8,
    TYPE_AT = 156,
    MORE_AT = 482,       /* of a sparse file's header: a block of its map follows, */
    MORE_IN_BLOCK = 504, /* where this block says the same */
};

/* Octal digits behind blanks; or, with the first bit set, a binary number. */
static uint64_t read_number(const uint8_t *at, size_t len)
{
    uint64_t value = 0;
    size_t i = 0;

    if (at[0] >= 0x80) {
        for (i = len - 8; i < len; i++)
            value = value << 8 | at[i];
        return value;
    }
    while (i < len && at[i] == ' ')
        i++;
    for (; i < len && at[i] >= '0' && at[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(at[i] - '0');
    return value;
}

static bool has_sum(const uint8_t *header)
{
    unsigned sum = 0;

    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_LEN ? ' ' : header[i];
    return sum == read_number(header + SUM_AT, SUM_LEN);
}

/* Whether a header describes a member, and not the next one: readers take types that they do not
 * know for files. A directory, a link or a device has bytes in damaged archives alone. */
static bool is_member(uint8_t type, uint64_t len)
{
    return memchr("LKxgX", type, 5) == NULL && (len > 0 || memchr("123456", type, 6) == NULL);
}

static bool is_empty(const uint8_t *header)
{
    return header[0] == '\0' && memcmp(header, header + 1, BLOCK - 1) == 0;
}

/* Gives a member of `len` bytes, of which `have` are there. False: nothing more is wanted. */
static bool give_member(struct unpack *unpack, const struct unpack_object *object,
                        const uint8_t *header, const uint8_t *bytes, uint64_t position,
                        uint64_t len, uint64_t have)
{
    char name[NAME_LEN + 1] = "";

    memcpy(name, header, NAME_LEN);
    return unpack_report_member(unpack, object,
                                &(struct unpack_member){name, len, len, position, false}) &&
           unpack_child(unpack, object, bytes, (size_t)have, KINDS);
}

/* The length of a sparse file's map behind its header. */
static uint64_t map_len(const uint8_t *header, uint64_t left)
{
    uint64_t len = 0;
    bool more = header[TYPE_AT] == 'S' && header[MORE_AT] != 0;

    while (more && left - len >= BLOCK) {
        more = header[BLOCK + len + MORE_IN_BLOCK] != 0;
        len += BLOCK;
    }
    return len;
}

/* Behind blocks of zeros another tar may follow, or what the writer's buffer had: damage is none.
 */
void unpack_tar(struct unpack *unpack, const struct unpack_object *object)
{
    uint64_t at = 0, position = 0;
    bool ended = false;

    while (!unpack_is_over(unpack) && object->len - at >= BLOCK) {
        const uint8_t *header = object->bytes + at;
        const uint64_t len = read_number(header + SIZE_AT, SIZE_LEN);
        const uint64_t begin = at + BLOCK + map_len(header, object->len - at - BLOCK);
        const uint64_t left = object->len - begin;
        const bool was_ended = ended;

        ended = is_empty(header);
        if (ended) {
            at = begin;
            continue;
        }
        if (!has_sum(header)) {
            if (!was_ended)
                unpack_incomplete(unpack, object, "damaged: the sum of a header is wrong");
            break;
        }
        if (is_member(header[TYPE_AT], len) &&
            !give_member(unpack, object, header, object->bytes + begin, ++position, len,
                         len < left ? len : left))
            return;
        if (len > left) {
            unpack_incomplete(unpack, object, "cut");
            return;
        }
        const uint64_t padded = (len + BLOCK - 1) / BLOCK * BLOCK;
        at = begin + (padded < left ? padded : left);
    }
    unpack_rest(unpack, object, (size_t)at);
}
