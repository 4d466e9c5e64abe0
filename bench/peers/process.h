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

/* Runs a program, found as the shell does; its output is dropped. False: it cannot be started, or
 * ends with an error. */
bool process_run(char *const *arguments, struct process_cost *cost);

#endif
