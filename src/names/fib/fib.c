/* SPDX-License-Identifier: MIT */
/* The control plane: the unaggregated table, and what of it is in the data plane. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/diag.h"
#include "fib_groups.h"
#include "fib_internal.h"

enum {
    FETCH_NAMES = 32, /* entries ahead of the one that is worked on */
    FETCH_PLACES = 24,
    FETCH_NODES = 16,
    FETCH_SIBLINGS = 8,
    N_AHEAD = 32,      /* a power of two above all but the first */
    COLLECT_EACH = 64, /* updates */
    FORGET_EACH = 4096 /* entries of a new table */
};

void sl_fib_config_init(struct sl_fib_config *config)
{
    *config = (struct sl_fib_config){.plane = "auto"};
}

/* ---- what was taken out ---------------------------------------------------------------------- */

/* What no look-up under way may have seen is used again. */
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

/* What a change of a node's next hop means below it and above it. */
struct change {
    uint32_t node;
    uint32_t before, after;    /* next hop, SL_FIB_NONE: no entry */
    uint32_t inherited;        /* from above */
    uint32_t shows, will_show; /* to names below that match nothing longer */
};

static void count_folded(struct sl_fib *fib, struct fib_node *node, bool folded)
{
    fib->n_folded += folded ? 1 : (size_t)-1;
    node->folded = folded;
}

/* Entries below that answer `next_hop`, as what is above them does, leave the plane. Where memory
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
        count_folded(fib, node, true);
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
        count_folded(fib, &fib->tree.nodes[at], false);
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
        count_folded(fib, node, folds);
    return good;
}

/* Gives a node an entry, another next hop, or takes its entry. What is folded below comes back
 * first and what may fold goes last, so that each look-up meanwhile gets the answer of before or
 * after. */
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

/* ---- hurrying ahead -------------------------------------------------------------------------- */

static const struct sl_fib_entry *entry_at(const void *entries, size_t stride, size_t i)
{
    return (const struct sl_fib_entry *)(const void *)((const uint8_t *)entries + i * stride);
}

/* Memory that updates will look at is on its way while those before them are worked on: each call
 * hurries ahead of entry i by one more. `entries` are stride bytes apart. */
static void fetch(const struct sl_fib *fib, const void *entries, size_t stride, size_t n, size_t i,
                  struct fib_ahead ahead[N_AHEAD])
{
    const size_t begin = i == 0 ? 0 : FETCH_NAMES; /* the first one makes up for those before */

    for (size_t k = begin; k <= FETCH_NAMES; k++) {
        const size_t place = i + k - (FETCH_NAMES - FETCH_PLACES);
        const size_t node = i + k - (FETCH_NAMES - FETCH_NODES);
        const size_t sibling = i + k - (FETCH_NAMES - FETCH_SIBLINGS);

        if (i + k < n)
            __builtin_prefetch(entry_at(entries, stride, i + k)->name);
        if (place < n) /* below 0 is above n */
            fib_tree_fetch_places(&fib->tree, entry_at(entries, stride, place)->name,
                                  entry_at(entries, stride, place)->name_len,
                                  &ahead[place % N_AHEAD]);
        if (node < n) {
            fib_tree_fetch_nodes(&fib->tree, &ahead[node % N_AHEAD]);
            if (fib->table.plane->fetch != NULL && ahead[node % N_AHEAD].n != 0)
                fib->table.plane->fetch(fib,
                                        ahead[node % N_AHEAD].hash[ahead[node % N_AHEAD].n - 1]);
        }
        if (sibling < n)
            fib_tree_fetch_siblings(&fib->tree, &ahead[sibling % N_AHEAD]);
    }
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

static void count_in_plane(struct sl_fib *fib)
{
    atomic_load(&fib->table.view)->n_entries = fib->n_entries - fib->n_folded;
}

enum sl_status sl_fib_apply(struct sl_fib *fib, struct sl_fib_update *updates, size_t n_updates,
                            size_t *n_applied, struct sl_diag *diag)
{
    struct fib_ahead ahead[N_AHEAD] = {0};
    enum sl_status status = SL_OK;
    size_t i = 0;

    pthread_mutex_lock(&fib->lock);
    for (; i < n_updates; i++) {
        if (i % COLLECT_EACH == 0)
            collect(fib);
        fetch(fib, &updates->entry, sizeof *updates, n_updates, i, ahead);
        if (!apply_one(fib, &updates[i], &ahead[i % N_AHEAD])) {
            status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for more than %zu names",
                              fib->n_entries);
            break;
        }
    }
    count_in_plane(fib);
    pthread_mutex_unlock(&fib->lock);
    *n_applied = i;
    return status;
}

/* ---- build ----------------------------------------------------------------------------------- */

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
    struct fib_ahead ahead[N_AHEAD] = {0};
    struct fib_groups groups;
    size_t i = 0;

    const enum sl_status status = fib_groups_make(&groups, &fib->tree, entries, n, diag);
    if (status != SL_OK)
        return status;
    for (; i < n; i++) {
        if (i % FORGET_EACH == 0)
            fib_groups_forget(&groups, i);
        fetch(fib, groups.entries, sizeof *groups.entries, n, i, ahead);
        if (!plant(fib, &groups.entries[i], &ahead[i % N_AHEAD]))
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
            count_folded(fib, node, true);
    }
    fib_memory_give(shows, len);
    return true;
}

enum sl_status sl_fib_build(struct sl_fib **fib, const struct sl_fib_config *config,
                            const struct sl_fib_entry *entries, size_t n_entries,
                            struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

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
        count_in_plane(made);
        *fib = made;
    } else {
        sl_fib_free(made);
    }
    return status;
}

