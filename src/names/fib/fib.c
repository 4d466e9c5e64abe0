/* SPDX-License-Identifier: MIT */
/* The control plane: the unaggregated table, and the part of it that is in the data plane. */
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "fib_ahead.h"

enum { COLLECT_EACH = 64 /* updates */ };

void sl_fib_config_init(struct sl_fib_config *config)
{
    *config = (struct sl_fib_config){.plane = "auto"};
}

/* ---- what was taken out ---------------------------------------------------------------------- */

/* Memory that no look-up under way may have seen is used again. */
static void collect(struct sl_fib *fib)
{
    struct fib_retired retired;

    pthread_mutex_lock(&fib->table.lock);
    const uint64_t oldest = fib_epochs_oldest(&fib->table.epochs);
    pthread_mutex_unlock(&fib->table.lock);
    fib->table.plane->collect(fib, oldest);
    while (fib_waiting_take(&fib->old, oldest, &retired))
        fib->table.plane->free((void *)(uintptr_t)retired.what);
}

void fib_put_plane(struct sl_fib *fib, void *plane, struct fib_view *view)
{
    void *old = fib->plane;

    view->root_hop = fib->tree.nodes[FIB_ROOT].next_hop;
    fib->plane = plane;
    atomic_store(&fib->table.view, view);
    if (old != NULL) {
        const struct fib_retired retired = {.mark = fib_retire(fib),
                                            .what = (uint64_t)(uintptr_t)old};

        fib_waiting_add(&fib->old, &retired);
    }
}

/* ---- one entry ------------------------------------------------------------------------------- */

/* The effects of a node's new next hop below it and above it. */
struct change {
    uint32_t node;
    uint32_t before, after;    /* next hop, SL_FIB_NONE: no entry */
    uint32_t inherited;        /* from above */
    uint32_t shows, will_show; /* to names below that match nothing longer */
};

void fib_count_folded(struct sl_fib *fib, struct fib_node *node, bool folded)
{
    fib->n_folded += folded ? 1 : (size_t)-1;
    node->folded = folded;
}

/* Entries below that answer `next_hop`, as the entry above them does, leave the plane. Where memory
 * runs out they stay: that costs memory, and no answer changes. */
static void fold_below(struct sl_fib *fib, uint32_t top, uint32_t next_hop)
{
    for (uint32_t at = top; (at = fib_tree_next_entry(&fib->tree, top, at)) != 0;) {
        struct fib_node *node = &fib->tree.nodes[at];

        if (node->folded || node->next_hop != next_hop)
            continue;
        const uint32_t len = fib_tree_name(&fib->tree, at, fib->name);
        if (!fib->table.plane->drop(fib, at, fib->name, len))
            return;
        fib_count_folded(fib, node, true);
    }
}

/* Folded entries below come back, before what is above them changes its answer. */
static bool unfold_below(struct sl_fib *fib, uint32_t top, uint32_t next_hop)
{
    for (uint32_t at = top; (at = fib_tree_next_entry(&fib->tree, top, at)) != 0;) {
        if (!fib->tree.nodes[at].folded)
            continue;
        const uint32_t len = fib_tree_name(&fib->tree, at, fib->name);
        if (!fib->table.plane->add(fib, at, fib->name, len)) {
            fold_below(fib, top, next_hop);
            return false;
        }
        fib_count_folded(fib, &fib->tree.nodes[at], false);
    }
    return true;
}

/* The node's own entry in the plane. */
static bool change_own(struct sl_fib *fib, const struct change *change)
{
    const struct fib_plane *plane = fib->table.plane;
    struct fib_node *node = &fib->tree.nodes[change->node];
    const bool was_in = change->before != SL_FIB_NONE && !node->folded;
    const bool was_folded = node->folded;
    const bool folds =
        fib->aggregate && change->after != SL_FIB_NONE && change->after == change->inherited;
    const bool is_in = change->after != SL_FIB_NONE && !folds;
    bool good = true;

    node->next_hop = change->after;
    if (change->node == FIB_ROOT)
        fib_store32(&atomic_load(&fib->table.view)->root_hop, change->after);
    else if (is_in && !was_in)
        good = plane->add(fib, change->node, fib->path.name, fib->path.len);
    else if (!is_in && was_in)
        good = plane->drop(fib, change->node, fib->path.name, fib->path.len);
    else if (is_in)
        good = plane->change(fib, change->node, fib->path.name, fib->path.len);
    node = &fib->tree.nodes[change->node];
    if (!good)
        node->next_hop = change->before;
    else if (folds != was_folded)
        fib_count_folded(fib, node, folds);
    return good;
}

/* Gives a node an entry, another next hop, or takes its entry. Entries that were folded below come
 * back first, and entries that may fold go last. So each look-up meanwhile gets the answer of
 * before or after. */
static bool set_next_hop(struct sl_fib *fib, uint32_t at, uint32_t next_hop)
{
    const struct fib_node *node = &fib->tree.nodes[at];
    struct change change = {.node = at,
                            .before = node->next_hop,
                            .after = next_hop,
                            .inherited = fib_tree_inherited(&fib->tree, at)};

    if (change.before == change.after)
        return true;
    change.shows = change.before != SL_FIB_NONE ? change.before : change.inherited;
    change.will_show = change.after != SL_FIB_NONE ? change.after : change.inherited;

    const bool below = fib->aggregate && change.shows != change.will_show && node->child != 0;
    if (below && change.shows != SL_FIB_NONE && !unfold_below(fib, at, change.shows))
        return false;
    if (!change_own(fib, &change)) {
        if (below && change.shows != SL_FIB_NONE)
            fold_below(fib, at, change.shows);
        return false;
    }
    if (below && change.will_show != SL_FIB_NONE)
        fold_below(fib, at, change.will_show);
    fib->n_entries += (change.after != SL_FIB_NONE) - (size_t)(change.before != SL_FIB_NONE);
    return true;
}

