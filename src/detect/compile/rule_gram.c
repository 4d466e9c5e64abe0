/* SPDX-License-Identifier: MIT */
#include "rule_gram.h"

void rule_grams_begin(struct rule_grams *grams)
{
    memset(grams, 0, sizeof *grams);
    grams->has[RULE_GRAM_ANY / 64] = 1;
}

void rule_grams_add(struct rule_grams *grams, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = RULE_GRAM_LEN; i <= len; i++) {
        const uint32_t gram = rule_gram_at(bytes + i - RULE_GRAM_LEN);

        grams->has[gram / 64] |= UINT64_C(1) << gram % 64;
    }
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

struct rule_asked_grams rule_asked_grams_of(const struct rule *rule, uint64_t *values)
{
    const struct rule_payload *longest = NULL;

    for (size_t i = 0; i < rule->n_payloads; i++)
        if (is_asked(&rule->payload[i]) && (longest == NULL || rule->payload[i].len > longest->len))
            longest = &rule->payload[i];
    if (longest == NULL)
        return (struct rule_asked_grams){RULE_GRAM_ANY, RULE_GRAM_ANY};
    *values |= sl_app_value_bit(rule_buffer_source(longest->buffer));
    return (struct rule_asked_grams){
        (uint16_t)rule_gram_at(longest->bytes),
        (uint16_t)rule_gram_at(longest->bytes + longest->len - RULE_GRAM_LEN)};
}
