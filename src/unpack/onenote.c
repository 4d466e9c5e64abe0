/* SPDX-License-Identifier: MIT */
/* OneNote (MS-ONESTORE): files that were dragged into a page, each behind a mark of its own. */
#include <string.h>

#include "unpack/little.h"
#include "unpack/unpack.h"

void unpack_onenote(struct unpack *unpack, const struct unpack_object *object)
{
    enum { GUID = 16, FORM_AT = 48, HEAD = 36 /* the mark, the length, and unused bytes */ };
    static const char form[] = "\x3F\xDD\x9A\x10\x1B\x91\xF5\x49\xA5\xD0\x17\x91\xED\xC8\xAE\xD8";
    static const char mark[] = "\xE7\x16\xE3\xBD\x65\x26\x11\x45\xA4\xC4\x8D\x4D\x0B\x7A\x9E\xAC";
    const uint8_t *at = object->bytes, *const end = at + object->len;

    if (object->len < FORM_AT + GUID || memcmp(at + FORM_AT, form, GUID) != 0) {
        unpack_incomplete(unpack, object, "not of a form that is known");
        return;
    }
    while ((at = memmem(at, (size_t)(end - at), mark, GUID)) != NULL && !unpack_is_over(unpack)) {
        const size_t left = (size_t)(end - at);
        const uint64_t stated = left >= HEAD ? little64(at + GUID) : UINT64_MAX;
        const size_t have = left >= HEAD ? left - HEAD : 0;
        const size_t len = stated < have ? (size_t)stated : have;

        if (stated > have)
            unpack_incomplete(unpack, object, "a file in it is cut");
        (void)unpack_child(unpack, object, at + left - have, len, KINDS);
        at += left - have + len;
    }
}
