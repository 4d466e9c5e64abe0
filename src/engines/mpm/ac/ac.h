/* SPDX-License-Identifier: MIT */
/* The Aho-Corasick automaton for other algorithms: in a block of theirs, and over a part of a
 * batch. */
#ifndef AC_H
#define AC_H

#include "ac_table.h"
#include "engines/mpm/mpm_internal.h"

/* An automaton that lies in no block yet. */
struct ac_automaton;

/* Builds an automaton of a set, or of a part of one. Its outputs are places among the whole set's
 * literals. NULL: no memory, with the reason in diag. The set must outlive it. max_rows: at most
 * AC_ROWS_MAX; fewer take less memory and are slower. */
struct ac_automaton *ac_automaton_create(const struct mpm_set *set, uint32_t max_rows,
                                         struct sl_diag *diag);

/* Bytes of its body. */
uint64_t ac_automaton_len(const struct ac_automaton *automaton);

/* Writes them once; they must be zero. The automaton is then fit to be freed only. */
void ac_automaton_write(const struct ac_automaton *automaton, struct ac_table *body);

/* Accepts NULL. */
void ac_automaton_free(struct ac_automaton *automaton);

/* The automaton that lies `at` bytes behind the first of a table's body: as struct mpm_algorithm's
 * check. The table's n_states are its. */
const char *ac_check_at(const struct sl_mpm_table *table, uint64_t at);

/* The bytes from `from` on of item first, to the one before `to` of item last - 1. */
struct ac_range {
    uint32_t first;
    uint32_t last;
    uint32_t from;
    uint32_t to;
};

/* Appends the matches that end in a range: behind a byte of it. `reach`: bytes before a match's
 * last one that it may begin at. `kinds`: where matches inside runs are left out. */
void ac_scan_range(const struct ac_view *ac, uint32_t reach, const struct sl_batch *batch,
                   struct ac_range range, struct mpm_kinds kinds, struct sl_hits *hits);

/* Appends the matches of a batch, cut into segments as on GPUs. `max_len`: of a literal. */
void ac_scan_tiled(const struct ac_view *ac, uint32_t max_len, const struct sl_batch *batch,
                   struct sl_hits *hits);

#endif
