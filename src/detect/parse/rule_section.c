/* SPDX-License-Identifier: MIT */
#include "rule_section.h"

#include "rule_fail.h"

bool rule_section_has_steps(const struct rule_parser *parser)
{
    for (size_t i = parser->n_payloads; i > 0; i--)
        if (parser->payload[i - 1].section == parser->section.section)
            return true;
    return false;
}

/* A buffer that does not repeat, and that a rule names again, goes on with its section. */
static void resume_section(struct rule_parser *parser)
{
    struct rule_payload *section = &parser->section;

    if (section->section == 0 || section->decoded || section->optional ||
        rule_buffer_repeats(section->buffer) || rule_section_has_steps(parser))
        return;
    for (size_t i = 0; i < parser->n_payloads; i++)
        if (parser->payload[i].buffer == section->buffer && !parser->payload[i].optional &&
            parser->payload[i].chain == section->chain)
            section->section = parser->payload[i].section;
}

struct rule_payload *rule_payload_add(struct rule_parser *parser, enum rule_payload_kind kind)
{
    struct rule_payload *grown =
        rule_grow(parser->payload, &parser->cap_payloads, parser->n_payloads, sizeof *grown);

    if (grown == NULL)
        return NULL;
    parser->payload = grown;

    resume_section(parser);

    struct rule_payload *payload = &grown[parser->n_payloads++];

    *payload = parser->section;
    payload->kind = kind;
    payload->window = RULE_NO_WINDOW;
    return payload;
}

enum sl_status rule_size_add(struct rule_parser *parser, const struct rule_check *check)
{
    struct rule_payload *step = rule_payload_add(parser, RULE_SIZE);

    if (step == NULL)
        return rule_no_memory(parser);
    step->negated = check->negated;
    step->distance = (int32_t)check->first;
    step->window = check->last;
    return SL_OK;
}

enum sl_status rule_section_end(struct rule_parser *parser)
{
    return parser->section.section == 0 || rule_section_has_steps(parser)
               ? SL_OK
               : rule_bad(parser, "a buffer has no content behind it");
}

/* A step that is relative to a content, and has no buffer of its own, goes where that was put. */
void rule_section_follow(struct rule_parser *parser)
{
    const struct rule_payload *before = NULL;

    for (size_t i = 0; i < parser->n_payloads; i++) {
        struct rule_payload *step = &parser->payload[i];

        if (before != NULL && before->moved && step->relative && step->section == 0 &&
            !step->decoded && step->kind != RULE_CONTENT) {
            step->section = before->section;
            step->buffer = before->buffer;
            step->moved = true;
        }
        before = step;
    }
}

/* Insertion: steps are few, and those of a section that is not the payload's are neighbours. */
void rule_section_sort(struct rule_parser *parser)
{
    for (size_t i = 1; i < parser->n_payloads; i++) {
        const struct rule_payload step = parser->payload[i];
        size_t to = i;

        for (; to > 0 && parser->payload[to - 1].section > step.section; to--)
            parser->payload[to] = parser->payload[to - 1];
        parser->payload[to] = step;
    }
}

enum sl_status rule_absent_check(struct rule_parser *parser)
{
    const struct rule_payload *const steps = parser->payload;

    for (size_t i = 0; i < parser->n_payloads; i++) {
        const uint32_t section = steps[i].section;
        const bool first = i == 0 || steps[i - 1].section != section;
        const bool last = i + 1 == parser->n_payloads || steps[i + 1].section != section;

        /* Neither sets nor names are there where the buffer is not. */
        if (steps[i].optional && (steps[i].kind == RULE_DATA || steps[i].kind == RULE_BYTE_SET))
            return rule_skip(parser, "a set of data or a name behind absent",
                             (struct rule_text){NULL, 0});
        if (steps[i].kind == RULE_ABSENT && (!first || last == steps[i].optional))
            return rule_bad(parser, last ? "absent:or_else has no option of its buffer behind it"
                                         : "absent stands beside other options of its buffer");
    }
    return SL_OK;
}
