/* SPDX-License-Identifier: MIT */
/* The options on the traffic that a flow and its streams have sent so far, the packet included. */
#include <stdio.h>
#include <string.h>

#include "rule_fail.h"
#include "rule_option.h"

enum { TO_SERVER, TO_CLIENT }; /* as sl_flow_total has them */

static enum sl_status add_check(struct rule_parser *parser, enum rule_field field, int8_t which,
                                struct rule_text range)
{
    const int64_t max = field == RULE_FLOW_BYTES ? INT64_MAX : UINT32_MAX;
    const char *const name = field == RULE_FLOW_AGE      ? "flow.age"
                             : field == RULE_STREAM_SIZE ? "the size of the stream"
                                                         : "the sum of the flow";
    struct rule_check check;
    const enum sl_status status = rule_read_wide_range(parser, range, name, max, &check);

    if (status != SL_OK)
        return status;
    check.field = field;
    check.which = which;
    return rule_check_add(parser, check);
}

struct direction {
    const char *name;
    int8_t which;
};

static bool find_direction(const struct direction directions[4], struct rule_text word,
                           int8_t *which)
{
    for (size_t i = 0; i < 4; i++)
        if (rule_text_is(word, directions[i].name)) {
            *which = directions[i].which;
            return true;
        }
    return false;
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
    static const struct direction directions[4] = {
        {"toserver", TO_SERVER}, {"toclient", TO_CLIENT}, {"either", RULE_ANY}, {"both", RULE_ALL}};
    struct rule_text word;
    int8_t which;

    rule_text_split(&value, ',', &word);
    if (find_direction(directions, word, &which))
        return add_check(parser, field_of(parser), which, rule_trim(value));
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

/* ">,5": the comma goes. Numbers of more than 32 bits are no sizes. */
static enum sl_status read_size(struct rule_parser *parser, int8_t which, struct rule_text value)
{
    char range[32];
    struct rule_text number = value;
    const char *const relation = rule_take_relation(&number);

    if (relation[0] == '\0' || number.len == 0 || number.at[0] != ',' ||
        number.len > sizeof range - 3)
        return rule_bad(parser, "stream_size is '%.*s', not a comparison, a comma and a number",
                        RULE_QUOTE(value));
    number = rule_trim((struct rule_text){number.at + 1, number.len - 1});
    const int len = snprintf(range, sizeof range, "%s%.*s", relation, (int)number.len, number.at);
    return add_check(parser, RULE_STREAM_SIZE, which, (struct rule_text){range, (size_t)len});
}

/* "server,>,5" of Suricata and Snort 2, ">5,to_client" of Snort 3. */
enum sl_status rule_read_stream_size(struct rule_parser *parser, struct rule_text value)
{
    static const struct direction sides[4] = {
        {"client", TO_SERVER}, {"server", TO_CLIENT}, {"either", RULE_ANY}, {"both", RULE_ALL}};
    static const struct direction snort3[4] = {{"to_server", TO_SERVER},
                                               {"to_client", TO_CLIENT},
                                               {"either", RULE_ANY},
                                               {"both", RULE_ALL}};
    struct rule_text word;
    int8_t which = RULE_ANY;

    rule_text_split(&value, ',', &word);
    if (find_direction(sides, word, &which))
        return read_size(parser, which, rule_trim(value));
    value = rule_trim(value);
    if (value.len != 0 && !find_direction(snort3, value, &which))
        return rule_bad_at(parser, value.at,
                           "the direction is '%.*s', not either, to_server, to_client or both",
                           RULE_QUOTE(value));
    return add_check(parser, RULE_STREAM_SIZE, which, word);
}
