/* SPDX-License-Identifier: MIT */
/* Office's documents of the old form: streams, macros, and what is embedded in them. */
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "unpack/little.h"
#include "unpack/office_crypt.h"
#include "unpack/ole2.h"
#include "unpack/streams.h"
#include "unpack/vba.h"

/* A file that was dragged into a document: its length, two texts, and more lengths before it. */
void office_give_native(struct unpack *unpack, const struct unpack_object *object,
                        const uint8_t *at, size_t len)
{
    enum { TEXTS = 3 };
    const uint8_t *const end = at + len;

    if (len < 6)
        return;
    at += 6; /* the length, a type */
    for (int i = 0; i < TEXTS; i++) {
        const uint8_t *zero;

        if (i == 2) { /* the third text has marks before it */
            if (end - at < 8)
                return;
            at += 8;
        }
        zero = memchr(at, '\0', (size_t)(end - at));
        if (zero == NULL)
            return;
        at = zero + 1;
    }
    if (end - at < 4)
        return;
    const uint32_t n = little32(at);
    at += 4;
    (void)unpack_child(unpack, object, at, n < (size_t)(end - at) ? n : (size_t)(end - at), KINDS);
}

/* Objects of a presentation, which are compound files packed by zlib. */
static void give_slides(struct unpack *unpack, const struct unpack_object *object,
                        const uint8_t *in, size_t len)
{
    enum { HEAD = 8, CONTAINER = 0xF, OBJECT = 0x1011 };
    struct unpack_buffer buffer = {0};
    size_t at = 0, used;

    while (len - at >= HEAD && !unpack_is_over(unpack)) {
        const unsigned version = little16(in + at), type = little16(in + at + 2);
        const uint32_t n = little32(in + at + 4);

        at += HEAD;
        if ((version & 0xF) == CONTAINER)
            continue;
        if (n > len - at)
            break;
        if (type == OBJECT && n > 4) {
            const bool packed = version >> 4 == 1;

            unpack_buffer_init(unpack, &buffer);
            if (packed && !stream_inflate(in + at + 4, n - 4, MAX_WBITS, &buffer, &used))
                unpack_incomplete(unpack, object, "an embedded object is damaged");
            (void)unpack_child(unpack, object, packed ? buffer.bytes : in + at,
                               packed ? buffer.len : n, KINDS);
        }
        at += n;
    }
    unpack_buffer_free(&buffer);
}

static bool is_package(const struct ole2_entry *entry)
{
    return strcmp(entry->name, "EncryptedPackage") == 0;
}

/* Gives the document that it holds. False: a password is needed. */
static bool give_package(struct unpack *unpack, const struct unpack_object *object,
                         const struct ole2 *ole2, const struct unpack_buffer *stream)
{
    struct unpack_buffer document = {0};

    unpack_buffer_init(unpack, &document);
    const bool opened = office_decrypt(ole2, stream->bytes, stream->len, &document);
    if (opened)
        (void)unpack_child(unpack, object, document.bytes, document.len, KINDS);
    unpack_buffer_free(&document);
    return opened;
}

/* ---- Hangul Word Processor 5 ------------------------------------------------------------------
 */

enum { HWP = 1 << 16, HWP_PACKED = 1, HWP_LOCKED = 6 /* by a password, or for distribution */ };

/* The flags in its stream of that name. 0: it is another document. */
static uint32_t hwp_flags(struct unpack *unpack, const struct ole2 *ole2)
{
    enum { FLAGS_AT = 36 };
    static const char mark[] = "HWP Document File";
    struct unpack_buffer buffer = {0};
    struct ole2_entry entry;
    uint32_t flags = 0;

    for (size_t i = 0; flags == 0 && ole2_entry(ole2, i, &entry); i++) {
        if (entry.type != 2 || strcmp(entry.name, "FileHeader") != 0)
            continue;
        unpack_buffer_init(unpack, &buffer);
        (void)ole2_read(ole2, &entry, &buffer);
        if (buffer.len > FLAGS_AT && memcmp(buffer.bytes, mark, sizeof mark - 1) == 0)
            flags = HWP | buffer.bytes[FLAGS_AT];
    }
    unpack_buffer_free(&buffer);
    return flags;
}

/* Its texts and files are packed. Others, which are not, are no streams of zlib. */
static void give_hwp(struct unpack *unpack, const struct unpack_object *object,
                     const struct ole2_entry *entry, const uint8_t *bytes, size_t len)
{
    struct unpack_buffer plain = {0};
    size_t used;

    unpack_buffer_init(unpack, &plain);
    if (stream_inflate(bytes, len, -MAX_WBITS, &plain, &used)) {
        if (plain.cut)
            unpack_cut(unpack, &plain);
        (void)unpack_child(unpack, object, plain.bytes, plain.len, KINDS);
    } else if (strncmp(entry->name, "Section", 7) == 0 || strncmp(entry->name, "BIN", 3) == 0) {
        unpack_incomplete(unpack, object, "a stream is damaged");
    }
    unpack_buffer_free(&plain);
}

/* ---- any document -----------------------------------------------------------------------------
 */

static bool is_encrypted(const struct ole2_entry *entry, const struct unpack_buffer *stream)
{
    return strcmp(entry->name, "WordDocument") == 0 && stream->len > 12 &&
           (stream->bytes[11] & 1) != 0;
}

static void give_stream(struct unpack *unpack, const struct unpack_object *object,
                        const struct ole2 *ole2, const struct ole2_entry *entry, uint32_t hwp)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);

    if (!ole2_read(ole2, entry, buffer))
        unpack_incomplete(unpack, object, "a stream is cut");
    if (buffer->cut)
        unpack_cut(unpack, buffer);
    if (is_package(entry) ? !give_package(unpack, object, ole2, buffer)
                          : is_encrypted(entry, buffer)) {
        unpack_incomplete(unpack, object, "encrypted");
        unpack_alert(unpack, UNPACK_ENCRYPTED_DOC, "Heuristics.Encrypted.OLE2");
    }
    if (!unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS))
        return;
    if (strcasecmp(entry->name, "?Ole10Native") == 0 ||
        strcasecmp(entry->name + 1, "Ole10Native") == 0)
        office_give_native(unpack, object, buffer->bytes, buffer->len);
    else if (strcasecmp(entry->name, "PowerPoint Document") == 0)
        give_slides(unpack, object, buffer->bytes, buffer->len);
    else if ((hwp & HWP_PACKED) != 0)
        give_hwp(unpack, object, entry, buffer->bytes, buffer->len);
}

void unpack_ole2(struct unpack *unpack, const struct unpack_object *object)
{
    struct ole2 ole2 = {0};
    struct ole2_entry entry;

    if (!ole2_open(&ole2, unpack, object))
        unpack_incomplete(unpack, object, "its tables are damaged");
    const uint32_t hwp = hwp_flags(unpack, &ole2);
    if ((hwp & HWP_LOCKED) != 0)
        unpack_incomplete(unpack, object, "encrypted");
    for (size_t i = 0; ole2_entry(&ole2, i, &entry) && !unpack_is_over(unpack); i++)
        if (entry.type == 2 && entry.len > 0)
            give_stream(unpack, object, &ole2, &entry, hwp);
    vba_give(unpack, object, &ole2);
    ole2_close(&ole2);
}
