/* SPDX-License-Identifier: MIT */
/* Building and checking the failure-less automaton, and its backends. */
#include <stdlib.h>

#include "base/diag.h"
#include "engines/mpm/mpm_internal.h"
#include "pfac_core.h"

static const char name[] = "pfac";

/* States that end a group have the group's number, the others follow. */
static uint32_t *number_states(const struct mpm_trie *trie, uint32_t n_groups)
{
    uint32_t *number = (uint32_t *)malloc(trie->n_states * sizeof *number);
    uint32_t next = n_groups;

    for (uint32_t state = 0; number != NULL && state < trie->n_states; state++)
        number[state] = trie->group[state] != MPM_NONE ? trie->group[state] : next++;
    return number;
}

static void add_transition(struct pfac_bucket *buckets, const struct pfac_table *body,
                           uint32_t state, uint8_t byte, uint32_t next)
{
    uint32_t at = pfac_hash(state, byte, body->bucket_shift);
    int i = 0;

    while (buckets[at].entry[i] != 0) {
        if (++i == PFAC_BUCKET) {
            at = (at + 1) & body->bucket_mask;
            i = 0;
        }
    }
    buckets[at].entry[i] = (uint64_t)state << (PFAC_STATE_BITS + 8) | (uint64_t)next << 8 | byte;
}

static void fill_root(struct pfac_table *body, const struct mpm_trie *trie, const uint32_t *number)
{
    for (int byte = 0; byte < 256; byte++)
        body->root[byte] = MPM_NONE;
    for (uint32_t child = trie->first_child[0]; child < trie->first_child[1]; child++) {
        const uint8_t byte = trie->byte[child];

        body->root[byte] = number[child];
        if (byte >= 'a' && byte <= 'z')
            body->root[byte - 'a' + 'A'] = number[child];
    }
}

static struct sl_mpm_table *make_table(const struct mpm_set *set, const struct mpm_trie *trie,
                                       const uint32_t *number)
{
    uint32_t bits =
        1; /* two buckets at least: a hash of no bits would be a shift by the word's width */
    struct pfac_table head = {.n_groups = set->n_groups};
    uint64_t end = sizeof head;

    while (((uint64_t)PFAC_BUCKET << bits) < UINT64_C(2) * trie->n_states)
        bits++;
    head.bucket_mask = (UINT32_C(1) << bits) - 1;
    head.bucket_shift = 32 - bits;
    head.buckets = mpm_place(&end, sizeof(struct pfac_bucket) << bits);

    struct sl_mpm_table *table = mpm_table_create(set, name, trie->n_states, end);
    if (table == NULL)
        return NULL;
    struct pfac_table *body = (struct pfac_table *)((uint8_t *)table + table->body);
    struct pfac_bucket *buckets = (struct pfac_bucket *)((uint8_t *)body + head.buckets);
    *body = head;
    fill_root(body, trie, number);
    for (uint32_t state = 1; state < trie->n_states; state++)
        for (uint32_t child = trie->first_child[state]; child < trie->first_child[state + 1];
             child++)
            add_transition(buckets, body, number[state], trie->byte[child], number[child]);
    return table;
}

static enum sl_status pfac_build(struct sl_mpm_table **table, const struct mpm_set *set,
                                 const struct sl_mpm_config *config, struct sl_diag *diag)
{
    struct mpm_trie trie;
    struct sl_mpm_table *made = NULL;

    (void)config;
    if (set->n_states > UINT32_C(1) << PFAC_STATE_BITS)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0,
                        "pfac has at most %u states, these literals need %u",
                        UINT32_C(1) << PFAC_STATE_BITS, set->n_states);

    enum sl_status status = mpm_trie_init(&trie, set, diag);
    if (status != SL_OK)
        return status;
    uint32_t *number = number_states(&trie, set->n_groups);
    if (number != NULL)
        made = make_table(set, &trie, number);
    if (made == NULL)
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an automaton of %u states",
                          set->n_states);
    else
        *table = made;
    free(number);
    mpm_trie_clear(&trie);
    return status;
}

/* The hash table's buckets must be there, and one of them must end a search. Keys are compared and
 * not used as indices. */
static const char *pfac_check(const struct sl_mpm_table *table)
{
    static const char wrong[] = "its automaton leads out of the table";
    const struct pfac_table *body = pfac_body(table);

    if (!mpm_part_fits(table, 0, 1, sizeof *body) || body->n_groups != table->n_groups ||
        body->bucket_shift == 0 || body->bucket_shift >= 32 ||
        body->bucket_mask != UINT32_MAX >> body->bucket_shift ||
        !mpm_part_fits(table, body->buckets, body->bucket_mask + (uint64_t)1,
                       sizeof(struct pfac_bucket)))
        return wrong;

    const struct pfac_bucket *buckets = pfac_view(table).buckets;
    for (uint32_t i = 0; i <= body->bucket_mask; i++)
        if (buckets[i].entry[PFAC_BUCKET - 1] == 0)
            return NULL;
    return wrong;
}

extern const struct sl_backend mpm_pfac_cuda_block;
extern const struct sl_backend mpm_pfac_cuda_thread;
extern const struct sl_backend mpm_pfac_tiled;

static const struct sl_backend *const backends[] = {&mpm_pfac_cuda_block, &mpm_pfac_cuda_thread,
                                                    &mpm_pfac_tiled, NULL};

static const struct sl_engine engine = {
    .name = "mpm.pfac", .backends = backends, .takes = mpm_takes};

extern const struct mpm_algorithm mpm_pfac;
const struct mpm_algorithm mpm_pfac = {
    .name = name, .build = pfac_build, .check = pfac_check, .engine = &engine};
