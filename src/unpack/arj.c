/* SPDX-License-Identifier: MIT */
/* ARJ archives. */
#include <string.h>

#include "unpack/little.h"
#include "unpack/lzh.h"
#include "unpack/unpack.h"

enum {
    HEAD = 4,        /* the mark, and the length of a header */
    HEADER_MIN = 30, /* bytes of a header behind that */
    HEADER_MAX = 2600,
    SUM = 4,
    NAME_MAX_LEN = 256
};

/* Finds the header at *at, and moves *at behind it, its sum and its extensions. NULL: the archive's
 * end, or *damaged. */
static const uint8_t *read_header(const struct unpack_object *object, size_t *at, size_t *len,
                                  bool *damaged)
{
    const uint8_t *header = object->bytes + *at;
    size_t left = object->len - *at;

    *damaged = true;
    if (left < HEAD || header[0] != 0x60 || header[1] != 0xEA)
        return NULL;
    *len = little16(header + 2);
    *damaged = *len != 0;
    if (*len < HEADER_MIN || *len > HEADER_MAX || left < HEAD + *len + SUM)
        return NULL;
    *at += HEAD + *len + SUM;
    for (;;) { /* extensions have a length and a sum; none is the last one */
        if (object->len - *at < 2)
            return NULL;
        const size_t n = little16(object->bytes + *at);
        *at += 2;
        if (n == 0)
            break;
        if (object->len - *at < n + SUM)
            return NULL;
        *at += n + SUM;
    }
    *damaged = false;
    return header + HEAD;
}

/* Appends a member's bytes. NULL, or why they are not whole. */
static const char *unpack_member(const uint8_t *header, const uint8_t *data, size_t len,
                                 struct unpack_buffer *buffer)
{
    enum { METHOD_AT = 5, LEN_AT = 16, FASTEST = 4 };
    const unsigned method = header[METHOD_AT];
    const enum lzh_method lzh = method == 0         ? LZH_STORED
                                : method == FASTEST ? LZH_FASTEST
                                                    : LZH_64K;

    if (method > FASTEST)
        return "a member's method is not known";
    return lzh_unpack(lzh, data, len, little32(header + LEN_AT), buffer)
               ? NULL
               : "a member is cut or damaged";
}

/* Gives a member of which `have` packed bytes are there. */
static bool give_member(struct unpack *unpack, const struct unpack_object *object,
                        const uint8_t *header, size_t header_len, const uint8_t *data, size_t have)
{
    enum { FIRST_LEN = 0, FLAGS_AT = 4, PACKED_AT = 12, LEN_AT = 16, GARBLED = 1 };
    const bool encrypted = (header[FLAGS_AT] & GARBLED) != 0;
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    const size_t name_at = header[FIRST_LEN] < header_len ? header[FIRST_LEN] : header_len;
    char name[NAME_MAX_LEN] = "";
    const size_t n = strnlen((const char *)header + name_at, header_len - name_at);

    memcpy(name, header + name_at, n < sizeof name - 1 ? n : sizeof name - 1);
    if (!unpack_report_member(unpack, object,
                              &(struct unpack_member){name, little32(header + PACKED_AT),
                                                      little32(header + LEN_AT), 0, encrypted}))
        return false;
    if (encrypted) {
        unpack_incomplete(unpack, object, "encrypted");
        unpack_alert(unpack, UNPACK_ENCRYPTED_ARCHIVE, "Heuristics.Encrypted.ARJ");
        return !unpack_is_over(unpack);
    }
    const char *reason = unpack_member(header, data, have, buffer);
    if (buffer->cut)
        unpack_cut(unpack, buffer);
    else if (reason != NULL)
        unpack_incomplete(unpack, object, reason);
    return unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
}

void unpack_arj(struct unpack *unpack, const struct unpack_object *object)
{
    enum { PACKED_AT = 12 };
    size_t at = 0, len;
    bool damaged;
    const uint8_t *header = read_header(object, &at, &len, &damaged); /* the archive's own */

    while (header != NULL && !unpack_is_over(unpack) &&
           (header = read_header(object, &at, &len, &damaged)) != NULL) {
        const size_t packed = little32(header + PACKED_AT), left = object->len - at;
        const size_t have = packed < left ? packed : left;

        if (!give_member(unpack, object, header, len, object->bytes + at, have))
            return;
        damaged = packed > left;
        if (damaged)
            break;
        at += have;
    }
    if (damaged)
        unpack_incomplete(unpack, object, "cut or damaged");
    else
        unpack_rest(unpack, object, at + HEAD);
}
