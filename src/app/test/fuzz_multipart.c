/* SPDX-License-Identifier: MIT */
/* Any bytes as a body in parts: the reports do not depend on the cuts. The first byte says the
 * length of the boundary, which follows. */
#include <stdlib.h>
#include <string.h>

#include "app/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void begin(void *to, struct app_span filename)
{
    app_text_add(to, "\nbegin ", 7);
    app_text_add(to, filename.bytes, filename.len);
    app_text_add_byte(to, '\n');
}

static void give(void *to, const uint8_t *bytes, uint32_t len)
{
    app_text_add(to, bytes, len);
}

static void end(void *to)
{
    app_text_add(to, "\nend\n", 5);
}

/* Parts that begin with "gap" in the data behind the boundary get one at their half. */
static void play(struct app_text *told, struct app_span type, const uint8_t *bytes, uint32_t len,
                 uint32_t piece)
{
    const struct multipart_listener listener = {begin, give, end, told};
    bool none;
    struct multipart *multipart = multipart_open(type, &none);

    if (multipart == NULL)
        return;
    const uint32_t gap_at = len != 0 && bytes[0] == 'g' ? len / 2 : len;
    for (uint32_t at = 0; at < len;) {
        const uint32_t behind = at < gap_at ? gap_at : len;
        const uint32_t n = behind - at < piece ? behind - at : piece;

        if (!multipart_give(multipart, bytes + at, n, &listener))
            abort();
        at += n;
        if (at == gap_at && gap_at != len)
            multipart_gap(multipart, &listener);
    }
    multipart_close(multipart);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "multipart/form-data; boundary=";
    const uint32_t len = size < 65536 ? (uint32_t)size : 65536;
    struct app_text type = {0}, whole = {0}, cut = {0};

    if (len == 0)
        return 0;
    const uint32_t want = data[0] & 31, n = want < len - 1 ? want : len - 1;
    app_text_add(&type, head, sizeof head - 1);
    app_text_add(&type, data + 1, n);
    play(&whole, app_text_span(&type), data + 1 + n, len - 1 - n, len);
    play(&cut, app_text_span(&type), data + 1 + n, len - 1 - n, 3);
    if (whole.len != cut.len || (whole.len != 0 && memcmp(whole.bytes, cut.bytes, whole.len) != 0))
        abort();
    app_text_free(&type);
    app_text_free(&whole);
    app_text_free(&cut);
    return 0;
}
