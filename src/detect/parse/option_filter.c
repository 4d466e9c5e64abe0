/* SPDX-License-Identifier: MIT */
#include "option_filter.h"

#include <string.h>

#include "rule_fail.h"
#include "rule_option.h"

/* Takes a piece up to a comma outside of brackets off the front. */
static bool take_piece(struct rule_text *rest, struct rule_text *piece)
{
    size_t len = 0, depth = 0;

    *rest = rule_trim(*rest);
    if (rest->len == 0)
        return false;
    for (; len < rest->len && (rest->at[len] != ',' || depth != 0); len++)
        depth = rest->at[len] == '[' ? depth + 1 : depth - (rest->at[len] == ']' && depth != 0);
    *piece = rule_trim((struct rule_text){rest->at, len});
    *rest = len < rest->len ? (struct rule_text){rest->at + len + 1, rest->len - len - 1}
                            : (struct rule_text){rest->at + len, 0};
    return true;
}

enum sl_status rule_filter_split(struct rule_parser *parser, struct rule_text text,
                                 struct filter_words *words)
{
    struct rule_text piece;

    *words = (struct filter_words){.type = {NULL, 0}};
    while (take_piece(&text, &piece)) {
        const struct {
            const char *name;
            struct rule_text *word;
        } names[] = {
            {"type", &words->type},
            {"track", &words->track},
            {"count", &words->count},
            {"seconds", &words->seconds},
            {"gen_id", &words->gen_id},
            {"sig_id", &words->sig_id},
            {"ip", &words->ip},
            {"new_action", &words->new_action},
            {"timeout", &words->timeout},
            {"multiplier", &words->multiplier},
            {"unique_on", &words->unique_on},
        };
        size_t len = 0, i = 0;

        while (len < piece.len && !rule_blank(piece.at[len]))
            len++;
        const struct rule_text name = {piece.at, len};
        const struct rule_text word =
            rule_trim((struct rule_text){piece.at + len, piece.len - len});

        while (i < sizeof names / sizeof names[0] && !rule_text_is(name, names[i].name))
            i++;
        if (i == sizeof names / sizeof names[0] || word.len == 0)
            return rule_bad_at(parser, piece.len != 0 ? piece.at : text.at,
                               "a filter does not know '%.*s'", RULE_QUOTE(piece));
        if (names[i].word->at != NULL)
            return rule_bad_at(parser, piece.at, "a filter has more than one %s", names[i].name);
        *names[i].word = word;
    }
    return SL_OK;
}

static enum sl_status read_number(struct rule_parser *parser, const char *filter, const char *name,
                                  struct rule_text word, uint32_t *number)
{
    int64_t read = 0;

    if (word.at == NULL)
        return rule_bad(parser, "%s has no %s", filter, name);
    if (!rule_text_number(word, 1, UINT32_MAX, &read))
        return rule_bad_at(parser, word.at, "%s is '%.*s', not a number of 1 to %u", name,
                           RULE_QUOTE(word), UINT32_MAX);
    *number = (uint32_t)read;
    return SL_OK;
}

static enum sl_status read_type(struct rule_parser *parser, struct rule_text word,
                                struct state_filter *filter)
{
    static const struct {
        const char *name;
        enum state_filter_kind kind;
    } types[] = {{"limit", STATE_LIMIT},
                 {"threshold", STATE_THRESHOLD},
                 {"both", STATE_BOTH},
                 {"backoff", STATE_BACKOFF}};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (rule_text_is(word, types[i].name)) {
            filter->kind = types[i].kind;
            return SL_OK;
        }
    return rule_bad_at(parser, word.at, "type is '%.*s', not limit, threshold, both or backoff",
                       RULE_QUOTE(word));
}

static enum sl_status read_backoff(struct rule_parser *parser, const struct filter_words *words,
                                   const char *name, struct state_filter *filter)
{
    if (filter->scope != STATE_FLOW)
        return rule_bad_at(parser, words->track.at, "type backoff has no track by_flow");
    if (words->seconds.at != NULL)
        return rule_bad_at(parser, words->seconds.at, "type backoff takes no seconds");
    return read_number(parser, name, "multiplier", words->multiplier, &filter->multiplier);
}

