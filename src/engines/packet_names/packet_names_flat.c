/* SPDX-License-Identifier: MIT */
#include "packet_names_flat.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "names/table/names_internal.h"

enum {
    ALIGN = 64,
    BEHIND = 64 /* bytes behind each part: look-ups read a little beyond */
};

static uint64_t aligned(uint64_t len)
{
    return (len + (ALIGN - 1)) & ~(uint64_t)(ALIGN - 1);
}

/* Where the parts and the rules lie, and the memory of all of it. */
static void lay_out(struct names_flat *flat, const struct fib_view *view, uint64_t n_rules)
{
    uint64_t at = aligned(sizeof *flat);

    flat->fib = *view;
    for (int i = 0; i < FIB_PARTS; i++) {
        flat->fib.part[i] = (const void *)(uintptr_t)at;
        at += aligned(view->part_len[i] + BEHIND);
    }
    flat->rules = at;
    flat->len = at + aligned(n_rules * sizeof(struct names_rule) + BEHIND);
}

static void copy_parts(uint8_t *block, const struct names_flat *flat, const struct fib_view *view,
                       const struct sl_names *names)
{
    struct names_rule *rules = (struct names_rule *)(void *)(block + flat->rules);

    for (int i = 0; i < FIB_PARTS; i++)
        if (view->part_len[i] != 0)
            memcpy(block + (uintptr_t)flat->fib.part[i], view->part[i], view->part_len[i]);
    for (uint64_t i = 0; i < names->rules.n; i += POOL_CHUNK)
        memcpy(rules + i, pool_at(&names->rules, (uint32_t)i),
               pool_run(&names->rules, i) * sizeof *rules);
}

static enum names_plane plane_of(const struct sl_names *names)
{
    return fib_table_is(names->table, "hash")   ? NAMES_PLANE_HASH
           : fib_table_is(names->table, "mata") ? NAMES_PLANE_MATA
                                                : NAMES_PLANE_ATA; /* stt is an ata, too */
}

enum sl_status names_flat_make(struct names_flat **flat, struct sl_names *names,
                               struct sl_diag *diag)
{
    struct names_flat head = {0};
    uint8_t *block;

    /* Nodes that the plane knows change with updates alone. */
    pthread_mutex_lock(&names->update_lock);
    const struct fib_view *view = fib_table_freeze(names->table);
    lay_out(&head, view, names->rules.n);
    head.epoch = atomic_load(&names->epoch);
    head.plane = plane_of(names);
    head.highest_rank = names_highest_rank(names);
    block = (uint8_t *)aligned_alloc(ALIGN, head.len);
    if (block != NULL) {
        memset(block, 0, aligned(sizeof head));
        memcpy(block, &head, sizeof head);
        copy_parts(block, &head, view, names);
    }
    fib_table_thaw(names->table);
    pthread_mutex_unlock(&names->update_lock);
    *flat = (struct names_flat *)(void *)block;
    return block != NULL
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0,
                          "no memory for a copy of the table of names, %.1f MB", head.len / 1e6);
}
