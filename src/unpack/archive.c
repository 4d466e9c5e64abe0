/* SPDX-License-Identifier: MIT */
/* Archives and compressed files by libarchive, which is given the one format that they have. */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "unpack/sevenz.h"
#include "unpack/streams.h"
#include "unpack/unpack.h"

static bool support_format(struct archive *archive, enum kind kind)
{
    switch (kind) {
    case KIND_RPM:
        return archive_read_support_filter_all(archive) <= ARCHIVE_OK &&
               archive_read_support_format_cpio(archive) == ARCHIVE_OK;
    case KIND_CPIO_OLD:
    case KIND_CPIO_ODC:
    case KIND_CPIO_NEWC:
    case KIND_CPIO_CRC:
        return archive_read_support_format_cpio(archive) == ARCHIVE_OK;
    case KIND_AR:
        return archive_read_support_format_ar(archive) == ARCHIVE_OK;
    case KIND_ISO:
        return archive_read_support_format_iso9660(archive) == ARCHIVE_OK;
    case KIND_RAR:
        return archive_read_support_format_rar(archive) == ARCHIVE_OK &&
               archive_read_support_format_rar5(archive) == ARCHIVE_OK;
    case KIND_SEVENZIP:
        return archive_read_support_format_7zip(archive) == ARCHIVE_OK;
    case KIND_XAR:
        return archive_read_support_format_xar(archive) == ARCHIVE_OK;
    default:
        return archive_read_support_format_warc(archive) == ARCHIVE_OK;
    }
}

/* Programs outside are never asked: such a filter returns ARCHIVE_WARN. */
static bool support_filter(struct archive *archive, enum kind kind)
{
    int status;

    switch (kind) {
    case KIND_COMPRESS:
        status = archive_read_support_filter_compress(archive);
        break;
    case KIND_LZIP:
        status = archive_read_support_filter_lzip(archive);
        break;
    case KIND_LZMA:
        status = archive_read_support_filter_lzma(archive);
        break;
    case KIND_ZSTD:
        status = archive_read_support_filter_zstd(archive);
        break;
    default:
        status = archive_read_support_filter_lz4(archive);
        break;
    }
    return status == ARCHIVE_OK && archive_read_support_format_raw(archive) == ARCHIVE_OK;
}

/* Reads a member's bytes. Returns libarchive's status: below ARCHIVE_WARN they are not whole. */
static int read_data(struct archive *archive, struct unpack_buffer *buffer)
{
    for (;;) {
        const void *bytes;
        size_t len;
        la_int64_t at; /* some formats count it from the first member on */
        const int status = archive_read_data_block(archive, &bytes, &len, &at);

        if (status == ARCHIVE_EOF || status < ARCHIVE_WARN)
            return status == ARCHIVE_EOF ? ARCHIVE_OK : status;
        if (!unpack_buffer_add(buffer, bytes, len))
            return ARCHIVE_OK; /* it is cut */
    }
}

/* Whether a member has fewer bytes than it says: those of an image may lie behind its end. */
static bool is_short(struct archive_entry *entry, const struct unpack_buffer *buffer)
{
    return archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == NULL &&
           archive_entry_size_is_set(entry) && !buffer->cut &&
           buffer->len < (uint64_t)archive_entry_size(entry);
}

/* ClamAV has "_" for the bytes of a cpio's names that are not ASCII. */
static const char *take_name(const char *from, bool is_cpio, char name[UNPACK_TEXT_LEN])
{
    size_t n = 0;

    for (; from != NULL && from[n] != '\0' && n + 1 < UNPACK_TEXT_LEN; n++)
        name[n] = is_cpio && (from[n] & 0x80) != 0 ? '_' : from[n];
    name[n] = '\0';
    return name;
}

/* Gives a member. False: nothing more can be read, or is wanted. */
static bool give_member(struct unpack *unpack, const struct unpack_object *object,
                        struct archive *archive, struct archive_entry *entry, uint64_t position)
{
    const bool encrypted = archive_entry_is_encrypted(entry) > 0;
    const bool is_cpio = object->kind >= KIND_CPIO_OLD && object->kind <= KIND_CPIO_CRC;
    const uint64_t len = archive_entry_size_is_set(entry) ? (uint64_t)archive_entry_size(entry) : 0;
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    char name[UNPACK_TEXT_LEN];
    const struct unpack_member member = {
        .name = take_name(archive_entry_pathname(entry), is_cpio, name),
        .packed_len = is_cpio ? len : 0, /* of others libarchive does not say it */
        .len = len,
        .position = position + is_cpio, /* ClamAV counts from 1 */
        .encrypted = encrypted};

    if (!unpack_report_member(unpack, object, &member))
        return false;
    if (encrypted) {
        unpack_incomplete(unpack, object, "encrypted");
        if (object->kind == KIND_SEVENZIP)
            unpack_alert(unpack, UNPACK_ENCRYPTED_ARCHIVE, "Heuristics.Encrypted.7Zip");
        else if (object->kind == KIND_RAR)
            unpack_alert(unpack, UNPACK_ENCRYPTED_ARCHIVE, "Heuristics.Encrypted.RAR");
        return !unpack_is_over(unpack);
    }
    const int status = read_data(archive, buffer);
    if (buffer->cut)
        unpack_cut(unpack, buffer);
    if (status < ARCHIVE_WARN || is_short(entry, buffer))
        unpack_incomplete(unpack, object, "a member is damaged or cannot be unpacked");
    return unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS) &&
           status != ARCHIVE_FATAL;
}

