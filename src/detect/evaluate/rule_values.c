/* SPDX-License-Identifier: MIT */
#include "rule_values.h"

#include <stdlib.h>
#include <string.h>

#include "detect/rule_memory.h"

bool rule_values_open(struct rule_values *values, size_t n_rules)
{
    values->ask_of = calloc(n_rules + 1, sizeof *values->ask_of);
    return values->ask_of != NULL;
}

void rule_values_close(struct rule_values *values)
{
    free(values->bytes);
    free(values->value);
    free(values->ask);
    free(values->ask_of);
}

void rule_values_begin_batch(struct rule_values *values)
{
    values->len = values->n = values->n_kept = values->n_asks = values->first_ask = 0;
}

/* Copies bytes, unless they are those of the value before: rules ask one after another. */
static bool copy(struct rule_values *values, const uint8_t *bytes, uint32_t len)
{
    if (values->any && values->last.len == len &&
        memcmp(values->bytes + values->last.at, bytes, len) == 0)
        return true;
    if (len > values->room)
        return false;
    if (len > values->cap - values->len) {
        const size_t cap = 2 * (values->len + len);
        uint8_t *grown = realloc(values->bytes, cap);

        if (grown == NULL) {
            values->no_memory = true;
            return false;
        }
        values->bytes = grown;
        values->cap = cap;
    }
    memcpy(values->bytes + values->len, bytes, len);
    values->any = true;
    values->last = (struct rule_value){.at = values->len, .len = len};
    values->len += len;
    values->room -= len;
    return true;
}

bool rule_values_add(struct rule_values *values, uint32_t section, const uint8_t *bytes,
                     uint32_t len)
{
    struct rule_value *grown =
        rule_grow(values->value, &values->cap_values, values->n, sizeof *grown);

    if (grown == NULL) {
        values->no_memory = true;
        return false;
    }
    values->value = grown;
    if (!copy(values, bytes, len))
        return false;
    values->last.section = section;
    values->value[values->n++] = values->last;
    return true;
}

void rule_values_keep(struct rule_values *values, uint32_t rule)
{
    struct rule_ask *grown =
        rule_grow(values->ask, &values->cap_asks, values->n_asks, sizeof *grown);

    if (grown == NULL) {
        values->no_memory = true;
        return;
    }
    values->ask = grown;

    const uint32_t last = values->ask_of[rule], mine = (uint32_t)values->n_asks + 1;

    grown[values->n_asks++] = (struct rule_ask){.first = values->n_kept,
                                                .n = values->n - values->n_kept,
                                                .rule = rule,
                                                .next = last != 0 ? grown[last - 1].next : mine};
    if (last != 0)
        grown[last - 1].next = mine;
    values->ask_of[rule] = mine;
    values->n_kept = values->n;
}

void rule_values_end_packet(struct rule_values *values)
{
    for (; values->first_ask < values->n_asks; values->first_ask++)
        values->ask_of[values->ask[values->first_ask].rule] = 0;
}
