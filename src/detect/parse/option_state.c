/* SPDX-License-Identifier: MIT */
/* The options on what rules keep between packets. */
#include <string.h>

#include "detect/state/rule_state.h"
#include "rule_fail.h"
#include "rule_option.h"

/* The rule's state, which its first such option makes. NULL: no memory. */
static struct rule_state *state_of(struct rule_parser *parser)
{
    if (parser->state == NULL)
        parser->state = rule_arena_alloc(&parser->rules->arena, sizeof *parser->state);
    parser->rule->state = parser->state;
    return parser->state;
}

static enum sl_status add_option(struct rule_parser *parser, struct state_option option)
{
    struct state_option *grown = rule_grow(parser->state_option, &parser->cap_state_options,
                                           parser->n_state_options, sizeof *grown);

    if (grown == NULL || state_of(parser) == NULL)
        return rule_no_memory(parser);
    parser->state_option = grown;
    parser->state_option[parser->n_state_options++] = option;
    return SL_OK;
}

enum sl_status rule_read_noalert(struct rule_parser *parser, struct rule_text value)
{
    (void)value;
    if (state_of(parser) == NULL)
        return rule_no_memory(parser);
    parser->state->noalert = true;
    return SL_OK;
}

static bool is_name(struct rule_text name)
{
    for (size_t i = 0; i < name.len; i++)
        if (rule_blank(name.at[i]) || strchr("|&,", name.at[i]) != NULL)
            return false;
    return name.len != 0;
}

/* Reads names with one separator between them. */
static enum sl_status read_names(struct rule_parser *parser, struct rule_text names, char separator,
                                 struct state_option *option)
{
    struct rule_text rest = names, name;
    uint64_t *keys;
    uint32_t n = 1;

    for (size_t i = 0; i < names.len; i++)
        n += names.at[i] == separator;
    keys = rule_arena_alloc(&parser->rules->arena, n * sizeof *keys);
    if (keys == NULL)
        return rule_no_memory(parser);
    option->key = keys;
    option->n = 0;
    while (rule_text_split(&rest, separator, &name)) {
        if (!is_name(name))
            return rule_bad_at(parser, name.len != 0 ? name.at : names.at,
                               "'%.*s' is not the name of a bit, or a list of a|b or a&b",
                               RULE_QUOTE(names));
        keys[option->n++] = state_key(name.at, name.len);
    }
    return SL_OK;
}

/* "isset,a", "isset,a|b" (one of them), "isset,a&b" (both), "set,a&b", "noalert". */
enum sl_status rule_read_flowbits(struct rule_parser *parser, struct rule_text value)
{
    static const struct {
        const char *word;
        enum state_act act;
    } acts[] = {
        {"isset", STATE_ANY_SET}, {"isnotset", STATE_SOME_UNSET}, {"set", STATE_SET},
        {"unset", STATE_UNSET},   {"toggle", STATE_TOGGLE},
    };
    const size_t n_acts = sizeof acts / sizeof acts[0];
    struct rule_text names = value, word;
    struct state_option option = {.n = 0};
    size_t i = 0;

    rule_text_split(&names, ',', &word);
    names = rule_trim(names);
    if (rule_text_is(word, "noalert") && names.len == 0)
        return rule_read_noalert(parser, value);
    if (rule_text_is(word, "setx") || rule_text_is(word, "reset") ||
        memchr(names.at, ',', names.len) != NULL)
        return rule_skip(parser, "flowbits ", (struct rule_text){"group", strlen("group")});
    while (i < n_acts && !rule_text_is(word, acts[i].word))
        i++;
    if (i == n_acts)
        return rule_bad_at(parser, word.at,
                           "flowbits is '%.*s', not isset, isnotset, set, unset, toggle and names, "
                           "or noalert",
                           RULE_QUOTE(value));

    const bool all = memchr(names.at, '&', names.len) != NULL;
    const enum sl_status status = read_names(parser, names, all ? '&' : '|', &option);

    option.act = acts[i].act == STATE_ANY_SET && all ? STATE_ALL_SET : acts[i].act;
    if (status != SL_OK)
        return status;
    if (!state_is_effect(option.act)) { /* a packet without a flow has no bits, and lacks none */
        parser->rule->flow_mask |= RULE_FLOW_KNOWN;
        parser->rule->flow_flags |= RULE_FLOW_KNOWN;
    }
    return add_option(parser, option);
}

enum sl_status rule_state_finish(struct rule_parser *parser)
{
    struct state_option *option;
    size_t n = 0;

    if (parser->state == NULL)
        return SL_OK;
    option =
        rule_arena_alloc(&parser->rules->arena, (parser->n_state_options + 1) * sizeof *option);
    if (option == NULL)
        return rule_no_memory(parser);
    for (int effects = 0; effects < 2; effects++)
        for (size_t i = 0; i < parser->n_state_options; i++)
            if (state_is_effect(parser->state_option[i].act) == effects)
                option[n++] = parser->state_option[i];
    parser->state->option = option;
    parser->state->n_options = n;
    return SL_OK;
}
