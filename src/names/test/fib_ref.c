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

/* The first component; returns the bytes behind it, NULL where there is none. */
static const uint8_t *part(const uint8_t *at, const uint8_t *end, struct ref_part *part)
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

/* A name taken apart, as far as it is well formed. */
struct parts {
    struct ref_part part[SL_NAME_LEN_MAX / 2 + 1];
    size_t n;
    size_t len; /* bytes */
};

static void take_apart(struct parts *parts, const uint8_t *name, size_t len)
{
    const uint8_t *at = name;

    parts->n = 0;
    parts->len = 0;
    while (parts->n < SL_NAME_LEN_MAX / 2 &&
           (at = part(at, name + len, &parts->part[parts->n])) != NULL) {
        parts->n++;
        parts->len = (size_t)(at - name);
    }
}

static bool is_prefix(const struct ref_entry *entry, const struct parts *name)
{
    if (entry->n_parts > name->n)
        return false;
    for (size_t i = 0; i < entry->n_parts; i++) {
        const struct ref_part *a = &entry->parts[i], *b = &name->part[i];

        if (a->type != b->type || a->len != b->len || memcmp(a->bytes, b->bytes, a->len) != 0)
            return false;
    }
    return true;
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
    static _Thread_local struct parts parts;
    const struct ref_entry *best = NULL;

    take_apart(&parts, name, len);
    for (size_t i = 0; i < ref->n; i++) {
        const struct ref_entry *entry = &ref->entries[i];

        if (entry != but && (best == NULL || entry->n_parts > best->n_parts) &&
            is_prefix(entry, &parts))
            best = entry;
    }
    return best;
}

static bool whole(const uint8_t *name, size_t len)
{
    static _Thread_local struct parts parts;

    take_apart(&parts, name, len);
    return parts.len == len && len <= SL_NAME_LEN_MAX;
}

static void add(struct ref *ref, const struct sl_fib_entry *entry)
{
    if (ref->n == ref->cap) {
        ref->cap = ref->cap * 2 + 16;
        ref->entries = realloc(ref->entries, ref->cap * sizeof *ref->entries);
        if (ref->entries == NULL)
            abort();
    }

    static _Thread_local struct parts parts;
    struct ref_entry *made = &ref->entries[ref->n++];
    *made = (struct ref_entry){.name = malloc(entry->name_len + 1),
                               .len = entry->name_len,
                               .next_hop = entry->next_hop,
                               .n_holders = 1};
    if (made->name == NULL)
        abort();
    if (entry->name_len != 0)
        memcpy(made->name, entry->name, entry->name_len);
    take_apart(&parts, made->name, made->len);
    made->parts = malloc((parts.n + 1) * sizeof *made->parts);
    if (made->parts == NULL)
        abort();
    memcpy(made->parts, parts.part, parts.n * sizeof *made->parts);
    made->n_parts = parts.n;
}

static void drop(struct ref_entry *entry)
{
    free(entry->name);
    free(entry->parts);
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
        drop(there);
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

void ref_fold(struct ref *ref)
{
    for (size_t i = 0; i < ref->n; i++)
        ref->entries[i].folded = ref_is_folded(ref, &ref->entries[i]);
}

uint32_t ref_folded_len(const struct ref *ref, const uint8_t *name, size_t len)
{
    const struct ref_entry *entry = longest(ref, name, len, NULL);

    while (entry != NULL && entry->folded)
        entry = longest(ref, entry->name, entry->len, entry);
    return entry != NULL ? entry->len : 0;
}

void ref_free(struct ref *ref)
{
    for (size_t i = 0; i < ref->n; i++)
        drop(&ref->entries[i]);
    free(ref->entries);
    *ref = (struct ref){0};
}
