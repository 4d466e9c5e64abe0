/* SPDX-License-Identifier: MIT */
/* PCRE2 finds matches. It limits the steps of each place where a match may begin, and ends a search
 * at the first that takes more, without saying where. It does not count the bytes that a step
 * passes over. So a search is direct where few places can begin a match, or matches are short.
 * Otherwise, and behind a search that ended early, the automaton says in one pass where matches may
 * begin. Each of these places is tried alone, with larger and larger limits; or it needs no trial,
 * where the automaton is exact and the end of the match does not matter. */
#include <string.h>

#include "detect/automaton/automaton.h"
#include "detect/automaton/required.h"
#include "evaluate_steps.h"

enum {
    LIMIT_MIN = 16, /* steps of a place in a search over many */
    LIMIT_MAX = 4096,
    FACTOR = 8, /* between a search and the next */
    CALL = 64   /* the effort of a search beside its steps */
};

/* A step at hand. */
struct inquiry {
    const struct rule_payload *step;
    struct rule_scan *scan;
    struct rule_work *work;
    uint32_t first;     /* the first place where a match may begin, */
    uint32_t last;      /* and the last one */
    bool knows_starts;  /* scan->starts has the places where a match may begin */
    bool has_failed;    /* the automaton took too long */
    bool is_later;      /* the buffer's first byte is not the stream's first */
    bool starts_decide; /* one begins at each of them, and no one asks for its end */
};

/* An expression over a buffer from a cursor on. */
struct search {
    struct inquiry *inquiry;
    const struct rule_expression *expression;
    const uint8_t *subject;
    uint32_t len;
};

struct match {
    uint32_t begin, end;
};

/* Whether the first len bytes may have a match, which holds some literals. A search for these takes
 * less than a run of the automaton, or ends. */
static bool may_match(struct inquiry *inquiry, uint32_t len)
{
    const struct required *required = inquiry->step->expression->required;
    const uint32_t n = len - inquiry->first;
    const uint64_t most = n < inquiry->work->effort_left ? n : inquiry->work->effort_left;
    uint64_t left = most;
    const bool may = required == NULL ||
                     required_allow(required, inquiry->scan->payload + inquiry->first, n, &left);

    inquiry->work->effort_left -= most - left;
    return may;
}

/* Lets the automaton mark where matches may begin, unless literals say that there is none. An
 * eighth of the rule's effort remains for searches. */
static void learn_starts(struct inquiry *inquiry)
{
    const struct automaton *automaton = inquiry->step->expression->automaton;
    struct rule_scan *scan = inquiry->scan;
    const bool anywhere = inquiry->step->relative;
    const uint32_t len = automaton_deciding(automaton, scan->len, inquiry->last);

    memset(scan->starts, 0, RULE_MARKS(scan->len) * sizeof *scan->starts);
    inquiry->knows_starts = !may_match(inquiry, len);
    if (inquiry->knows_starts)
        return;

    const uint64_t share = inquiry->work->effort_left - inquiry->work->effort_left / 8;
    uint64_t left = share;

    inquiry->knows_starts =
        automaton_run(automaton, scan->payload, inquiry->first, len, anywhere, scan->starts, &left);
    inquiry->has_failed = !inquiry->knows_starts;
    inquiry->work->effort_left -= inquiry->has_failed ? share : share - left;
    inquiry->starts_decide =
        inquiry->knows_starts && !inquiry->is_later &&
        (inquiry->step->first_only || inquiry->step->negated) &&
        automaton_is_exact(automaton, anywhere && !inquiry->step->expression->anchored);
}

/* ---- searches -------------------------------------------------------------------------------- */

static enum rule_found find_in(const struct search *search, uint32_t from, uint32_t n,
                               uint32_t limit, struct match *match)
{
    return rule_matcher_find(search->inquiry->work->matcher, search->expression, search->subject,
                             search->len, from, n, limit, &match->begin, &match->end);
}

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

