/* SPDX-License-Identifier: MIT */
/* Bodies. A group of segments is verified around one of its segments: from there the places of the
 * next ones are tested within their gaps, forward and backward, as sets, so that the cost is at
 * most the sum of the gaps' widths. Groups follow one another at any distance, so the first group's
 * earliest end is the best, and so on: no backtracking. */
#include "clamav/match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define NOWHERE UINT64_MAX

/* ---- state ----------------------------------------------------------------------------------- */

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
    match->sigs = clam_at(block, CLAM_A_SIGS);
    match->find = clam_find_choose();
    match->find_many = clam_many_choose();
    match->known = calloc(block->n[CLAM_A_PATTERNS] + 1, sizeof *match->known);
    match->found = calloc(block->n[CLAM_A_PATTERNS] + 1, sizeof *match->found);
    return match->known != NULL && match->found != NULL;
}

void clam_match_close(struct clam_match *match)
{
    if (match->block == NULL)
        return;
    clam_pcres_free(match->expressions, match->block->n[CLAM_A_PCRES]);
    free(match->known);
    free(match->found);
    free(match->now.at);
    free(match->next.at);
    free(match->tested.at);
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
        match->epoch = 1;
    }
}

bool clam_match_check_time(struct clam_match *match)
{
    if (match->deadline_ns != 0 && !match->late)
        match->late = clock_ns() > match->deadline_ns;
    return match->late;
}

/* Beside enum clam_known: it is there, and `found` says how often, as far as it matters. */
enum { COUNTED = CLAM_PRESENT + 1 };

/* Whether the matcher has reported all its places. */
static bool is_looked_for(const struct clam_match *match, const struct clam_pattern *pattern)
{
    return match->complete && pattern->looked_for != 0 &&
           (pattern->targets & clam_targets(match->object)) != 0;
}

enum clam_known clam_match_known(const struct clam_match *match, uint32_t number)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const uint32_t known = match->known[number];

    if (known / 4 == match->epoch)
        return known % 4 == COUNTED ? CLAM_PRESENT : (enum clam_known)(known % 4);
    /* A body that the matcher searched for is absent where no place of it led to a match. */
    return is_looked_for(match, pattern) ? CLAM_ABSENT : CLAM_NOT_KNOWN;
}

static bool note(struct clam_match *match, uint32_t pattern, bool present)
{
    match->known[pattern] = match->epoch * 4 + (present ? CLAM_PRESENT : CLAM_ABSENT);
    return present;
}

void clam_match_note_all_tried(struct clam_match *match, uint32_t number)
{
    const enum clam_known known = clam_match_known(match, number);

    if (known == CLAM_NOT_KNOWN)
        (void)note(match, number, false);
    else if (known == CLAM_PRESENT && match->patterns[number].n_segs == 1)
        match->known[number] = match->epoch * 4 + COUNTED;
}

static bool add(struct clam_match *match, struct clam_positions *set, uint64_t at)
{
    if (set->n == set->cap) {
        const size_t cap = set->cap < 64 ? 64 : set->cap * 2;
        uint64_t *more = realloc(set->at, cap * sizeof *more);

        if (more == NULL) {
            match->no_memory = true;
            return false;
        }
        set->at = more;
        set->cap = cap;
    }
    set->at[set->n++] = at;
    return true;
}

