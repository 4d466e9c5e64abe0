/* SPDX-License-Identifier: MIT */
/* Archives that lie in the midst of other bytes, by their marks. Objects above the limit of a file
 * are not searched. */
#include <string.h>

#include "unpack/unpack.h"

static const struct {
    const char *mark;
    uint8_t len;
    enum kind kind;
} marks[] = {{"PK\3\4", 4, KIND_ZIP},
             {"MSCF\0\0\0\0", 8, KIND_CAB},
             {"7z\xBC\xAF\x27\x1C", 6, KIND_SEVENZIP},
             {"Rar!\x1A\7", 6, KIND_RAR}};

void unpack_embedded(struct unpack *unpack, const struct unpack_object *object)
{
    const uint64_t len_max = unpack_wishes(unpack)->limits.file_len_max;

    if (len_max > 0 && object->len > len_max)
        return;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !unpack_is_over(unpack); i++) {
        const uint8_t *found = object->len > 1 ? memmem(object->bytes + 1, object->len - 1,
                                                        marks[i].mark, marks[i].len)
                                               : NULL;

        if (found == NULL)
            continue;
        /* It lies where the object does: what it holds is one level below. */
        struct unpack_object part = *object;
        part.bytes = found;
        part.len = (size_t)(object->bytes + object->len - found);
        part.kind = marks[i].kind;
        if (part.kind == KIND_ZIP)
            unpack_zip_members(unpack, &part);
        else
            unpack_reader_of(part.kind)(unpack, &part);
    }
}
