/* SPDX-License-Identifier: MIT */
/* Frames to records of an encoded file, on a thread of its own. They are compressed, checked and
 * written in the order of submission, while the next ones are made. */
#ifndef REDUNDANCY_RECORD_WRITER_H
#define REDUNDANCY_RECORD_WRITER_H

#include "encoded_file.h"

struct record_writer;

/* Level 0: no zstd. window_log: of zstd. SL_ENOMEM. */
enum sl_status record_writer_create(struct record_writer **writer, int out, int level,
                                    int window_log, struct sl_diag *diag);

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
