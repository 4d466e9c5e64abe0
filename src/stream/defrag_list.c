/* SPDX-License-Identifier: MIT */
/* Datagrams whose fragments all lie in one batch, in order. */
#include <stdlib.h>

#include "defrag_inside.h"
#include "dissect/dissection.h"

void defrag_list_clear(struct defrag_list *list)
{
    free(list->fragment);
    free(list->ready);
    free(list->slot);
}

/* Room for n fragments and one: there are arrays where n is 0, too. False: no memory. */
static bool reserve(struct defrag_list *list, uint32_t n)
{
    uint32_t n_slots = 64;

    if (n < list->max)
        return true;
    while (n_slots <= 2 * n)
        n_slots *= 2;
    defrag_list_clear(list);
    *list = (struct defrag_list){.n_slots = n_slots, .max = n_slots / 2};
    list->fragment = malloc(list->max * sizeof *list->fragment);
    list->ready = malloc(list->max * sizeof *list->ready);
    list->slot = malloc(n_slots * sizeof *list->slot);
    if (list->fragment != NULL && list->ready != NULL && list->slot != NULL)
        return true;
    defrag_list_clear(list);
    *list = (struct defrag_list){0};
    return false;
}

bool defrag_list_begin(struct defrag_list *list, const struct defrag *defrag,
                       const struct sl_batch *batch, uint32_t n)
{
    if (!reserve(list, n))
        return false;
    memset(list->slot, 0, list->n_slots * sizeof *list->slot);
    memcpy(list->hash_key, defrag_hash_key(defrag), sizeof list->hash_key);
    list->batch = batch;
    list->n = list->n_ready = 0;
    return true;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Whether the datagram of a first fragment may be a fragment again: behind another IP header, or
 * behind another header of fragments. */
static bool may_nest(const struct defrag_fragment *f)
{
    switch (f->protocol) {
    case SL_IP_TCP:
    case SL_IP_SCTP:
    case SL_IP_ICMP:
    case SL_IP_ICMPV6:
        return false;
    case SL_IP_UDP:
        return f->len < 4 || dissection_may_tunnel(load_be16(f->bytes), load_be16(f->bytes + 2));
    default:
        return true;
    }
}

/* The slot of the key's newest datagram; 0: it has none. */
static uint32_t *slot_of(const struct defrag_list *list, const struct defrag_key *key,
                         uint64_t hash)
{
    const uint32_t mask = list->n_slots - 1;
    uint32_t at = (uint32_t)(hash >> 32) & mask;

    while (list->slot[at] != 0 && !defrag_key_equal(&list->ready[list->slot[at] - 1].key, key))
        at = (at + 1) & mask;
    return &list->slot[at];
}

static void begin(struct defrag_list *list, const struct defrag_key *key, uint64_t hash,
                  const struct defrag_fragment *f)
{
    struct defrag_ready *ready = &list->ready[list->n_ready];

    *ready = (struct defrag_ready){.key = *key,
                                   .hash = hash,
                                   .first = list->n - 1,
                                   .headers = f->headers,
                                   .is_tiny = defrag_is_tiny(f),
                                   .is_open = true};
    defrag_head_read(&ready->head, f);
    ready->head.end = f->len;
    list->fragment[list->n - 1].ready = list->n_ready++;
}

static void go_on(struct defrag_list *list, struct defrag_ready *ready,
                  const struct defrag_fragment *f)
{
    ready->is_open = false;
    if (f->offset != ready->head.end)
        return;
    ready->head.end += f->len;
    ready->is_open = f->more;
    if (!f->more && defrag_head_fits(&ready->head))
        ready->last = list->n - 1;
    list->fragment[list->n - 1].ready = (uint32_t)(ready - list->ready);
}

void defrag_list_add(struct defrag_list *list, const struct defrag_fragment *f, uint32_t item)
{
    list->fragment[list->n++] =
        (struct defrag_listed){.time_ns = f->time_ns,
                               .item = item,
                               .ready = DEFRAG_NOT_READY,
                               .at = (uint32_t)(f->bytes - list->batch->bytes),
                               .offset = f->offset,
                               .len = f->len,
                               .headers_len = f->headers_len};
    if (defrag_fault_of(f) != SL_N_FRAGMENT_FAULTS)
        return;

    const struct defrag_key key = defrag_key_of(f);
    const uint64_t hash = defrag_hash(&key, list->hash_key);
    uint32_t *slot = slot_of(list, &key, hash);

    if (*slot != 0 && list->ready[*slot - 1].is_open) {
        go_on(list, &list->ready[*slot - 1], f);
    } else if (f->offset == 0 && f->more && !may_nest(f)) {
        begin(list, &key, hash, f);
        *slot = list->n_ready;
    }
}

void defrag_list_end(struct defrag_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        struct defrag_listed *listed = &list->fragment[i];

        if (listed->ready != DEFRAG_NOT_READY && list->ready[listed->ready].last == 0)
            listed->ready = DEFRAG_NOT_READY;
    }
}
