/* SPDX-License-Identifier: MIT */
/* Settings of resolvers: dnsmasq(8) and unbound.conf(5). */
#include <string.h>
#include <strings.h>

#include "list_parse.h"

static struct list_token trimmed(const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end && list_is_blank(*text))
        text++;
    while (end > text && list_is_blank(end[-1]))
        end--;
    return (struct list_token){text, (size_t)(end - text)};
}

/* A setting's name: lower-case words with hyphens. */
static bool is_key(struct list_token key)
{
    for (size_t i = 0; i < key.len; i++)
        if ((key.text[i] < 'a' || key.text[i] > 'z') && (key.text[i] < '0' || key.text[i] > '9') &&
            (key.text[i] != '-' || i == 0))
            return false;
    return key.len > 0;
}

/* ---- dnsmasq --------------------------------------------------------------------------------- */

enum setting { ADDRESS, SERVER, LOCAL };

/* A domain between slashes: it and all below; "#" is every name; a leading dot means nothing. */
static const char *add_domain(struct list_parse *parse, enum sl_names_action action,
                              struct list_token domain, struct list_token value)
{
    static const struct list_token root = {".", 1};

    if (domain.len == 0)
        return list_skip(parse, "names without a dot (an empty domain)");
    if (list_token_is(domain, "#"))
        return list_add(parse, SL_NAMES_SUBTREE, action, SL_NAME_DOMAIN, root, value);
    if (domain.text[0] == '.' && domain.len > 1) {
        domain.text++;
        domain.len--;
    }
    if (domain.text[0] == '*')
        return list_skip(parse, "a wildcard over parts of labels");
    return list_add_host(parse, SL_NAMES_SUBTREE, action, domain, value);
}

/* ADDRESS[#PORT][@...] */
static bool is_server(struct list_token value)
{
    size_t len = 0;

    while (len < value.len && value.text[len] != '#' && value.text[len] != '@')
        len++;
    return list_is_address((struct list_token){value.text, len});
}

/* Reads the action from the text behind the last slash; NULL or why not. */
static const char *read_target(enum setting setting, struct list_token value,
                               enum sl_names_action *action)
{
    if (value.len == 0) {
        *action = SL_NAMES_NXDOMAIN;
        return NULL;
    }
    if (setting == ADDRESS) {
        *action = SL_NAMES_ADDRESS;
        return list_is_address(value) || list_token_is(value, "#") ? NULL
                                                                   : "no IP address at the end";
    }
    /* "#" is the standard servers: the name is resolved as if there were no rule. */
    *action = list_token_is(value, "#") ? SL_NAMES_ALLOW : SL_NAMES_SERVER;
    return *action == SL_NAMES_ALLOW || is_server(value) ? NULL : "no server's address at the end";
}

/* /DOMAIN/.../TARGET */
static const char *read_domains(struct list_parse *parse, enum setting setting,
                                struct list_token list)
{
    static const struct list_token zero4 = {"0.0.0.0", 7}, zero6 = {"::", 2};
    enum sl_names_action action;
    const char *end = list.text + list.len, *last;

    if (is_server(list))
        return list_skip(parse, "for all names, not for domains between slashes");
    if (list.len < 2 || list.text[0] != '/')
        return "no domain between slashes";
    last = memrchr(list.text, '/', list.len);
    if (last == list.text)
        return "no slash behind the domain";
    struct list_token value = trimmed(last + 1, (size_t)(end - last - 1));
    const char *why = read_target(setting, value, &action);
    const bool null = why == NULL && action == SL_NAMES_ADDRESS && list_token_is(value, "#");
    if (action == SL_NAMES_ALLOW || action == SL_NAMES_NXDOMAIN)
        value = list_no_value;

    for (const char *at = list.text + 1; why == NULL && at <= last;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const struct list_token domain = {at, (size_t)(slash - at)};

        why = add_domain(parse, action, domain, null ? zero4 : value);
        if (why == NULL && null)
            why = add_domain(parse, action, domain, zero6);
        at = slash + 1;
    }
    return why;
}

const char *list_dnsmasq_line(struct list_parse *parse, const char *text, size_t len)
{
    static const struct {
        const char *key;
        enum setting setting;
    } settings[] = {{"address", ADDRESS}, {"server", SERVER}, {"local", LOCAL}};
    struct list_token line = trimmed(text, len);

    for (size_t i = 1; i < line.len; i++) /* a comment behind a setting */
        if (line.text[i] == '#' && list_is_blank(line.text[i - 1]))
            line = trimmed(line.text, i);
    if (line.len == 0 || line.text[0] == '#')
        return NULL;
    if (line.len > 2 && memcmp(line.text, "--", 2) == 0)
        line = (struct list_token){line.text + 2, line.len - 2};
    const char *equals = memchr(line.text, '=', line.len);
    const struct list_token key =
        equals != NULL ? trimmed(line.text, (size_t)(equals - line.text)) : line;
    if (!is_key(key))
        return "no setting NAME or NAME=VALUE";

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (equals == NULL || !list_token_is(key, settings[i].key))
            continue;
        parse->recognised = true;
        return read_domains(parse, settings[i].setting,
                            trimmed(equals + 1, (size_t)(line.text + line.len - equals - 1)));
    }
    return list_skip(parse, "another setting than address, server and local");
}

/* ---- unbound --------------------------------------------------------------------------------- */

