/* SPDX-License-Identifier: MIT */
/* Options of rules: a table of readers by keyword. */
#ifndef DETECT_RULE_OPTION_H
#define DETECT_RULE_OPTION_H

#include "rule_parse.h"

/* Reads the value of an option into the rule. */
typedef enum sl_status rule_option_reader(struct rule_parser *parser, struct rule_text value);

enum rule_takes {
    RULE_NO_VALUE,
    RULE_A_VALUE,
    RULE_MAYBE_VALUE,
    RULE_A_TEXT,       /* in quotes */
    RULE_A_CONTENT,    /* in quotes, with '!' before them, and modifiers behind a comma */
    RULE_AN_EXPRESSION /* with '!' before it; in quotes, or not; quotes in it need no backslash */
};

struct rule_option {
    const char *name;
    rule_option_reader *read;
    enum rule_takes takes;
};

/* NULL: none of the n options has this name. */
const struct rule_option *rule_option_find(const struct rule_option *options, size_t n,
                                           struct rule_text name);

/* Reads a value, after the check that there is one where the option takes one. The diagnostic of
 * the reader is about the value, or about the name where there is no value. */
enum sl_status rule_option_apply(struct rule_parser *parser, const struct rule_option *option,
                                 struct rule_text name, struct rule_text value);

static inline bool rule_is_keyword_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

/* Whether a text can be the name of an option. */
bool rule_is_keyword(struct rule_text name);

/* An option that changes no match. */
rule_option_reader rule_read_nothing;

/* option_table.c: the option of this name, or the modifier of a content; NULL: it is not known. */
const struct rule_option *rule_option_known(struct rule_text name);

/* Reads parser->option. */
enum sl_status rule_option_read(struct rule_parser *parser);

/* option_signature.c */
rule_option_reader rule_read_msg, rule_read_sid, rule_read_rev, rule_read_gid, rule_read_priority,
    rule_read_classtype, rule_read_reference, rule_read_metadata, rule_read_target,
    rule_read_service;

/* Fills the signature with the values of its options. */
enum sl_status rule_signature_finish(struct rule_parser *parser);

/* option_content.c */
rule_option_reader rule_read_content, rule_read_isdataat;

/* A modifier of the content before it. Snort 3 writes modifiers inside the content. NULL: the name
 * is none. */
const struct rule_option *rule_modifier_find(struct rule_text name);

/* Checks the payload options against each other, and fills the rule with them. */
enum sl_status rule_content_finish(struct rule_parser *parser);

/* option_pcre.c */
rule_option_reader rule_read_pcre;

/* option_bytes.c */
rule_option_reader rule_read_byte_test, rule_read_byte_jump, rule_read_byte_extract,
    rule_read_byte_math;

/* The number of a result that a text names, from 1 on, or 0: the text is no name. SL_EFORMAT: no
 * option before sets it. */
enum sl_status rule_name_read(struct rule_parser *parser, struct rule_text text, uint8_t *name);

/* Gives a step of RULE_BYTE_* the meaning of the rule's dialect. */
void rule_bytes_finish(const struct rule_parser *parser, struct rule_payload *step);

/* option_requires.c */
rule_option_reader rule_read_requires;

/* option_base64.c */
rule_option_reader rule_read_base64_decode, rule_read_base64_data;

/* SL_EUNSUPPORTED: a section goes on with its own bytes behind those that it decodes, or asks a set
 * for these. */
enum sl_status rule_base64_check(struct rule_parser *parser);

/* option_buffer.c */
rule_option_reader rule_read_buffer, rule_read_pkt_data, rule_read_bsize, rule_read_absent,
    rule_read_sip_word;

/* A buffer's name in rules; "the payload". */
const char *rule_buffer_name(enum rule_buffer buffer);

/* option_message.c */
rule_option_reader rule_read_value, rule_read_value_or_modifier, rule_read_uricontent,
    rule_read_urilen, rule_read_tls_version, rule_read_ssl_state, rule_read_tls_chain,
    rule_read_tls_date, rule_read_tls_validity, rule_read_ftp_port, rule_read_ftp_mode,
    rule_read_file_text, rule_read_filesize, rule_read_filestore, rule_read_file_digest,
    rule_read_tls_text, rule_read_call_interface, rule_read_call_opnum;

