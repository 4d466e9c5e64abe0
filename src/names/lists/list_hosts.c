/* SPDX-License-Identifier: MIT */
/* Lists of hosts, domains and URLs, one a line. */
#include <string.h>

#include "list_parse.h"

/* The line without blanks around it and without a comment: '#' at the beginning or behind a
 * blank. */
static struct list_token content(const char *text, size_t len)
{
    const char *end = text + len;

    for (const char *at = text; at < end; at++) {
        if (*at == '#' && (at == text || list_is_blank(at[-1]))) {
            end = at;
            break;
        }
    }
    while (text < end && list_is_blank(*text))
        text++;
    while (end > text && list_is_blank(end[-1]))
        end--;
    return (struct list_token){text, (size_t)(end - text)};
}

/* hosts(5): an address and its names. */
const char *list_hosts_line(struct list_parse *parse, const char *text, size_t len)
{
    const struct list_token line = content(text, len);
    const char *at = line.text, *end = at + line.len;

    if (line.len == 0)
        return NULL;
    struct list_token address = list_token(&at, end);
    const char *zone = memchr(address.text, '%', address.len); /* fe80::1%lo0 */
    if (zone != NULL)
        address.len = (size_t)(zone - address.text);
    if (!list_is_address(address))
        return "no IP address at the beginning";
    if (at == end)
        return "no name behind the address";
    parse->recognised = true;
    while (at < end) {
        const struct list_token host = list_token(&at, end);
        const enum sl_names_action action = list_address_action(address, host);

        /* "0.0.0.0 0.0.0.0", which lists begin with, names no host. */
        if (list_is_address(host))
            return "an address stands where a name should";
        if (memchr(host.text, '*', host.len) != NULL)
            return "a wildcard, which hosts files do not have";
        const char *why = list_add(parse, SL_NAMES_EXACT, action, SL_NAME_DOMAIN, host,
                                   action == SL_NAMES_BLOCK ? list_no_value : address);
        if (why != NULL)
            return why;
    }
    return NULL;
}

static const char *read_domain(struct list_parse *parse, enum sl_names_match match,
                               const char *text, size_t len)
{
    struct list_token line = content(text, len);
    const char *at = line.text, *end = at + line.len;

    if (line.len == 0)
        return NULL;
    struct list_token name = list_token(&at, end);
    if (at != end)
        return "more than one word in the line";
    if (name.len > 1 && name.text[0] == '.') {
        name.text++;
        name.len--;
        match = SL_NAMES_SUBTREE;
    }
    return list_add_host(parse, match, SL_NAMES_BLOCK, name, list_no_value);
}

const char *list_domains_line(struct list_parse *parse, const char *text, size_t len)
{
    return read_domain(parse, SL_NAMES_EXACT, text, len);
}

const char *list_subdomains_line(struct list_parse *parse, const char *text, size_t len)
{
    return read_domain(parse, SL_NAMES_SUBTREE, text, len);
}

static const char *add_url(struct list_parse *parse, struct list_token url,
                           enum sl_names_action action, struct list_token category)
{
    const char *why = list_add(parse, SL_NAMES_PATH, action, SL_NAME_URL, url, category);

    if (why == NULL) {
        struct list_rule *rule = &parse->rules[parse->n_rules - 1];

        if (rule->name.host_len == rule->name.len) /* no path: the whole domain */
            rule->match = SL_NAMES_SUBTREE;
    }
    return why;
}

/* URL, blanks, categories separated by commas. */
const char *list_urls_line(struct list_parse *parse, const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end && list_is_blank(*text))
        text++;
    if (text == end || *text == '#')
        return NULL;
    const struct list_token url = list_token(&text, end), categories = list_token(&text, end);
    if (text != end)
        return "more behind the category";
    if (url.text[0] == '/' || url.text[0] == '@' || url.text[0] == '|' || url.text[0] == '.')
        return "no URL";
    /* A path or a category distinguishes URLs from domains, and from addresses of hosts files. */
    parse->recognised =
        memchr(url.text, '/', url.len) != NULL || (categories.len != 0 && !list_is_address(url));
    if (categories.len == 0)
        return add_url(parse, url, SL_NAMES_BLOCK, list_no_value);

    const char *stop = categories.text + categories.len;
    for (const char *at = categories.text; at <= stop;) {
        const char *comma = memchr(at, ',', (size_t)(stop - at));
        const struct list_token category = {at, (size_t)((comma != NULL ? comma : stop) - at)};

        if (category.len == 0)
            return "an empty category";
        const char *why = add_url(parse, url, SL_NAMES_CATEGORY, category);
        if (why != NULL)
            return why;
        at += category.len + 1;
    }
    return NULL;
}
