/* SPDX-License-Identifier: MIT */
#include "rule_config.h"

#include <string.h>

#include "base/diag.h"
#include "classification.h"
#include "reference.h"

bool rule_config_line(struct rule_text line)
{
    struct rule_text before, word;

    if (memchr(line.at, ':', line.len) == NULL || !rule_text_split(&line, ':', &before) ||
        !rule_text_split(&before, ' ', &word) || !rule_text_is(word, "config"))
        return false;
    before = rule_trim(before);
    if (before.len == 0)
        return false;
    for (size_t i = 0; i < before.len; i++)
        if (rule_blank(before.at[i]))
            return false;
    return true;
}

enum sl_status rule_config_read(struct sl_rules *rules, struct rule_text line, struct sl_diag *diag)
{
    struct rule_text name, word;

    rule_text_split(&line, ':', &name);
    rule_text_split(&name, ' ', &word);
    name = rule_trim(name);
    if (rule_text_is(name, "classification"))
        return rule_class_read(rules, rule_trim(line), diag);
    if (rule_text_is(name, "reference"))
        return rule_reference_read(rules, rule_trim(line), diag);
    return diag_set(diag, SL_EFORMAT, NULL, 0, "the configuration '%.*s' is not known",
                    RULE_QUOTE(name));
}
