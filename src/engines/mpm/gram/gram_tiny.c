/* SPDX-License-Identifier: MIT */
/* Classes of tiny literals. A filter passes a place where each byte is some literal's of one class,
 * even if they are different literals' bytes. So literals that share bytes belong together, and
 * those with frequent bytes apart. Each literal, the most frequent first, joins the class that then
 * passes the least more on trial. */
#include <stdlib.h>

#include "gram_draft.h"

enum { TRIALS = 4096, WORDS = TRIALS / 64 };

/* Places of texts, and which of them have a byte: a bit each. */
struct trials {
    uint8_t byte[TRIALS][GRAM_TINY_MAX];
    uint64_t with[GRAM_TINY_MAX][256][WORDS];
    uint64_t all[WORDS];
};

struct class
{
    uint64_t met[GRAM_TINY_MAX][WORDS]; /* trials with a byte of its literals */
    uint32_t n_met;                     /* that pass */
    uint32_t n, min_len;
    uint32_t n_of[GRAM_TINY_MAX][GRAM_TINY_KEYS]; /* literals, by the key that a byte would make */
};

/* A literal, by its draft. */
struct tiny {
    struct gram_draft *draft;
    const struct mpm_key *key;
    uint32_t n_met;
    uint32_t class_number;
};

static void make_trials(struct trials *trials, const struct gram_model *model)
{
    _Static_assert((int)GRAM_TINY_MAX == 3, "a trial has three bytes");
    memset(trials->all, 0xFF, sizeof trials->all);
    gram_model_trials(model, trials->byte, TRIALS);
    for (uint32_t i = 0; i < TRIALS; i++)
        for (int k = 0; k < GRAM_TINY_MAX; k++)
            trials->with[k][trials->byte[i][k]][i / 64] |= UINT64_C(1) << i % 64;
}

/* Trials with the literal's byte; all where it has none. */
static const uint64_t *with_byte(const struct trials *trials, const struct mpm_key *key, uint32_t k)
{
    return k < key->len ? trials->with[k][key->folded[k]] : trials->all;
}

/* The trials that pass a class with this literal. */
static uint32_t count_met(const struct trials *trials, const struct class *class,
                          const struct mpm_key *key)
{
    const uint64_t *first = with_byte(trials, key, 0), *second = with_byte(trials, key, 1),
                   *third = with_byte(trials, key, 2);
    uint32_t n = 0;

    for (int i = 0; i < WORDS; i++)
        n += (uint32_t)__builtin_popcountll((class->met[0][i] | first[i]) &
                                            (class->met[1][i] | second[i]) &
                                            (class->met[2][i] | third[i]));
    return n;
}

/* Where it adds the least; of several, the one with the fewest literals. */
static uint32_t choose_class(const struct trials *trials, const struct class *classes,
                             const struct mpm_key *key)
{
    uint32_t best = 0, least = UINT32_MAX;

    for (uint32_t i = 0; i < GRAM_TINY_CLASSES; i++) {
        const uint32_t more = count_met(trials, &classes[i], key) - classes[i].n_met;

        if (more < least || (more == least && classes[i].n < classes[best].n)) {
            best = i;
            least = more;
        }
    }
    return best;
}

static void join_class(const struct trials *trials, struct class *class, const struct mpm_key *key)
{
    class->n_met = count_met(trials, class, key);
    class->min_len = class->n++ == 0 || key->len < class->min_len ? key->len : class->min_len;
    for (uint32_t k = 0; k < GRAM_TINY_MAX; k++) {
        const uint64_t *with = with_byte(trials, key, k);

        for (int i = 0; i < WORDS; i++)
            class->met[k][i] |= with[i];
        if (k < key->len)
            class->n_of[k][gram_tiny_key(0, key->folded[k])]++;
    }
}