/* The rule is about messages of a flow of this protocol. SL_EFORMAT: it is not. */
enum sl_status rule_app_take(struct rule_parser *parser, enum sl_app app);

/* The name of a buffer that is a value of messages. */
const char *rule_value_name(enum rule_buffer buffer);

/* Puts an expression into the buffer that its flag names. SL_EFORMAT, without a diagnostic: the
 * flag names none. */
enum sl_status rule_value_of_flag(struct rule_parser *parser, char flag, struct rule_payload *step);

/* Sets which messages the rule is evaluated on, where it asks for some. SL_EFORMAT. */
enum sl_status rule_value_finish(struct rule_parser *parser);

/* option_data.c */
rule_option_reader rule_read_dataset, rule_read_datarep;

/* Adds a step to the section: its buffer is, or, negated, is not, in the set of a file. */
enum sl_status rule_data_list(struct rule_parser *parser, struct rule_text file, const char *type,
                              bool negated);

/* option_transform.c */
rule_option_reader rule_read_transform, rule_read_xor, rule_read_from_base64, rule_read_unpack,
    rule_read_pcrexform;

/* SL_EFORMAT: the transforms of the content's buffer take some of its bytes away. */
enum sl_status rule_content_passes(struct rule_parser *parser, const struct rule_payload *content);

/* option_filter.c */
rule_option_reader rule_read_threshold, rule_read_detection_filter;

/* option_tag.c */
rule_option_reader rule_read_tag;

/* option_state.c */
rule_option_reader rule_read_flowbits, rule_read_xbits, rule_read_flowint, rule_read_noalert,
    rule_read_alert;

struct state_filter;

/* Adds a filter to the rule's. SL_ENOMEM. */
enum sl_status rule_filter_add(struct rule_parser *parser, const struct state_filter *filter);

struct state_tag;

/* Adds a tag to those of the rule. SL_ENOMEM. */
enum sl_status rule_tag_add(struct rule_parser *parser, const struct state_tag *tag);

/* Fills the rule's state with its options. */
enum sl_status rule_state_finish(struct rule_parser *parser);

/* option_number.c */

/* Takes a comparison off the front: "<" and the like, "" where there is none. */
const char *rule_take_relation(struct rule_text *value);

/* Reads numbers of at most max as the range of a check: n, <n, >n, a<>b and the like. */
enum sl_status rule_read_range(struct rule_parser *parser, struct rule_text value, const char *name,
                               int64_t max, struct rule_check *check);

/* Reads numbers of at most max, which may have more than 32 bits, as the wide range of a check. */
enum sl_status rule_read_wide_range(struct rule_parser *parser, struct rule_text value,
                                    const char *name, int64_t max, struct rule_check *check);

/* Reads which of the values of a field that repeats is compared: "any", also where the word is
 * empty, "all", or an index of min to max. */
enum sl_status rule_read_which(struct rule_parser *parser, struct rule_text word, int min, int max,
                               int8_t *which);

/* Adds a check to the rule. */
enum sl_status rule_check_add(struct rule_parser *parser, struct rule_check check);

/* option_flow.c */
rule_option_reader rule_read_flow_age, rule_read_flow_total, rule_read_flow_total_of,
    rule_read_stream_size;

/* option_app.c */
rule_option_reader rule_read_message_number, rule_read_dns_opcode, rule_read_dns_rcode,
    rule_read_dns_rrtype, rule_read_app_layer_protocol;

/* A rule about protocols alone asks for the packet with which a side's is found, as in Suricata. */
enum sl_status rule_app_finish(struct rule_parser *parser);

/* The application protocol of this name, or SL_APP_UNKNOWN. */
enum sl_app rule_app_find(struct rule_text name);

/* option_event.c */
/* Whether `name` is an event of DNS, which then is read: *status. */
bool rule_read_dns_event(struct rule_parser *parser, struct rule_text name, enum sl_status *status);

rule_option_reader rule_read_decode_event, rule_read_stream_event, rule_read_app_layer_event;

/* option_header.c: rule_read_number reads the options that compare one field with numbers. */
rule_option_reader rule_read_number, rule_read_ip_proto, rule_read_tos, rule_read_vlan_id,
    rule_read_ipopts, rule_read_flags, rule_read_fragbits, rule_read_sameip, rule_read_flow;

#endif
