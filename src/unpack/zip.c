/* SPDX-License-Identifier: MIT */
/* zip (APPNOTE): members by the central directory; where there is none, by local headers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "unpack/explode.h"
#include "unpack/little.h"
#include "unpack/streams.h"
#include "unpack/unpack.h"
#include "unpack/zip_crypt.h"

enum {
    LOCAL_LEN = 30,
    CENTRAL_LEN = 46,
    END_LEN = 22,
    ENCRYPTED = 1, /* flags */
    DESCRIBED = 8, /* lengths come behind the data */
    MASKED = 1 << 13
};

enum {
    STORED = 0,
    IMPLODED = 6,
    DEFLATED = 8,
    DEFLATED64 = 9,
    BZIPPED = 12,
    LZMAED = 14,
    XZED = 95
};

/* A member, as a header has it. */
struct zip_member {
    unsigned flags, method;
    uint64_t packed_len, len;
    uint32_t sum;      /* CRC-32 */
    unsigned time;     /* of DOS */
    uint64_t local_at; /* of its local header */
    const uint8_t *name;
    size_t name_len;
};

static bool lies_in(const struct unpack_object *object, uint64_t at, uint64_t len)
{
    return at <= object->len && len <= object->len - at;
}

/* ---- methods --------------------------------------------------------------------------------- */

/* Two bytes of version, the length of the properties, the properties, and a raw stream. */
static bool unpack_lzmaed(const struct zip_member *member, const uint8_t *in, size_t len,
                          struct unpack_buffer *buffer, size_t *used)
{
    enum { HEAD = 4, PROPERTIES = 5 };

    return len >= HEAD + PROPERTIES && little16(in + 2) == PROPERTIES &&
           stream_lzma1(in + HEAD, in + HEAD + PROPERTIES, len - HEAD - PROPERTIES, member->len,
                        buffer, used);
}

static bool unpack_data(const struct zip_member *member, const uint8_t *in, size_t len,
                        struct unpack_buffer *buffer, size_t *used)
{
    switch (member->method) {
    case IMPLODED:
        return explode(in, len, member->flags, member->len, buffer, used);
    case DEFLATED:
        return stream_inflate(in, len, INFLATE_BARE, buffer, used);
    case DEFLATED64:
        return stream_inflate(in, len, INFLATE_64, buffer, used);
    case BZIPPED:
        return stream_bzip2(in, len, buffer, used);
    case LZMAED:
        return unpack_lzmaed(member, in, len, buffer, used);
    case XZED:
        return stream_xz(in, len, buffer, used);
    default:
        return false;
    }
}

/* ---- members --------------------------------------------------------------------------------- */

/* clamscan has no alert for a member that is cut at the limit of a file. */
static void cut_member(struct unpack *unpack, const struct unpack_object *object,
                       const struct unpack_buffer *buffer)
{
    if (buffer->by_scan)
        unpack_cut(unpack, buffer);
    else
        unpack_incomplete(unpack, object, "a member is longer than --max-filesize");
}

/* Unpacks `in`, and gives it. Returns the bytes that were used. */
static size_t give_data(struct unpack *unpack, const struct unpack_object *object,
                        const struct zip_member *member, const uint8_t *in, size_t len)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    size_t used = len;

    if (member->method == STORED) {
        (void)unpack_child(unpack, object, in, len < buffer->max ? len : buffer->max, KINDS);
        if (len > buffer->max)
            cut_member(unpack, object, buffer);
        return len;
    }
    const bool whole = unpack_data(member, in, len, buffer, &used);
    if (!whole)
        unpack_incomplete(unpack, object,
                          buffer->len > 0 ? "a member is cut or damaged"
                                          : "a member is damaged, or its method is not known");
    if (buffer->cut)
        cut_member(unpack, object, buffer);
    (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
    return used;
}

/* Whether plain bytes hold the member, as far as the limits let one see. */
static bool is_member(struct unpack *unpack, const struct unpack_object *object,
                      const struct zip_member *member, const struct unpack_buffer *plain)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    size_t used;

    if (member->method == STORED)
        return plain->cut || crc32_z(0, plain->bytes, plain->len) == member->sum;
    return unpack_data(member, plain->bytes, plain->len, buffer, &used) &&
           (buffer->cut || crc32_z(0, buffer->bytes, buffer->len) == member->sum);
}

