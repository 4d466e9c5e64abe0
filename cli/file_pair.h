/* SPDX-License-Identifier: MIT */
/* The input and the output of a command that makes one file of another, and a line of progress. */
#ifndef CLI_FILE_PAIR_H
#define CLI_FILE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/new_file.h"
#include "sluice/status.h"

/* "-" is standard input or standard output. */
struct file_pair {
    const char *in_path, *out_path;
    bool force; /* an output that is there is overwritten */
    bool quiet; /* no progress and no question */

    int in, out;
    bool makes;           /* the output is a file, which appears at the end */
    struct new_file file; /* then */

    /* Progress on the user's terminal. */
    bool shows, shown;
    uint64_t begin_ns, last_ns;
};

/* The fate of an output that is a file. */
enum file_pair_end {
    FILE_PAIR_WHOLE,  /* it takes its path */
    FILE_PAIR_PART,   /* the same where nothing is there, else OUT.partial */
    FILE_PAIR_NOTHING /* it is removed */
};

/* Opens both. False: the reason was printed. */
bool file_pair_open(struct file_pair *files);

/* For struct sl_redundancy_file_config; user: the files. */
void file_pair_progress(void *user, uint64_t bytes_in, uint64_t bytes_out);

/* Clears the line of progress, after the work. */
void file_pair_end(struct file_pair *files);

/* Prints the system's refusal (SL_EIO) with the names of both files. */
void file_pair_print_refusal(const struct file_pair *files, const struct sl_diag *diag);

/* Closes both. Where a part was kept, file.path is where. False: the output could not be written,
 * and the reason was printed. */
bool file_pair_close(struct file_pair *files, enum file_pair_end end);

#endif
