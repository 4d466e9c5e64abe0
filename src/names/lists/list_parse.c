/* SPDX-License-Identifier: MIT */
/* Parts that all list formats share: lines, tokens, detection. */
#include "list_parse.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"

/* Detection prefers the earlier of two that fit equally well. "subdomains" looks like "domains" and
 * is only taken by name. */
static const struct list_format formats[] = {{"prefix", list_prefix_line},
                                             {"nfdc", list_nfdc_line},
                                             {"rpz", list_rpz_line},
                                             {"unbound", list_unbound_line},
                                             {"dnsmasq", list_dnsmasq_line},
                                             {"hosts", list_hosts_line},
                                             {"domains", list_domains_line},
                                             {"subdomains", list_subdomains_line},
                                             {"urls", list_urls_line},
                                             {"adblock", list_adblock_line},
                                             {NULL, NULL}};

const struct sl_names_format *sl_names_formats(void)
{
    static const struct sl_names_format known[] = {
        {"prefix", "an NDN name, a tab, its next hops"},
        {"nfdc", "nfdc route list, nfdc fib list or nfdc route add commands"},
        {"rpz", "a response policy zone"},
        {"unbound", "local-zone and local-data of unbound.conf"},
        {"dnsmasq", "address=/, server=/ and local=/ of dnsmasq.conf"},
        {"hosts", "a hosts file: each name exactly"},
        {"domains", "a domain a line: each exactly; *.x all below x; .x both"},
        {"subdomains", "a domain a line: each and all below"},
        {"urls", "URL prefixes, each with a category behind a tab, or none (block)"},
        {"adblock", "||domain^ and exceptions @@||domain^"},
        {NULL, NULL}};

    return known;
}

const struct list_token list_no_value = {NULL, 0};
static const char too_many[] = "more names than a line may have";

const char *list_known_formats(char out[LIST_KNOWN_MAX])
{
    size_t len = 0;

    for (const struct list_format *format = formats; format->name != NULL; format++)
        len += (size_t)snprintf(out + len, LIST_KNOWN_MAX - len, "%s%s", len == 0 ? "" : ", ",
                                format->name);
    return out;
}

