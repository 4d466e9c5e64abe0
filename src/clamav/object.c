/* SPDX-License-Identifier: MIT */
#include "clamav/object.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Fills the window from `at` on. */
static void read_window(struct clam_object *object, uint64_t at)
{
    size_t have = 0;
    uint64_t rest = object->len - at;

    if (rest > object->window_cap)
        rest = object->window_cap;
    while (have < rest) {
        const ssize_t n = pread(object->fd, object->window + have, rest - have,
                                (off_t)(at + have));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            object->short_read = true;
            object->error = n < 0 ? errno : object->error;
            /* What is gone reads as zeros: the object's length stays what it is. */
            memset(object->window + have, 0, rest - have);
            break;
        }
        have += (size_t)n;
    }
    object->window_at = at;
    object->window_len = (size_t)rest;
}

const uint8_t *clam_object_at(struct clam_object *object, uint64_t at, size_t len)
{
    if (len > object->len || at > object->len - len)
        return NULL;
    if (object->bytes != NULL)
        return object->bytes + at;
    if (at < object->window_at || at + len > object->window_at + object->window_len) {
        /* Looks are mostly forward, and a little back. */
        const uint64_t back = object->window_cap / 8;

        if (len > object->window_cap)
            return NULL;
        read_window(object, len + back <= object->window_cap && at > back ? at - back : at);
    }
    return object->window + (at - object->window_at);
}
