/* SPDX-License-Identifier: MIT */
/* Records of an encoded file to frames, ahead of the decoder. A unit is a few records. Threads each
 * read one, check its records as they are stored, and decompress them. The results come in order,
 * and are those of one thread. Memory is that of a few units. */
#ifndef REDUNDANCY_RECORD_READER_H
#define REDUNDANCY_RECORD_READER_H

#include "encoded_file.h"
#include "zstd_memory.h"

struct record_reader;

/* A record, or why there is none. */
struct read_record {
    const uint8_t *header; /* as stored; NULL where reading or its check has failed */
    size_t stored;         /* bytes of the body as stored */
    const uint8_t *frame;  /* put together as the encoder made it; NULL: this has failed */
    size_t frame_len;
    enum sl_status status; /* of either failure */
    const char *reason;    /* SL_EIO: as a diagnostic has it */
};

/* Puts the frame of a checked record together, in packet_max bytes and a header. zstd: NULL where
 * bodies are stored as they are. *open: zstd expects more, false at first. Returns why this has
 * failed, or NULL. */
const char *record_unpack(ZSTD_DCtx *zstd, const uint8_t *record, size_t stored,
                          uint32_t packet_max, uint8_t *frame, size_t *frame_len, bool *open);

/* Of `in`, a regular file. SL_ENOMEM. */
SL_CHECK enum sl_status record_reader_create(struct record_reader **reader, int in,
                                             unsigned n_threads, struct sl_diag *diag);

/* Begins with the records from byte `at` on, up to the one whose packet is empty: those of a file
 * with this header. All records before were taken. SL_ENOMEM. */
SL_CHECK enum sl_status record_reader_begin(struct record_reader *reader, uint64_t at,
                                            const struct file_header *header, struct sl_diag *diag);

/* The next record, valid until the next call. */
void record_reader_next(struct record_reader *reader, struct read_record *record);

/* Accepts NULL. */
void record_reader_free(struct record_reader *reader);

#endif
