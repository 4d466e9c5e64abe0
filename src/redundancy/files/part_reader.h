/* SPDX-License-Identifier: MIT */
/* The parts of a file, read and sampled on a thread of their own, while those before are encoded.
 */
#ifndef REDUNDANCY_PART_READER_H
#define REDUNDANCY_PART_READER_H

#include "file_encoder.h"
#include "redundancy/match/packet_log.h"

/* A part of at most FILE_PACKET_LEN bytes. */
struct file_part {
    struct sl_batch *batch; /* the part is its only item */
    struct sl_hits hits;
};

struct part_reader;

/* Opens the sampler of the encoder's table. SL_ENOMEM; SL_EUNSUPPORTED: no sampler runs here. Where
 * it fails the reader is to be closed, too. */
enum sl_status part_reader_create(struct part_reader **reader, const struct file_encoder *encoder,
                                  struct sl_diag *diag);

/* Before the reader begins, for a cache of before: a part of the caller's, and its samples. */
struct file_part *part_reader_spare(struct part_reader *reader);
enum sl_status part_reader_sample(struct part_reader *reader, struct file_part *part,
                                  struct sl_diag *diag);

/* Begins to read. Takes as much of the memory, in which the parts will lie one after another, as it
 * has read. */
enum sl_status part_reader_begin(struct part_reader *reader, struct log_memory memory,
                                 struct sl_diag *diag);

/* Waits for the next part, which is lent until the next call; NULL: the file ends. SL_EIO, or a
 * status of part_reader_sample. */
enum sl_status part_reader_next(struct part_reader *reader, struct file_part **part,
                                struct sl_diag *diag);

/* Ends reading, also where it waits. Accepts NULL. */
void part_reader_close(struct part_reader *reader);

#endif
