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

/* Whether a literal lies across in one of the ways that were found. */
static bool matches(const struct seam_filter *filter, uint32_t ways,
                    const struct sl_stream_part *part, uint32_t seam_len)
{
    const uint32_t n_before = (uint32_t)least(part->known, seam_len);
    uint8_t room[RUN_SEAM_MAX];

    return seam_filter_matches(filter, ways, bytes_before(part, n_before, room), n_before,
                               part->bytes, (uint32_t)least(part->len, seam_len));
}

bool stream_seam_crosses(const struct run_seams *seams, const struct sl_stream_part *part,
                         uint32_t half)
{
    const struct seam_filter *const filter = seams->filter[half];
    const uint32_t n_before = (uint32_t)least(part->known, SEAM_NEAR);
    uint8_t room[RUN_SEAM_MAX];

    if (part->known == 0 || part->len == 0)
        return false;
    if (filter == NULL)
        return true;

    const uint32_t ways = seam_filter_look(filter, bytes_before(part, n_before, room) + n_before,
                                           n_before, part->bytes, part->len);

    return ways != 0 && matches(filter, ways, part, seams->len);
}

/* ---- many places ------------------------------------------------------------------------------
 *
 * What decides lies in memory that was left long ago. So many places are looked at together: each
 * step fetches what the next one reads. A set has bit i for record i. */

struct seam_places {
    const struct stream_record *record;
    const struct sl_stream_part *part;
    const struct seam_filter *filter[2]; /* of each half */
    struct seam_near near[STREAM_SEAMS_MAX];
    uint32_t ways[STREAM_SEAMS_MAX]; /* that a look found */
};

static inline const struct seam_filter *filter_of(const struct seam_places *places, uint32_t i)
{
    return places->filter[places->record[i].half];
}

/* Whether a look has its bytes in the part and the one before it. */
static inline bool is_usual(const struct sl_stream_part *part)
{
    return part->len >= SEAM_NEAR && part->before->len >= SEAM_NEAR;
}

/* The set of usual places that the nearest bytes pass. What lies across others is decided at once.
 */
static uint32_t begin(struct seam_places *places, const struct run_seams *seams, uint32_t n,
                      uint32_t *crossed)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct sl_stream_part *const part = &places->part[i];
        const struct stream_record *const record = &places->record[i];
        const struct seam_filter *const filter = places->filter[record->half];

        if (record->previous == 0 || record->kind > STREAM_COPIED)
            continue;
        if (filter != NULL && is_usual(part)) {
            places->near[i] = seam_near_at(part->before->bytes + part->before->len, part->bytes);
            set |= seam_sets_any(seam_filter_sets(filter), places->near[i]) << i;
        } else if (stream_seam_crosses(seams, part, record->half)) {
            *crossed |= UINT32_C(1) << i;
        }
    }
    return set;
}

/* Those of a set for which a look finds ways. */
static uint32_t look(struct seam_places *places, const uint32_t set)
{
    uint32_t passed = 0;

    for (uint32_t rest = set; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);

        seam_sets_fetch(seam_filter_sets(filter_of(places, i)), places->near[i]);
    }
    for (uint32_t rest = set; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);
        const struct seam_filter *const filter = filter_of(places, i);

        places->ways[i] = seam_sets_look(seam_filter_sets(filter), places->near[i]);
        passed |= (uint32_t)(places->ways[i] != 0) << i;
    }
    for (uint32_t rest = passed; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);

        seam_filter_fetch(filter_of(places, i), places->ways[i], places->near[i]);
    }
    return passed;
}

uint32_t stream_seams_find(const struct run_seams *seams, const struct stream_record *record,
                           const struct sl_stream_part *part, uint32_t n)
{
    struct seam_places places;
    uint32_t crossed = 0;

    places.record = record;
    places.part = part;
    memcpy(places.filter, seams->filter, sizeof places.filter);
    const uint32_t passed = look(&places, begin(&places, seams, n, &crossed));

    for (uint32_t set = passed; set != 0; set &= set - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(set);

        seam_filter_fetch_places(filter_of(&places, i), places.ways[i], places.near[i]);
    }
    for (uint32_t set = passed; set != 0; set &= set - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(set);

        if (matches(filter_of(&places, i), places.ways[i], &part[i], seams->len))
            crossed |= UINT32_C(1) << i;
    }
    return crossed;
}
