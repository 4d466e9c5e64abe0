/* SPDX-License-Identifier: MIT */
/* Hashes in the order in which they are searched, and the names that are ignored. */
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "clamav/compile_internal.h"
#include "clamav/hash_name.h"

/* ---- ignored names --------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool compile_is_ignored(const struct compile *c, const char *name)
{
    return c->n_ignored > 0 &&
           bsearch(&name, c->ignored, c->n_ignored, sizeof *c->ignored, compare_names) != NULL;
}

bool compile_is_ignored_text(const struct compile *c, uint32_t text)
{
    return compile_is_ignored(c, (const char *)c->set->records[CLAM_A_TEXT].at + text);
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

static int compare_hashes(const void *a, const void *b, void *kind)
{
    const struct clam_hash *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    const int order = memcmp(x->digest, y->digest, clam_hash_len[*(const int *)kind]);
    if (order != 0)
        return order;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Takes those of a set that is spent, or a copy. */
static bool take_records(struct compile *c, int purpose, int kind)
{
    const struct clam_records *read = &c->set->hashes[purpose][kind];
    struct clam_records *hashes = &c->hashes[purpose][kind];
    const size_t len = read->n * clam_hash_step(kind);

    *hashes = *read;
    if (c->spent != NULL) {
        c->spent->hashes[purpose][kind].at = NULL;
        return true;
    }
    hashes->at = calloc(1, len + 1);
    if (hashes->at != NULL && len > 0)
        memcpy(hashes->at, read->at, len);
    return hashes->at != NULL;
}

static bool is_hash_ignored(const struct compile *c, const struct clam_hash *hash, bool *good)
{
    if (c->n_ignored == 0)
        return false;
    char *const name = clam_hash_name_copy(c->set->records[CLAM_A_TEXT].at, hash);
    const bool is = name != NULL && compile_is_ignored(c, name);
    *good &= name != NULL;
    free(name);
    return is;
}

/* Counts the others. False: no memory. */
static bool drop_ignored(struct compile *c, struct clam_records *hashes, int purpose, int kind)
{
    const size_t step = clam_hash_step(kind), n = hashes->n;
    uint8_t *at = hashes->at;
    bool good = true;

    hashes->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct clam_hash *hash = clam_hash_in(at, kind, i);
        const bool allows = clam_hash_allows(purpose, hash);

        if (!allows && is_hash_ignored(c, hash, &good))
            continue;
        c->n_hashes += !allows;
        if (i > hashes->n)
            memcpy(at + hashes->n * step, at + i * step, step);
        hashes->n++;
    }
    return good;
}

bool compile_take_hashes(struct compile *c)
{
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++) {
        const int purpose = i / CLAM_HASHES;
        int kind = i % CLAM_HASHES;
        struct clam_records *hashes = &c->hashes[purpose][kind];

        if (!take_records(c, purpose, kind) || !drop_ignored(c, hashes, purpose, kind))
            return false;
        if (hashes->n > 0)
            qsort_r(hashes->at, hashes->n, clam_hash_step(kind), compare_hashes, &kind);
        c->ranges[purpose][kind][0] = c->hashes_len;
        c->ranges[purpose][kind][1] = hashes->n;
        c->hashes_len += hashes->n * clam_hash_step(kind);
    }
    return true;
}

void compile_move_hashes(const struct compile *c, uint8_t *to)
{
    for (int i = 0; i < CLAM_HASHED * CLAM_HASHES; i++) {
        const int purpose = i / CLAM_HASHES, kind = i % CLAM_HASHES;
        const struct clam_records *hashes = &c->hashes[purpose][kind];

        pages_move(to + c->ranges[purpose][kind][0], hashes->at, hashes->n * clam_hash_step(kind));
    }
}

/* ---- members --------------------------------------------------------------------------------- */

bool compile_take_members(struct compile *c)
{
    const struct clam_records *all = &c->set->records[CLAM_A_MEMBERS];
    const struct clam_member *members = all->at;

    for (size_t i = 0; i < all->n; i++) {
        if (compile_is_ignored_text(c, members[i].name))
            continue;
        struct clam_member *member = clam_grow(&c->members, sizeof *member, 1);
        if (member == NULL)
            return false;
        *member = members[i];
    }
    return true;
}
