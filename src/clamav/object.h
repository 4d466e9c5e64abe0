/* SPDX-License-Identifier: MIT */
/* An object of a scan: bytes in memory, or a file that is read where bytes are needed. */
#ifndef CLAMAV_OBJECT_H
#define CLAMAV_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clamav/block.h"
#include "unpack/kind.h"

enum {
    CLAM_SECTIONS_MAX = 4096, /* of an executable */
    CLAM_WINDOW_LEN = 1 << 18 /* bytes of a file in memory at a time */
};

/* Bytes of a file that is read as a whole where it is searched again and again. New memory costs as
 * much as some passes with the window, which stays in the cache. */
#define CLAM_WHOLE_MAX (UINT64_C(512) << 20)
enum { CLAM_WINDOW_PASSES = 5 };

struct clam_section {
    uint32_t raw, len; /* bytes in the file */
    uint32_t rva;
};

/* Sections and entry point as clamscan's engine sees them: the offsets of signatures count from
 * these. */
struct clam_exe {
    bool good; /* the headers could be read; else no offset counts from anything in the file */
    uint32_t entry;
    uint32_t n_sections;
    struct clam_section sections[CLAM_SECTIONS_MAX];
};

struct clam_object {
    const uint8_t *bytes; /* all of it in memory; NULL: read from fd */
    uint64_t len;
    int fd;
    bool part;           /* of a file of any type */
    bool goes_on;        /* behind the part the file has bytes */
    bool before, behind; /* set where a body might lie, but for bytes that the part has not */
    int64_t origin;      /* absolute offsets count from here; below 0: bytes lie before the part */
    uint64_t stated_len; /* by which sizes and ends of files count; len, but for a normal form */
    const uint8_t *containers; /* enum kind, the next one last */
    uint8_t n_containers;
    uint8_t target;       /* enum clam_target beside GENERIC, or GENERIC */
    struct clam_exe *exe; /* where target is an executable's */
    const uint8_t *piece; /* of a file: piece_len bytes from piece_at that are in memory just now */
    size_t piece_len;
    uint64_t piece_at;
    uint8_t *window; /* window_cap bytes of the file from window_at */
    size_t window_cap, window_len;
    uint64_t window_at;
    uint64_t looked_len; /* bytes read into the window */
    uint8_t *memory;     /* malloc'ed, of memory_cap bytes, for files as a whole */
    size_t memory_cap;
    bool short_read; /* the file ended before its length, or could not be read */
    int error;       /* errno of the last failed read, or of a digest */
};

/* len bytes at `at`, valid until the next call; NULL where the object ends before. Files: len is at
 * most the window's capacity. */
const uint8_t *clam_object_at(struct clam_object *object, uint64_t at, size_t len);

/* The same; *more is how many bytes lie there, at least len. */
const uint8_t *clam_object_from(struct clam_object *object, uint64_t at, size_t len, size_t *more);

/* Reads the whole file into memory. False: it is too large, or there is no memory; nothing is lost,
 * but it stays on disk. */
bool clam_object_load(struct clam_object *object);

/* By content. */
enum kind clam_object_kind(struct clam_object *object);

/* Reads the executable's sections. */
void clam_exe_read(struct clam_object *object);

#endif
