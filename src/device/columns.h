/* SPDX-License-Identifier: MIT */
/* Where the columns of a batch lie on a GPU: behind its items, in this order, each at a multiple of
 * SL_BATCH_ALIGN. A batch with room behind its arena holds short ones in the same places when it is
 * uploaded, and so crosses in one copy. */
#ifndef DEVICE_COLUMNS_H
#define DEVICE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sluice/batch.h"

/* Bytes from the arena's first. A column that is not there begins where the next one does. */
struct columns {
    size_t payload, overlap, packet, kind, before;
    size_t end;
};

static inline size_t columns_aligned(size_t len)
{
    return (len + (SL_BATCH_ALIGN - 1)) & ~(size_t)(SL_BATCH_ALIGN - 1);
}

/* Grows with each argument: a layout for the largest batch holds every batch. */
static inline struct columns columns_behind(size_t bytes_len, size_t n_items, bool has_overlap,
                                            bool has_packet, bool has_kind, bool has_before)
{
    struct columns at;

    at.payload = columns_aligned(bytes_len);
    at.overlap = columns_aligned(at.payload + n_items * sizeof(struct sl_span));
    at.packet = columns_aligned(at.overlap + (has_overlap ? n_items * sizeof(uint16_t) : 0));
    at.kind = columns_aligned(at.packet + (has_packet ? n_items * sizeof(struct sl_packet) : 0));
    at.before = columns_aligned(at.kind + (has_kind ? n_items * sizeof(uint8_t) : 0));
    at.end = columns_aligned(at.before + (has_before ? n_items * sizeof(uint32_t) : 0));
    return at;
}

/* Bytes of an arena and all columns of a full batch on a GPU, slack included. */
static inline size_t columns_room(size_t arena_len, size_t max_items)
{
    return columns_behind(arena_len, max_items, true, true, true, true).end + SL_BATCH_SLACK;
}

/* Copies a column and zeroes the bytes up to the alignment: each byte that crosses is defined. */
static inline void columns_put(uint8_t *to, const void *column, size_t len)
{
    if (len != 0)
        memcpy(to, column, len);
    memset(to + len, 0, columns_aligned(len) - len);
}

/* The same of a batch. */
static inline struct columns columns_of_batch(const struct sl_batch *batch)
{
    return columns_behind(batch->bytes_len, batch->n_items, batch->has_overlap,
                          batch->packet != NULL, batch->has_kind, batch->has_before);
}

/* A longer column crosses in a copy of its own. Laying 512 KiB behind the items keeps a core busy
 * for some 50 us, and a copy costs the link 2.6 to 6. */
enum { COLUMNS_MAX = 5, COLUMNS_PACKED_LEN = 512 << 10 /* bytes */ };

/* Bytes of an arena on the host, and of the columns that are laid behind it: most batches fill a
 * fraction of four long ones. */
static inline size_t columns_packed_room(size_t arena_len, size_t max_items)
{
    const size_t room = columns_room(arena_len, max_items);
    const size_t packed =
        columns_aligned(arena_len) + (size_t)4 * COLUMNS_PACKED_LEN + SL_BATCH_SLACK;

    return room < packed ? room : packed;
}

/* A column on the host, and where it belongs on the GPU. */
struct column {
    const void *from;
    size_t at, len; /* bytes */
};

/* The columns that a batch has, in their order; returns how many. */
static inline unsigned columns_of(struct column column[COLUMNS_MAX], const struct sl_batch *batch,
                                  const struct columns *at)
{
    const size_t n = batch->n_items;
    unsigned n_columns = 0;

    column[n_columns++] = (struct column){batch->payload, at->payload, n * sizeof *batch->payload};
    if (batch->has_overlap)
        column[n_columns++] =
            (struct column){batch->overlap, at->overlap, n * sizeof *batch->overlap};
    if (batch->packet != NULL)
        column[n_columns++] = (struct column){batch->packet, at->packet, n * sizeof *batch->packet};
    if (batch->has_kind)
        column[n_columns++] = (struct column){batch->kind, at->kind, n * sizeof *batch->kind};
    if (batch->has_before)
        column[n_columns++] = (struct column){batch->before, at->before, n * sizeof *batch->before};
    return n_columns;
}

/* Lays columns behind the items until one is too long. Returns the number of columns, which is 0
 * where the batch has no room of its own. A batch may be packed again while it crosses, even with
 * fewer columns. The first columns do not depend on those that follow, so each byte stays as it is.
 */
static inline unsigned columns_pack(const struct sl_batch *batch, const struct column *column,
                                    unsigned n_columns)
{
    unsigned n = 0;

    /* A copy of a batch made by sl_batch_create may have been given another arena. */
    if (batch->room == NULL || batch->room != batch->bytes)
        return 0;
    for (; n < n_columns && column[n].len <= COLUMNS_PACKED_LEN &&
           columns_aligned(column[n].at + column[n].len) <= batch->room_len;
         n++)
        columns_put(batch->bytes + column[n].at, column[n].from, column[n].len);
    return n;
}

/* Bytes from the arena's first that cross in one copy where so many columns are packed. */
static inline size_t columns_packed_len(const struct sl_batch *batch, const struct column *column,
                                        unsigned n_packed)
{
    return n_packed == 0 ? batch->bytes_len : column[n_packed - 1].at + column[n_packed - 1].len;
}

#endif
