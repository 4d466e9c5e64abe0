/* SPDX-License-Identifier: MIT */
/* Building the gram matcher. */
#include "gram_draft.h"

#include <stdlib.h>

#include "base/diag.h"
#include "engines/mpm/ac/ac.h"
#include "gram_check.h"

static const char name[] = "gram";

enum {
    CHEAP_KEY = 8,  /* entries of a key, */
    CHEAP_LEN = 32, /* and bytes of a literal, that may be verified wherever a window passes */
    ROWS_CPU = 4096 /* of the automaton: 2 MiB */
};

_Static_assert((int)CHEAP_LEN <= (int)SL_LITERAL_LEN_MAX, "some literal may be longer");

/* Literals that could cost much wherever a window passes: long ones, large groups, those without
 * windows, and all of a key that has many. */
static void find_dear(struct gram_builder *builder)
{
    const struct gram_draft *drafts = builder->drafts;

    for (size_t i = 0, end; i < builder->n_drafts; i = end) {
        for (end = i + 1; end < builder->n_drafts && drafts[end].place == drafts[i].place &&
                          drafts[end].key == drafts[i].key;)
            end++;
        for (size_t k = i; k < end; k++)
            builder->dear[drafts[k].share.group] |=
                drafts[k].place != GRAM_PLACE_DICTIONARY || end - i > CHEAP_KEY ||
                drafts[k].len > CHEAP_LEN || drafts[k].share.end - drafts[k].share.first > 1;
    }
}

/* Drafts are sorted, and again then. A GPU's automaton has all literals: there, what is given up is
 * left to it alone. */
static bool make_automaton(struct gram_builder *builder, enum sl_device_kind device,
                           struct sl_diag *diag)
{
    const bool on_gpu = device == SL_DEVICE_CUDA;

    if (on_gpu || builder->walk_max > GRAM_WALK_USUAL)
        memset(builder->dear, true, builder->set->n_groups);
    else
        find_dear(builder);
    for (size_t i = 0; i < builder->n_drafts; i++)
        builder->drafts[i].dear = builder->dear[builder->drafts[i].share.group];
    if (builder->n_drafts > 1)
        qsort(builder->drafts, builder->n_drafts, sizeof *builder->drafts, gram_compare_drafts);
    if (!mpm_set_pick(&builder->in_automaton, builder->set, builder->dear))
        return false;
    builder->automaton =
        ac_automaton_create(&builder->in_automaton, on_gpu ? AC_ROWS_MAX : ROWS_CPU, diag);
    return builder->automaton != NULL;
}

static bool builder_init(struct gram_builder *builder, const struct mpm_set *set,
                         const struct sl_mpm_config *config)
{
    const size_t n_drafts = (size_t)set->n_literals * GRAM_STRIDE_MAX;

    builder->set = set;
    builder->dear = (bool *)calloc(set->n_groups + (size_t)1, sizeof *builder->dear);
    builder->stride = GRAM_STRIDE_MAX;
    builder->drafts = (struct gram_draft *)malloc((n_drafts + 1) * sizeof *builder->drafts);
    if (config->device == SL_DEVICE_CUDA) {
        builder->windowed = (struct gram_windowed *)malloc(((size_t)set->n_literals + 1) *
                                                           sizeof *builder->windowed);
        if (builder->windowed == NULL)
            return false;
    }
    return builder->dear != NULL && builder->drafts != NULL &&
           gram_model_init(&builder->model, config->sample, set->learned);
}

static bool make_sieve(struct gram_builder *builder, enum sl_device_kind device)
{
    return device != SL_DEVICE_CUDA ||
           gram_sieve_build(&builder->sieve, builder->set, &builder->model, builder->windowed,
                            builder->n_windowed);
}

static enum sl_status gram_build(struct sl_mpm_table **table, const struct mpm_set *set,
                                 const struct sl_mpm_config *config, struct sl_diag *diag)
{
    struct gram_builder builder = {0};
    struct sl_mpm_table *made = NULL;

    if (builder_init(&builder, set, config)) {
        for (uint32_t group = 0; group < set->n_groups; group++)
            gram_add_group(&builder, group);
        const bool has_tiny = gram_make_tiny(&builder);
        qsort(builder.drafts, builder.n_drafts, sizeof *builder.drafts, gram_compare_drafts);
        gram_count_keys(&builder);
        if (has_tiny && gram_make_slots(&builder) &&
            make_automaton(&builder, config->device, diag) && gram_make_filter(&builder) &&
            make_sieve(&builder, config->device))
            made = gram_make_table(&builder, config->device);
    }
    ac_automaton_free(builder.automaton);
    mpm_set_clear(&builder.in_automaton);
    free(builder.dear);
    free(builder.slots);
    free(builder.words);
    free(builder.windowed);
    gram_sieve_clear(&builder.sieve);
    gram_model_clear(&builder.model);
    free(builder.drafts);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the windows of %u literals",
                        set->n_literals);
    *table = made;
    return SL_OK;
}

extern const struct sl_backend mpm_gram_cuda;
extern const struct sl_backend mpm_gram_avx512;
extern const struct sl_backend mpm_gram_avx2;
extern const struct sl_backend mpm_gram_scalar;
extern const struct sl_backend mpm_gram_tiled;

static const struct sl_backend *const backends[] = {
    &mpm_gram_cuda, &mpm_gram_avx512, &mpm_gram_avx2, &mpm_gram_scalar, &mpm_gram_tiled, NULL};

static const struct sl_engine engine = {
    .name = "mpm.gram", .backends = backends, .takes = mpm_takes};

const struct mpm_algorithm mpm_gram = {
    .name = name, .build = gram_build, .check = gram_check, .engine = &engine};
