/* SPDX-License-Identifier: MIT */
/* Response policy zones (draft-vixie-dns-rpz): zone files (RFC 1035, section 5) whose owners are
 * names to act on and whose records say how. Only triggers by query name are looked up here. */
#include <string.h>
#include <strings.h>

#include "list_parse.h"

static bool is_number(struct list_token token)
{
    /* TTLs may have units: 2h, 1w2d. */
    for (size_t i = 0; i < token.len; i++)
        if ((token.text[i] < '0' || token.text[i] > '9') &&
            (i == 0 || strchr("smhdwSMHDW", token.text[i]) == NULL))
            return false;
    return token.len > 0;
}

static bool keep(char to[LIST_ZONE_MAX], struct list_token name)
{
    if (name.len >= LIST_ZONE_MAX)
        return false;
    if (name.len != 0)
        memcpy(to, name.text, name.len);
    to[name.len] = '\0';
    return true;
}

static struct list_token kept(const char *name)
{
    return (struct list_token){name, strlen(name)};
}

/* The length of the line without its comment, and how many parentheses it opens or closes. */
static size_t content_len(const char *text, size_t len, int *parentheses)
{
    bool quoted = false;

    *parentheses = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (text[i] == ';')
            return i;
        else
            *parentheses += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    }
    return len;
}

/* Takes ".zone" off a name's end; false: the name is not below the zone. An equal name is empty
 * then. */
static bool cut_zone(struct list_token *name, const char *zone)
{
    const size_t len = strlen(zone);

    if (len == 0)
        return true;
    if (name->len < len || strncasecmp(name->text + name->len - len, zone, len) != 0)
        return false;
    if (name->len == len) {
        name->len = 0;
        return true;
    }
    if (name->text[name->len - len - 1] != '.')
        return false;
    name->len -= len + 1;
    return true;
}

/* The name that an owner stands for, in the zone; empty: the zone's top. */
static const char *resolve_owner(struct list_parse *parse, struct list_token *owner)
{
    const bool at = list_token_is(*owner, "@");

    if (owner->len > 0 && owner->text[owner->len - 1] == '.') {
        owner->len--;
        return parse->has_apex && cut_zone(owner, parse->apex) ? NULL
                                                               : "a name outside of the zone";
    }
    if (at)
        owner->len = 0;
    /* Relative to the origin, which may lie below the zone's top. */
    struct list_token origin = kept(parse->origin);
    if (!parse->has_origin || !parse->has_apex || strcasecmp(parse->origin, parse->apex) == 0)
        return NULL;
    if (!cut_zone(&origin, parse->apex))
        return "a name outside of the zone";
    if (owner->len + origin.len + 2 > sizeof parse->text)
        return "a domain longer than 253 characters";
    if (owner->len != 0)
        memmove(parse->text, owner->text, owner->len);
    size_t len = owner->len;
    if (len != 0)
        parse->text[len++] = '.';
    memcpy(parse->text + len, origin.text, origin.len);
    *owner = (struct list_token){parse->text, len + origin.len};
    return NULL;
}

/* Triggers by address or server look like names below these. */
static bool is_other_trigger(struct list_token owner)
{
    static const char *const marks[] = {"rpz-ip", "rpz-nsdname", "rpz-nsip", "rpz-client-ip", NULL};

    for (int i = 0; marks[i] != NULL; i++) {
        struct list_token name = owner;
        if (cut_zone(&name, marks[i]))
            return true;
    }
    return false;
}

static const char *add_cname(struct list_parse *parse, struct list_token owner,
                             struct list_token target)
{
    static const struct {
        const char *target;
        enum sl_names_action action;
    } actions[] = {{".", SL_NAMES_NXDOMAIN},
                   {"*.", SL_NAMES_NODATA},
                   {"rpz-passthru.", SL_NAMES_ALLOW},
                   {"rpz-drop.", SL_NAMES_DROP},
                   {"rpz-tcp-only.", SL_NAMES_TRUNCATE}};

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (list_token_is_nocase(target, actions[i].target))
            return list_add_host(parse, SL_NAMES_EXACT, actions[i].action, owner, list_no_value);
    if (target.len > 4 && strncasecmp(target.text, "rpz-", 4) == 0)
        return "an action rpz-... that is not known, or lacks its last dot";
    if (target.len > 1 && target.text[target.len - 1] == '.')
        target.len--;
    /* The form before rpz-passthru: the name itself. */
    const bool itself =
        target.len == owner.len && strncasecmp(target.text, owner.text, owner.len) == 0;
    return list_add_host(parse, SL_NAMES_EXACT, itself ? SL_NAMES_ALLOW : SL_NAMES_REDIRECT, owner,
                         itself ? list_no_value : target);
}

