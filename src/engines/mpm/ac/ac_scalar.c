/* SPDX-License-Identifier: MIT */
/* Aho-Corasick on one core. A chain of dependent loads, one a byte, leaves a core idle for most of
 * its time. So eight texts go through the rows side by side. The states are stored as they come and
 * tested afterwards. A branch on each of them would stop all eight texts whenever it is
 * mispredicted. */
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "ac.h"

enum {
    LANES = 8,
    STEPS = 64,            /* bytes of each lane a round: the bits of a word */
    SEGMENT_LEN = 1 << 15, /* bytes: longer items are cut, so that few large ones fill all lanes */
    ITEMS_AHEAD = 8,       /* how far to prefetch: items, */
    BYTES_AHEAD = 128      /* and bytes of an item */
};

_Static_assert((int)STEPS <= (int)SL_BATCH_SLACK, "a round may read this far behind an item");

/* The work of a lane: bytes pos to len - 1 of an item. It reports matches that end behind `drop`.
 */
struct lane {
    const uint8_t *text; /* the item's first byte */
    uint64_t pos;
    uint64_t len;
    uint64_t checked; /* states before this position have been tested */
    uint64_t drop;
    uint32_t item;
    bool sparse; /* matches inside runs are left out */
};

struct scan {
    struct ac_view ac;
    uint32_t reach; /* bytes before a match's last one that it may begin at */
    const struct sl_batch *batch;
    struct mpm_kinds kinds;
    struct sl_hits *hits;
    struct ac_range rest; /* to be handed out */
};

struct round {
    uint8_t text[LANES][STEPS];
    uint16_t state[LANES][STEPS]; /* behind each byte of the text */
};

static const uint8_t idle_text[STEPS];

/* Behind the last byte of the next item that is in the range. */
static uint32_t end_in_item(const struct scan *scan)
{
    const struct ac_range *rest = &scan->rest;
    const uint32_t len = scan->batch->payload[rest->first].len;

    return rest->first + 1 == rest->last && rest->to < len ? rest->to : len;
}

/* Gives a lane the next item or segment. A segment that is not first begins as far before its
 * matches as the longest literal reaches, so that it finds all of them. False, and an idle lane:
 * none is left. */
static bool next_text(struct scan *scan, struct lane *lane)
{
    const struct sl_batch *batch = scan->batch;
    struct ac_range *rest = &scan->rest;

    *lane = (struct lane){.text = idle_text};
    while (rest->first < rest->last && rest->from >= end_in_item(scan)) {
        rest->first++;
        rest->from = 0;
    }
    if (rest->first == rest->last)
        return false;

    const uint32_t end = end_in_item(scan);
    const uint32_t overlap = mpm_overlap(batch, rest->first);
    lane->item = rest->first;
    lane->sparse = mpm_is_sparse(scan->kinds, rest->first);
    lane->text = batch->bytes + batch->payload[rest->first].offset;
    lane->pos = rest->from - (rest->from < scan->reach ? rest->from : scan->reach);
    lane->drop = rest->from > overlap ? rest->from : overlap;
    lane->len = end - rest->from > 2 * SEGMENT_LEN ? rest->from + SEGMENT_LEN : end;
    rest->from = (uint32_t)lane->len;

    if (rest->first + ITEMS_AHEAD < rest->last)
        __builtin_prefetch(batch->bytes + batch->payload[rest->first + ITEMS_AHEAD].offset);
    return true;
}

/* One transition a byte, and nothing else. */
static __attribute__((noinline)) void run(const uint16_t *restrict rows,
                                          struct round *restrict round, const uint16_t first[LANES])
{
    uint64_t s0 = first[0], s1 = first[1], s2 = first[2], s3 = first[3];
    uint64_t s4 = first[4], s5 = first[5], s6 = first[6], s7 = first[7];

#define STEP(lane)                                                  \
    s##lane = rows[s##lane << AC_ROW_SHIFT | round->text[lane][i]]; \
    round->state[lane][i] = (uint16_t)s##lane
    for (size_t i = 0; i < STEPS; i++) {
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
        STEP(4);
        STEP(5);
        STEP(6);
        STEP(7);
    }
#undef STEP
}

/* Bit i: state i is not plain. */
static uint64_t find_marked(const uint16_t state[STEPS], uint32_t n_plain)
{
    uint64_t marked = 0;

#if defined(__SSE2__)
    const __m128i last_plain = _mm_set1_epi16((short)(n_plain - 1));
    const __m128i zero = _mm_setzero_si128();

    for (int i = 0; i < STEPS; i += 16) {
        const __m128i a = _mm_loadu_si128((const __m128i *)(state + i));
        const __m128i b = _mm_loadu_si128((const __m128i *)(state + i + 8));
        const __m128i plain = _mm_packs_epi16(_mm_cmpeq_epi16(_mm_subs_epu16(a, last_plain), zero),
                                              _mm_cmpeq_epi16(_mm_subs_epu16(b, last_plain), zero));
        marked |= (uint64_t)(~_mm_movemask_epi8(plain) & 0xFFFF) << i;
    }
#else
    for (int i = 0; i < STEPS; i++)
        marked |= (uint64_t)(state[i] >= n_plain) << i;
#endif
    return marked;
}

/* Whether a literal that matches here does a byte before and a byte behind, where the state is the
 * same: the literals of such a state are runs of a byte, or of both its cases. */
