/* SPDX-License-Identifier: MIT */
/* One pass over an object searches for the next bodies that the expressions ask for, as many as one
 * pass can take. When these are known, the next pass searches for the next ones. */
#include "clamav/match.h"

/* Its literal lies at `at`, a place not tried before. */
static void try_at(struct clam_match *match, struct clam_sought *sought, uint64_t at)
{
    sought->next = at + 1;
    if (at < sought->back)
        return;
    (void)clam_match_at(match, sought->pattern, sought->seg, at - sought->back);
    sought->over = !clam_match_wanted(match, sought->pattern);
}

/* Tries the places of one literal that end before `end`, until the body needs no more. */
static void seek_in(struct clam_match *match, struct clam_sought *sought, uint64_t end)
{
    const size_t key_len = sought->needle.len;

    while (!sought->over && sought->next + key_len <= end && !clam_match_is_late(match)) {
        size_t len;
        const uint8_t *text = clam_object_from(match->object, sought->next, key_len, &len);
        uint64_t n = end - key_len - sought->next + 1;

        if (n > len - key_len + 1)
            n = len - key_len + 1;
        const size_t found = match->find(&sought->needle, text, (size_t)n);
        if (found == n)
            sought->next += n;
        else
            try_at(match, sought, sought->next + found);
    }
}

/* Bytes at to at + len - 1 of the object, which are in memory. */
struct stretch {
    uint64_t at;
    size_t len;
};

/* The literals of which the four bytes lie at byte `place` of the stretch. */
static const uint8_t *try_place(struct clam_match *match, struct clam_ahead *ahead,
                                const struct stretch *stretch, const uint8_t *text, size_t place)
{
    for (uint64_t which = find_fours_which(&ahead->many.fours, text + place); which != 0;
         which &= which - 1) {
        const size_t i = (size_t)__builtin_ctzll(which);
        struct clam_sought *sought = ahead->together[i];
        const size_t before = ahead->many.at[i];
        const uint64_t at = stretch->at + place - before;
        size_t len;

        if (sought->over || place < before || at < sought->next ||
            sought->needle.len > stretch->len - (place - before) ||
            !clam_needle_equals(&sought->needle, text + place - before))
            continue;
        try_at(match, sought, at);
        /* It may have searched elsewhere. */
        text = clam_object_from(match->object, stretch->at, stretch->len, &len);
    }
    return text;
}

/* Verifies all places of the literals that share one pass. */
static void seek_many(struct clam_match *match, struct clam_ahead *ahead,
                      const struct stretch *stretch)
{
    size_t len;
    const uint8_t *text = clam_object_from(match->object, stretch->at, stretch->len, &len);

    for (size_t from = 0, n; from + FIND_FOURS_BYTES <= stretch->len; from += n) {
        n = stretch->len - from - (FIND_FOURS_BYTES - 1);
        n = n < FIND_FOURS_CHUNK ? n : FIND_FOURS_CHUNK;
        const size_t n_places =
            match->find_fours(&ahead->many.fours, text + from, n, ahead->places);
        for (size_t i = 0; i < n_places && !clam_match_is_late(match); i++)
            text = try_place(match, ahead, stretch, text, from + ahead->places[i]);
    }
}

static uint64_t share_out(struct clam_ahead *ahead)
{
    uint64_t longest = 1;

    memset(&ahead->many, 0, sizeof ahead->many);
    for (size_t i = 0; i < ahead->n; i++) {
        struct clam_sought *sought = &ahead->sought[i];

        sought->alone = !clam_many_add(&ahead->many, &sought->needle);
        if (!sought->alone)
            ahead->together[ahead->many.fours.n - 1] = sought;
        if (sought->needle.len > longest)
            longest = sought->needle.len;
    }
    return longest;
}

/* Of each body that was deferred all places are tried, in one pass. */
static void search_once(struct clam_match *match, struct clam_ahead *ahead)
{
    struct clam_object *object = match->object;
    const uint64_t longest = share_out(ahead);
    struct stretch stretch = {0};

    for (; stretch.at < object->len && !clam_match_is_late(match);
         stretch.at += stretch.len - (longest - 1)) {
        const uint64_t rest = object->len - stretch.at;

        (void)clam_object_from(object, stretch.at, rest < longest ? (size_t)rest : (size_t)longest,
                               &stretch.len);
        if (ahead->many.fours.n > 0)
            seek_many(match, ahead, &stretch);
        for (size_t i = 0; i < ahead->n; i++)
            if (ahead->sought[i].alone)
                seek_in(match, &ahead->sought[i], stretch.at + stretch.len);
        if (stretch.at + stretch.len == object->len)
            break;
    }
    for (size_t i = 0; i < ahead->n; i++)
        clam_match_note_all_tried(match, ahead->sought[i].pattern);
}

void clam_match_search_ahead(struct clam_match *match, const uint32_t *sigs, size_t n)
{
    struct clam_ahead ahead = {0};

    do {
        ahead.n = 0;
        match->ahead = &ahead;
        for (size_t i = 0; i < n && !clam_match_is_late(match); i++) {
            ahead.deferred = 0;
            (void)clam_match_sig(match, sigs[i]);
        }
        match->ahead = NULL;
        if (ahead.n > 0)
            search_once(match, &ahead);
    } while (ahead.n > 0 && !match->late);
}
