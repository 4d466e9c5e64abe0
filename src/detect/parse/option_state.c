/* SPDX-License-Identifier: MIT */
/* The options on state that rules keep between packets. */
#include <string.h>

#include "detect/state/rule_state.h"
#include "rule_fail.h"
#include "rule_option.h"

/* The rule's state, which its first such option makes. NULL: no memory. */
static struct rule_state *state_of(struct rule_parser *parser)
{
    if (parser->state == NULL)
        parser->state = rule_arena_alloc(parser->arena, sizeof *parser->state);
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
    option.text = rule_arena_text(parser->arena, parser->option.value.at, parser->option.value.len);
    if (option.text == NULL)
        return rule_no_memory(parser);
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

/* Rules that pass nothing alert anyway. */
enum sl_status rule_read_alert(struct rule_parser *parser, struct rule_text value)
{
    (void)value;
    parser->rule->alerts = parser->rule->pass;
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
                                 enum state_names kind, struct state_option *option)
{
    struct rule_text rest = names, name;
    uint64_t *keys;
    uint32_t n = 1;

    for (size_t i = 0; i < names.len; i++)
        n += names.at[i] == separator;
    keys = rule_arena_alloc(parser->arena, n * sizeof *keys);
    if (keys == NULL)
        return rule_no_memory(parser);
    option->key = keys;
    option->n = 0;
    while (rule_text_split(&rest, separator, &name)) {
        if (!is_name(name))
            return rule_bad_at(parser, name.len != 0 ? name.at : names.at,
                               "'%.*s' is no name, or list of a|b or a&b", RULE_QUOTE(names));
        keys[option->n++] = state_key(kind, name.at, name.len);
    }
    return option->n != 0 ? SL_OK
                          : rule_bad_at(parser, parser->name, "the name of a variable is missing");
}

struct act_word {
    const char *word;
    enum state_act act;
};

/* Finds the act that a word stands for. False: it is none of them. */
static bool find_act(const struct act_word *acts, size_t n, struct rule_text word,
                     enum state_act *act)
{
    for (size_t i = 0; i < n; i++)
        if (rule_text_is(word, acts[i].word)) {
            *act = acts[i].act;
            return true;
        }
    return false;
}

static const struct act_word bit_acts[] = {
    {"isset", STATE_ANY_SET}, {"isnotset", STATE_SOME_UNSET}, {"set", STATE_SET},
    {"unset", STATE_UNSET},   {"toggle", STATE_TOGGLE},
};

/* A packet without a flow has no variables, and lacks none. */
static enum sl_status add_flow_option(struct rule_parser *parser, struct state_option option)
{
    if (!state_is_effect(option.act)) {
        parser->rule->flow_mask |= RULE_FLOW_KNOWN;
        parser->rule->flow_flags |= RULE_FLOW_KNOWN;
    }
    return add_option(parser, option);
}

/* Whether Snort 2's option is about all bits of a group. A group behind names has no effect: the
 * rules that it would have one for are skipped. */
static bool is_about_group(struct rule_text verb, struct rule_text names, struct rule_text group)
{
    return rule_text_is(verb, "setx") || rule_text_is(verb, "reset") ||
           memchr(group.at, ',', group.len) != NULL ||
           (group.len != 0 && (rule_text_is(names, "any") || rule_text_is(names, "all")));
}

/* "isset,a", "isset,a|b" (one of them), "isset,a&b" (both), "set,a&b", "set,a,group", "noalert". */
enum sl_status rule_read_flowbits(struct rule_parser *parser, struct rule_text value)
{
    struct rule_text group = value, names = {value.at + value.len, 0}, word;
    struct state_option option = {.scope = STATE_FLOW, .value = 1, .seconds = UINT64_MAX};

    rule_text_split(&group, ',', &word);
    group = rule_trim(group);
    if (rule_text_is(word, "noalert") && group.len == 0)
        return rule_read_noalert(parser, value);
    rule_text_split(&group, ',', &names);
    group = rule_trim(group);
    if (is_about_group(word, names, group))
        return rule_skip(parser, "flowbits ", (struct rule_text){"group", strlen("group")});
    if (!find_act(bit_acts, sizeof bit_acts / sizeof bit_acts[0], word, &option.act))
        return rule_bad_at(parser, word.at,
                           "flowbits is '%.*s', not isset, isnotset, set, unset, toggle and names, "
                           "or noalert",
                           RULE_QUOTE(value));

    const bool all = memchr(names.at, '&', names.len) != NULL;
    const enum sl_status status = read_names(parser, names, all ? '&' : '|', STATE_BITS, &option);

    if (option.act == STATE_ANY_SET && all)
        option.act = STATE_ALL_SET;
    return status == SL_OK ? add_flow_option(parser, option) : status;
}

static enum sl_status read_track(struct rule_parser *parser, struct rule_text word,
                                 enum state_scope *scope)
{
    static const struct {
        const char *name;
        enum state_scope scope;
    } tracks[] = {
        {"ip_src", STATE_SRC}, {"ip_dst", STATE_DST}, {"ip_pair", STATE_PAIR}, {"tx", STATE_TX}};
    struct rule_text name;

    rule_text_split(&word, ' ', &name);
    word = rule_trim(word);
    for (size_t i = 0; i < sizeof tracks / sizeof tracks[0] && rule_text_is(name, "track"); i++)
        if (rule_text_is(word, tracks[i].name)) {
            *scope = tracks[i].scope;
            return SL_OK;
        }
    return rule_bad(parser, "xbits has no track ip_src, ip_dst, ip_pair or tx");
}

/* "set,a,track ip_src,expire 60", "noalert". */
enum sl_status rule_read_xbits(struct rule_parser *parser, struct rule_text value)
{
    struct state_option option = {.value = 1, .seconds = 30};
    struct rule_text rest = value, word, name, track, expire;
    int64_t seconds = 30;

