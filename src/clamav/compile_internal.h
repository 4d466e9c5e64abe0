/* SPDX-License-Identifier: MIT */
/* The steps of a compilation, and their results. The matcher searches for literals of anchors
 * alone. */
#ifndef CLAMAV_COMPILE_INTERNAL_H
#define CLAMAV_COMPILE_INTERNAL_H

#include "clamav/set.h"
#include "sluice/mpm.h"

struct compile {
    const struct sl_clamav_set *set;
    struct sl_clamav_set *spent;   /* the same, whose arrays are freed; NULL: they are kept */
    struct clam_pattern *patterns; /* a spent set's, or a copy; what matching needs is filled in */
    const struct clam_seg *segs;
    const struct clam_node *nodes;
    const struct clam_sub *subs;
    const uint32_t *variants;
    const struct clam_pcre *pcres;
    const struct clam_sig *sigs;
    size_t n_patterns, n_sigs;

    const char **ignored; /* names, sorted */
    size_t n_ignored;
    uint32_t *users;           /* by pattern: signatures that have it */
    uint16_t *best;            /* by pattern: the segment with the rarest literal */
    uint8_t *fixed;            /* by pattern: it is tried at its position */
    struct clam_records pairs; /* struct pair: pattern and signature */
    struct clam_records anchored, literals, uses, fixeds, searched, members;
    struct clam_records hashes[CLAM_HASHED][CLAM_HASHES]; /* struct clam_hash */
    uint64_t hashes_len;
    struct sl_mpm_table *mpm;
    uint64_t ranges[CLAM_HASHED][CLAM_HASHES][2];
    uint64_t n_hashes, n_anchored, n_fixed, n_in_parts;
};

/* Reads the names that lists ignore, with all their lines. False: no memory. */
bool compile_take_members(struct compile *c);
bool compile_take_ignored(struct compile *c);
bool compile_is_ignored(const struct compile *c, const char *name);
bool compile_is_ignored_text(const struct compile *c, uint32_t text);

/* ---- costs ----------------------------------------------------------------------------------- */

/* Counts the users of each body, and finds its rarest literal. False: no memory. */
bool compile_measure(struct compile *c);

/* Whether the matcher can search for a body. */
bool compile_has_literal(const struct compile *c, uint32_t number);

/* The cost of a search for an expression. INFINITY: it may hold without a match. */
double compile_node_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number);

/* The cost of a search for the operands that decide the operator. */
double compile_operands_cost(const struct compile *c, const struct clam_sig *sig, uint32_t number);

struct leaf {
    double cost;
    uint32_t sub;
};

/* Of n subsignatures d different ones must match: then one of any n - d + 1 does. Returns the
 * number of the cheapest ones that suffice, and their cost. */
uint32_t compile_cheapest_leaves(const struct compile *c, const struct clam_sig *sig,
                                 uint32_t number, struct leaf leaves[CLAM_SUBS_MAX], double *cost);

/* ---- steps ----------------------------------------------------------------------------------- */

/* Chooses the bodies that anchor each signature. False: no memory. */
bool compile_choose_anchors(struct compile *c);

/* Builds the matcher of their literals. */
enum sl_status compile_make_matcher(struct compile *c, enum sl_device_kind device,
                                    struct sl_diag *diag);

/* Sorts hashes. False: no memory. */
bool compile_take_hashes(struct compile *c);

/* Lays them behind one another. */
void compile_move_hashes(const struct compile *c, uint8_t *to);

#endif
