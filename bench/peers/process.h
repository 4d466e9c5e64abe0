/* SPDX-License-Identifier: MIT */
/* A peer, or the command itself, as a process of its own. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Of a process and those that it started and waited for. */
struct process_cost {
    double seconds;     /* by the host's clock */
    double cpu_seconds; /* of all cores */
    uint64_t memory;    /* bytes of the largest of them at its peak; at least what this one has */
};

/* Words of lines that a program prints: what it costs counts from one to the other. */
struct process_span {
    const char *from, *to;
};

/* Runs a program, found as the shell does; its output is dropped. span NULL: from its start to its
 * end. False: it cannot be started, ends with an error, or does not print the words. */
bool process_run(char *const *arguments, const struct process_span *span,
                 struct process_cost *cost);

#endif
