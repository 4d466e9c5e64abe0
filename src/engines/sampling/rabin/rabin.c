/* SPDX-License-Identifier: MIT */
/* Building a table of Rabin's fingerprints, and the backends. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/diag.h"
#include "engines/sampling/papers/sampling_papers.h"
#include "engines/sampling/sampling_internal.h"
#include "rabin_core.h"
#include "rabin_polynomial.h"

enum { DEGREE_MIN = 53, DEGREE_MAX = 63 };

static enum sl_status check(const struct sl_sampling_config *config, struct sl_diag *diag)
{
    const uint64_t polynomial = config->polynomial;

    if ((config->period & (config->period - 1)) != 0)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "a period of %u bytes (expected a power of two for rabin)", config->period);
    if (polynomial >> DEGREE_MIN == 0)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "polynomial 0x%" PRIx64 " (expected one of degree %d to %d)", polynomial,
                        DEGREE_MIN, DEGREE_MAX);
    if (!rabin_irreducible(polynomial))
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "polynomial 0x%" PRIx64 " is reducible (expected an irreducible one)",
                        polynomial);
    return SL_OK;
}

/* A residue's 32 highest bits, and its 32 lowest. */
static uint64_t in_words(uint64_t residue, uint32_t degree)
{
    return residue >> (degree - 32) << 32 | (uint32_t)residue;
}

static void fill(struct rabin_table *table, const struct sl_sampling_config *config)
{
    const uint64_t polynomial = config->polynomial;
    const uint32_t degree = rabin_degree(polynomial);
    const uint64_t above = rabin_x_power(degree, polynomial);
    const uint64_t oldest = rabin_x_power(8 * (config->window - 1), polynomial);
    const uint64_t left = rabin_x_power(8 * config->window, polynomial);

    /* The term that turns a magic that moved by one step into itself again. */
    const uint64_t magic = config->magic & (config->period - 1);
    const uint64_t moved = rabin_multiply(rabin_x_power(8, polynomial), magic, polynomial) ^ magic;

    table->polynomial = polynomial;
    table->mask = config->period - 1;
    table->magic = magic;
    table->degree = degree;
    table->shift = degree - 8;
    for (uint64_t byte = 0; byte < 256; byte++) {
        table->push[byte] = rabin_multiply(above, byte, polynomial) ^ byte << degree;
        table->oldest[byte] = rabin_multiply(oldest, byte, polynomial);
        table->left[byte] = rabin_multiply(left, byte, polynomial);
        table->push_words[byte] = in_words(rabin_multiply(above, byte, polynomial), degree);
        table->left_words[byte] = in_words(table->left[byte] ^ moved, degree);
    }
    rabin_filter_init(&table->filter, polynomial, config->window, table->magic, table->mask);
}

static enum sl_status rabin_build(struct sl_sampling_table **table,
                                  const struct sl_sampling_config *config, struct sl_diag *diag)
{
    const enum sl_status status = check(config, diag);

    if (status != SL_OK)
        return status;

    struct rabin_table *made = (struct rabin_table *)calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the tables of rabin");
    made->head = (struct sl_sampling_table){
        .len = sizeof *made, .window = config->window, .period = config->period};
    fill(made, config);
    *table = &made->head;
    return SL_OK;
}

extern const struct sl_backend rabin_clmul_avx512;
extern const struct sl_backend rabin_clmul_avx2;
extern const struct sl_backend rabin_streams;
extern const struct sl_backend rabin_tiled;
extern const struct sl_backend rabin_cuda;
#define DECLARE(variant, backend) extern const struct sl_backend backend;
RABIN_PAPERS_BUILT(DECLARE)

#define POINTER(variant, backend) &(backend),
static const struct sl_backend *const backends[] = {
    &rabin_clmul_avx512, &rabin_clmul_avx2, &rabin_streams,
    &rabin_tiled,        &rabin_cuda,       RABIN_PAPERS_BUILT(POINTER) NULL};

static const struct sl_engine engine = {
    .name = "sampling.rabin", .backends = backends, .takes = sampling_takes};

extern const struct sampler sampler_rabin;
const struct sampler sampler_rabin = {.name = "rabin", .build = rabin_build, .engine = &engine};
