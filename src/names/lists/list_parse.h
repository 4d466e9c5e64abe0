/* SPDX-License-Identifier: MIT */
/* Reading list files: one line at a time into rules, or a reason why it is none. */
#ifndef NAMES_LIST_PARSE_H
#define NAMES_LIST_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/names.h"

enum {
    LIST_LINE_RULES = 256, /* rules a line may give: aliases of a host, domains of a setting */
    LIST_LINE_BYTES = 64 * 1024, /* bytes of their names */
    LIST_ZONE_MAX = 256          /* bytes of a zone's name with its NUL */
};

/* A rule of a line. Bytes are the parser's or the line's, valid until the next line. */
struct list_rule {
    enum sl_names_match match;
    uint32_t rank; /* SL_NAMES_RANK_* */
    enum sl_names_action action;
    struct sl_name name;
    const char *value; /* one value; NULL: none */
    size_t value_len;
};

struct list_format;

/* A file that is being read: the state that lines keep for those behind them. */
struct list_parse {
    const struct list_format *format;
    bool removing;   /* the line takes rules away: a value may be left out */
    bool recognised; /* the line is of this format, even where it gives no rule */
    bool skipped;    /* the line is well formed and not supported */

    struct list_rule rules[LIST_LINE_RULES];
    uint32_t n_rules;
    uint8_t bytes[LIST_LINE_BYTES];
    uint32_t bytes_len;

    char text[512]; /* a value that had to be put together */

    /* Zone files: the zone's name and the present origin, lower-cased, without the last dot, ""
     * where unknown; the last owner; open parentheses. Unbound: the last redirecting zone. */
    char apex[LIST_ZONE_MAX], origin[LIST_ZONE_MAX], owner[LIST_ZONE_MAX];
    bool has_apex, has_origin, has_owner;
    uint32_t parentheses;
};

/* NULL: the line gave parse->n_rules rules, perhaps none; otherwise why it gives none (static). */
struct list_format {
    const char *name;
    const char *(*line)(struct list_parse *parse, const char *text, size_t len);
};

/* All formats' names, separated by commas. Returns out. */
enum { LIST_KNOWN_MAX = 256 }; /* bytes, the NUL included: twice what there are */
const char *list_known_formats(char out[LIST_KNOWN_MAX]);

/* NULL: there is none of this name; diag lists the known ones. */
const struct list_format *list_format_find(const char *name, struct sl_diag *diag);

enum { LIST_DETECT_LINES = 1000 }; /* the first lines, which show the format */

/* The format that most of the first lines are of; NULL: none. */
const struct list_format *list_format_detect(const char *text, size_t text_len);

/* A text's next line, without its end; false: there is none. */
bool list_next_line(const char *text, size_t text_len, size_t *at, const char **line, size_t *len);

/* Reads one line: n_rules is set anew. */
const char *list_parse_line(struct list_parse *parse, const char *text, size_t len);

/* ---- for formats ----------------------------------------------------------------------------- */

struct list_token {
    const char *text;
    size_t len;
};

/* The token at *text up to a blank, *text moving behind it and the blanks that follow; an empty one
 * at the end. */
struct list_token list_token(const char **text, const char *end);

bool list_token_is(struct list_token token, const char *text);
bool list_token_is_nocase(struct list_token token, const char *text);

bool list_is_blank(char c);

/* Adds a rule. NULL: done; otherwise why not. A name of list_add_host may begin with "*." (below it
 * alone). Values are lent. */
const char *list_add(struct list_parse *parse, enum sl_names_match match,
                     enum sl_names_action action, enum sl_name_syntax syntax,
                     struct list_token name, struct list_token value);
const char *list_add_host(struct list_parse *parse, enum sl_names_match match,
                          enum sl_names_action action, struct list_token name,
                          struct list_token value);

/* Marks the line as well formed and not supported. Returns `why`. */
const char *list_skip(struct list_parse *parse, const char *why);

/* An IPv4 or IPv6 address? */
bool list_is_address(struct list_token token);

/* The type of a DNS record? */
bool list_is_record_type(struct list_token type);

/* The answer to a host that a list gives this address: unspecified and loopback addresses block. */
enum sl_names_action list_address_action(struct list_token address, struct list_token host);

extern const struct list_token list_no_value;

/* One line of the format; each in its own file. */
const char *list_prefix_line(struct list_parse *parse, const char *text, size_t len);
const char *list_nfdc_line(struct list_parse *parse, const char *text, size_t len);
const char *list_hosts_line(struct list_parse *parse, const char *text, size_t len);
const char *list_domains_line(struct list_parse *parse, const char *text, size_t len);
const char *list_subdomains_line(struct list_parse *parse, const char *text, size_t len);
const char *list_urls_line(struct list_parse *parse, const char *text, size_t len);
const char *list_adblock_line(struct list_parse *parse, const char *text, size_t len);
const char *list_dnsmasq_line(struct list_parse *parse, const char *text, size_t len);
const char *list_unbound_line(struct list_parse *parse, const char *text, size_t len);
const char *list_rpz_line(struct list_parse *parse, const char *text, size_t len);

#endif