/* Gives an encrypted member by the first password that opens it. False: none does. */
static bool unlock_member(struct unpack *unpack, const struct unpack_object *object,
                          const struct zip_member *member, const uint8_t *in, size_t len)
{
    const bool described = (member->flags & DESCRIBED) != 0;
    const uint8_t sum = (uint8_t)(member->sum >> 24);
    const uint8_t marks[] = {sum, described ? (uint8_t)(member->time >> 8) : sum};
    struct unpack_buffer plain = {0};
    const uint8_t *password;
    bool opened = false;
    size_t password_len, room = len - ZIP_SALT_LEN;

    if (len <= ZIP_SALT_LEN)
        return false;
    unpack_buffer_init(unpack, &plain);
    uint8_t *const to = unpack_buffer_room(&plain, &room);
    plain.len = to != NULL ? room : 0;
    for (size_t at = 0; to != NULL && !opened && !unpack_is_over(unpack) &&
                        unpack_next_password(unpack, &at, &password, &password_len);)
        opened = zip_unlock(password, password_len, marks, in, to, room) &&
                 is_member(unpack, object, member, &plain);
    if (opened)
        (void)give_data(unpack, object, member, plain.bytes, plain.len);
    unpack_buffer_free(&plain);
    return opened;
}

static bool report_member(struct unpack *unpack, const struct unpack_object *object,
                          const struct zip_member *member, uint64_t position)
{
    char name[UNPACK_TEXT_LEN];

    snprintf(name, sizeof name, "%.*s", (int)(member->name_len < 255 ? member->name_len : 255),
             (const char *)member->name);
    return unpack_report_member(unpack, object,
                                &(struct unpack_member){name, member->packed_len, member->len,
                                                        position,
                                                        (member->flags & ENCRYPTED) != 0});
}

/* Takes a member whose lengths are known, or are the rest of the archive. Returns the place behind
 * it; 0: it has no local header. */
static uint64_t take_member(struct unpack *unpack, const struct unpack_object *object,
                            const struct zip_member *member, bool is_open)
{
    const uint8_t *local = object->bytes + member->local_at;

    if (!lies_in(object, member->local_at, LOCAL_LEN) || memcmp(local, "PK\3\4", 4) != 0)
        return 0;
    const uint64_t at = member->local_at + LOCAL_LEN + little16(local + 26) + little16(local + 28);
    if (!lies_in(object, at, 0))
        return 0;
    uint64_t len = is_open ? object->len - at : member->packed_len;
    if (!lies_in(object, at, len)) {
        unpack_incomplete(unpack, object, "cut");
        len = object->len - at;
    }
    if ((member->flags & (ENCRYPTED | MASKED)) != 0) {
        unpack_alert(unpack, UNPACK_ENCRYPTED_ARCHIVE, "Heuristics.Encrypted.Zip");
        if ((member->flags & MASKED) != 0 ||
            !unlock_member(unpack, object, member, object->bytes + at, (size_t)len))
            unpack_incomplete(unpack, object, "encrypted");
        return at + len;
    }
    if (len == 0 && member->len > 0)
        unpack_incomplete(unpack, object, "a member has no bytes");
    return at + (len > 0 ? give_data(unpack, object, member, object->bytes + at, (size_t)len) : 0);
}

/* ---- the central directory ------------------------------------------------------------------- */

/* Lengths and places above 4 GiB. */
static void read_extra(struct zip_member *member, const uint8_t *extra, size_t len)
{
    enum { ZIP64 = 1, WIDE = 8 };

    while (len >= 4 && little16(extra) != ZIP64) {
        const size_t field = 4 + (size_t)little16(extra + 2);

        if (field > len)
            return;
        extra += field;
        len -= field;
    }
    if (len < 4)
        return;
    uint64_t *const wide[] = {&member->len, &member->packed_len, &member->local_at};
    len = little16(extra + 2) < len - 4 ? little16(extra + 2) : len - 4;
    extra += 4;
    for (size_t i = 0; i < 3; i++)
        if (*wide[i] == UINT32_MAX && len >= WIDE) {
            *wide[i] = little64(extra);
            extra += WIDE;
            len -= WIDE;
        }
}

/* Reads a header of the directory. Returns the place behind it, or 0. */
static uint64_t read_central(const struct unpack_object *object, uint64_t at,
                             struct zip_member *member)
{
    const uint8_t *head = object->bytes + at;

