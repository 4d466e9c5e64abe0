/* SPDX-License-Identifier: MIT */
/* Frames to records of an encoded file, while the next ones are made. Threads each compress a group
 * of them, and write it in the order of submission. What is written does not depend on threads. */
#ifndef REDUNDANCY_RECORD_WRITER_H
#define REDUNDANCY_RECORD_WRITER_H

#include "encoded_file.h"

struct record_writer;

struct record_config {
    int out;
    int level;      /* of zstd; 0: none */
    int window_log; /* of zstd at most */
    unsigned n_threads;
    bool one_stream; /* each frame is written as it comes, and zstd never begins anew */
};

/* SL_ENOMEM. Where it fails the writer is to be ended, too. */
enum sl_status record_writer_create(struct record_writer **writer,
                                    const struct record_config *config, struct sl_diag *diag);

/* Room for a frame of FILE_PACKET_LEN: waits for it where all is taken. NULL: writing has failed.
 */
uint8_t *record_writer_room(struct record_writer *writer);

/* The room holds a frame of `frame_len` bytes. Returns the bytes that have been written so far. */
uint64_t record_writer_put(struct record_writer *writer, uint32_t frame_len);

/* Waits until all is written, and frees the writer. Accepts NULL. SL_EIO, SL_ENOMEM: the failure.
 */
enum sl_status record_writer_end(struct record_writer *writer,
                                 struct sl_redundancy_file_stats *stats, struct sl_diag *diag);

#endif
