/* SPDX-License-Identifier: MIT */
/* The part of Adblock filter syntax that names domains, as DNS filters use it. Filters that depend
 * on what a browser asks for are skipped with a reason. */
#include <string.h>

#include "list_parse.h"

static bool begins(const char *text, const char *end, const char *with)
{
    const size_t len = strlen(with);

    return (size_t)(end - text) >= len && memcmp(text, with, len) == 0;
}

static bool contains(const char *text, const char *end, const char *what)
{
    return memmem(text, (size_t)(end - text), what, strlen(what)) != NULL;
}

/* Modifiers behind '$': those that leave the filter one of all requests, and "important". */
static const char *read_modifiers(struct list_parse *parse, const char *text, const char *end,
                                  bool *important)
{
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma != NULL ? comma : end;
        const struct list_token modifier = {text, (size_t)(stop - text)};

        if (list_token_is(modifier, "important"))
            *important = true;
        else if (list_token_is(modifier, "badfilter"))
            return list_skip(parse, "$badfilter, which takes another filter away");
        else if (!list_token_is(modifier, "all") && !list_token_is(modifier, "document") &&
                 !list_token_is(modifier, "doc"))
            return list_skip(parse,
                             "a modifier that limits the filter to some requests or clients");
        text = comma != NULL ? comma + 1 : end;
    }
    return NULL;
}

/* The text between "||" and the modifiers. */
static const char *check_pattern(struct list_parse *parse, const char **text, const char **end)
{
    const char *stop = *end;

    if (stop > *text && stop[-1] == '|')
        stop--;
    if (stop == *text || stop[-1] != '^')
        return list_skip(parse, memchr(*text, '/', (size_t)(stop - *text)) != NULL
                                    ? "a pattern with a path"
                                    : "a pattern without '^', which also fits longer names");
    *end = stop - 1;
    if (memchr(*text, '/', (size_t)(*end - *text)) != NULL)
        return list_skip(parse, "a pattern with a path");
    if (memchr(*text, '^', (size_t)(*end - *text)) != NULL)
        return list_skip(parse, "a pattern with '^' inside");
    return NULL;
}

static const char *read_filter(struct list_parse *parse, const char *text, const char *end,
                               bool exception)
{
    const char *dollar = memchr(text, '$', (size_t)(end - text));
    bool important = false;
    const char *why = NULL;

    if (dollar != NULL) {
        why = read_modifiers(parse, dollar + 1, end, &important);
        end = dollar;
    }
    if (why != NULL)
        return why;
    const enum sl_names_match match = text[1] == '|' ? SL_NAMES_SUBTREE : SL_NAMES_EXACT;
    text += text[1] == '|' ? 2 : 1;
    why = check_pattern(parse, &text, &end);
    if (why == NULL)
        why = list_add_host(parse, match, exception ? SL_NAMES_ALLOW : SL_NAMES_BLOCK,
                            (struct list_token){text, (size_t)(end - text)}, list_no_value);
    if (why == NULL)
        parse->rules[0].rank = (exception ? SL_NAMES_RANK_EXCEPTION : SL_NAMES_RANK_NORMAL) +
                               (important ? SL_NAMES_RANK_IMPORTANT : SL_NAMES_RANK_NORMAL);
    return why;
}

/* Filters that are certainly Adblock syntax, and name no domain. */
static const char *other_filter(const char *text, const char *end)
{
    static const char *const marks[] = {"##", "#@#", "#?#", "#$#", "#%#", "$$", NULL};

    for (int i = 0; marks[i] != NULL; i++)
        if (contains(text, end, marks[i]))
            return "a filter of a page's elements";
    if (*text == '/' && end - text > 1 && (end[-1] == '/' || contains(text, end, "/$")))
        return "a regular expression";
    return NULL;
}

static bool ends_label(const char *at, const char *end)
{
    return at == end || *at == '.';
}

/* Whether a line without an anchor is a part of a URL, as "/banner/x.gif", "-ads-728." and "&ad.",
 * and no domain. No label of a host begins or ends with a hyphen. */
static bool is_url_part(const char *text, const char *end)
{
    bool begins_label = true;

    if (*text == '_' || end[-1] == '_' || end[-1] == '.')
        return true;
    for (const char *at = text; at < end; at++) {
        if (strchr("/?=&:;,%~+!|()[]{}'\"", *at) != NULL && *at != '\0')
            return true;
        if (*at == '-' && (begins_label || ends_label(at + 1, end)))
            return true;
        begins_label = *at == '.';
    }
    return false;
}

const char *list_adblock_line(struct list_parse *parse, const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end && list_is_blank(*text))
        text++;
    while (end > text && list_is_blank(end[-1]))
        end--;
    if (text == end || *text == '!' || *text == '[')
        return NULL;

    const char *why = other_filter(text, end);
    if (why != NULL) {
        parse->recognised = true;
        return list_skip(parse, why);
    }
    if (*text == '#')
        return NULL;
    const bool exception = begins(text, end, "@@");
    if (exception)
        text += 2;
    /* Names of other formats begin with none of these but '/', which NDN's do. */
    parse->recognised = exception || (*text != '\0' && strchr("|-&_?=", *text) != NULL);
    if (end - text >= 2 && *text == '|')
        return read_filter(parse, text, end, exception);
    /* Such lists may hold lines of hosts files and plain domains, which do not show the format. */
    const bool hosts = memchr(text, ' ', (size_t)(end - text)) != NULL ||
                       memchr(text, '\t', (size_t)(end - text)) != NULL;
    if (exception || contains(text, end, "$") || contains(text, end, "^") ||
        !contains(text, end, ".") || (!hosts && is_url_part(text, end)))
        return list_skip(parse, "a pattern that is not anchored to a domain");
    why = (hosts ? list_hosts_line : list_domains_line)(parse, text, (size_t)(end - text));
    parse->recognised = false;
    return why;
}
