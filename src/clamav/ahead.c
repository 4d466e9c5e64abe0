/* SPDX-License-Identifier: MIT */
/* Files that are not in memory are searched in one pass for the next few bodies that each
 * expression asks for, then for what is asked for when those are known: reading costs as much as
 * looking for two literals, and most expressions are decided by the first body that is missing. */
#include "clamav/match.h"

/* The segment with the rarest literal. */
static uint32_t rarest_seg(const struct clam_seg *segs, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t s = 1; s < n; s++)
        if (segs[s].key_bits > segs[best].key_bits)
            best = s;
    return best;
}

bool clam_match_defer(struct clam_match *match, uint32_t number)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    const uint32_t seg = rarest_seg(segs, pattern->n_segs);
    struct clam_ahead *ahead = match->ahead;

    if (ahead == NULL)
        return false;
    if (pattern->offset_kind != CLAM_ANYWHERE || segs[seg].key_len == 0)
        return ahead->deferred > 0; /* it lies at few places, or cannot be found by a literal */
    if (ahead->deferred == CLAM_AHEAD_EACH)
        return true;
    ahead->deferred++;
    for (size_t i = 0; i < ahead->n; i++)
        if (ahead->sought[i].pattern == number)
            return true;
    if (ahead->n < CLAM_AHEAD_MAX) {
        struct clam_sought *sought = &ahead->sought[ahead->n++];

        *sought = (struct clam_sought){.pattern = number, .seg = seg, .back = segs[seg].key_at};
        clam_needle_init(&sought->needle, match->bytes + segs[seg].key, segs[seg].key_len,
                         segs[seg].key_case != 0);
    }
    return true;
}

/* Tries all places of one literal that end before `end`; stops at the first match of its body. */
static void seek_in(struct clam_match *match, struct clam_sought *sought, uint64_t end)
{
    const size_t key_len = sought->needle.len;

    while (!sought->over && sought->next + key_len <= end) {
        size_t len;
        const uint8_t *text = clam_object_from(match->object, sought->next, key_len, &len);
        uint64_t n = end - key_len - sought->next + 1;

        if (n > len - key_len + 1)
            n = len - key_len + 1;
        const size_t found = match->find(&sought->needle, text, (size_t)n);
        sought->next += found;
        if (found == n)
            continue;
        if (sought->next >= sought->back)
            sought->over =
                clam_match_at(match, sought->pattern, sought->seg, sought->next - sought->back) ||
                clam_match_known(match, sought->pattern) != CLAM_NOT_KNOWN;
        sought->next++;
    }
}

/* Of each body that was deferred all places are tried, in one pass. */
static void search_once(struct clam_match *match, struct clam_ahead *ahead)
{
    struct clam_object *object = match->object;
    uint64_t longest = 1;
    size_t len;

    for (size_t i = 0; i < ahead->n; i++)
        if (ahead->sought[i].needle.len > longest)
            longest = ahead->sought[i].needle.len;
    for (uint64_t at = 0; at < object->len; at += len - (longest - 1)) {
        const uint64_t rest = object->len - at;

        (void)clam_object_from(object, at, rest < longest ? (size_t)rest : (size_t)longest, &len);
        for (size_t i = 0; i < ahead->n; i++)
            seek_in(match, &ahead->sought[i], at + len);
        if (at + len == object->len)
            break;
    }
    for (size_t i = 0; i < ahead->n; i++)
        if (clam_match_known(match, ahead->sought[i].pattern) == CLAM_NOT_KNOWN)
            clam_match_note_absent(match, ahead->sought[i].pattern);
}

void clam_match_search_ahead(struct clam_match *match, const uint32_t *sigs, size_t n)
{
    struct clam_ahead ahead = {0};

    do {
        ahead.n = 0;
        match->ahead = &ahead;
        for (size_t i = 0; i < n && match->object->bytes == NULL; i++) {
            ahead.deferred = 0;
            (void)clam_match_sig(match, sigs[i]);
        }
        match->ahead = NULL;
        if (ahead.n > 0)
            search_once(match, &ahead);
    } while (ahead.n > 0);
}
