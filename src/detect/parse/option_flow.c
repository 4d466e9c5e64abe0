/* SPDX-License-Identifier: MIT */
/* The options on what a flow has sent so far, the packet included. */
#include <string.h>

#include "rule_fail.h"
#include "rule_option.h"

enum { TO_SERVER, TO_CLIENT }; /* as sl_flow_total has them */

static enum sl_status add_check(struct rule_parser *parser, enum rule_field field, int8_t which,
                                struct rule_text range)
{
    const int64_t max = field == RULE_FLOW_BYTES ? INT64_MAX : UINT32_MAX;
    struct rule_check check;
    const enum sl_status status = rule_read_wide_range(
        parser, range, field == RULE_FLOW_AGE ? "flow.age" : "the sum of the flow", max, &check);

    if (status != SL_OK)
        return status;
    check.field = field;
    check.which = which;
    return rule_check_add(parser, check);
}

/* Seconds between the first and the latest packet, as in Suricata without their fractions. */
enum sl_status rule_read_flow_age(struct rule_parser *parser, struct rule_text value)
{
    return add_check(parser, RULE_FLOW_AGE, RULE_ANY, value);
}

static enum rule_field field_of(const struct rule_parser *parser)
{
    return parser->option.name.at[strlen("flow.")] == 'p' ? RULE_FLOW_PACKETS : RULE_FLOW_BYTES;
}

/* "toserver,>5": of a direction, of either, or of both. */
enum sl_status rule_read_flow_total(struct rule_parser *parser, struct rule_text value)
{
    static const struct {
        const char *name;
        int8_t which;
    } directions[] = {
        {"toserver", TO_SERVER}, {"toclient", TO_CLIENT}, {"either", RULE_ANY}, {"both", RULE_ALL}};
    struct rule_text word;

    rule_text_split(&value, ',', &word);
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++)
        if (rule_text_is(word, directions[i].name))
            return add_check(parser, field_of(parser), directions[i].which, rule_trim(value));
    return rule_bad_at(parser, word.at,
                       "the direction is '%.*s', not toserver, toclient, either or both",
                       RULE_QUOTE(word));
}

/* The older names: flow.pkts_toclient and its kind. */
enum sl_status rule_read_flow_total_of(struct rule_parser *parser, struct rule_text value)
{
    const struct rule_text name = parser->option.name;
    const bool to_server = (name.at[name.len - 1] | 0x20) == 'r';

    return add_check(parser, field_of(parser), to_server ? TO_SERVER : TO_CLIENT, value);
}
