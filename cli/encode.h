/* SPDX-License-Identifier: MIT */
/* What sluice encode and sluice decode share: two files, a line of progress. */
#ifndef CLI_ENCODE_H
#define CLI_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

/* Input and output of a command: "-" are standard input and output. */
struct file_pair {
    const char *in_path, *out_path;
    int in, out;
};

/* Opens both; the output keeps what it has. False: why was said. */
bool file_pair_open(struct file_pair *files);

/* Cuts the output where it is a file. False: why was said. */
bool file_pair_cut(const struct file_pair *files, uint64_t len);

/* False: the output could not be completed, and why was said. */
bool file_pair_close(struct file_pair *files);

/* Bytes so far, on the user's terminal; nothing where stderr is none. */
struct byte_progress {
    bool on, shown;
    uint64_t begin_ns, last_ns;
};
void byte_progress_begin(struct byte_progress *progress, bool quiet);
void byte_progress_show(void *user, uint64_t bytes_in, uint64_t bytes_out); /* user: progress */
void byte_progress_end(struct byte_progress *progress);

/* "12", "12K", "12M" or "12G" (powers of 1,024) in bytes. False: it is none of these. */
bool parse_bytes(const char *text, uint64_t *bytes);

#endif
