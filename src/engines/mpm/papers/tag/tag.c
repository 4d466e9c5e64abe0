/* SPDX-License-Identifier: MIT */
/* Building the table of tags: where in each literal its window lies, and the backends. */
#include <stdlib.h>

#include "base/diag.h"
#include "engines/mpm/mpm_internal.h"
#include "tag_core.h"

static const char name[] = "tag";

_Static_assert(SL_LITERAL_COUNT_MAX <= TAG_FIRST_MASK, "a bucket holds the number of any entry");

enum {
    CHOICES = 64,            /* windows of a literal that are considered: bounds build and search */
    KEY_OF_SINGLE = TAG_KEYS /* of literals of one byte: sorts them behind all others */
};

/* A group and the window that it is found by. */
struct place {
    uint64_t word;
    uint32_t key;
    uint32_t end; /* bytes of the literal up to the window's end */
    uint32_t group;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = (const struct place *)left;
    const struct place *b = (const struct place *)right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

static bool same_entry(const struct place *a, const struct place *b)
{
    return a->key == b->key && a->word == b->word && a->end == b->end;
}

/* ---- placement ------------------------------------------------------------------------------- */

static uint32_t n_choices(const struct mpm_key *key)
{
    if (key->len <= TAG_WINDOW)
        return 1;
    return key->len - TAG_WINDOW < CHOICES ? key->len - TAG_WINDOW + 1 : CHOICES;
}

/* The window whose bucket has been chosen least. */
static struct place choose_window(const struct mpm_key *key, uint32_t group, uint32_t *n_chosen)
{
    const uint32_t window = key->len < TAG_WINDOW ? key->len : TAG_WINDOW;
    uint32_t least = UINT32_MAX;
    uint32_t end = window;

    if (key->len < TAG_KEY)
        return (struct place){
            .key = KEY_OF_SINGLE, .word = key->folded[0], .end = 1, .group = group};
    for (uint32_t choice = 0; choice < n_choices(key) && least != 0; choice++) {
        const uint32_t n = n_chosen[tag_key(tag_recent(key->folded, window + choice))];

        if (n < least) {
            least = n;
            end = window + choice;
        }
    }

    const uint64_t recent = tag_recent(key->folded, end);
    n_chosen[tag_key(recent)]++;
    return (struct place){
        .key = tag_key(recent), .word = tag_word(recent, window), .end = end, .group = group};
}

/* The chapter's greedy placement: literals with the fewest windows choose first. */
static struct place *place_groups(const struct mpm_set *set)
{
    struct place *places = (struct place *)malloc((set->n_groups + (size_t)1) * sizeof *places);
    uint32_t *n_chosen = (uint32_t *)calloc(TAG_KEYS, sizeof *n_chosen);
    uint32_t n = 0;

    if (places == NULL || n_chosen == NULL) {
        free(places);
        free(n_chosen);
        return NULL;
    }
    for (uint32_t choices = 1; choices <= CHOICES && n < set->n_groups; choices++) {
        for (uint32_t group = 0; group < set->n_groups; group++) {
            const struct mpm_key *key = &set->keys[set->groups[group]];

            if (n_choices(key) == choices)
                places[n++] = choose_window(key, group, n_chosen);
        }
    }
    free(n_chosen);
    qsort(places, set->n_groups, sizeof *places, compare_places);
    return places;
}

/* ---- the block ------------------------------------------------------------------------------- */

static void set_single(struct tag_table *body, uint8_t byte, uint32_t entry)
{
    body->single[byte] = entry;
    if (byte >= 'a' && byte <= 'z')
        body->single[byte - 'a' + 'A'] = entry;
    body->has_single = true;
}

/* Entries in order of their keys: the buckets between the last entry's and this one's begin here.
 */
static void fill(struct tag_table *body, const struct place *places, uint32_t n_groups)
{
    uint32_t *buckets = (uint32_t *)((uint8_t *)body + body->buckets);
    uint64_t *words = (uint64_t *)((uint8_t *)body + body->words);
    struct tag_entry *entries = (struct tag_entry *)((uint8_t *)body + body->entries);
    uint32_t *order = (uint32_t *)((uint8_t *)body + body->order);
    uint32_t entry = 0;
    uint32_t key = 0;

    for (int byte = 0; byte < 256; byte++)
        body->single[byte] = MPM_NONE;
    for (uint32_t i = 0; i < n_groups; i++) {
        const struct place *place = &places[i];

        order[i] = place->group;
        if (i != 0 && same_entry(place, place - 1))
            continue;
        entries[entry] = (struct tag_entry){.first = i, .end = place->end};
        words[entry] = place->word;
        while (key < place->key)
            buckets[++key] = entry;
        if (key == KEY_OF_SINGLE)
            set_single(body, (uint8_t)place->word, entry);
        else
            buckets[key] |= UINT32_C(1) << TAG_FIRST_BITS << ((place->word >> 32) - TAG_KEY);
        entry++;
    }
    while (key < TAG_KEYS)
        buckets[++key] = entry;
    entries[entry].first = n_groups;
}

static struct sl_mpm_table *make_table(const struct mpm_set *set, const struct place *places)
{
    struct tag_table head = {.n_entries = 0};
    uint64_t end = sizeof head;