/* The action of a local-zone on names without local data of their own. */
static const struct {
    const char *type;
    enum sl_names_action action;
} zone_types[] = {{"deny", SL_NAMES_DROP},
                  {"refuse", SL_NAMES_REFUSE},
                  {"static", SL_NAMES_NXDOMAIN},
                  {"transparent", SL_NAMES_ALLOW},
                  {"typetransparent", SL_NAMES_ALLOW},
                  {"redirect", SL_NAMES_REDIRECT},
                  {"inform", SL_NAMES_ALLOW},
                  {"inform_deny", SL_NAMES_DROP},
                  {"inform_redirect", SL_NAMES_REDIRECT},
                  {"always_transparent", SL_NAMES_ALLOW},
                  {"always_refuse", SL_NAMES_REFUSE},
                  {"always_nxdomain", SL_NAMES_NXDOMAIN},
                  {"always_nodata", SL_NAMES_NODATA},
                  {"always_deny", SL_NAMES_DROP},
                  {"always_null", SL_NAMES_BLOCK},
                  {"nodefault", SL_NAMES_ALLOW}};

/* A word, or what stands in quotes; *text moves behind it and the blanks that follow. */
static struct list_token take_word(const char **text, const char *end)
{
    const char quote = *text < end ? **text : '\0';

    if (quote != '"' && quote != '\'')
        return list_token(text, end);
    struct list_token word = {.text = *text + 1};
    const char *close = memchr(word.text, quote, (size_t)(end - word.text));
    const char *stop = close != NULL ? close : end;
    word.len = (size_t)(stop - word.text);
    *text = close != NULL ? close + 1 : end;
    while (*text < end && list_is_blank(**text))
        ++*text;
    return word;
}

static struct list_token without_dot(struct list_token name)
{
    if (name.len > 1 && name.text[name.len - 1] == '.')
        name.len--;
    return name;
}

static const char *read_zone(struct list_parse *parse, const char *text, const char *end)
{
    const struct list_token zone = take_word(&text, end), type = take_word(&text, end);

    parse->owner[0] = '\0';
    if (zone.len == 0 || type.len == 0)
        return "no zone or no type";
    for (size_t i = 0; i < sizeof zone_types / sizeof *zone_types; i++) {
        if (!list_token_is(type, zone_types[i].type))
            continue;
        const char *why = list_add(parse, SL_NAMES_SUBTREE, zone_types[i].action, SL_NAME_DOMAIN,
                                   zone, list_no_value);
        if (why == NULL && zone_types[i].action == SL_NAMES_REDIRECT) {
            /* The action of such a zone is its local data, which follows. */
            const struct list_token name = without_dot(zone);
            memcpy(parse->owner, name.text, name.len);
            parse->owner[name.len] = '\0';
            parse->n_rules = 0;
        }
        return why;
    }
    return "a type of zone that is not known";
}

static bool is_ttl(struct list_token token)
{
    for (size_t i = 0; i < token.len; i++)
        if (token.text[i] < '0' || token.text[i] > '9')
            return false;
    return token.len > 0;
}

/* NAME [TTL] [CLASS] TYPE DATA: the name itself, and in a redirecting zone whose top it is, all
 * below. */
static const char *read_data(struct list_parse *parse, const char *text, const char *end)
{
    const struct list_token record = take_word(&text, end);
    const char *at = record.text, *stop = record.text + record.len;
    const struct list_token name = list_token(&at, stop);
    struct list_token type = list_token(&at, stop);

    if (is_ttl(type))
        type = list_token(&at, stop);
    if (list_token_is_nocase(type, "IN"))
        type = list_token(&at, stop);
    const struct list_token data = list_token(&at, stop);
    const bool address = list_token_is_nocase(type, "A") || list_token_is_nocase(type, "AAAA");
    if (!list_is_record_type(type))
        return "no record type that is known";
    if (!address && !list_token_is_nocase(type, "CNAME"))
        return list_skip(parse, "local data of a type other than A, AAAA and CNAME");
    if (address && !list_is_address(data))
        return "no IP address at the end";
    const bool below = list_token_is_nocase(without_dot(name), parse->owner);
    return list_add(parse, below ? SL_NAMES_SUBTREE : SL_NAMES_EXACT,
                    address ? SL_NAMES_ADDRESS : SL_NAMES_REDIRECT, SL_NAME_DOMAIN, name, data);
}

const char *list_unbound_line(struct list_parse *parse, const char *text, size_t len)
{
    struct list_token line = trimmed(text, len);
    const char *at = line.text, *end = at + line.len;

    if (line.len == 0 || line.text[0] == '#')
        return NULL;
    /* One key is the whole line's, the blank behind its colon may be missing. */
    const char *colon = memchr(at, ':', line.len);
    const struct list_token key = {at, colon != NULL ? (size_t)(colon - at) : 0};
    if (colon == NULL || !is_key(key))
        return "no setting NAME: VALUE";
    at = colon + 1;
    while (at < end && list_is_blank(*at))
        at++;
    if (at == end && (list_token_is(key, "server") || list_token_is(key, "view")))
        return NULL;
    parse->recognised = list_token_is(key, "local-zone") || list_token_is(key, "local-data");
    if (list_token_is(key, "local-zone"))
        return read_zone(parse, at, end);
    if (list_token_is(key, "local-data"))
        return read_data(parse, at, end);
    if (at < end && *at == '/' && at[-1] == ':') /* a URL */
        return "no setting NAME: VALUE";
    return list_skip(parse, "another setting than local-zone and local-data");
}
