/* SPDX-License-Identifier: MIT */
/* Routes: name tables of NDN. */
#include <stdio.h>
#include <string.h>

#include "list_parse.h"

/* ---- prefix<TAB>port ------------------------------------------------------------------------- */

/* One rule a next hop; they are merged where they are kept. */
static const char *add_hops(struct list_parse *parse, struct list_token name, const char *text,
                            const char *end)
{
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma != NULL ? comma : end;
        const struct list_token hop = {text, (size_t)(stop - text)};

        if (hop.len == 0)
            return "an empty next hop";
        const char *why =
            list_add(parse, SL_NAMES_PREFIX, SL_NAMES_FORWARD, SL_NAME_NDN, name, hop);
        if (why != NULL)
            return why;
        if (comma != NULL && comma + 1 == end)
            return "an empty next hop";
        text = stop + 1;
    }
    return NULL;
}

const char *list_prefix_line(struct list_parse *parse, const char *text, size_t len)
{
    const char *end = text + len;

    if (len == 0 || text[0] == '#')
        return NULL;
    if (text[0] != '/' && !(len >= 4 && memcmp(text, "ndn:", 4) == 0))
        return "no NDN name at the beginning";
    const struct list_token name = list_token(&text, end), hops = list_token(&text, end);
    if (text != end)
        return "more behind the next hops";
    parse->recognised = true;
    if (hops.len == 0 && !parse->removing)
        return "no next hop behind the prefix";
    if (hops.len == 0)
        return list_add(parse, SL_NAMES_PREFIX, SL_NAMES_FORWARD, SL_NAME_NDN, name, list_no_value);
    return add_hops(parse, name, hops.text, hops.text + hops.len);
}

/* ---- nfdc ------------------------------------------------------------------------------------ */

static bool is_number(struct list_token token)
{
    for (size_t i = 0; i < token.len; i++)
        if (token.text[i] < '0' || token.text[i] > '9')
            return false;
    return token.len > 0 && token.len <= 19;
}

/* "FACE COST" into the parser's text, which the rule keeps. */
static const char *add_route(struct list_parse *parse, struct list_token name,
                             struct list_token face, struct list_token cost, size_t *text_len)
{
    if (face.len == 0)
        return "no next hop";
    if (cost.len != 0 && !is_number(cost))
        return "the cost is no number";

    char *text = parse->text + *text_len;
    const size_t room = sizeof parse->text - *text_len;
    const int n = snprintf(text, room, "%.*s %.*s", (int)face.len, face.text,
                           cost.len != 0 ? (int)cost.len : 1, cost.len != 0 ? cost.text : "0");
    if (face.len > room || (size_t)n >= room)
        return "longer than a route may be";
    *text_len += (size_t)n;
    return list_add(parse, SL_NAMES_PREFIX, SL_NAMES_FORWARD, SL_NAME_NDN, name,
                    (struct list_token){text, (size_t)n});
}

/* The value of KEY=VALUE. */
static bool take_key(struct list_token token, const char *key, struct list_token *value)
{
    const size_t key_len = strlen(key);

    if (token.len < key_len || memcmp(token.text, key, key_len) != 0)
        return false;
    *value = (struct list_token){token.text + key_len, token.len - key_len};
    return true;
}

/* prefix=/a nexthop=262 origin=static cost=10 flags=child-inherit expires=never */
static const char *read_listed(struct list_parse *parse, const char *text, const char *end)
{
    struct list_token name = {0}, face = {0}, cost = {0};
    size_t text_len = 0;

    while (text < end) {
        const struct list_token token = list_token(&text, end);

        if (!take_key(token, "prefix=", &name) && !take_key(token, "nexthop=", &face))
            (void)take_key(token, "cost=", &cost);
    }
    return add_route(parse, name, face, cost, &text_len);
}

/* /a nexthops={faceid=262 (cost=10), faceid=263 (cost=20)} */
static const char *read_fib(struct list_parse *parse, const char *text, const char *end)
{
    const struct list_token name = list_token(&text, end);
    struct list_token rest, face = {0}, cost = {0};
    size_t text_len = 0;

    if (!take_key((struct list_token){text, (size_t)(end - text)}, "nexthops={", &rest) ||
        rest.len == 0 || end[-1] != '}')
        return "no next hops behind the prefix";
    parse->recognised = true;
    for (const char *at = rest.text, *stop = end - 1; at < stop;) {
        if (!take_key(list_token(&at, stop), "faceid=", &face) ||
            !take_key(list_token(&at, stop), "(cost=", &cost))
            return "a next hop without face or cost";
        while (cost.len > 0 && (cost.text[cost.len - 1] == ',' || cost.text[cost.len - 1] == ')'))
            cost.len--;
        const char *why = add_route(parse, name, face, cost, &text_len);
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* [nfdc] route add [prefix] /a [nexthop] 262 [origin O] [cost C] [no-inherit] [capture]
 * [expires E] */
static const char *read_command(struct list_parse *parse, const char *text, const char *end)
{
    struct list_token token = list_token(&text, end), name, face, cost = {0};
    size_t text_len = 0;

    if (list_token_is(token, "remove") || list_token_is(token, "list") ||
        list_token_is(token, "show"))
        return list_skip(parse, "a command other than route add");
    if (!list_token_is(token, "add"))
        return "no command that nfdc route has";
    name = list_token(&text, end);
    if (list_token_is(name, "prefix"))
        name = list_token(&text, end);
    face = list_token(&text, end);
    if (list_token_is(face, "nexthop"))
        face = list_token(&text, end);
    while (text < end) {
        token = list_token(&text, end);
        if (list_token_is(token, "no-inherit") || list_token_is(token, "capture"))
            continue;
        const bool is_cost = list_token_is(token, "cost");
        if (!is_cost && !list_token_is(token, "origin") && !list_token_is(token, "expires"))
            return "an option that nfdc route add does not have";
        token = list_token(&text, end);
        if (is_cost)
            cost = token;
    }
    return add_route(parse, name, face, cost, &text_len);
}

const char *list_nfdc_line(struct list_parse *parse, const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end && list_is_blank(*text))
        text++;
    while (end > text && list_is_blank(end[-1]))
        end--;
    if (text == end || *text == '#')
        return NULL;

    const char *at = text;
    struct list_token token = list_token(&at, end), value;
    if (at == end && (list_token_is(token, "RIB:") || list_token_is(token, "FIB:")))
        return NULL;
    if (token.text[0] == '/')
        return read_fib(parse, text, end);
    parse->recognised = true;
    if (take_key(token, "prefix=", &value))
        return read_listed(parse, text, end);
    if (list_token_is(token, "nfdc"))
        token = list_token(&at, end);
    if (list_token_is(token, "route"))
        return read_command(parse, at, end);
    parse->recognised = false;
    return "neither a route nor a next hop list";
}
