/* SPDX-License-Identifier: MIT */
/* Steps that the tests of every engine share, with one of its backends, on any device. */
#ifndef ENGINE_FIXTURE_H
#define ENGINE_FIXTURE_H

#include "sluice/device.h"
#include "sluice/engine.h"

/* NULL: the engine has no such backend. */
const struct sl_backend *engine_backend(const struct sl_engine *engine, const char *name);

/* Submits a host batch and waits. A backend of CUDA gets the batch through the stage. */
enum sl_status engine_scan(const struct sl_backend *backend, void *context, struct sl_stage *stage,
                           const struct sl_batch *host, struct sl_hits *hits);

/* Submits batches outside the limits of the context, and a batch in the other device's memory. Each
 * has to be refused. */
void engine_refuses(const struct sl_backend *backend, void *context,
                    const struct sl_limits *limits);

#endif
