/* SPDX-License-Identifier: MIT */
/* A group found in passes over the object, one for each segment, whatever its gaps. The cost of
 * verifying place by place grows with the gaps, and hostile bodies and files make that long. */
#include <stdlib.h>
#include <string.h>

#include "clamav/match_internal.h"

enum { WORD_BITS = 64 };

/* The ends of a group's first segments, a bit for each place. */
struct ends {
    uint64_t *words;
    uint64_t last; /* the greatest one up to `tried`, or MATCH_NOWHERE */
    uint64_t tried;
};

static void add_end(struct ends *ends, uint64_t at)
{
    ends->words[at / WORD_BITS] |= UINT64_C(1) << at % WORD_BITS;
}

/* The greatest end up to `at`, which grows from call to call; MATCH_NOWHERE: none. */
static uint64_t last_end(struct ends *ends, uint64_t at)
{
    while (ends->tried <= at) {
        const uint64_t word = ends->tried / WORD_BITS, first = word * WORD_BITS;
        uint64_t bits = ends->words[word] & UINT64_MAX << (ends->tried - first);

        if (at - first < WORD_BITS - 1)
            bits &= (UINT64_C(1) << (at - first + 1)) - 1;
        if (bits != 0)
            ends->last = first + (WORD_BITS - 1) - (uint64_t)__builtin_clzll(bits);
        ends->tried = at - first < WORD_BITS - 1 ? at + 1 : first + WORD_BITS;
    }
    return ends->last;
}

/* Where a segment that lies at `at` ends. */
static void add_ends(struct clam_match *match, const struct clam_seg *seg, uint64_t at,
                     struct ends *ends)
{
    const struct clam_elem *elem = match->elems + seg->elems;

    if (!match_is_variable(match, seg)) {
        add_end(ends, at + seg->len);
        return;
    }
    for (uint32_t i = elem->bytes; i < elem->bytes + elem->n_alts; i++)
        if (match_alternate_at(match, &match->alts[i], at))
            add_end(ends, at + match->alts[i].len);
}

/* The places of a segment behind those ends, over the gap before it. */
static void step(struct clam_match *match, const struct clam_seg *seg, struct ends *before,
                 struct ends *ends)
{
    const uint64_t len = match->object->len;

    for (uint64_t at = seg->gap_min; at <= len; at++) {
        at = match_seg_from(match, seg, at, len);
        if (at == MATCH_NOWHERE)
            return;
        const uint64_t end = last_end(before, at - seg->gap_min);
        if (end != MATCH_NOWHERE && at - end <= seg->gap_max)
            add_ends(match, seg, at, ends);
    }
}

static uint64_t first_end(const struct ends *ends, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (ends->words[i] != 0)
            return i * WORD_BITS + (uint64_t)__builtin_ctzll(ends->words[i]);
    return MATCH_NOWHERE;
}

/* Both sets of a sweep, of which the second one is room for the next. */
struct sweep {
    struct ends sets[2];
    size_t n_words;
};

static bool sweep_open(struct clam_match *match, struct sweep *sweep)
{
    sweep->n_words = (size_t)(match->object->len / WORD_BITS + 1);
    for (int i = 0; i < 2; i++)
        sweep->sets[i] = (struct ends){calloc(sweep->n_words, sizeof(uint64_t)), MATCH_NOWHERE, 0};
    if (sweep->sets[0].words == NULL || sweep->sets[1].words == NULL)
        match->no_memory = true;
    return !match->no_memory;
}

static void sweep_close(struct sweep *sweep)
{
    free(sweep->sets[0].words);
    free(sweep->sets[1].words);
}

/* Leaves the ends of the segments a..b in the first set. */
static void run(struct clam_match *match, struct sweep *sweep, const struct clam_seg *segs,
                uint32_t a, uint32_t b, uint64_t from, uint64_t to)
{
    struct ends *const sets = sweep->sets;

    for (; from <= to; from++) {
        from = match_seg_from(match, &segs[a], from, to);
        if (from == MATCH_NOWHERE)
            break;
        add_ends(match, &segs[a], from, &sets[0]);
    }
    for (uint32_t j = a + 1; j <= b; j++) {
        step(match, &segs[j], &sets[0], &sets[1]);
        const struct ends held = sets[0];
        sets[0] = sets[1];
        sets[1] = (struct ends){held.words, MATCH_NOWHERE, 0};
        memset(held.words, 0, sweep->n_words * sizeof *held.words);
    }
}

uint64_t match_group_sweep(struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                           uint32_t b, uint64_t from, uint64_t to)
{
    struct sweep sweep;
    uint64_t end = MATCH_NOWHERE;

    if (sweep_open(match, &sweep)) {
        run(match, &sweep, segs, a, b, from, to);
        end = match->late ? MATCH_NOWHERE : first_end(&sweep.sets[0], sweep.n_words);
    }
    sweep_close(&sweep);
    return end;
}

uint32_t match_group_count(struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                           uint32_t part, uint32_t b, uint64_t from, uint64_t to, uint32_t max)
{
    const struct clam_seg *const seg = &segs[part];
    const uint64_t len = match->object->len;
    struct sweep sweep;
    uint32_t n = 0;

    if (sweep_open(match, &sweep)) {
        run(match, &sweep, segs, a, part - 1, from, to);
        for (uint64_t at = seg->gap_min; at <= len && n < max; at++) {
            at = match_seg_from(match, seg, at, len);
            if (at == MATCH_NOWHERE)
                break;
            const uint64_t end = last_end(&sweep.sets[0], at - seg->gap_min);
            n += end != MATCH_NOWHERE && at - end <= seg->gap_max &&
                 match_forward(match, segs, part, b, at) != MATCH_NOWHERE;
        }
    }
    sweep_close(&sweep);
    return n;
}

bool match_is_long(const struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                   uint32_t b, uint64_t n)
{
    uint64_t steps = 0; /* that a place may take */

    for (uint32_t j = a; j <= b; j++) {
        const uint64_t lengths = (uint64_t)(segs[j].len_max - segs[j].len) + 1;

        steps += lengths * lengths - 1 + (j > a ? segs[j].gap_max : 0);
    }
    return n * steps > match->object->len;
}
