/* SPDX-License-Identifier: MIT */
#include "filter_config.h"

#include <string.h>

#include "option_filter.h"
#include "rule_fail.h"
#include "rule_list.h"

static const struct {
    const char *word;
    enum state_filter_kind kind;
} kinds[] = {{"suppress", STATE_SUPPRESS},
             {"threshold", STATE_LIMIT},
             {"event_filter", STATE_LIMIT},
             {"rate_filter", STATE_RATE}};

/* Takes the first word off the line. NULL: it begins no filter. */
static const enum state_filter_kind *take_kind(struct rule_text *line)
{
    size_t len = 0;

    *line = rule_trim(*line);
    while (len < line->len && !rule_blank(line->at[len]))
        len++;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (rule_text_is((struct rule_text){line->at, len}, kinds[i].word)) {
            *line = rule_trim((struct rule_text){line->at + len, line->len - len});
            return &kinds[i].kind;
        }
    return NULL;
}

bool rule_filter_line(struct rule_text line)
{
    return take_kind(&line) != NULL;
}

static enum sl_status read_id(struct rule_parser *parser, const char *name, struct rule_text word,
                              uint32_t *id)
{
    int64_t number = 0;

    if (word.at == NULL || !rule_text_number(word, 0, UINT32_MAX, &number))
        return rule_bad_at(parser, word.at != NULL ? word.at : parser->where,
                           "%s is no number of 0 to %u", name, UINT32_MAX);
    *id = (uint32_t)number;
    return SL_OK;
}

static enum sl_status read_suppress(struct rule_parser *parser, const struct filter_words *words,
                                    struct state_filter *filter)
{
    if (words->track.at == NULL && words->ip.at == NULL)
        return SL_OK;
    const enum sl_status status = rule_filter_read(parser, words, "suppress", filter);

    if (status != SL_OK)
        return status;
    if (words->ip.at == NULL)
        return rule_bad(parser, "suppress has a track and no ip");
    return rule_list_read(parser->rules, RULE_ADDRESSES, words->ip, &filter->addresses,
                          &parser->where, parser->diag);
}

static enum sl_status read_filter(struct rule_parser *parser, const struct filter_words *words,
                                  struct state_filter *filter)
{
    if (filter->kind == STATE_SUPPRESS)
        return read_suppress(parser, words, filter);
    if ((filter->kind == STATE_LIMIT) != (words->type.at != NULL))
        return rule_bad(parser, "the filter has %s type", filter->kind == STATE_LIMIT ? "no" : "a");
    if (filter->kind == STATE_RATE && words->new_action.at == NULL)
        return rule_bad(parser, "rate_filter has no new_action");
    return rule_filter_read(parser, words, "the filter", filter);
}

enum sl_status rule_filter_line_read(struct rule_parser *parser, struct rule_text line)
{
    struct sl_rules *rules = parser->rules;
    struct rule_filter_of filter = {.gid = 0};
    struct filter_words words;
    struct state_filter read = {.kind = STATE_LIMIT};

    parser->where = line.at;
    read.kind = *take_kind(&line);
    enum sl_status status = rule_filter_split(parser, line, &words);
    if (status == SL_OK)
        status = read_id(parser, "gen_id", words.gen_id, &filter.gid);
    if (status == SL_OK)
        status = read_id(parser, "sig_id", words.sig_id, &filter.sid);
    if (status == SL_OK)
        status = read_filter(parser, &words, &read);
    if (read.kind == STATE_RATE)
        read.drops =
            rule_text_is(words.new_action, "drop") || rule_text_is(words.new_action, "reject");
    /* Those that are left, alert for example, change no alert. */
    if (status != SL_OK ||
        (read.kind == STATE_RATE && !read.drops && !rule_text_is(words.new_action, "pass")))
        return status;

    struct rule_filter_of *grown =
        rule_grow(rules->filter, &rules->cap_filters, rules->n_filters, sizeof *grown);

    if (grown == NULL)
        return rule_no_memory(parser);
    rules->filter = grown;
    filter.filter = rule_arena_copy(&rules->shared, &read, sizeof read);
    if (filter.filter == NULL)
        return rule_no_memory(parser);
    rules->filter[rules->n_filters++] = filter;
    return SL_OK;
}

/* ---- the rules of a set ---------------------------------------------------------------------- */

static bool is_threshold(const struct state_filter *filter)
{
    return filter->kind != STATE_SUPPRESS && filter->kind != STATE_RATE;
}

/* Adds a filter to those of a rule: suppression first, and one threshold. */
static bool add_filter(struct sl_rules *rules, struct rule *rule, const struct state_filter *filter)
{
    struct rule_state *state = rule->state;

    if (state == NULL)
        state = rule->state = rule_arena_alloc(&rules->shared, sizeof *state);
    if (state == NULL)
        return false;

    struct state_filter *list =
        rule_arena_alloc(&rules->shared, (state->n_filters + 1) * sizeof *list);
    size_t n = 0;

    if (list == NULL)
        return false;
    if (filter->kind == STATE_SUPPRESS)
        list[n++] = *filter;
    for (size_t i = 0; i < state->n_filters; i++)
        if (!is_threshold(filter) || !is_threshold(&state->filter[i]))
            list[n++] = state->filter[i];
    if (filter->kind != STATE_SUPPRESS)
        list[n++] = *filter;
    state->filter = list;
    state->n_filters = n;
    return true;
}

/* Counts are kept by gid and sid, so that another set of rules finds them. */
static void set_keys(const struct rule *rule)
{
    for (size_t i = 0; rule->state != NULL && i < rule->state->n_filters; i++) {
        struct state_filter *filter = &rule->state->filter[i];
        const uint32_t name[4] = {rule->key[0], rule->key[1], filter->kind, filter->scope};

        filter->key = state_key(STATE_FILTERS, name, sizeof name);
    }
}

bool rule_filters_apply(struct sl_rules *rules)
{
    for (size_t f = 0; f < rules->n_filters; f++) {
        const struct rule_filter_of *of = &rules->filter[f];
        const uint32_t key[2] = {of->gid, of->sid};
        struct rule *one =
            of->gid != 0 && of->sid != 0 ? rule_map_get(&rules->by_sid, key, sizeof key) : NULL;

        if (one != NULL && !add_filter(rules, one, of->filter))
            return false;
        for (size_t i = 0; i < rules->n_rules && (of->gid == 0 || of->sid == 0); i++) {
            struct rule *rule = rules->rule[i];

            if ((of->gid == 0 || of->gid == rule->key[0]) &&
                (of->sid == 0 || of->sid == rule->key[1]) && !add_filter(rules, rule, of->filter))
                return false;
        }
    }
    for (size_t i = 0; i < rules->n_rules; i++)
        set_keys(rules->rule[i]);
    return true;
}