    rule_text_split(&rest, ',', &word);
    if (rule_text_is(word, "noalert") && rule_trim(rest).len == 0)
        return rule_read_noalert(parser, value);
    if (!find_act(bit_acts, sizeof bit_acts / sizeof bit_acts[0], word, &option.act))
        return rule_bad_at(parser, word.at,
                           "xbits is '%.*s', not isset, isnotset, set, unset, toggle or noalert",
                           RULE_QUOTE(value));
    if (!rule_text_split(&rest, ',', &name) || !rule_text_split(&rest, ',', &track))
        return rule_bad(parser, "xbits has no name and track");
    enum sl_status status = read_track(parser, track, &option.scope);
    if (status != SL_OK)
        return status;
    rest = rule_trim(rest);
    if (rest.len != 0) {
        rule_text_split(&rest, ' ', &expire);
        if (!rule_text_is(expire, "expire") ||
            !rule_text_number(rule_trim(rest), 1, UINT32_MAX, &seconds))
            return rule_bad(parser, "xbits does not end in 'expire' and seconds from 1");
    }
    option.seconds = (uint64_t)seconds;
    status = read_names(parser, name, ',',
                        option.scope == STATE_PAIR ? STATE_PAIR_BITS
                        : option.scope == STATE_TX ? STATE_TX_BITS
                                                   : STATE_HOST_BITS,
                        &option);
    return status == SL_OK ? add_option(parser, option) : status;
}

/* "a, +, 1", "a, >=, b", "a, isset". */
enum sl_status rule_read_flowint(struct rule_parser *parser, struct rule_text value)
{
    static const struct act_word acts[] = {
        {"isset", STATE_ANY_SET},
        {"notset", STATE_SOME_UNSET},
        {"isnotset", STATE_SOME_UNSET},
        {"=", STATE_SET},
        {"+", STATE_ADD},
        {"-", STATE_SUBTRACT},
        {"==", STATE_EQUAL},
        {"!=", STATE_UNEQUAL},
        {"<", STATE_LESS},
        {"<=", STATE_AT_MOST},
        {">", STATE_GREATER},
        {">=", STATE_AT_LEAST},
    };
    struct state_option option = {.scope = STATE_FLOW, .is_number = true, .seconds = UINT64_MAX};
    struct rule_text rest = value, name, word;
    int64_t number = 0;

    rule_text_split(&rest, ',', &name);
    rule_text_split(&rest, ',', &word);
    rest = rule_trim(rest);
    if (!find_act(acts, sizeof acts / sizeof acts[0], word, &option.act) ||
        (option.act <= STATE_SOME_UNSET) != (rest.len == 0))
        return rule_bad(parser,
                        "flowint is '%.*s', not a name, one of = + - == != < <= > >= and a number "
                        "or name, or a name and isset or notset",
                        RULE_QUOTE(value));
    if (rest.len != 0 && rule_text_number(rest, 0, UINT32_MAX, &number))
        option.value = (uint32_t)number;
    else if (rest.len != 0 && is_name(rest) && (rest.at[0] < '0' || rest.at[0] > '9'))
        option.value_key = state_key(STATE_NUMBERS, rest.at, rest.len);
    else if (rest.len != 0)
        return rule_bad_at(parser, rest.at, "flowint has '%.*s', no name or number of 0 to %u",
                           RULE_QUOTE(rest), UINT32_MAX);
    const enum sl_status status = read_names(parser, name, ',', STATE_NUMBERS, &option);

    return status == SL_OK ? add_flow_option(parser, option) : status;
}

enum sl_status rule_filter_add(struct rule_parser *parser, const struct state_filter *filter)
{
    struct rule_state *state = state_of(parser);

    if (state == NULL)
        return rule_no_memory(parser);
    if (state->n_filters != 0)
        return rule_bad_at(parser, parser->name, "the rule has more than one threshold");
    state->filter = rule_arena_copy(parser->arena, filter, sizeof *filter);
    if (state->filter == NULL)
        return rule_no_memory(parser);
    state->n_filters = 1;
    return SL_OK;
}

enum sl_status rule_tag_add(struct rule_parser *parser, const struct state_tag *tag)
{
    struct rule_state *state = state_of(parser);
    struct state_tag *added =
        state != NULL ? rule_arena_copy(parser->arena, tag, sizeof *tag) : NULL;

    if (added == NULL)
        return rule_no_memory(parser);
    added->next = state->tag;
    state->tag = added;
    return SL_OK;
}

/* Messages of a protocol alone have variables of their own. */
static bool lacks_message(const struct rule_parser *parser)
{
    for (size_t i = 0; i < parser->n_state_options; i++)
        if (parser->state_option[i].scope == STATE_TX && parser->rule->app == SL_APP_UNKNOWN &&
            !parser->asks_files)
            return true;
    return false;
}

enum sl_status rule_state_finish(struct rule_parser *parser)
{
    struct state_option *option;
    size_t n = 0;

    if (parser->state == NULL)
        return SL_OK;
    if (lacks_message(parser))
        return rule_skip(parser, "xbits ", (struct rule_text){"tx", strlen("tx")});
    option = rule_arena_alloc(parser->arena, (parser->n_state_options + 1) * sizeof *option);
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
