/* SPDX-License-Identifier: MIT */
#include "unpack/vba.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "unpack/little.h"

enum { CHUNK = 4096 };

/* ---- compression ----------------------------------------------------------------------------- */

/* The bits of a token that are its distance grow with the bytes of the chunk so far. */
static unsigned distance_bits(size_t have)
{
    unsigned bits = 4;

    while (((size_t)1 << bits) < have)
        bits++;
    return bits;
}

/* One chunk's tokens. False: one of them is damaged. */
static bool take_chunk(const uint8_t *in, size_t len, struct unpack_buffer *buffer)
{
    const size_t begin = buffer->len;
    size_t at = 0;

    while (at < len) {
        const uint8_t flags = in[at++];

        for (unsigned bit = 0; bit < 8 && at < len; bit++) {
            if ((flags >> bit & 1) == 0) {
                if (!unpack_buffer_add(buffer, in + at++, 1))
                    return false;
                continue;
            }
            if (len - at < 2 || buffer->len == begin)
                return false;
            const unsigned token = little16(in + at), bits = distance_bits(buffer->len - begin);
            const size_t back = (token >> (16 - bits)) + 1;
            size_t n = (token & (0xFFFFu >> bits)) + 3;

            at += 2;
            if (back > buffer->len - begin)
                return false;
            for (; n > 0; n--) {
                const uint8_t byte = buffer->bytes[buffer->len - back];

                if (!unpack_buffer_add(buffer, &byte, 1))
                    return false;
            }
        }
    }
    return true;
}

/* A container: a signature byte, and chunks. */
static bool decompress(const uint8_t *in, size_t len, struct unpack_buffer *buffer)
{
    size_t at = 1;

    if (len == 0 || in[0] != 1)
        return false;
    while (len - at >= 2) {
        const unsigned head = little16(in + at);
        size_t n = (head & 0xFFF) + 1;

        at += 2;
        if (n > len - at)
            n = len - at;
        if ((head & 0x8000) == 0) {
            n = len - at < CHUNK ? len - at : CHUNK;
            (void)unpack_buffer_add(buffer, in + at, n);
        } else if (!take_chunk(in + at, n, buffer)) {
            return false;
        }
        at += n;
    }
    return true;
}

/* ---- projects -------------------------------------------------------------------------------- */

static bool find_stream(const struct ole2 *ole2, const char *name, struct ole2_entry *entry)
{
    for (size_t i = 0; ole2_entry(ole2, i, entry); i++)
        if (entry->type == 2 && strcasecmp(entry->name, name) == 0)
            return true;
    return false;
}

/* The source of a module begins at `at` of its stream. */
static void give_module(struct unpack *unpack, const struct unpack_object *object,
                        const struct ole2 *ole2, const char *name, uint32_t at)
{
    struct unpack_buffer stream = {0}, *source = unpack_buffer(unpack, object);
    struct ole2_entry entry;

    unpack_buffer_init(unpack, &stream);
    if (find_stream(ole2, name, &entry)) {
        (void)ole2_read(ole2, &entry, &stream);
        if (at > stream.len || !decompress(stream.bytes + at, stream.len - at, source))
            unpack_incomplete(unpack, object, "a macro is damaged");
        (void)unpack_child(unpack, object, source->bytes, source->len, KINDS);
    }
    unpack_buffer_free(&stream);
}

/* The records of a project: modules with the names and offsets of their streams. */
static void read_project(struct unpack *unpack, const struct unpack_object *object,
                         const struct ole2 *ole2, const uint8_t *in, size_t len)
{
    enum { VERSION = 9, STREAM_NAME = 0x1A, MODULE_END = 0x2B, OFFSET = 0x31 };
    char name[64] = "";
    uint32_t offset = 0;
    size_t at = 0;

    while (len - at >= 6 && !unpack_is_over(unpack)) {
        const unsigned id = little16(in + at);
        uint64_t n = little32(in + at + 2);

        at += 6;
        if (id == VERSION)
            n = 6; /* the stated length leaves out the minor version */
        if (n > len - at)
            return;
        if (id == STREAM_NAME)
            snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), (const char *)in + at);
        else if (id == OFFSET && n >= 4)
            offset = little32(in + at);
        else if (id == MODULE_END)
            give_module(unpack, object, ole2, name, offset);
        at += (size_t)n;
    }
}

void vba_give(struct unpack *unpack, const struct unpack_object *object, const struct ole2 *ole2)
{
    struct unpack_buffer packed = {0}, project = {0};
    struct ole2_entry entry;

    for (size_t i = 0; ole2_entry(ole2, i, &entry) && !unpack_is_over(unpack); i++) {
        if (entry.type == 2 && strcasecmp(entry.name, "_VBA_PROJECT") == 0)
            unpack_alert(unpack, UNPACK_MACROS, "Heuristics.OLE2.ContainsMacros.VBA");
        if (entry.type != 2 || strcasecmp(entry.name, "dir") != 0)
            continue;
        unpack_buffer_init(unpack, &packed);
        unpack_buffer_init(unpack, &project);
        (void)ole2_read(ole2, &entry, &packed);
        (void)decompress(packed.bytes, packed.len, &project);
        read_project(unpack, object, ole2, project.bytes, project.len);
    }
    unpack_buffer_free(&packed);
    unpack_buffer_free(&project);
}
