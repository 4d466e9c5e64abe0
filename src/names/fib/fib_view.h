/* SPDX-License-Identifier: MIT */
/* A view is the memory that look-ups read: a few numbers, and parts. The same for all planes, so
 * that saving, mapping and copying to a GPU are done once for all. Compiled by C and by nvcc. */
#ifndef FIB_VIEW_H
#define FIB_VIEW_H

#include "fib_core.h"

enum { FIB_PARTS = 5 };

struct fib_view {
    struct fib_secret secret;
    uint32_t root_hop;              /* the root's answer; changes under look-ups */
    uint32_t root;                  /* planes of states: the first one's transition */
    uint32_t split;                 /* hash: the level to begin at */
    uint32_t n_arrays;              /* mata */
    uint32_t n_places[FIB_PARTS];   /* buckets or slots of each part */
    uint64_t reciprocal[FIB_PARTS]; /* mata: see mata_modulo */
    const void *part[FIB_PARTS];    /* in files: offsets */

    uint8_t apart[64];  /* updates write what follows, and look-ups would lose a line with it */
    uint64_t n_entries; /* in the plane */
    uint64_t part_len[FIB_PARTS]; /* bytes */
};

struct fib_answer {
    uint32_t next_hop; /* SL_FIB_NONE: no match */
    uint32_t len;      /* bytes of the matched prefix */
};

FIB_CORE struct fib_answer fib_root_answer(const struct fib_view *view)
{
#ifdef __CUDA_ARCH__
    const struct fib_answer answer = {view->root_hop, 0};
#else
    const struct fib_answer answer = {fib_load32(&view->root_hop), 0};
#endif
    return answer;
}

#endif
