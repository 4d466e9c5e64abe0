/* SPDX-License-Identifier: MIT */
#include "hits_sort.h"

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

/* How many of the first hits are in order of items. */
static size_t count_by_item(const struct sl_hit *hit, size_t n)
{
    size_t i = 1;

    while (i < n && hit[i - 1].item <= hit[i].item)
        i++;
    return i < n ? i : n;
}

bool hits_scratch_reserve(struct hits_scratch *scratch, size_t n)
{
    if (scratch->n_hits < n) {
        free(scratch->hit);
        scratch->n_hits = n + n / 2;
        scratch->hit = (struct sl_hit *)malloc(scratch->n_hits * sizeof *scratch->hit);
    }
    if (scratch->hit == NULL)
        scratch->n_hits = 0;
    return scratch->n_hits >= n;
}

/* A power of two: a place for each value of an item's bits. */
bool hits_scratch_reserve_items(struct hits_scratch *scratch, size_t n)
{
    size_t n_places = 1;

    if (scratch->place != NULL && scratch->n_places >= n)
        return true;
    while (n_places < n)
        n_places *= 2;
    free(scratch->place);
    scratch->place = (size_t *)malloc(n_places * sizeof *scratch->place);
    scratch->n_places = scratch->place != NULL ? n_places : 0;
    return scratch->place != NULL;
}

void hits_scratch_free(struct hits_scratch *scratch)
{
    free(scratch->hit);
    free(scratch->place);
    memset(scratch, 0, sizeof *scratch);
}

/* Merges two neighbouring runs. `left` is a copy of the first. */
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

/* Sorts a list that is nearly in order, in time linear to its disorder. Backends report the ends of
 * matches upwards, and only literals that end together come in any order. False: the list is not
 * nearly in order, and is now some permutation of itself. */
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

/* ---- by digits ------------------------------------------------------------------------------- */

/* A key is item and offset, each in as many bits as its largest value takes. Hits are ordered by
 * one digit after another, the last first; hits of equal digits keep their order. Digits are short,
 * so that the places to which a pass writes stay in the first cache. */
enum { DIGIT_BITS = 11 };

struct key_bits {
    unsigned item, offset;
};

struct digit {
    unsigned offset_bits; /* of the key */
    unsigned shift, bits; /* of the digit */
};

static unsigned bits_of(uint32_t number)
{
    return number == 0 ? 0 : 32 - (unsigned)__builtin_clz(number);
}

static struct key_bits key_bits_of(const struct sl_hit *hit, size_t n)
{
    uint32_t items = 0, offsets = 0;

    for (size_t i = 0; i < n; i++) {
        items |= hit[i].item;
        offsets |= hit[i].offset;
    }
    return (struct key_bits){bits_of(items), bits_of(offsets)};
}

static size_t value_of(const struct sl_hit *hit, const struct digit *digit)
{
    const uint64_t key = (uint64_t)hit->item << digit->offset_bits | hit->offset;

    return (size_t)(key >> digit->shift) & (((size_t)1 << digit->bits) - 1);
}

/* Orders hits by one digit, with a place for each of its values. False: all hits have the same
 * digit, and nothing was moved. */
static bool order_by_digit(struct sl_hit *to, const struct sl_hit *from, size_t n,
                           const struct digit *digit, size_t *place)
{
    const size_t n_values = (size_t)1 << digit->bits;
    size_t first = 0;

    memset(place, 0, n_values * sizeof *place);
    for (size_t i = 0; i < n; i++)
        place[value_of(&from[i], digit)]++;
    if (place[value_of(&from[0], digit)] == n)
        return false;
    for (size_t value = 0; value < n_values; value++) {
        const size_t count = place[value];

        place[value] = first;
        first += count;
    }
    for (size_t i = 0; i < n; i++)
        to[place[value_of(&from[i], digit)]++] = from[i];
    return true;
}

static void order_by_key(struct sl_hit *hit, size_t n, struct sl_hit *spare)
{
    const struct key_bits key = key_bits_of(hit, n);
    const unsigned n_digits = (key.item + key.offset + DIGIT_BITS - 1) / DIGIT_BITS;
    const unsigned bits = n_digits > 0 ? (key.item + key.offset + n_digits - 1) / n_digits : 0;
    struct sl_hit *from = hit, *to = spare;
    size_t place[1u << DIGIT_BITS];

    for (unsigned which = 0; which < n_digits; which++) {
        const struct digit digit = {key.offset, which * bits, bits};

        if (order_by_digit(to, from, n, &digit, place)) {
            struct sl_hit *const ordered = to;

            to = from;
            from = ordered;
        }
    }
    if (from != hit)
        memcpy(hit, from, n * sizeof *hit);
}

