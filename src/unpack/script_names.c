/* SPDX-License-Identifier: MIT */
#include "unpack/script_names.h"

#include <stdlib.h>
#include <string.h>

struct name {
    const uint8_t *at;
    size_t len;
    uint32_t hash, scope;
    uint32_t next; /* of the same place in the table, plus one */
};

struct script_names {
    struct name *names;
    size_t n, cap;
    uint32_t *heads; /* a place for each hash: the number of a name, plus one */
    uint32_t scopes[SCRIPT_SCOPES_MAX + 1], depth, n_scopes;
};

struct script_names *script_names_create(void)
{
    struct script_names *names = calloc(1, sizeof *names);

    if (names != NULL)
        names->heads = calloc(SCRIPT_NAMES_MAX, sizeof *names->heads);
    if (names != NULL && names->heads == NULL) {
        free(names);
        names = NULL;
    }
    return names;
}

void script_names_free(struct script_names *names)
{
    if (names == NULL)
        return;
    free(names->names);
    free(names->heads);
    free(names);
}

void script_names_begin(struct script_names *names)
{
    names->depth = names->n_scopes = 0;
    names->scopes[0] = 0;
}

void script_names_enter(struct script_names *names)
{
    names->scopes[++names->depth] = ++names->n_scopes;
}

void script_names_leave(struct script_names *names)
{
    names->depth--;
}

/* FNV-1a. */
static uint32_t hash(const uint8_t *name, size_t len)
{
    uint32_t value = 2166136261U;

    for (size_t i = 0; i < len; i++)
        value = (value ^ name[i]) * 16777619U;
    return value;
}

static uint32_t *head_of(const struct script_names *names, uint32_t name_hash, uint32_t scope)
{
    const uint32_t mixed = (name_hash ^ scope) * 2654435761U;

    return &names->heads[(mixed ^ mixed >> 16) % SCRIPT_NAMES_MAX];
}

static unsigned find_in(const struct script_names *names, const struct name *wanted)
{
    enum { STEPS_MAX = 64 }; /* more of one hash are made on purpose */
    uint32_t at = *head_of(names, wanted->hash, wanted->scope);

    for (int i = 0; at != 0 && i < STEPS_MAX; i++) {
        const struct name *name = &names->names[at - 1];

        if (name->scope == wanted->scope && name->hash == wanted->hash &&
            name->len == wanted->len && memcmp(name->at, wanted->at, name->len) == 0)
            return at - 1;
        at = name->next;
    }
    return SCRIPT_NO_NAME;
}

unsigned script_names_find(const struct script_names *names, const uint8_t *name, size_t len)
{
    struct name wanted = {.at = name, .len = len, .hash = hash(name, len)};
    unsigned number = SCRIPT_NO_NAME;

    for (uint32_t depth = names->depth + 1; depth > 0 && number == SCRIPT_NO_NAME; depth--) {
        wanted.scope = names->scopes[depth - 1];
        number = find_in(names, &wanted);
    }
    return number;
}

static bool grow(struct script_names *names)
{
    const size_t cap = names->cap > 0 ? 2 * names->cap : 64;
    struct name *more = realloc(names->names, cap * sizeof *more);

    if (more == NULL)
        return false;
    names->names = more;
    names->cap = cap;
    return true;
}

bool script_names_add(struct script_names *names, const uint8_t *name, size_t len)
{
    struct name made = {name, len, hash(name, len), names->scopes[names->depth], 0};

    if (names->n == SCRIPT_NAMES_MAX || find_in(names, &made) != SCRIPT_NO_NAME)
        return true;
    if (names->n == names->cap && !grow(names))
        return false;
    uint32_t *head = head_of(names, made.hash, made.scope);
    made.next = *head;
    names->names[names->n++] = made;
    *head = (uint32_t)names->n;
    return true;
}