const struct list_format *list_format_find(const char *name, struct sl_diag *diag)
{
    char known[LIST_KNOWN_MAX];

    for (const struct list_format *format = formats; format->name != NULL; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    (void)diag_set(diag, SL_EINVAL, NULL, 0, "'%.64s' is no format of lists (known: %s)", name,
                   list_known_formats(known));
    return NULL;
}

bool list_next_line(const char *text, size_t text_len, size_t *at, const char **line, size_t *len)
{
    if (*at >= text_len)
        return false;
    const char *begin = text + *at;
    const char *end = memchr(begin, '\n', text_len - *at);

    *line = begin;
    *len = end != NULL ? (size_t)(end - begin) : text_len - *at;
    *at += *len + 1;
    if (*len > 0 && begin[*len - 1] == '\r')
        --*len;
    return true;
}

const char *list_parse_line(struct list_parse *parse, const char *text, size_t len)
{
    parse->n_rules = 0;
    parse->bytes_len = 0;
    parse->recognised = parse->skipped = false;
    if (memchr(text, '\0', len) != NULL)
        return "a NUL byte";

    const char *why = parse->format->line(parse, text, len);
    if (why != NULL)
        parse->n_rules = 0;
    return why;
}

/* ---- detection ------------------------------------------------------------------------------- */

/* The score of a format over the first lines that are not comments: two for a line that gives
 * rules, one for another line of the format. *n_lines is the number of lines. Adblock lists and
 * lists of URLs may hold lines of other formats. Such a line counts once in lists of URLs, and both
 * formats need one line that is theirs alone. */
static uint32_t score(struct list_parse *parse, const char *text, size_t text_len,
                      uint32_t *n_lines)
{
    uint32_t points = 0;
    const bool urls = parse->format->line == list_urls_line;
    bool distinct = !urls && parse->format->line != list_adblock_line;
    const char *line;
    size_t at = 0, len;

    *n_lines = 0;
    for (uint32_t i = 0; i < LIST_DETECT_LINES && list_next_line(text, text_len, &at, &line, &len);
         i++) {
        const char *why = list_parse_line(parse, line, len);

        if (why == NULL && parse->n_rules == 0)
            continue;
        ++*n_lines;
        points += why != NULL || urls ? parse->recognised + (why == NULL) : 2;
        distinct |= parse->recognised;
    }
    return distinct ? points : 0;
}

const struct list_format *list_format_detect(const char *text, size_t text_len)
{
    struct list_parse *parse = malloc(sizeof *parse);
    const struct list_format *best = NULL;
    uint32_t best_points = 0;

    if (parse == NULL)
        return NULL;
    for (const struct list_format *format = formats; format->name != NULL; format++) {
        uint32_t n_lines;

        if (format->line == list_subdomains_line)
            continue;
        memset(parse, 0, sizeof *parse);
        parse->format = format;
        const uint32_t points = score(parse, text, text_len, &n_lines);
        if (points > best_points && points >= n_lines) {
            best = format;
            best_points = points;
        }
    }
    free(parse);
    return best;
}

/* ---- tokens and rules ------------------------------------------------------------------------ */

bool list_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct list_token list_token(const char **text, const char *end)
{
    struct list_token token = {.text = *text};

    while (*text < end && !list_is_blank(**text))
        ++*text;
    token.len = (size_t)(*text - token.text);
    while (*text < end && list_is_blank(**text))
        ++*text;
    return token;
}

bool list_token_is(struct list_token token, const char *text)
{
    return token.len == strlen(text) && memcmp(token.text, text, token.len) == 0;
}

bool list_token_is_nocase(struct list_token token, const char *text)
{
    return token.len == strlen(text) && strncasecmp(token.text, text, token.len) == 0;
}

const char *list_skip(struct list_parse *parse, const char *why)
{
    parse->skipped = true;
    return why;
}

const char *list_add(struct list_parse *parse, enum sl_names_match match,
                     enum sl_names_action action, enum sl_name_syntax syntax,
                     struct list_token name, struct list_token value)
{
    struct list_rule *rule = &parse->rules[parse->n_rules];

    if (parse->n_rules == LIST_LINE_RULES ||
        sizeof parse->bytes - parse->bytes_len < SL_NAME_LEN_MAX)
        return list_skip(parse, too_many);
    *rule = (struct list_rule){
        .match = match, .action = action, .value = value.text, .value_len = value.len};

    const char *why =
        sl_name_read(&rule->name, syntax, parse->bytes + parse->bytes_len,
                     (uint32_t)(sizeof parse->bytes) - parse->bytes_len, name.text, name.len);
    if (why != NULL)
        return why;
    parse->bytes_len += rule->name.len;
    parse->n_rules++;
    return NULL;
}

const char *list_add_host(struct list_parse *parse, enum sl_names_match match,
                          enum sl_names_action action, struct list_token name,
                          struct list_token value)
{
    if (name.len > 2 && name.text[0] == '*' && name.text[1] == '.') {
        name.text += 2;
        name.len -= 2;
        match = SL_NAMES_BELOW;
    }
    if (memchr(name.text, '*', name.len) != NULL)
        return list_skip(parse, "a wildcard that is not '*.' at the beginning");
    return list_add(parse, match, action, SL_NAME_DOMAIN, name, value);
}

static int read_address(struct list_token token, uint8_t bytes[16])
{
    char text[INET6_ADDRSTRLEN];

    if (token.len == 0 || token.len >= sizeof text)
        return AF_UNSPEC;
    memcpy(text, token.text, token.len);
    text[token.len] = '\0';
    memset(bytes, 0, 16);
    if (inet_pton(AF_INET, text, bytes) == 1)
        return AF_INET;
    return inet_pton(AF_INET6, text, bytes) == 1 ? AF_INET6 : AF_UNSPEC;
}

bool list_is_address(struct list_token token)
{
    uint8_t bytes[16];

    return read_address(token, bytes) != AF_UNSPEC;
}

/* Names that belong on a loopback address, in the hosts files of systems. */
static bool is_local(struct list_token host)
{
    static const char *const names[] = {"localhost",     "localhost.localdomain", "local",
                                        "ip6-localhost", "ip6-loopback",          "localhost6",
                                        "localhost4",    "broadcasthost",         NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (list_token_is_nocase(host, names[i]))
            return true;
    return false;
}

enum sl_names_action list_address_action(struct list_token address, struct list_token host)
{
    static const uint8_t zero[16], one[16] = {[15] = 1};
    uint8_t bytes[16];
    const int family = read_address(address, bytes);

    if (memcmp(bytes, zero, sizeof zero) == 0)
        return SL_NAMES_BLOCK;
    if (is_local(host))
        return SL_NAMES_ADDRESS;
    return (family == AF_INET && bytes[0] == 127) ||
                   (family == AF_INET6 && memcmp(bytes, one, sizeof one) == 0)
               ? SL_NAMES_BLOCK
               : SL_NAMES_ADDRESS;
}
