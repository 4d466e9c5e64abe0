/* SPDX-License-Identifier: MIT */
/* One object: hits of its anchors are verified, and at its end expressions are evaluated. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "clamav/scanner_internal.h"

/* ---- begin and hits -------------------------------------------------------------------------- */

void scanner_begin_part(struct sl_clamav_scanner *scanner, void *token, uint64_t len)
{
    struct clam_object *object = &scanner->object;

    object->len = object->stated_len = len;
    object->n_containers = 0;
    object->exe = &scanner->exe;
    object->window = scanner->window;
    object->window_cap = sizeof scanner->window;
    object->window_len = 0;
    object->window_at = 0;
    object->looked_len = 0;
    object->short_read = false;
    object->error = 0;
    object->part = object->goes_on = false;
    object->origin = 0;
    clam_match_begin(&scanner->match, object);
    scanner->n_candidates = 0;
    scanner->object_hits = 0;
    scanner->over = scanner->lacks_bytes = false;
    scanner->token = token;
    memset(&scanner->result, 0, sizeof scanner->result);
}

void scanner_begin_object(struct sl_clamav_scanner *scanner, const struct clam_queued *queued)
{
    struct clam_object *object = &scanner->object;
    const struct clam_place *place = &queued->place;

    scanner_begin_part(scanner, queued->token, queued->len);
    if (scanner->config.time_max_ms > 0)
        scanner->match.deadline_ns = clock_ns() + scanner->config.time_max_ms * UINT64_C(1000000);
    const enum kind kind = place->known ? (enum kind)place->kind : clam_object_kind(object);
    object->target = kind_target(kind);
    object->containers = place->containers;
    object->n_containers = place->n_containers;
    if (place->stated_len > 0)
        object->stated_len = place->stated_len;
    scanner->result.not_opened = kind_is_container(kind) ? kind_name(kind) : NULL;
    clam_exe_read(object);
}

static void add_candidate(struct sl_clamav_scanner *scanner, uint32_t sig)
{
    if (scanner->seen[sig] == scanner->match.epoch)
        return;
    scanner->seen[sig] = scanner->match.epoch;
    scanner->candidates[scanner->n_candidates++] = sig;
}

static void add_candidates(struct sl_clamav_scanner *scanner, uint32_t number)
{
    const struct clam_pattern *pattern = &scanner->match.patterns[number];
    const uint32_t *sigs = clam_at(scanner->db->block, CLAM_A_ANCHORED);

    for (uint32_t i = 0; i < pattern->n_sigs; i++)
        add_candidate(scanner, sigs[pattern->sigs + i]);
}

/* Whether the body of an anchor lies at its segment's place. In a part each place matters: others
 * may be outside the next part, and an absent body may lie there with more bytes. */
static bool take_use(struct sl_clamav_scanner *scanner, const struct clam_use *use, uint64_t at)
{
    struct clam_match *match = &scanner->match;
    const bool part = scanner->object.part;

    if ((part ? clam_match_known(match, use->pattern) != CLAM_ABSENT
              : clam_match_wanted(match, use->pattern)) &&
        clam_match_at(match, use->pattern, use->seg, at))
        return true;
    if (part && clam_match_known(match, use->pattern) == CLAM_ABSENT)
        clam_match_reach(match, use->pattern, use->seg, at);
    return false;
}

/* An anchor ends before byte `end` of the object. Whether one of its bodies lies there. The object
 * has `before` and `behind` of the others. */
static bool take_hit(struct sl_clamav_scanner *scanner, uint64_t literal, uint64_t end)
{
    const struct clam_block *block = scanner->db->block;
    const uint32_t *literals = clam_at(block, CLAM_A_LITERALS);
    const struct clam_use *uses = clam_at(block, CLAM_A_USES);
    struct clam_object *const object = &scanner->object;
    const uint32_t targets = clam_targets(object);
    bool matches = false, before = false, behind = false;

    for (uint32_t i = literals[literal]; i < literals[literal + 1]; i++) {
        const struct clam_use *use = &uses[i];

        object->before = end < use->back;
        object->behind = false;
        if ((scanner->match.patterns[use->pattern].targets & targets) != 0 && end >= use->back &&
            take_use(scanner, use, end - use->back)) {
            add_candidates(scanner, use->pattern);
            matches = true;
        } else {
            before |= object->before;
            behind |= object->behind;
        }
    }
    object->before = before;
    object->behind = behind;
    return matches;
}

