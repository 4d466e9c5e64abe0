/* SPDX-License-Identifier: MIT */
#include "dns_messages.h"

#include <stdlib.h>

#include "app/dns.h"
#include "base/diag.h"
#include "sluice/app.h"

const struct sl_flow_slot dns_messages_slot = {.len = sizeof(uint32_t),
                                               .align = _Alignof(uint32_t)};

static bool reserve(struct dns_messages *messages, size_t n)
{
    if (n <= messages->cap)
        return true;

    dns_messages_free(messages);
    messages->item = reallocarray(NULL, n, sizeof *messages->item);
    messages->nth = reallocarray(NULL, n, sizeof *messages->nth);
    messages->cap = messages->item != NULL && messages->nth != NULL ? n : 0;
    return messages->cap != 0;
}

enum sl_status dns_messages_list(struct dns_messages *messages, const struct sl_batch *batch,
                                 struct sl_diag *diag)
{
    messages->n = 0;
    if (!reserve(messages, batch->n_items))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the DNS messages of a batch");
    for (uint32_t item = 0; item < batch->n_items; item++)
        if (dns_has_form(batch->origin[item].app) && batch->packet[item].protocol == SL_IP_UDP) {
            messages->nth[messages->n] = 0;
            messages->item[messages->n++] = item;
        }
    return SL_OK;
}

/* The index of the first message from this item on. */
static size_t find(const struct dns_messages *messages, uint32_t item)
{
    size_t low = 0, high = messages->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (messages->item[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void dns_messages_count(const struct dns_messages *messages, uint32_t item, void *slot)
{
    messages->nth[find(messages, item)] = ++*(uint32_t *)slot;
}

uint32_t dns_messages_nth(const struct dns_messages *messages, uint32_t item)
{
    const size_t index = find(messages, item);

    return index < messages->n && messages->item[index] == item ? messages->nth[index] : 0;
}

void dns_messages_free(struct dns_messages *messages)
{
    free(messages->item);
    free(messages->nth);
}
