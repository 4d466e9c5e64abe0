/* SPDX-License-Identifier: MIT */
/* The input and the output of a command that makes one file of another, and a line of progress. */
#ifndef CLI_FILE_PAIR_H
#define CLI_FILE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/status.h"

/* "-" is standard input or standard output. */
struct file_pair {
    const char *in_path, *out_path;
    int in, out;
    bool is_new; /* the output did not exist before */
    bool begun;  /* the old content of the output is given up, and the output was cut */
    bool uncut;  /* cutting failed, and the error was printed */

    /* Progress on the user's terminal. */
    bool shows, shown;
    uint64_t begin_ns, last_ns;
};

/* Opens both. The output keeps its content until the first file_pair_progress. `quiet`: no
 * progress, as where stderr is no terminal. False: the reason was printed. */
bool file_pair_open(struct file_pair *files, bool quiet);

/* For struct sl_redundancy_file_config; user: the files. */
void file_pair_progress(void *user, uint64_t bytes_in, uint64_t bytes_out);

/* Clears the line of progress, after the work. */
void file_pair_end(struct file_pair *files);

/* Prints the system's refusal (SL_EIO) with the names of both files. */
void file_pair_print_refusal(const struct file_pair *files, const struct sl_diag *diag);

/* Closes both, and removes a new output that was not begun. False: the output is not complete, and
 * the reason was printed. */
bool file_pair_close(struct file_pair *files);

#endif
