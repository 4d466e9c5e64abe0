/* SPDX-License-Identifier: MIT */
/* The members of 7z archives. Those whose coders need more than liblzma, deflate and libbz2
 * are libarchive's. */
#include "unpack/sevenz.h"

#include <lzma.h>
#include <string.h>

#include "base/utf8.h"
#include "unpack/little.h"

enum { STEP = 1 << 17, PACKED_HEADERS_MAX = 4 /* one in another */ };

struct opening {
    struct unpack *unpack;
    const struct unpack_object *object;
    const struct sevenz *archive;
    uint64_t folder, stream, in_folder; /* that come next */
    struct sevenz_source *source;       /* of the folder; NULL: closed, or damaged */
    uint64_t skips;                     /* bytes that may still be unpacked and left out */
};

/* ---- the header ------------------------------------------------------------------------------ */

static struct sevenz_source *open_folder(const struct unpack_object *object,
                                         const struct sevenz_folder *folder)
{
    if (folder->packed_at > object->len)
        return NULL;
    const uint64_t left = object->len - folder->packed_at;
    return sevenz_source_open(folder, object->bytes + folder->packed_at,
                              (size_t)(folder->packed_len < left ? folder->packed_len : left));
}

static size_t step_of(uint64_t len)
{
    return len < STEP ? (size_t)len : STEP;
}

/* Reads up to `len` bytes, as far as they fit. Of what does not, up to *skips are read and left
 * out. Returns how many were read. */
static uint64_t read_bytes(struct sevenz_source *source, uint64_t len, struct unpack_buffer *buffer,
                           uint64_t *skips)
{
    static uint8_t left_out[STEP];
    uint64_t have = 0;

    while (have < len) {
        size_t room = step_of(len - have);
        uint8_t *to = buffer->cut ? NULL : unpack_buffer_room(buffer, &room);

        if (to == NULL) {
            room = step_of(len - have < *skips ? len - have : *skips);
            *skips -= room;
        }
        if (room == 0)
            break;
        const size_t n = sevenz_source_read(source, to != NULL ? to : left_out, room);
        buffer->len += to != NULL ? n : 0;
        have += n;
        if (n < room)
            break;
    }
    return have;
}

/* Unpacks the one folder of `archive`, which has a header. */
static bool unpack_header(const struct unpack_object *object, const struct sevenz *archive,
                          struct unpack_buffer *buffer)
{
    if (archive->n_folders != 1 || !sevenz_is_supported(&archive->folders[0]))
        return false;
    struct sevenz_source *source = open_folder(object, &archive->folders[0]);
    if (source == NULL)
        return false;
    const uint64_t len = archive->folders[0].coders[archive->folders[0].n_coders - 1].len;
    const uint64_t have = read_bytes(source, len, buffer, &(uint64_t){0});
    sevenz_source_close(source);
    return have == len && !buffer->cut;
}

bool sevenz_find_header(const struct unpack_object *object, size_t *at, size_t *len)
{
    enum { NEXT_AT = 12, NEXT_LEN = 20 };

    if (object->len < SEVENZ_HEADER_LEN)
        return false;
    const uint64_t left = object->len - SEVENZ_HEADER_LEN;
    const uint64_t next_at = little64(object->bytes + NEXT_AT);
    const uint64_t next_len = little64(object->bytes + NEXT_LEN);
    if (next_at > left || next_len > left - next_at)
        return false;
    *at = SEVENZ_HEADER_LEN + (size_t)next_at;
    *len = (size_t)next_len;
    return true;
}

/* Reads the header, which may be packed. Its bytes are the buffer's, or the object's. */
static bool read_header(struct unpack *unpack, const struct unpack_object *object,
                        struct sevenz *archive, struct unpack_buffer *buffer)
{
    struct unpack_buffer other = {0};
    size_t at, len;
    bool good = sevenz_find_header(object, &at, &len) &&
                sevenz_header_read(archive, object->bytes + at, len);

    for (int i = 0; good && archive->is_packed; i++) {
        unpack_buffer_init(unpack, &other);
        good = i < PACKED_HEADERS_MAX && unpack_header(object, archive, &other);
        sevenz_header_free(archive);
        unpack_buffer_free(buffer);
        *buffer = other;
        memset(&other, 0, sizeof other);
        good = good && sevenz_header_read(archive, buffer->bytes, buffer->len);
    }
    for (uint64_t i = 0; good && i < archive->n_folders; i++)
        good = sevenz_is_supported(&archive->folders[i]);
    return good;
}

