/* SPDX-License-Identifier: MIT */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stddef.h>

#include "sluice/device.h"

struct json_t;

/* The conditions of figures: processor, cores, memory, GPU, versions, and the date. */
struct json_t *bench_machine(const struct sl_device *device);

/* The same in a line, without versions. */
void bench_machine_text(const struct json_t *machine, char *text, size_t text_len);

/* Seconds of all cores since the machine was started, and of this process and its children. */
struct bench_load {
    double total_s, busy_s, own_s;
};

struct bench_load bench_load_now(void);

/* Percent of all cores that other processes, or other machines on the same host, took since. */
double bench_load_of_others(const struct bench_load *begin);

#endif
