/* SPDX-License-Identifier: MIT */
/* 7z archives: the statements of their header, and the bytes of their folders. */
#ifndef UNPACK_SEVENZ_H
#define UNPACK_SEVENZ_H

#include "unpack/unpack.h"

enum {
    SEVENZ_HEADER_LEN = 32,
    SEVENZ_CODERS_MAX = 4 /* a decoder, and filters behind it */
};

struct sevenz_coder {
    uint64_t id;
    const uint8_t *properties;
    size_t properties_len;
    uint64_t len; /* of what it makes */
};

/* Streams behind one another that were packed as one. Its coders are in the order of unpacking. */
struct sevenz_folder {
    struct sevenz_coder coders[SEVENZ_CODERS_MAX];
    unsigned n_coders;
    uint64_t packed_at, packed_len; /* in the archive */
    uint64_t n_streams;
    bool has_crc;
    uint32_t crc;
};

struct sevenz_stream {
    uint64_t len;
    bool has_crc;
    uint32_t crc;
};

struct sevenz {
    struct sevenz_folder *folders;
    uint64_t n_folders;
    struct sevenz_stream *streams; /* of all folders, in their order */
    uint64_t n_streams;
    const uint8_t *names, *names_end; /* UTF-16, each ended by a zero; NULL: none */
    const uint8_t *empty;             /* a bit for each member without a stream; NULL: none is */
    uint64_t n_members;
    bool is_packed; /* its one folder has the header */
};

/* Reads a header. False: it is damaged, or needs what is not supported. To be freed in any case;
 * all zero before. */
bool sevenz_header_read(struct sevenz *archive, const uint8_t *header, size_t len);
void sevenz_header_free(struct sevenz *archive);

/* Bits of things, the first one the highest of its byte. */
static inline bool sevenz_bit(const uint8_t *bits, uint64_t i)
{
    return (bits[i / 8] >> (7 - i % 8) & 1) != 0;
}

/* The bytes of a folder, from its begin on. NULL: its coders are not supported, or no memory. */
struct sevenz_source;
bool sevenz_is_supported(const struct sevenz_folder *folder);
struct sevenz_source *sevenz_source_open(const struct sevenz_folder *folder, const uint8_t *bytes,
                                         size_t len);
void sevenz_source_close(struct sevenz_source *source);

/* Unpacks the next bytes. Returns less than `len` where they are damaged or end. */
size_t sevenz_source_read(struct sevenz_source *source, uint8_t *to, size_t len);

/* The place of the header, which ends the archive. False: it is not in the object. */
bool sevenz_find_header(const struct unpack_object *object, size_t *at, size_t *len);

/* Gives the members. False: nothing was given, as the archive is damaged or not supported. */
bool sevenz_give(struct unpack *unpack, const struct unpack_object *object);

#endif
