/* SPDX-License-Identifier: MIT */
/* Office's documents of the old form: streams, macros, and objects embedded in them. */
#include <string.h>
#include <strings.h>

#include "unpack/biff.h"
#include "unpack/hwp.h"
#include "unpack/little.h"
#include "unpack/office_crypt.h"
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
    size_t at = 0;

    while (len - at >= HEAD && !unpack_is_over(unpack)) {
        const unsigned version = little16(in + at), type = little16(in + at + 2);
        const uint32_t n = little32(in + at + 4);

        at += HEAD;
        if ((version & 0xF) == CONTAINER)
            continue;
        if (n > len - at)
            break;
        if (type == OBJECT && n > 4) {
            if (version >> 4 == 1)
                unpack_deflated(unpack, object, in + at + 4, n - 4, INFLATE_ZLIB,
                                "an embedded object is damaged");
            else
                (void)unpack_child(unpack, object, in + at, n, KINDS);
        }
        at += n;
    }
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

static bool is_workbook(const struct ole2_entry *entry)
{
    return strcasecmp(entry->name, "Workbook") == 0 || strcasecmp(entry->name, "Book") == 0;
}

static void give_records(struct unpack *unpack, const struct unpack_object *object,
                         const struct unpack_buffer *stream)
{
    struct unpack_buffer list = {0};

    if (!biff_is_listed(stream->bytes, stream->len))
        return;
    unpack_buffer_init(unpack, &list);
    biff_list(stream->bytes, stream->len, &list);
    if (list.cut)
        unpack_cut(unpack, &list);
    (void)unpack_child(unpack, object, list.bytes, list.len, KIND_BINARY);
    unpack_buffer_free(&list);
}

/* ---- any document ---------------------------------------------------------------------------- */

static bool is_encrypted(const struct ole2_entry *entry, const struct unpack_buffer *stream)
{
    return strcmp(entry->name, "WordDocument") == 0 && stream->len > 12 &&
           (stream->bytes[11] & 1) != 0;
}

static void report_encrypted(struct unpack *unpack, const struct unpack_object *object)
{
    unpack_incomplete(unpack, object, "encrypted");
    unpack_alert(unpack, UNPACK_ENCRYPTED_DOC, "Heuristics.Encrypted.OLE2");
}

static void give_stream(struct unpack *unpack, const struct unpack_object *object,
                        const struct ole2 *ole2, const struct ole2_entry *entry, unsigned hwp)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);

    if (!ole2_read(ole2, entry, buffer))
        unpack_incomplete(unpack, object, "a stream is cut");
    if (buffer->cut)
        unpack_cut(unpack, buffer);
    if (is_package(entry) ? !give_package(unpack, object, ole2, buffer)
                          : is_encrypted(entry, buffer))
        report_encrypted(unpack, object);
    if (!unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS))
        return;
    if (strcasecmp(entry->name, "?Ole10Native") == 0 ||
        strcasecmp(entry->name + 1, "Ole10Native") == 0)
        office_give_native(unpack, object, buffer->bytes, buffer->len);
    else if (strcasecmp(entry->name, "PowerPoint Document") == 0)
        give_slides(unpack, object, buffer->bytes, buffer->len);
    else if (is_workbook(entry))
        give_records(unpack, object, buffer);
    else if ((hwp & HWP_PACKED) != 0)
        hwp_give(unpack, object, entry, buffer->bytes, buffer->len);
}

void unpack_ole2(struct unpack *unpack, const struct unpack_object *object)
{
    struct ole2 ole2 = {0};
    struct ole2_entry entry;

    if (!ole2_open(&ole2, unpack, object))
        unpack_incomplete(unpack, object, "its tables are damaged");
    if (ole2.is_cut)
        unpack_incomplete(unpack, object, "a stream is cut");
    const unsigned hwp = hwp_flags(unpack, &ole2);
    if ((hwp & HWP_LOCKED) != 0)
        report_encrypted(unpack, object);
    for (size_t i = 0; ole2_entry(&ole2, i, &entry) && !unpack_is_over(unpack); i++)
        if (entry.type == 2 && entry.len > 0)
            give_stream(unpack, object, &ole2, &entry, hwp);
    vba_give(unpack, object, &ole2);
    ole2_close(&ole2);
}
