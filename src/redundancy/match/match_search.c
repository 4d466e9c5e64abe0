/* SPDX-License-Identifier: MIT */
/* The matches of an item: its samples, expanded, and the content between matches. */
#include "match_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "match_extent.h"

enum {
    LOOK_BACK = 64, /* bytes of the last match that the next may always reach into */
    PARTS_MAX = 4,  /* of an item that goes on, each from an item that was sent before */
    HEADER_MAX = 128
};

enum sl_status search_create(struct match_search *search, const struct sl_redundancy_config *config,
                             struct sl_diag *diag)
{
    search->config = *config;
    search->reach = config->cache_len;
    /* Acknowledged samples are looked up one by one, so few are renewed beside these. */
    search->renew_after = config->cache_len / (config->acknowledged ? 8 : 2);
    search->next.source = SEARCH_NOWHERE;
    search->run_min =
        config->min_match / 2 > SL_REFERENCE_MIN ? config->min_match / 2 : SL_REFERENCE_MIN;
    search->found = malloc((config->frame_max / config->min_match + 1) * sizeof *search->found);
    search->matches = malloc((config->batch_len / SL_REFERENCE_MIN + 1) * sizeof *search->matches);
    search->positions = malloc(config->max_items * sizeof *search->positions);
    if (search->matches == NULL || search->found == NULL || search->positions == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for batches of %u items",
                        config->max_items);
    return SL_OK;
}

void search_free(struct match_search *search)
{
    free(search->positions);
    free(search->matches);
    free(search->found);
}

/* ---- one sample ------------------------------------------------------------------------------ */

/* An item, in the arena and in the log. */
struct item {
    const uint8_t *bytes;
    uint64_t position; /* in the log */
    uint64_t until;    /* where the log ends, outside of the item, that it may refer to */
    uint32_t number, len;
};

static struct item item_of(const struct match_search *m, const struct sl_batch *batch,
                           uint32_t number)
{
    const struct sl_span *const span = &batch->payload[number];

    return (struct item){batch->bytes + span->offset, m->positions[number],
                         m->until != NULL ? m->until[number] : m->positions[number], number,
                         span->len};
}

static struct sl_match *last_match(struct match_search *m)
{
    return m->n_found > 0 ? &m->found[m->n_found - 1] : NULL;
}

/* The end of the content of the item's matches. */
static uint32_t taken_until(const struct match_search *m)
{
    return m->n_found > 0 ? m->found[m->n_found - 1].offset + m->found[m->n_found - 1].len : 0;
}

/* The lowest log offset that the item may refer to. */
static uint64_t lowest_source(const struct match_search *m, const struct item *item)
{
    const uint64_t kept = item->position > m->reach ? item->position - m->reach : 0;

    return kept > m->log.floor ? kept : m->log.floor;
}

/* Where the bytes around an offset lie in one piece, as far as the guard allows: near the begin of
 * the ring the guard is read in its place. */
static uint64_t whole_at(const struct packet_log *log, uint64_t offset)
{
    const uint64_t at = log_at(log, offset);

    return at < log->guard / 2 ? at + log->len : at;
}

/* Bytes around the sample that its source has: the range of the comparison. */
struct extent {
    uint64_t before, ahead;
};

static struct extent source_extent(const struct match_search *m, const struct item *item,
                                   uint32_t offset, uint64_t source, uint64_t at)
{
    const bool inside = source >= item->position;
    const uint64_t lowest = inside ? item->position : lowest_source(m, item);
    struct extent extent = {source - lowest, m->log.len + m->log.guard - at};

    if (extent.before > at)
        extent.before = at;
    if (extent.before > offset)
        extent.before = offset;
    /* From outside, a reference ends where its packet begins: it is decoded from the log alone. */
    if (!inside && extent.ahead > item->until - source)
        extent.ahead = item->until - source;
    if (extent.ahead > item->len - offset)
        extent.ahead = item->len - offset;
    if (m->log.known != NULL) {
        extent.ahead = log_run(&m->log, source, extent.ahead, true);
        extent.before = log_known_before(&m->log, source, extent.before);
    }
    return extent;
}

/* Appends a match, less the part that the last match has. */
static void take_match(struct match_search *m, const struct item *item, uint32_t begin,
                       uint32_t end, uint64_t source)
{
    const uint32_t taken = taken_until(m);

    if (begin < taken) {
        source += taken - begin;
        begin = taken;
    }
    if (end < begin + m->config.min_match)
        return;
    m->found[m->n_found++] = (struct sl_match){source, item->number, begin, end - begin};
    m->covered_item = item->number;
    m->covered_end = end;
    m->renew = source < item->position && item->position - source > m->renew_after;
}

