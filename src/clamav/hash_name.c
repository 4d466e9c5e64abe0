/* SPDX-License-Identifier: MIT */
#include "clamav/hash_name.h"

#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named {
    const struct clam_hash *hash;
    char *name;
};

struct clam_hash_names {
    pthread_mutex_t lock;
    void *tree; /* struct named */
};

char *clam_hash_name_copy(const char *texts, const struct clam_hash *hash)
{
    const char *const text = texts + hash->name;
    const char *const mark = hash->number != CLAM_NONE ? strchr(text, CLAM_NUMBER_MARK) : NULL;
    char *name = NULL;

    if (mark == NULL)
        return strdup(text);
    return asprintf(&name, "%.*s%u%s", (int)(mark - text), text, hash->number, mark + 1) < 0 ? NULL
                                                                                             : name;
}

/* ---- names that were found ------------------------------------------------------------------- */

struct clam_hash_names *clam_hash_names_create(void)
{
    struct clam_hash_names *names = calloc(1, sizeof *names);

    if (names != NULL)
        (void)pthread_mutex_init(&names->lock, NULL);
    return names;
}

static void free_named(void *node)
{
    struct named *const named = node;

    free(named->name);
    free(named);
}

void clam_hash_names_free(struct clam_hash_names *names)
{
    if (names == NULL)
        return;
    tdestroy(names->tree, free_named);
    (void)pthread_mutex_destroy(&names->lock);
    free(names);
}

static int compare(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Under the lock. */
static const char *find_or_add(struct clam_hash_names *names, const char *texts,
                               const struct clam_hash *hash)
{
    const struct named wanted = {.hash = hash};
    struct named **known = tfind(&wanted, &names->tree, compare);

    if (known != NULL)
        return (*known)->name;
    struct named *const named = malloc(sizeof *named);
    if (named == NULL)
        return NULL;
    *named = (struct named){hash, clam_hash_name_copy(texts, hash)};
    if (named->name != NULL && tsearch(named, &names->tree, compare) != NULL)
        return named->name;
    free_named(named);
    return NULL;
}

const char *clam_hash_name(const struct sl_clamav_db *db, const struct clam_hash *hash)
{
    const char *const texts = clam_at(db->block, CLAM_A_TEXT);

    if (hash->number == CLAM_NONE)
        return texts + hash->name;
    (void)pthread_mutex_lock(&db->names->lock);
    const char *const name = find_or_add(db->names, texts, hash);
    (void)pthread_mutex_unlock(&db->names->lock);
    return name;
}
