/* SPDX-License-Identifier: MIT */
/* "session,10,packets", "host,60,seconds,src" and, of Snort 3, "host_src,packets 10". */
#include <string.h>

#include "detect/state/rule_state.h"
#include "rule_fail.h"
#include "rule_option.h"

/* The default, and the most that Suricata tags. */
enum { PACKETS_MAX = 256, PIECES_MAX = 4 };

static enum sl_status read_scope(struct rule_parser *parser, struct rule_text word,
                                 struct state_tag *tag)
{
    static const struct {
        const char *name;
        enum state_scope scope;
    } scopes[] = {{"session", STATE_FLOW},
                  {"host", STATE_DST},
                  {"host_src", STATE_SRC},
                  {"host_dst", STATE_DST}};

    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
        if (rule_text_is(word, scopes[i].name)) {
            tag->scope = scopes[i].scope;
            return SL_OK;
        }
    return rule_bad_at(parser, word.at, "tag is of '%.*s', not session, host, host_src or host_dst",
                       RULE_QUOTE(word));
}

static enum sl_status read_limit(struct rule_parser *parser, struct rule_text number,
                                 struct rule_text unit, struct state_tag *tag)
{
    static const char *const units[STATE_N_TAG_METRICS] = {"packets", "bytes", "seconds"};
    int64_t count = 0;
    unsigned i = 0;

    while (i < STATE_N_TAG_METRICS && !rule_text_is(unit, units[i]))
        i++;
    if (i == STATE_N_TAG_METRICS)
        return rule_bad_at(parser, unit.at, "tag counts '%.*s', not packets, bytes or seconds",
                           RULE_QUOTE(unit));
    if (!rule_text_number(number, 1, UINT32_MAX, &count))
        return rule_bad_at(parser, number.at, "tag has '%.*s', not a number of 1 to %u",
                           RULE_QUOTE(number), UINT32_MAX);
    tag->metric = (enum state_tag_metric)i;
    tag->count =
        tag->metric == STATE_TAG_PACKETS && count > PACKETS_MAX ? PACKETS_MAX : (uint32_t)count;
    return SL_OK;
}

static enum sl_status read_side(struct rule_parser *parser, struct rule_text word,
                                struct state_tag *tag)
{
    if (tag->scope == STATE_FLOW || (!rule_text_is(word, "src") && !rule_text_is(word, "dst")))
        return rule_bad_at(parser, word.at, "tag ends in '%.*s', not src or dst of a host",
                           RULE_QUOTE(word));
    tag->scope = rule_text_is(word, "src") ? STATE_SRC : STATE_DST;
    return SL_OK;
}

enum sl_status rule_read_tag(struct rule_parser *parser, struct rule_text value)
{
    const struct rule_text several = {"with several limits", strlen("with several limits")};
    struct state_tag tag = {.metric = STATE_TAG_PACKETS, .count = PACKETS_MAX};
    struct rule_text rest = value, piece[PIECES_MAX], number, unit;
    enum sl_status status;
    size_t n = 0;

    while (n < PIECES_MAX && rule_text_split(&rest, ',', &piece[n]))
        n++;
    status = read_scope(parser, piece[0], &tag);
    if (status != SL_OK || n == 1)
        return status == SL_OK ? rule_tag_add(parser, &tag) : status;
    number = piece[1];
    rule_text_split(&number, ' ', &unit);
    if (rest.len != 0 || (n > 2 && number.len != 0))
        return rule_skip(parser, "tag ", several);
    status = n == 2 ? read_limit(parser, rule_trim(number), unit, &tag)
                    : read_limit(parser, piece[1], piece[2], &tag);
    if (status == SL_OK && n == PIECES_MAX)
        status = read_side(parser, piece[PIECES_MAX - 1], &tag);
    return status == SL_OK ? rule_tag_add(parser, &tag) : status;
}
