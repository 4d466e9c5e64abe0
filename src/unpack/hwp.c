/* SPDX-License-Identifier: MIT */
/* Documents of Hangul Word Processor. */
#include "unpack/hwp.h"

#include <string.h>

#include "unpack/little.h"

/* The text of version 3 is packed as one. */
void unpack_hwp3(struct unpack *unpack, const struct unpack_object *object)
{
    enum { PACKED_AT = 154, INFO_LEN_AT = 156, INFO_AT = 1166 };
    const uint8_t *bytes = object->bytes;
    const size_t at = object->len > INFO_AT ? INFO_AT + little16(bytes + INFO_LEN_AT) : 0;

    if (at == 0 || at > object->len)
        unpack_incomplete(unpack, object, "cut");
    else if (bytes[PACKED_AT] != 0)
        unpack_deflated(unpack, object, bytes + at, object->len - at, INFLATE_BARE,
                        "cut or damaged");
}

/* ---- version 5 ------------------------------------------------------------------------------- */

/* The stream of that name has them. */
unsigned hwp_flags(struct unpack *unpack, const struct ole2 *ole2)
{
    enum { FLAGS_AT = 36 };
    static const char mark[] = "HWP Document File";
    struct unpack_buffer buffer = {0};
    struct ole2_entry entry;
    unsigned flags = 0;

    for (size_t i = 0; flags == 0 && ole2_entry(ole2, i, &entry); i++) {
        if (entry.type != 2 || strcmp(entry.name, "FileHeader") != 0)
            continue;
        unpack_buffer_init(unpack, &buffer);
        (void)ole2_read(ole2, &entry, &buffer);
        if (buffer.len > FLAGS_AT && memcmp(buffer.bytes, mark, sizeof mark - 1) == 0)
            flags = buffer.bytes[FLAGS_AT] & (HWP_PACKED | HWP_LOCKED);
    }
    unpack_buffer_free(&buffer);
    return flags;
}

/* Texts and files are packed. Others, which are not, are no streams of zlib. */
void hwp_give(struct unpack *unpack, const struct unpack_object *object,
              const struct ole2_entry *entry, const uint8_t *bytes, size_t len)
{
    const bool is_packed =
        strncmp(entry->name, "Section", 7) == 0 || strncmp(entry->name, "BIN", 3) == 0;

    unpack_deflated(unpack, object, bytes, len, INFLATE_BARE,
                    is_packed ? "a stream is damaged" : NULL);
}
