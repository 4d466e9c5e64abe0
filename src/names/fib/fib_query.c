/* SPDX-License-Identifier: MIT */
/* Questions to the unaggregated table. */
#include <stdlib.h>

#include "fib_internal.h"

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

void sl_fib_each(struct sl_fib *fib,
                 bool (*each)(void *user, const struct sl_fib_entry *entry, uint32_t n_holders),
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
