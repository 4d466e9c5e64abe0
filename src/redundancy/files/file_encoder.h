/* SPDX-License-Identifier: MIT */
/* A file being encoded: the common part of the two ways of making its frames. */
#ifndef REDUNDANCY_FILE_ENCODER_H
#define REDUNDANCY_FILE_ENCODER_H

#include "record_writer.h"
#include "redundancy/match/kept_log.h"

struct file_encoder {
    int in, out;
    const struct sl_redundancy_file_config *config;
    struct sl_redundancy_file_stats *stats;
    struct sl_sampling_table *table;
    struct record_writer *writer;
    struct kept_log kept; /* the cache that the file begins with */
    uint64_t position;    /* of the next frame */
    unsigned n_threads;
};

/* Of its matcher; the caller sets batch_len and max_items. */
void file_redundancy_config(struct sl_redundancy_config *redundancy,
                            const struct sl_redundancy_file_config *config);

/* Once all that can be refused is made: writes the file's header and makes the writer. */
enum sl_status file_begin(struct file_encoder *e, struct sl_diag *diag);

/* SL_EUNSUPPORTED: a part more would be too much. */
enum sl_status file_check_length(const struct file_encoder *e, struct sl_diag *diag);

/* The writer's room holds the frame of the next part, `len` bytes of the file. */
void file_put_frame(struct file_encoder *e, uint32_t frame_len, uint32_t len);

/* encode_file_batches.c: all of the file, whole batches at once (sl_batch_encoder). */
enum sl_status file_encode_batches(struct file_encoder *e, struct sl_diag *diag);

#endif