bool list_is_record_type(struct list_token type)
{
    static const char *const types[] = {
        "SOA",   "NS",  "A",    "AAAA",  "CNAME", "TXT",    "MX",    "PTR",  "SRV", "NAPTR",
        "DNAME", "CAA", "TLSA", "HTTPS", "SVCB",  "DNSKEY", "RRSIG", "NSEC", "DS",  NULL};

    for (int i = 0; types[i] != NULL; i++)
        if (list_token_is_nocase(type, types[i]))
            return true;
    return false;
}

/* The record behind the owner: [TTL] [CLASS] TYPE DATA, TTL and class in either order. */
static const char *read_record(struct list_parse *parse, struct list_token owner, const char *text,
                               const char *end)
{
    struct list_token type = list_token(&text, end);

    while (is_number(type) || list_token_is_nocase(type, "IN"))
        type = list_token(&text, end);
    if (!list_is_record_type(type))
        return "no record type that is known";
    parse->recognised = true;
    if (list_token_is_nocase(type, "SOA")) {
        /* The zone's top, where $ORIGIN has not named it. */
        if (!parse->has_apex && owner.len > 0 && owner.text[owner.len - 1] == '.') {
            owner.len--;
            parse->has_apex = parse->has_origin =
                keep(parse->apex, owner) && keep(parse->origin, owner);
        }
        return NULL;
    }
    const char *why = resolve_owner(parse, &owner);
    if (why != NULL)
        return why;
    if (list_token_is_nocase(type, "NS") && owner.len == 0)
        return NULL;
    if (owner.len == 0)
        return list_skip(parse, "a record of the zone itself");
    if (is_other_trigger(owner))
        return list_skip(parse, "a trigger by address or server, not by name");
    const struct list_token data = list_token(&text, end);
    if (list_token_is_nocase(type, "CNAME"))
        return data.len == 0 ? "a record without data" : add_cname(parse, owner, data);
    if (!list_token_is_nocase(type, "A") && !list_token_is_nocase(type, "AAAA"))
        return list_skip(parse, "local data of a type other than A, AAAA and CNAME");
    if (!list_is_address(data))
        return "no IP address at the end";
    return list_add_host(parse, SL_NAMES_EXACT, SL_NAMES_ADDRESS, owner, data);
}

/* $TTL and $ORIGIN; the first origin is the zone's top unless its SOA said it. */
static const char *read_directive(struct list_parse *parse, const char *text, const char *end)
{
    const struct list_token directive = list_token(&text, end);
    struct list_token name = list_token(&text, end);

    parse->recognised = true;
    if (list_token_is_nocase(directive, "$TTL"))
        return NULL;
    if (list_token_is_nocase(directive, "$INCLUDE") || list_token_is_nocase(directive, "$GENERATE"))
        return list_skip(parse, "a directive other than $TTL and $ORIGIN");
    if (!list_token_is_nocase(directive, "$ORIGIN"))
        return "no directive that zone files have";
    if (name.len == 0 || name.text[name.len - 1] != '.')
        return "an origin that does not end with a dot";
    name.len--;
    if (!keep(parse->origin, name))
        return "a domain longer than 253 characters";
    parse->has_origin = true;
    if (!parse->has_apex)
        parse->has_apex = keep(parse->apex, name);
    return NULL;
}

const char *list_rpz_line(struct list_parse *parse, const char *text, size_t len)
{
    int parentheses;
    const char *end = text + content_len(text, len, &parentheses);
    const bool goes_on = parse->parentheses != 0;

    while (end > text && (list_is_blank(end[-1])))
        end--;
    if (parentheses < 0 && (uint32_t)-parentheses > parse->parentheses)
        return "a ')' that closes nothing";
    parse->parentheses += (uint32_t)parentheses;
    if (text == end ||
        goes_on) /* the line continues an SOA, or one that its first line made ignored */
        return NULL;
    if (*text == '$')
        return read_directive(parse, text, end);

    struct list_token owner;
    if (list_is_blank(*text)) {
        while (text < end && list_is_blank(*text))
            text++;
        if (!parse->has_owner)
            return "a record without a name";
        owner = kept(parse->owner);
    } else {
        owner = list_token(&text, end);
        parse->has_owner = keep(parse->owner, owner);
        if (!parse->has_owner)
            return "a domain longer than 253 characters";
    }
    return read_record(parse, owner, text, end);
}
