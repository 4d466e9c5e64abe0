/* SPDX-License-Identifier: MIT */
#include "stream_seams.h"

#include <string.h>

#include "base/least.h"
#include "detect/match/seam_filter.h"

/* ---- one place ------------------------------------------------------------------------------- */

void stream_part_copy_before(const struct sl_stream_part *part, uint8_t *to, uint32_t len)
{
    while (len != 0) {
        part = part->before;
        const uint32_t n = part->len < len ? part->len : len;

        len -= n;
        memcpy(to + len, part->bytes + part->len - n, n);
    }
}

/* The n bytes before a part, which are known: where they lie, as most do, or in `room`. */
static const uint8_t *bytes_before(const struct sl_stream_part *part, uint32_t n,
                                   uint8_t room[RUN_SEAM_MAX])
{
    if (part->before->len >= n)
        return part->before->bytes + part->before->len - n;
    stream_part_copy_before(part, room, n);
    return room;
}

/* Whether one of the ways that were found is a literal. */
static bool matches(const struct seam_filter *filter, uint32_t found,
                    const struct sl_stream_part *part, uint32_t seam_len)
{
    const uint32_t n_before = (uint32_t)least(part->known, seam_len);
    uint8_t room[RUN_SEAM_MAX];

    return seam_filter_matches(filter, found, bytes_before(part, n_before, room), n_before,
                               part->bytes, (uint32_t)least(part->len, seam_len));
}

/* Apart, as few places come so far. */
__attribute__((noinline)) static bool crosses(const struct seam_filter *filter,
                                              const struct sl_stream_part *part, uint32_t seam_len)
{
    const uint32_t nearest = (uint32_t)least(part->known, SEAM_BYTES);
    uint8_t room[RUN_SEAM_MAX];
    const uint32_t found = seam_filter_look(filter, bytes_before(part, nearest, room), nearest,
                                            part->bytes, (uint32_t)least(part->len, SEAM_BYTES));

    return found != 0 && matches(filter, found, part, seam_len);
}

bool stream_seam_crosses(const struct run_seams *seams, const struct sl_stream_part *part,
                         uint32_t half)
{
    const struct seam_filter *const filter = seams->filter[half];

    if (part->known == 0 || part->len == 0)
        return false;
    if (filter == NULL)
        return true;
    if (part->before->len > 1 && part->len > 1 &&
        !seam_pairs_pass(seam_filter_pairs(filter),
                         seam_pair_at(part->before->bytes + part->before->len - 2, part->bytes)))
        return false;
    return crosses(filter, part, seams->len);
}

/* ---- many places ------------------------------------------------------------------------------
 *
 * What decides lies in memory that was left long ago. So many places are looked at together: each
 * step fetches what the next one reads. A set has bit i for record i. */

struct seam_places {
    const struct seam_filter *const *filter; /* of each half */
    const struct stream_record *record;
    const struct sl_stream_part *part;
    uint32_t pair[STREAM_SEAMS_MAX];  /* the bytes that the first look is at */
    uint32_t found[STREAM_SEAMS_MAX]; /* by the second */
};

static inline const struct seam_filter *filter_of(const struct seam_places *places, uint32_t i)
{
    return places->filter[places->record[i].half];
}

static inline const uint8_t *end_before(const struct sl_stream_part *part)
{
    return part->before->bytes + part->before->len;
}

/* Whether all looks have their bytes in the part and the one before it. */
static inline bool is_usual(const struct seam_places *places, uint32_t i)
{
    const struct sl_stream_part *const part = &places->part[i];

    return filter_of(places, i) != NULL && part->len >= SEAM_BYTES &&
           part->before->len >= SEAM_BYTES;
}

/* The set of usual places. What lies across others is decided at once. */
static uint32_t begin(struct seam_places *places, const struct run_seams *seams, uint32_t n,
                      uint32_t *crossed)
{
    uint32_t usual = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct sl_stream_part *const part = &places->part[i];

        if (places->record[i].kind > STREAM_COPIED || places->record[i].previous == 0)
            continue;
        if (is_usual(places, i)) {
            places->pair[i] = seam_pair_at(end_before(part) - 2, part->bytes);
            seam_pairs_fetch(seam_filter_pairs(filter_of(places, i)), places->pair[i]);
            usual |= UINT32_C(1) << i;
        } else if (stream_seam_crosses(seams, part, places->record[i].half)) {
            *crossed |= UINT32_C(1) << i;
        }
    }
    return usual;
}

static uint32_t look_at_pairs(const struct seam_places *places, uint32_t set)
{
    uint32_t passed = 0;

    for (; set != 0; set &= set - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(set);

        passed |=
            (uint32_t)seam_pairs_pass(seam_filter_pairs(filter_of(places, i)), places->pair[i])
            << i;
    }
    for (uint32_t rest = passed; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);

        seam_filter_fetch(filter_of(places, i), end_before(&places->part[i]),
                          places->part[i].bytes);
    }
    return passed;
}

static uint32_t look_closely(struct seam_places *places, uint32_t set)
{
    uint32_t passed = 0;

    for (; set != 0; set &= set - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(set);
        const uint8_t *const before = end_before(&places->part[i]);
        const uint8_t *const behind = places->part[i].bytes;

        places->found[i] = seam_filter_look(filter_of(places, i), before - SEAM_BYTES, SEAM_BYTES,
                                            behind, SEAM_BYTES);
        if (places->found[i] == 0)
            continue;
        seam_filter_fetch_places(filter_of(places, i), places->found[i], before, behind);
        passed |= UINT32_C(1) << i;
    }
    return passed;
}

uint32_t stream_seams_find(const struct run_seams *seams, const struct stream_record *record,
                           const struct sl_stream_part *part, uint32_t n)
{
    struct seam_places places;
    uint32_t crossed = 0;

    places.filter = seams->filter;
    places.record = record;
    places.part = part;
    uint32_t set =
        look_closely(&places, look_at_pairs(&places, begin(&places, seams, n, &crossed)));

    for (; set != 0; set &= set - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(set);

        if (matches(filter_of(&places, i), places.found[i], &part[i], seams->len))
            crossed |= UINT32_C(1) << i;
    }
    return crossed;
}
