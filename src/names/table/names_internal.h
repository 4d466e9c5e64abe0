/* SPDX-License-Identifier: MIT */
/* The parts of a table of names.
 *
 * The index maps a name to a node: the place of the first of its rules. They lie side by side in
 * the pool, the best first, the last one marked. A node never changes. An update makes a new node,
 * gives it to the index, and frees the old one when no reader can hold it. Values are interned and
 * stay. */
#ifndef NAMES_NAMES_INTERNAL_H
#define NAMES_NAMES_INTERNAL_H

#include <pthread.h>

#include "base/file_bytes.h"
#include "names/lists/list_parse.h"
#include "names_answer_core.h"
#include "names_pool.h"
#include "sluice/fib.h"
#include "sluice/names.h"

enum { NODE_RULES_MAX = 255, LISTS_MAX = 65535 };

#define NODE_NONE SL_FIB_NONE

/* The action of a rule, and its values, sorted, each ended by '\n'. */
struct names_values {
    const char *text;
    uint32_t len;
    uint32_t action;
};

struct names_list {
    char *label;
    const char *format;
    struct list_parse *parse; /* kept between updates; NULL: none */
};

/* A line that gave no rule. */
struct names_ignored {
    const char *why;
    uint32_t line;
    uint16_t list;
    bool skipped; /* well formed and not supported; else wrong */
};

/* A node that readers who came before this epoch may hold. Those on GPUs see the table as it was
 * published last: until it is published without the node, there is no such epoch. */
#define NAMES_UNPUBLISHED UINT64_MAX
struct names_retired {
    uint32_t node;
    uint64_t epoch;
};

/* Bytes that never move and are freed all at once: the blocks that hold them. Zeroed at first. */
struct names_arena {
    struct names_block *blocks; /* the newest first */
    uint8_t *at, *end;          /* the free rest of the newest */
};

struct names_map; /* name to node while the table is filled */

struct sl_names {
    struct names_pool rules, values, lists;
    _Atomic uint32_t n_lists;

    uint32_t *values_slots; /* hash: index + 1, 0 free; a power of two of them */
    uint32_t n_values_slots;
    uint64_t values_seed;
    struct names_arena texts; /* of values */

    uint32_t free_nodes[NODE_RULES_MAX + 1]; /* of each size, linked through `line` */
    struct names_retired *retired;           /* oldest first */
    size_t n_retired, max_retired;
    _Atomic uint64_t epoch;
    pthread_mutex_t readers_lock;
    struct sl_names_reader *readers;
    _Atomic uint32_t n_gpu_readers;
    _Atomic uint64_t n_ranks[SL_N_NAMES_RANKS]; /* rules of each rank */
    pthread_mutex_t update_lock; /* held by updates, and by makers of copies for GPUs */

    struct names_ignored *ignored;
    size_t n_ignored, max_ignored;
    struct sl_names_reason *reasons;
    size_t n_reasons, max_reasons;
    uint64_t n_lines, n_rules, n_repeated, n_skipped_all, n_ignored_all;
    uint64_t load_ns, build_ns; /* by sl_names_open_files */

    struct names_map *map;      /* NULL once built */
    struct sl_fib *fib;         /* NULL: not built, or without updates */
    struct sl_fib_table *table; /* NULL: not built */
    bool lent;                  /* table reads the index in `file` */
    struct file_bytes file;     /* of sl_names_open */
};

/* ---- names.c, names_ignored.c ---------------------------------------------------------------- */

/* Starts a list. SL_EINVAL: there are as many as can be; SL_ENOMEM. */
enum sl_status names_list_add(struct sl_names *names, const char *label, const char *format,
                              uint32_t *index, struct sl_diag *diag);

/* Counts and keeps a line that gave no rule, or not all of its rules. False: no memory. */
bool names_ignore(struct sl_names *names, uint32_t list, uint32_t line, const char *why,
                  bool skipped);

extern const char names_too_many_rules[]; /* the reason why a rule of a full node is skipped */

/* ---- names_node.c ---------------------------------------------------------------------------- */

enum names_change {
    NAMES_CHANGED,
    NAMES_SAME, /* the rule is there already, or is not there to be removed */
    NAMES_FULL, /* the node has NODE_RULES_MAX rules */
    NAMES_NO_MEMORY
};

/* The node that `node` (NODE_NONE: none) becomes with a rule more; the old one stays. */
enum names_change names_node_add(struct sl_names *names, uint32_t *node, uint32_t list,
                                 uint32_t line, const struct list_rule *rule);

/* Without the first rule that is the same and has the value (rule->value NULL: any, all of them);
 * NODE_NONE: nothing is left. */
enum names_change names_node_remove(struct sl_names *names, uint32_t *node,
                                    const struct list_rule *rule);

/* Frees a node that no reader ever saw. */
void names_node_free(struct sl_names *names, uint32_t node);

/* Interns; UINT32_MAX: no memory. */
uint32_t names_intern(struct sl_names *names, enum sl_names_action action, const char *text,
                      size_t len);
bool names_values_init(struct sl_names *names);
void names_values_free(struct sl_names *names);

/* ---- names_arena.c --------------------------------------------------------------------------- */

/* A copy of the bytes; NULL: no memory. */
const void *names_arena_add(struct names_arena *arena, const void *bytes, size_t len);
void names_arena_free(struct names_arena *arena);

/* ---- names_map.c ----------------------------------------------------------------------------- */

struct names_map *names_map_create(void);
void names_map_free(struct names_map *map);

/* Where this name's node is kept, NODE_NONE where it is new; NULL: no memory. Valid until the next
 * call. */
uint32_t *names_map_node(struct names_map *map, const uint8_t *name, uint32_t len);
const struct sl_fib_entry *names_map_entries(const struct names_map *map, size_t *n);

/* ---- names_reader.c -------------------------------------------------------------------------- */

/* The answer that a rule gives to a name whose first prefix_len bytes are the rule's name. */
void names_rule_answer(const struct sl_names *names, uint32_t rule, uint32_t prefix_len,
                       struct sl_names_answer *answer);

/* The highest rank that some rule has. */
uint32_t names_highest_rank(const struct sl_names *names);

/* The epoch of the oldest look-up that is under way; UINT64_MAX: there is none. */
uint64_t names_oldest_epoch(struct sl_names *names);

/* ---- names_index.c --------------------------------------------------------------------------- */

void names_fib_free(struct sl_names *names);

/* Writes the index and returns its bytes, opens one that lies in memory, or makes it from entries.
 */
struct new_file;
uint64_t names_fib_write(struct sl_names *names, struct new_file *file);
enum sl_status names_fib_lend(struct sl_names *names, const void *block, uint64_t len,
                              const char *path, uint64_t n_rules, struct sl_diag *diag);
enum sl_status names_fib_make(struct sl_names *names, const char *plane,
                              const struct sl_fib_entry *entries, size_t n, struct sl_diag *diag);

/* Calls `each` for every name and its node. */
void names_fib_each(struct sl_names *names,
                    bool (*each)(void *user, const struct sl_fib_entry *entry, uint32_t n_holders),
                    void *user);

/* ---- names_memory.c -------------------------------------------------------------------------- */

/* Bytes that this process may still take. */
uint64_t names_memory_available(void);

#endif
