/* SPDX-License-Identifier: MIT */
#include "batch/cpu_backend.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"

bool cpu_backend_usable(char why[SL_WHY_LEN])
{
    (void)why;
    return true;
}

enum sl_status cpu_backend_open(void **context, const void *table, const struct sl_limits *limits,
                                struct sl_diag *diag)
{
    const enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    struct cpu_context *cpu = (struct cpu_context *)calloc(1, sizeof *cpu);
    if (cpu == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    cpu->table = table;
    cpu->limits = *limits;
    *context = cpu;
    return SL_OK;
}

enum sl_status cpu_backend_submit(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits, cpu_scan *scan)
{
    if (batch->memory == SL_MEMORY_DEVICE || batch->n_items > cpu->limits.max_items ||
        batch->bytes_len > cpu->limits.max_bytes)
        return SL_EINVAL;
    hits->n = 0;
    hits->in_order = false;
    cpu->status = scan(cpu, batch, hits);
    if (cpu->status == SL_OK && hits->n > hits->cap)
        cpu->status = SL_EOVERFLOW;
    return SL_OK;
}

enum sl_status cpu_backend_wait(void *context)
{
    return ((const struct cpu_context *)context)->status;
}

void cpu_backend_close(void *context)
{
    free(context);
}
