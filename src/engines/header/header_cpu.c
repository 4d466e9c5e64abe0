/* SPDX-License-Identifier: MIT */
#include "engines/header/header_cpu.h"

#include <stdlib.h>

#include "base/diag.h"

struct header_cpu {
    const struct sl_header_table *table;
    struct sl_limits limits;
    header_run *run;
    enum sl_status status;
};

enum sl_status header_cpu_open(void **context, const void *table, const struct sl_limits *limits,
                               header_run *run, struct sl_diag *diag)
{
    struct header_cpu *cpu;
    const enum sl_status status = header_table_check(table, diag);

    if (status != SL_OK)
        return status;
    cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of the header checks");
    cpu->table = table;
    cpu->limits = *limits;
    cpu->run = run;
    *context = cpu;
    return SL_OK;
}

enum sl_status header_cpu_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct header_cpu *cpu = context;

    if (batch->memory == SL_MEMORY_DEVICE || batch->packet == NULL ||
        batch->n_items > cpu->limits.max_items || batch->bytes_len > cpu->limits.max_bytes)
        return SL_EINVAL;
    hits->n = 0;
    cpu->run(cpu->table, batch, hits);
    cpu->status = hits->n > hits->cap ? SL_EOVERFLOW : SL_OK;
    return SL_OK;
}

enum sl_status header_cpu_wait(void *context)
{
    const struct header_cpu *cpu = context;

    return cpu->status;
}

void header_cpu_close(void *context)
{
    free(context);
}

static uint64_t scalar_sum(const uint8_t *bytes, uint32_t begin, uint32_t end)
{
    uint64_t even = 0;
    uint64_t odd = 0;
    uint64_t word[2];
    uint32_t i = begin;

    if ((i & 1) != 0 && i < end)
        odd = (uint64_t)bytes[i++] << 8;
    for (; i + sizeof word <= end; i += sizeof word) {
        __builtin_prefetch(bytes + i + HEADER_SUM_AHEAD);
        memcpy(word, bytes + i, sizeof word);
        even += header_halves(word[0]);
        odd += header_halves(word[1]);
    }
    if (i < end) {
        memcpy(word, bytes + i, sizeof word);
        even += header_halves(header_keep(word[0], i, i, end));
        odd += header_halves(header_keep(word[1], i + 8, i, end));
    }
    return even + odd;
}

static void scalar_run(const struct sl_header_table *table, const struct sl_batch *batch,
                       struct sl_hits *hits)
{
    header_loop(table, batch, hits, scalar_sum);
}

static bool scalar_usable(char why[SL_WHY_LEN])
{
    (void)why;
    return true;
}

static enum sl_status scalar_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    return header_cpu_open(context, table, limits, scalar_run, diag);
}

const struct sl_backend header_scalar = {
    .name = "scalar",
    .device = SL_DEVICE_CPU,
    .usable = scalar_usable,
    .open = scalar_open,
    .submit = header_cpu_submit,
    .wait = header_cpu_wait,
    .close = header_cpu_close,
};