    if (!lies_in(object, at, CENTRAL_LEN) || memcmp(head, "PK\1\2", 4) != 0)
        return 0;
    const uint64_t name_len = little16(head + 28), extra_len = little16(head + 30);
    const uint64_t len = CENTRAL_LEN + name_len + extra_len + little16(head + 32);
    if (!lies_in(object, at, CENTRAL_LEN + name_len + extra_len))
        return 0;
    *member = (struct zip_member){.flags = little16(head + 8),
                                  .method = little16(head + 10),
                                  .time = little16(head + 12),
                                  .sum = little32(head + 16),
                                  .packed_len = little32(head + 20),
                                  .len = little32(head + 24),
                                  .local_at = little32(head + 42),
                                  .name = head + CENTRAL_LEN,
                                  .name_len = (size_t)name_len};
    read_extra(member, head + CENTRAL_LEN + name_len, (size_t)extra_len);
    return at + len;
}

/* The last record of the end; UINT64_MAX: there is none. */
static uint64_t find_end(const struct unpack_object *object)
{
    if (object->len < END_LEN)
        return UINT64_MAX;
    for (uint64_t at = object->len - END_LEN;; at--) {
        if (memcmp(object->bytes + at, "PK\5\6", 4) == 0)
            return at;
        if (at == 0 || object->len - at > END_LEN + UINT16_MAX)
            return UINT64_MAX;
    }
}

/* The place of the directory, and how far bytes before the archive shift all places. */
static uint64_t find_directory(const struct unpack_object *object, uint64_t *shift)
{
    const uint64_t end = find_end(object);

    if (end == UINT64_MAX)
        return UINT64_MAX;
    const uint8_t *record = object->bytes + end;
    uint64_t len = little32(record + 12), at = little32(record + 16);
    *shift = 0;
    if (at == UINT32_MAX && end >= 20 && memcmp(record - 20, "PK\6\7", 4) == 0) {
        const uint64_t wide = little64(record - 20 + 8);

        if (lies_in(object, wide, 56) && memcmp(object->bytes + wide, "PK\6\6", 4) == 0)
            at = little64(object->bytes + wide + 48);
        return at;
    }
    if (len <= end && at < end - len &&
        (!lies_in(object, at, 4) || memcmp(object->bytes + at, "PK\1\2", 4) != 0)) {
        *shift = end - len - at;
        at += *shift;
    }
    return at;
}

static bool read_local(const struct unpack_object *object, uint64_t at, struct zip_member *member)
{
    const uint8_t *head = object->bytes + at;

    if (!lies_in(object, at, LOCAL_LEN) || memcmp(head, "PK\3\4", 4) != 0 ||
        !lies_in(object, at, LOCAL_LEN + (uint64_t)little16(head + 26)))
        return false;
    *member = (struct zip_member){.flags = little16(head + 6),
                                  .method = little16(head + 8),
                                  .time = little16(head + 10),
                                  .sum = little32(head + 14),
                                  .packed_len = little32(head + 18),
                                  .len = little32(head + 22),
                                  .local_at = at,
                                  .name = head + LOCAL_LEN,
                                  .name_len = little16(head + 26)};
    return true;
}

/* Whether readers of local headers would see another member. */
static bool is_other(const struct zip_member *local, const struct zip_member *member)
{
    const bool has_len = (local->flags & DESCRIBED) == 0 && local->packed_len != UINT32_MAX;

    return local->method != member->method || ((local->flags ^ member->flags) & ENCRYPTED) != 0 ||
           (has_len && local->packed_len != member->packed_len);
}

/* Takes a member of the directory, and what its local header makes of it. Returns the place behind
 * it. */
static uint64_t take_both(struct unpack *unpack, const struct unpack_object *object,
                          const struct zip_member *member)
{
    struct zip_member local;
    uint64_t end = take_member(unpack, object, member, false);

    if (end == 0)
        unpack_incomplete(unpack, object, "a member is not where the directory says");
    if (end != 0 && !unpack_is_over(unpack) && read_local(object, member->local_at, &local) &&
        is_other(&local, member)) {
        const uint64_t other = take_member(unpack, object, &local,
                                           (local.flags & DESCRIBED) != 0 && local.packed_len == 0);
        end = other > end ? other : end;
    }
    return end;
}

/* Bytes that are known. */
struct extent {
    uint64_t from, to;
};

static int compare_extents(const void *a, const void *b)
{
    const struct extent *one = a, *other = b;

    return one->from < other->from ? -1 : one->from > other->from;
}

