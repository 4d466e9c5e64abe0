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

/* The next mark from `at` on, by its first two bytes: most bytes are compared once. */
static const uint8_t *find_mark(const uint8_t *at, const uint8_t *end, size_t *mark)
{
    for (; end - at >= 8; at++) {
        if (at[0] != 'P' && at[0] != 'M' && at[0] != '7' && at[0] != 'R')
            continue;
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            if (memcmp(at, marks[i].mark, marks[i].len) == 0) {
                *mark = i;
                return at;
            }
    }
    return NULL;
}

/* It lies where the object does: what it holds is one level below. */
static void open_part(struct unpack *unpack, const struct unpack_object *object,
                      const uint8_t *found, enum kind kind)
{
    struct unpack_object part = *object;

    part.bytes = found;
    part.len = (size_t)(object->bytes + object->len - found);
    part.kind = kind;
    if (kind == KIND_ZIP)
        (void)unpack_zip_members(unpack, &part);
    else
        unpack_reader_of(kind)(unpack, &part);
}

void unpack_embedded(struct unpack *unpack, const struct unpack_object *object)
{
    const uint64_t len_max = unpack_wishes(unpack)->limits.file_len_max;
    const uint8_t *end = object->bytes + object->len, *at = object->bytes + 1;
    unsigned opened = 0; /* by kind: the first of each finds the others */
    size_t mark;

    if (object->len < 8 || (len_max > 0 && object->len > len_max))
        return;
    for (; (at = find_mark(at, end, &mark)) != NULL && !unpack_is_over(unpack); at++) {
        if ((opened >> mark & 1) == 0)
            open_part(unpack, object, at, marks[mark].kind);
        opened |= 1u << mark;
    }
}
