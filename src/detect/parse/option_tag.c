/* SPDX-License-Identifier: MIT */
/* "session,10,packets", "host,0,packets,60,seconds,src" and, of Snort 3, "host_src,packets 10". */
#include <string.h>

#include "detect/state/rule_state.h"
#include "rule_fail.h"
#include "rule_option.h"

/* The default, and the most that Suricata tags. */
enum { PACKETS_MAX = 256 };

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

/* Packets have no limit of 0: that says in Snort that others count alone. */
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
    if (tag->limit[i] != 0)
        return rule_bad_at(parser, unit.at, "tag counts %s twice", units[i]);
    if (!rule_text_number(number, i == STATE_TAG_PACKETS ? 0 : 1, UINT32_MAX, &count))
        return rule_bad_at(parser, number.at, "tag has '%.*s', not a number of 1 to %u",
                           RULE_QUOTE(number), UINT32_MAX);
    tag->limit[i] = i == STATE_TAG_PACKETS && count > PACKETS_MAX ? PACKETS_MAX : (uint32_t)count;
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

/* "10,packets", of Snort 3 "packets 10", or at the end the side of a host. */
static enum sl_status read_piece(struct rule_parser *parser, struct rule_text piece,
                                 struct rule_text *rest, struct state_tag *tag)
{
    struct rule_text number = piece, unit = piece;

    rule_text_split(&number, ' ', &unit);
    number = rule_trim(number);
    if (number.len != 0)
        return read_limit(parser, number, unit, tag);
    return rule_text_split(rest, ',', &unit) ? read_limit(parser, piece, unit, tag)
                                             : read_side(parser, piece, tag);
}

static bool limits(const struct state_tag *tag)
{
    for (size_t i = 0; i < STATE_N_TAG_METRICS; i++)
        if (tag->limit[i] != 0)
            return true;
    return false;
}

enum sl_status rule_read_tag(struct rule_parser *parser, struct rule_text value)
{
    struct state_tag tag = {.scope = STATE_FLOW};
    struct rule_text rest = value, piece = value;
    enum sl_status status;

    rule_text_split(&rest, ',', &piece);
    status = read_scope(parser, piece, &tag);
    if (rest.len == 0)
        tag.limit[STATE_TAG_PACKETS] = PACKETS_MAX;

    const char *first = rest.at;

    while (status == SL_OK && rule_text_split(&rest, ',', &piece))
        status = read_piece(parser, piece, &rest, &tag);
    if (status == SL_OK && !limits(&tag))
        status = rule_bad_at(parser, first, "tag has no limit");
    return status == SL_OK ? rule_tag_add(parser, &tag) : status;
}
