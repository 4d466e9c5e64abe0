/* SPDX-License-Identifier: MIT */
/* Building the gram matcher: windows of literals, the filter, the dictionary, and the lists of what
 * goes apart. */
#include <stdlib.h>

#include "base/diag.h"
#include "engines/mpm/ac/ac.h"
#include "gram_build.h"
#include "gram_check.h"

static const char name[] = "gram";

enum {
    APART_MAX = 4,   /* literals of a group that have entries of their own */
    SLOTS_A_KEY = 3, /* so that most keys lie where they are looked for first */
    CHEAP_KEY = 8,   /* entries of a key, */
    CHEAP_LEN = 32,  /* and bytes of a literal, that may be verified wherever a window passes */
    ROWS_CPU = 4096  /* of the automaton: 2 MiB */
};

/* An entry to be, and where it goes. */
enum place { PLACE_DICTIONARY, PLACE_TINY, PLACE_RUNS, N_PLACES };

struct draft {
    uint32_t place;
    uint32_t key; /* the dictionary's, or the list's byte */
    struct gram_share share;
    bool dear;
    uint32_t order; /* within a key, among the dear or the others */
    uint32_t run;   /* bytes of a literal that is a run; 0: it is none */
    struct gram_entry entry;
    uint32_t first;  /* what the filter sees of a window, coarsely folded: bytes 0 to 3, */
    uint32_t rest;   /* 4 and 5, */
    uint32_t known;  /* of these six as many as the literal has, */
    uint32_t before; /* and the byte before them, or 0 */
};

_Static_assert((int)CHEAP_LEN <= (int)SL_LITERAL_LEN_MAX, "some literal may be longer");

