/* SPDX-License-Identifier: MIT */
/* Groups follow the hash of names' first components. So a group's nodes and their places in the
 * index lie together, but for those of deeper ones. */
#include "fib_groups.h"

#include <stdlib.h>

#include "base/diag.h"
#include "fib_memory.h"

enum {
    GROUP_LEVEL = 2,    /* components: a domain and its top */
    GROUP_NAMES = 8192, /* about: their nodes fit into a core's own cache */
    GROUPS_MAX = 1024,  /* a line and a page of each are written to at the same time */
    AHEAD = 16
};

/* The sizes of a group, then the places of its next entry and bytes. */
struct group {
    size_t entry, byte;
};

/* Groups follow one another. */
static struct group lay_out(struct group *groups, uint32_t n_groups)
{
    struct group at = {0, 0};

    for (uint32_t g = 0; g < n_groups; g++) {
        const struct group size = groups[g];

        groups[g] = at;
        at.entry += size.entry;
        at.byte += size.byte;
    }
    return at;
}

static enum sl_status refuse(const struct sl_fib_entry *entry, size_t i, struct sl_diag *diag)
{
    const uint32_t line = (uint32_t)i + 1;

    if (entry->name_len > SL_NAME_LEN_MAX)
        return diag_set(diag, SL_EINVAL, NULL, line, "a name of %u bytes (expected at most %d)",
                        entry->name_len, SL_NAME_LEN_MAX);
    if (entry->next_hop == SL_FIB_NONE)
        return diag_set(diag, SL_EINVAL, NULL, line, "a next hop that means none");
    return diag_set(diag, SL_EINVAL, NULL, line, "a name that is not well formed");
}

static enum sl_status choose_groups(const struct fib_tree *tree, const struct sl_fib_entry *entries,
                                    size_t n, uint16_t *group_of, struct group *groups,
                                    uint32_t n_groups, struct sl_diag *diag)
{
    for (size_t i = 0; i < n; i++) {
        const struct sl_fib_entry *entry = &entries[i];
        uint64_t hash;

        if (n - i > AHEAD)
            __builtin_prefetch(entries[i + AHEAD].name);
        if (entry->name_len > SL_NAME_LEN_MAX || entry->next_hop == SL_FIB_NONE ||
            !fib_tree_hash(tree, entry->name, entry->name_len, GROUP_LEVEL, &hash))
            return refuse(entry, i, diag);
        group_of[i] = (uint16_t)fib_place(hash, n_groups);
        groups[group_of[i]].entry++;
        groups[group_of[i]].byte += entry->name_len;
    }
    return SL_OK;
}

static void copy(struct fib_groups *to, const struct sl_fib_entry *entries, size_t n,
                 const uint16_t *group_of, struct group *groups)
{
    for (size_t i = 0; i < n; i++) {
        struct group *group = &groups[group_of[i]];
        struct sl_fib_entry *entry = &to->entries[group->entry++];

        if (n - i > AHEAD)
            __builtin_prefetch(entries[i + AHEAD].name);
        *entry = entries[i];
        entry->name = to->bytes + group->byte;
        if (entry->name_len != 0)
            memcpy(to->bytes + group->byte, entries[i].name, entry->name_len);
        group->byte += entry->name_len;
    }
}

static bool take_memory(struct fib_groups *groups, const struct group *end)
{
    groups->n = end->entry;
    groups->bytes_len = end->byte;
    groups->entries =
        (struct sl_fib_entry *)fib_memory_take((end->entry + 1) * sizeof *groups->entries);
    groups->bytes = (uint8_t *)fib_memory_take(end->byte + 1);
    return groups->entries != NULL && groups->bytes != NULL;
}

enum sl_status fib_groups_make(struct fib_groups *groups, const struct fib_tree *tree,
                               const struct sl_fib_entry *entries, size_t n, struct sl_diag *diag)
{
    const uint32_t n_groups =
        n / GROUP_NAMES < GROUPS_MAX ? (uint32_t)(n / GROUP_NAMES) + 1 : GROUPS_MAX;
    struct group *places = (struct group *)calloc(n_groups, sizeof *places);
    uint16_t *group_of = (uint16_t *)calloc(n + 1, sizeof *group_of);
    enum sl_status status = SL_ENOMEM;

    memset(groups, 0, sizeof *groups);
    if (places != NULL && group_of != NULL)
        status = choose_groups(tree, entries, n, group_of, places, n_groups, diag);
    if (status == SL_OK) {
        const struct group end = lay_out(places, n_groups);

        if (take_memory(groups, &end))
            copy(groups, entries, n, group_of, places);
        else
            status = SL_ENOMEM;
    }
    if (status == SL_ENOMEM)
        (void)diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for sorting %zu names", n);
    if (status != SL_OK)
        fib_groups_free(groups);
    free(places);
    free(group_of);
    return status;
}

void fib_groups_forget(struct fib_groups *groups, size_t n)
{
    const size_t end = (size_t)(groups->entries[n].name - groups->bytes);

    groups->bytes_forgotten = fib_memory_forget(groups->bytes, groups->bytes_forgotten, end);
    groups->entries_forgotten =
        fib_memory_forget(groups->entries, groups->entries_forgotten, n * sizeof *groups->entries);
}

void fib_groups_free(struct fib_groups *groups)
{
    fib_memory_give(groups->entries, (groups->n + 1) * sizeof *groups->entries);
    fib_memory_give(groups->bytes, groups->bytes_len + 1);
    memset(groups, 0, sizeof *groups);
}