static bool goes_on(const struct ac_view *ac, const struct mpm_literal *literal,
                    const uint8_t *text, uint64_t end)
{
    return literal->len < end && mpm_literal_matches(literal, ac->bytes, text + end - 1) &&
           mpm_literal_matches(literal, ac->bytes, text + end + 1);
}

/* `inside`: the states a byte before and a byte behind are the same one. */
static void report(const struct scan *scan, const struct lane *lane, uint32_t group, uint64_t end,
                   bool inside)
{
    const bool sparse = inside && lane->sparse && end > lane->drop + 1;

    if (end <= lane->drop)
        return;
    while (group != MPM_NONE) {
        const struct ac_output output = scan->ac.outputs[group];

        for (uint32_t i = output.literal; i < output.end; i++) {
            const struct mpm_literal *literal = &scan->ac.literals[i];

            /* No literal of a built table is longer than what was read. */
            if (literal->len <= end &&
                mpm_literal_matches(literal, scan->ac.bytes, lane->text + end) &&
                !(sparse && goes_on(&scan->ac, literal, lane->text, end)))
                cpu_hits_append(scan->hits, lane->item, (uint32_t)end, literal->id);
        }
        group = output.suffix;
    }
}

/* The state without a row behind the byte at pos, by the state before it. MPM_NONE: there the rows
 * are right, or the text has ended. */
static uint32_t follow(const struct ac_view *ac, const struct lane *lane, uint32_t state,
                       uint64_t pos)
{
    const struct ac_record *record = &ac->records[state - ac->n_plain];

    if (pos == lane->len)
        return MPM_NONE;
    const uint8_t byte = mpm_fold(lane->text[pos]);
    return ac_has_exception(record, byte) ? ac->targets[ac_exception(record, byte)] : MPM_NONE;
}

/* Tests the state behind byte pos. Where the automaton goes on to a state without a row, it follows
 * until a state has one again. From there on the rows are right. `inside`: as report has it, if the
 * rows are. */
static void check_state(const struct scan *scan, struct lane *lane, uint32_t state, uint64_t pos,
                        bool inside)
{
    const struct ac_view *ac = &scan->ac;

    for (uint32_t before = MPM_NONE; state != MPM_NONE; pos++) {
        const struct ac_record *record = &ac->records[state - ac->n_plain];
        const uint32_t next = follow(ac, lane, state, pos + 1);

        inside = next == MPM_NONE ? inside && before == MPM_NONE : before == state && next == state;
        if (record->report != MPM_NONE)
            report(scan, lane, record->report, pos + 1, inside);
        before = state;
        state = next;
    }
    lane->checked = pos;
}

/* Whether the states before and behind are the same one. */
static bool is_inside(const uint16_t state[STEPS], uint32_t i, uint64_t left)
{
    return i > 0 && i + 1 < STEPS && i + 1 < left && state[i - 1] == state[i] &&
           state[i + 1] == state[i];
}

static void check_round(const struct scan *scan, struct lane *lane, const uint16_t state[STEPS])
{
    const uint64_t left = lane->len - lane->pos;
    uint64_t marked = find_marked(state, scan->ac.n_plain);

    if (left < STEPS)
        marked &= (UINT64_C(1) << left) - 1;
    for (; marked != 0; marked &= marked - 1) {
        const int i = __builtin_ctzll(marked);

        if (lane->pos + (uint64_t)i >= lane->checked)
            check_state(scan, lane, state[i], lane->pos + (uint64_t)i,
                        is_inside(state, (uint32_t)i, left));
    }
}

void ac_scan_range(const struct ac_view *ac, uint32_t reach, const struct sl_batch *batch,
                   struct ac_range range, struct mpm_kinds kinds, struct sl_hits *hits)
{
    struct scan scan = {
        .ac = *ac, .reach = reach, .batch = batch, .kinds = kinds, .hits = hits, .rest = range};
    struct lane lane[LANES] = {0};
    uint16_t state[LANES] = {0};
    struct round round;

    for (;;) {
        bool busy = false;

        for (int i = 0; i < LANES; i++) {
            if (lane[i].pos >= lane[i].len) {
                state[i] = 0;
                busy |= next_text(&scan, &lane[i]);
            } else {
                busy = true;
            }
            memcpy(round.text[i], lane[i].text + lane[i].pos, STEPS);
            __builtin_prefetch(lane[i].text + lane[i].pos + BYTES_AHEAD);
        }
        if (!busy)
            return;
        run(scan.ac.rows, &round, state);
        for (int i = 0; i < LANES; i++) {
            check_round(&scan, &lane[i], round.state[i]);
            state[i] = round.state[i][STEPS - 1];
            lane[i].pos += STEPS;
        }
    }
}

static enum sl_status ac_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                              struct sl_hits *hits)
{
    const struct sl_mpm_table *table = cpu->table;
    const struct ac_view ac = ac_view(table);
    const struct ac_range all = {.last = batch->n_items, .to = UINT32_MAX};

    ac_scan_range(&ac, table->max_len > 0 ? table->max_len - 1 : 0, batch, all,
                  mpm_kinds(&cpu->limits, batch), hits);
    return SL_OK;
}

CPU_BACKEND(mpm_ac_scalar, "scalar", ac_scan);
