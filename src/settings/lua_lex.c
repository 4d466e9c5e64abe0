/* SPDX-License-Identifier: MIT */
/* Lua 5.1 Reference Manual, 2.1. */
#include "lua_lex.h"

#include <ctype.h>
#include <string.h>

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void advance(struct lua_lexer *lexer)
{
    lexer->line += *lexer->at == '\n';
    lexer->at++;
}

/* The level of a long bracket "[==[", or -1. */
static int long_level(const struct lua_lexer *lexer)
{
    const char *at = lexer->at;
    int level = 0;

    if (at == lexer->end || *at++ != '[')
        return -1;
    for (; at < lexer->end && *at == '='; at++)
        level++;
    return at < lexer->end && *at == '[' ? level : -1;
}

/* Whether "]==]" of this level begins here. */
static bool closes(const struct lua_lexer *lexer, int level)
{
    const char *at = lexer->at;

    if (lexer->end - at < level + 2 || *at != ']' || at[level + 1] != ']')
        return false;
    for (int i = 0; i < level; i++)
        if (at[i + 1] != '=')
            return false;
    return true;
}

/* Reads a long bracket. The line behind its opening does not belong to it. */
static struct lua_token read_long(struct lua_lexer *lexer, int level)
{
    struct lua_token token = {.kind = LUA_BROKEN, .line = lexer->line};

    lexer->at += level + 2;
    if (lexer->at < lexer->end && *lexer->at == '\n')
        advance(lexer);
    token.at = lexer->at;
    for (; lexer->at < lexer->end; advance(lexer)) {
        if (!closes(lexer, level))
            continue;
        token.kind = LUA_TEXT;
        token.len = (size_t)(lexer->at - token.at);
        lexer->at += level + 2;
        break;
    }
    return token;
}

static struct lua_token read_quoted(struct lua_lexer *lexer)
{
    const char quote = *lexer->at;
    struct lua_token token = {
        .kind = LUA_BROKEN, .at = lexer->at + 1, .line = lexer->line, .escapes = true};

    for (lexer->at++; lexer->at < lexer->end && *lexer->at != '\n'; advance(lexer)) {
        if (*lexer->at == quote) {
            token.kind = LUA_TEXT;
            token.len = (size_t)(lexer->at - token.at);
            lexer->at++;
            break;
        }
        if (*lexer->at == '\\' && lexer->end - lexer->at > 1)
            lexer->at++;
    }
    return token;
}

/* Passes over blanks and comments. False: a comment does not end. */
static bool skip_blanks(struct lua_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        if (isspace((unsigned char)*lexer->at)) {
            advance(lexer);
            continue;
        }
        if (lexer->end - lexer->at < 2 || memcmp(lexer->at, "--", 2) != 0)
            return true;
        lexer->at += 2;

        const int level = long_level(lexer);

        if (level >= 0) {
            const struct lua_token comment = read_long(lexer, level);

            if (comment.kind != LUA_BROKEN)
                continue;
            lexer->line = comment.line;
            return false;
        }
        while (lexer->at < lexer->end && *lexer->at != '\n')
            lexer->at++;
    }
    return true;
}

static size_t sign_len(const struct lua_lexer *lexer)
{
    static const char signs[][3] = {"..", "==", "~=", "<=", ">=", "::"};

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (lexer->end - lexer->at >= 2 && memcmp(lexer->at, signs[i], 2) == 0)
            return 2;
    return 1;
}

struct lua_token lua_next(struct lua_lexer *lexer)
{
    if (!skip_blanks(lexer))
        return (struct lua_token){.kind = LUA_BROKEN, .line = lexer->line};

    struct lua_token token = {.kind = LUA_END, .at = lexer->at, .line = lexer->line};

    if (lexer->at == lexer->end)
        return token;
    if (*lexer->at == '"' || *lexer->at == '\'')
        return read_quoted(lexer);
    if (long_level(lexer) >= 0)
        return read_long(lexer, long_level(lexer));
    if (is_name(*lexer->at)) {
        token.kind = isdigit((unsigned char)*lexer->at) ? LUA_NUMBER : LUA_NAME;
        while (lexer->at < lexer->end && is_name(*lexer->at))
            lexer->at++;
    } else {
        token.kind = LUA_SIGN;
        lexer->at += sign_len(lexer);
    }
    token.len = (size_t)(lexer->at - token.at);
    return token;
}

struct lua_token lua_peek(const struct lua_lexer *lexer)
{
    struct lua_lexer ahead = *lexer;

    return lua_next(&ahead);
}

bool lua_is(struct lua_token token, const char *word)
{
    return (token.kind == LUA_NAME || token.kind == LUA_SIGN) && token.len == strlen(word) &&
           memcmp(token.at, word, token.len) == 0;
}
