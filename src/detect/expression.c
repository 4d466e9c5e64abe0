/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "expression.h"

#include <pcre2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "detect/automaton/automaton.h"
#include "detect/automaton/possessive.h"
#include "detect/automaton/required.h"
#include "rule.h"

enum {
    STACK_MIN = 32 << 10, /* bytes of machine code's stack */
    STACK_MAX = 256 << 10,
    COUNTED_MAX = 1 << 14 /* steps of a place whose effort is counted, which bound its memory */
};

struct rule_matcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    uint32_t options; /* of matches */
    /* of an expression whose effort is counted */
    const char *items; /* its text */
    PCRE2_SIZE place;  /* the last item's */
    PCRE2_SIZE paid;   /* the place up to which bytes are paid */
    uint64_t effort;   /* that is left */
};

static uint32_t pcre_options(uint32_t options)
{
    static const struct {
        uint32_t ours, theirs;
    } pairs[] = {
        {RULE_CASELESS, PCRE2_CASELESS}, {RULE_MULTILINE, PCRE2_MULTILINE},
        {RULE_DOTALL, PCRE2_DOTALL},     {RULE_EXTENDED, PCRE2_EXTENDED},
        {RULE_ANCHORED, PCRE2_ANCHORED}, {RULE_DOLLAR_ENDONLY, PCRE2_DOLLAR_ENDONLY},
        {RULE_UNGREEDY, PCRE2_UNGREEDY},
    };
    uint32_t result = PCRE2_NEVER_UTF | PCRE2_USE_OFFSET_LIMIT;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if ((options & pairs[i].ours) != 0)
            result |= pairs[i].theirs;
    return result;
}

static pcre2_code *compile(const char *text, size_t len, uint32_t options, int *error, size_t *at)
{
    return pcre2_compile((PCRE2_SPTR)text, len, options, error, at, NULL);
}

/* Those that a match depends on. */
static void read_properties(struct rule_expression *expression)
{
    uint32_t options = 0, look_behind = 0;

    (void)pcre2_pattern_info(expression->code, PCRE2_INFO_ALLOPTIONS, &options);
    (void)pcre2_pattern_info(expression->code, PCRE2_INFO_MAXLOOKBEHIND, &look_behind);
    expression->anchored = (options & PCRE2_ANCHORED) != 0;
    expression->own = expression->anchored ? 1 : look_behind;
}

static struct rule_expression *add(struct sl_rules *rules, const void *key, size_t key_len,
                                   pcre2_code *code)
{
    struct rule_expression *made = rule_arena_alloc(&rules->shared, sizeof *made);
    const char *kept = rule_arena_copy(&rules->shared, key, key_len);

    if (made == NULL || kept == NULL || !rule_map_put(&rules->expressions, kept, key_len, made)) {
        pcre2_code_free(code);
        return NULL;
    }
    made->code = code;
    memcpy(&made->options, kept, sizeof made->options);
    made->text = kept + sizeof made->options;
    made->len = key_len - sizeof made->options;
    made->next = rules->expression;
    rules->expression = made;
    read_properties(made);
    return made;
}

static struct rule_expression *find(struct sl_rules *rules, const char *key, size_t key_len)
{
    pthread_mutex_lock(&rules->lock);

    struct rule_expression *found = rule_map_get(&rules->expressions, key, key_len);

    pthread_mutex_unlock(&rules->lock);
    return found;
}

/* Adds an expression, unless another thread has done that meanwhile. NULL: no memory. */
static struct rule_expression *add_once(struct sl_rules *rules, const char *key, size_t key_len,
                                        pcre2_code *code)
{
    pthread_mutex_lock(&rules->lock);

    struct rule_expression *made = rule_map_get(&rules->expressions, key, key_len);

    if (made != NULL)
        pcre2_code_free(code);
    else
        made = add(rules, key, key_len, code);
    pthread_mutex_unlock(&rules->lock);
    return made;
}

enum sl_status rule_expression_read(struct sl_rules *rules, const char *text, size_t len,
                                    uint32_t options, struct rule_expression **expression,
                                    char *reason, size_t reason_len, size_t *at)
{
    const size_t key_len = sizeof options + len;
    char *key = malloc(key_len);
    int error;

    if (key == NULL)
        return SL_ENOMEM;
    memcpy(key, &options, sizeof options);
    memcpy(key + sizeof options, text, len);
    *expression = find(rules, key, key_len);
    if (*expression == NULL) {
        pcre2_code *code = compile(text, len, pcre_options(options), &error, at);

        if (code == NULL) {
            (void)pcre2_get_error_message(error, (PCRE2_UCHAR *)reason, reason_len);
            free(key);
            return error == PCRE2_ERROR_NOMEMORY ? SL_ENOMEM : SL_EFORMAT;
        }
        *expression = add_once(rules, key, key_len, code);
    }
    free(key);
    return *expression != NULL ? SL_OK : SL_ENOMEM;
}

