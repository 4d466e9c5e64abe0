/* SPDX-License-Identifier: MIT */
/* An engine that is slow at random, finds each 'x', and fails on demand. */
#ifndef SLOW_ENGINE_H
#define SLOW_ENGINE_H

#include <stdatomic.h>

#include "sluice/engine.h"

struct slow_table {
    atomic_int fail_submit_in; /* submits before one fails; below 0: none fails */
    atomic_int fail_wait_in;
};

extern const struct sl_engine slow_engine; /* has one backend, "test", for CPUs */
extern const struct sl_backend slow_backend;

/* The backend's functions, for backends of a test's own. */
bool slow_usable(char why[SL_WHY_LEN]);
enum sl_status slow_open(void **context, const void *table, const struct sl_limits *limits,
                         struct sl_diag *diag);
enum sl_status slow_submit(void *opaque, const struct sl_batch *batch, struct sl_hits *hits);
enum sl_status slow_wait(void *opaque);

#endif
