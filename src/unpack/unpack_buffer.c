/* SPDX-License-Identifier: MIT */
#include "unpack/unpack_buffer.h"

#include <stdlib.h>
#include <string.h>

void unpack_buffer_free(struct unpack_buffer *buffer)
{
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

static bool grow(struct unpack_buffer *buffer, size_t need)
{
    size_t cap = buffer->cap > 0 ? buffer->cap : 1 << 16;

    while (cap < need)
        cap += cap / 2;
    uint8_t *more = realloc(buffer->bytes, cap);
    if (more == NULL)
        return false;
    buffer->bytes = more;
    buffer->cap = cap;
    return true;
}

uint8_t *unpack_buffer_room(struct unpack_buffer *buffer, size_t *len)
{
    const size_t left = buffer->max - buffer->len;

    if (*len > left) {
        buffer->cut = true;
        *len = left;
    }
    if (*len == 0)
        return NULL;
    if (buffer->len + *len > buffer->cap && !grow(buffer, buffer->len + *len)) {
        buffer->cut = true;
        return NULL;
    }
    return buffer->bytes + buffer->len;
}

uint8_t *unpack_buffer_step(struct unpack_buffer *buffer, size_t *len)
{
    enum { STEP = 1 << 18 };
    const size_t left = buffer->max - buffer->len + 1;

    *len = left < STEP ? left : STEP;
    if (!buffer->cut && buffer->len + *len > buffer->cap)
        buffer->cut = !grow(buffer, buffer->len + *len);
    return buffer->cut ? NULL : buffer->bytes + buffer->len;
}

void unpack_buffer_stepped(struct unpack_buffer *buffer, size_t n)
{
    buffer->len += n;
    if (buffer->len > buffer->max) {
        buffer->len = buffer->max;
        buffer->cut = true;
    }
}

bool unpack_buffer_add(struct unpack_buffer *buffer, const void *bytes, size_t len)
{
    size_t room = len;
    uint8_t *to = len > 0 ? unpack_buffer_room(buffer, &room) : NULL;

    if (to != NULL) {
        memcpy(to, bytes, room);
        buffer->len += room;
    }
    return len == 0 || (to != NULL && room == len);
}