/* Searches what lies between members: some readers find members there. */
static void search_gaps(struct unpack *unpack, const struct unpack_object *object,
                        struct unpack_buffer *buffer)
{
    struct extent *extents = (struct extent *)(void *)buffer->bytes;
    const size_t n = buffer->len / sizeof *extents;
    uint64_t at = 0;

    if (buffer->cut)
        unpack_incomplete(unpack, object, "too many members");
    qsort(extents, n, sizeof *extents, compare_extents);
    for (size_t i = 0; i < n && !unpack_is_over(unpack); i++) {
        if (extents[i].from > at + LOCAL_LEN)
            unpack_embedded(unpack, object, (size_t)at, (size_t)extents[i].from);
        at = extents[i].to > at ? extents[i].to : at;
    }
}

/* The end has a comment. The bytes behind it belong to no archive. */
static void take_end(struct unpack *unpack, const struct unpack_object *object, uint64_t end)
{
    const uint64_t comment = end + END_LEN;
    const uint64_t behind = comment + little16(object->bytes + end + 20);

    if (behind <= object->len) {
        unpack_embedded(unpack, object, (size_t)comment, (size_t)behind);
        unpack_rest(unpack, object, (size_t)behind);
    }
}

/* Returns the number of members. */
static uint64_t take_directory(struct unpack *unpack, const struct unpack_object *object)
{
    uint64_t shift = 0, at = find_directory(object, &shift), n = 0;
    const uint64_t begin = at;
    struct zip_member member;
    struct unpack_buffer extents = {.max = SIZE_MAX / 4};
    /* A file that begins with other bytes is no zip for ClamAV, which opens each member alone. */
    const bool numbers = object->len >= 4 && memcmp(object->bytes, "PK\3\4", 4) == 0;

    while (at != UINT64_MAX && !unpack_is_over(unpack) &&
           (at = read_central(object, at, &member)) != 0) {
        n++;
        if (!report_member(unpack, object, &member, numbers ? n : 0))
            break;
        member.local_at += shift;
        const struct extent extent = {member.local_at, take_both(unpack, object, &member)};
        if (extent.to != 0)
            (void)unpack_buffer_add(&extents, &extent, sizeof extent);
    }
    if (n > 0 && !unpack_is_over(unpack)) {
        const uint64_t end = find_end(object);
        const struct extent directory = {begin, end};

        (void)unpack_buffer_add(&extents, &directory, sizeof directory);
        search_gaps(unpack, object, &extents);
        take_end(unpack, object, end);
    }
    unpack_buffer_free(&extents);
    return n;
}

/* ---- local headers --------------------------------------------------------------------------- */

/* The next local header from `at` on. */
static uint64_t next_local(const struct unpack_object *object, uint64_t at)
{
    const uint8_t *found =
        at < object->len ? kind_next_local(object->bytes + at, object->bytes + object->len) : NULL;

    return found != NULL ? (uint64_t)(found - object->bytes) : UINT64_MAX;
}

/* Programs have the mark, too, as a text. */
static bool is_likely(const struct unpack_object *object, const struct zip_member *member)
{
    enum { VERSION_AT = 4, VERSION_MAX = 63, NAME_MAX_LEN = 4096 };

    for (size_t i = 0; i < member->name_len; i++)
        if (member->name[i] < ' ')
            return false;
    return member->name_len > 0 && member->name_len <= NAME_MAX_LEN &&
           object->bytes[member->local_at + VERSION_AT] <= VERSION_MAX && member->method <= 99;
}

uint64_t unpack_zip_members(struct unpack *unpack, const struct unpack_object *object,
                            bool embedded)
{
    struct zip_member member;
    uint64_t at = 0, n = 0;

    while ((at = next_local(object, at)) != UINT64_MAX && !unpack_is_over(unpack)) {
        uint64_t behind = 0;

        if (read_local(object, at, &member) && (!embedded || is_likely(object, &member))) {
            n++;
            if (!report_member(unpack, object, &member, 0)) /* ClamAV opens each of them alone */
                break;
            behind = take_member(unpack, object, &member,
                                 (member.flags & DESCRIBED) != 0 && member.packed_len == 0);
        }
        at = behind > at ? behind : at + 4;
    }
    return n;
}

void unpack_zip(struct unpack *unpack, const struct unpack_object *object)
{
    if (take_directory(unpack, object) > 0)
        return;
    const uint64_t n = unpack_zip_members(unpack, object, false);
    if (n > 0 || find_end(object) == UINT64_MAX)
        unpack_incomplete(unpack, object, "no directory");
}
