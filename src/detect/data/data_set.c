/* SPDX-License-Identifier: MIT */
/* Values lie in the order of adding, and an open hash table leads to them. Those that were removed
 * stay until the memory is built anew, once for as many changes as there are values. */
#include "data_set.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { ADDRESS_LEN = 16, COST = 24 /* of a value's head and of its slots */ };

static const uint32_t REMOVED = UINT32_MAX;
static const size_t UNITS_MAX = UINT32_MAX - 1;

_Static_assert(sizeof(struct data_unit) == 8, "sizes are stated in units of 8 bytes");

/* ---- values ---------------------------------------------------------------------------------- */

/* Puts *len bytes in the form in which the set keeps them; `address` has room for one. NULL: they
 * have no length of the type. */
static const uint8_t *fit(const struct data_set *set, const uint8_t *bytes, uint32_t *len,
                          uint8_t address[ADDRESS_LEN])
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

    switch (set->type) {
    case DATA_MD5:
        return *len == 16 ? bytes : NULL;
    case DATA_SHA256:
        return *len == 32 ? bytes : NULL;
    case DATA_IPV4:
    case DATA_IP:
        if (*len == ADDRESS_LEN && set->type == DATA_IP)
            return bytes;
        if (*len != 4)
            return NULL;
        memcpy(address, mapped, sizeof mapped);
        memcpy(address + sizeof mapped, bytes, 4);
        *len = ADDRESS_LEN;
        return address;
    default:
        return *len != 0 ? bytes : NULL;
    }
}

static size_t units_of(uint32_t len)
{
    return 1 + ((size_t)len + 7) / 8;
}

static uint64_t cost_of(uint32_t len)
{
    return (units_of(len) - 1) * 8 + COST;
}

static struct data_unit *head_at(const struct data_set *set, uint32_t at)
{
    return &set->unit[at - 1];
}

/* ---- the table ------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct data_set *set, const uint8_t *bytes, uint32_t len)
{
    return XXH3_64bits_withSeed(bytes, len, set->secret);
}

/* The slot of a value. NULL: the set does not have it. */
static struct data_slot *find(const struct data_set *set, const uint8_t *bytes, uint32_t len)
{
    if (set->n == 0)
        return NULL;

    const uint64_t hash = hash_of(set, bytes, len);
    uint32_t i = (uint32_t)hash & (set->n_slots - 1);

    for (; set->slot[i].at != 0; i = (i + 1) & (set->n_slots - 1)) {
        struct data_slot *slot = &set->slot[i];

        if (slot->at != REMOVED && slot->tag == (uint32_t)(hash >> 32) &&
            head_at(set, slot->at)->len == len &&
            memcmp(head_at(set, slot->at) + 1, bytes, len) == 0)
            return slot;
    }
    return NULL;
}

/* Puts a value behind the others. It is new, and there is room. */
static void append(struct data_set *set, struct data_value value)
{
    const uint64_t hash = hash_of(set, value.bytes, value.len);
    uint32_t i = (uint32_t)hash & (set->n_slots - 1);
    const uint32_t at = (uint32_t)set->n_units + 1;

    while (set->slot[i].at != 0)
        i = (i + 1) & (set->n_slots - 1);
    set->slot[i] = (struct data_slot){(uint32_t)(hash >> 32), at};
    *head_at(set, at) = (struct data_unit){.len = value.len, .reputation = value.reputation};
    memcpy(head_at(set, at) + 1, value.bytes, value.len);
    set->n_units += units_of(value.len);
    set->n++;
    set->n_taken++;
    set->memory += cost_of(value.len);
}

/* Makes *to, which has a type, limits and a secret alone, a set of these values with room for as
 * many again and `more` units. False: no memory. */
