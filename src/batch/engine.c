/* SPDX-License-Identifier: MIT */
#include "sluice/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/hits_sort.h"

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

bool hits_scratch_reserve(struct hits_scratch *scratch, size_t n, size_t n_items)
{
    const size_t n_places = n_items + 1;

    if (scratch->n_hits < n) {
        free(scratch->hit);
        scratch->n_hits = n + n / 2;
        scratch->hit = (struct sl_hit *)malloc(scratch->n_hits * sizeof *scratch->hit);
    }
    if (scratch->n_places < n_places) {
        free(scratch->place);
        scratch->n_places = n_places + n_places / 2;
        scratch->place = (size_t *)malloc(scratch->n_places * sizeof *scratch->place);
    }
    if (scratch->hit == NULL)
        scratch->n_hits = 0;
    if (scratch->place == NULL)
        scratch->n_places = 0;
    return scratch->n_hits >= n && scratch->n_places >= n_places;
}

void hits_scratch_free(struct hits_scratch *scratch)
{
    free(scratch->hit);
    free(scratch->place);
    memset(scratch, 0, sizeof *scratch);
}

/* Moves hits into the order of their items, hits of one item keeping theirs: a counting sort, since
 * items are few and hits may be millions. */
static void order_by_item(struct sl_hit *hit, size_t n, uint32_t max_item,
                          const struct hits_scratch *scratch)
{
    size_t *place = scratch->place;

    memset(place, 0, ((size_t)max_item + 2) * sizeof *place);
    for (size_t i = 0; i < n; i++)
        place[hit[i].item + 1]++;
    for (uint32_t item = 0; item < max_item; item++)
        place[item + 1] += place[item];
    for (size_t i = 0; i < n; i++)
        scratch->hit[place[hit[i].item]++] = hit[i];
    memcpy(hit, scratch->hit, n * sizeof *hit);
}

/* Merges two neighbouring runs, of which the first lies in `left` too. */
static void merge(struct sl_hit *to, const struct sl_hit *left, size_t n_left,
                  const struct sl_hit *right, size_t n_right)
{
    while (n_left > 0 && n_right > 0) {
        const bool from_left = compare_hits(left, right) <= 0;

        *to++ = from_left ? *left++ : *right++;
        n_left -= from_left;
        n_right -= !from_left;
    }
    if (n_left > 0)
        memcpy(to, left, n_left * sizeof *to);
}

/* qsort takes memory each time. */
static void merge_sort(struct sl_hit *hit, size_t n, struct sl_hit *spare)
{
    for (size_t width = 1; width < n; width *= 2)
        for (size_t at = 0; at + width < n; at += 2 * width) {
            const size_t n_right = n - at - width < width ? n - at - width : width;

            memcpy(spare, hit + at, width * sizeof *hit);
            merge(hit + at, spare, width, hit + at + width, n_right);
        }
}

/* Sorts a list that is nearly in order, in time linear to what is not: backends give the ends of
 * matches upwards and only the literals that end together in any order. False: it is not nearly in
 * order, and is left as some permutation of itself. */
static bool sort_nearly_sorted(struct sl_hit *hit, size_t n)
{
    size_t moves_left = 8 * n;

    for (size_t i = 1; i < n; i++) {
        const struct sl_hit moved = hit[i];
        size_t at = i;

        for (; at > 0 && moves_left > 0 && compare_hits(&hit[at - 1], &moved) > 0; moves_left--) {
            hit[at] = hit[at - 1];
            at--;
        }
        hit[at] = moved;
        if (moves_left == 0)
            return false;
    }
    return true;
}

static void sort_each_item(struct sl_hit *hit, size_t n, struct sl_hit *spare)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && hit[end].item == hit[begin].item; end++)
            ;
        if (!sort_nearly_sorted(hit + begin, end - begin))
            merge_sort(hit + begin, end - begin, spare);
    }
}

void hits_sort(struct sl_hits *hits, struct hits_scratch *scratch)
{
    const size_t n = hits->n < hits->cap ? hits->n : hits->cap;
    uint32_t max_item = 0;

    /* Most lists are in order, or all but: backends go through each payload from its beginning. */
    if (n < 2 || is_sorted(hits->hit, n))
        return;
    for (size_t i = 0; i < n; i++)
        max_item = hits->hit[i].item > max_item ? hits->hit[i].item : max_item;

    /* Fewer hits than items would pay for the counters. */
    const bool count = max_item / 8 < n;
    if (!hits_scratch_reserve(scratch, n, count ? (size_t)max_item + 1 : 0)) {
        qsort(hits->hit, n, sizeof *hits->hit, compare_hits);
    } else if (count) {
        order_by_item(hits->hit, n, max_item, scratch);
        sort_each_item(hits->hit, n, scratch->hit);
    } else {
        merge_sort(hits->hit, n, scratch->hit);
    }
}

void sl_hits_sort(struct sl_hits *hits)
{
    struct hits_scratch scratch = {0};

    hits_sort(hits, &scratch);
    hits_scratch_free(&scratch);
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
