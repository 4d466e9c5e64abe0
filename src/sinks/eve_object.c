/* SPDX-License-Identifier: MIT */
#include "eve_object.h"

#include "base/hex.h"
#include "eve_text.h"

static struct line_sink *put_key(struct eve_object *object, const char *key)
{
    struct line_sink *out = object->out;

    if (!object->first)
        line_text(out, ",");
    object->first = false;
    if (key != NULL) {
        line_text(out, "\"");
        line_text(out, key);
        line_text(out, "\":");
    }
    return out;
}

static void put_open(void *to, const char *key, char bracket)
{
    struct eve_object *object = to;

    line_bytes(put_key(object, key), &bracket, 1);
    object->first = true;
}

static void put_close(void *to, char bracket)
{
    struct eve_object *object = to;

    line_bytes(object->out, &bracket, 1);
    object->first = false;
}

static void put_number(void *to, const char *key, uint64_t number)
{
    line_uint(put_key(to, key), number);
}

static void put_truth(void *to, const char *key)
{
    line_text(put_key(to, key), "true");
}

static void put_text(void *to, const char *key, const void *text, size_t len)
{
    eve_put_string(put_key(to, key), text, len);
}

static void put_hex(void *to, const char *key, const uint8_t *bytes, size_t len, char separator)
{
    struct line_sink *out = put_key(to, key);

    line_text(out, "\"");
    for (size_t i = 0; i < len; i++) {
        char text[4] = {separator};
        const size_t skipped = i == 0 || separator == 0;

        hex_write(text + 1, &bytes[i], 1);
        line_bytes(out, text + skipped, 3 - skipped);
    }
    line_text(out, "\"");
}

void eve_object_begin(struct eve_object *object, struct line_sink *out)
{
    *object = (struct eve_object){
        .visit = {put_open, put_close, put_number, put_truth, put_text, put_hex, object},
        .out = out,
    };
}
