/* SPDX-License-Identifier: MIT */
/* TNEF (MS-OXTNEF): attributes behind one another, of which some begin, name or are attachments. */
#include <stdio.h>
#include <string.h>

#include "unpack/little.h"
#include "unpack/unpack.h"

enum {
    HEAD = 6,
    ATTRIBUTE_HEAD = 9, /* a level, an identifier, a length */
    SUM = 2,
    BODY = 0x800C,
    ATTACH_DATA = 0x800F,
    ATTACH_TITLE = 0x8010,
    ATTACH_BEGIN = 0x9002
};

static void give(struct unpack *unpack, const struct unpack_object *object, const char *name,
                 const uint8_t *bytes, size_t len)
{
    if (unpack_report_member(unpack, object, &(struct unpack_member){name, len, len, 0, false}))
        (void)unpack_child(unpack, object, bytes, len, KINDS);
}

/* ClamAV joins all attachments into one object. It is scanned, too, but opened piece by piece. */
static void give_joined(struct unpack *unpack, const struct unpack_object *object,
                        const struct unpack_buffer *buffer, unsigned n_attachments)
{
    if (buffer->cut)
        unpack_cut(unpack, buffer);
    if (n_attachments > 1)
        (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KIND_BINARY);
}

void unpack_tnef(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    unsigned n_attachments = 0;
    const uint8_t *at = object->bytes, *end = at + object->len;
    const uint8_t *data = NULL;
    size_t data_len = 0;
    char name[UNPACK_TEXT_LEN] = "attachment";

    at += object->len < HEAD ? object->len : HEAD;
    while ((size_t)(end - at) >= ATTRIBUTE_HEAD && !unpack_is_over(unpack)) {
        const unsigned id = little16(at + 1);
        uint64_t len = little32(at + 5);

        at += ATTRIBUTE_HEAD;
        if (len > (uint64_t)(end - at)) {
            unpack_incomplete(unpack, object, "cut");
            len = (uint64_t)(end - at);
        }
        if (id == ATTACH_BEGIN && data != NULL) {
            give(unpack, object, name, data, data_len);
            data = NULL;
        } else if (id == ATTACH_TITLE) {
            snprintf(name, sizeof name, "%.*s", (int)(len < 200 ? len : 200), (const char *)at);
        } else if (id == ATTACH_DATA) {
            data = at;
            data_len = (size_t)len;
            n_attachments++;
            (void)unpack_buffer_add(buffer, data, data_len);
        } else if (id == BODY) {
            give(unpack, object, "body", at, (size_t)len);
        }
        at += len;
        at += (size_t)(end - at) < SUM ? (size_t)(end - at) : SUM;
    }
    if (data != NULL)
        give(unpack, object, name, data, data_len);
    give_joined(unpack, object, buffer, n_attachments);
}
