/* SPDX-License-Identifier: MIT */
/* Compound files (MS-CFB): a file system in a file. */
#ifndef UNPACK_OLE2_H
#define UNPACK_OLE2_H

#include "unpack/unpack.h"

enum { OLE2_NAME_MAX = 32 };

struct ole2_entry {
    char name[OLE2_NAME_MAX + 1]; /* ASCII; '?' for other characters */
    uint8_t type;                 /* 1 storage, 2 stream, 5 root */
    uint32_t begin;               /* sector */
    uint64_t len;
};

struct ole2 {
    const uint8_t *bytes;
    size_t len;
    unsigned shift, mini_shift; /* of the lengths of sectors */
    uint32_t mini_below;        /* shorter streams lie in small sectors */
    uint32_t fat_sectors, dir_begin, minifat_begin, difat_begin;
    bool is_cut; /* sectors of small sectors are missing, and zeros in their places */
    struct ole2_entry root;
    struct unpack_buffer fat, minifat, directory, ministream;
};

/* Reads the tables. False: they are damaged. To be closed in any case; all zero before. */
bool ole2_open(struct ole2 *ole2, struct unpack *unpack, const struct unpack_object *object);
void ole2_close(struct ole2 *ole2);

/* The i-th entry. False: there is none. */
bool ole2_entry(const struct ole2 *ole2, size_t i, struct ole2_entry *entry);

/* Appends the bytes of a stream. False: they are not all there. */
bool ole2_read(const struct ole2 *ole2, const struct ole2_entry *entry,
               struct unpack_buffer *buffer);

#endif
