/* SPDX-License-Identifier: MIT */
#include "dns_messages.h"

#include <stdlib.h>

#include "base/diag.h"
#include "sluice/app.h"

static bool reserve(struct dns_messages *messages, size_t n)
{
    if (n <= messages->cap)
        return true;

    uint32_t *grown = reallocarray(messages->item, n, sizeof *grown);
    if (grown == NULL)
        return false;
    messages->item = grown;
    messages->cap = n;
    return true;
}

enum sl_status dns_messages_list(struct dns_messages *messages, const struct sl_batch *batch,
                                 struct sl_diag *diag)
{
    messages->n = 0;
    if (!reserve(messages, batch->n_items))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the DNS messages of a batch");
    for (uint32_t item = 0; item < batch->n_items; item++)
        if (batch->origin[item].app != SL_APP_UNKNOWN)
            messages->item[messages->n++] = item;
    return SL_OK;
}

void dns_messages_free(struct dns_messages *messages)
{
    free(messages->item);
}