/* The effort that a search of so many places from `from` on may take. */
static uint64_t effort_of(const struct search *search, uint32_t from, uint32_t width,
                          uint32_t limit)
{
    enum { SCANNED = 4 /* bytes that are passed over for a step's effort */ };
    const struct automaton *automaton = search->expression->automaton;
    const uint32_t left = search->len - from;
    const uint32_t reach = automaton != NULL ? automaton_reach(automaton) : UINT32_MAX;
    const uint64_t scanned = (uint64_t)width * (left < reach ? left : reach) / SCANNED;

    return CALL + 2 * ((uint64_t)width + limit - LIMIT_MIN) + scanned;
}

/* How many of the n places from `from` on a search may try: where starts are known, those that
 * follow each other. */
static uint32_t run_of_places(const struct search *search, uint32_t from, uint32_t n)
{
    const struct rule_scan *scan = search->inquiry->scan;
    const uint32_t cursor = (uint32_t)(search->subject - scan->payload);
    uint32_t width = 1;

    if (!search->inquiry->knows_starts)
        return n;
    while (width < n && rule_scan_next_start(scan, cursor + from + width, cursor + from + n) ==
                            cursor + from + width)
        width++;
    return width;
}

/* The first place of [from, end) where a match may begin; `end`: there is none. */
static uint32_t next_place(const struct search *search, uint32_t from, uint32_t end)
{
    const struct rule_scan *scan = search->inquiry->scan;
    const uint32_t cursor = (uint32_t)(search->subject - scan->payload);

    return search->inquiry->knows_starts
               ? rule_scan_next_start(scan, cursor + from, cursor + end) - cursor
               : from;
}

/* Finds a match in [from, end), where effort is counted. A place that takes too many steps is given
 * up. */
static bool find_counting(const struct search *search, uint32_t from, uint32_t end,
                          struct match *match)
{
    struct rule_work *work = search->inquiry->work;

    for (from = next_place(search, from, end); from < end;
         from = next_place(search, from + 1, end)) {
        if (!rule_work_spend(work, CALL))
            return false;

        const enum rule_found found =
            rule_matcher_count(work->matcher, search->expression, search->subject, search->len,
                               from, &work->effort_left, &match->begin, &match->end);

        if (found == RULE_FOUND)
            return true;
        if (found == RULE_LIMITED)
            rule_work_stop(work);
    }
    return false;
}

/* Finds a match in [from, end). A place beyond its limit is given up. */
static bool find_narrowing(const struct search *search, uint32_t from, uint32_t end,
                           struct match *match)
{
    struct rule_work *work = search->inquiry->work;
    uint32_t width = FACTOR, limit = LIMIT_MIN;

    for (from = next_place(search, from, end); from < end;) {
        width = run_of_places(search, from, width < end - from ? width : end - from);
        if (!rule_work_spend(work, effort_of(search, from, width, limit)))
            return false;

        const enum rule_found found = find_in(search, from, width, limit, match);

        if (found == RULE_FOUND)
            return true;
        if (found == RULE_LIMITED && narrow(&width, &limit))
            continue;
        if (found == RULE_LIMITED)
            rule_work_stop(work);
        from = next_place(search, from + width, end);
        width = width < UINT32_MAX / FACTOR ? width * FACTOR : width;
        limit = LIMIT_MIN;
    }
    return false;
}

/* Finds the first match that begins at `from` or up to n - 1 bytes later. */
static bool find(const struct search *search, uint32_t from, uint32_t n, struct match *match)
{
    struct inquiry *inquiry = search->inquiry;

    if (n == 0)
        return false;
    if (search->expression->automaton != NULL && !inquiry->knows_starts && !inquiry->has_failed) {
        if (!rule_work_spend(inquiry->work, CALL + 2 * (uint64_t)n))
            return false;

        const enum rule_found found = find_in(search, from, n, LIMIT_MIN, match);

        if (found != RULE_LIMITED)
            return found == RULE_FOUND;
        learn_starts(inquiry);
    }
    if (inquiry->starts_decide) {
        const uint32_t place = next_place(search, from, from + n);

        *match = (struct match){place, place};
        return place < from + n;
    }
    return search->expression->counted != NULL ? find_counting(search, from, from + n, match)
                                               : find_narrowing(search, from, from + n, match);
}