static int compare_positions(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void sort_unique(struct clam_positions *set)
{
    size_t n = 0;

    if (set->n > 1)
        qsort(set->at, set->n, sizeof *set->at, compare_positions);
    for (size_t i = 0; i < set->n; i++)
        if (n == 0 || set->at[n - 1] != set->at[i])
            set->at[n++] = set->at[i];
    set->n = n;
}

static void swap_sets(struct clam_match *match)
{
    const struct clam_positions set = match->now;

    match->now = match->next;
    match->next = set;
    match->next.n = 0;
}

/* ---- one segment ----------------------------------------------------------------------------- */

static bool masked_equal(const struct clam_match *match, uint32_t values, uint32_t masks,
                         const uint8_t *at, uint32_t len)
{
    const uint8_t *value = match->bytes + values, *mask = match->bytes + masks;

    for (uint32_t i = 0; i < len; i++)
        if ((at[i] & mask[i]) != value[i])
            return false;
    return true;
}

static bool one_of(const struct clam_match *match, const struct clam_elem *elem, const uint8_t *at)
{
    for (uint32_t i = elem->bytes; i < elem->bytes + elem->n_alts; i++)
        if (masked_equal(match, match->alts[i].bytes, match->alts[i].masks, at, elem->len))
            return true;
    return false;
}

/* A border before `at` or behind it; nothing of it is part of the match. */
static bool border_holds(struct clam_match *match, uint8_t kind, uint64_t at)
{
    struct clam_object *object = match->object;
    const bool left = kind < CLAM_RIGHT_B, end = left ? at == 0 : at == object->len;
    const uint8_t *near = end ? NULL : clam_object_at(object, left ? at - 1 : at, 1);
    const uint8_t byte = near != NULL ? *near : 0;
    const uint8_t *pair;

    if (end)
        return true;
    switch (kind) {
    case CLAM_LEFT_B:
        return (clam_word_side(byte) & 1) != 0;
    case CLAM_RIGHT_B:
        return (clam_word_side(byte) & 2) != 0;
    case CLAM_LEFT_L:
        return byte == '\n';
    case CLAM_RIGHT_L:
        pair = clam_object_at(object, at, 2);
        return byte == '\n' || (byte == '\r' && pair != NULL && pair[1] == '\n');
    case CLAM_LEFT_WIDE:
        pair = at >= 2 ? clam_object_at(object, at - 2, 2) : NULL;
        return pair == NULL || !isalnum(pair[0]) || pair[1] != 0;
    case CLAM_RIGHT_WIDE:
        pair = clam_object_at(object, at, 2);
        return pair == NULL ? !isalnum(byte) : !isalnum(pair[0]) || pair[1] != 0;
    default:
        return !isalnum(byte);
    }
}

static bool elem_holds(const struct clam_match *match, const struct clam_elem *elem,
                       const uint8_t *seg)
{
    switch (elem->kind) {
    case CLAM_EXACT:
        return memcmp(seg + elem->at, match->bytes + elem->bytes, elem->len) == 0;
    case CLAM_MASKED:
        return masked_equal(match, elem->bytes, elem->masks, seg + elem->at, elem->len);
    default:
        return one_of(match, elem, seg + elem->at) != (elem->negated != 0);
    }
}

static bool alternate_at(struct clam_match *match, const struct clam_alt *alt, uint64_t at)
{
    const uint8_t *bytes = clam_object_at(match->object, at, alt->len);

    return bytes != NULL && masked_equal(match, alt->bytes, alt->masks, bytes, alt->len);
}

static bool is_variable(const struct clam_match *match, const struct clam_seg *seg)
{
    return seg->n_elems == 1 && match->elems[seg->elems].kind == CLAM_VARIABLE;
}

static bool seg_at(struct clam_match *match, const struct clam_seg *seg, uint64_t at)
{
    const struct clam_elem *elems = match->elems + seg->elems;
    const uint8_t *bytes;

    if (is_variable(match, seg)) {
        for (uint32_t i = elems->bytes; i < elems->bytes + elems->n_alts; i++)
            if (alternate_at(match, &match->alts[i], at))
                return true;
        return false;
    }
    bytes = clam_object_at(match->object, at, seg->len);
    if (bytes == NULL)
        return false;
    for (uint32_t i = 0; i < seg->n_elems; i++)
        if (elems[i].kind < CLAM_VARIABLE && !elem_holds(match, &elems[i], bytes))
            return false;
    for (uint32_t i = 0; i < seg->n_elems; i++)
        if (elems[i].kind > CLAM_VARIABLE &&
            border_holds(match, elems[i].kind, at + elems[i].at) == (elems[i].negated != 0))
            return false;
    return true;
}

/* ---- the next segment ------------------------------------------------------------------------ */

/* The first place in [from, to] where the segment's literal begins. */
static uint64_t key_from(struct clam_match *match, const struct clam_seg *seg, uint64_t from,
                         uint64_t to)
{
    struct clam_object *object = match->object;
    struct clam_needle needle;

    if (object->len < seg->key_len)
        return NOWHERE;
    if (to > object->len - seg->key_len)
        to = object->len - seg->key_len;
    clam_needle_init(&needle, match->bytes + seg->key, seg->key_len, seg->key_case != 0);
    while (from <= to && !clam_match_is_late(match)) {
        size_t len;
        const uint8_t *text = clam_object_from(object, from, seg->key_len, &len);
        uint64_t n = len - seg->key_len + 1;

        if (n > to - from + 1)
            n = to - from + 1;
        const size_t found = match->find(&needle, text, (size_t)n);
        if (found < n)
            return from + found;
        from += n;
    }
    return NOWHERE;
}

/* The first place in [from, to] where the segment lies. */
static uint64_t seg_from(struct clam_match *match, const struct clam_seg *seg, uint64_t from,
                         uint64_t to)
{
    const uint64_t len = match->object->len;

    if (len < seg->len)
        return NOWHERE;
    if (to > len - seg->len)
        to = len - seg->len;
    for (; from <= to && !clam_match_is_late(match); from++) {
        if (seg->key_len > 0 && to - from > 8) {
            const uint64_t key = key_from(match, seg, from + seg->key_at, to + seg->key_at);

            if (key == NOWHERE)
                return NOWHERE;
            from = key - seg->key_at;
        }
        if (seg_at(match, seg, from))
            return from;
    }
    return NOWHERE;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Where the segment that lies at `at` ends, added to the next set. */
static void add_ends(struct clam_match *match, const struct clam_seg *seg, uint64_t at)
{
    const struct clam_elem *elem = match->elems + seg->elems;

    if (!is_variable(match, seg)) {
        (void)add(match, &match->next, at + seg->len);
        return;
    }
    for (uint32_t i = elem->bytes; i < elem->bytes + elem->n_alts; i++)
        if (alternate_at(match, &match->alts[i], at))
            (void)add(match, &match->next, at + match->alts[i].len);
}

/* From segment k at `at` on to segment b: the least end, or NOWHERE. Where `part` is not NULL the
 * places of segment `part_seg` on the way are added to it. */
static uint64_t forward(struct clam_match *match, const struct clam_seg *segs, uint32_t k,
                        uint32_t b, uint64_t at, uint32_t part_seg, struct clam_positions *part)
{
    match->now.n = match->next.n = 0;
    add_ends(match, &segs[k], at);
    swap_sets(match);
    sort_unique(&match->now);
    for (uint32_t j = k + 1; j <= b; j++) {
        const struct clam_seg *seg = &segs[j];
        uint64_t tested = 0; /* places below have been */

        for (size_t i = 0; i < match->now.n; i++) {
            const uint64_t end = match->now.at[i];
            uint64_t from = end + seg->gap_min;
            const uint64_t to = end + seg->gap_max;

            if (from < tested)
                from = tested;
            while (from <= to && (from = seg_from(match, seg, from, to)) != NOWHERE) {
                if (part != NULL && j == part_seg)
                    (void)add(match, part, from);
                add_ends(match, seg, from);
                from++;
            }
            tested = to + 1;
        }
        swap_sets(match);
        sort_unique(&match->now);
    }
    return match->now.n > 0 ? match->now.at[0] : NOWHERE;
}

/* Places from which segment `seg` reaches a place of the present set over the gap behind it, with
 * one length of it. */
static void step_back(struct clam_match *match, const struct clam_seg *seg,
                      const struct clam_seg *behind, const struct clam_alt *alt)
{
    const uint64_t len = alt != NULL ? alt->len : seg->len;
    uint64_t tested = 0;

    for (size_t i = 0; i < match->now.n; i++) {
        const uint64_t at = match->now.at[i];
        const uint64_t near = len + behind->gap_min, far = len + behind->gap_max;
        uint64_t from = at > far ? at - far : 0;

        if (at < near)
            continue;
        if (from < tested)
            from = tested;
        if (alt != NULL) {
            for (; from <= at - near && !clam_match_is_late(match); from++)
                if (alternate_at(match, alt, from))
                    (void)add(match, &match->next, from);
        } else {
            while (from <= at - near && (from = seg_from(match, seg, from, at - near)) != NOWHERE)
                (void)add(match, &match->next, from++);
        }
        tested = at - near + 1;
    }
}

/* From segment k at `at` back to segment a: whether that may begin in [from, to]. */
static bool backward(struct clam_match *match, const struct clam_seg *segs, uint32_t k, uint32_t a,
                     uint64_t at, uint64_t from, uint64_t to)
{
    match->now.n = match->next.n = 0;
    if (!add(match, &match->now, at))
        return false;
    for (uint32_t j = k; j > a && match->now.n > 0; j--) {
        const struct clam_seg *seg = &segs[j - 1];
        const struct clam_elem *elem = match->elems + seg->elems;

        if (!is_variable(match, seg))
            step_back(match, seg, &segs[j], NULL);
        else
            for (uint32_t i = elem->bytes; i < elem->bytes + elem->n_alts; i++)
                step_back(match, seg, &segs[j], &match->alts[i]);
        swap_sets(match);
        sort_unique(&match->now);
    }
    for (size_t i = 0; i < match->now.n; i++)
        if (match->now.at[i] >= from && match->now.at[i] <= to)
            return true;
    return false;
}

/* The last segment of the group that begins at segment a. */
static uint32_t group_end(const struct clam_match *match, const struct clam_pattern *pattern,
                          uint32_t a)
{
    const struct clam_seg *segs = match->segs + pattern->segs;
    uint32_t b = a;

    while (b + 1 < pattern->n_segs && segs[b + 1].gap_max != CLAM_UNBOUNDED)
        b++;
    return b;
}

/* The least end of the group a..b that begins in [from, to], or some end where `any`. */
static uint64_t group_find(struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                           uint32_t b, uint64_t from, uint64_t to, bool any)
{
    const uint32_t driver = clam_rarest_seg(segs, a, b);
    uint64_t near = 0, far = 0, tail = segs[driver].len, best = NOWHERE;

    for (uint32_t j = a; j < driver; j++) {
        near += (uint64_t)segs[j].len + segs[j + 1].gap_min;
        far += (uint64_t)segs[j].len_max + segs[j + 1].gap_max;
    }
    for (uint32_t j = driver + 1; j <= b; j++)
        tail += (uint64_t)segs[j].len + segs[j].gap_min;

    uint64_t last = to > NOWHERE - 1 - far ? NOWHERE - 1 : to + far;
    for (uint64_t at = from + near; at <= last; at++) {
        at = seg_from(match, &segs[driver], at, last);
        if (at == NOWHERE)
            break;
        if (!backward(match, segs, driver, a, at, from, to))
            continue;
        const uint64_t end = forward(match, segs, driver, b, at, 0, NULL);
        if (end < best) {
            best = end;
            if (any)
                break;
            /* What lies further on ends no earlier. */
            if (best - tail < last)
                last = best - tail;
        }
    }
    return best;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static bool exe_range(const struct clam_exe *exe, uint32_t kind, uint32_t section, uint32_t offset,
                      uint64_t *from, uint64_t *len)
{
    switch (kind) {
    case CLAM_EP_PLUS:
        *from = (uint64_t)exe->entry + offset;
        return true;
    case CLAM_EP_MINUS:
        *from = (uint64_t)exe->entry - offset;
        return exe->entry >= offset;
    case CLAM_LAST_PLUS:
        section = exe->n_sections - 1;
        break;
    default:
        break;
    }
    if (exe->n_sections == 0 || section >= exe->n_sections)
        return false;
    *from = (uint64_t)exe->sections[section].raw + offset;
    *len = kind == CLAM_SECTION_WHOLE ? exe->sections[section].len : 0;
    return true;
}

bool clam_match_range(const struct clam_match *match, uint32_t kind, uint32_t section,
                      uint32_t offset, uint32_t shift, uint64_t *from, uint64_t *to)
{
    const struct clam_object *object = match->object;
    uint64_t len = 0;

    *from = 0;
    *to = object->len;
    if (kind == CLAM_ANYWHERE)
        return true;
    *from = object->origin + offset;
    if (kind != CLAM_ABSOLUTE) {
        if (clam_is_executable(object->target) && !object->exe->good)
            return false;
        if (kind == CLAM_EOF_MINUS) {
            if (offset > object->len)
                return false;
            *from = object->len - offset;
        } else if (!clam_is_executable(object->target) ||
                   !exe_range(object->exe, kind, section, offset, from, &len)) {
            return false;
        }
    }
    *to = *from + len + shift;
    return *from <= object->len;
}

static bool pattern_range(const struct clam_match *match, const struct clam_pattern *pattern,
                          uint64_t *from, uint64_t *to)
{
    return clam_match_range(match, pattern->offset_kind, pattern->section, pattern->offset,
                            pattern->shift, from, to);
}

bool clam_match_wanted(const struct clam_match *match, uint32_t number)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const enum clam_known known = clam_match_known(match, number);

    return known == CLAM_NOT_KNOWN || (known == CLAM_PRESENT && pattern->n_segs == 1 &&
                                       match->found[number] < pattern->count_max);
}

/* Of one segment: a place where it matches, each given once, is a match to be counted. */
static bool note_place(struct clam_match *match, uint32_t number)
{
    if (clam_match_known(match, number) != CLAM_PRESENT)
        match->found[number] = 0;
    match->found[number]++;
    return note(match, number, true);
}

bool clam_match_at(struct clam_match *match, uint32_t number, uint32_t seg, uint64_t at)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    uint64_t from, to;
    uint32_t a = seg;

    if (!pattern_range(match, pattern, &from, &to))
        return note(match, number, false);
    if (!seg_at(match, &segs[seg], at))
        return false;
    while (a > 0 && segs[a].gap_max != CLAM_UNBOUNDED)
        a--;
    if (a > 0) { /* it may begin anywhere behind the first group */
        from = 0;
        to = match->object->len;
    }
    if (!backward(match, segs, seg, a, at, from, to) ||
        forward(match, segs, seg, group_end(match, pattern, a), at, 0, NULL) == NOWHERE)
        return false;
    return pattern->groups == 1 ? note_place(match, number) : clam_match_exists(match, number);
}

/* The earliest end of all groups before the last one; false: they do not follow one another. For
 * the last group [from, to] is where it may begin, and *a its first segment. */
static bool before_last(struct clam_match *match, const struct clam_pattern *pattern, uint32_t *a,
                        uint64_t *from, uint64_t *to)
{
    const struct clam_seg *segs = match->segs + pattern->segs;
    uint32_t b;

    *a = 0;
    if (!pattern_range(match, pattern, from, to))
        return false;
    while ((b = group_end(match, pattern, *a)) + 1 < pattern->n_segs) {
        const uint64_t end = group_find(match, segs, *a, b, *from, *to, false);

        if (end == NOWHERE)
            return false;
        *a = b + 1;
        *from = end + segs[*a].gap_min;
        *to = match->object->len;
        if (*from > *to)
            return false;
    }
    return true;
}

bool clam_match_exists(struct clam_match *match, uint32_t number)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    const enum clam_known known = clam_match_known(match, number);
    uint64_t from, to;
    uint32_t a;

    if (known != CLAM_NOT_KNOWN)
        return known == CLAM_PRESENT;
    if (clam_match_defer(match, number))
        return true;
    return note(match, number,
                before_last(match, pattern, &a, &from, &to) &&
                    group_find(match, segs, a, pattern->n_segs - 1, from, to, true) != NOWHERE);
}

