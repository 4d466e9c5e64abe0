/* SPDX-License-Identifier: MIT */
/* Positions (Glushkov, 1961) are the sets of bytes in the expression, one for each time that a
 * repeat has its child. The automaton runs backwards: a position is active where it takes the next
 * byte and the rest of the expression matches behind. A word holds 64 of them. A position mostly
 * follows one of the two of the next lower numbers, or itself, which shifts and masks say for all
 * positions; the others have a row of bits each (Ng, Navarro and others call that limited
 * exceptions). */
#include "automaton.h"

#include <stdlib.h>
#include <string.h>

#include "syntax_tree.h"

enum {
    WORDS = 4,
    POSITIONS = 64 * WORDS,
    COPIES_MAX = POSITIONS, /* of the child of a repeat */
    VISITS_MAX = 4096       /* of nodes, in making an automaton */
};

struct positions {
    uint64_t word[WORDS];
};

struct automaton {
    uint32_t n_words;
    uint32_t reach;
    bool exact, nests, multiline, dollar_only;
    bool begins_lines;       /* matches begin where lines do, */
    bool first_byte[256];    /* and with these */
    uint8_t class_of[256];   /* of bytes that the same positions take */
    const uint64_t *takes;   /* n_words of each class */
    const uint64_t *before;  /* n_words of each exception, by its rank: positions before it */
    struct positions first;  /* begins a match */
    struct positions last;   /* ends one */
    struct positions begin;  /* is a "^" */
    struct positions dollar; /* is a "$" */
    struct positions chain, skip, loop; /* follows the one before, the one before that, itself */
    struct positions exception;         /* follows others */
    uint32_t rank[WORDS];               /* of the first exception of each word */
};

/* The known facts of a part of the tree. */
struct part {
    struct positions first, last;
    bool nullable;
};

struct maker {
    const struct syntax_tree *tree;
    bool with_anchors;
    uint32_t copies; /* at most, of a repeat's child */
    uint32_t n, n_visits;
    bool exact, too_large;
    struct positions begin, dollar;
    struct byte_set set[POSITIONS];
    struct positions follow[POSITIONS];
    struct positions before[POSITIONS]; /* those that an exception follows */
};

static bool has(const struct positions *positions, uint32_t i)
{
    return (positions->word[i / 64] >> i % 64 & 1) != 0;
}

static void set(struct positions *positions, uint32_t i)
{
    positions->word[i / 64] |= UINT64_C(1) << i % 64;
}

static void add(struct positions *to, const struct positions *from)
{
    for (size_t i = 0; i < WORDS; i++)
        to->word[i] |= from->word[i];
}

/* The next position from i on, or `n`: there is none below that. */
static uint32_t next(const struct positions *positions, uint32_t i, uint32_t n)
{
    while (i < n) {
        const uint64_t left = positions->word[i / 64] >> i % 64;

        if (left != 0)
            return i + (uint32_t)__builtin_ctzll(left) < n ? i + (uint32_t)__builtin_ctzll(left)
                                                           : n;
        i = (i / 64 + 1) * 64;
    }
    return n;
}

static bool none(const struct positions *positions)
{
    uint64_t any = 0;

    for (size_t i = 0; i < WORDS; i++)
        any |= positions->word[i];
    return any == 0;
}

