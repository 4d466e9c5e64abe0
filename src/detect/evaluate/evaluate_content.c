/* SPDX-License-Identifier: MIT */
/* Contents. The windows of sorted cursors and the occurrences both move forward only, so a content
 * is one pass. */
#include <string.h>

#include "content_find.h"
#include "evaluate_steps.h"

#define NOWHERE UINT32_MAX

static const uint8_t *folded(struct rule_scan *scan)
{
    if (!scan->is_folded) {
        for (uint32_t i = 0; i < scan->len; i++) {
            const uint8_t byte = scan->payload[i];

            scan->folded[i] = (uint8_t)(byte | (byte >= 'A' && byte <= 'Z') << 5);
        }
        scan->is_folded = true;
    }
    return scan->folded;
}

/* A content in a payload. */
struct search {
    const struct rule_payload *content;
    struct rule_scan *scan;
};

/* The first place in n bytes of the payload from `from` on, or NOWHERE. */
static uint32_t find_in(const struct search *search, uint32_t from, uint32_t n)
{
    const struct rule_payload *content = search->content;
    const struct content_sought sought = {content->bytes, content->len, content->nocase};
    const uint8_t *text = search->scan->payload;
    const uint8_t *found;

    if (content->len == 0)
        return from;
    if (content->len <= CONTENT_FIND_MAX) {
        found = content_find(&sought, text + from, n);
    } else {
        text = content->nocase ? folded(search->scan) : text;
        found = memmem(text + from, n, content->bytes, content->len);
    }
    return found != NULL ? (uint32_t)(found - text) : NOWHERE;
}

/* Where the content occurs first at or behind `from`, ending at `end` at the latest; or NOWHERE. */
static uint32_t find(const struct search *search, int64_t from, int64_t end)
{
    const struct rule_payload *content = search->content;

    if (end > search->scan->len)
        end = search->scan->len;
    if (content->at_end && from < (int64_t)search->scan->len - content->len)
        from = (int64_t)search->scan->len - content->len;
    if (from < 0)
        from = 0;
    if (end - from < content->len)
        return NOWHERE;
    return find_in(search, (uint32_t)from, (uint32_t)(end - from));
}

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

/* Behind each occurrence that lies in some cursor's window. */
static struct rule_cursors meet(const struct search *search, struct rule_cursors before,
                                uint32_t *behind)
{
    const struct rule_payload *content = search->content;
    const int64_t last_end = window_end(content, before.at[before.n - 1]);
    struct rule_cursors after = {behind, 0};
    uint32_t i = 0;
    int64_t from = window_begin(content, before.at[0]);

    for (;;) {
        const uint32_t at = find(search, from, last_end);

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
        if (content->first_only)
            break;
        from = (int64_t)at + 1;
    }
    return after;
}

/* The cursors in whose window the content does not occur. */
static struct rule_cursors avoid(const struct search *search, struct rule_cursors before,
                                 uint32_t *behind)
{
    const struct rule_payload *content = search->content;
    const int64_t last_end = window_end(content, before.at[before.n - 1]);
    struct rule_cursors after = {behind, 0};
    uint32_t at = 0;
    bool known = false; /* `at` is the first occurrence behind the begin of the window before */

    for (uint32_t i = 0; i < before.n; i++) {
        const int64_t from = window_begin(content, before.at[i]);

        if (!known || (at != NOWHERE && at < from))
            at = find(search, from, last_end);
        known = true;
        if (at == NOWHERE || (int64_t)at + content->len > window_end(content, before.at[i]))
            after.at[after.n++] = before.at[i];
    }
    return after;
}

struct rule_cursors rule_content_step(const struct rule_payload *content, struct rule_scan *scan,
                                      struct rule_cursors before, uint32_t *behind)
{
    const struct search search = {content, scan};
    uint32_t start = 0;
    const struct rule_cursors payload_start = {&start, 1};

    if (content->at_end && scan->is_open)
        before.n = content->negated ? before.n : 0;
    else if (!content->negated)
        return meet(&search, content->relative ? before : payload_start, behind);
    else if (content->relative)
        return avoid(&search, before, behind);
    else if (find(&search, content->distance, window_end(content, 0)) != NOWHERE)
        before.n = 0;
    return before;
}
