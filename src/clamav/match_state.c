/* SPDX-License-Identifier: MIT */
/* The state of an evaluation: which bodies of the object are known. */
#include <stdlib.h>
#include <string.h>

#include "clamav/match_internal.h"
#include "clamav/pcre.h"

bool clam_match_open(struct clam_match *match, const struct clam_block *block)
{
    memset(match, 0, sizeof *match);
    match->block = block;
    match->text = clam_at(block, CLAM_A_TEXT);
    match->bytes = clam_at(block, CLAM_A_BYTES);
    match->alts = clam_at(block, CLAM_A_ALTS);
    match->elems = clam_at(block, CLAM_A_ELEMS);
    match->segs = clam_at(block, CLAM_A_SEGS);
    match->patterns = clam_at(block, CLAM_A_PATTERNS);
    match->variants = clam_at(block, CLAM_A_VARIANTS);
    match->subs = clam_at(block, CLAM_A_SUBS);
    match->pcres = clam_at(block, CLAM_A_PCRES);
    match->nodes = clam_at(block, CLAM_A_NODES);
    match->demands = clam_at(block, CLAM_A_DEMANDS);
    match->sigs = clam_at(block, CLAM_A_SIGS);
    match->find = clam_find_choose();
    match->find_fours = find_fours_choose();
    match->known = calloc(block->n[CLAM_A_PATTERNS] + 1, sizeof *match->known);
    match->found = calloc(block->n[CLAM_A_PATTERNS] + 1, sizeof *match->found);
    match->tries = calloc(block->n[CLAM_A_PATTERNS] + 1, sizeof *match->tries);
    return match->known != NULL && match->found != NULL && match->tries != NULL;
}

void clam_match_close(struct clam_match *match)
{
    if (match->block == NULL)
        return;
    clam_pcres_free(match->expressions, match->block->n[CLAM_A_PCRES]);
    free(match->known);
    free(match->found);
    free(match->tries);
    free(match->now.at);
    free(match->next.at);
}

void clam_match_begin(struct clam_match *match, struct clam_object *object)
{
    match->object = object;
    match->complete = false;
    match->deadline_ns = 0;
    match->late = false;
    match->epoch++;
    if (match->epoch == UINT32_MAX / 4) {
        memset(match->known, 0, match->block->n[CLAM_A_PATTERNS] * sizeof *match->known);
        memset(match->tries, 0, match->block->n[CLAM_A_PATTERNS] * sizeof *match->tries);
        match->epoch = 1;
    }
}

/* Whether the matcher has reported all its places. */
bool match_is_searched(const struct clam_match *match, const struct clam_pattern *pattern)
{
    return match->complete && pattern->looked_for != 0 &&
           (pattern->targets & clam_targets(match->object)) != 0;
}

enum clam_known clam_match_known(const struct clam_match *match, uint32_t number)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const uint32_t known = match->known[number];

    if (known / 4 == match->epoch)
        return known % 4 == MATCH_COUNTED ? CLAM_PRESENT : (enum clam_known)(known % 4);
    /* A body that the matcher searched for is absent where no place of it led to a match. */
    return match_is_searched(match, pattern) ? CLAM_ABSENT : CLAM_NOT_KNOWN;
}

bool match_note(struct clam_match *match, uint32_t pattern, bool present)
{
    match->known[pattern] = match->epoch * 4 + (present ? CLAM_PRESENT : CLAM_ABSENT);
    return present;
}

void clam_match_note_all_tried(struct clam_match *match, uint32_t number)
{
    const enum clam_known known = clam_match_known(match, number);

    if (known == CLAM_NOT_KNOWN)
        (void)match_note(match, number, false);
    else if (known == CLAM_PRESENT && match->patterns[number].n_segs == 1)
        match->known[number] = match->epoch * 4 + MATCH_COUNTED;
}