static struct search search_from(struct inquiry *inquiry, uint32_t cursor)
{
    return (struct search){.inquiry = inquiry,
                           .expression = inquiry->step->expression,
                           .subject = inquiry->scan->payload + cursor,
                           .len = inquiry->scan->len - cursor};
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
static struct rule_cursors avoid(struct inquiry *inquiry, struct rule_cursors before)
{
    const uint32_t first = before.at[0];
    const struct search all = search_from(inquiry, first);
    struct match match = {0, 0}; /* the last one of `all` that was found */
    bool found = false, none = false;
    uint32_t n = 0;

    for (uint32_t i = 0; i < before.n; i++) {
        const struct search search = search_from(inquiry, before.at[i]);
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
    before.n = inquiry->work->stopped ? 0 : n;
    return before;
}

/* Marks the ends of the matches that begin in the first n places. */
static bool mark_ends(const struct search *search, uint32_t n, bool first_only)
{
    struct rule_scan *scan = search->inquiry->scan;
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
static struct rule_cursors meet(struct inquiry *inquiry, struct rule_cursors before,
                                uint32_t *behind)
{
    const struct rule_payload *step = inquiry->step;
    const bool first_only = step->first_only || step->negated;
    const uint32_t n = step->relative ? before.n : 1;

    rule_scan_clear_marks(inquiry->scan);
    for (uint32_t i = 0; i < n; i++) {
        const struct search search = search_from(inquiry, step->relative ? before.at[i] : 0);

        if (mark_ends(&search, i == 0 ? places(&search, 0) : own_places(&search), first_only) &&
            first_only)
            break;
    }
    return rule_scan_take_marks(inquiry->scan, behind);
}

/* Whether direct searches may take longer than a run of the automaton. */
static bool is_wide(const struct inquiry *inquiry, uint32_t n_cursors)
{
    enum { SCANNED = 4 /* bytes that PCRE2 passes over, for a byte of the automaton */ };
    const struct rule_expression *expression = inquiry->step->expression;
    const struct rule_scan *scan = inquiry->scan;
    const struct automaton *automaton = expression->automaton;

    if (automaton == NULL || scan->len == 0)
        return false;

    const uint32_t reach = automaton_reach(automaton);
    const uint64_t passed = reach < scan->len ? reach : scan->len;
    const uint64_t of_first = passed * (expression->counted != NULL ? 1 + passed / 16 : 1);
    const uint64_t calls = (uint64_t)(n_cursors - 1) * CALL * expression->own;
    const uint64_t run = 8 * CALL + (uint64_t)scan->len * automaton_pace(automaton);

    if (calls > run || of_first == 0)
        return calls > run;

    const uint64_t enough = (run - calls + 1) * SCANNED / of_first + 1;
    const uint32_t most = enough < UINT32_MAX ? (uint32_t)enough : UINT32_MAX;
    const uint64_t first =
        expression->anchored
            ? n_cursors
            : n_cursors - 1 + automaton_count_first(automaton, scan->payload, scan->len, most);

    return first * of_first / SCANNED + calls > run;
}

struct rule_cursors rule_expression_step(const struct rule_payload *step, struct rule_scan *scan,
                                         struct rule_work *work, struct rule_cursors before,
                                         uint32_t *behind)
{
    struct inquiry inquiry = {
        .step = step, .scan = scan, .work = work, .is_later = !step->relative && scan->before != 0};

    inquiry.last = !step->expression->anchored ? scan->len
                   : step->relative            ? before.at[before.n - 1]
                                               : 0;
    inquiry.first = step->relative ? before.at[0] : 0;
    rule_matcher_set_begin(work->matcher, !inquiry.is_later);
    if (is_wide(&inquiry, step->relative ? before.n : 1))
        learn_starts(&inquiry);
    if (step->negated && step->relative)
        return avoid(&inquiry, before);

    const struct rule_cursors after = meet(&inquiry, before, behind);

    if (!step->negated)
        return after;
    before.n = after.n == 0 && !work->stopped ? before.n : 0;
    return before;
}
