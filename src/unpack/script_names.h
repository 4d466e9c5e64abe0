/* SPDX-License-Identifier: MIT */
/* The names that a script declares, by scope. They are added in one pass over the script, and found
 * in another one that enters the same scopes. */
#ifndef UNPACK_SCRIPT_NAMES_H
#define UNPACK_SCRIPT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCRIPT_SCOPES_MAX = 32,    /* nested */
    SCRIPT_NAMES_MAX = 1 << 16 /* names behind them keep their own */
};

#define SCRIPT_NO_NAME UINT32_MAX

struct script_names;

/* NULL: no memory. */
struct script_names *script_names_create(void);
void script_names_free(struct script_names *names);

/* Begins a pass, in the outermost scope. */
void script_names_begin(struct script_names *names);
void script_names_enter(struct script_names *names);
void script_names_leave(struct script_names *names);

/* Numbers a name in the scope, unless it is there. The text is lent. False: no memory. */
bool script_names_add(struct script_names *names, const uint8_t *name, size_t len);

/* The number of a name, in the nearest scope that has it. */
unsigned script_names_find(const struct script_names *names, const uint8_t *name, size_t len);

#endif