static enum sl_status read_unique(struct rule_parser *parser, struct rule_text word,
                                  struct state_filter *filter)
{
    const uint16_t ports = RULE_TCP | RULE_UDP | RULE_SCTP;

    if (filter->kind != STATE_DETECTION || parser->rule == NULL ||
        (parser->rule->protocol & ~ports) != 0)
        return rule_bad_at(parser, word.at,
                           "unique_on is no part of a detection_filter of a protocol with ports");
    if (rule_text_is(word, "src_port"))
        filter->unique = STATE_SRC_PORTS;
    else if (rule_text_is(word, "dst_port"))
        filter->unique = STATE_DST_PORTS;
    else
        return rule_bad_at(parser, word.at, "unique_on is '%.*s', not src_port or dst_port",
                           RULE_QUOTE(word));
    return SL_OK;
}

enum sl_status rule_filter_read(struct rule_parser *parser, const struct filter_words *words,
                                const char *name, struct state_filter *filter)
{
    static const struct {
        const char *name;
        enum state_scope scope;
    } tracks[] = {{"by_src", STATE_SRC},   {"by_dst", STATE_DST},  {"by_either", STATE_EITHER},
                  {"by_both", STATE_PAIR}, {"by_rule", STATE_ALL}, {"by_flow", STATE_FLOW}};
    enum sl_status status = SL_OK;
    size_t i = 0;

    if (words->track.at == NULL)
        return rule_bad(parser, "%s has no track", name);
    while (i < sizeof tracks / sizeof tracks[0] && !rule_text_is(words->track, tracks[i].name))
        i++;
    if (i == sizeof tracks / sizeof tracks[0] ||
        (tracks[i].scope == STATE_EITHER) != (filter->kind == STATE_SUPPRESS && i == 2))
        return rule_bad_at(parser, words->track.at,
                           "track is '%.*s', not by_src, by_dst, by_both, by_rule or by_flow",
                           RULE_QUOTE(words->track));
    filter->scope = tracks[i].scope;
    if (filter->kind == STATE_SUPPRESS)
        return SL_OK;
    if (words->type.at != NULL)
        status = read_type(parser, words->type, filter);
    if (status == SL_OK)
        status = read_number(parser, name, "count", words->count, &filter->count);
    if (status == SL_OK && filter->kind == STATE_BACKOFF)
        return read_backoff(parser, words, name, filter);
    if (status == SL_OK && words->multiplier.at != NULL)
        return rule_bad_at(parser, words->multiplier.at, "multiplier is one of type backoff");
    if (status == SL_OK)
        status = read_number(parser, name, "seconds", words->seconds, &filter->seconds);
    if (status == SL_OK && words->unique_on.at != NULL)
        status = read_unique(parser, words->unique_on, filter);
    if (status == SL_OK && filter->kind == STATE_RATE)
        status = read_number(parser, name, "timeout", words->timeout, &filter->timeout);
    return status;
}

static enum sl_status read_filter(struct rule_parser *parser, struct rule_text value,
                                  const char *name, enum state_filter_kind kind)
{
    struct state_filter filter = {.kind = kind};
    struct filter_words words;
    enum sl_status status = rule_filter_split(parser, value, &words);

    if (status == SL_OK && (words.type.at == NULL) != (kind == STATE_DETECTION))
        return rule_bad(parser, "%s has %s type", name, kind == STATE_DETECTION ? "a" : "no");
    if (status == SL_OK)
        status = rule_filter_read(parser, &words, name, &filter);
    return status == SL_OK ? rule_filter_add(parser, &filter) : status;
}

enum sl_status rule_read_threshold(struct rule_parser *parser, struct rule_text value)
{
    return read_filter(parser, value, "threshold", STATE_LIMIT);
}

enum sl_status rule_read_detection_filter(struct rule_parser *parser, struct rule_text value)
{
    return read_filter(parser, value, "detection_filter", STATE_DETECTION);
}
