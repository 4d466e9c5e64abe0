/* SPDX-License-Identifier: MIT */
/* SAMPLEBYTE: the table, which dynabyte has too, and the backends. */
#include "samplebyte.h"

#include <stdlib.h>

#include "base/diag.h"
#include "engines/sampling/papers/sampling_papers.h"

struct sl_dynabyte_state samplebyte_first_state(const bool marker[256], uint32_t period)
{
    struct sl_dynabyte_state state = {.skip = 256 * (period / 2)};

    for (uint32_t byte = 0; byte < 256; byte++)
        if (marker[byte])
            state.marker[byte / 32] |= 1u << byte % 32;
    return state;
}

enum sl_status samplebyte_build(struct sl_sampling_table **table,
                                const struct sl_sampling_config *config, struct sl_diag *diag)
{
    const struct sl_dynabyte_state state = samplebyte_first_state(config->marker, config->period);
    uint32_t any = 0;

    for (int i = 0; i < 8; i++)
        any |= state.marker[i];
    if (any == 0)
        return diag_set(diag, SL_EINVAL, NULL, 0, "no marker byte for %s (expected at least one)",
                        config->sampler);

    struct samplebyte_table *made = (struct samplebyte_table *)calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the table of %s", config->sampler);
    made->head = (struct sl_sampling_table){
        .len = sizeof *made, .window = config->window, .period = config->period};
    samplebyte_marks_set(&made->marks, &state);
    *table = &made->head;
    return SL_OK;
}

#define BACKEND(label, is_usable)                                                             \
    static enum sl_status label##_scan(struct cpu_context *cpu, const struct sl_batch *batch, \
                                       struct sl_hits *hits)                                  \
    {                                                                                         \
        const struct samplebyte_table *table = (const struct samplebyte_table *)cpu->table;   \
                                                                                              \
        samplebyte_scan_##label(&table->head, &table->marks, batch, hits);                    \
        return SL_OK;                                                                         \
    }                                                                                         \
    CPU_BACKEND_WHERE(samplebyte_##label, #label, is_usable, label##_scan)

BACKEND(avx512, samplebyte_avx512_usable);
BACKEND(avx2, samplebyte_avx2_usable);
BACKEND(scalar, cpu_backend_usable);
BACKEND(tiled, cpu_backend_usable);

extern const struct sl_backend samplebyte_cuda;
#define DECLARE(variant, backend) extern const struct sl_backend backend;
SAMPLEBYTE_PAPERS_BUILT(DECLARE)

#define POINTER(variant, backend) &(backend),
static const struct sl_backend *const backends[] = {
    &samplebyte_avx512, &samplebyte_avx2,  &samplebyte_cuda,
    &samplebyte_scalar, &samplebyte_tiled, SAMPLEBYTE_PAPERS_BUILT(POINTER) NULL};

static const struct sl_engine engine = {
    .name = "sampling.samplebyte", .backends = backends, .takes = sampling_takes};

extern const struct sampler sampler_samplebyte;
const struct sampler sampler_samplebyte = {
    .name = "samplebyte", .build = samplebyte_build, .engine = &engine};
