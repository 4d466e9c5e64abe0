/* SPDX-License-Identifier: MIT */
#include "packet_names_watch.h"

#include <stdlib.h>

#include "base/diag.h"
#include "names/table/names_internal.h"
#include "packet_names_flat.h"

#define WATCH_MAGIC UINT64_C(0x68637461772d6c73)

struct sl_packet_names_watch {
    uint64_t magic;
    struct sl_names *names;
    _Atomic uint64_t packets;
    _Atomic uint64_t n_names[SL_N_PACKET_NAMES_PROTOCOLS], matched[SL_N_PACKET_NAMES_PROTOCOLS];
    _Atomic uint64_t missed[SL_N_PACKET_NAMES_MISSES];
    _Atomic uint64_t left;
    pthread_mutex_t lock;    /* of what follows */
    struct names_flat *flat; /* the latest; NULL: nobody needs one */
};

enum sl_status sl_packet_names_watch_create(struct sl_packet_names_watch **out,
                                            struct sl_names *names, struct sl_diag *diag)
{
    struct sl_packet_names_watch *watch;

    *out = NULL;
    if (names->table == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the table is not built");
    watch = (struct sl_packet_names_watch *)calloc(1, sizeof *watch);
    if (watch == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a watch");
    watch->magic = WATCH_MAGIC;
    watch->names = names;
    pthread_mutex_init(&watch->lock, NULL);
    *out = watch;
    return SL_OK;
}

void sl_packet_names_watch_free(struct sl_packet_names_watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

bool names_watch_is(const struct sl_engine *engine, const void *table)
{
    (void)engine;
    return names_watch_of(table)->magic == WATCH_MAGIC;
}

struct sl_names *names_watch_names(const struct sl_packet_names_watch *watch)
{
    return watch->names;
}

/* ---- counts ---------------------------------------------------------------------------------- */

void sl_packet_names_watch_count(const struct sl_packet_names_watch *watch,
                                 struct sl_packet_names_watch_count *count)
{
    count->packets = atomic_load(&watch->packets);
    for (int p = 0; p < SL_N_PACKET_NAMES_PROTOCOLS; p++) {
        count->names[p] = atomic_load(&watch->n_names[p]);
        count->matched[p] = atomic_load(&watch->matched[p]);
    }
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        count->missed[m] = atomic_load(&watch->missed[m]);
    count->left = atomic_load(&watch->left);
}

void names_watch_add(struct sl_packet_names_watch *watch,
                     const struct sl_packet_names_watch_count *count)
{
    atomic_fetch_add(&watch->packets, count->packets);
    for (int p = 0; p < SL_N_PACKET_NAMES_PROTOCOLS; p++) {
        atomic_fetch_add(&watch->n_names[p], count->names[p]);
        atomic_fetch_add(&watch->matched[p], count->matched[p]);
    }
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        if (count->missed[m] != 0)
            atomic_fetch_add(&watch->missed[m], count->missed[m]);
    atomic_fetch_add(&watch->left, count->left);
}

/* ---- the table as a block -------------------------------------------------------------------- */

bool names_watch_is_new(const struct sl_packet_names_watch *watch, const struct names_flat *flat)
{
    return atomic_load(&watch->names->epoch) != flat->epoch;
}

enum sl_status names_watch_borrow(struct sl_packet_names_watch *watch,
                                  const struct names_flat **flat, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    pthread_mutex_lock(&watch->lock);
    if (watch->flat == NULL || names_watch_is_new(watch, watch->flat)) {
        struct names_flat *made;

        status = names_flat_make(&made, watch->names, diag);
        if (status == SL_OK)
            watch->flat = made; /* the one before is its users' */
    }
    if (status == SL_OK) {
        watch->flat->n_users++;
        *flat = watch->flat;
    }
    pthread_mutex_unlock(&watch->lock);
    return status;
}

void names_watch_give_back(struct sl_packet_names_watch *watch, const struct names_flat *flat)
{
    struct names_flat *mine = (struct names_flat *)(uintptr_t)flat;

    if (mine == NULL)
        return;
    pthread_mutex_lock(&watch->lock);
    if (--mine->n_users == 0) {
        if (watch->flat == mine)
            watch->flat = NULL;
        free(mine);
    }
    pthread_mutex_unlock(&watch->lock);
}
