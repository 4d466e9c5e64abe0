/* SPDX-License-Identifier: MIT */
/* LHA and LZH archives, with headers of the levels 0 to 3. */
#include <stdio.h>
#include <string.h>

#include "unpack/little.h"
#include "unpack/lzh.h"
#include "unpack/unpack.h"

enum { METHOD_AT = 2, PACKED_AT = 7, LEN_AT = 11, LEVEL_AT = 20, NAME_MAX_LEN = 200 };

struct member {
    char dir[NAME_MAX_LEN], name[NAME_MAX_LEN];
    uint64_t packed_len, len;
    size_t data_at; /* in the archive */
};

/* ---- headers --------------------------------------------------------------------------------- */

/* Control bytes are "%1b", and '\\' and LHA's 0xFF are '/'. */
static void take_name(char to[NAME_MAX_LEN], const uint8_t *name, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len && n + 4 < NAME_MAX_LEN && name[i] != '\0'; i++) {
        if (name[i] < ' ' || name[i] == 0x7F)
            n += (size_t)snprintf(to + n, NAME_MAX_LEN - n, "%%%02x", name[i]);
        else
            to[n++] = name[i] == '\\' || name[i] == 0xFF ? '/' : (char)name[i];
    }
    to[n] = '\0';
}

/* Extensions: a type, its bytes, and the length of the next one. Returns the bytes that all of them
 * have, or -1. */
static int64_t read_extensions(struct member *member, const uint8_t *at, const uint8_t *end,
                               size_t next_len, size_t len_bytes)
{
    enum { NAME = 1, DIRECTORY = 2, LENGTHS = 0x42 };
    const uint8_t *const begin = at;

    while (next_len > 0) {
        if (next_len <= len_bytes || next_len > (size_t)(end - at))
            return -1;
        const size_t n = next_len - len_bytes;
        if (at[0] == NAME)
            take_name(member->name, at + 1, n - 1);
        else if (at[0] == DIRECTORY)
            take_name(member->dir, at + 1, n - 1);
        else if (at[0] == LENGTHS && n > 16) {
            member->packed_len = little64(at + 1);
            member->len = little64(at + 9);
        }
        next_len = len_bytes == 2 ? little16(at + n) : little32(at + n);
        at += n + len_bytes;
    }
    return at - begin;
}

/* Levels 0 and 1: the length of the header, its sum, the name. */
static bool read_short(struct member *member, const uint8_t *at, size_t len, unsigned level)
{
    enum { NAME_LEN_AT = 21 };
    const size_t header_len = at[0] + (size_t)2, name_len = at[NAME_LEN_AT];

    if (header_len > len || NAME_LEN_AT + 1 + name_len + 2 > header_len)
        return false;
    take_name(member->name, at + NAME_LEN_AT + 1, name_len);
    member->data_at = header_len;
    if (level == 0)
        return true;
    const int64_t n =
        read_extensions(member, at + header_len, at + len, little16(at + header_len - 2), 2);
    if (n < 0 || (uint64_t)n > member->packed_len)
        return false;
    member->data_at += (size_t)n;
    member->packed_len -= (uint64_t)n;
    return true;
}

/* Levels 2 and 3: the length of all headers, then extensions alone. OS-9's LHA states two bytes too
 * few. */
static bool read_long(struct member *member, const uint8_t *at, size_t len, unsigned level)
{
    const size_t first_at = level == 2 ? 24 : 28, len_bytes = level == 2 ? 2 : 4;
    const size_t begin = first_at + len_bytes;

    if (len < begin)
        return false;
    const size_t header_len = level == 2 ? little16(at) : little32(at + 24);
    const int64_t n =
        read_extensions(member, at + begin, at + len,
                        level == 2 ? little16(at + first_at) : little32(at + first_at), len_bytes);
    if (header_len < begin || header_len > len || n < 0)
        return false;
    member->data_at = begin + (size_t)n > header_len ? begin + (size_t)n : header_len;
    return true;
}

