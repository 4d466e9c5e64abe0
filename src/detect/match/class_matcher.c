/* SPDX-License-Identifier: MIT */
#include "class_matcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/least.h"
#include "batch/cpu_backend.h"

/* The literals of a class. */
struct part {
    const struct sl_mpm_table *table; /* NULL: the class wants none */
    struct sl_mpm_table *own;         /* the same, if it is not the table of all literals */
    uint32_t *id;                     /* of each literal; NULL: its number in the table */
};

struct class_matcher {
    struct sl_engine engine;
    struct sl_backend backend;
    const struct sl_backend *backends[2];
    struct part part[MATCH_CLASSES];
};

/* ---- building -------------------------------------------------------------------------------- */

/* `literals` has room for all. */
static enum sl_status build_part(struct part *part, enum match_class class,
                                 const struct rule_index *index, const struct sl_mpm_config *config,
                                 struct mpm_learned *learned, struct sl_literal *literals,
                                 struct sl_diag *diag)
{
    uint32_t n = 0;

    for (uint32_t id = 0; id < index->n_literals; id++)
        if (match_class_wants(class, &index->wants[id])) {
            part->id[n] = id;
            literals[n++] = index->literal[id];
        }
    if (n == 0)
        return SL_OK;
    const enum sl_status status = mpm_build_one(&part->own, config, literals, n, learned, diag);
    part->table = status == SL_OK ? part->own : NULL;
    return status;
}

static enum sl_status build_parts(struct class_matcher *matcher, const struct rule_index *index,
                                  const struct sl_mpm_config *config, struct mpm_learned *learned,
                                  struct sl_diag *diag)
{
    const size_t n = (size_t)index->n_literals + 1;
    struct sl_literal *literals = malloc(n * sizeof *literals);
    enum sl_status status = SL_OK;

    for (int class = MATCH_ANY + 1; class < MATCH_CLASSES && status == SL_OK; class ++) {
        struct part *part = &matcher->part[class];

        part->id = malloc(n * sizeof *part->id);
        status =
            literals != NULL && part->id != NULL
                ? build_part(part, (enum match_class) class, index, config, learned, literals, diag)
                : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    }
    free(literals);
    return status;
}

/* ---- scanning -------------------------------------------------------------------------------- */

struct context {
    struct cpu_context cpu; /* its table is the matcher */
    const struct sl_backend *backend[MATCH_CLASSES];
    void *of[MATCH_CLASSES]; /* NULL: the class is not scanned */
    uint8_t *class;          /* of each item of a batch */
    /* The items class by class: their numbers in the batch, and their bytes. */
    uint32_t *item;
    struct sl_span *payload;
    uint16_t *overlap;
    uint32_t begin[MATCH_CLASSES + 1]; /* of a class among them */
};

/* Lists the items of a batch class by class. */
static void sort_items(struct context *context, const struct sl_batch *batch)
{
    uint32_t *const begin = context->begin;
    uint32_t at[MATCH_CLASSES];

    memset(begin, 0, sizeof context->begin);
    for (uint32_t item = 0; item < batch->n_items; item++) {
        context->class[item] = (uint8_t)match_class_of(batch, item);
        begin[context->class[item] + 1]++;
    }
    for (int class = 0; class < MATCH_CLASSES; class ++) {
        begin[class + 1] += begin[class];
        at[class] = begin[class];
    }
    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint32_t to = at[context->class[item]]++;

        context->item[to] = item;
        context->payload[to] = batch->payload[item];
        context->overlap[to] = batch->has_overlap ? batch->overlap[item] : 0;
    }
}

/* Appends the hits of a class. */
static enum sl_status scan_class(struct context *context, const struct sl_batch *batch,
                                 enum match_class class, struct sl_hits *hits)
{
    const uint32_t *const id = ((const struct class_matcher *)context->cpu.table)->part[class].id;
    const uint32_t *const item = context->item + context->begin[class];
    const size_t used = least(hits->n, hits->cap);
    struct sl_hits found = {.hit = hits->hit + used, .cap = hits->cap - used};
    struct sl_batch picked = *batch;

