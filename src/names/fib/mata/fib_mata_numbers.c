/* SPDX-License-Identifier: MIT */
/* Numbers of states, and next hops as the leaves that lead to them. */
#include <stdlib.h>

#include "fib_mata_plane.h"

uint32_t mata_any_number(struct mata *mata)
{
    do
        mata->cursor = mata->cursor + 1 < mata->view->n_places[0] ? mata->cursor + 1 : 2;
    while (mata_bit(mata->given, mata->cursor));
    return mata->cursor;
}

/* ---- next hops ------------------------------------------------------------------------------- */

static uint32_t hop_place(const struct mata *mata, uint32_t hop)
{
    uint32_t place = (uint32_t)(hop * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (mata->hop_places - 1);

    while (mata->hop_index[place] != 0 && mata->hop_index[place] >> 32 != hop)
        place = (place + 1) & (mata->hop_places - 1);
    return place;
}

static bool grow_hops(struct mata *mata)
{
    const uint32_t n_old = mata->hop_places;
    uint64_t *old = mata->hop_index;

    if (mata->n_hops < n_old / 2)
        return true;
    mata->hop_places = n_old != 0 ? n_old * 2 : 64;
    mata->hop_index = (uint64_t *)calloc(mata->hop_places, sizeof *mata->hop_index);
    if (mata->hop_index == NULL) {
        mata->hop_index = old;
        mata->hop_places = n_old;
        return false;
    }
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i] != 0)
            mata->hop_index[hop_place(mata, (uint32_t)(old[i] >> 32))] = old[i];
    free(old);
    return true;
}

bool mata_has_hop_room(const struct mata *mata)
{
    return (mata->n_hops + 1) * sizeof *mata->hops <= mata->hops_len;
}

uint32_t mata_leaf_of(struct mata *mata, uint32_t hop)
{
    if (!grow_hops(mata))
        return 0;

    const uint32_t place = hop_place(mata, hop);
    if (mata->hop_index[place] == 0) {
        fib_store32(&mata->hops[mata->n_hops], hop);
        mata->hop_index[place] = (uint64_t)hop << 32 | ++mata->n_hops;
        mata->view->part_len[MATA_HOPS] = mata->n_hops * sizeof(uint32_t);
    }
    return MATA_LEAF | MATA_ENTRY | ((uint32_t)mata->hop_index[place] - 1);
}