/* Code that calls back before each item. */
static bool make_counted(struct rule_arena *arena, struct rule_expression *expression)
{
    size_t len, at;
    int error;
    char *text = possessive_text(expression->text, expression->len, expression->options, &len);

    if (text == NULL)
        return false;
    expression->counted = compile(
        text, len, pcre_options(expression->options) | PCRE2_NO_AUTO_POSSESS | PCRE2_AUTO_CALLOUT,
        &error, &at);
    expression->counted_text = rule_arena_copy(arena, text, len);
    free(text);
    return expression->counted != NULL && expression->counted_text != NULL;
}

/* Machine code, and an automaton where there is one, with the literals that are sought before it
 * runs. Without machine code PCRE2 interprets. */
static bool make_searched(struct rule_arena *arena, struct rule_expression *expression)
{
    (void)pcre2_jit_compile(expression->code, PCRE2_JIT_COMPLETE);
    return automaton_make(arena, expression->text, expression->len, expression->options,
                          &expression->automaton) &&
           (expression->automaton == NULL ||
            required_make(arena, expression->text, expression->len, expression->options,
                          &expression->required));
}

bool rule_expression_make_fast(struct rule_arena *arena, struct rule_expression *expression)
{
    if ((expression->options & RULE_CAPTURES) == 0 && !make_searched(arena, expression))
        return false;
    if ((expression->automaton == NULL || automaton_nests(expression->automaton)) &&
        !make_counted(arena, expression))
        return false;
    expression->is_fast = true;
    return true;
}

uint32_t rule_expression_groups(const struct rule_expression *expression)
{
    uint32_t n = 0;

    (void)pcre2_pattern_info(expression->code, PCRE2_INFO_CAPTURECOUNT, &n);
    return n;
}

void rule_expressions_free(struct rule_expression *first)
{
    for (; first != NULL; first = first->next) {
        pcre2_code_free(first->code);
        pcre2_code_free(first->counted);
    }
}

/* ---- effort ---------------------------------------------------------------------------------- */

/* The bytes of the longest group, which a back reference may repeat. */
static PCRE2_SIZE longest_group(const pcre2_callout_block *block)
{
    PCRE2_SIZE longest = 0;

    for (uint32_t i = 1; i < block->capture_top; i++) {
        const PCRE2_SIZE *group = block->offset_vector + 2 * (size_t)i;

        if (group[0] != PCRE2_UNSET && group[1] > group[0] + longest)
            longest = group[1] - group[0];
    }
    return longest;
}

/* How often an item is repeated at least; 1 where its text does not end with a count. */
static PCRE2_SIZE least_count(const char *item, size_t len)
{
    size_t at = len;
    PCRE2_SIZE count = 0;

    if (at > 1 && (item[at - 1] == '?' || item[at - 1] == '+') && item[at - 2] == '}')
        at--;
    if (at == 0 || item[at - 1] != '}')
        return 1;
    while (at > 0 && item[at - 1] != '{')
        at--;
    for (; at < len && item[at] >= '0' && item[at] <= '9'; at++)
        count = 10 * count + (PCRE2_SIZE)(item[at] - '0');
    return count;
}

/* The bytes that an item may pass before it fails: no call reports them. */
static PCRE2_SIZE may_pass(const pcre2_callout_block *block, const char *item)
{
    const size_t len = block->next_item_length;
    const bool refers = len > 1 && ((item[0] == '\\' && strchr("123456789gk", item[1]) != NULL) ||
                                    (len > 3 && memcmp(item, "(?P=", 4) == 0));
    const PCRE2_SIZE left = block->subject_length - block->current_position;
    const PCRE2_SIZE most = (refers ? longest_group(block) : 1) * least_count(item, len);

    return most < left ? most : left;
}

