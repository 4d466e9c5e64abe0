/* SPDX-License-Identifier: MIT */
#include "rule_gram.h"

static uint32_t hash_opening(uint32_t opening, enum sl_app_value_id id)
{
    return (opening + (uint32_t)id * UINT32_C(0x85EBCA6B)) * UINT32_C(0x9E3779B1) >>
           (32 - RULE_GRAM_BITS);
}

static uint32_t add_byte(uint32_t opening, uint8_t byte)
{
    return opening << 8 | byte | 0x20;
}

uint32_t rule_gram_of_opening(enum sl_app_value_id id, const uint8_t *bytes, uint32_t len)
{
    uint32_t opening = 0;

    for (uint32_t i = 0; i < len && i < RULE_GRAM_LEN; i++)
        opening = add_byte(opening, bytes[i]);
    return hash_opening(opening, id);
}

void rule_grams_begin(struct rule_grams *grams)
{
    memset(grams->has, 0, sizeof grams->has);
    grams->has[RULE_GRAM_ANY] = 1;
}

static void add_openings(struct rule_grams *grams, const struct sl_app_value *value)
{
    uint32_t opening = 0;

    for (uint32_t i = 0; i < value->len && i < RULE_GRAM_LEN; i++) {
        opening = add_byte(opening, value->bytes[i]);
        grams->has[hash_opening(opening, (enum sl_app_value_id)value->id)] = 1;
    }
}

static void add_runs(struct rule_grams *grams, const struct sl_app_value *value)
{
    for (uint32_t i = RULE_GRAM_LEN; i <= value->len; i++)
        grams->has[rule_gram_at(value->bytes + i - RULE_GRAM_LEN)] = 1;
}

void rule_grams_add(struct rule_grams *grams, const struct rule_gram_values *values,
                    const struct sl_app_value *value)
{
    const uint64_t bit = sl_app_value_bit((enum sl_app_value_id)value->id);

    if ((values->openings & bit) != 0)
        add_openings(grams, value);
    if ((values->runs & bit) != 0)
        add_runs(grams, value);
}

/* Whether each match of the rule has the content in a value, as the message holds it. */
static bool is_asked(const struct rule_payload *content)
{
    return content->kind == RULE_CONTENT && content->len >= RULE_GRAM_LEN && !content->negated &&
           !content->optional && !content->decoded && content->chain == NULL &&
           rule_buffer_is_value(content->buffer) &&
           !rule_value_is_of_file(rule_buffer_id(content->buffer)) &&
           rule_buffer_source(content->buffer) < SL_APP_BODY;
}

/* Whether the rule asks that a value begins with a content. */
static bool has_opening(const struct rule *rule)
{
    return rule->opening != NULL && rule->opening->distance == 0 &&
           rule_buffer_id(rule->opening->buffer) < SL_N_APP_VALUES &&
           !rule_value_is_of_file(rule_buffer_id(rule->opening->buffer));
}

static struct rule_asked_grams opening_of(const struct rule_payload *content,
                                          struct rule_gram_values *values)
{
    const enum sl_app_value_id id = rule_buffer_source(content->buffer);

    values->openings |= sl_app_value_bit(id);
    return (struct rule_asked_grams){
        (uint16_t)rule_gram_of_opening(id, content->bytes, content->len), RULE_GRAM_ANY};
}

struct rule_asked_grams rule_asked_grams_of(const struct rule *rule,
                                            struct rule_gram_values *values)
{
    const struct rule_payload *longest = NULL;

    if (has_opening(rule))
        return opening_of(rule->opening, values);
    for (size_t i = 0; i < rule->n_payloads; i++)
        if (is_asked(&rule->payload[i]) && (longest == NULL || rule->payload[i].len > longest->len))
            longest = &rule->payload[i];
    if (longest == NULL)
        return (struct rule_asked_grams){RULE_GRAM_ANY, RULE_GRAM_ANY};
    values->runs |= sl_app_value_bit(rule_buffer_source(longest->buffer));
    return (struct rule_asked_grams){
        (uint16_t)rule_gram_at(longest->bytes),
        (uint16_t)rule_gram_at(longest->bytes + longest->len - RULE_GRAM_LEN)};
}
