/* SPDX-License-Identifier: MIT */
#include "fib_ref.h"

#include <stdlib.h>
#include <string.h>

/* NDN's packet format: a number is one byte, or 253, 254, 255 and then two, four, eight. */
static uint64_t number(const uint8_t **at, const uint8_t *end, bool *good)
{
    static const uint64_t least[] = {253, 65536, UINT64_C(1) << 32};
    uint64_t value = 0;

    if (*at == end) {
        *good = false;
        return 0;
    }
    const int first = *(*at)++;
    if (first < 253)
        return (uint64_t)first;
    for (int left = 2 << (first - 253); left > 0; left--) {
        if (*at == end) {
            *good = false;
            return 0;
        }
        value = value * 256 + *(*at)++;
    }
    *good &= value >= least[first - 253];
    return value;
}

struct part {
    uint64_t type, len;
    const uint8_t *bytes;
};

/* The first component; returns the bytes behind it, NULL where there is none. */
static const uint8_t *part(const uint8_t *at, const uint8_t *end, struct part *part)
{
    bool good = true;

    if (at == end)
        return NULL;
    part->type = number(&at, end, &good);
    if (!good || part->type == 0 || part->type > 65535)
        return NULL;
    part->len = number(&at, end, &good);
    if (!good || part->len > (uint64_t)(end - at))
        return NULL;
    part->bytes = at;
    return at + part->len;
}

/* Bytes of the name that the entry matches, -1: it does not. */
static int64_t matches(const struct ref_entry *entry, const uint8_t *name, size_t len)
{
    const uint8_t *e = entry->name, *n = name;
    struct part a, b;

    while (e != entry->name + entry->len) {
        e = part(e, entry->name + entry->len, &a);
        n = part(n, name + len, &b);
        if (n == NULL || a.type != b.type || a.len != b.len)
            return -1;
        for (uint64_t i = 0; i < a.len; i++)
            if (a.bytes[i] != b.bytes[i])
                return -1;
    }
    return n - name;
}

static struct ref_entry *find(const struct ref *ref, const uint8_t *name, size_t len)
{
    for (size_t i = 0; i < ref->n; i++)
        if (ref->entries[i].len == len && memcmp(ref->entries[i].name, name, len) == 0)
            return &ref->entries[i];
    return NULL;
}

static const struct ref_entry *longest(const struct ref *ref, const uint8_t *name, size_t len,
                                       const struct ref_entry *but)
{
    const struct ref_entry *best = NULL;
    int64_t best_len = -1;

    for (size_t i = 0; i < ref->n; i++) {
        const int64_t here = matches(&ref->entries[i], name, len);

        if (here > best_len && &ref->entries[i] != but) {
            best = &ref->entries[i];
            best_len = here;
        }
    }
    return best;
}

static bool whole(const uint8_t *name, size_t len)
{
    const uint8_t *at = name;
    struct part unused;

    while (at != NULL && at != name + len)
        at = part(at, name + len, &unused);
    return at != NULL && len <= SL_NAME_LEN_MAX;
}

static void add(struct ref *ref, const struct sl_fib_entry *entry)
{
    if (ref->n == ref->cap) {
        ref->cap = ref->cap * 2 + 16;
        ref->entries = realloc(ref->entries, ref->cap * sizeof *ref->entries);
        if (ref->entries == NULL)
            abort();
    }

    struct ref_entry *made = &ref->entries[ref->n++];
    *made = (struct ref_entry){malloc(entry->name_len + 1), entry->name_len, entry->next_hop, 1};
    if (made->name == NULL)
        abort();
    if (entry->name_len != 0)
        memcpy(made->name, entry->name, entry->name_len);
}

enum sl_fib_outcome ref_apply(struct ref *ref, const struct sl_fib_update *update)
{
    const struct sl_fib_entry *entry = &update->entry;

    if (!whole(entry->name, entry->name_len) ||
        (update->verb != SL_FIB_DELETE && entry->next_hop == SL_FIB_NONE))
        return SL_FIB_BAD;

    struct ref_entry *there = find(ref, entry->name, entry->name_len);
    if (there == NULL && update->verb != SL_FIB_INSERT)
        return SL_FIB_ABSENT;
    if (there == NULL) {
        add(ref, entry);
        return SL_FIB_DONE;
    }
    if (update->verb != SL_FIB_DELETE)
        there->next_hop = entry->next_hop;
    if (update->verb == SL_FIB_INSERT)
        there->n_holders++;
    if (update->verb == SL_FIB_DELETE && --there->n_holders == 0) {
        free(there->name);
        *there = ref->entries[--ref->n];
    }
    return SL_FIB_DONE;
}

struct sl_fib_match ref_match(const struct ref *ref, const uint8_t *name, size_t len)
{
    const struct ref_entry *entry = longest(ref, name, len, NULL);

    if (entry == NULL)
        return (struct sl_fib_match){.next_hop = SL_FIB_NONE};
    return (struct sl_fib_match){entry->next_hop, entry->len, entry->n_holders};
}

bool ref_is_folded(const struct ref *ref, const struct ref_entry *entry)
{
    const struct ref_entry *above = longest(ref, entry->name, entry->len, entry);

    return above != NULL && above->next_hop == entry->next_hop;
}

uint32_t ref_folded_len(const struct ref *ref, const uint8_t *name, size_t len)
{
    const struct ref_entry *entry = longest(ref, name, len, NULL);

    while (entry != NULL && ref_is_folded(ref, entry))
        entry = longest(ref, entry->name, entry->len, entry);
    return entry != NULL ? entry->len : 0;
}

void ref_free(struct ref *ref)
{
    for (size_t i = 0; i < ref->n; i++)
        free(ref->entries[i].name);
    free(ref->entries);
    *ref = (struct ref){0};
}