static uint32_t sum(uint32_t a, uint32_t b)
{
    return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

static uint32_t product(uint32_t a, uint32_t b)
{
    return b == 0 || a < UINT32_MAX / b ? a * b : UINT32_MAX;
}

/* ---- facts of a tree ------------------------------------------------------------------------- */

/* The most bytes that it takes. */
static uint32_t tree_reach(const struct syntax_tree *tree, uint32_t at)
{
    const struct tree_node *node = &tree->node[at];
    uint32_t all = node->kind == TREE_SET;

    for (uint32_t i = node->child; i != TREE_NONE; i = tree->node[i].next) {
        const uint32_t reach = tree_reach(tree, i);

        all = node->kind == TREE_SEQUENCE ? sum(all, reach) : reach > all ? reach : all;
    }
    return node->kind == TREE_REPEAT ? product(all, node->max) : all;
}

/* How many long repeats are on one way through it. */
static uint32_t tree_repeats(const struct syntax_tree *tree, uint32_t at)
{
    enum { LONG = 16 };
    const struct tree_node *node = &tree->node[at];
    uint32_t all = 0;

    for (uint32_t i = node->child; i != TREE_NONE; i = tree->node[i].next) {
        const uint32_t repeats = tree_repeats(tree, i);

        all = node->kind == TREE_SEQUENCE ? sum(all, repeats) : repeats > all ? repeats : all;
    }
    return node->kind == TREE_REPEAT ? sum(product(all, node->max), node->max > LONG) : all;
}

/* ---- making ---------------------------------------------------------------------------------- */

static struct part make_part(struct maker *maker, uint32_t at);

static struct part empty_part(void)
{
    return (struct part){.nullable = true};
}

/* Any bytes, in the place of what there is no room for: the last position. */
static struct part make_rest(struct maker *maker)
{
    const uint32_t i = POSITIONS - 1;
    struct part part = {.nullable = true};

    if (maker->n != POSITIONS) {
        for (; maker->n < POSITIONS; maker->n++) {
            maker->set[maker->n] = (struct byte_set){{0}};
            maker->follow[maker->n] = (struct positions){{0}};
        }
        memset(&maker->set[i], 0xFF, sizeof maker->set[i]);
        set(&maker->follow[i], i);
    }
    maker->too_large = true;
    maker->exact = false;
    set(&part.first, i);
    set(&part.last, i);
    return part;
}

static struct part make_position(struct maker *maker, const struct tree_node *node)
{
    const uint32_t i = maker->n;
    struct part part = {.nullable = false};

    if (node->kind != TREE_SET && !maker->with_anchors) {
        maker->exact = false;
        return empty_part();
    }
    if (i >= POSITIONS - 1)
        return make_rest(maker);
    maker->n++;
    maker->set[i] = node->kind == TREE_SET ? node->set : (struct byte_set){{0}};
    maker->follow[i] = (struct positions){{0}};
    set(&part.first, i);
    set(&part.last, i);
    if (node->kind == TREE_BEGIN)
        set(&maker->begin, i);
    if (node->kind == TREE_END)
        set(&maker->dollar, i);
    return part;
}

/* Lets the positions of `behind` follow those of `before`. */
static void link_positions(struct maker *maker, const struct positions *before,
                           const struct positions *behind)
{
    for (uint32_t i = 0; (i = next(before, i, maker->n)) < maker->n; i++)
        add(&maker->follow[i], behind);
}

static struct part join(struct maker *maker, const struct part *a, const struct part *b)
{
    struct part both = {.first = a->first, .last = b->last, .nullable = a->nullable && b->nullable};

    link_positions(maker, &a->last, &b->first);
    if (a->nullable)
        add(&both.first, &b->first);
    if (b->nullable)
        add(&both.last, &a->last);
    return both;
}

static struct part make_sequence(struct maker *maker, const struct tree_node *node)
{
    struct part all = empty_part();

    for (uint32_t i = node->child; i != TREE_NONE; i = maker->tree->node[i].next) {
        const struct part part = make_part(maker, i);

        all = join(maker, &all, &part);
    }
    return all;
}

static struct part make_alternative(struct maker *maker, const struct tree_node *node)
{
    struct part all = {0};

    for (uint32_t i = node->child; i != TREE_NONE; i = maker->tree->node[i].next) {
        const struct part part = make_part(maker, i);

        add(&all.first, &part.first);
        add(&all.last, &part.last);
        all.nullable |= part.nullable;
    }
    return all;
}

/* How many copies a repeat has of its child. Where these are too many, the last one repeats itself,
 * and fewer than the least number will do. */
static uint32_t count_copies(struct maker *maker, const struct tree_node *node, bool *loops)
{
    const bool endless = node->max == TREE_NONE;
    const uint32_t n = !endless ? node->max : node->min != 0 ? node->min : 1;

    *loops = endless || n > maker->copies;
    if (n <= maker->copies)
        return n;
    maker->exact = false;
    if (node->min == 0)
        return 1;
    return node->min < maker->copies ? node->min : maker->copies;
}

static struct part make_repeat(struct maker *maker, const struct tree_node *node)
{
    bool loops;
    const uint32_t n = count_copies(maker, node, &loops);
    struct part copies = empty_part(), child = empty_part(), all = empty_part();

    for (uint32_t i = 0; i < n; i++) {
        child = make_part(maker, node->child);
        copies = join(maker, &copies, &child);
        if (i + 1 >= node->min || i + 1 == n)
            add(&all.last, &copies.last);
    }
    if (n != 0 && loops)
        link_positions(maker, &child.last, &child.first);
    all.first = copies.first;
    all.nullable = node->min == 0 || copies.nullable;
    return all;
}

static struct part make_part(struct maker *maker, uint32_t at)
{
    const struct tree_node *node = &maker->tree->node[at];

    if (++maker->n_visits > VISITS_MAX)
        return make_rest(maker);
    switch (node->kind) {
    case TREE_SEQUENCE:
        return make_sequence(maker, node);
    case TREE_ALTERNATIVE:
        return make_alternative(maker, node);
    case TREE_REPEAT:
        return make_repeat(maker, node);
    default:
        return make_position(maker, node);
    }
}

/* Whether anchors stand where a run looks for them: nothing before a "^", nothing behind a "$". */
static bool anchors_at_ends(const struct maker *maker)
{
    for (uint32_t i = 0; i < maker->n; i++) {
        if (has(&maker->dollar, i) && !none(&maker->follow[i]))
            return false;
        for (size_t k = 0; k < WORDS; k++)
            if ((maker->follow[i].word[k] & maker->begin.word[k]) != 0)
                return false;
    }
    return true;
}

static struct part make_all(struct maker *maker, bool with_anchors, uint32_t copies)
{
    maker->with_anchors = with_anchors;
    maker->copies = copies;
    maker->n = maker->n_visits = 0;
    maker->too_large = false;
    maker->exact = maker->tree->exact;
    maker->begin = maker->dollar = (struct positions){{0}};
    return make_part(maker, maker->tree->root);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Sets the positions that come before each one. False: no memory. */
static bool place_before(struct automaton *made, struct maker *maker, struct rule_arena *arena)
{
    struct positions *before = maker->before;
    uint32_t n_exceptions = 0;
    uint64_t *row;

    memset(before, 0, maker->n * sizeof *before);
    for (uint32_t i = 0; i < maker->n; i++)
        for (uint32_t k = 0; (k = next(&maker->follow[i], k, maker->n)) < maker->n; k++)
            if (k == i)
                set(&made->loop, k);
            else if (k == i + 1)
                set(&made->chain, k);
            else if (k == i + 2)
                set(&made->skip, k);
            else
                set(&before[k], i);
    for (uint32_t i = 0; i < maker->n; i++)
        n_exceptions += !none(&before[i]);
    made->before = row =
        rule_arena_alloc(arena, ((size_t)n_exceptions * made->n_words + 1) * sizeof *made->before);
    if (row == NULL)
        return false;
    for (uint32_t i = 0, n = 0; i < maker->n; i++) {
        if (i % 64 == 0)
            made->rank[i / 64] = n;
        if (none(&before[i]))
            continue;
        set(&made->exception, i);
        memcpy(row + (size_t)n++ * made->n_words, before[i].word, made->n_words * sizeof *row);
    }
    return true;
}

/* Sets the positions that take each byte. Neighbours often take the same, as a repeat copies them.
 */
static void find_takers(const struct maker *maker, struct positions *takers)
{
    memset(takers, 0, 256 * sizeof *takers);
    for (uint32_t i = 0; i < maker->n;) {
        const struct byte_set *bytes = &maker->set[i];
        struct positions same = {{0}};

        for (; i < maker->n && memcmp(&maker->set[i], bytes, sizeof *bytes) == 0; i++)
            set(&same, i);
        for (unsigned word = 0; word < 4; word++)
            for (uint64_t left = bytes->word[word]; left != 0; left &= left - 1)
                add(&takers[64 * word + (unsigned)__builtin_ctzll(left)], &same);
    }
}

/* Sets the classes of bytes. False: no memory. */
static bool place_classes(struct automaton *made, const struct maker *maker,
                          struct rule_arena *arena)
{
    struct positions takers[256], class[256];
    unsigned n = 0;
    uint64_t *row;

    find_takers(maker, takers);
    for (unsigned byte = 0; byte < 256; byte++) {
        const struct positions positions = takers[byte];
        unsigned i = 0;

        while (i < n && memcmp(&class[i], &positions, sizeof positions) != 0)
            i++;
        class[i] = positions;
        n += i == n;
        made->class_of[byte] = (uint8_t)i;
        for (size_t k = 0; k < WORDS; k++)
            made->first_byte[byte] |= (positions.word[k] & made->first.word[k]) != 0;
    }
    made->takes = row = rule_arena_alloc(arena, (size_t)n * made->n_words * sizeof *made->takes);
    for (unsigned i = 0; row != NULL && i < n; i++)
        memcpy(row + (size_t)i * made->n_words, class[i].word, made->n_words * sizeof *row);
    return row != NULL;
}

/* The expression may begin with an anchor, and then with any byte. */
static bool begins_with_anchor(const struct automaton *made)
{
    for (size_t i = 0; i < WORDS; i++)
        if ((made->first.word[i] & (made->begin.word[i] | made->dollar.word[i])) != 0)
            return true;
    return false;
}

/* Sets the bytes that are behind "^", where all that may begin a match is that. False: it is not.
 */
static bool place_line_first(struct automaton *made, const struct maker *maker)
{
    struct positions behind = {{0}};

    for (uint32_t i = 0; i < maker->n; i++) {
        if (has(&made->first, i) && (!has(&made->begin, i) || none(&maker->follow[i])))
            return false;
        if (has(&made->first, i))
            add(&behind, &maker->follow[i]);
    }
    memset(made->first_byte, false, sizeof made->first_byte);
    for (uint32_t i = 0; i < maker->n; i++) {
        if (has(&behind, i) && (has(&made->begin, i) || has(&made->dollar, i)))
            return false;
        for (unsigned byte = 0; has(&behind, i) && byte < 256; byte++)
            made->first_byte[byte] |= byte_set_has(&maker->set[i], byte);
    }
    return true;
}

static const struct automaton *place(struct maker *maker, const struct part *whole,
                                     struct rule_arena *arena)
{
    struct automaton *made = rule_arena_alloc(arena, sizeof *made);

    if (made == NULL)
        return NULL;
    made->n_words = maker->n <= 64 ? 1 : maker->n <= 128 ? 2 : WORDS;
    made->reach = maker->tree->looks ? UINT32_MAX : tree_reach(maker->tree, maker->tree->root);
    made->exact = maker->exact;
    made->nests = maker->tree->looks || tree_repeats(maker->tree, maker->tree->root) > 1;
    made->multiline = maker->tree->multiline;
    made->dollar_only = maker->tree->dollar_only;
    made->first = whole->first;
    made->last = whole->last;
    made->begin = maker->begin;
    made->dollar = maker->dollar;
    if (!place_before(made, maker, arena) || !place_classes(made, maker, arena))
        return NULL;
    made->begins_lines = made->multiline && place_line_first(made, maker);
    if (!made->begins_lines && begins_with_anchor(made))
        memset(made->first_byte, true, sizeof made->first_byte);
    return made;
}

bool automaton_make(struct rule_arena *arena, const char *text, size_t len, uint32_t options,
                    const struct automaton **automaton)
{
    struct syntax_tree tree;
    struct maker *maker = malloc(sizeof *maker);
    bool done = maker != NULL;

    *automaton = NULL;
    if (done && syntax_tree_read(&tree, text, len, options)) {
        uint32_t copies = COPIES_MAX;
        bool with_anchors = true;
        struct part whole;

        maker->tree = &tree;
        for (;;) {
            whole = make_all(maker, with_anchors, copies);
            if (maker->too_large && copies > 1)
                copies /= 2;
            else if (with_anchors && !anchors_at_ends(maker))
                with_anchors = false;
            else
                break;
        }
        if (!whole.nullable && maker->n != 0) {
            *automaton = place(maker, &whole, arena);
            done = *automaton != NULL;
        }
    }
    if (maker != NULL)
        free(tree.node);
    free(maker);
    return done;
}

bool automaton_is_exact(const struct automaton *automaton, bool anywhere)
{
    return automaton->exact && (!anywhere || none(&automaton->begin));
}

uint32_t automaton_reach(const struct automaton *automaton)
{
    return automaton->reach;
}

/* A match reads no more. Two bytes behind it tell whether a "$" there is at the end. */
uint32_t automaton_deciding(const struct automaton *automaton, uint32_t len, uint32_t last)
{
    enum { BEHIND = 2 };
    const uint64_t deciding = (uint64_t)last + automaton->reach + BEHIND;

    return deciding < len ? (uint32_t)deciding : len;
}

bool automaton_nests(const struct automaton *automaton)
{
    return automaton->nests;
}

uint32_t automaton_pace(const struct automaton *automaton)
{
    return 1 + automaton->n_words + automaton->n_words / 4;
}

/* The same of an automaton that begins at lines. */
static uint32_t count_lines(const struct automaton *automaton, const uint8_t *bytes, uint32_t len,
                            uint32_t most)
{
    const uint8_t *const end = bytes + len;
    uint32_t n = 0;

    while (bytes != NULL && bytes < end && n < most) {
        n += automaton->first_byte[*bytes];
        bytes = memchr(bytes, '\n', (size_t)(end - bytes));
        bytes = bytes != NULL ? bytes + 1 : NULL;
    }
    return n;
}

uint32_t automaton_count_first(const struct automaton *automaton, const uint8_t *bytes,
                               uint32_t len, uint32_t most)
{
    uint32_t n = 0;

    if (automaton->begins_lines)
        return count_lines(automaton, bytes, len, most);
    for (uint32_t i = 0; i < len && n < most; i++)
        n += automaton->first_byte[bytes[i]];
    return n;
}

/* ---- running --------------------------------------------------------------------------------- */

/* A run at a place. Inlined by force: the number of words is then a constant. */
struct run {
    const struct automaton *automaton;
    const uint8_t *bytes;
    uint32_t from, len;
    bool anywhere;
    uint64_t spent; /* on exceptions */
};

static bool begin_stands(const struct run *run, uint32_t at)
{
    return at == 0 || run->anywhere ||
           (run->automaton->multiline && at < run->len && run->bytes[at - 1] == '\n');
}

static bool dollar_stands(const struct run *run, uint32_t at)
{
    return at == run->len ||
           (run->bytes[at] == '\n' &&
            (run->automaton->multiline || (at + 1 == run->len && !run->automaton->dollar_only)));
}

/* The positions before the active ones, and those that end a match. */
__attribute__((always_inline)) static inline void step_back(struct run *run, const uint64_t *active,
                                                            uint64_t *before, uint32_t n)
{
    const struct automaton *automaton = run->automaton;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t above = i + 1 < n ? active[i + 1] : 0;

        before[i] = (active[i] & automaton->loop.word[i]) |
                    (active[i] & automaton->chain.word[i]) >> 1 |
                    (active[i] & automaton->skip.word[i]) >> 2 | automaton->last.word[i];
        if (i + 1 < n)
            before[i] |= (above & automaton->chain.word[i + 1]) << 63 |
                         (above & automaton->skip.word[i + 1]) << 62;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t exceptions = automaton->exception.word[i];

        for (uint64_t left = active[i] & exceptions; left != 0; left &= left - 1) {
            const uint64_t lower = (left & -left) - 1;
            const uint32_t rank =
                automaton->rank[i] + (uint32_t)__builtin_popcountll(exceptions & lower);

            for (uint32_t k = 0; k < n; k++)
                before[k] |= automaton->before[(size_t)rank * n + k];
            run->spent += 2 + n / 2;
        }
    }
}

__attribute__((always_inline)) static inline bool common(const uint64_t *a,
                                                         const struct positions *b, uint32_t n)
{
    uint64_t both = 0;

    for (uint32_t i = 0; i < n; i++)
        both |= a[i] & b->word[i];
    return both != 0;
}

__attribute__((always_inline)) static inline bool run_words(struct run *run, uint64_t *starts,
                                                            uint64_t *effort, uint32_t n)
{
    const struct automaton *automaton = run->automaton;
    const bool dollars = common(automaton->dollar.word, &automaton->dollar, n);
    uint64_t active[WORDS] = {0}, before[WORDS];

    for (uint32_t at = run->len;; at--) {
        if (dollars && dollar_stands(run, at))
            for (uint32_t i = 0; i < n; i++)
                active[i] |= automaton->dollar.word[i];
        step_back(run, active, before, n);
        if (common(active, &automaton->first, n) ||
            (common(before, &automaton->begin, n) && begin_stands(run, at)))
            starts[at / 64] |= UINT64_C(1) << at % 64;
        if (at == run->from || run->spent > *effort)
            break;

        const uint64_t *takes =
            automaton->takes + (size_t)automaton->class_of[run->bytes[at - 1]] * n;

        for (uint32_t i = 0; i < n; i++)
            active[i] = before[i] & takes[i];
    }
    if (run->spent > *effort)
        return false;
    *effort -= run->spent;
    return true;
}

bool automaton_run(const struct automaton *automaton, const uint8_t *bytes, uint32_t from,
                   uint32_t len, bool anywhere, uint64_t *starts, uint64_t *effort)
{
    struct run run = {automaton, bytes, from, len, anywhere, 0};
    const uint64_t least = ((uint64_t)len - from + 1) * automaton_pace(automaton);

    if (*effort < least)
        return false;
    *effort -= least;
    switch (automaton->n_words) {
    case 1:
        return run_words(&run, starts, effort, 1);
    case 2:
        return run_words(&run, starts, effort, 2);
    default:
        return run_words(&run, starts, effort, WORDS);
    }
}
