/* SPDX-License-Identifier: MIT */
/* snort.lua. A statement is taken where it assigns texts that are known without running Lua. All
 * others are passed over up to the next that can begin one, and listed. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lua_lex.h"
#include "settings_reader.h"

/* Names with the texts that they stand for; all malloc'ed. */
struct constants {
    struct constant {
        char *name, *text;
    } * constant;
    size_t n;
    size_t len; /* bytes of all texts */
};

struct lua {
    struct settings_reader *reader;
    const char *file;
    struct lua_lexer lexer;
    struct constants *constants;
    unsigned depth; /* of tables */
};

enum { TABLES_MAX = 16, PATH_LEN_MAX = 4096 };

static struct settings_place place_of(const struct lua *lua, struct lua_token token)
{
    return (struct settings_place){lua->file, token.line};
}

static enum sl_status broken(struct lua *lua, struct lua_token token)
{
    return settings_fail(lua->reader, place_of(lua, token), "a text or a comment does not end");
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* A text that grows. */
struct growing {
    char *text; /* malloc'ed */
    size_t len;
};

static bool append(struct growing *growing, const char *bytes, size_t len)
{
    char *grown = realloc(growing->text, growing->len + len + 1);

    if (grown == NULL)
        return false;
    growing->text = grown;
    memcpy(grown + growing->len, bytes, len);
    growing->len += len;
    grown[growing->len] = '\0';
    return true;
}

/* The character of an escape without digits, such as \n. */
static char escaped(char c)
{
    static const char names[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    const char *found = c != '\0' ? strchr(names, c) : NULL;

    return found != NULL ? values[found - names] : c;
}

static bool append_token(struct growing *growing, struct lua_token token)
{
    if (!token.escapes)
        return append(growing, token.at, token.len);
    for (size_t i = 0; i < token.len; i++) {
        char c = token.at[i];

        if (c == '\\' && i + 1 < token.len) {
            c = escaped(token.at[++i]);
            if (isdigit((unsigned char)c)) {
                unsigned number = 0;

                for (size_t n = 0; n < 3 && i < token.len && isdigit((unsigned char)token.at[i]);
                     n++)
                    number = number * 10 + (unsigned)(token.at[i++] - '0');
                i--;
                c = (char)number;
            }
        }
        if (!append(growing, &c, 1))
            return false;
    }
    return append(growing, "", 0);
}

static const char *find(const struct constants *constants, const char *name, size_t len)
{
    for (size_t i = 0; i < constants->n; i++)
        if (strncmp(constants->constant[i].name, name, len) == 0 &&
            constants->constant[i].name[len] == '\0')
            return constants->constant[i].text;
    return NULL;
}

/* Gives a name a text; the constants own it. */
static bool define(struct constants *constants, struct lua_token name, char *text)
{
    constants->len += strlen(text);
    for (size_t i = 0; i < constants->n; i++)
        if (strncmp(constants->constant[i].name, name.at, name.len) == 0 &&
            constants->constant[i].name[name.len] == '\0') {
            free(constants->constant[i].text);
            constants->constant[i].text = text;
            return true;
        }

    struct constant *grown =
        reallocarray(constants->constant, constants->n + 1, sizeof *constants->constant);
    char *copy = strndup(name.at, name.len);

    if (grown != NULL)
        constants->constant = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        free(text);
        return false;
    }
    constants->constant[constants->n++] = (struct constant){copy, text};
    return true;
}

/* Whether a statement may begin with this token. */
static bool begins(const struct lua *lua, struct lua_token token)
{
    static const char *const words[] = {"local",  "if",       "for", "while",
                                        "repeat", "function", "do",  "return"};
    struct lua_lexer ahead = lua->lexer;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (lua_is(token, words[i]))
            return true;
    if (token.kind != LUA_NAME)
        return token.kind == LUA_END || lua_is(token, ";");
    (void)lua_next(&ahead); /* the token itself */

    const struct lua_token behind = lua_next(&ahead);

    return lua_is(behind, "=") ||
           (lua_is(token, "include") && (behind.kind == LUA_TEXT || lua_is(behind, "(")));
}

/* Reads texts and names of texts with ".." between them, up to what may stand behind them. *text is
 * malloc'ed; NULL: there is another expression, and the lexer is where it was. */
static enum sl_status read_plain(struct lua *lua, char **text, bool in_table)
{
    const struct lua_lexer before = lua->lexer;
    struct growing growing = {0};
    bool plain = true;

