/* SPDX-License-Identifier: MIT */
/* A packet cache that outlives its process, in a file: docs/frames.md has the bytes. */
#ifndef REDUNDANCY_KEPT_LOG_H
#define REDUNDANCY_KEPT_LOG_H

#include "packet_log.h"

/* A file's description of the log in it. */
struct kept_log {
    uint32_t epoch;
    uint32_t decoder;    /* the number of the decoder that has it, too; 0: none */
    uint64_t start, end; /* log offsets */
    uint64_t n_runs;     /* of known bytes */
    uint64_t check;      /* of the bytes and the runs */
    uint64_t id;         /* of offsets, runs and check: two logs of one id are the same */
};

/* Describes the last `len` bytes of a log, at most. The caller sets epoch and decoder before. */
void kept_describe(struct kept_log *kept, const struct packet_log *log, uint64_t len);

/* Writes what was described. SL_EIO. */
enum sl_status kept_write(int fd, const struct kept_log *kept, const struct packet_log *log,
                          struct sl_diag *diag);

/* Reads a log: of a longer one its last bytes. An empty file is an empty log. SL_EFORMAT,
 * SL_ETRUNCATED, SL_EUNSUPPORTED, SL_EIO: the log is empty then. */
enum sl_status kept_read(int fd, struct kept_log *kept, struct packet_log *log,
                         struct sl_diag *diag);

#endif
