/* SPDX-License-Identifier: MIT */
#include "header_cpu.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"

struct header_cpu {
    struct cpu_context cpu;
    header_run *run;
};

enum sl_status header_cpu_open(void **context, const void *table, const struct sl_limits *limits,
                               header_run *run, struct sl_diag *diag)
{
    struct header_cpu *header;
    const enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    header = calloc(1, sizeof *header);
    if (header == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context of the header checks");
    header->cpu.table = table;
    header->cpu.limits = *limits;
    header->run = run;
    *context = header;
    return SL_OK;
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    ((const struct header_cpu *)cpu)->run(cpu->table, batch, hits);
    return SL_OK;
}

enum sl_status header_cpu_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    if (batch->packet == NULL)
        return SL_EINVAL;
    return cpu_backend_submit(context, batch, hits, scan);
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

uint64_t sl_header_tripped(const struct sl_header_table *table, const struct sl_batch *batch,
                           uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];

    return header_packet(table, packet, batch->bytes + packet->offset, scalar_sum);
}

HEADER_CPU_BACKEND(header_scalar, "scalar", cpu_backend_usable, scalar_run);
