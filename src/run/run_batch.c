/* SPDX-License-Identifier: MIT */
#include "run_batch.h"

#include <stdlib.h>

#include "base/diag.h"

struct run_batch *run_batch_of(struct run_batch **all, struct sl_batch *batch, struct sl_diag *diag)
{
    struct run_batch *mine = batch->filler;

    if (mine != NULL)
        return mine;
    mine = calloc(1, sizeof *mine);
    if (mine == NULL) {
        (void)diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to read packets");
        return NULL;
    }
    if (source_batch_init(&mine->source, batch->max_items, diag) != SL_OK) {
        free(mine);
        return NULL;
    }
    mine->next = *all;
    *all = mine;
    batch->filler = mine;
    return mine;
}

void run_batch_free(struct run_batch *all, struct run_source *source)
{
    while (all != NULL) {
        struct run_batch *next = all->next;

        source_batch_abandon(&all->source, source);
        source_batch_clear(&all->source);
        stream_batch_clear(&all->streams);
        app_batch_clear(&all->apps);
        run_digest_free(all->digest);
        virus_batch_clear(&all->viruses);
        run_savings_free(&all->savings);
        run_policy_release(all->policy);
        free(all);
        all = next;
    }
}
