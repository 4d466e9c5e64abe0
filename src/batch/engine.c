/* SPDX-License-Identifier: MIT */
#include "sluice/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_hits(const void *left, const void *right)
{
    const struct sl_hit *a = (const struct sl_hit *)left;
    const struct sl_hit *b = (const struct sl_hit *)right;

    if (a->item != b->item)
        return a->item < b->item ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static bool is_sorted(const struct sl_hit *hit, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (compare_hits(&hit[i - 1], &hit[i]) > 0)
            return false;
    return true;
}

void sl_hits_sort(struct sl_hits *hits)
{
    const size_t n = hits->n < hits->cap ? hits->n : hits->cap;

    /* CPU backends mostly give hits in order: looking is far cheaper than sorting. */
    if (n > 1 && !is_sorted(hits->hit, n))
        qsort(hits->hit, n, sizeof *hits->hit, compare_hits);
}

const struct sl_backend *sl_engine_choose(const struct sl_engine *engine, enum sl_device_kind kind,
                                          char why[SL_WHY_LEN])
{
    size_t used = 0;

    if (why != NULL)
        why[0] = '\0';
    for (size_t i = 0; engine->backends[i] != NULL; i++) {
        const struct sl_backend *backend = engine->backends[i];
        char reason[SL_WHY_LEN] = "";

        if (backend->device != kind)
            continue;
        if (backend->usable(reason))
            return backend;
        if (why != NULL && used < SL_WHY_LEN)
            used += (size_t)snprintf(why + used, SL_WHY_LEN - used, "%s%s: %s", used ? "; " : "",
                                     backend->name, reason);
    }
    if (why != NULL && used == 0)
        snprintf(why, SL_WHY_LEN, "%s has no backend for %s", engine->name,
                 kind == SL_DEVICE_CUDA ? "CUDA" : "the CPU");
    return NULL;
}
