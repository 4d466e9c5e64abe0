/* SPDX-License-Identifier: MIT */
/* The bytes of a capture file, in order. A plain file on disk is mapped. A pipe or a compressed
 * file is streamed through a bounded buffer. */
#ifndef CAPTURE_INPUT_H
#define CAPTURE_INPUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/grouped.h"
#include "sluice/status.h"

enum {
    INPUT_WAIT_MS = 100,      /* a read waits for enough bytes no longer than this */
    INPUT_NEED_MAX = 16 << 20 /* bytes in one piece: bounds the buffer of streams */
};

enum input_form { INPUT_MAPPED, INPUT_STREAM, INPUT_GZIP, INPUT_XZ, INPUT_ZSTD };

enum input_state {
    INPUT_READY,   /* the bytes are at hand */
    INPUT_LATER,   /* not yet, the writer is slow; call again */
    INPUT_ENDED,   /* the file ends before */
    INPUT_STOPPED, /* sl_capture_stop was called */
    INPUT_FAILED   /* input->failure; the diagnostic is set */
};

struct input {
    const uint8_t *at;  /* the next byte */
    const uint8_t *end; /* behind the last byte at hand */

    const uint8_t *first;  /* a byte at or before `at`, */
    uint64_t first_offset; /* and its offset in the (decompressed) file */
    uint64_t skip;         /* bytes to pass over that are not at hand */

    enum input_form form;
    enum sl_status failure;
    const char *label; /* for diagnostics */
    const atomic_bool *stopped;
    const uint64_t *close_ns; /* when a read is to return what it has; 0: whenever */
    uint64_t read_ns;         /* when what is at hand had been read */
    bool waits;               /* for a writer: it is no file on disk */
    uint64_t deadline_ns;     /* of this read; 0 while it did not wait */
    int fd;

    uint8_t *map; /* mapped form */
    size_t map_len;
    size_t dropped_len; /* leading bytes of the map whose pages were given back */

    uint8_t *buffer; /* the other forms: what at and end point into */
    size_t buffer_cap;
    uint8_t *raw; /* compressed forms: bytes not yet decoded */
    size_t raw_at, raw_end;
    uint64_t raw_offset; /* of raw_end in the file */
    bool frame_open;     /* inside a gzip member, xz stream or zstd frame */
    bool flushing;       /* the decoder holds output that had no room */
    z_stream gzip;
    lzma_stream xz;
    const char *xz_fault; /* the fault that ended the decoder; NULL: none */
    ZSTD_DStream *zstd;
};

/* Opens `path`, "-" being standard input, without waiting for a writer. `label`, `stopped` and
 * `close_ns` outlive the input. */
enum sl_status input_open(struct input *input, const char *path, const char *label,
                          const atomic_bool *stopped, const uint64_t *close_ns,
                          struct sl_diag *diag);

/* Decompresses the bytes ahead; none may have been consumed. */
enum sl_status input_decompress(struct input *input, enum input_form form, struct sl_diag *diag);

/* A read by the user begins. It may wait INPUT_WAIT_MS, counted from its first wait. */
static inline void input_begin_read(struct input *input)
{
    input->deadline_ns = 0;
}

enum input_state input_fill(struct input *input, size_t need, struct sl_diag *diag);

static inline size_t input_have(const struct input *input)
{
    return (size_t)(input->end - input->at);
}

/* Makes `need` bytes (at most INPUT_NEED_MAX) lie at input->at. Pointers into the input become
 * invalid. */
static inline enum input_state input_need(struct input *input, size_t need, struct sl_diag *diag)
{
    return input_have(input) >= need ? INPUT_READY : input_fill(input, need, diag);
}

/* Passes over bytes, at hand or not. */
static inline void input_skip(struct input *input, uint64_t len)
{
    const size_t have = input_have(input);
    const size_t now = len < have ? (size_t)len : have;

    input->at += now;
    input->skip = len - now;
}

/* Offset of input->at in the file, the decompressed one where it is compressed. */
static inline uint64_t input_offset(const struct input *input)
{
    return input->first_offset + (uint64_t)(input->at - input->first);
}

/* Returns the status of a read whose input_need was not ready inside a `what` that begins at
 * `start`. */
enum sl_status input_short(const struct input *input, enum input_state state, const char *what,
                           uint64_t start, struct sl_diag *diag);

/* SL_EFORMAT: "<what> at byte <offset> <problem>". */
enum sl_status input_bad(const struct input *input, const char *what, uint64_t offset,
                         struct sl_diag *diag, const char *problem, ...)
    __attribute__((format(printf, 5, 6)));

/* Accepts an input of zeros whose fd is -1. */
void input_close(struct input *input);

#endif
