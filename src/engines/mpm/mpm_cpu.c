/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/diag.h"
#include "mpm_internal.h"

bool mpm_cpu_usable(char why[SL_WHY_LEN])
{
    (void)why;
    return true;
}

enum sl_status mpm_cpu_open(void **context, const void *table, const struct sl_limits *limits,
                            struct sl_diag *diag)
{
    struct mpm_cpu *cpu = (struct mpm_cpu *)calloc(1, sizeof *cpu);

    if (cpu == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    cpu->table = (const struct sl_mpm_table *)table;
    cpu->limits = *limits;
    *context = cpu;
    return SL_OK;
}

enum sl_status mpm_cpu_submit(struct mpm_cpu *cpu, const struct sl_batch *batch,
                              struct sl_hits *hits, mpm_scan *scan)
{
    if (batch->memory == SL_MEMORY_DEVICE || batch->n_items > cpu->limits.max_items ||
        batch->bytes_len > cpu->limits.max_bytes)
        return SL_EINVAL;
    hits->n = 0;
    cpu->status = scan(cpu, batch, hits);
    if (cpu->status == SL_OK && hits->n > hits->cap)
        cpu->status = SL_EOVERFLOW;
    return SL_OK;
}

enum sl_status mpm_cpu_wait(void *context)
{
    return ((const struct mpm_cpu *)context)->status;
}

void mpm_cpu_close(void *context)
{
    free(context);
}
