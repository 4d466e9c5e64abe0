/* SPDX-License-Identifier: MIT */
/* The flat block that every algorithm builds, and the work of all of them on a match.
 *
 * One block without pointers: this header, the literals, then the algorithm's own part ("body").
 * Saving it, mapping it and copying it to a GPU are one step each. Compiled by C and by nvcc. */
#ifndef MPM_TABLE_H
#define MPM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/block_file.h"
#include "sluice/mpm.h"

#ifdef __CUDACC__
#define MPM_CORE static __host__ __device__ inline
#else
#define MPM_CORE static inline
#endif

#define MPM_NONE UINT32_MAX /* no state, no group */

enum {
    MPM_ALIGN = 64,   /* bytes: every part of the block begins at a multiple of a cache line */
    MPM_NAME_LEN = 16 /* bytes of an algorithm's name, NUL included */
};

/* A literal as the block holds it, in order of (folded bytes, id). */
struct mpm_literal {
    uint32_t bytes; /* offset of its bytes, as given, among the bytes of all literals */
    uint32_t len;
    uint32_t id;    /* index in the caller's array */
    uint32_t exact; /* it has letters and their case counts: to be compared after a folded match */
};

/* Offsets are bytes from the block's first. Literals that are equal after folding are a group:
 * every automaton finds them together. Group g is literals groups[g] to groups[g + 1] - 1. */
struct sl_mpm_table {
    struct block_head head; /* its checksum is 0 where the block is no mapped file */
    uint64_t literals_check;
    char algorithm[MPM_NAME_LEN];
    uint32_t n_literals;
    uint32_t n_states;
    uint32_t n_groups;
    uint32_t max_len; /* bytes of the longest literal */
    uint64_t literals;
    uint64_t groups;
    uint64_t bytes;
    uint64_t body;
};

/* A part of a block: `at` bytes behind `base`. */
MPM_CORE const void *mpm_at(const void *base, uint64_t at)
{
    return (const uint8_t *)base + at;
}

/* ASCII upper case to lower case; all else stays. */
MPM_CORE uint8_t mpm_fold(uint8_t byte)
{
    return (uint8_t)(byte - 'A') < 26 ? (uint8_t)(byte | 0x20) : byte;
}

/* Whether a literal whose folded bytes end just before `end` matches there as it was given; `bytes`
 * are the bytes of all literals. */
MPM_CORE bool mpm_literal_matches(const struct mpm_literal *literal, const uint8_t *bytes,
                                  const uint8_t *end)
{
    if (!literal->exact)
        return true;

    const uint8_t *given = bytes + literal->bytes;
    const uint8_t *text = end - literal->len;
#ifdef __CUDA_ARCH__
    for (uint32_t i = 0; i < literal->len; i++)
        if (given[i] != text[i])
            return false;
    return true;
#else
    return memcmp(given, text, literal->len) == 0;
#endif
}

/* Ends of a literal in a run of its own byte: n of them, from `first` on, `step` apart. */
struct mpm_ends {
    uint32_t first, step, n;
};

/* Those from `first` up to `last` and behind `overlap`; `sparse`: the first and the last alone. */
MPM_CORE struct mpm_ends mpm_ends(uint32_t first, uint32_t last, uint32_t overlap, bool sparse)
{
    struct mpm_ends ends = {first > overlap ? first : overlap + 1, 1, 0};

    if (ends.first > last)
        return ends;
    ends.n = last - ends.first + 1;
    if (sparse && ends.n > 2) {
        ends.step = ends.n - 1;
        ends.n = 2;
    }
    return ends;
}

#endif