/* Compares the bytes before the sample. Where they reach back to the last match's beginning, the
 * new match replaces it, and the search may go on. The bytes that the match adds bound the search
 * in the last match. So all searches together are linear in the bytes covered. */
static uint32_t expand_back(struct match_search *m, const struct item *item, uint32_t offset,
                            uint32_t end, const uint8_t *there, uint64_t most)
{
    const struct sl_match *const last = last_match(m);
    const uint8_t *const here = item->bytes + offset;
    const uint32_t taken = taken_until(m);
    const uint64_t look = LOOK_BACK + 2 * (uint64_t)(end - taken);
    const uint32_t into = last == NULL ? 0 : last->len < look ? last->len : (uint32_t)look;
    const uint32_t lowest = taken - into;
    uint32_t limit = offset > lowest ? offset - lowest : 0;

    uint32_t n = (uint32_t)extent_before(here, there, most < limit ? most : limit);
    if (last == NULL || offset - n > last->offset)
        return n;
    m->n_found--;
    limit = offset - n - taken_until(m);
    most -= n;
    return n + (uint32_t)extent_before(here - n, there - n, most < limit ? most : limit);
}

/* Extends a sample whose fingerprint was seen at `source`. */
static void consider(struct match_search *m, const struct item *item, uint32_t offset,
                     uint64_t source)
{
    const uint32_t window = m->config.window;
    const uint32_t taken = taken_until(m);

    if (offset + window <= taken || (m->config.chunks && offset < taken))
        return;
    if (source < lowest_source(m, item) ||
        source >= (m->until != NULL ? item->until : item->position + offset))
        return;

    const uint64_t at = whole_at(&m->log, source);
    const struct extent extent = source_extent(m, item, offset, source, at);
    const uint8_t *const here = item->bytes + offset, *const there = m->log.bytes + at;
    if (extent.ahead < window || memcmp(here, there, window) != 0)
        return;
    if (m->config.chunks) {
        take_match(m, item, offset, offset + window, source);
        return;
    }

    const uint32_t end =
        offset + window +
        (uint32_t)extent_ahead(here + window, there + window, extent.ahead - window);
    const uint32_t before = expand_back(m, item, offset, end, there, extent.before);
    take_match(m, item, offset - before, end, source - before);
}

/* ---- an item that goes on -------------------------------------------------------------------- */

/* Bytes of the item from `at` on that equal those from a source that is not to be renewed. */
static uint32_t equal_from(const struct match_search *m, const struct item *item, uint32_t at,
                           uint64_t source)
{
    if (source < lowest_source(m, item) || source >= item->position || source >= m->log.end ||
        item->position - source > m->renew_after)
        return 0;

    const uint64_t there = whole_at(&m->log, source);
    const struct extent extent = source_extent(m, item, at, source, there);
    return (uint32_t)extent_ahead(item->bytes + at, m->log.bytes + there, extent.ahead);
}

bool search_goes_on(struct match_search *m, const struct sl_batch *batch, uint32_t item,
                    uint64_t position, struct search_next *next)
{
    const struct sl_span *const span = &batch->payload[item];
    const struct item it = {batch->bytes + span->offset, position, position, item, span->len};
    uint64_t source = next->source;
    uint32_t at = next->header_len;

    m->n_found = 0;
    for (int i = 0; i < PARTS_MAX && at < it.len; i++) {
        const uint32_t n = equal_from(m, &it, at, source);

        if (n >= m->config.min_match)
            m->found[m->n_found++] = (struct sl_match){source, item, at, n};
        at += n;
        source += n;
        if (at < it.len) /* the next item of the log, behind its header */
            source = log_round(source) + next->header_len;
    }
    if (at != it.len || m->n_found == 0) {
        m->n_found = 0;
        return false;
    }
    next->source = source;
    return true;
}

void search_expect(struct match_search *m, const struct sl_batch *batch)
{
    const struct sl_match *const last = last_match(m);

    if (!m->config.chunks && last != NULL && m->found[0].offset <= HEADER_MAX &&
        last->offset + last->len == batch->payload[last->item].len)
        m->next = (struct search_next){last->source + last->len, m->found[0].offset};
}