/* Counts the places among those of the set that lead to the body's end. */
static uint32_t count_parts(struct clam_match *match, const struct clam_seg *segs, uint32_t part,
                            uint32_t last, size_t *done, uint32_t max)
{
    struct clam_positions *tested = &match->tested;
    uint32_t n = 0;

    for (; *done < tested->n && n < max; ++*done)
        if (forward(match, segs, part, last, tested->at[*done], 0, NULL) != NOWHERE)
            n++;
    return n;
}

uint32_t clam_match_count(struct clam_match *match, uint32_t number, uint32_t max)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    const uint32_t last = pattern->n_segs - 1, part = pattern->last_part;
    uint64_t from, to;
    uint32_t a, n = 0;
    size_t done = 0;

    const enum clam_known known = clam_match_known(match, number);

    if (max <= 1 || known == CLAM_ABSENT || match->ahead != NULL || match->late)
        return max > 0 && clam_match_exists(match, number);
    if (known == CLAM_PRESENT && pattern->n_segs == 1 &&
        (match->known[number] % 4 == COUNTED || is_looked_for(match, pattern)))
        return match->found[number] < max ? match->found[number] : max;
    if (!before_last(match, pattern, &a, &from, &to))
        return note(match, number, false);
    match->tested.n = 0;
    for (; n < max && from <= to; from++) {
        from = seg_from(match, &segs[a], from, to);
        if (from == NOWHERE)
            break;
        if (part <= a) { /* the last part is not reached through the gaps of this group */
            n += forward(match, segs, a, last, from, 0, NULL) != NOWHERE;
            continue;
        }
        (void)forward(match, segs, a, last, from, part, &match->tested);
    }
    if (part > a) {
        sort_unique(&match->tested);
        n = count_parts(match, segs, part, last, &done, max);
    }
    (void)note(match, number, n > 0);
    return n;
}
