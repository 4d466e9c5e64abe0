/* SPDX-License-Identifier: MIT */
#include "clamav/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

/* Reads len bytes. Bytes that are gone read as zeros: the object's length does not change. */
static void read_bytes(struct clam_object *object, uint64_t at, uint8_t *to, size_t len)
{
    const int64_t n = fd_read_at(object->fd, to, len, at);
    const size_t have = n < 0 ? 0 : (size_t)n;

    if (have == len)
        return;
    object->short_read = true;
    object->error = n < 0 ? errno : object->error;
    memset(to + have, 0, len - have);
}

bool clam_object_load(struct clam_object *object)
{
    if (object->bytes != NULL)
        return true;
    if (object->len > CLAM_WHOLE_MAX)
        return false;
    if (object->len > object->memory_cap) {
        uint8_t *memory = malloc((size_t)object->len);

        if (memory == NULL)
            return false;
        free(object->memory);
        object->memory = memory;
        object->memory_cap = (size_t)object->len;
    }
    read_bytes(object, 0, object->memory, (size_t)object->len);
    object->bytes = object->memory;
    return true;
}

/* Fills the window from `at` on. */
static void read_window(struct clam_object *object, uint64_t at)
{
    uint64_t rest = object->len - at;

    if (rest > object->window_cap)
        rest = object->window_cap;
    read_bytes(object, at, object->window, (size_t)rest);
    object->window_at = at;
    object->window_len = (size_t)rest;
    object->looked_len += rest;
}

/* Bytes of an object that are in memory. */
struct part {
    const uint8_t *bytes;
    uint64_t at;
    size_t len;
};

static bool has(const struct part *part, uint64_t at, size_t len)
{
    return at >= part->at && at - part->at <= part->len && len <= part->len - (at - part->at);
}

static const uint8_t *bytes_of(const struct part *part, uint64_t at, size_t *more)
{
    *more = part->len - (size_t)(at - part->at);
    return part->bytes + (at - part->at);
}

const uint8_t *clam_object_from(struct clam_object *object, uint64_t at, size_t len, size_t *more)
{
    if (len > object->len || at > object->len - len) {
        object->behind = true;
        return NULL;
    }
    if (object->bytes == NULL) {
        const struct part piece = {object->piece, object->piece_at, object->piece_len};
        struct part window = {object->window, object->window_at, object->window_len};
        /* Reads go mostly forward, and a little back. */
        const uint64_t back = object->window_cap / 64;

        if (piece.len > 0 && has(&piece, at, len))
            return bytes_of(&piece, at, more);
        if (window.len > 0 && has(&window, at, len))
            return bytes_of(&window, at, more);
        if (len > object->window_cap)
            return NULL;
        if (object->looked_len <= CLAM_WINDOW_PASSES * object->len || !clam_object_load(object)) {
            read_window(object, at > back && len + back <= object->window_cap ? at - back : at);
            window.at = object->window_at;
            window.len = object->window_len;
            return has(&window, at, len) ? bytes_of(&window, at, more) : NULL;
        }
    }
    *more = object->len - at < SIZE_MAX ? (size_t)(object->len - at) : SIZE_MAX;
    return object->bytes + at;
}

const uint8_t *clam_object_at(struct clam_object *object, uint64_t at, size_t len)
{
    size_t more;

    return clam_object_from(object, at, len, &more);
}

enum kind clam_object_kind(struct clam_object *object)
{
    const size_t head_len = object->len < KIND_HEAD_LEN ? (size_t)object->len : KIND_HEAD_LEN;
    const enum kind kind = kind_of_head(clam_object_at(object, 0, head_len), head_len);
    uint8_t mark[KIND_MARK_LEN], tail[KIND_TAIL_LEN];
    size_t mark_len = 0, tail_len = 0;

    if (kind != KIND_BINARY && kind != KIND_TEXT_UTF16BE)
        return kind;
    const uint8_t *at = clam_object_at(object, KIND_MARK_AT, sizeof mark);
    if (at != NULL)
        memcpy(mark, at, mark_len = sizeof mark);
    tail_len = object->len < sizeof tail ? (size_t)object->len : sizeof tail;
    at = clam_object_at(object, object->len - tail_len, tail_len);
    if (at != NULL && tail_len > 0)
        memcpy(tail, at, tail_len);
    const enum kind marked = kind_of_marks(mark, mark_len, tail, at != NULL ? tail_len : 0);
    return marked != KIND_BINARY ? marked : kind;
}