    *text = NULL;
    for (;;) {
        const struct lua_token token = lua_next(&lua->lexer);
        const char *known =
            token.kind == LUA_NAME ? find(lua->constants, token.at, token.len) : NULL;

        plain = token.kind == LUA_TEXT || token.kind == LUA_NUMBER || known != NULL;
        if (!plain)
            break;
        if (growing.len + lua->constants->len > SETTINGS_BYTES_MAX) {
            free(growing.text);
            return settings_fail(lua->reader, place_of(lua, token), "texts of more than 16 MiB");
        }
        if (!(known != NULL ? append(&growing, known, strlen(known))
                            : append_token(&growing, token))) {
            free(growing.text);
            return settings_no_memory(lua->reader);
        }
        if (!lua_is(lua_peek(&lua->lexer), ".."))
            break;
        (void)lua_next(&lua->lexer);
    }

    const struct lua_token behind = lua_peek(&lua->lexer);

    plain = plain && strlen(growing.text) == growing.len &&
            (in_table ? lua_is(behind, ",") || lua_is(behind, ";") || lua_is(behind, "}")
                      : begins(lua, behind));
    if (plain) {
        *text = growing.text;
        return SL_OK;
    }
    free(growing.text);
    lua->lexer = before;
    return SL_OK;
}

/* ---- variables ------------------------------------------------------------------------------- */

static bool is_capital(struct lua_token name)
{
    for (size_t i = 0; i < name.len; i++)
        if (islower((unsigned char)name.at[i]))
            return false;
    return name.kind == LUA_NAME;
}

/* Whether a text can be a list of addresses or ports. */
static bool is_list(const char *text)
{
    static const char letters[] = "0123456789abcdefABCDEFGHIJKLMNOPQRSTUVWXYZ_.:/!$[], \t\r\n-";

    while (*text != '\0') {
        const size_t any = strncmp(text, "any", 3) == 0 ? 3 : 0;

        if (any == 0 && strchr(letters, *text) == NULL)
            return false;
        text += any != 0 ? any : 1;
    }
    return true;
}

/* Writes Snort's list, with blanks between its members, as rules have it: "[a,b]". malloc'ed. */
static char *to_list(const char *text)
{
    const size_t len = strlen(text);
    char *list = malloc(len + 3), *at = list;
    bool several = false;

    if (list == NULL)
        return NULL;
    *at++ = '[';
    for (size_t i = 0; i < len;) {
        const size_t blanks = strspn(text + i, " \t\r\n,");
        const size_t word = strcspn(text + i + blanks, " \t\r\n,");
        const bool closes = text[i + blanks] == ']';

        if (word != 0 && at != list + 1 && at[-1] != '[' && at[-1] != '!' && !closes) {
            *at++ = ',';
            several = true;
        }
        memcpy(at, text + i + blanks, word);
        at += word;
        i += blanks + word;
    }
    if (several)
        *at++ = ']';
    *at = '\0';
    if (!several)
        memmove(list, list + 1, (size_t)(at - list));
    return list;
}

static enum sl_status add_variable(struct lua *lua, struct lua_token token, const char *name,
                                   const char *text)
{
    char *list = to_list(text);
    enum sl_status status;

    if (list == NULL)
        return settings_no_memory(lua->reader);
    status = settings_add_variable(lua->reader, place_of(lua, token), name, list);
    free(list);
    return status;
}

/* Keeps a text under its name. It is a variable of rules where it can be one; names of paths serve
 * other texts, and the rest is listed. */
static enum sl_status assign(struct lua *lua, struct lua_token name, char *text)
{
    const bool path = name.len > 4 && memcmp(name.at + name.len - 4, "PATH", 4) == 0;

    if (lua->constants->n == SETTINGS_MAX) {
        free(text);
        return settings_fail(lua->reader, place_of(lua, name), "more than %d names", SETTINGS_MAX);
    }
    if (!define(lua->constants, name, text))
        return settings_no_memory(lua->reader);

    char *key = strndup(name.at, name.len);
    enum sl_status status = SL_OK;

    if (key == NULL)
        return settings_no_memory(lua->reader);
    if (!is_capital(name) || (!path && (!is_list(text) || *text == '\0')))
        status = settings_add(lua->reader, SL_SETTING_LEFT_OUT, place_of(lua, name), key);
    else if (!path)
        status = add_variable(lua, name, key, text);
    free(key);
    return status;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Tables that steer output, capture or threads. */
static bool is_other(struct lua_token name)
{
    static const char *const names[] = {
        "daq",
        "output",
        "packets",
        "process",
        "profiler",
        "perf_monitor",
        "latency",
        "memory",
        "trace",
        "file_log",
        "packet_capture",
        "data_log",
        "unified2",
        "log_pcap",
        "log_hext",
        "log_codecs",
        "alert_csv",
        "alert_ex",
        "alert_fast",
        "alert_full",
        "alert_json",
        "alert_sfsocket",
        "alert_syslog",
        "alert_talos",
        "alert_unixsock",
        "search_engine",
        "high_availability",
        "side_channel",
        "snort_whitelist_append",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lua_is(name, names[i]))
            return true;
    return false;
}

/* Lists what was not taken, as PREFIX.NAME. */
static enum sl_status leave_out(struct lua *lua, const char *prefix, struct lua_token name)
{
    struct growing key = {0};
    enum sl_status status;