void scanner_take_hits(struct sl_clamav_scanner *scanner, const struct sl_hits *hits, uint32_t item,
                       uint64_t base, size_t *next)
{
    const uint32_t max_object = scanner->config.max_object_hits;
    const uint32_t max_batch = scanner->config.max_batch_hits;

    for (; *next < hits->n && hits->hit[*next].item == item; ++*next) {
        if (clam_match_is_late(&scanner->match))
            continue;
        if ((max_batch > 0 && hits->n > max_batch) ||
            (max_object > 0 && scanner->object_hits >= max_object)) {
            scanner->result.suspect = true;
            continue;
        }
        scanner->object_hits++;
        const bool matches = take_hit(scanner, hits->hit[*next].id, base + hits->hit[*next].offset);
        if (scanner->open != NULL)
            clam_open_add(scanner->open, &hits->hit[*next], matches, &scanner->object);
    }
}

/* ---- end ------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Where the time is over, an expression that could be refuted is not decided. */
static bool holds(struct sl_clamav_scanner *scanner, uint32_t sig)
{
    struct clam_match *match = &scanner->match;

    if (clam_match_sig(match, sig) && (!match->late || clam_match_only_gains(match, sig)))
        return true;
    scanner->lacks_bytes |= scanner->object.part && clam_match_applies(match, sig);
    return false;
}

/* The order is clamscan's, as far as it has one: signatures of bodies, then hashes, then logical
 * ones. In each, those for the object's own type come before those for all. */
static void match_candidates_of(struct sl_clamav_scanner *scanner, unsigned logical, bool generic)
{
    for (size_t i = 0; i < scanner->n_candidates && !scanner->over; i++) {
        const uint32_t number = scanner->candidates[i];
        const struct clam_sig *sig = &scanner->match.sigs[number];

        if ((sig->flags & CLAM_LOGICAL) == logical && (sig->target == CLAM_GENERIC) == generic &&
            holds(scanner, number))
            scanner_report(scanner, scanner->match.text + sig->name,
                           (sig->flags & CLAM_OFFICIAL) != 0);
    }
}

static void match_candidates(struct sl_clamav_scanner *scanner, unsigned logical)
{
    match_candidates_of(scanner, logical, false);
    match_candidates_of(scanner, logical, true);
}

static void sort_candidates(struct sl_clamav_scanner *scanner)
{
    qsort(scanner->candidates, scanner->n_candidates, sizeof *scanner->candidates, compare_numbers);
}

static void collect_unanchored(struct sl_clamav_scanner *scanner)
{
    const struct clam_block *block = scanner->db->block;
    const uint32_t *fixed = clam_at(block, CLAM_A_FIXED),
                   *searched = clam_at(block, CLAM_A_SEARCHED);
    const uint32_t targets = clam_targets(&scanner->object);

    for (uint64_t i = 0; i < block->n[CLAM_A_FIXED]; i++)
        if ((scanner->match.patterns[fixed[i]].targets & targets) != 0 &&
            clam_match_exists(&scanner->match, fixed[i]))
            add_candidates(scanner, fixed[i]);
    for (uint64_t i = 0; i < block->n[CLAM_A_SEARCHED]; i++)
        if (clam_match_applies(&scanner->match, searched[i]))
            add_candidate(scanner, searched[i]);
}

enum sl_status scanner_end_object(struct sl_clamav_scanner *scanner,
                                  const struct clam_queued *queued)
{
    struct sl_clamav_result *result = &scanner->result;

    scanner->match.complete = !result->suspect && !scanner->match.late;
    scanner_match_certificates(scanner);
    if (queued->place.hashes_only)
        scanner->n_candidates = 0;
    else
        collect_unanchored(scanner);
    sort_candidates(scanner);
    clam_match_search_ahead(&scanner->match, scanner->candidates, scanner->n_candidates);
    match_candidates(scanner, 0);
    if (!scanner->over && queued->len == queued->full_len &&
        scanner_has_size(scanner->db->block, scanner->object.len))
        (void)scanner_match_hashes(scanner, CLAM_OF_FILE, 0, scanner->object.len);
    match_candidates(scanner, CLAM_LOGICAL);
    scanner_match_sections(scanner);
    scanner_end_certificates(scanner);
    result->len = queued->full_len;
    result->scanned_len = queued->len;
    result->timed_out = scanner->match.late;
    result->changed = queued->changed || scanner->object.short_read;
    result->error = queued->error != 0 ? queued->error : scanner->object.error;
    if (scanner->match.no_memory)
        return SL_ENOMEM;
    if (scanner->config.done != NULL)
        scanner->config.done(scanner->config.user, scanner->token, result);
    return SL_OK;
}

enum sl_status scanner_end_part(struct sl_clamav_scanner *scanner)
{
    struct sl_clamav_result *result = &scanner->result;

    scanner->match.complete = scanner->all_hits && !result->suspect;
    sort_candidates(scanner);
    match_candidates(scanner, 0);
    match_candidates(scanner, CLAM_LOGICAL);
    result->len = result->scanned_len = scanner->object.len;
    if (scanner->match.no_memory)
        return SL_ENOMEM;
    if (scanner->config.done != NULL)
        scanner->config.done(scanner->config.user, scanner->token, result);
    return SL_OK;
}
