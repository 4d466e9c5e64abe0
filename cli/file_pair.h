/* SPDX-License-Identifier: MIT */
/* What sluice encode and sluice decode share: two files, a line of progress. */
#ifndef CLI_ENCODE_H
#define CLI_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/status.h"

/* Input and output of a command: "-" are standard input and output. */
struct file_pair {
    const char *in_path, *out_path;
    int in, out;
    bool is_new; /* the output was not there before */
    bool begun;  /* what the output had is given up, and it has been cut */
    bool uncut;  /* it could not be cut, and why was said */

    /* Bytes so far, on the user's terminal. */
    bool shows, shown;
    uint64_t begin_ns, last_ns;
};

/* Opens both; the output keeps what it has until file_pair_show is called. `quiet`: without
 * progress, as where stderr is no terminal. False: why was said. */
bool file_pair_open(struct file_pair *files, bool quiet);

/* For struct sl_redundancy_file_config; user: the files. */
void file_pair_show(void *user, uint64_t bytes_in, uint64_t bytes_out);

/* To be called behind the work; takes the progress away. */
void file_pair_end(struct file_pair *files);

/* Says of the system's refusal (SL_EIO) which files it is of. */
void file_pair_refused(const struct file_pair *files, const struct sl_diag *diag);

/* Takes away an output that is new and was not begun. False: the output could not be completed, and
 * why was said. */
bool file_pair_close(struct file_pair *files);

/* "12", "12K", "12M" or "12G" (powers of 1,024) in bytes. False: it is none of these. */
bool parse_bytes(const char *text, uint64_t *bytes);

#endif
