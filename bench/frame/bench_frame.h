/* SPDX-License-Identifier: MIT */
/* The way of all output: the heading, the format, the results. */
#ifndef BENCH_FRAME_H
#define BENCH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct json_t;

struct bench_frame {
    uint32_t runs;          /* counted runs of each row, after one warm-up */
    bool json;              /* rows as JSON lines */
    bool saved;             /* the rows come from a file */
    struct json_t *results; /* all rows go into it: results.h */
};

/* Prints the machine and the number of runs, once, before the first output. A command line that is
 * refused thus prints its error alone. */
void bench_print_head(const struct bench_frame *frame);

/* Puts the words of the command line, ended by NULL, into the results. */
void bench_record_command(const struct bench_frame *frame, char *const *words);

/* Puts the share of all cores that other processes had into the results, and prints a large one. */
void bench_record_others(const struct bench_frame *frame, double percent);

#endif
