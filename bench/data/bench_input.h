/* SPDX-License-Identifier: MIT */
/* The files that a command line names as data. */
#ifndef BENCH_INPUT_H
#define BENCH_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/rule_files.h"

struct bench_input {
    const char **paths; /* captures, or the generated one */
    size_t n_paths;
    const char **file_paths; /* files instead of captures */
    size_t n_file_paths;
    struct rule_files rule_files; /* their literals; generated ones where none were named */
    const char **literal_paths;   /* files of literals, instead of rule files */
    size_t n_literal_paths;
    const char *names_path; /* names of tables; generated ones where NULL */
    char generated[64];     /* the generated capture, "" where none; the caller removes it */
};

/* Writes a capture into a temporary file, and adds it to the captures. False: an error was printed.
 */
bool bench_generate(struct bench_input *input);

/* The same of one flow alone, whose file the caller removes. */
bool bench_generate_flow(char path[64]);

/* Packets of 800 bytes mean; of the lengths that real captures have; of one flow. */
enum bench_traffic { BENCH_EVEN, BENCH_MIXED, BENCH_ALONE_FLOW };

/* Writes a capture with packets of at least bytes_len bytes into a temporary file, which the caller
 * removes. False: an error was printed. */
bool bench_generate_traffic(char path[64], enum bench_traffic traffic, uint64_t bytes_len);

/* The same of the packets on Ethernet that the captures hold, one pass behind the other. Time goes
 * on. long_capture.c */
bool bench_repeat_captures(char path[64], const struct bench_input *input, uint64_t bytes_len);

#endif