    for (uint32_t i = 0; i < set->n_groups; i++)
        head.n_entries += i == 0 || !same_entry(&places[i], &places[i - 1]);
    head.buckets = mpm_place(&end, (TAG_KEYS + (uint64_t)1) * sizeof(uint32_t));
    head.words = mpm_place(&end, head.n_entries * sizeof(uint64_t));
    head.entries = mpm_place(&end, (head.n_entries + (uint64_t)1) * sizeof(struct tag_entry));
    head.order = mpm_place(&end, set->n_groups * sizeof(uint32_t));

    struct sl_mpm_table *table = mpm_table_create(set, name, 0, end);
    if (table == NULL)
        return NULL;
    struct tag_table *body = (struct tag_table *)((uint8_t *)table + table->body);
    *body = head;
    fill(body, places, set->n_groups);
    return table;
}

static enum sl_status tag_build(struct sl_mpm_table **table, const struct mpm_set *set,
                                const struct sl_mpm_config *config, struct sl_diag *diag)
{
    struct place *places = place_groups(set);
    struct sl_mpm_table *made = places == NULL ? NULL : make_table(set, places);

    (void)config;
    free(places);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the tags of %u literals",
                        set->n_literals);
    *table = made;
    return SL_OK;
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool parts_fit(const struct sl_mpm_table *table, const struct tag_table *body)
{
    for (int byte = 0; byte < 256; byte++)
        if (body->single[byte] != MPM_NONE && body->single[byte] >= body->n_entries)
            return false;
    return mpm_part_fits(table, body->buckets, TAG_KEYS + UINT64_C(1), sizeof(uint32_t)) &&
           mpm_part_fits(table, body->words, body->n_entries, sizeof(uint64_t)) &&
           mpm_part_fits(table, body->entries, body->n_entries + UINT64_C(1),
                         sizeof(struct tag_entry)) &&
           mpm_part_fits(table, body->order, table->n_groups, sizeof(uint32_t));
}

/* Buckets ascend, and hold no windows longer than there are. */
static bool buckets_fit(const struct tag_table *body)
{
    const uint32_t *buckets = (const uint32_t *)mpm_at(body, body->buckets);
    uint32_t end = body->n_entries;

    for (uint32_t key = TAG_KEYS + 1; key-- > 0; end = buckets[key] & TAG_FIRST_MASK)
        if ((buckets[key] & TAG_FIRST_MASK) > end ||
            buckets[key] >> TAG_FIRST_BITS >> (TAG_WINDOW - TAG_KEY + 1) != 0)
            return false;
    return true;
}

static bool entries_fit(const struct sl_mpm_table *table, uint32_t n_entries)
{
    const struct tag_verifier verifier = tag_verifier(table);
    const struct tag_entry *entries = verifier.entries;

    for (uint32_t i = 0; i < n_entries; i++)
        if (entries[i + 1].first > table->n_groups ||
            !mpm_order_fits(&verifier.order, table->n_groups, entries[i].first,
                            entries[i + 1].first))
            return false;
    return true;
}

static const char *tag_check(const struct sl_mpm_table *table)
{
    const struct tag_table *body = tag_body(table);

    if (!mpm_part_fits(table, 0, 1, sizeof *body) || !parts_fit(table, body) ||
        !mpm_groups_ascend(table) || !buckets_fit(body) || !entries_fit(table, body->n_entries))
        return "its tags lead out of the table";
    return NULL;
}

/* ---- algorithm ------------------------------------------------------------------------------- */

extern const struct sl_backend mpm_tag_cuda;
extern const struct sl_backend mpm_tag_scalar;
extern const struct sl_backend mpm_tag_tiled;

static const struct sl_backend *const backends[] = {&mpm_tag_cuda, &mpm_tag_scalar, &mpm_tag_tiled,
                                                    NULL};

static const struct sl_engine engine = {
    .name = "mpm.tag", .backends = backends, .takes = mpm_takes};

extern const struct mpm_algorithm mpm_tag;
const struct mpm_algorithm mpm_tag = {
    .name = name, .build = tag_build, .check = tag_check, .engine = &engine};
