/* SPDX-License-Identifier: MIT */
/* The files that a command line names as data. */
#ifndef BENCH_INPUT_H
#define BENCH_INPUT_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
