/* SPDX-License-Identifier: MIT */
/* DYNABYTE's next state, found by trying states on earlier traffic.
 *
 * A sample is scanned as a batch is, so the positions that a state would have chosen are known.
 * Frequencies of bytes are far from that. Markers lie side by side, at places that the skip passes
 * over, or in items too short for a second one. */
#include "dynabyte_search.h"

enum {
    USUAL_MARKERS = 8, /* the paper's k */
    TRIED_SKIPS = 8,
    LONGEST_ITEM = DYNABYTE_SAMPLE_BYTES,
    SAMPLE_LEN = 3 * DYNABYTE_SAMPLE_BYTES, /* bytes: items are taken whole */
    SAMPLE_ITEMS = 1 << 12
};

static const double close_enough = 0.002; /* of the distance: no other skip is tried */
static const double unreached = 0.05;     /* of the distance: other markers are tried */

/* ---- samples --------------------------------------------------------------------------------- */

enum sl_status dynabyte_sample_create(struct dynabyte_sample *sample, struct sl_diag *diag)
{
    return sl_batch_create(&sample->items, SAMPLE_LEN, SAMPLE_ITEMS, diag);
}

void dynabyte_sample_free(struct dynabyte_sample *sample)
{
    sl_batch_free(sample->items);
}

void dynabyte_sample_reset(struct dynabyte_sample *sample)
{
    sl_batch_reset(sample->items);
    sample->eligible = 0;
}

void dynabyte_sample_add(struct dynabyte_sample *sample, uint32_t window,
                         const struct sl_batch *batch, uint32_t item)
{
    const struct sl_span span = batch->payload[item];
    const uint32_t len = span.len < LONGEST_ITEM ? span.len : LONGEST_ITEM;
    const uint16_t overlap = batch->has_overlap ? batch->overlap[item] : 0;
    uint32_t first, end;

    if (!sl_batch_fits(sample->items, len))
        return;
    item = sl_batch_add(sample->items, batch->bytes + span.offset, len, overlap);
    dynabyte_find_eligible(window, sample->items, item, &first, &end);
    sample->eligible += end - first;
}

static samplebyte_scan *best_scan(void)
{
    char why[SL_WHY_LEN];

    if (samplebyte_avx512_usable(why))
        return samplebyte_scan_avx512;
    return samplebyte_avx2_usable(why) ? samplebyte_scan_avx2 : samplebyte_scan_scalar;
}

uint64_t dynabyte_sample_hits(const struct dynabyte_sample *sample, uint32_t window, uint32_t first,
                              const struct sl_dynabyte_state *state)
{
    const struct sl_sampling_table head = {.window = window};
    struct sl_batch items = *sample->items;
    struct sl_hits hits = {.cap = 0};
    struct samplebyte_marks marks;

    items.payload += first;
    items.overlap += first;
    items.n_items -= first;
    samplebyte_marks_set(&marks, state);
    best_scan()(&head, &marks, &items, &hits);
    return hits.n;
}

/* ---- trying ---------------------------------------------------------------------------------- */

/* How many times as many positions as wanted a state chooses. */
static double try_state(const struct dynabyte_search *search, const struct sl_dynabyte_state *state)
{
    uint64_t n_hits = 0, eligible = 0;

    for (int i = 0; i < search->n_samples; i++) {
        n_hits += dynabyte_sample_hits(search->samples[i], search->window, 0, state);
        eligible += search->samples[i]->eligible;
    }
    return (double)n_hits * search->distance / (double)eligible;
}

/* How far from 1, as a factor less 1. */
static double off(double ratio)
{
    return ratio > 1 ? ratio - 1 : 1 / ratio - 1;
}

static uint32_t fixed_point(double skip)
{
    return (uint32_t)(skip * 256 + 0.5);
}

static double clamp(double least, double value, double most)
{
    return value < least ? least : value > most ? most : value;
}

static uint32_t usual_skip(const struct dynabyte_search *search)
{
    return search->period / 2;
}

/* Chooses the skip with which the markers come nearest to the distance. Returns the error of the
 * last skip tried, between skips that are too short and too long. */
static double choose_skip(const struct dynabyte_search *search, struct sl_dynabyte_state *state)
{
    const uint32_t quarter = search->period / 4;
    const double least = search->raise ? quarter : usual_skip(search);
    const double most = 2 * search->distance;
    double too_short = least - 1, too_long = most + 1;
    double skip = clamp(least, state->skip / 256.0, most);
    double best_ratio = 0;
    uint32_t best = fixed_point(skip);

    for (int i = 0; i < TRIED_SKIPS; i++) {
        state->skip = fixed_point(skip);
        const double ratio = try_state(search, state);
        if (off(ratio) < off(best_ratio)) {
            best_ratio = ratio;
            best = state->skip;
        }
        if (off(ratio) < close_enough)
            break;
        if (ratio > 1)
            too_short = skip;
        else
            too_long = skip;
        skip = clamp(least, skip + search->distance - search->distance / ratio, most);
        if (skip <= too_short || skip >= too_long)
            skip = (too_short + too_long) / 2;
        if (skip < least || skip > most || fixed_point(skip) == state->skip)
            break;
    }
    state->skip = best;
    return best_ratio;
}

/* ---- markers --------------------------------------------------------------------------------- */

/* Byte values, the most frequent first. */
struct ranking {
    uint8_t byte[256];
    uint32_t n; /* values that occurred */
};

/* A run of one byte counts once. Behind a skip the run has ended, or all of it is at hand, so the
 * next event is a run. */
