/* SPDX-License-Identifier: MIT */
/* Compiled data as one flat block without pointers: saving writes it, loading reads or maps it.
 *
 * Every block begins with the same head. A kind of block defines what its checksum covers, and
 * checks its own parts behind the head. A file appears whole or not at all (base/new_file.h), so
 * that a process which has mapped the old file keeps it. */
#ifndef BASE_BLOCK_FILE_H
#define BASE_BLOCK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct block_head {
    uint64_t magic;
    uint32_t version;
    uint32_t pointer_len; /* bytes of a pointer where it was built; 0: its layout needs none */
    uint64_t len;         /* bytes of the whole block, the head included */
    uint64_t checksum;
};

struct block_kind {
    const char *name; /* "compiled table of names", for messages */
    uint64_t magic;
    uint32_t version; /* of the layout, of the parts too */
    uint32_t pointer_len;
    size_t len_min;  /* bytes that each block of this kind has */
    size_t read_max; /* longer files are mapped */

    /* The checksum of what lies behind the head. False: the parts do not lie in the block. Head and
     * length have been checked. */
    bool (*sum)(const void *block, uint64_t *sum);
};

/* XXH3 in steps of 1 MiB, each seeded with the sum before. Pages of a mapped file are discarded
 * step by step, so that checking a large one does not grow the process. */
uint64_t block_sum(const void *from, size_t len);

/* The head of a new block; its checksum is 0. */
struct block_head block_head_make(const struct block_kind *kind, uint64_t len);

/* Sets the checksum of a block that is complete, and whose parts lie in it. */
void block_seal(const struct block_kind *kind, void *block);

/* Checks the head and the checksum of `len` bytes that lie in memory. `path` is for messages.
 * SL_EFORMAT: another kind, version, byte order or pointer; cut; damaged. */
enum sl_status block_check(const struct block_kind *kind, const void *block, uint64_t len,
                           const char *path, struct sl_diag *diag);

/* Writes a complete block, sealed. SL_EIO. */
enum sl_status block_file_save(const struct block_kind *kind, const void *block, const char *path,
                               struct sl_diag *diag);

/* Loads a file as base/file_bytes.h does, and checks it as block_check does. A file of at most
 * kind->read_max bytes may change afterwards. A longer one may be replaced or removed, not
 * written to. SL_EIO: the system refused, or the path is no regular file. SL_EFORMAT, SL_ENOMEM. */
enum sl_status block_file_load(const struct block_kind *kind, const void **block, const char *path,
                               struct sl_diag *diag);

/* Frees a loaded block. */
void block_file_unload(const void *block);

/* Whether the file begins with this kind's magic, in either byte order. */
bool block_file_is(const struct block_kind *kind, const char *path);

#ifdef __cplusplus
}
#endif
#endif
