/* SPDX-License-Identifier: MIT */
#ifndef UNPACK_UNPACK_BUFFER_H
#define UNPACK_UNPACK_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow, up to a limit. */
struct unpack_buffer {
    uint8_t *bytes;
    size_t len, cap;
    size_t max;
    bool cut;     /* something was not added: a limit, or no memory */
    bool by_scan; /* the limit on all objects of a file is nearer than that on each */
};

/* Room for `len` more bytes, less at the buffer's limit; NULL: none. */
uint8_t *unpack_buffer_room(struct unpack_buffer *buffer, size_t *len);

/* Room for the next step of a decoder that finds its end itself: up to one byte beyond the limit,
 * so that only what passes the limit is cut. NULL: the buffer is cut. */
uint8_t *unpack_buffer_step(struct unpack_buffer *buffer, size_t *len);

/* Adds the `n` bytes that a step wrote. */
void unpack_buffer_stepped(struct unpack_buffer *buffer, size_t n);

/* False: not all of them fitted. */
bool unpack_buffer_add(struct unpack_buffer *buffer, const void *bytes, size_t len);

void unpack_buffer_free(struct unpack_buffer *buffer);

#endif
