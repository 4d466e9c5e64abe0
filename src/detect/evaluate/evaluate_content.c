/* SPDX-License-Identifier: MIT */
/* Contents. The windows of sorted cursors and the occurrences both move forward only, so a content
 * is one pass. Many cursors are marks: their windows and the occurrences are sets of bits, so that
 * a pass takes few steps for 64 places. */
#include <string.h>

#include "content_find.h"
#include "evaluate_steps.h"
#include "place_set.h"

#define NOWHERE UINT32_MAX

/* A content in a payload. */
struct search {
    const struct rule_payload *content;
    struct rule_scan *scan;
    int64_t end; /* of all occurrences, at the latest */
    struct content_search in;
};

static int64_t window_begin(const struct rule_payload *content, uint32_t cursor)
{
    return (int64_t)cursor + content->distance;
}

static int64_t window_end(const struct rule_payload *content, uint32_t cursor)
{
    if (content->window == RULE_NO_WINDOW)
        return INT64_MAX;
    return window_begin(content, cursor) + content->window;
}

/* A search for occurrences that end at `end` at the latest. */
static void begin(struct search *search, int64_t end, const struct rule_work *work)
{
    const struct rule_payload *content = search->content;
    const struct content_sought sought = {content->bytes, content->len, content->nocase};

    search->end = end < search->scan->len ? end : search->scan->len;
    if (content->len != 0)
        content_search_begin(&search->in, &sought, search->scan->payload,
                             search->end > 0 ? (size_t)search->end : 0, work->search_left);
}

/* Whether the rule may spend what the search took. */
static bool spend(const struct search *search, struct rule_work *work)
{
    return search->content->len == 0 || rule_work_search(work, search->in.effort);
}

/* Where the content occurs first at or behind `from`, or NOWHERE. */
static uint32_t find(struct search *search, int64_t from)
{
    const struct rule_payload *content = search->content;
    size_t at;

    if (content->at_end && from < (int64_t)search->scan->len - content->len)
        from = (int64_t)search->scan->len - content->len;
    if (from < 0)
        from = 0;
    if (search->end - from < content->len)
        return NOWHERE;
    at = content->len == 0 ? (size_t)from : content_search_next(&search->in, (size_t)from);
    return at != CONTENT_NOWHERE ? (uint32_t)at : NOWHERE;
}

/* From so many on cursors are many. */
static uint32_t many(const struct rule_scan *scan)
{
    enum { AT_LEAST = 64, PLACES_OF_ONE = 32 };

    return scan->len > AT_LEAST * PLACES_OF_ONE ? scan->len / PLACES_OF_ONE : AT_LEAST;
}

/* Behind each occurrence that lies in some cursor's window, until there are many. */
static struct rule_cursors meet(struct search *search, struct rule_cursors before, uint32_t *behind)
{
    const struct rule_payload *content = search->content;
    struct rule_cursors after = {.at = behind};
    const uint32_t enough = many(search->scan);
    uint32_t i = 0;
    int64_t from = window_begin(content, before.at[0]);

    for (;;) {
        const uint32_t at = find(search, from);

        if (at == NOWHERE)
            break;
        /* Windows that end before this occurrence does end before all later ones. */
        while (i < before.n && window_end(content, before.at[i]) < (int64_t)at + content->len)
            i++;
        if (i == before.n)
            break;
        from = window_begin(content, before.at[i]);
        if (from > at)
            continue; /* between windows: on with the next one */
        after.at[after.n++] = at + content->len;
        if (content->first_only || after.n == enough)
            break;
        from = (int64_t)at + 1;
    }
    return after;
}

