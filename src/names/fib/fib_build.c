/* SPDX-License-Identifier: MIT */
/* Building a table from entries: all into the tree, then the plane at once. */
#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "fib_ahead.h"
#include "fib_groups.h"

enum { FORGET_EACH = 4096 /* entries of a new table */ };

static struct fib_secret secret_of(const uint8_t key[SL_FIB_KEY_LEN])
{
    return (struct fib_secret){.start = XXH3_64bits_withSeed(key, SL_FIB_KEY_LEN, 1),
                               .a = XXH3_64bits_withSeed(key, SL_FIB_KEY_LEN, 2),
                               .b = XXH3_64bits_withSeed(key, SL_FIB_KEY_LEN, 3) | 1};
}

/* NULL: *status says why. */
static struct sl_fib *create(const struct sl_fib_config *config, size_t n_entries,
                             enum sl_status *status, struct sl_diag *diag)
{
    const struct fib_plane *plane;
    uint8_t key[SL_FIB_KEY_LEN];

    *status = fib_choose_plane(&plane, config->plane, diag);
    if (*status != SL_OK)
        return NULL;
    if (config->key != NULL)
        memcpy(key, config->key, sizeof key);
    else if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key) {
        *status = diag_set(diag, SL_EIO, NULL, 0, "the system gives no random bytes");
        return NULL;
    }

    const struct fib_secret secret = secret_of(key);
    struct sl_fib *made = (struct sl_fib *)calloc(1, sizeof *made);
    if (made == NULL || !fib_tree_init(&made->tree, &secret, n_entries)) {
        free(made);
        *status =
            diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a table of %zu names", n_entries);
        return NULL;
    }
    made->aggregate = config->aggregate;
    pthread_mutex_init(&made->lock, NULL);
    fib_table_init(&made->table, plane);
    made->table.fib = made;
    return made;
}

/* One entry into the tree alone. False: no memory. */
static bool plant(struct sl_fib *fib, const struct sl_fib_entry *entry,
                  const struct fib_ahead *ahead)
{
    (void)fib_tree_find(&fib->tree, entry->name, entry->name_len, false, ahead, &fib->path);
    if (!fib_tree_make(&fib->tree, &fib->path))
        return false;

    struct fib_node *node = &fib->tree.nodes[fib->path.node[fib->path.depth]];
    fib->n_entries += node->next_hop == SL_FIB_NONE;
    node->next_hop = entry->next_hop;
    node->n_holders++;
    return true;
}

static enum sl_status plant_all(struct sl_fib *fib, const struct sl_fib_entry *entries, size_t n,
                                struct sl_diag *diag)
{
    struct fib_ahead ahead[FIB_N_AHEAD] = {0};
    struct fib_groups groups;
    size_t i = 0;

    const enum sl_status status = fib_groups_make(&groups, &fib->tree, entries, n, diag);
    if (status != SL_OK)
        return status;
    for (; i < n; i++) {
        if (i % FORGET_EACH == 0)
            fib_groups_forget(&groups, i);
        fib_ahead_fetch(fib, groups.entries, sizeof *groups.entries, n, i, ahead);
        if (!plant(fib, &groups.entries[i], &ahead[i % FIB_N_AHEAD]))
            break;
    }
    fib_groups_free(&groups);
    return i == n ? SL_OK
                  : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for more than %zu names",
                             fib->n_entries);
}

/* Nodes of a new tree come after their parents: one pass hands answers down. */
static bool fold_all(struct sl_fib *fib)
{
    struct fib_tree *tree = &fib->tree;
    const size_t len = (size_t)tree->n * sizeof(uint32_t);
    uint32_t *shows = (uint32_t *)fib_memory_take(len);

    if (shows == NULL)
        return false;
    shows[FIB_ROOT] = tree->nodes[FIB_ROOT].next_hop;
    for (uint32_t i = FIB_ROOT + 1; i < tree->n; i++) {
        struct fib_node *node = &tree->nodes[i];
        const uint32_t above = shows[node->parent];

        shows[i] = node->next_hop != SL_FIB_NONE ? node->next_hop : above;
        if (node->next_hop != SL_FIB_NONE && node->next_hop == above)
            fib_count_folded(fib, node, true);
    }
    fib_memory_give(shows, len);
    return true;
}

enum sl_status sl_fib_build(struct sl_fib **fib, const struct sl_fib_config *config,
                            const struct sl_fib_entry *entries, size_t n_entries,
                            struct sl_diag *diag)
{
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status != SL_OK)
        return status;
    if (n_entries > UINT32_MAX / 2)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "%zu names (expected at most %u)",
                        n_entries, UINT32_MAX / 2);

    struct sl_fib *made = create(config, n_entries, &status, diag);
    if (made == NULL)
        return status;
    status = plant_all(made, entries, n_entries, diag);
    if (status == SL_OK && config->aggregate && !fold_all(made))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for aggregating %zu names",
                          made->n_entries);
    if (status == SL_OK)
        status = made->table.plane->build(made, diag);
    if (status == SL_OK) {
        fib_count_in_plane(made);
        *fib = made;
    } else {
        sl_fib_free(made);
    }
    return status;
}