/* False: no header is here. */
static bool read_header(struct member *member, const uint8_t *at, size_t len)
{
    memset(member, 0, sizeof *member);
    if (len < LEVEL_AT + 4 || at[METHOD_AT] != '-' || at[METHOD_AT + 4] != '-')
        return false;
    member->packed_len = little32(at + PACKED_AT);
    member->len = little32(at + LEN_AT);
    const unsigned level = at[LEVEL_AT];
    return level <= 1   ? read_short(member, at, len, level)
           : level <= 3 ? read_long(member, at, len, level)
                        : false;
}

/* ---- members --------------------------------------------------------------------------------- */

static const struct {
    char name[4];
    enum lzh_method method;
} methods[] = {{"lh0", LZH_STORED},   {"lz4", LZH_STORED}, {"pm0", LZH_STORED}, {"lhd", LZH_STORED},
               {"lh1", LZH_ADAPTIVE}, {"lh4", LZH_4K},     {"lh5", LZH_4K},     {"lh6", LZH_32K},
               {"lh7", LZH_64K},      {"lhx", LZH_LARGE},  {"lzs", LZH_LZS},    {"lz5", LZH_LZ5}};

/* Appends a member's bytes. NULL, or why they are not whole. */
static const char *unpack_member(const uint8_t *header, const struct member *member, size_t have,
                                 struct unpack_buffer *buffer)
{
    const size_t packed = member->packed_len < have ? (size_t)member->packed_len : have;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (memcmp(header + METHOD_AT + 1, methods[i].name, 3) == 0)
            return lzh_unpack(methods[i].method, header + member->data_at, packed, member->len,
                              buffer)
                       ? NULL
                       : "a member is cut or damaged";
    return "a member's method is not known";
}

/* Whether a member's stated length is within the limits; ClamAV reads none beyond. */
static bool is_within(struct unpack *unpack, uint64_t len)
{
    const struct unpack_limits *limits = &unpack_wishes(unpack)->limits;

    if (limits->scan_len_max > 0 && len > limits->scan_len_max)
        unpack_limited(unpack, "MaxScanSize");
    else if (limits->file_len_max > 0 && len > limits->file_len_max)
        unpack_limited(unpack, "MaxFileSize");
    else
        return true;
    return false;
}

static bool give_member(struct unpack *unpack, const struct unpack_object *object,
                        const uint8_t *header, const struct member *member, size_t have)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    const size_t dir_len = strlen(member->dir);
    char name[2 * NAME_MAX_LEN + 2];

    snprintf(name, sizeof name, "%s%s%s", member->dir,
             dir_len > 0 && member->dir[dir_len - 1] != '/' ? "/" : "", member->name);
    const struct unpack_member reported = {name[0] == '/' ? name + 1 : name, member->packed_len,
                                           member->len, 0, false};
    if (!is_within(unpack, member->len))
        return true;
    if (!unpack_report_member(unpack, object, &reported))
        return false;
    if (member->packed_len > have) /* as ClamAV does, none of it is given */
        return true;
    const char *reason = unpack_member(header, member, have, buffer);
    if (buffer->cut)
        unpack_cut(unpack, buffer);
    else if (reason != NULL)
        unpack_incomplete(unpack, object, reason);
    return unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
}

void unpack_lha(struct unpack *unpack, const struct unpack_object *object)
{
    size_t at = 0;
    struct member member;

    while (!unpack_is_over(unpack) && at < object->len && object->bytes[at] != '\0') {
        const uint8_t *header = object->bytes + at;

        if (!read_header(&member, header, object->len - at)) {
            unpack_incomplete(unpack, object, "a header is cut or damaged");
            break;
        }
        const size_t have = object->len - at - member.data_at;
        if (!give_member(unpack, object, header, &member, have))
            return;
        if (member.packed_len > have) {
            unpack_incomplete(unpack, object, "cut");
            return;
        }
        at += member.data_at + (size_t)member.packed_len;
    }
    unpack_rest(unpack, object, at);
}