/* The byte that all its literals have, by which the fewest are verified where a trial passes. */
static uint8_t choose_byte(const struct trials *trials, const struct class *class)
{
    uint64_t least = UINT64_MAX;
    uint8_t best = 0;

    for (uint32_t k = 0; k < class->min_len; k++) {
        uint64_t work = 0;

        for (uint32_t i = 0; i < TRIALS; i++)
            if ((class->met[0][i / 64] & class->met[1][i / 64] & class->met[2][i / 64] &
                 UINT64_C(1) << i % 64) != 0)
                work += class->n_of[k][gram_tiny_key(0, trials->byte[i][k])];
        for (uint32_t i = 0; i < GRAM_TINY_KEYS; i++)
            work += (uint64_t) class->n_of[k][i] * class->n_of[k][i];
        if (work < least) {
            least = work;
            best = (uint8_t)k;
        }
    }
    return best;
}

static int compare_tiny(const void *left, const void *right)
{
    const struct tiny *a = (const struct tiny *)left, *b = (const struct tiny *)right;

    if (a->n_met != b->n_met)
        return a->n_met > b->n_met ? -1 : 1;
    return a->draft->share.first < b->draft->share.first ? -1 : 1;
}

/* Lets a literal's class and bit pass its bytes. */
static void write_bytes(struct gram_tiny *made, const struct tiny *tiny)
{
    uint32_t bytes = 0;

    for (uint32_t k = 0; k < tiny->key->len; k++)
        bytes |= (uint32_t)tiny->key->folded[k] << 8 * k;
    const uint32_t bit = gram_tiny_bit(bytes, tiny->key->len);
    made->present[bit / 32] |= UINT32_C(1) << bit % 32;
    for (uint32_t k = 0; k < GRAM_TINY_MAX; k++)
        for (uint32_t byte = 0; byte < 256; byte++)
            if (k >= tiny->key->len || mpm_fold((uint8_t)byte) == tiny->key->folded[k])
                made->classes[k][byte] |= (uint8_t)(1u << tiny->class_number);
}

static void make_classes(struct gram_tiny *made, const struct trials *trials, struct tiny *tiny,
                         uint32_t n)
{
    struct class classes[GRAM_TINY_CLASSES] = {0};

    for (uint32_t i = 0; i < n; i++)
        tiny[i].n_met = count_met(trials, &classes[0], tiny[i].key);
    qsort(tiny, n, sizeof *tiny, compare_tiny);
    for (uint32_t i = 0; i < n; i++) {
        tiny[i].class_number = choose_class(trials, classes, tiny[i].key);
        join_class(trials, &classes[tiny[i].class_number], tiny[i].key);
        write_bytes(made, &tiny[i]);
    }
    for (uint32_t i = 0; i < GRAM_TINY_CLASSES; i++)
        made->at[i] = choose_byte(trials, &classes[i]);
    for (uint32_t i = 0; i < n; i++)
        tiny[i].draft->key = gram_tiny_key(tiny[i].class_number,
                                           tiny[i].key->folded[made->at[tiny[i].class_number]]);
}

bool gram_make_tiny(struct gram_builder *builder)
{
    const uint32_t n = builder->n_of[GRAM_PLACE_TINY];

    if (n == 0)
        return true;

    struct tiny *tiny = (struct tiny *)malloc(n * sizeof *tiny);
    struct trials *trials = (struct trials *)calloc(1, sizeof *trials);
    const bool done = tiny != NULL && trials != NULL;

    if (done) {
        uint32_t found = 0;

        for (size_t i = 0; i < builder->n_drafts; i++)
            if (builder->drafts[i].place == GRAM_PLACE_TINY)
                tiny[found++] =
                    (struct tiny){.draft = &builder->drafts[i],
                                  .key = gram_share_key(builder->set, &builder->drafts[i].share)};
        make_trials(trials, &builder->model);
        make_classes(&builder->tiny, trials, tiny, found);
    }
    free(tiny);
    free(trials);
    return done;
}
