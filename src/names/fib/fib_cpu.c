/* SPDX-License-Identifier: MIT */
/* The part that CPU backends share. */
#include <stdlib.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "base/reserved.h"
#include "fib_internal.h"

struct fib_cpu {
    struct sl_fib_table *table;
    struct sl_limits limits;
    struct fib_reader_epoch *reader;
};

bool fib_cpu_usable(char why[SL_WHY_LEN])
{
    (void)why;
    return true;
}

bool fib_cpu_usable_avx2(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX2, why);
}

bool fib_cpu_usable_avx512(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX512, why);
}

enum sl_status fib_cpu_open(void **context, struct sl_fib_table *table,
                            const struct sl_limits *limits, struct sl_diag *diag)
{
    const enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    struct fib_cpu *cpu = (struct fib_cpu *)calloc(1, sizeof *cpu);
    if (cpu != NULL)
        cpu->reader = fib_reader_open(table);
    if (cpu == NULL || cpu->reader == NULL) {
        free(cpu);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    }
    cpu->table = table;
    cpu->limits = *limits;
    *context = cpu;
    return SL_OK;
}

enum sl_status fib_cpu_submit(void *context, const struct sl_batch *batch,
                              const struct sl_fib_answers *answers, fib_cpu_lookup *lookup)
{
    struct fib_cpu *cpu = (struct fib_cpu *)context;

    if (batch->memory == SL_MEMORY_DEVICE || !fib_batch_fits(batch, &cpu->limits, answers))
        return SL_EINVAL;
    lookup(fib_reader_enter(cpu->table, cpu->reader), batch, answers->next_hop,
           answers->prefix_len);
    fib_reader_exit(cpu->reader);
    return SL_OK;
}

enum sl_status fib_cpu_wait(void *context)
{
    (void)context;
    return SL_OK;
}

void fib_cpu_close(void *context)
{
    struct fib_cpu *cpu = (struct fib_cpu *)context;

    if (cpu == NULL)
        return;
    fib_reader_close(cpu->table, cpu->reader);
    free(cpu);
}
