/* SPDX-License-Identifier: MIT */
/* Lua's tokens, as far as assignments of texts need them. */
#ifndef SETTINGS_LUA_LEX_H
#define SETTINGS_LUA_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lua_kind { LUA_END, LUA_NAME, LUA_TEXT, LUA_NUMBER, LUA_SIGN, LUA_BROKEN };

struct lua_token {
    enum lua_kind kind;
    const char *at; /* of a text: the bytes between its quotes */
    size_t len;
    uint32_t line;
    bool escapes; /* LUA_TEXT: a backslash has its meaning */
};

struct lua_lexer {
    const char *at, *end;
    uint32_t line; /* from 1 on */
};

/* The next token. Signs are single bytes, but for "..", "==", "~=", "<=", ">=" and "::".
 * LUA_BROKEN: a text or a comment does not end. */
struct lua_token lua_next(struct lua_lexer *lexer);

/* The token behind, which stays. */
struct lua_token lua_peek(const struct lua_lexer *lexer);

bool lua_is(struct lua_token token, const char *word);

#endif
