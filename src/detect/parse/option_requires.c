/* SPDX-License-Identifier: MIT */
/* requires: the features that an engine must have for a rule. Rules are those of Suricata 8.0. */
#include "rule_fail.h"
#include "rule_option.h"

enum { PARTS = 3 };

/* Takes a version off the front: up to three numbers with periods between them. False: it is none.
 */
static bool take_version(struct rule_text *rest, uint32_t *version)
{
    *version = 0;
    *rest = rule_trim(*rest);
    if (rest->len == 0 || rest->at[0] < '0' || rest->at[0] > '9')
        return false;
    for (int part = 0; part < PARTS; part++) {
        uint32_t number = 0;

        for (; rest->len != 0 && rest->at[0] >= '0' && rest->at[0] <= '9'; rest->at++, rest->len--)
            number = number < 100 ? number * 10 + (uint32_t)(rest->at[0] - '0') : number;
        *version = *version << 10 | number;
        if (rest->len != 0 && rest->at[0] == '.') {
            rest->at++;
            rest->len--;
        }
    }
    return true;
}

static bool compares(const char *relation, uint32_t left, uint32_t right)
{
    const bool or_equal = relation[0] != '\0' && relation[1] == '=';

    if (left == right)
        return or_equal || relation[0] == '=' || relation[0] == '\0';
    return relation[0] == '<' ? left < right : relation[0] == '>' && left > right;
}

/* Comparisons that all hold, or, behind '|', others. */
static enum sl_status read_versions(struct rule_parser *parser, struct rule_text value, bool *met)
{
    static const uint32_t mine = 8u << 20;
    struct rule_text all;

    while (rule_text_split(&value, '|', &all)) {
        bool holds = true;

        do {
            const char *relation = rule_take_relation(&all);
            uint32_t version;

            if (!take_version(&all, &version))
                return rule_bad_at(parser, all.at, "requires has no version, but '%.*s'",
                                   RULE_QUOTE(all));
            holds = holds && compares(relation, mine, version);
            all = rule_trim(all);
        } while (all.len != 0);
        *met |= holds;
    }
    return SL_OK;
}

static bool has_feature(struct rule_text name)
{
    return rule_text_is(name, "ja3") || rule_text_is(name, "ja4");
}

static enum sl_status read_requirement(struct rule_parser *parser, struct rule_text text)
{
    struct rule_text word;
    enum sl_status status = SL_OK;
    bool met = false;

    rule_text_split(&text, ' ', &word);
    text = rule_trim(text);
    if (rule_text_is(word, "version"))
        status = read_versions(parser, text, &met);
    else if (rule_text_is(word, "keyword"))
        met = rule_option_known(text) != NULL;
    else if (rule_text_is(word, "feature"))
        met = has_feature(text);
    else
        return rule_bad_at(parser, word.at, "requires does not know '%.*s'", RULE_QUOTE(word));
    if (status == SL_OK && !met)
        status = rule_skip(parser, "requires ", word);
    return status;
}

enum sl_status rule_read_requires(struct rule_parser *parser, struct rule_text value)
{
    enum sl_status status = SL_OK;
    struct rule_text requirement;

    while (status == SL_OK && rule_text_split(&value, ',', &requirement))
        status = read_requirement(parser, requirement);
    return status;
}
