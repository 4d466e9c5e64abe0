/* SPDX-License-Identifier: MIT */
/* The options that are understood. */
#include "rule_parse.h"

enum takes { NO_VALUE, A_VALUE, MAYBE_VALUE };

struct option {
    const char *name;
    rule_option_reader *read;
    enum takes takes;
    bool modifier; /* of a content */
};

static const struct option options[] = {
    {"content", rule_read_content, A_VALUE, false},
    {"nocase", rule_read_nocase, NO_VALUE, true},
    {"offset", rule_read_offset, A_VALUE, true},
    {"depth", rule_read_depth, A_VALUE, true},
    {"distance", rule_read_distance, A_VALUE, true},
    {"within", rule_read_within, A_VALUE, true},
    {"startswith", rule_read_startswith, NO_VALUE, true},
    {"endswith", rule_read_endswith, NO_VALUE, true},
    {"fast_pattern", rule_read_fast_pattern, MAYBE_VALUE, true},
    {"fast_pattern_offset", rule_read_fast_pattern_offset, A_VALUE, true},
    {"fast_pattern_length", rule_read_fast_pattern_length, A_VALUE, true},
    {"isdataat", rule_read_isdataat, A_VALUE, false},
    /* The payload is never decoded, so these ask for what it is anyway. */
    {"rawbytes", rule_read_nothing, NO_VALUE, true},
    {"pkt_data", rule_read_nothing, NO_VALUE, false},

    {"flow", rule_read_flow, A_VALUE, false},
    {"dsize", rule_read_dsize, A_VALUE, false},
    {"ttl", rule_read_ttl, A_VALUE, false},
    {"id", rule_read_id, A_VALUE, false},
    {"ip_proto", rule_read_ip_proto, A_VALUE, false},
    {"fragbits", rule_read_fragbits, A_VALUE, false},
    {"sameip", rule_read_sameip, NO_VALUE, false},
    {"flags", rule_read_flags, A_VALUE, false},
    {"tcp.flags", rule_read_flags, A_VALUE, false},
    {"itype", rule_read_itype, A_VALUE, false},
    {"icode", rule_read_icode, A_VALUE, false},

    {"msg", rule_read_msg, A_VALUE, false},
    {"sid", rule_read_sid, A_VALUE, false},
    {"rev", rule_read_rev, A_VALUE, false},
    {"gid", rule_read_gid, A_VALUE, false},
    {"priority", rule_read_priority, A_VALUE, false},
    {"classtype", rule_read_classtype, A_VALUE, false},
    {"reference", rule_read_reference, A_VALUE, false},
    {"metadata", rule_read_metadata, A_VALUE, false},
    /* These say something to people, to the engine's inner workings, or for what is recorded after
     * an alert; none changes which packets match. */
    {"rem", rule_read_nothing, MAYBE_VALUE, false},
    {"target", rule_read_nothing, A_VALUE, false},
    {"soid", rule_read_nothing, A_VALUE, false},
    {"tag", rule_read_nothing, A_VALUE, false},
    {"prefilter", rule_read_nothing, NO_VALUE, false},
    {"service", rule_read_service, A_VALUE, false},
};

static const struct option *find(struct rule_text name)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (rule_text_is(name, options[i].name))
            return &options[i];
    return NULL;
}

static bool is_keyword(struct rule_text name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.at[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '-' && c != '.')
            return false;
    }
    return name.len != 0;
}

static enum sl_status read_with(struct rule_parser *parser, const struct option *option,
                                struct rule_text value)
{
    if (option->takes == A_VALUE && value.len == 0)
        return rule_bad(parser, "%s needs a value", option->name);
    if (option->takes == NO_VALUE && value.len != 0)
        return rule_bad(parser, "%s takes no value", option->name);
    return option->read(parser, value);
}

enum sl_status rule_option_read(struct rule_parser *parser, struct rule_text name,
                                struct rule_text value)
{
    const struct option *option = find(name);

    if (option != NULL)
        return read_with(parser, option, value);
    if (!is_keyword(name))
        return rule_bad(parser, "'%.*s' is no option", RULE_QUOTE(name));
    return rule_skip(parser, "", name);
}

enum sl_status rule_modifier_read(struct rule_parser *parser, struct rule_text name,
                                  struct rule_text value)
{
    const struct option *option = find(name);

    if (option != NULL && option->modifier)
        return read_with(parser, option, value);
    if (!is_keyword(name))
        return rule_bad(parser, "'%.*s' is no modifier of a content", RULE_QUOTE(name));
    return rule_skip(parser, "content ", name);
}