/* ---- updates --------------------------------------------------------------------------------- */

static bool insert(struct sl_fib *fib, uint32_t next_hop)
{
    if (!fib_tree_make(&fib->tree, &fib->path))
        return false;

    const uint32_t at = fib->path.node[fib->path.depth];
    if (!set_next_hop(fib, at, next_hop)) {
        fib_tree_trim(&fib->tree, &fib->path);
        return false;
    }
    fib->tree.nodes[at].n_holders++;
    return true;
}

static bool delete (struct sl_fib *fib)
{
    const uint32_t at = fib->path.node[fib->path.depth];

    if (fib->tree.nodes[at].n_holders == 1 && !set_next_hop(fib, at, SL_FIB_NONE))
        return false;
    fib->tree.nodes[at].n_holders--;
    fib_tree_trim(&fib->tree, &fib->path);
    return true;
}

/* False: no memory, and no effect. */
static bool apply_one(struct sl_fib *fib, struct sl_fib_update *update,
                      const struct fib_ahead *ahead)
{
    const struct sl_fib_entry *entry = &update->entry;
    const bool whole =
        fib_tree_find(&fib->tree, entry->name, entry->name_len, false, ahead, &fib->path);
    bool good;

    if (!whole || (update->verb != SL_FIB_DELETE && entry->next_hop == SL_FIB_NONE)) {
        update->outcome = SL_FIB_BAD;
        return true;
    }
    if (update->verb == SL_FIB_INSERT) {
        good = insert(fib, entry->next_hop);
    } else {
        const uint32_t at = fib->path.node[fib->path.depth];

        if (fib->path.n_found != fib->path.depth || fib->tree.nodes[at].next_hop == SL_FIB_NONE) {
            update->outcome = SL_FIB_ABSENT;
            return true;
        }
        good =
            update->verb == SL_FIB_DELETE ? delete (fib) : set_next_hop(fib, at, entry->next_hop);
    }
    update->outcome = SL_FIB_DONE;
    fib->version += good;
    return good;
}

void fib_count_in_plane(struct sl_fib *fib)
{
    atomic_load(&fib->table.view)->n_entries = fib->n_entries - fib->n_folded;
}

enum sl_status sl_fib_apply(struct sl_fib *fib, struct sl_fib_update *updates, size_t n_updates,
                            size_t *n_applied, struct sl_diag *diag)
{
    struct fib_ahead ahead[FIB_N_AHEAD] = {0};
    enum sl_status status = SL_OK;
    size_t i = 0;

    pthread_mutex_lock(&fib->lock);
    for (; i < n_updates; i++) {
        if (i % COLLECT_EACH == 0)
            collect(fib);
        fib_ahead_fetch(fib, &updates->entry, sizeof *updates, n_updates, i, ahead);
        if (!apply_one(fib, &updates[i], &ahead[i % FIB_N_AHEAD])) {
            status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for more than %zu names",
                              fib->n_entries);
            break;
        }
    }
    fib_count_in_plane(fib);
    pthread_mutex_unlock(&fib->lock);
    *n_applied = i;
    return status;
}

/* ---- the whole table ------------------------------------------------------------------------- */

enum sl_status sl_fib_rebuild(struct sl_fib *fib, struct sl_diag *diag)
{
    pthread_mutex_lock(&fib->lock);
    const enum sl_status status = fib->table.plane->build(fib, diag);
    fib_count_in_plane(fib);
    collect(fib);
    pthread_mutex_unlock(&fib->lock);
    return status;
}

void sl_fib_free(struct sl_fib *fib)
{
    if (fib == NULL)
        return;
    struct fib_retired retired;
    while (fib_waiting_take(&fib->old, UINT64_MAX, &retired))
        fib->table.plane->free((void *)(uintptr_t)retired.what);
    fib->table.plane->free(fib->plane);
    fib_waiting_free(&fib->old);
    fib_tree_free(&fib->tree);
    fib_table_end(&fib->table);
    pthread_mutex_destroy(&fib->lock);
    free(fib);
}

enum sl_status sl_fib_publish(struct sl_fib *fib, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    pthread_mutex_lock(&fib->lock);
    pthread_mutex_lock(&fib->table.lock);
    fib_publish *const publish = fib->table.publish;
    pthread_mutex_unlock(&fib->table.lock);
    if (publish != NULL)
        status = publish(&fib->table, atomic_load(&fib->table.view), diag);
    pthread_mutex_unlock(&fib->lock);
    return status;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

const struct sl_fib_engine *sl_fib_engine(const struct sl_fib_table *table)
{
    return table->plane->engine;
}

const struct sl_fib_backend *sl_fib_choose(const struct sl_fib_engine *engine,
                                           enum sl_device_kind kind, char why[SL_WHY_LEN])
{
    size_t len = 0;

    if (why != NULL)
        why[0] = '\0';
    for (size_t i = 0; engine->backends[i] != NULL; i++) {
        const struct sl_fib_backend *backend = engine->backends[i];
        char reason[SL_WHY_LEN] = "";

        if (backend->device != kind || strstr(backend->name, "interwoven") != NULL)
            continue;
        if (backend->usable(reason))
            return backend;
        if (why != NULL && len < SL_WHY_LEN)
            len += (size_t)snprintf(why + len, SL_WHY_LEN - len, "%s%s: %s", len != 0 ? "; " : "",
                                    backend->name, reason);
    }
    return NULL;
}
