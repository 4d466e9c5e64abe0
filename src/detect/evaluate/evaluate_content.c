/* SPDX-License-Identifier: MIT */
/* The contents of a rule depend on each other through the cursor alone. Whether the later ones can
 * be met depends only on the end of the one before them. So no combinations of occurrences are
 * tried. Each option maps the set of possible cursors before it to the set behind it. The rule
 * matches if the last set is not empty. A set has at most len + 1 members, kept sorted. The windows
 * of sorted cursors and the occurrences both move forward only, so an option is one pass. */
#include "evaluate_content.h"

#include <string.h>

#define NOWHERE UINT32_MAX

/* The cursors that are possible: sorted, distinct. */
struct cursors {
    uint32_t *at;
    uint32_t n;
};

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
    const uint8_t *bytes; /* the payload, in lower case where the content ignores case */
    uint32_t len;
};

/* Where the content occurs first at or behind `from`, ending at `end` at the latest; or NOWHERE. */
static uint32_t find(const struct search *search, int64_t from, int64_t end)
{
    const struct rule_payload *content = search->content;

    if (end > search->len)
        end = search->len;
    if (content->at_end && from < (int64_t)search->len - content->len)
        from = (int64_t)search->len - content->len;
    if (from < 0)
        from = 0;
    if (end - from < content->len)
        return NOWHERE;

    const uint8_t *begin = search->bytes + from;

    /* Runs of a byte occur at each place: spares memmem's preparations there. */
    if (memcmp(begin, content->bytes, content->len) == 0)
        return (uint32_t)from;

    const uint8_t *found = memmem(begin, (size_t)(end - from), content->bytes, content->len);
    return found != NULL ? (uint32_t)(found - search->bytes) : NOWHERE;
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
static struct cursors meet(const struct search *search, struct cursors before, uint32_t *behind)
{
    const struct rule_payload *content = search->content;
    const int64_t last_end = window_end(content, before.at[before.n - 1]);
    struct cursors after = {behind, 0};
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
static struct cursors avoid(const struct search *search, struct cursors before, uint32_t *behind)
{
    const struct rule_payload *content = search->content;
    const int64_t last_end = window_end(content, before.at[before.n - 1]);
    struct cursors after = {behind, 0};
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

static struct cursors step_content(const struct rule_payload *content, struct rule_scan *scan,
                                   struct cursors before, uint32_t *behind)
{
    const struct search search = {content, content->nocase ? folded(scan) : scan->payload,
                                  scan->len};
    uint32_t start = 0;
    const struct cursors payload_start = {&start, 1};

    if (!content->negated)
        return meet(&search, content->relative ? before : payload_start, behind);
    if (content->relative)
        return avoid(&search, before, behind);
    if (find(&search, content->distance, window_end(content, 0)) != NOWHERE)
        before.n = 0;
    return before;
}

static struct cursors step_data_at(const struct rule_payload *payload, const struct rule_scan *scan,
                                   struct cursors before, uint32_t *behind)
{
    struct cursors after = {behind, 0};

    for (uint32_t i = 0; i < before.n; i++) {
        const int64_t base = payload->relative ? before.at[i] : 0;

        if ((base + payload->distance < scan->len) != payload->negated)
            after.at[after.n++] = before.at[i];
    }
    return after;
}

static struct cursors step_size(const struct rule_payload *size, const struct rule_scan *scan,
                                struct cursors before)
{
    const bool inside = scan->len >= (uint32_t)size->distance && scan->len <= size->window;

    if (inside == size->negated)
        before.n = 0;
    return before;
}

bool rule_section_match(const struct rule_payload *steps, size_t n, struct rule_scan *scan)
{
    struct cursors cursors = {scan->cursor[0], 1};

    cursors.at[0] = 0;
    for (size_t i = 0; i < n && cursors.n != 0; i++) {
        const struct rule_payload *payload = &steps[i];
        uint32_t *behind = cursors.at == scan->cursor[0] ? scan->cursor[1] : scan->cursor[0];

        if (payload->kind == RULE_CONTENT)
            cursors = step_content(payload, scan, cursors, behind);
        else if (payload->kind == RULE_SIZE)
            cursors = step_size(payload, scan, cursors);
        else
            cursors = step_data_at(payload, scan, cursors, behind);
    }
    return cursors.n != 0;
}