static void count_runs(const struct dynabyte_search *search, const struct sl_batch *items,
                       uint64_t n_of_byte[256])
{
    for (uint32_t item = 0; item < items->n_items; item++) {
        const uint8_t *bytes = items->bytes + items->payload[item].offset;
        uint32_t first, end;

        dynabyte_find_eligible(search->window, items, item, &first, &end);
        for (uint32_t i = first; i < end; i++)
            n_of_byte[bytes[i]] += i == first || bytes[i] != bytes[i - 1];
    }
}

/* Of two that are as frequent, the lower one comes first. */
static void rank_bytes(const struct dynabyte_search *search, struct ranking *ranking)
{
    uint64_t n_of_byte[256] = {0};

    for (int i = 0; i < search->n_samples; i++)
        count_runs(search, search->samples[i]->items, n_of_byte);
    ranking->n = 0;
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t at = ranking->n;

        if (n_of_byte[byte] == 0)
            continue;
        for (; at > 0 && n_of_byte[ranking->byte[at - 1]] < n_of_byte[byte]; at--)
            ranking->byte[at] = ranking->byte[at - 1];
        ranking->byte[at] = (uint8_t)byte;
        ranking->n++;
    }
}

struct choice {
    uint32_t first, n; /* ranks */
};

static struct sl_dynabyte_state state_of(const struct dynabyte_search *search,
                                         const struct ranking *ranking, struct choice choice)
{
    struct sl_dynabyte_state state = {.skip = 256 * usual_skip(search)};

    for (uint32_t i = choice.first; i < choice.first + choice.n; i++)
        state.marker[ranking->byte[i] / 32] |= 1u << ranking->byte[i] % 32;
    return state;
}

/* Whether these ranks as markers would reach the rate with the usual skip. */
static bool suffice(const struct dynabyte_search *search, const struct ranking *ranking,
                    uint32_t first, uint32_t n)
{
    const struct sl_dynabyte_state state = state_of(search, ranking, (struct choice){first, n});

    return try_state(search, &state) >= 1;
}

/* As few of the most frequent as suffice, n or more; all where they do not. */
static uint32_t choose_more(const struct dynabyte_search *search, const struct ranking *ranking,
                            uint32_t n)
{
    uint32_t most = ranking->n;

    while (n < most) {
        const uint32_t middle = n + (most - n) / 2;

        if (suffice(search, ranking, 0, middle))
            most = middle;
        else
            n = middle + 1;
    }
    return n;
}

/* The first of the rarest n neighbours that suffice, as the most frequent n do. */
static uint32_t choose_rarer(const struct dynabyte_search *search, const struct ranking *ranking,
                             uint32_t n)
{
    uint32_t first = 0, last = ranking->n - n;

    while (first < last) {
        const uint32_t middle = last - (last - first) / 2;

        if (suffice(search, ranking, middle, n))
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

/* The rarest eight neighbours in rank that suffice. More, where the first eight do not suffice.
 * Fewer, where items are so short that no skip thins them out and no rarer ones exist. */
static struct choice choose_ranks(const struct dynabyte_search *search,
                                  const struct ranking *ranking)
{
    struct choice choice = {.n = ranking->n < USUAL_MARKERS ? ranking->n : USUAL_MARKERS};

    if (!suffice(search, ranking, 0, choice.n)) {
        if (search->raise)
            choice.n = choose_more(search, ranking, choice.n);
        return choice;
    }
    choice.first = choose_rarer(search, ranking, choice.n);
    while (choice.n > 1 && choice.first + choice.n == ranking->n &&
           suffice(search, ranking, choice.first + 1, choice.n - 1)) {
        choice.first++;
        choice.n--;
    }
    return choice;
}

/* The next that do not suffice with the usual skip: a shorter one may come nearer. */
static struct choice next_rarer(const struct ranking *ranking, struct choice choice)
{
    if (choice.n > USUAL_MARKERS)
        choice.n--;
    else if (choice.first + choice.n < ranking->n)
        choice.first++;
    else if (choice.n > 1)
        choice = (struct choice){choice.first + 1, choice.n - 1};
    return choice;
}

/* Returns how near they come, by the best skip. */
static double choose_markers(const struct dynabyte_search *search, struct sl_dynabyte_state *state)
{
    struct ranking ranking;

    rank_bytes(search, &ranking);
    const struct choice choice = choose_ranks(search, &ranking);
    *state = state_of(search, &ranking, choice);
    const double ratio = choose_skip(search, state);
    if (off(ratio) < unreached)
        return ratio;

    struct sl_dynabyte_state rarer = state_of(search, &ranking, next_rarer(&ranking, choice));
    const double rarer_ratio = choose_skip(search, &rarer);
    if (off(rarer_ratio) >= off(ratio))
        return ratio;
    *state = rarer;
    return rarer_ratio;
}

/* Content is found again only by the markers that sampled it before. So they change when the skip
 * alone cannot bring the rate and others come at least twice as near. They also change when a check
 * is due and finds them far too frequent: a long skip hides where content begins. */
void dynabyte_search(const struct dynabyte_search *search, struct sl_dynabyte_state *state)
{
    const double ratio = choose_skip(search, state);
    const bool change =
        search->begins || (search->checks && state->skip > fixed_point(0.75 * search->period));
    struct sl_dynabyte_state other;

    if (!change && off(ratio) < unreached)
        return;
    const double other_ratio = choose_markers(search, &other);
    if (change || off(other_ratio) < off(ratio) / 2)
        *state = other;
}
