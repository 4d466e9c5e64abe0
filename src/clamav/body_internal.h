/* SPDX-License-Identifier: MIT */
/* The body that is read, and the parts of its reader. */
#ifndef CLAMAV_BODY_INTERNAL_H
#define CLAMAV_BODY_INTERNAL_H

#include "clamav/set.h"

enum { BODY_INLINE_MAX = 127 /* `{n}` up to here is n wildcards and no border of parts */ };

/* A byte at a fixed place in the segment being read. */
struct body_cell {
    uint8_t value, mask;
};

struct body {
    struct sl_clamav_set *set;
    unsigned options;
    struct clam_text rest;
    struct clam_records cells; /* struct body_cell: the segment so far */
    struct clam_records extra; /* struct clam_elem: its alternates and borders */
    uint32_t gap_min, gap_max; /* before it */
    bool part_begins;          /* nothing of this part has been read yet */
    bool seg_begins_part;
    uint32_t segs, n_segs, last_part, groups;
};

/* Where the next byte lies in the segment. */
static inline uint32_t body_here(const struct body *body)
{
    return (uint32_t)body->cells.n;
}

enum clam_taken body_add_cell(struct body *body, struct body_cell cell);

/* The cell, with either case where the options ignore it. */
struct body_cell body_folded(const struct body *body, struct body_cell cell);

/* Takes two characters as a cell. False: they are none. */
bool body_read_cell(struct clam_text *text, struct body_cell *cell);

/* Puts the values of cells, or their masks, into the pool of bytes. */
enum clam_taken body_put_pool(struct body *body, uint32_t begin, uint32_t len, bool masks,
                              uint32_t *index);

enum clam_taken body_append_seg(struct body *body, const struct clam_seg *seg);

/* Ends the segment that is read, if there is one. */
enum clam_taken body_end_segment(struct body *body);

/* Whether a part of the body ends here. */
bool body_part_ends(const struct body *body);

/* Reads a block behind its opening parenthesis. */
enum clam_taken body_read_block(struct body *body, bool negated);

#endif
