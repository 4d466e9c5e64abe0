/* SPDX-License-Identifier: MIT */
/* Chooses the windows of literals, and drafts their entries. */
#include "gram_draft.h"

enum { APART_MAX = 4 }; /* literals of a group that have entries of their own */

/* ---- windows --------------------------------------------------------------------------------- */

static uint8_t coarse(uint8_t folded)
{
    return (uint8_t)gram_fold4(folded);
}

/* Bytes of a window that the literal has. */
static uint32_t window_len(const struct mpm_key *key, uint32_t at)
{
    const uint32_t left = key->len - at;

    return left < GRAM_WINDOW ? left : GRAM_WINDOW;
}

/* They, behind the one before the window, or 0; the first lowest. */
static uint64_t window_bytes(const struct mpm_key *key, uint32_t at, uint32_t len)
{
    uint64_t bytes = at > 0 ? coarse(key->folded[at - 1]) : 0;

    for (uint32_t i = 0; i < len; i++)
        bytes |= (uint64_t)coarse(key->folded[at + i]) << 8 * (i + 1);
    return bytes;
}

bool gram_is_run(const uint8_t *folded, uint32_t len)
{
    for (uint32_t i = 1; i < len; i++)
        if (coarse(folded[i]) != coarse(folded[0]))
            return false;
    return true;
}

/* The cheapest window of a residue of the stride, none that with the byte before it is a run. */
static bool choose_window(const struct gram_builder *builder, const struct mpm_key *key,
                          uint32_t residue, uint32_t *window)
{
    double best = 0;
    bool found = false;

    for (uint32_t at = residue; at + GRAM_WINDOW_MIN <= key->len; at += builder->stride) {
        const uint32_t len = window_len(key, at);
        const uint64_t bytes = window_bytes(key, at, len);

        if (at > 0 ? gram_is_run(key->folded + at - 1, len + 1) : gram_is_run(key->folded, len))
            continue;

        const double cost = gram_model_cost(&builder->model, bytes, gram_kind_of(at, len));
        if (!found || cost < best) {
            found = true;
            best = cost;
            *window = at;
        }
    }
    return found;
}

/* ---- entries --------------------------------------------------------------------------------- */

static struct gram_share whole_group(const struct mpm_set *set, uint32_t group)
{
    return (struct gram_share){group, set->groups[group], set->groups[group + 1]};
}

const uint8_t *gram_pattern_of(const struct mpm_set *set, const struct gram_share *share,
                               uint8_t *flags)
{
    const struct mpm_key *key = gram_share_key(set, share);
    const struct sl_literal *literal = &set->literals[key->id];

    *flags = share->end - share->first > 1 ? GRAM_ENTRY_GROUP : 0;
    if (*flags == 0 && (literal->flags & SL_LITERAL_NOCASE) == 0) {
        *flags = GRAM_ENTRY_EXACT;
        return literal->bytes;
    }
    return key->folded;
}

/* Room for the bytes of a share, which all its entries have in common. */
static uint32_t take_pattern(struct gram_builder *builder, const struct gram_share *share)
{
    const uint64_t at = builder->patterns_len;

    builder->patterns_len +=
        (gram_share_key(builder->set, share)->len + UINT64_C(7)) & ~UINT64_C(7);
    return (uint32_t)at;
}

/* An entry that compares eight bytes as much of which as possible lies in the literal. */
struct gram_entry gram_make_entry(const struct mpm_set *set, const struct gram_share *share,
                                  uint32_t pattern_at, uint32_t window)
{
    const struct mpm_key *key = gram_share_key(set, share);
    const uint32_t latest = key->len > 8 ? key->len - 8 : 0;
    const uint32_t from = window < latest ? window : latest;
    struct gram_entry entry = {.pattern = pattern_at,
                               .window = (uint16_t)window,
                               .len = (uint16_t)key->len,
                               .lead = (uint16_t)(window - from)};
    const uint8_t *pattern = gram_pattern_of(set, share, &entry.flags);

    entry.match = (entry.flags & GRAM_ENTRY_GROUP) != 0 ? share->group : key->id;
    for (uint32_t i = 0; i < 8 && from + i < key->len; i++) {
        entry.bytes |= (uint64_t)pattern[from + i] << 8 * i;
        entry.mask |= UINT64_C(0xFF) << 8 * i;
    }
    return entry;
}

