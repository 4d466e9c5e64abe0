/* SPDX-License-Identifier: MIT */
/* Nodes, the rules of one name, and the values that rules share. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "names_internal.h"

/* ---- values ---------------------------------------------------------------------------------- */

enum { FIRST_SLOTS = 256 };

bool names_values_init(struct sl_names *names)
{
    names->n_values_slots = FIRST_SLOTS;
    names->values_slots = calloc(FIRST_SLOTS, sizeof *names->values_slots);
    return names->values_slots != NULL && getrandom(&names->values_seed, sizeof names->values_seed,
                                                    0) == (ssize_t)sizeof names->values_seed;
}

void names_values_free(struct sl_names *names)
{
    names_arena_free(&names->texts);
    free(names->values_slots);
}

static uint32_t values_slot(const struct sl_names *names, uint32_t action, const char *text,
                            size_t len)
{
    return (uint32_t)XXH3_64bits_withSeed(text, len, names->values_seed + action) &
           (names->n_values_slots - 1);
}

static bool grow_slots(struct sl_names *names)
{
    uint32_t *old = names->values_slots;
    const uint32_t n_old = names->n_values_slots;

    names->values_slots = calloc((size_t)n_old * 2, sizeof *old);
    if (names->values_slots == NULL) {
        names->values_slots = old;
        return false;
    }
    names->n_values_slots = n_old * 2;
    for (uint32_t i = 0; i < n_old; i++) {
        if (old[i] == 0)
            continue;
        const struct names_values *values = pool_at(&names->values, old[i] - 1);
        uint32_t to = values_slot(names, values->action, values->text, values->len);
        while (names->values_slots[to] != 0)
            to = (to + 1) & (names->n_values_slots - 1);
        names->values_slots[to] = old[i];
    }
    free(old);
    return true;
}

uint32_t names_intern(struct sl_names *names, enum sl_names_action action, const char *text,
                      size_t len)
{
    uint32_t slot, index;

    if (len > UINT32_MAX || (names->values.n > names->n_values_slots / 2 &&
                             (names->n_values_slots > UINT32_MAX / 4 || !grow_slots(names))))
        return UINT32_MAX;
    slot = values_slot(names, action, text, len);
    for (; names->values_slots[slot] != 0; slot = (slot + 1) & (names->n_values_slots - 1)) {
        const struct names_values *have = pool_at(&names->values, names->values_slots[slot] - 1);
        if (have->action == (uint32_t)action && have->len == len &&
            (len == 0 || memcmp(have->text, text, len) == 0))
            return names->values_slots[slot] - 1;
    }
    const char *kept = names_arena_add(&names->texts, text, len);
    if (kept == NULL || !pool_take(&names->values, 1, &index))
        return UINT32_MAX;
    *(struct names_values *)pool_at(&names->values, index) =
        (struct names_values){.text = kept, .len = (uint32_t)len, .action = action};
    names->values_slots[slot] = index + 1;
    return index;
}

/* -1, 0 or 1 as the value comes before, is, or comes behind the item of item_len bytes. */
static int compare_item(const char *value, size_t len, const char *item, size_t item_len)
{
    const int order = memcmp(value, item, len < item_len ? len : item_len);

    return order != 0 ? order : (len > item_len) - (len < item_len);
}

