/* SPDX-License-Identifier: MIT */
/* Hashes in the order in which they are searched, and the names that are ignored. */
#include <stdlib.h>
#include <string.h>

#include "clamav/compile_internal.h"

/* ---- ignored names --------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool compile_is_ignored(const struct compile *c, uint32_t name)
{
    const char *text = (const char *)c->set->records[CLAM_A_TEXT].at + name;

    return c->n_ignored > 0 &&
           bsearch(&text, c->ignored, c->n_ignored, sizeof *c->ignored, compare_names) != NULL;
}

bool compile_take_ignored(struct compile *c)
{
    const struct clam_ignore *ignores = (const struct clam_ignore *)c->set->ignores.at;

    c->ignored = calloc(c->set->ignores.n + 1, sizeof *c->ignored);
    if (c->ignored == NULL)
        return false;
    for (size_t i = 0; i < c->set->ignores.n; i++)
        if (!ignores[i].has_digest)
            c->ignored[c->n_ignored++] = ignores[i].name;
    qsort(c->ignored, c->n_ignored, sizeof *c->ignored, compare_names);
    return true;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static int compare_hashes(const void *a, const void *b)
{
    const struct clam_read_hash *x = a, *y = b;

    if (x->purpose != y->purpose)
        return x->purpose < y->purpose ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->hash.size != y->hash.size)
        return x->hash.size < y->hash.size ? -1 : 1;
    const int order = memcmp(x->hash.digest, y->hash.digest, sizeof x->hash.digest);
    if (order != 0)
        return order;
    return x->hash.name < y->hash.name ? -1 : x->hash.name > y->hash.name;
}

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Each size once, in order. */
static void list_sizes(struct compile *c)
{
    uint64_t *sizes = (uint64_t *)c->sizes.at;
    size_t n = 0;

    if (c->sizes.n > 0)
        qsort(sizes, c->sizes.n, sizeof *sizes, compare_sizes);
    for (size_t i = 0; i < c->sizes.n; i++)
        if (n == 0 || sizes[n - 1] != sizes[i])
            sizes[n++] = sizes[i];
    c->sizes.n = n;
}

/* A copy, or those of a set that is spent. */
static struct clam_read_hash *take_hashes(struct compile *c)
{
    const size_t len = c->set->hashes.n * sizeof(struct clam_read_hash);
    struct clam_read_hash *all = (struct clam_read_hash *)c->set->hashes.at;

    if (c->spent != NULL) {
        c->spent->hashes.at = NULL;
        return all;
    }
    struct clam_read_hash *copy = malloc(len + 1);
    if (copy != NULL && len > 0)
        memcpy(copy, all, len);
    return copy;
}

bool compile_take_hashes(struct compile *c)
{
    const size_t n = c->set->hashes.n;
    struct clam_read_hash *all = take_hashes(c);

    if (all == NULL)
        return n == 0;
    qsort(all, n, sizeof *all, compare_hashes);
    for (size_t i = 0; i < n; i++) {
        uint64_t *range = c->ranges[all[i].purpose][all[i].kind];
        struct clam_hash *hash;
        uint64_t *size;

        if (!clam_hash_allows(&all[i]) && compile_is_ignored(c, all[i].hash.name))
            continue;
        if (range[1] == 0)
            range[0] = c->hashes.n;
        hash = clam_grow(&c->hashes, sizeof *hash, 1);
        const bool is_of_file = all[i].purpose == CLAM_OF_FILE || all[i].purpose == CLAM_OF_ALLOWED;
        size = is_of_file ? clam_grow(&c->sizes, sizeof *size, 1) : NULL;
        if (hash == NULL || (size == NULL && is_of_file)) {
            free(all);
            return false;
        }
        *hash = all[i].hash;
        if (size != NULL)
            *size = hash->size;
        range[1] = c->hashes.n;
        c->n_hashes += !clam_hash_allows(&all[i]);
    }
    free(all);
    list_sizes(c);
    return true;
}

/* ---- members --------------------------------------------------------------------------------- */

bool compile_take_members(struct compile *c)
{
    const struct clam_records *all = &c->set->records[CLAM_A_MEMBERS];
    const struct clam_member *members = all->at;

    for (size_t i = 0; i < all->n; i++) {
        if (compile_is_ignored(c, members[i].name))
            continue;
        struct clam_member *member = clam_grow(&c->members, sizeof *member, 1);
        if (member == NULL)
            return false;
        *member = members[i];
    }
    return true;
}