    picked.n_items = context->begin[class + 1] - context->begin[class];
    picked.payload = context->payload + context->begin[class];
    picked.overlap = context->overlap + context->begin[class];
    picked.has_kind = false;
    picked.packet = NULL;
    picked.origin = NULL;
    if (picked.n_items == 0)
        return SL_OK;
    enum sl_status status = context->backend[class]->submit(context->of[class], &picked, &found);
    if (status == SL_OK)
        status = context->backend[class]->wait(context->of[class]);
    if (status != SL_OK && status != SL_EOVERFLOW)
        return status;
    for (size_t i = 0; i < least(found.n, found.cap); i++) {
        found.hit[i].item = item[found.hit[i].item];
        if (id != NULL)
            found.hit[i].id = id[found.hit[i].id];
    }
    hits->n += found.n;
    return SL_OK;
}

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    struct context *context = (struct context *)cpu;
    enum sl_status status = SL_OK;

    sort_items(context, batch);
    for (int class = 0; class < MATCH_CLASSES && status == SL_OK; class ++)
        if (context->of[class] != NULL)
            status = scan_class(context, batch, (enum match_class) class, hits);
    return status;
}

static enum sl_status matcher_submit(void *context, const struct sl_batch *batch,
                                     struct sl_hits *hits)
{
    return cpu_backend_submit(context, batch, hits, scan);
}

static void matcher_close(void *opened)
{
    struct context *context = opened;

    if (context == NULL)
        return;
    for (int class = 0; class < MATCH_CLASSES; class ++)
        if (context->of[class] != NULL)
            context->backend[class]->close(context->of[class]);
    free(context->class);
    free(context->item);
    free(context->payload);
    free(context->overlap);
    free(context);
}

static enum sl_status open_parts(struct context *context, const struct class_matcher *matcher,
                                 struct sl_diag *diag)
{
    const size_t n = (size_t)context->cpu.limits.max_items + 1;
    enum sl_status status = SL_OK;

    context->class = malloc(n * sizeof *context->class);
    context->item = malloc(n * sizeof *context->item);
    context->payload = malloc(n * sizeof *context->payload);
    context->overlap = malloc(n * sizeof *context->overlap);
    if (context->class == NULL || context->item == NULL || context->payload == NULL ||
        context->overlap == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    for (int class = 0; class < MATCH_CLASSES && status == SL_OK; class ++) {
        const struct sl_mpm_table *table = matcher->part[class].table;
        struct sl_limits limits = context->cpu.limits;

        if (table == NULL)
            continue;
        limits.run_ends = limits.run_ends >> class & 1; /* items of a class alone have no kinds */
        context->backend[class] = sl_engine_choose(sl_mpm_engine(table), SL_DEVICE_CPU, NULL);
        status = sl_engine_open(&context->of[class], sl_mpm_engine(table), context->backend[class],
                                table, &limits, diag);
    }
    return status;
}

static enum sl_status matcher_open(void **opened, const void *table, const struct sl_limits *limits,
                                   struct sl_diag *diag)
{
    struct context *context = calloc(1, sizeof *context);

    if (context == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    context->cpu.table = table;
    context->cpu.limits = *limits;
    const enum sl_status status = open_parts(context, table, diag);
    if (status == SL_OK)
        *opened = context;
    else
        matcher_close(context);
    return status;
}

/* ---- the matcher ----------------------------------------------------------------------------- */

enum sl_status class_matcher_build(struct class_matcher **out, const struct sl_rules *rules,
                                   const struct sl_mpm_table *whole,
                                   const struct sl_mpm_config *config, struct mpm_learned *learned,
                                   struct sl_diag *diag)
{
    const struct sl_engine *engine = sl_mpm_engine(whole);
    const struct sl_backend *backend = sl_engine_choose(engine, SL_DEVICE_CPU, NULL);
    struct class_matcher *matcher = calloc(1, sizeof *matcher);
    struct sl_mpm_config same = *config;
    struct sl_mpm_info info;

    *out = NULL;
    if (matcher == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    matcher->part[MATCH_ANY].table = whole;
    matcher->backend = (struct sl_backend){.name = backend->name,
                                           .device = SL_DEVICE_CPU,
                                           .usable = backend->usable,
                                           .open = matcher_open,
                                           .submit = matcher_submit,
                                           .wait = cpu_backend_wait,
                                           .close = matcher_close};
    matcher->backends[0] = &matcher->backend;
    matcher->engine = (struct sl_engine){.name = engine->name, .backends = matcher->backends};
    sl_mpm_info(whole, &info);
    same.algorithm = info.algorithm;
    const enum sl_status status = build_parts(matcher, rules->index, &same, learned, diag);
    if (status == SL_OK)
        *out = matcher;
    else
        class_matcher_free(matcher);
    return status;
}

void class_matcher_free(struct class_matcher *matcher)
{
    if (matcher == NULL)
        return;
    for (int class = 0; class < MATCH_CLASSES; class ++) {
        sl_mpm_free(matcher->part[class].own);
        free(matcher->part[class].id);
    }
    free(matcher);
}

const struct sl_engine *class_matcher_engine(const struct class_matcher *matcher)
{
    return &matcher->engine;
}
