/* SPDX-License-Identifier: MIT */
/* PCRE2 limits the steps of each place where a match may begin, and ends a search at the first that
 * takes more, without saying where. So a search over all places has a small limit. Where it ends
 * early, it is done again over fewer places, down to the one, which gets larger limits. */
#include "evaluate_steps.h"

enum {
    LIMIT_MIN = 16, /* steps of a place in a search over many */
    LIMIT_MAX = 4096,
    FACTOR = 8, /* between a search and the next */
    CALL = 64   /* what a search takes beside its steps */
};

/* An expression over a buffer from a cursor on. */
struct search {
    const struct rule_expression *expression;
    struct rule_work *work;
    const uint8_t *subject;
    uint32_t len;
};

struct match {
    uint32_t begin, end;
};

/* The next search where one ended early: over fewer places, or of more steps. False: none is. */
static bool narrow(uint32_t *width, uint32_t *limit)
{
    if (*width == 1 && *limit == LIMIT_MAX)
        return false;
    if (*width == 1)
        *limit = *limit * FACTOR < LIMIT_MAX ? *limit * FACTOR : LIMIT_MAX;
    *width = *width > FACTOR ? *width / FACTOR : 1;
    return true;
}

/* Finds the first match that begins at `from` or up to n - 1 bytes later. A place beyond its limit
 * is given up. */
static bool find(const struct search *search, uint32_t from, uint32_t n, struct match *match)
{
    const uint32_t end = from + n;
    uint32_t width = n, limit = LIMIT_MIN;

    while (from < end) {
        width = width < end - from ? width : end - from;
        if (!rule_work_spend(search->work, CALL + 2 * ((uint64_t)width + limit - LIMIT_MIN)))
            return false;

        const enum rule_found found =
            rule_matcher_find(search->work->matcher, search->expression, search->subject,
                              search->len, from, width, limit, &match->begin, &match->end);

        if (found == RULE_FOUND)
            return true;
        if (found == RULE_LIMITED && narrow(&width, &limit))
            continue;
        if (found == RULE_LIMITED)
            rule_work_stop(search->work);
        from += width;
        width = width < UINT32_MAX / FACTOR ? width * FACTOR : width;
        limit = LIMIT_MIN;
    }
    return false;
}

static struct search search_from(const struct rule_payload *step, const struct rule_scan *scan,
                                 struct rule_work *work, uint32_t cursor)
{
    return (struct search){.expression = step->expression,
                           .work = work,
                           .subject = scan->payload + cursor,
                           .len = scan->len - cursor};
}

/* The places where a match may begin, from `from` on. */
static uint32_t places(const struct search *search, uint32_t from)
{
    return search->expression->anchored ? from == 0 : search->len + 1 - from;
}

/* The first of them whose matches depend on where the subject begins. */
static uint32_t own_places(const struct search *search)
{
    const uint32_t own = search->expression->own;

    return own < search->len + 1 ? own : search->len + 1;
}

/* The cursors from which no match is found. Behind its own places a cursor has the matches of the
 * first one. */
static struct rule_cursors avoid(const struct rule_payload *step, struct rule_scan *scan,
                                 struct rule_work *work, struct rule_cursors before)
{
    const uint32_t first = before.at[0];
    const struct search all = search_from(step, scan, work, first);
    struct match match = {0, 0}; /* the last one of `all` that was found */
    bool found = false, none = false;
    uint32_t n = 0;

    for (uint32_t i = 0; i < before.n; i++) {
        const struct search search = search_from(step, scan, work, before.at[i]);
        const uint32_t from = before.at[i] - first + own_places(&search);
        struct match own;

        if (find(&search, 0, own_places(&search), &own))
            continue;
        if (!none && (!found || match.begin < from)) {
            found = from <= all.len && find(&all, from, places(&all, from), &match);
            none = !found;
        }
        if (none)
            before.at[n++] = before.at[i];
    }
    before.n = work->stopped ? 0 : n;
    return before;
}

/* Marks the ends of the matches that begin in the first n places. */
static bool mark_ends(const struct search *search, struct rule_scan *scan, uint32_t n,
                      bool first_only)
{
    const uint32_t cursor = (uint32_t)(search->subject - scan->payload);
    bool any = false;
    struct match match;

    for (uint32_t from = 0; from < n && find(search, from, n - from, &match);) {
        rule_scan_mark(scan, cursor + match.end);
        any = true;
        if (first_only)
            break;
        from = (match.begin > from ? match.begin : from) + 1;
    }
    return any;
}

/* The ends of all matches, or one of them. */
static struct rule_cursors meet(const struct rule_payload *step, struct rule_scan *scan,
                                struct rule_work *work, struct rule_cursors before,
                                uint32_t *behind)
{
    const bool first_only = step->first_only || step->negated;
    const uint32_t n = step->relative ? before.n : 1;

    rule_scan_clear_marks(scan);
    for (uint32_t i = 0; i < n; i++) {
        const struct search search =
            search_from(step, scan, work, step->relative ? before.at[i] : 0);

        if (mark_ends(&search, scan, i == 0 ? places(&search, 0) : own_places(&search),
                      first_only) &&
            first_only)
            break;
    }
    return rule_scan_take_marks(scan, behind);
}

struct rule_cursors rule_expression_step(const struct rule_payload *step, struct rule_scan *scan,
                                         struct rule_work *work, struct rule_cursors before,
                                         uint32_t *behind)
{
    if (step->negated && step->relative)
        return avoid(step, scan, work, before);

    const struct rule_cursors after = meet(step, scan, work, before, behind);

    if (!step->negated)
        return after;
    before.n = after.n == 0 && !work->stopped ? before.n : 0;
    return before;
}
