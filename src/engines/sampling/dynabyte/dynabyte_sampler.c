/* SPDX-License-Identifier: MIT */
/* DYNABYTE as a sampler: samplebyte's scans by the state that a context was given. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "engines/sampling/samplebyte/samplebyte.h"

struct dynabyte_cpu {
    struct dynabyte_head head;
    struct cpu_context cpu;
};

enum sl_status sl_dynabyte_use(void *context, const struct sl_dynabyte_state *state)
{
    struct dynabyte_head *head = (struct dynabyte_head *)context;

    if (head->magic != DYNABYTE_MAGIC)
        return SL_EINVAL;
    samplebyte_marks_set(&head->marks, state);
    return SL_OK;
}

static enum sl_status open_cpu(void **context, const void *table, const struct sl_limits *limits,
                               struct sl_diag *diag)
{
    const enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    struct dynabyte_cpu *made = (struct dynabyte_cpu *)calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a context");
    made->head = (struct dynabyte_head){.magic = DYNABYTE_MAGIC,
                                        .marks = ((const struct samplebyte_table *)table)->marks};
    made->cpu = (struct cpu_context){.table = table, .limits = *limits};
    *context = made;
    return SL_OK;
}

static const struct samplebyte_marks *marks_of(const struct cpu_context *cpu)
{
    const char *context = (const char *)cpu - offsetof(struct dynabyte_cpu, cpu);

    return &((const struct dynabyte_cpu *)(const void *)context)->head.marks;
}

static enum sl_status wait_cpu(void *context)
{
    return ((const struct dynabyte_cpu *)context)->cpu.status;
}

#define BACKEND(label, is_usable)                                                             \
    static enum sl_status label##_scan(struct cpu_context *cpu, const struct sl_batch *batch, \
                                       struct sl_hits *hits)                                  \
    {                                                                                         \
        samplebyte_scan_##label((const struct sl_sampling_table *)cpu->table, marks_of(cpu),  \
                                batch, hits);                                                 \
        return SL_OK;                                                                         \
    }                                                                                         \
    static enum sl_status label##_submit(void *context, const struct sl_batch *batch,         \
                                         struct sl_hits *hits)                                \
    {                                                                                         \
        return cpu_backend_submit(&((struct dynabyte_cpu *)context)->cpu, batch, hits,        \
                                  label##_scan);                                              \
    }                                                                                         \
    static const struct sl_backend label = {.name = #label,                                   \
                                            .device = SL_DEVICE_CPU,                          \
                                            .usable = (is_usable),                            \
                                            .open = open_cpu,                                 \
                                            .submit = label##_submit,                         \
                                            .wait = wait_cpu,                                 \
                                            .close = cpu_backend_close}

BACKEND(avx512, samplebyte_avx512_usable);
BACKEND(avx2, samplebyte_avx2_usable);
BACKEND(scalar, cpu_backend_usable);
BACKEND(tiled, cpu_backend_usable);

extern const struct sl_backend dynabyte_cuda;

static const struct sl_backend *const backends[] = {&avx512, &avx2,  &dynabyte_cuda,
                                                    &scalar, &tiled, NULL};

static const struct sl_engine engine = {
    .name = "sampling.dynabyte", .backends = backends, .takes = sampling_takes};

extern const struct sampler sampler_dynabyte;
const struct sampler sampler_dynabyte = {
    .name = "dynabyte", .build = samplebyte_build, .engine = &engine};