/* Before each item. Pays the bytes passed up to this place, and those that the item may pass. */
static int count_item(pcre2_callout_block *block, void *user)
{
    enum {
        ITEM = 7,
        BACK = 12, /* more where something was given back */
        BYTES = 2  /* of a unit */
    };
    struct rule_matcher *matcher = user;
    const PCRE2_SIZE place = block->current_position;
    const PCRE2_SIZE passed = place > matcher->paid ? place - matcher->paid : 0;
    const PCRE2_SIZE next = may_pass(block, matcher->items + block->pattern_position);
    const uint64_t effort = ITEM + (place <= matcher->place ? BACK : 0) + (passed + next) / BYTES;

    matcher->place = place;
    matcher->paid = place + next;
    if (matcher->effort < effort) {
        matcher->effort = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    matcher->effort -= effort;
    return 0;
}

/* ---- matches --------------------------------------------------------------------------------- */

struct rule_matcher *rule_matcher_create(void)
{
    struct rule_matcher *matcher = calloc(1, sizeof *matcher);

    if (matcher == NULL)
        return NULL;
    matcher->data = pcre2_match_data_create(2, NULL);
    matcher->context = pcre2_match_context_create(NULL);
    matcher->stack = pcre2_jit_stack_create(STACK_MIN, STACK_MAX, NULL);
    if (matcher->data == NULL || matcher->context == NULL || matcher->stack == NULL) {
        rule_matcher_free(matcher);
        return NULL;
    }
    pcre2_jit_stack_assign(matcher->context, NULL, matcher->stack);
    return matcher;
}

void rule_matcher_set_begin(struct rule_matcher *matcher, bool begins_line)
{
    matcher->options = begins_line ? 0 : PCRE2_NOTBOL;
}

void rule_matcher_free(struct rule_matcher *matcher)
{
    if (matcher == NULL)
        return;
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    pcre2_jit_stack_free(matcher->stack);
    free(matcher);
}

/* An expression's code, and the bytes that it is tried on. */
struct trial {
    const pcre2_code *code;
    const uint8_t *subject;
    uint32_t len;
};

static enum rule_found try_code(struct rule_matcher *matcher, const struct trial *trial,
                                uint32_t from, uint32_t limit, uint32_t *begin, uint32_t *end)
{
    static const uint8_t none[1];

    pcre2_set_match_limit(matcher->context, limit);
    pcre2_set_depth_limit(matcher->context, limit);

    const int result =
        pcre2_match(trial->code, trial->subject != NULL ? trial->subject : none, trial->len, from,
                    matcher->options, matcher->data, matcher->context);
    if (result == PCRE2_ERROR_NOMATCH)
        return RULE_NOT_FOUND;
    if (result < 0)
        return RULE_LIMITED;

    const PCRE2_SIZE *found = pcre2_get_ovector_pointer(matcher->data);

    *begin = (uint32_t)found[0];
    *end = (uint32_t)found[1];
    return RULE_FOUND;
}

enum rule_found rule_matcher_find(struct rule_matcher *matcher,
                                  const struct rule_expression *expression, const uint8_t *subject,
                                  uint32_t len, uint32_t from, uint32_t n_places, uint32_t limit,
                                  uint32_t *begin, uint32_t *end)
{
    const struct trial trial = {expression->code, subject, len};

    pcre2_set_offset_limit(matcher->context, (PCRE2_SIZE)from + n_places - 1);
    return try_code(matcher, &trial, from, limit, begin, end);
}

/* Tries an expression whose effort is counted at the places from `from` to `last`. */
static enum rule_found try_counted(struct rule_matcher *matcher,
                                   const struct rule_expression *expression, const uint8_t *subject,
                                   uint32_t len, uint32_t from, uint32_t last, uint64_t *effort,
                                   uint32_t *begin, uint32_t *end)
{
    const struct trial trial = {expression->counted, subject, len};

    matcher->items = expression->counted_text;
    matcher->place = matcher->paid = from;
    matcher->effort = *effort;
    pcre2_set_offset_limit(matcher->context, last);
    (void)pcre2_set_callout(matcher->context, count_item, matcher);

    const enum rule_found found = try_code(matcher, &trial, from, COUNTED_MAX, begin, end);

    /* An expression of a rule may have calls of its own, which nobody hears. */
    (void)pcre2_set_callout(matcher->context, NULL, NULL);
    *effort = matcher->effort;
    return found;
}

enum rule_found rule_matcher_count(struct rule_matcher *matcher,
                                   const struct rule_expression *expression, const uint8_t *subject,
                                   uint32_t len, uint32_t at, uint64_t *effort, uint32_t *begin,
                                   uint32_t *end)
{
    return try_counted(matcher, expression, subject, len, at, at, effort, begin, end);
}

enum rule_found rule_matcher_capture(struct rule_matcher *matcher,
                                     const struct rule_expression *expression,
                                     const uint8_t *subject, uint32_t len, uint64_t *effort,
                                     uint32_t *begin, uint32_t *end)
{
    rule_matcher_set_begin(matcher, true);

    const enum rule_found found =
        try_counted(matcher, expression, subject, len, 0, len, effort, begin, end);
    const PCRE2_SIZE *group = pcre2_get_ovector_pointer(matcher->data) + 2;

    if (found != RULE_FOUND || group[0] == PCRE2_UNSET)
        return found == RULE_FOUND ? RULE_NOT_FOUND : found;
    *begin = (uint32_t)group[0];
    *end = (uint32_t)group[1];
    return RULE_FOUND;
}