/* ---- members --------------------------------------------------------------------------------- */

/* The next name as UTF-8. */
static void take_name(const uint8_t **at, const uint8_t *end, char name[UNPACK_TEXT_LEN])
{
    size_t n = 0;

    while (*at != NULL && end - *at >= 2) {
        uint32_t c = little16(*at);

        *at += 2;
        if (c == 0)
            break;
        if (c >> 10 == 0x36 && end - *at >= 2 && little16(*at) >> 10 == 0x37) {
            c = 0x10000 + ((c & 0x3FF) << 10 | (little16(*at) & 0x3FF));
            *at += 2;
        }
        if (n + UTF8_MAX < UNPACK_TEXT_LEN)
            n += utf8_put(c, name + n);
    }
    name[n] = '\0';
}

/* Opens the folder of the next stream, where that is its first one. */
static void go_to_stream(struct opening *opening)
{
    const struct sevenz *archive = opening->archive;

    while (opening->folder < archive->n_folders &&
           opening->in_folder == archive->folders[opening->folder].n_streams) {
        opening->folder++;
        opening->in_folder = 0;
    }
    if (opening->in_folder > 0 || opening->folder == archive->n_folders)
        return;
    sevenz_source_close(opening->source);
    opening->source = open_folder(opening->object, &archive->folders[opening->folder]);
}

static bool give_stream(struct opening *opening)
{
    struct unpack_buffer *buffer = unpack_buffer(opening->unpack, opening->object);
    const struct sevenz_stream *stream = &opening->archive->streams[opening->stream++];

    go_to_stream(opening);
    opening->in_folder++;
    const struct sevenz_folder *folder = &opening->archive->folders[opening->folder];
    const bool goes_on = opening->in_folder < folder->n_streams && !buffer->by_scan;
    const uint64_t have = opening->source != NULL
                              ? read_bytes(opening->source, stream->len, buffer,
                                           goes_on ? &opening->skips : &(uint64_t){0})
                              : 0;
    if (buffer->cut)
        unpack_cut(opening->unpack, buffer);
    if (have < stream->len) { /* nothing behind it can be read */
        sevenz_source_close(opening->source);
        opening->source = NULL;
    }
    if (!buffer->cut &&
        (have < stream->len ||
         (stream->has_crc && lzma_crc32(buffer->bytes, buffer->len, 0) != stream->crc)))
        unpack_incomplete(opening->unpack, opening->object, "a member is damaged");
    return unpack_child(opening->unpack, opening->object, buffer->bytes, buffer->len, KINDS);
}

static void give_members(struct opening *opening)
{
    const struct sevenz *archive = opening->archive;
    const uint8_t *name_at = archive->names;
    char name[UNPACK_TEXT_LEN];

    /* Streams behind those of the members have no name. */
    for (uint64_t i = 0; (i < archive->n_members || opening->stream < archive->n_streams) &&
                         !unpack_is_over(opening->unpack);
         i++) {
        const bool is_empty =
            i < archive->n_members && archive->empty != NULL && sevenz_bit(archive->empty, i);

        take_name(&name_at, archive->names_end, name);
        if (!is_empty && opening->stream == archive->n_streams) {
            unpack_incomplete(opening->unpack, opening->object, "a member has no bytes");
            break;
        }
        const uint64_t len = is_empty ? 0 : archive->streams[opening->stream].len;
        if (!unpack_report_member(opening->unpack, opening->object,
                                  &(struct unpack_member){name, 0, len, i, false}) ||
            (!is_empty && !give_stream(opening)))
            break;
    }
    sevenz_source_close(opening->source);
}

bool sevenz_give(struct unpack *unpack, const struct unpack_object *object)
{
    struct sevenz archive = {0};
    struct unpack_buffer header = {0};
    const uint64_t most = unpack_wishes(unpack)->limits.scan_len_max;
    const bool good = read_header(unpack, object, &archive, &header);

    if (good && archive.n_members == 0 && archive.n_streams == 0 && object->len > SEVENZ_HEADER_LEN)
        unpack_incomplete(unpack, object, "its header names nothing");
    if (good)
        give_members(&(struct opening){.unpack = unpack,
                                       .object = object,
                                       .archive = &archive,
                                       .skips = most > 0 ? most : UINT64_MAX});
    sevenz_header_free(&archive);
    unpack_buffer_free(&header);
    return good;
}