    if (!append(&key, prefix, strlen(prefix)) || !append(&key, name.at, name.len)) {
        free(key.text);
        return settings_no_memory(lua->reader);
    }
    status = settings_add(lua->reader, is_other(name) ? SL_SETTING_OTHER : SL_SETTING_LEFT_OUT,
                          place_of(lua, name), key.text);
    free(key.text);
    return status;
}

/* The change of the depth of brackets and blocks by a token. */
static int deeper(struct lua_token token)
{
    static const char *const open[] = {"(", "{", "[", "function", "if", "do", "repeat"};
    static const char *const close[] = {")", "}", "]", "end", "until"};

    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (lua_is(token, open[i]))
            return 1;
    for (size_t i = 0; i < sizeof close / sizeof *close; i++)
        if (lua_is(token, close[i]))
            return -1;
    return 0;
}

/* Passes over the rest of a statement whose first token is `first`; or, in a table, of a value. */
static enum sl_status skip(struct lua *lua, struct lua_token first, bool in_table)
{
    int depth = deeper(first);

    for (;;) {
        const struct lua_token token = lua_peek(&lua->lexer);

        if (token.kind == LUA_BROKEN)
            return broken(lua, token);
        if (token.kind == LUA_END)
            return SL_OK;
        if (depth <= 0 && (in_table ? lua_is(token, ",") || lua_is(token, "}") || lua_is(token, ";")
                                    : begins(lua, token)))
            return SL_OK;
        (void)lua_next(&lua->lexer);
        depth += deeper(token);
    }
}

/* ---- ips ------------------------------------------------------------------------------------- */

/* A path, whose "$NAME" in front stands for a text. NULL: no memory. */
static char *expand(const struct lua *lua, const char *path, size_t len)
{
    struct growing expanded = {0};
    size_t name_len = 0;

    if (len != 0 && path[0] == '$')
        while (1 + name_len < len &&
               (isalnum((unsigned char)path[1 + name_len]) || path[1 + name_len] == '_'))
            name_len++;

    const char *text = name_len != 0 ? find(lua->constants, path + 1, name_len) : NULL;
    const size_t taken = text != NULL ? 1 + name_len : 0;

    if (!append(&expanded, text != NULL ? text : "", text != NULL ? strlen(text) : 0) ||
        !append(&expanded, path + taken, len - taken)) {
        free(expanded.text);
        return NULL;
    }
    return expanded.text;
}

static enum sl_status add_rules(struct lua *lua, struct lua_token token, const char *path,
                                size_t len)
{
    char *expanded = expand(lua, path, len);
    enum sl_status status;

    if (expanded == NULL)
        return settings_no_memory(lua->reader);
    status = strlen(expanded) <= PATH_LEN_MAX
                 ? settings_add(lua->reader, SL_SETTING_RULES, place_of(lua, token), expanded)
                 : settings_fail(lua->reader, place_of(lua, token), "a path of more than %d bytes",
                                 PATH_LEN_MAX);
    free(expanded);
    return status;
}

/* The lines "include FILE" of a text of rules; its other lines are listed. */
static enum sl_status read_rules(struct lua *lua, struct lua_token token, const char *text)
{
    static const char blanks[] = " \t\r";
    enum sl_status status = SL_OK;
    bool others = false;

    while (status == SL_OK && *text != '\0') {
        const char *line = text + strspn(text, blanks);
        size_t len = strcspn(line, "\n");

        text = line + len + (line[len] == '\n');
        while (len != 0 && strchr(blanks, line[len - 1]) != NULL)
            len--;
        if (len > 8 && memcmp(line, "include ", 8) == 0) {
            const size_t begin = 8 + strspn(line + 8, blanks);

            status = add_rules(lua, token, line + begin, len - begin);
        } else {
            others |= len != 0 && line[0] != '#';
        }
    }
    return status == SL_OK && others ? leave_out(lua, "ips.", token) : status;
}

typedef enum sl_status take_field(struct lua *lua, struct lua_token name);

static enum sl_status read_table(struct lua *lua, take_field *take);

/* A variable among those of ips, or a table of them. */
static enum sl_status take_variable(struct lua *lua, struct lua_token name)
{
    char *text;

    if (lua_is(lua_peek(&lua->lexer), "{") && lua->depth < TABLES_MAX)
        return read_table(lua, take_variable);

    const enum sl_status status = read_plain(lua, &text, true);