void unpack_archive(struct unpack *unpack, const struct unpack_object *object)
{
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    uint64_t position = 0;
    int status = ARCHIVE_FATAL;
    const bool opened = archive != NULL && support_format(archive, object->kind) &&
                        archive_read_open_memory(archive, object->bytes, object->len) == ARCHIVE_OK;

    for (bool more = opened; more;) {
        status = archive_read_next_header(archive, &entry);
        if (status == ARCHIVE_WARN && archive_errno(archive) < 0) /* else it is about a name */
            unpack_incomplete(unpack, object, "a member cannot be read");
        more = status >= ARCHIVE_WARN && status != ARCHIVE_EOF &&
               give_member(unpack, object, archive, entry, position++);
    }
    /* Where nothing was opened, the library must not be asked: it crashes. */
    if (opened && position == 0 && archive_read_has_encrypted_entries(archive) > 0) {
        if (object->kind == KIND_SEVENZIP)
            unpack_alert(unpack, UNPACK_ENCRYPTED_ARCHIVE, "Heuristics.Encrypted.7Zip");
        unpack_incomplete(unpack, object, "encrypted");
    } else if (status < ARCHIVE_WARN) {
        unpack_incomplete(unpack, object, "cut, damaged or of an unknown form");
    }
    (void)archive_read_free(archive);
}

/* The table of contents is an object of its own, as ClamAV has it. */
void unpack_xar(struct unpack *unpack, const struct unpack_object *object)
{
    enum { HEADER_LEN_AT = 4, HEADER_LEN = 28 };
    const uint8_t *bytes = object->bytes;
    const size_t at = object->len > HEADER_LEN
                          ? (size_t)bytes[HEADER_LEN_AT] << 8 | bytes[HEADER_LEN_AT + 1]
                          : object->len;

    if (at < object->len)
        unpack_deflated(unpack, object, bytes + at, object->len - at, INFLATE_ZLIB,
                        "its table of contents is cut or damaged");
    unpack_archive(unpack, object);
}

static bool decompress(const struct unpack_object *object, struct unpack_buffer *buffer)
{
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    bool whole = false;

    if (archive != NULL && support_filter(archive, object->kind) &&
        archive_read_open_memory(archive, object->bytes, object->len) == ARCHIVE_OK &&
        archive_read_next_header(archive, &entry) >= ARCHIVE_WARN &&
        archive_filter_count(archive) > 1) /* else the bytes would be given as they are */
        whole = read_data(archive, buffer) >= ARCHIVE_WARN;
    (void)archive_read_free(archive);
    return whole;
}

/* Streams one behind another are one object, as bunzip2 and unxz have it. Returns the place behind
 * the last one; *first_len: the bytes of the first; *whole: none is cut or damaged. */
static size_t decompress_streams(const struct unpack_object *object, struct unpack_buffer *buffer,
                                 size_t *first_len, bool *whole)
{
    const bool is_xz = object->kind == KIND_XZ;
    const char *mark = is_xz ? "\xFD\x37zXZ" : "BZh";
    size_t at = 0;

    do {
        const uint8_t *in = object->bytes + at;
        size_t used = 0;

        *whole = is_xz ? stream_xz(in, object->len - at, buffer, &used)
                       : stream_bzip2(in, object->len - at, buffer, &used);
        if (at == 0)
            *first_len = buffer->len;
        at += used;
        while (is_xz && *whole && at < object->len && object->bytes[at] == '\0')
            at++; /* padding */
    } while (*whole && !buffer->cut && object->len - at > strlen(mark) &&
             memcmp(object->bytes + at, mark, strlen(mark)) == 0);
    return at;
}

void unpack_compressed(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    const bool has_streams = object->kind == KIND_BZIP2 || object->kind == KIND_XZ;
    bool whole;
    size_t end = object->len, first_len = 0;

    if (has_streams)
        end = decompress_streams(object, buffer, &first_len, &whole);
    else
        whole = decompress(object, buffer);
    if (buffer->cut) { /* clamscan scans none of it */
        unpack_cut(unpack, buffer);
        return;
    }
    if (!whole)
        unpack_incomplete(unpack, object, "cut or damaged");
    if (object->kind == KIND_BZIP2 && first_len < buffer->len) /* ClamAV has the first alone */
        (void)unpack_child(unpack, object, buffer->bytes, first_len, KIND_BINARY);
    (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
    if (whole)
        unpack_rest(unpack, object, end);
}

/* The header says where the archive ends. */
void unpack_7z(struct unpack *unpack, const struct unpack_object *object)
{
    size_t at, len;

    if (!sevenz_give(unpack, object))
        unpack_archive(unpack, object);
    if (sevenz_find_header(object, &at, &len))
        unpack_rest(unpack, object, at + len);
}