static bool build(struct data_set *to, const struct data_set *from, size_t more)
{
    const size_t units = (size_t)(from->memory / 8);
    size_t n_slots = 16, at = 0;
    struct data_value value;

    while (n_slots < 2 * ((size_t)from->n + 1))
        n_slots *= 2;
    to->cap_units = 2 * (units + more);
    if (to->cap_units > UNITS_MAX)
        to->cap_units = UNITS_MAX;
    to->unit = malloc(to->cap_units * sizeof *to->unit);
    to->slot = calloc(n_slots, sizeof *to->slot);
    to->n_slots = (uint32_t)n_slots;
    if (to->unit == NULL || to->slot == NULL || units + more > UNITS_MAX ||
        n_slots > UINT32_MAX / 2) {
        data_set_free(to);
        return false;
    }
    while (data_set_next(from, &at, &value))
        append(to, value);
    return true;
}

/* Makes room for a value. False: no memory. */
static bool reserve(struct data_set *set, uint32_t len)
{
    struct data_set grown = {.type = set->type,
                             .has_reputations = set->has_reputations,
                             .memory_max = set->memory_max,
                             .secret = set->secret};

    if (set->n_units + units_of(len) <= set->cap_units &&
        (uint64_t)set->n_taken + 1 <= set->n_slots / 8 * UINT64_C(7))
        return true;
    if (!build(&grown, set, units_of(len)))
        return false;
    free(set->unit);
    free(set->slot);
    *set = grown;
    return true;
}

/* ---- the set --------------------------------------------------------------------------------- */

bool data_set_find(const struct data_set *set, const uint8_t *bytes, uint32_t len,
                   uint16_t *reputation)
{
    uint8_t address[ADDRESS_LEN];
    const uint8_t *value = fit(set, bytes, &len, address);
    const struct data_slot *slot = value != NULL ? find(set, value, len) : NULL;

    *reputation = slot != NULL ? head_at(set, slot->at)->reputation : 0;
    return slot != NULL;
}

enum data_outcome data_set_add(struct data_set *set, const uint8_t *bytes, uint32_t len,
                               uint16_t reputation)
{
    uint8_t address[ADDRESS_LEN];
    const uint8_t *value = fit(set, bytes, &len, address);

    if (value == NULL)
        return DATA_UNFIT;
    if (find(set, value, len) != NULL)
        return DATA_KNOWN;
    if (cost_of(len) > set->memory_max || set->memory > set->memory_max - cost_of(len) ||
        !reserve(set, len))
        return DATA_NO_ROOM;
    append(set, (struct data_value){value, len, reputation});
    return DATA_ADDED;
}

bool data_set_remove(struct data_set *set, const uint8_t *bytes, uint32_t len)
{
    uint8_t address[ADDRESS_LEN];
    const uint8_t *value = fit(set, bytes, &len, address);
    struct data_slot *slot = value != NULL ? find(set, value, len) : NULL;

    if (slot == NULL)
        return false;
    head_at(set, slot->at)->is_removed = 1;
    slot->at = REMOVED;
    set->n--;
    set->memory -= cost_of(len);
    return true;
}

bool data_set_copy(struct data_set *copy, const struct data_set *set, uint64_t secret)
{
    *copy = (struct data_set){.type = set->type,
                              .has_reputations = set->has_reputations,
                              .memory_max = set->memory_max,
                              .secret = secret};
    return build(copy, set, 1);
}

bool data_set_next(const struct data_set *set, size_t *at, struct data_value *value)
{
    while (*at < set->n_units) {
        const struct data_unit *head = head_at(set, (uint32_t)*at + 1);

        *at += units_of(head->len);
        *value = (struct data_value){(const uint8_t *)(head + 1), head->len, head->reputation};
        if (!head->is_removed)
            return true;
    }
    return false;
}

void data_set_free(struct data_set *set)
{
    free(set->unit);
    free(set->slot);
    set->unit = NULL;
    set->slot = NULL;
    set->n_slots = set->n = set->n_taken = 0;
    set->n_units = set->cap_units = 0;
    set->memory = 0;
}