/* ---- between matches ------------------------------------------------------------------------- */

static void give_match(struct match_search *m, const struct sl_match *match)
{
    m->matches[m->n_matches++] = *match;
    m->stats.matches++;
    m->stats.matched_bytes += match->len;
}

/* Runs of bytes in [begin, end) of the item that equal those from `source` on, place by place.
 * Returns the end of the last one. */
static uint32_t give_runs(struct match_search *m, const struct item *item, uint32_t begin,
                          uint32_t end, uint64_t source)
{
    const uint8_t *const here = item->bytes + begin;
    const uint8_t *const there = m->log.bytes + whole_at(&m->log, source);
    const uint32_t len = end - begin;
    uint32_t done = 0;

    for (uint32_t i = 0; i + 8 <= len;) {
        if (extent_load(here + i) != extent_load(there + i)) {
            i += 8;
            continue;
        }
        const uint32_t before = (uint32_t)extent_before(here + i, there + i, i - done);
        const uint32_t after = 8 + (uint32_t)extent_ahead(here + i + 8, there + i + 8, len - i - 8);

        if (before + after >= m->run_min) {
            give_match(m, &(struct sl_match){source + i - before, item->number, begin + i - before,
                                             before + after});
            done = i + after;
        }
        i += after;
    }
    return begin + done;
}

/* Behind a match: compares with the bytes behind its source. Returns the end of the last run. */
static uint32_t give_following(struct match_search *m, const struct item *item, uint32_t end,
                               const struct sl_match *left)
{
    const uint32_t begin = left->offset + left->len;
    const uint64_t source = left->source + left->len;

    if (source == item->position)
        return begin;
    const struct extent extent = source_extent(m, item, begin, source, whole_at(&m->log, source));
    const uint32_t n = extent.ahead < end - begin ? (uint32_t)extent.ahead : end - begin;
    return give_runs(m, item, begin, begin + n, source);
}

/* Before a match: compares with the bytes before its source. */
static void give_preceding(struct match_search *m, const struct item *item, uint32_t begin,
                           const struct sl_match *right)
{
    const struct extent extent =
        source_extent(m, item, right->offset, right->source, whole_at(&m->log, right->source));
    const uint32_t end = right->offset;
    const uint32_t n = extent.before < end - begin ? (uint32_t)extent.before : end - begin;

    give_runs(m, item, end - n, end, right->source - n);
}

/* Behind a change content goes on at the same distance. The bytes between two matches are compared
 * with those behind the first source, and with those before the second. */
static void give_gap(struct match_search *m, const struct item *item, uint32_t begin, uint32_t end,
                     const struct sl_match *left, const struct sl_match *right)
{
    if (left != NULL && end - begin >= m->run_min)
        begin = give_following(m, item, end, left);
    if (right != NULL && end - begin >= m->run_min)
        give_preceding(m, item, begin, right);
}

void search_end_item(struct match_search *m, const struct sl_batch *batch)
{
    if (m->n_found == 0)
        return;
    const struct item item = item_of(m, batch, m->found[0].item);
    const struct sl_match *left = NULL;
    uint32_t begin = 0;

    for (size_t i = 0; i < m->n_found; i++) {
        const struct sl_match *const match = &m->found[i];

        if (!m->config.chunks)
            give_gap(m, &item, begin, match->offset, left, match);
        give_match(m, match);
        begin = match->offset + match->len;
        left = match;
    }
    if (!m->config.chunks)
        give_gap(m, &item, begin, item.len, left, NULL);
    m->n_found = 0;
}

void search_consider(struct match_search *m, const struct sl_batch *batch, const struct sl_hit *hit,
                     uint64_t source)
{
    m->stats.found++;
    if (m->n_found > 0 && m->found[0].item != hit->item)
        search_end_item(m, batch);
    const struct item item = item_of(m, batch, hit->item);
    consider(m, &item, hit->offset, source);
}

const struct sl_match *search_of_item(const struct match_search *m, uint32_t item, size_t *cursor,
                                      size_t *n)
{
    size_t at = *cursor, end;

    if (at > 0 && m->matches[at - 1].item >= item)
        at = 0;
    while (at < m->n_matches && m->matches[at].item < item)
        at++;
    for (end = at; end < m->n_matches && m->matches[end].item == item; end++)
        ;
    *cursor = end;
    *n = end - at;
    return m->matches + at;
}
