/* SPDX-License-Identifier: MIT */
/* The options that describe a rule in its alerts. */
#include <stdio.h>
#include <string.h>

#include "classification.h"
#include "reference.h"
#include "rule_fail.h"
#include "rule_option.h"

/* Takes the backslash off each character behind one. */
static char *unescape(struct rule_parser *parser, struct rule_text inner)
{
    char *text = rule_arena_text(parser->arena, inner.at, inner.len);
    size_t len = 0;

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < inner.len; i++) {
        if (inner.at[i] == '\\' && i + 1 < inner.len)
            i++;
        text[len++] = inner.at[i];
    }
    text[len] = '\0';
    return text;
}

static enum sl_status add_string(struct rule_parser *parser, struct rule_strings *strings,
                                 const char *text)
{
    const char **grown = rule_grow(strings->text, &strings->cap, strings->n, sizeof *grown);

    if (grown == NULL)
        return rule_no_memory(parser);
    strings->text = grown;
    if (text == NULL)
        return rule_no_memory(parser);
    strings->text[strings->n++] = text;
    return SL_OK;
}

static enum sl_status twice(struct rule_parser *parser, const char *name)
{
    return rule_bad_at(parser, parser->name, "the rule has more than one %s", name);
}

static enum sl_status read_number(struct rule_parser *parser, struct rule_text value,
                                  const char *name, int64_t min, uint32_t *number)
{
    int64_t read;

    if (!rule_text_number(value, min, UINT32_MAX, &read))
        return rule_bad(parser, "%s is '%.*s', not a number of %d to %u", name, RULE_QUOTE(value),
                        (int)min, UINT32_MAX);
    if (*number != 0)
        return twice(parser, name);
    *number = (uint32_t)read;
    return SL_OK;
}

enum sl_status rule_read_msg(struct rule_parser *parser, struct rule_text value)
{
    (void)value;
    if (parser->rule->signature.msg != NULL)
        return twice(parser, "msg");
    parser->rule->signature.msg = unescape(parser, parser->option.quoted);
    return parser->rule->signature.msg != NULL ? SL_OK : rule_no_memory(parser);
}

enum sl_status rule_read_sid(struct rule_parser *parser, struct rule_text value)
{
    return read_number(parser, value, "sid", 1, &parser->rule->signature.sid);
}

enum sl_status rule_read_rev(struct rule_parser *parser, struct rule_text value)
{
    return read_number(parser, value, "rev", 0, &parser->rule->signature.rev);
}

enum sl_status rule_read_gid(struct rule_parser *parser, struct rule_text value)
{
    return read_number(parser, value, "gid", 1, &parser->rule->signature.gid);
}

enum sl_status rule_read_priority(struct rule_parser *parser, struct rule_text value)
{
    return read_number(parser, value, "priority", 1, &parser->rule->signature.priority);
}

enum sl_status rule_read_classtype(struct rule_parser *parser, struct rule_text value)
{
    for (size_t i = 0; i < value.len; i++)
        if (rule_blank(value.at[i]))
            return rule_bad_at(parser,
                               rule_trim((struct rule_text){value.at + i, value.len - i}).at,
                               "classtype is '%.*s', not one word", RULE_QUOTE(value));
    parser->class = value;
    return SL_OK;
}

/* The address of a place in a system, or "system,place" where the system is not known. A place that
 * has a scheme is an address itself. NULL: no memory. */
static const char *address_of(struct rule_parser *parser, struct rule_text system,
                              struct rule_text place)
{
    struct rule_arena *arena = parser->arena;
    const char *prefix = rule_reference_find(parser->rules, system);
    const char *text = unescape(parser, place);
    char *address;

    if (text == NULL || (prefix != NULL && strstr(text, "://") != NULL))
        return text;

    const size_t text_len = strlen(text);
    const size_t prefix_len = prefix != NULL ? strlen(prefix) : system.len + 1;

