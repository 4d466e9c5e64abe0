/* SPDX-License-Identifier: MIT */
#include "rule_option.h"

#include "rule_fail.h"

const struct rule_option *rule_option_find(const struct rule_option *options, size_t n,
                                           struct rule_text name)
{
    for (size_t i = 0; i < n; i++)
        if (rule_text_is(name, options[i].name))
            return &options[i];
    return NULL;
}

bool rule_is_keyword(struct rule_text name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!rule_is_keyword_byte(name.at[i]))
            return false;
    return name.len != 0;
}

enum sl_status rule_option_apply(struct rule_parser *parser, const struct rule_option *option,
                                 struct rule_text name, struct rule_text value)
{
    parser->name = name.at;
    parser->where = value.len != 0 ? value.at : name.at;
    if (option->takes != RULE_NO_VALUE && option->takes != RULE_MAYBE_VALUE && value.len == 0)
        return rule_bad(parser, "%s needs a value", option->name);
    if (option->takes == RULE_NO_VALUE && value.len != 0)
        return rule_bad(parser, "%s takes no value", option->name);
    return option->read(parser, value);
}

enum sl_status rule_read_nothing(struct rule_parser *parser, struct rule_text value)
{
    (void)parser;
    (void)value;
    return SL_OK;
}