/* ---- parts of a list ------------------------------------------------------------------------- */

enum { FEW = 256 /* below this, the counters cost more than they save */ };

static bool same_key(const struct sl_hit *a, const struct sl_hit *b)
{
    return a->item == b->item && a->offset == b->offset;
}

/* Sorts by id a list that is in order of item and offset. */
static void sort_ids(struct sl_hit *hit, size_t n, struct sl_hit *spare)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && same_key(&hit[begin], &hit[end]); end++)
            ;
        if (end - begin > 1 && !sort_nearly_sorted(hit + begin, end - begin))
            merge_sort(hit + begin, end - begin, spare);
    }
}

static void sort_part(struct sl_hit *hit, size_t n, struct sl_hit *spare)
{
    if (n < FEW && sort_nearly_sorted(hit, n))
        return;
    if (n < FEW) {
        merge_sort(hit, n, spare);
    } else if (!is_sorted(hit, n)) {
        order_by_key(hit, n, spare);
        sort_ids(hit, n, spare);
    }
}

/* Sorts a list that is in order of items. */
static void sort_items(struct sl_hit *hit, size_t n, struct sl_hit *spare)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && hit[end].item == hit[begin].item; end++)
            ;
        sort_part(hit + begin, end - begin, spare);
    }
}

/* ---- by item --------------------------------------------------------------------------------- */

/* Most batches have a hit in every few items: the item is one digit then, and its hits are nearly
 * in order. */
enum { ITEMS_A_HIT = 4, ITEM_BITS_MAX = 20 };

static void sort_any(struct sl_hit *hit, size_t n, struct hits_scratch *scratch)
{
    const struct key_bits key = key_bits_of(hit, n);

    if (n < FEW || key.item > ITEM_BITS_MAX || n < ((size_t)1 << key.item) / ITEMS_A_HIT ||
        !hits_scratch_reserve_items(scratch, (size_t)1 << key.item)) {
        sort_part(hit, n, scratch->hit);
        return;
    }
    const struct digit item = {key.offset, key.offset, key.item};

    if (order_by_digit(scratch->hit, hit, n, &item, scratch->place))
        memcpy(hit, scratch->hit, n * sizeof *hit);
    sort_items(hit, n, scratch->hit);
}

/* ---- two lists ------------------------------------------------------------------------------- */

static uint64_t key_of(const struct sl_hit *hit)
{
    return (uint64_t)hit->item << 32 | hit->offset;
}

/* Merges two neighbouring lists, each of which is in order. It begins at their ends. */
static void merge_back(struct sl_hit *hit, size_t n_first, size_t n_second, struct sl_hit *spare)
{
    memcpy(spare, hit + n_first, n_second * sizeof *hit);
    while (n_first > 0 && n_second > 0) {
        const struct sl_hit *const a = &hit[n_first - 1], *const b = &spare[n_second - 1];
        const uint64_t key_a = key_of(a), key_b = key_of(b);
        const bool is_first = key_a > key_b || (key_a == key_b && a->id > b->id);

        hit[n_first + n_second - 1] = *(is_first ? a : b);
        n_first -= is_first;
        n_second -= !is_first;
    }
    memcpy(hit, spare, n_second * sizeof *hit);
}

/* Most lists are in order, or nearly so. Backends go through each payload from its beginning, and
 * on GPUs only items with many hits are in no order. Hits of made items lie behind those of
 * packets: both are sorted, and then merged. */
void hits_sort(struct sl_hits *hits, struct hits_scratch *scratch)
{
    const size_t n = hits->n < hits->cap ? hits->n : hits->cap;
    struct sl_hit *const hit = hits->hit;

    if (n < 2 || hits->in_order || is_sorted(hit, n))
        return;
    if (!hits_scratch_reserve(scratch, n)) {
        qsort(hit, n, sizeof *hit, compare_hits);
        return;
    }
    const size_t n_first = count_by_item(hit, n), n_second = n - n_first;

    if (n_first < n_second) {
        sort_any(hit, n, scratch);
        return;
    }
    sort_items(hit, n_first, scratch->hit);
    if (count_by_item(hit + n_first, n_second) == n_second)
        sort_items(hit + n_first, n_second, scratch->hit);
    else
        sort_any(hit + n_first, n_second, scratch);
    merge_back(hit, n_first, n_second, scratch->hit);
}

void sl_hits_sort(struct sl_hits *hits)
{
    struct hits_scratch scratch = {0};

    hits_sort(hits, &scratch);
    hits_scratch_free(&scratch);
}