    if (status != SL_OK || text != NULL)
        return status == SL_OK ? assign(lua, name, text) : status;
    return leave_out(lua, "ips.variables.", name);
}

static enum sl_status take_ips(struct lua *lua, struct lua_token name)
{
    char *text = NULL;

    if (lua_is(name, "variables"))
        return lua_is(lua_peek(&lua->lexer), "default_variables") ? SL_OK
                                                                  : take_variable(lua, name);

    enum sl_status status = read_plain(lua, &text, true);

    if (status != SL_OK)
        return status;
    if (text != NULL && lua_is(name, "include"))
        status = add_rules(lua, name, text, strlen(text));
    else if (text != NULL && lua_is(name, "rules"))
        status = read_rules(lua, name, text);
    else
        status = leave_out(lua, "ips.", name);
    free(text);
    return status;
}

/* Reads a table, and gives each of its named fields to a function, which may read the value. */
static enum sl_status read_table(struct lua *lua, take_field *take)
{
    enum sl_status status = SL_OK;

    (void)lua_next(&lua->lexer); /* the brace */
    lua->depth++;
    while (status == SL_OK) {
        struct lua_token token = lua_next(&lua->lexer);

        if (token.kind == LUA_BROKEN)
            return broken(lua, token);
        if (token.kind == LUA_END || lua_is(token, "}"))
            break;
        if (lua_is(token, ",") || lua_is(token, ";"))
            continue;
        if (token.kind == LUA_NAME && lua_is(lua_peek(&lua->lexer), "=")) {
            (void)lua_next(&lua->lexer);
            status = take(lua, token);
            token = (struct lua_token){0};
        }
        if (status == SL_OK)
            status = skip(lua, token, true);
    }
    lua->depth--;
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum sl_status read_text(struct lua *lua);

static enum sl_status include(struct lua *lua, struct lua_token token)
{
    struct lua inner = *lua;
    struct growing path = {0};
    char *text = NULL;
    size_t len;

    if (!append_token(&path, token)) {
        free(path.text);
        return settings_no_memory(lua->reader);
    }
    enum sl_status status =
        settings_read_file(lua->reader, place_of(lua, token), path.text, &inner.file, &text, &len);
    free(path.text);
    if (status != SL_OK)
        return status;
    inner.lexer = (struct lua_lexer){text, text + len, 1};
    lua->reader->depth++;
    status = read_text(&inner);
    lua->reader->depth--;
    free(text);
    return status;
}

static enum sl_status read_assignment(struct lua *lua, struct lua_token name)
{
    char *text;

    if (lua_is(lua_peek(&lua->lexer), "{") && lua_is(name, "ips"))
        return read_table(lua, take_ips);
    if (lua_is(lua_peek(&lua->lexer), "{") && lua_is(name, "default_variables"))
        return read_table(lua, take_variable);

    enum sl_status status = read_plain(lua, &text, false);

    if (status == SL_OK && text != NULL)
        return assign(lua, name, text);
    if (status == SL_OK)
        status = leave_out(lua, "", name);
    return status == SL_OK ? skip(lua, (struct lua_token){0}, false) : status;
}

static enum sl_status read_statement(struct lua *lua, struct lua_token token)
{
    struct lua_token behind = lua_peek(&lua->lexer);

    if (token.kind == LUA_NAME && lua_is(behind, "=")) {
        (void)lua_next(&lua->lexer);
        return read_assignment(lua, token);
    }
    if (lua_is(token, "include") && lua_is(behind, "(")) {
        (void)lua_next(&lua->lexer);
        behind = lua_peek(&lua->lexer);
    }
    if (lua_is(token, "include") && behind.kind == LUA_TEXT) {
        (void)lua_next(&lua->lexer);
        return include(lua, behind);
    }

    const enum sl_status status = token.kind == LUA_NAME ? leave_out(lua, "", token) : SL_OK;

    return status == SL_OK ? skip(lua, token, false) : status;
}

static enum sl_status read_text(struct lua *lua)
{
    enum sl_status status = SL_OK;

    while (status == SL_OK) {
        const struct lua_token token = lua_next(&lua->lexer);

        if (token.kind == LUA_END)
            break;
        if (token.kind == LUA_BROKEN)
            return broken(lua, token);
        if (!lua_is(token, ";") && !lua_is(token, "local") && !lua_is(token, ")"))
            status = read_statement(lua, token);
    }
    return status;
}

enum sl_status settings_read_lua(struct settings_reader *reader, const char *name, const char *text,
                                 size_t len)
{
    struct constants constants = {0};
    struct lua lua = {
        .reader = reader, .file = name, .lexer = {text, text + len, 1}, .constants = &constants};
    const enum sl_status status = read_text(&lua);

    for (size_t i = 0; i < constants.n; i++) {
        free(constants.constant[i].name);
        free(constants.constant[i].text);
    }
    free(constants.constant);
    return status;
}