    address = rule_arena_alloc(arena, prefix_len + text_len + 1);
    if (address == NULL)
        return NULL;
    if (prefix != NULL)
        memcpy(address, prefix, prefix_len);
    else
        snprintf(address, prefix_len + 1, "%.*s,", (int)system.len, system.at);
    memcpy(address + prefix_len, text, text_len + 1);
    return address;
}

/* "cve,2024-1", "url,example.org/x" or "url,"example.org/x"". */
enum sl_status rule_read_reference(struct rule_parser *parser, struct rule_text value)
{
    struct rule_text type, rest = value;

    rule_text_split(&rest, ',', &type);
    rest = rule_trim(rest);
    if (type.len == 0 || rest.len == 0)
        return rule_bad(parser, "reference is '%.*s', not a type, a comma and a place",
                        RULE_QUOTE(value));
    if (rest.at[0] == '"' && (rest.len == 1 || rest.at[rest.len - 1] != '"'))
        return rule_bad_at(parser, rest.at, "no '\"' ends the text of reference");
    if (rest.at[0] == '"')
        rest = (struct rule_text){rest.at + 1, rest.len - 2};
    return add_string(parser, &parser->references, address_of(parser, type, rest));
}

enum sl_status rule_read_target(struct rule_parser *parser, struct rule_text value)
{
    if (!rule_text_is(value, "src_ip") && !rule_text_is(value, "dest_ip"))
        return rule_bad(parser, "target is '%.*s', not src_ip or dest_ip", RULE_QUOTE(value));
    return SL_OK;
}

enum sl_status rule_read_metadata(struct rule_parser *parser, struct rule_text value)
{
    struct rule_text entry;
    enum sl_status status = SL_OK;

    while (status == SL_OK && rule_text_split(&value, ',', &entry))
        if (entry.len != 0)
            status = add_string(parser, &parser->metadata, unescape(parser, entry));
    return status;
}

/* Snort 3 applies a rule to flows of the services it has recognised, on any port, and else to the
 * ports of the header. Here the ports decide, but for rules about messages. */
enum sl_status rule_read_service(struct rule_parser *parser, struct rule_text value)
{
    struct rule_text word;

    parser->snort3 = parser->has_service = true;
    while (rule_text_split(&value, ',', &word))
        if (!rule_is_keyword(word))
            return rule_bad_at(parser, word.at, "service is '%.*s', not one word",
                               RULE_QUOTE(word));
    return SL_OK;
}

static const char *const *end_strings(struct rule_parser *parser, struct rule_strings *strings)
{
    if (add_string(parser, strings, "") != SL_OK)
        return NULL;
    strings->text[strings->n - 1] = NULL;
    return rule_arena_copy(parser->arena, strings->text, strings->n * sizeof *strings->text);
}

enum sl_status rule_signature_finish(struct rule_parser *parser)
{
    struct sl_signature *signature = &parser->rule->signature;
    const struct rule_class *class = NULL;

    if (signature->sid == 0)
        return rule_bad(parser, "the rule has no sid");
    if (signature->gid == 0)
        signature->gid = 1;
    if (signature->msg == NULL)
        signature->msg = "";
    signature->classtype = "";
    if (parser->class.len != 0) {
        signature->classtype = unescape(parser, parser->class);
        class = rule_class_find(parser->rules, parser->class);
    }
    signature->category = class != NULL ? class->description : signature->classtype;
    if (signature->priority == 0)
        signature->priority = class != NULL ? class->priority : 3;
    signature->references = end_strings(parser, &parser->references);
    signature->metadata = end_strings(parser, &parser->metadata);
    if (signature->classtype == NULL || signature->references == NULL ||
        signature->metadata == NULL)
        return rule_no_memory(parser);
    parser->rule->key[0] = signature->gid;
    parser->rule->key[1] = signature->sid;
    return SL_OK;
}
