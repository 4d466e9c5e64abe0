/* SPDX-License-Identifier: MIT */
/* The part that all backends on CPUs share: a context that does all its work in submit. */
#ifndef BATCH_CPU_BACKEND_H
#define BATCH_CPU_BACKEND_H

#include "sluice/engine.h"

/* A context; one that needs more begins with this. */
struct cpu_context {
    const void *table;
    struct sl_limits limits;
    enum sl_status status; /* for wait to return */
};

bool cpu_backend_usable(char why[SL_WHY_LEN]); /* everywhere */
enum sl_status cpu_backend_open(void **context, const void *table, const struct sl_limits *limits,
                                struct sl_diag *diag);
enum sl_status cpu_backend_wait(void *context);
void cpu_backend_close(void *context);

/* Appends the hits of all items. wait returns its status. */
typedef enum sl_status cpu_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                struct sl_hits *hits);

/* Submit: checks the batch, then scans it. */
enum sl_status cpu_backend_submit(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits, cpu_scan *scan);

static inline void cpu_hits_append(struct sl_hits *hits, uint32_t item, uint32_t offset,
                                   uint64_t id)
{
    if (hits->n < hits->cap)
        hits->hit[hits->n] = (struct sl_hit){item, offset, id};
    hits->n++;
}

/* Defines a backend that needs no more than a scan. is_usable is its `usable`. */
#define CPU_BACKEND_WHERE(symbol, label, is_usable, scan)                              \
    static enum sl_status symbol##_submit(void *context, const struct sl_batch *batch, \
                                          struct sl_hits *hits)                        \
    {                                                                                  \
        return cpu_backend_submit((struct cpu_context *)context, batch, hits, (scan)); \
    }                                                                                  \
    extern const struct sl_backend symbol;                                             \
    const struct sl_backend symbol = {.name = (label),                                 \
                                      .device = SL_DEVICE_CPU,                         \
                                      .usable = (is_usable),                           \
                                      .open = cpu_backend_open,                        \
                                      .submit = symbol##_submit,                       \
                                      .wait = cpu_backend_wait,                        \
                                      .close = cpu_backend_close}

/* The same for one that runs everywhere. */
#define CPU_BACKEND(symbol, label, scan) CPU_BACKEND_WHERE(symbol, label, cpu_backend_usable, scan)

#endif