enum sl_status sl_fib_rebuild(struct sl_fib *fib, struct sl_diag *diag)
{
    pthread_mutex_lock(&fib->lock);
    const enum sl_status status = fib->table.plane->build(fib, diag);
    count_in_plane(fib);
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

/* ---- questions ------------------------------------------------------------------------------- */

static struct sl_fib_match match_at(const struct sl_fib *fib, uint32_t depth)
{
    const struct fib_node *node = &fib->tree.nodes[fib->path.node[depth]];

    if (node->next_hop == SL_FIB_NONE)
        return (struct sl_fib_match){.next_hop = SL_FIB_NONE};
    return (struct sl_fib_match){node->next_hop, fib->path.end[depth], node->n_holders};
}

struct sl_fib_match sl_fib_match(struct sl_fib *fib, const uint8_t *name, size_t name_len)
{
    pthread_mutex_lock(&fib->lock);
    (void)fib_tree_find(&fib->tree, name, name_len, true, NULL, &fib->path);

    uint32_t depth = fib->path.n_found;
    while (depth > 0 && fib->tree.nodes[fib->path.node[depth]].next_hop == SL_FIB_NONE)
        depth--;
    const struct sl_fib_match match = match_at(fib, depth);
    pthread_mutex_unlock(&fib->lock);
    return match;
}

struct sl_fib_match sl_fib_find(struct sl_fib *fib, const uint8_t *name, size_t name_len)
{
    struct sl_fib_match match = {.next_hop = SL_FIB_NONE};

    pthread_mutex_lock(&fib->lock);
    if (fib_tree_find(&fib->tree, name, name_len, false, NULL, &fib->path) &&
        fib->path.n_found == fib->path.depth)
        match = match_at(fib, fib->path.depth);
    pthread_mutex_unlock(&fib->lock);
    return match;
}

enum sl_status sl_fib_each(struct sl_fib *fib,
                           bool (*each)(void *user, const struct sl_fib_entry *entry,
                                        uint32_t n_holders),
                           void *user)
{
    bool goes_on = true;

    pthread_mutex_lock(&fib->lock);
    for (uint32_t i = FIB_ROOT; i < fib->tree.n && goes_on; i++) {
        const struct fib_node *node = &fib->tree.nodes[i];

        if (node->next_hop == SL_FIB_NONE)
            continue;
        const struct sl_fib_entry entry = {fib->name, fib_tree_name(&fib->tree, i, fib->name),
                                           node->next_hop};
        goes_on = each(user, &entry, node->n_holders);
    }
    pthread_mutex_unlock(&fib->lock);
    return SL_OK;
}

void sl_fib_info(struct sl_fib *fib, struct sl_fib_info *info)
{
    pthread_mutex_lock(&fib->lock);
    *info = (struct sl_fib_info){
        .plane = fib->table.plane->name,
        .version = fib->version,
        .n_entries = fib->n_entries,
        .n_folded = fib->n_folded,
        .plane_len = fib_block_len(fib_view_of(fib)),
        .control_len = sizeof *fib + fib_tree_len(&fib->tree) + fib->table.plane->control_len(fib),
    };
    pthread_mutex_unlock(&fib->lock);
}

struct sl_fib_table *sl_fib_table(struct sl_fib *fib)
{
    return &fib->table;
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

/* ---- interwoven batches ---------------------------------------------------------------------- */

enum { READ_BEHIND = 5 }; /* words that readers may read behind a name: see struct fib_reader */

/* The words of up to 32 names beginning at `first`, one word of each after another. */
static bool weave(struct sl_batch *to, const struct sl_batch *from, uint32_t first, uint32_t n)
{
    uint32_t max_len = 0;

    for (uint32_t i = 0; i < n; i++)
        if (from->payload[first + i].len > max_len)
            max_len = from->payload[first + i].len;

    const uint64_t n_rows = ((uint64_t)max_len + 3) / 4;
    const uint64_t len = n_rows * FIB_INTERWOVEN * sizeof(uint32_t);
    if (len > to->bytes_cap - to->bytes_len)
        return false;

    uint32_t *rows = (uint32_t *)(void *)(to->bytes + to->bytes_len);
    memset(rows, 0, len);
    for (uint32_t i = 0; i < n; i++) {
        const struct sl_span span = from->payload[first + i];

        for (uint32_t at = 0; at < span.len; at += 4)
            memcpy(&rows[(size_t)at / 4 * FIB_INTERWOVEN + i], from->bytes + span.offset + at,
                   span.len - at < 4 ? span.len - at : 4);
        to->payload[first + i] =
            (struct sl_span){to->bytes_len + i * (uint32_t)sizeof(uint32_t), span.len};
    }
    to->bytes_len += (uint32_t)len;
    return true;
}

enum sl_status sl_fib_interweave(struct sl_batch *to, const struct sl_batch *from)
{
    sl_batch_reset(to);
    if (from->n_items > to->max_items)
        return SL_EOVERFLOW;
    for (uint32_t i = 0; i < from->n_items; i += FIB_INTERWOVEN) {
        const uint32_t left = from->n_items - i;

        if (!weave(to, from, i, left < FIB_INTERWOVEN ? left : FIB_INTERWOVEN)) {
            sl_batch_reset(to);
            return SL_EOVERFLOW;
        }
    }
    const uint32_t behind = READ_BEHIND * FIB_INTERWOVEN * (uint32_t)sizeof(uint32_t);
    if (behind > to->bytes_cap - to->bytes_len) {
        sl_batch_reset(to);
        return SL_EOVERFLOW;
    }
    memset(to->bytes + to->bytes_len, 0, behind);
    to->bytes_len += behind;
    to->n_items = from->n_items;
    return SL_OK;
}