/* The cursors in whose window the content does not occur. */
static struct rule_cursors avoid(struct search *search, struct rule_cursors before,
                                 uint32_t *behind)
{
    const struct rule_payload *content = search->content;
    struct rule_cursors after = {.at = behind};
    uint32_t at = 0;
    bool known = false; /* `at` is the first occurrence behind the begin of the window before */

    for (uint32_t i = 0; i < before.n; i++) {
        const int64_t from = window_begin(content, before.at[i]);

        if (!known || (at != NOWHERE && at < from))
            at = find(search, from);
        known = true;
        if (at == NOWHERE || (int64_t)at + content->len > window_end(content, before.at[i]))
            after.at[after.n++] = before.at[i];
    }
    return after;
}

/* Marks the places where the content occurs, as starts. */
static void mark_occurrences(struct search *search)
{
    const struct rule_payload *content = search->content;
    const struct rule_scan *scan = search->scan;
    const uint32_t first = content->at_end ? scan->len - content->len : 0;

    memset(scan->starts, 0, RULE_MARKS(scan->len) * sizeof *scan->starts);
    if (content->len > scan->len)
        return;
    if (content->len != 0) {
        content_search_mark(&search->in, first, scan->starts);
    } else {
        scan->starts[first / 64] = UINT64_C(1) << first % 64;
        place_set_spread(scan->starts, scan->len, 0, scan->len);
    }
}

/* Both of the above for many cursors, which become marks. What is left of them becomes a list again
 * where it is not many. */
static struct rule_cursors step_many(struct search *search, struct rule_work *work,
                                     struct rule_cursors before, uint32_t *behind)
{
    enum { EFFORT_OF_WORD = 16 };
    const struct rule_payload *content = search->content;
    struct rule_scan *scan = search->scan;
    const int64_t low = content->distance, high = low + content->window - content->len;
    struct rule_cursors after = {.marked = true};

    if (!rule_work_search(work, EFFORT_OF_WORD * RULE_MARKS(scan->len)))
        return after;
    if (!before.marked) {
        rule_scan_clear_marks(scan);
        for (uint32_t i = 0; i < before.n; i++)
            rule_scan_mark(scan, before.at[i]);
    }
    mark_occurrences(search);
    if (high < low) { /* no window has room for it */
        after.n = content->negated ? before.n : 0;
    } else if (content->negated) {
        place_set_spread(scan->starts, scan->len, -high, -low);
        after.n = place_set_remove(scan->marks, scan->len, scan->starts);
    } else {
        place_set_spread(scan->marks, scan->len, low, high);
        after.n = place_set_keep(scan->marks, scan->len, scan->starts);
        place_set_spread(scan->marks, scan->len, content->len, content->len);
    }
    return after.n < many(scan) ? rule_scan_take_marks(scan, behind) : after;
}

/* The cursors behind a content whose windows begin at some. */
static struct rule_cursors step_some(struct search *search, struct rule_work *work,
                                     struct rule_cursors before, uint32_t *behind)
{
    struct rule_cursors after;

    if (before.marked || before.n >= many(search->scan))
        return step_many(search, work, before, behind);
    if (search->content->negated)
        return avoid(search, before, behind);
    after = meet(search, before, behind);
    return after.n >= many(search->scan) ? step_many(search, work, before, behind) : after;
}

struct rule_cursors rule_content_step(const struct rule_payload *content, struct rule_scan *scan,
                                      struct rule_work *work, struct rule_cursors before,
                                      uint32_t *behind)
{
    struct search search = {.content = content, .scan = scan};
    uint32_t start = 0;
    const struct rule_cursors from =
        content->relative ? before : (struct rule_cursors){.at = &start, .n = 1};
    struct rule_cursors after = before;

    if (content->at_end && scan->is_open) {
        after.n = content->negated ? before.n : 0;
        return after;
    }
    begin(&search, window_end(content, from.marked ? scan->len : from.at[from.n - 1]), work);
    if (content->negated && !content->relative)
        after.n = find(&search, content->distance) != NOWHERE ? 0 : before.n;
    else
        after = step_some(&search, work, from, behind);
    if (!spend(&search, work))
        after.n = 0;
    return after;
}