/* The values with one more, or with one less; the same index where nothing changes. */
static uint32_t change_values(struct sl_names *names, uint32_t index, const char *value, size_t len,
                              bool add)
{
    const struct names_values *values = pool_at(&names->values, index);
    const char *at = values->text, *end = at + values->len, *item_end = at;
    int order = 1;

    /* To the first item that is not before the value. */
    for (; at < end; at = item_end + 1) {
        item_end = memchr(at, '\n', (size_t)(end - at));
        order = compare_item(value, len, at, (size_t)(item_end - at));
        if (order <= 0)
            break;
    }
    if ((order == 0 && at < end) == add)
        return index;
    char *text = malloc(values->len + len + 1);
    if (text == NULL)
        return UINT32_MAX;
    const size_t before = (size_t)(at - values->text);
    size_t n = before;
    memcpy(text, values->text, before);
    if (add) {
        memcpy(text + n, value, len);
        n += len;
        text[n++] = '\n';
    } else {
        at = item_end + 1;
    }
    memcpy(text + n, at, (size_t)(end - at));
    n += (size_t)(end - at);
    index = names_intern(names, (enum sl_names_action)values->action, text, n);
    free(text);
    return index;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct names_rule *rule_at(const struct sl_names *names, uint32_t index)
{
    return pool_at(&names->rules, index);
}

static uint32_t node_size(const struct sl_names *names, uint32_t node)
{
    const struct names_rule *rule = rule_at(names, node);
    uint32_t n = 1;

    while (!rule->last) {
        rule++;
        n++;
    }
    return n;
}

void names_node_free(struct sl_names *names, uint32_t node)
{
    const uint32_t n = node_size(names, node);

    rule_at(names, node)->line = names->free_nodes[n];
    names->free_nodes[n] = node;
}

static uint32_t node_take(struct sl_names *names, uint32_t n)
{
    uint32_t node = names->free_nodes[n];

    if (node != NODE_NONE) {
        names->free_nodes[n] = rule_at(names, node)->line;
        return node;
    }
    return pool_take(&names->rules, n, &node) ? node : NODE_NONE;
}

static void count_rank(struct sl_names *names, uint32_t rank, uint64_t by)
{
    atomic_fetch_add(&names->n_ranks[rank], by);
}

/* Do they differ in nothing but values? */
static bool is_like(const struct sl_names *names, const struct names_rule *have,
                    const struct list_rule *rule)
{
    const struct names_values *values = pool_at(&names->values, have->values);

    return have->match == rule->match && have->rank == rule->rank &&
           values->action == (uint32_t)rule->action &&
           have->host_len == (rule->match == SL_NAMES_PATH ? rule->name.host_len : 0);
}

/* Is `a` better than `b`, of one name? In this order the first that applies answers. */
static bool is_before(const struct names_rule *a, const struct names_rule *b)
{
    if (a->rank != b->rank)
        return a->rank > b->rank;
    if ((a->match == SL_NAMES_EXACT) != (b->match == SL_NAMES_EXACT))
        return a->match == SL_NAMES_EXACT;
    return a->list != b->list ? a->list < b->list : a->line < b->line;
}

/* The first value of a rule as it is kept: ended by '\n'. */
static uint32_t first_values(struct sl_names *names, const struct list_rule *rule)
{
    const uint32_t none = names_intern(names, rule->action, "", 0);

    if (none == UINT32_MAX || rule->value == NULL)
        return none;
    return change_values(names, none, rule->value, rule->value_len, true);
}

static enum names_change node_copy(struct sl_names *names, uint32_t *node, uint32_t n,
                                   uint32_t replace, uint32_t values)
{
    const struct names_rule *old = rule_at(names, *node);
    const uint32_t copy = node_take(names, n);

    if (copy == NODE_NONE)
        return NAMES_NO_MEMORY;
    struct names_rule *rules = rule_at(names, copy);
    memcpy(rules, old, n * sizeof *rules);
    rules[replace].values = values;
    *node = copy;
    return NAMES_CHANGED;
}

enum names_change names_node_add(struct sl_names *names, uint32_t *node, uint32_t list,
                                 uint32_t line, const struct list_rule *rule)
{
    const uint32_t n = *node == NODE_NONE ? 0 : node_size(names, *node);
    const struct names_rule *old = n == 0 ? NULL : rule_at(names, *node);

    for (uint32_t i = 0; i < n; i++) {
        if (old[i].list != list || !is_like(names, &old[i], rule))
            continue;
        const uint32_t values =
            rule->value == NULL
                ? old[i].values
                : change_values(names, old[i].values, rule->value, rule->value_len, true);
        if (values == UINT32_MAX)
            return NAMES_NO_MEMORY;
        return values == old[i].values ? NAMES_SAME : node_copy(names, node, n, i, values);
    }
    if (n == NODE_RULES_MAX)
        return NAMES_FULL;

    struct names_rule add = {.values = first_values(names, rule),
                             .line = line,
                             .list = (uint16_t)list,
                             .match = rule->match,
                             .rank = rule->rank & 3};
    if (rule->match == SL_NAMES_PATH)
        add.host_len = rule->name.host_len & ((1U << RULE_HOST_BITS) - 1);
    const uint32_t made = add.values == UINT32_MAX ? NODE_NONE : node_take(names, n + 1);
    if (made == NODE_NONE)
        return NAMES_NO_MEMORY;
    struct names_rule *rules = rule_at(names, made);
    uint32_t to = 0;
    while (to < n && !is_before(&add, &old[to])) {
        rules[to] = old[to];
        to++;
    }
    rules[to] = add;
    if (n > to)
        memcpy(rules + to + 1, old + to, (n - to) * sizeof *rules);
    for (uint32_t i = 0; i <= n; i++)
        rules[i].last = i == n;
    *node = made;
    count_rank(names, add.rank, 1);
    return NAMES_CHANGED;
}

/* The node without its rule i. */
static enum names_change node_cut(struct sl_names *names, uint32_t *node, uint32_t n, uint32_t i)
{
    const struct names_rule *old = rule_at(names, *node);
    const uint32_t rank = old[i].rank;

    if (n == 1) {
        *node = NODE_NONE;
    } else {
        const uint32_t cut = node_take(names, n - 1);
        if (cut == NODE_NONE)
            return NAMES_NO_MEMORY;
        struct names_rule *rules = rule_at(names, cut);
        memcpy(rules, old, i * sizeof *rules);
        memcpy(rules + i, old + i + 1, (n - 1 - i) * sizeof *rules);
        rules[n - 2].last = 1;
        *node = cut;
    }
    count_rank(names, rank, (uint64_t)-1);
    return NAMES_CHANGED;
}

enum names_change names_node_remove(struct sl_names *names, uint32_t *node,
                                    const struct list_rule *rule)
{
    const uint32_t n = *node == NODE_NONE ? 0 : node_size(names, *node);
    const struct names_rule *old = n == 0 ? NULL : rule_at(names, *node);

    for (uint32_t i = 0; i < n; i++) {
        if (!is_like(names, &old[i], rule))
            continue;
        if (rule->value == NULL)
            return node_cut(names, node, n, i);
        const uint32_t values =
            change_values(names, old[i].values, rule->value, rule->value_len, false);
        if (values == UINT32_MAX)
            return NAMES_NO_MEMORY;
        if (values == old[i].values)
            continue;
        const struct names_values *left = pool_at(&names->values, values);
        return left->len == 0 ? node_cut(names, node, n, i) : node_copy(names, node, n, i, values);
    }
    return NAMES_SAME;
}
