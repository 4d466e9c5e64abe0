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

/* What is known of a rule while it is read; its arrays serve one rule after the other. */
struct rule_parser {
    struct sl_rules *rules;
    struct sl_diag *diag;
    struct rule *rule;
    struct rule_payload *payload; /* malloc'ed */
    size_t n_payloads, cap_payloads;
    struct rule_check *check; /* malloc'ed */
    size_t n_checks, cap_checks;
    struct rule_strings references, metadata;
    size_t content; /* the last one's index in payload; SIZE_MAX: there is none */
    bool has_flow;
    bool snort3; /* it shows syntax that only Snort 3 has */
    struct rule_text class;
};

/* Reads a rule. SL_EFORMAT: it is none, or a broken one, with the reason; SL_EUNSUPPORTED: the text
 * is the keyword that stopped it; SL_ENOMEM. Where it fails, what it took of rules->arena may be
 * released. */
enum sl_status rule_parse(struct rule_parser *parser, struct rule_text line, struct rule **rule);

void rule_parser_free(struct rule_parser *parser);

/* The ways out of a rule that does not load. */
enum sl_status rule_bad(struct rule_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum sl_status rule_skip(struct rule_parser *parser, const char *what, struct rule_text keyword);
enum sl_status rule_no_memory(struct rule_parser *parser);

/* Reads an option. */
enum sl_status rule_option_read(struct rule_parser *parser, struct rule_text name,
                                struct rule_text value);

/* Reads a modifier of a content, as Snort 3 writes them behind it. */
enum sl_status rule_modifier_read(struct rule_parser *parser, struct rule_text name,
                                  struct rule_text value);

/* The options themselves, by keyword. */
typedef enum sl_status rule_option_reader(struct rule_parser *parser, struct rule_text value);

/* signature.c */
rule_option_reader rule_read_msg, rule_read_sid, rule_read_rev, rule_read_gid, rule_read_priority,
    rule_read_classtype, rule_read_reference, rule_read_metadata, rule_read_nothing,
    rule_read_service;

/* rule_content.c */
rule_option_reader rule_read_content, rule_read_nocase, rule_read_offset, rule_read_depth,
    rule_read_distance, rule_read_within, rule_read_startswith, rule_read_endswith,
    rule_read_fast_pattern, rule_read_fast_pattern_offset, rule_read_fast_pattern_length,
    rule_read_isdataat;

/* rule_header.c */
rule_option_reader rule_read_dsize, rule_read_ttl, rule_read_id, rule_read_ip_proto,
    rule_read_itype, rule_read_icode, rule_read_flags, rule_read_fragbits, rule_read_sameip,
    rule_read_flow;

/* Checks what the payload options say together, and fills the rule with them. */
enum sl_status rule_content_finish(struct rule_parser *parser);

/* Fills the signature with what its options said. */
enum sl_status rule_signature_finish(struct rule_parser *parser);

#endif