static struct gram_draft *add_draft(struct gram_builder *builder, enum gram_place place,
                                    const struct gram_share *share, uint32_t pattern_at,
                                    uint32_t window)
{
    struct gram_draft *draft = &builder->drafts[builder->n_drafts++];

    *draft = (struct gram_draft){.place = (uint8_t)place,
                                 .share = *share,
                                 .pattern_at = pattern_at,
                                 .window = (uint16_t)window,
                                 .len = (uint16_t)gram_share_key(builder->set, share)->len};
    builder->n_of[place]++;
    return draft;
}

struct gram_window gram_window_of(const struct mpm_set *set, const struct gram_share *share,
                                  uint32_t window)
{
    const struct mpm_key *key = gram_share_key(set, share);
    const uint32_t known = window_len(key, window);
    const uint64_t bytes = window_bytes(key, window, known);

    return (struct gram_window){.first = (uint32_t)(bytes >> 8),
                                .rest = (uint32_t)(bytes >> 40),
                                .known = known,
                                .before = (uint32_t)bytes & 0xFF,
                                .kind = gram_kind_of(window, known)};
}

static void add_window(struct gram_builder *builder, const struct gram_share *share,
                       uint32_t pattern_at, uint32_t at)
{
    const struct gram_window window = gram_window_of(builder->set, share, at);

    add_draft(builder, GRAM_PLACE_DICTIONARY, share, pattern_at, at)->key =
        gram_key(window.kind, window.before, window.first, window.rest);
}

/* Entries for a window of each residue. Of a group that is not large each literal has its own: a
 * match of it needs no read of the group. */
static void add_windows(struct gram_builder *builder, const struct gram_share *whole,
                        const uint32_t window[GRAM_STRIDE_MAX])
{
    const uint32_t n = whole->end - whole->first;
    const uint32_t step = n > APART_MAX ? n : 1;

    for (uint32_t first = whole->first; first < whole->end; first += step) {
        const struct gram_share share = {whole->group, first, first + step};
        const uint32_t pattern_at = take_pattern(builder, &share);

        if (builder->windowed != NULL)
            builder->windowed[builder->n_windowed++] = (struct gram_windowed){share, pattern_at};
        for (uint32_t residue = 0; residue < builder->stride; residue++)
            add_window(builder, &share, pattern_at, window[residue]);
    }
}

/* Whether a group's literals are runs of one byte, not only of coarsely equal ones. Literals whose
 * case counts must be runs as they were given. */
static bool is_run_as_given(const struct mpm_set *set, const struct gram_share *group)
{
    const struct mpm_key *key = gram_share_key(set, group);

    if (memcmp(key->folded, key->folded + 1, key->len - 1) != 0)
        return false;
    for (uint32_t k = group->first; k < group->end; k++) {
        const struct sl_literal *literal = &set->literals[set->keys[k].id];

        if ((literal->flags & SL_LITERAL_NOCASE) == 0 &&
            memcmp(literal->bytes, literal->bytes + 1, literal->len - 1) != 0)
            return false;
    }
    return true;
}

void gram_add_group(struct gram_builder *builder, uint32_t group)
{
    const struct gram_share whole = whole_group(builder->set, group);
    const struct mpm_key *key = gram_share_key(builder->set, &whole);
    uint32_t window[GRAM_STRIDE_MAX];
    bool found = true;

    if (key->len <= GRAM_TINY_MAX) {
        (void)add_draft(builder, GRAM_PLACE_TINY, &whole, take_pattern(builder, &whole), 0);
        return;
    }
    for (uint32_t residue = 0; residue < builder->stride; residue++)
        found &= choose_window(builder, key, residue, &window[residue]);
    if (!found && is_run_as_given(builder->set, &whole)) {
        add_draft(builder, GRAM_PLACE_RUNS, &whole, take_pattern(builder, &whole), 0)->key =
            coarse(key->folded[0]);
        return;
    }
    if (!found) { /* a run in which letters change their case, and it counts: dear, and rare */
        for (uint32_t residue = 0; residue < builder->stride; residue++)
            window[residue] = residue;
        builder->n_in_runs++;
        builder->dear[group] = true;
    }
    add_windows(builder, &whole, window);
}