struct builder {
    const struct mpm_set *set;
    bool *dear; /* by group: the automaton has it */
    struct mpm_set in_automaton;
    struct ac_automaton *automaton;
    struct gram_model model;
    uint32_t stride;
    uint32_t words_log;
    uint32_t multiplier;
    uint32_t *words; /* the filter of that multiplier */
    struct draft *drafts;
    size_t n_drafts;
    uint64_t patterns_len;
    uint32_t n_of[N_PLACES];
    uint32_t n_in_runs;
    uint32_t n_keys;
    struct gram_slot *slots;
    uint32_t slots_log, walk_max;
    struct gram_windowed *windowed; /* what has windows */
    uint32_t n_windowed;
    struct gram_sieve_builder sieve;
};

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
static bool choose_window(const struct builder *builder, const struct mpm_key *key,
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

/* The bytes that an entry compares: as they were given where it is one literal whose case counts.
 */
static const uint8_t *pattern_of(const struct mpm_set *set, const struct gram_share *share,
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
static uint32_t take_pattern(struct builder *builder, const struct gram_share *share)
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
    const uint8_t *pattern = pattern_of(set, share, &entry.flags);

    entry.match = (entry.flags & GRAM_ENTRY_GROUP) != 0 ? share->group : key->id;
    for (uint32_t i = 0; i < 8 && from + i < key->len; i++) {
        entry.bytes |= (uint64_t)pattern[from + i] << 8 * i;
        entry.mask |= UINT64_C(0xFF) << 8 * i;
    }
    return entry;
}

static struct draft *add_draft(struct builder *builder, enum place place,
                               const struct gram_share *share, uint32_t pattern_at, uint32_t window)
{
    struct draft *draft = &builder->drafts[builder->n_drafts++];

    *draft = (struct draft){.place = place,
                            .share = *share,
                            .order = gram_share_key(builder->set, share)->len,
                            .entry = gram_make_entry(builder->set, share, pattern_at, window)};
    builder->n_of[place]++;
    return draft;
}

static void add_window(struct builder *builder, const struct gram_share *share, uint32_t pattern_at,
                       uint32_t window)
{
    const struct mpm_key *key = gram_share_key(builder->set, share);
    const uint32_t known = window_len(key, window);
    const enum gram_kind kind = gram_kind_of(window, known);
    const uint64_t bytes = window_bytes(key, window, known);
    struct draft *draft = add_draft(builder, PLACE_DICTIONARY, share, pattern_at, window);

    draft->before = (uint32_t)bytes & 0xFF;
    draft->first = (uint32_t)(bytes >> 8);
    draft->rest = (uint32_t)(bytes >> 40);
    draft->key = gram_key(kind, draft->before, draft->first, draft->rest);
    draft->known = known;
    draft->entry.kind = (uint8_t)kind;
}

/* Entries for a window of each residue. Of a group that is not large each literal has its own: they
 * need no look at the group when they match. */
static void add_windows(struct builder *builder, const struct gram_share *whole,
                        const uint32_t window[GRAM_STRIDE_MAX])
{
    const uint32_t n = whole->end - whole->first;
    const uint32_t step = n > APART_MAX ? n : 1;

    for (uint32_t first = whole->first; first < whole->end; first += step) {
        const struct gram_share share = {whole->group, first, first + step};
        const uint32_t pattern_at = take_pattern(builder, &share);

        builder->windowed[builder->n_windowed++] = (struct gram_windowed){share, pattern_at};
        for (uint32_t residue = 0; residue < builder->stride; residue++)
            add_window(builder, &share, pattern_at, window[residue]);
    }
}

/* Whether a group's literals are runs of one byte, not only of coarsely equal ones, and those whose
 * case counts are runs as they were given. */
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

static void add_group(struct builder *builder, uint32_t group)
{
    const struct gram_share whole = whole_group(builder->set, group);
    const struct mpm_key *key = gram_share_key(builder->set, &whole);
    uint32_t window[GRAM_STRIDE_MAX];
    bool found = true;

    if (key->len <= GRAM_TINY_MAX) {
        add_draft(builder, PLACE_TINY, &whole, take_pattern(builder, &whole), 0)->key =
            key->folded[0];
        return;
    }
    for (uint32_t residue = 0; residue < builder->stride; residue++)
        found &= choose_window(builder, key, residue, &window[residue]);
    if (!found && is_run_as_given(builder->set, &whole)) {
        struct draft *draft =
            add_draft(builder, PLACE_RUNS, &whole, take_pattern(builder, &whole), 0);

        draft->key = coarse(key->folded[0]);
        draft->run = key->len;
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

/* ---- layout ---------------------------------------------------------------------------------- */

static int compare_drafts(const void *left, const void *right)
{
    const struct draft *a = (const struct draft *)left;
    const struct draft *b = (const struct draft *)right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->dear != b->dear)
        return a->dear ? 1 : -1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->share.first < b->share.first ? -1 : a->share.first > b->share.first;
}

/* Whether the entries of a key begin with this draft; drafts are sorted. */
static bool begins_key(const struct builder *builder, size_t i)
{
    return i == 0 || builder->drafts[i - 1].key != builder->drafts[i].key;
}

static void count_keys(struct builder *builder)
{
    for (size_t i = 0; i < builder->n_of[PLACE_DICTIONARY]; i++)
        builder->n_keys += begins_key(builder, i);
}

uint32_t gram_log_at_least(uint64_t n)
{
    uint32_t log = 0;

    while (UINT64_C(1) << log < n)
        log++;
    return log;
}

/* Words enough that few are shared, within what a core's second-level cache holds. */
static uint32_t choose_words_log(const struct builder *builder)
{
    const uint32_t log = gram_log_at_least(4 * (uint64_t)builder->n_of[PLACE_DICTIONARY]);

    if (log < 10)
        return 10;
    return log < GRAM_WORDS_LOG_MAX ? log : GRAM_WORDS_LOG_MAX;
}

static void fill_words(struct builder *builder)
{
    uint32_t *words = builder->words;

    memset(words, 0xFF, sizeof *words << builder->words_log);
    for (size_t i = 0; i < builder->n_of[PLACE_DICTIONARY]; i++) {
        const struct draft *draft = &builder->drafts[i];
        uint32_t bits = gram_bits_of(draft->before, draft->first, draft->rest) |
                        gram_unnamed((enum gram_kind)draft->entry.kind);

        if (draft->known < 5)
            bits |= 0x00FF0000;
        words[gram_word_of(draft->first, builder->multiplier, builder->words_log)] &= ~bits;
    }
}

/* What frequent windows, in none of which a literal's begins, collide with depends on the
 * multiplier: of some, the one that lets the least pass is taken. */
static bool make_filter(struct builder *builder)
{
    static const uint32_t multipliers[] = {0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du, 0x27D4EB2Fu,
                                           0x165667B1u, 0xD35A2D97u, 0xB5297A4Du, 0x68E31DA5u};
    enum { N = sizeof multipliers / sizeof *multipliers };
    double best = 0;
    int best_at = 0;

    builder->words_log = choose_words_log(builder);
    builder->words = (uint32_t *)malloc(sizeof *builder->words << builder->words_log);
    if (builder->words == NULL)
        return false;

    struct gram_view filter = {
        .words = builder->words, .words_log = builder->words_log, .stride = builder->stride};
    for (int i = 0; i < N; i++) {
        builder->multiplier = filter.multiplier = multipliers[i];
        fill_words(builder);
        const double passing = gram_model_passing(&builder->model, &filter);
        if (i == 0 || passing < best) {
            best = passing;
            best_at = i;
        }
    }
    builder->multiplier = multipliers[best_at];
    fill_words(builder);
    return true;
}

/* The longest walk: from where a key is looked for to where it lies, or, for keys that are
 * not there, through slots marked so to the first one that is not. */
static uint32_t longest_walk(const struct gram_slot *slots, uint32_t slots_log)
{
    const uint32_t n = UINT32_C(1) << slots_log;
    uint32_t best = 0;
    uint32_t len = 0;

    /* Twice around, as a walk may go on from the last slot to the first. */
    for (uint64_t i = 0; i < 2 * (uint64_t)n; i++) {
        len = (slots[i % n].entry & GRAM_MORE) != 0 ? len + 1 : 0;
        best = len > best ? len : best;
    }
    return best + 1;
}

/* No more than GRAM_SLOTS_LOG_MAX, which would be for 33 million literals. */
static uint32_t choose_slots_log(const struct builder *builder)
{
    const uint32_t log = gram_log_at_least(SLOTS_A_KEY * (uint64_t)builder->n_keys);

    return log < GRAM_SLOTS_LOG_MIN ? GRAM_SLOTS_LOG_MIN : log;
}

static bool make_slots(struct builder *builder)
{
    const uint32_t slots_log = choose_slots_log(builder);
    struct gram_slot *slots = (struct gram_slot *)calloc((size_t)1 << slots_log, sizeof *slots);

    if (slots == NULL)
        return false;
    for (size_t i = 0; i < (size_t)1 << slots_log; i++)
        slots[i].entry = GRAM_NONE;
    for (size_t i = 0; i < builder->n_of[PLACE_DICTIONARY]; i++) {
        const uint32_t key = builder->drafts[i].key;
        uint32_t at = gram_slot_of(key, slots_log);

        if (!begins_key(builder, i))
            continue;
        while ((slots[at].entry & GRAM_NONE) != GRAM_NONE) {
            slots[at].entry |= GRAM_MORE;
            at = (at + 1) & ((UINT32_C(1) << slots_log) - 1);
        }
        slots[at] = (struct gram_slot){key, (uint32_t)i};
    }
    builder->slots = slots;
    builder->slots_log = slots_log;
    builder->walk_max = longest_walk(slots, slots_log);
    return true;
}

static void fill_present(uint32_t *present, uint32_t slots_log, const struct builder *builder)
{
    for (size_t i = 0; i < builder->n_of[PLACE_DICTIONARY]; i++) {
        const uint32_t bit = gram_slot_of(builder->drafts[i].key, slots_log + GRAM_PRESENT_LOG);

        present[bit / 32] |= UINT32_C(1) << bit % 32;
    }
}

/* Drafts from `from` on that belong to one list. */
static void fill_list(struct gram_list *list, const struct builder *builder, enum place place,
                      size_t from, uint64_t entries)
{
    size_t at = from;

    list->entries = entries + from * sizeof(struct gram_entry);
    for (uint32_t byte = 0; byte < 256; byte++) {
        list->begin[byte] = (uint32_t)(at - from);
        while (at < from + builder->n_of[place] && builder->drafts[at].key == byte)
            at++;
    }
    list->begin[256] = builder->n_of[place];
}

/* Literals are spread over eight classes, so that a first byte seldom goes with another's second.
 */
static void fill_tiny_classes(struct gram_table *body, const struct builder *builder, size_t from)
{
    for (size_t i = 0; i < builder->n_of[PLACE_TINY]; i++) {
        const struct mpm_key *key = gram_share_key(builder->set, &builder->drafts[from + i].share);
        const uint8_t class_bit =
            (uint8_t)(1u << (key->folded[0] * 7 + (key->len > 1 ? key->folded[1] : 0)) % 8);

        for (uint32_t byte = 0; byte < 256; byte++) {
            if (mpm_fold((uint8_t)byte) == key->folded[0])
                body->tiny_first[byte] |= class_bit;
            if (key->len == 1 || mpm_fold((uint8_t)byte) == key->folded[1])
                body->tiny_second[byte] |= class_bit;
        }
    }
}

static void fill_patterns(uint8_t *patterns, const struct builder *builder)
{
    for (size_t i = 0; i < builder->n_drafts; i++) {
        const struct draft *draft = &builder->drafts[i];
        uint8_t flags;

        memcpy(patterns + draft->entry.pattern, pattern_of(builder->set, &draft->share, &flags),
               draft->entry.len);
    }
}

/* What runs are looked at. */
static void fill_run(struct gram_table *body, const struct draft *draft)
{
    const uint8_t run = (uint8_t)(draft->run < 255 ? draft->run : 255);

    for (uint32_t byte = 0; byte < 256; byte++)
        if (gram_fold4(byte) == draft->key &&
            (body->run_min[byte] == 0 || run < body->run_min[byte]))
            body->run_min[byte] = run;
}

static void fill_entries(struct gram_table *body, const struct builder *builder)
{
    struct gram_entry *entries = (struct gram_entry *)((uint8_t *)body + body->entries);
    size_t from[N_PLACES + 1] = {0};

    for (size_t i = 0; i < builder->n_drafts; i++) {
        const struct draft *draft = &builder->drafts[i];
        const struct draft *next = i + 1 < builder->n_drafts ? draft + 1 : NULL;

        entries[i] = draft->entry;
        if (next == NULL || next->place != draft->place || next->key != draft->key)
            entries[i].flags |= GRAM_ENTRY_LAST;
        if (draft->dear)
            entries[i].flags |= GRAM_ENTRY_DEAR;
        body->n_cheap += !draft->dear;
        if (draft->run != 0)
            fill_run(body, draft);
    }
    for (int place = 0; place < N_PLACES; place++)
        from[place + 1] = from[place] + builder->n_of[place];
    fill_list(&body->tiny, builder, PLACE_TINY, from[PLACE_TINY], body->entries);
    fill_list(&body->runs, builder, PLACE_RUNS, from[PLACE_RUNS], body->entries);
    fill_tiny_classes(body, builder, from[PLACE_TINY]);
}

static struct sl_mpm_table *make_table(struct builder *builder, enum sl_device_kind device)
{
    const uint32_t *n_of = builder->n_of;
    struct gram_table head = {.stride = builder->stride,
                              .words_log = builder->words_log,
                              .multiplier = builder->multiplier,
                              .slots_log = builder->slots_log,
                              .walk_max = builder->walk_max,
                              .n_in_runs = builder->n_in_runs,
                              .n_entries = (uint32_t)builder->n_drafts,
                              .n_in_dictionary = n_of[PLACE_DICTIONARY],
                              .patterns_len = builder->patterns_len,
                              .n_tiny = n_of[PLACE_TINY],
                              .n_runs = n_of[PLACE_RUNS]};
    uint64_t end = sizeof head;

    head.words = mpm_place(&end, sizeof(uint32_t) << head.words_log);
    head.slots = mpm_place(&end, sizeof(struct gram_slot) << head.slots_log);
    head.present = mpm_place(&end, sizeof(uint32_t) << (head.slots_log + GRAM_PRESENT_LOG - 5));
    head.entries = mpm_place(&end, builder->n_drafts * sizeof(struct gram_entry));
    head.patterns = mpm_place(&end, builder->patterns_len);
    if (device == SL_DEVICE_CUDA)
        head.sieve = gram_sieve_place(&builder->sieve, &end);
    head.automaton = mpm_place(&end, ac_automaton_len(builder->automaton));

    struct sl_mpm_table *table =
        mpm_table_create(builder->set, name, builder->in_automaton.n_states, end);
    if (table == NULL)
        return NULL;
    struct gram_table *body = (struct gram_table *)((uint8_t *)table + table->body);
    *body = head;
    memcpy((uint8_t *)body + body->words, builder->words, sizeof(uint32_t) << head.words_log);
    memcpy((uint8_t *)body + body->slots, builder->slots, sizeof *builder->slots << head.slots_log);
    fill_present((uint32_t *)((uint8_t *)body + body->present), head.slots_log, builder);
    fill_entries(body, builder);
    fill_patterns((uint8_t *)body + body->patterns, builder);
    if (head.sieve != 0)
        gram_sieve_write(&builder->sieve, body);
    ac_automaton_write(builder->automaton, (struct ac_table *)((uint8_t *)body + body->automaton));
    return table;
}

/* ---- what may be dear ------------------------------------------------------------------------ */

/* Literals that could cost much wherever a window passes: long ones, large groups, those without
 * windows, and all of a key that has many. */
static void find_dear(struct builder *builder)
{
    const struct draft *drafts = builder->drafts;

    for (size_t i = 0, end; i < builder->n_drafts; i = end) {
        for (end = i + 1; end < builder->n_drafts && drafts[end].place == drafts[i].place &&
                          drafts[end].key == drafts[i].key;)
            end++;
        for (size_t k = i; k < end; k++)
            builder->dear[drafts[k].share.group] |=
                drafts[k].place != PLACE_DICTIONARY || end - i > CHEAP_KEY ||
                drafts[k].entry.len > CHEAP_LEN || (drafts[k].entry.flags & GRAM_ENTRY_GROUP) != 0;
    }
}

/* Drafts are sorted, and again then. A GPU's automaton has all literals: there, what is given up is
 * left to it alone. */
static bool make_automaton(struct builder *builder, enum sl_device_kind device,
                           struct sl_diag *diag)
{
    const bool on_gpu = device == SL_DEVICE_CUDA;

    if (on_gpu || builder->walk_max > GRAM_WALK_USUAL)
        memset(builder->dear, true, builder->set->n_groups);
    else
        find_dear(builder);
    for (size_t i = 0; i < builder->n_drafts; i++)
        builder->drafts[i].dear = builder->dear[builder->drafts[i].share.group];
    if (builder->n_drafts > 1)
        qsort(builder->drafts, builder->n_drafts, sizeof *builder->drafts, compare_drafts);
    if (!mpm_set_pick(&builder->in_automaton, builder->set, builder->dear))
        return false;
    builder->automaton =
        ac_automaton_create(&builder->in_automaton, on_gpu ? AC_ROWS_MAX : ROWS_CPU, diag);
    return builder->automaton != NULL;
}

/* ---- build ----------------------------------------------------------------------------------- */

static bool builder_init(struct builder *builder, const struct mpm_set *set,
                         const struct sl_mpm_config *config)
{
    const size_t n_drafts = (size_t)set->n_literals * GRAM_STRIDE_MAX;

    builder->set = set;
    builder->dear = (bool *)calloc(set->n_groups + (size_t)1, sizeof *builder->dear);
    builder->stride = GRAM_STRIDE_MAX;
    builder->drafts = (struct draft *)malloc((n_drafts + 1) * sizeof *builder->drafts);
    builder->windowed =
        (struct gram_windowed *)malloc(((size_t)set->n_literals + 1) * sizeof *builder->windowed);
    return builder->dear != NULL && builder->drafts != NULL && builder->windowed != NULL &&
           gram_model_init(&builder->model, config->sample);
}

static bool make_sieve(struct builder *builder, enum sl_device_kind device)
{
    return device != SL_DEVICE_CUDA ||
           gram_sieve_build(&builder->sieve, builder->set, &builder->model, builder->windowed,
                            builder->n_windowed);
}

static enum sl_status gram_build(struct sl_mpm_table **table, const struct mpm_set *set,
                                 const struct sl_mpm_config *config, struct sl_diag *diag)
{
    struct builder builder = {0};
    struct sl_mpm_table *made = NULL;

    if (builder_init(&builder, set, config)) {
        for (uint32_t group = 0; group < set->n_groups; group++)
            add_group(&builder, group);
        qsort(builder.drafts, builder.n_drafts, sizeof *builder.drafts, compare_drafts);
        count_keys(&builder);
        if (make_slots(&builder) && make_automaton(&builder, config->device, diag) &&
            make_filter(&builder) && make_sieve(&builder, config->device))
            made = make_table(&builder, config->device);
    }
    ac_automaton_free(builder.automaton);
    mpm_set_clear(&builder.in_automaton);
    free(builder.dear);
    free(builder.slots);
    free(builder.words);
    free(builder.windowed);
    gram_sieve_clear(&builder.sieve);
    gram_model_clear(&builder.model);
    free(builder.drafts);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the windows of %u literals",
                        set->n_literals);
    *table = made;
    return SL_OK;
}

extern const struct sl_backend mpm_gram_cuda;
extern const struct sl_backend mpm_gram_avx512;
extern const struct sl_backend mpm_gram_avx2;
extern const struct sl_backend mpm_gram_scalar;
extern const struct sl_backend mpm_gram_tiled;

static const struct sl_backend *const backends[] = {
    &mpm_gram_cuda, &mpm_gram_avx512, &mpm_gram_avx2, &mpm_gram_scalar, &mpm_gram_tiled, NULL};

static const struct sl_engine engine = {.name = "mpm.gram", .backends = backends};

extern const struct mpm_algorithm mpm_gram;
const struct mpm_algorithm mpm_gram = {
    .name = name, .build = gram_build, .check = gram_check, .engine = &engine};
