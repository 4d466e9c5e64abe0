/* SPDX-License-Identifier: MIT */
/* From a rule's text to struct rule. */
#ifndef DETECT_RULE_PARSE_H
#define DETECT_RULE_PARSE_H

#include "detect/rule.h"
#include "rule_text.h"

struct rule_strings {
    const char **text; /* malloc'ed */
    size_t n, cap;
};

struct rule_option;

/* An option as it stands in a rule. */
struct rule_option_text {
    struct rule_text name, value;
    const struct rule_option *known; /* NULL: it is not understood */
    struct rule_text quoted; /* the text in quotes that the value begins with; `at` NULL: none */
    struct rule_text behind; /* the rest of the value, behind those quotes */
};

/* A rule while it is read. The arrays serve one rule after the other. */
struct rule_parser {
    struct sl_rules *rules;
    struct rule_arena *arena; /* of what belongs to one rule */
    bool helps;               /* it reads rules out of their order, beside other parsers */
    struct sl_diag *diag;
    const char *file;               /* of the rules */
    const char *where;              /* the byte of the rule that a diagnostic is about */
    const char *direction;          /* the arrow of the header */
    const char *name;               /* of the option or modifier that is read */
    struct rule_option_text option; /* the one that is read */
    struct rule *rule;
    struct rule_payload *payload; /* malloc'ed */
    size_t n_payloads, cap_payloads;
    struct rule_check *check; /* malloc'ed */
    size_t n_checks, cap_checks;
    struct rule_state *state;          /* the rule's; NULL: no option has asked for it */
    struct state_option *state_option; /* malloc'ed */
    size_t n_state_options, cap_state_options;
    struct rule_strings references, metadata;
    struct rule_strings lacks;   /* keywords that are not supported, each once */
    size_t content;              /* the last one's index in payload; SIZE_MAX: there is none */
    struct rule_payload section; /* of the steps that come: section, buffer, dotted */
    struct rule_payload base64;  /* the same behind base64_data */
    uint32_t n_sections;         /* behind that of the payload */
    struct {
        struct rule_text text;
        uint32_t section;
    } named[RULE_NAMES_MAX]; /* the results of byte_extract and byte_math */
    uint8_t n_names;
    bool has_flow;
    bool asks_files;  /* of any protocol that has some */
    bool has_service; /* Snort 3: it is for a service, on any port */
    bool snort3;      /* it shows syntax that only Snort 3 has */
    struct rule_text class;
};

/* Reads a rule. SL_EFORMAT: it is none, or a broken one; the diagnostic has the reason, and
 * parser->where the place. SL_EUNSUPPORTED: the rule is well-formed, and parser->lacks are the
 * keywords that are not supported. SL_ENOMEM. Where it fails, what it took of the arena may be
 * released. A parser that helps leaves rules that depend on those before: it fails, and says
 * anything. */
enum sl_status rule_parse(struct rule_parser *parser, struct rule_text line, struct rule **rule);

void rule_parser_free(struct rule_parser *parser);

#endif
