/* SPDX-License-Identifier: MIT */
/* Two passes over the same tokens: the first one numbers declared names, the second one writes. */
#include "unpack/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"
#include "unpack/script_names.h"

enum token_type { END, WORD, NUMBER, STRING, SIGN };

struct token {
    enum token_type type;
    const uint8_t *at; /* of a string: behind its quote */
    size_t len;
};

struct script {
    const uint8_t *at, *end;
    struct unpack_buffer *out;
    struct script_names *names;

    enum token_type last; /* written */
    bool after_dot;

    /* A declaration of names: "var", or the head of a function. */
    bool is_var, is_function;
    unsigned depth; /* of brackets since "var" */

    unsigned curly;                               /* open brackets, */
    unsigned bodies[SCRIPT_SCOPES_MAX], n_scopes; /* and how many were around each function */
    bool in_head;
};

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           byte == '$';
}

static bool is_sign(uint8_t byte)
{
    return byte > ' ' && byte < 0x7F && strchr("@#`\\", byte) == NULL;
}

static void skip_comment(struct script *script)
{
    const size_t left = (size_t)(script->end - script->at);
    const uint8_t *end = memmem(script->at + 2, left - 2, "*/", 2);

    script->at = end != NULL ? end + 2 : script->end;
}

/* Skips all that is no token: blanks, comments, "//" without the comment behind it, and signs of no
 * use. */
static void skip(struct script *script)
{
    while (script->at < script->end) {
        const uint8_t byte = *script->at;
        const uint8_t next = script->at + 1 < script->end ? script->at[1] : 0;

        if (byte == '/' && next == '*')
            skip_comment(script);
        else if (byte == '/' && next == '/')
            script->at += 2;
        else if (!is_letter(byte) && !is_digit(byte) && !is_sign(byte))
            script->at++;
        else
            break;
    }
}

static void read_string(struct script *script, struct token *token)
{
    const uint8_t quote = *script->at++;

    token->type = STRING;
    token->at = script->at;
    while (script->at < script->end && *script->at != quote)
        script->at += *script->at == '\\' && script->at + 1 < script->end ? 2 : 1;
    token->len = (size_t)(script->at - token->at);
    script->at += script->at < script->end;
}

static struct token next_token(struct script *script)
{
    struct token token = {.type = END};

    skip(script);
    token.at = script->at;
    if (script->at == script->end)
        return token;
    if (*script->at == '"' || *script->at == '\'') {
        read_string(script, &token);
        return token;
    }
    if (is_letter(*script->at)) {
        token.type = WORD;
        while (script->at < script->end && (is_letter(*script->at) || is_digit(*script->at)))
            script->at++;
    } else if (is_digit(*script->at)) {
        token.type = NUMBER;
        while (script->at < script->end && (is_digit(*script->at) || *script->at == '.'))
            script->at++;
    } else {
        token.type = SIGN;
        script->at++;
    }
    token.len = (size_t)(script->at - token.at);
    return token;
}

static bool is_word(const struct token *token, const char *word)
{
    return token->type == WORD && token->len == strlen(word) &&
           memcmp(token->at, word, token->len) == 0;
}

static bool is(const struct token *token, char sign)
{
    return token->type == SIGN && *token->at == (uint8_t)sign;
}

/* The next token, if it is this sign; else nothing is read. */
static bool accept(struct script *script, char sign)
{
    const uint8_t *const at = script->at;
    const struct token token = next_token(script);

    if (!is(&token, sign))
        script->at = at;
    return is(&token, sign);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_byte(struct script *script, uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z')
        byte = (uint8_t)(byte + 'a' - 'A');
    if (byte >= '\t' && byte <= '\r')
        byte = ' ';
    if (byte != 0)
        (void)unpack_buffer_add(script->out, &byte, 1);
}

static void put_text(struct script *script, const char *text)
{
    (void)unpack_buffer_add(script->out, text, strlen(text));
}

static void put_character(struct script *script, unsigned value)
{
    char bytes[UTF8_MAX];
    const size_t n = utf8_put(value, bytes);

    for (size_t i = 0; i < n; i++)
        put_byte(script, (uint8_t)bytes[i]);
}

/* The value of n hexadecimal digits; false: there are fewer. */
static bool read_hex(const uint8_t *at, const uint8_t *end, unsigned n, unsigned *value)
{
    *value = 0;
    for (unsigned i = 0; i < n; i++) {
        const int digit = at + i < end ? hex_digit((char)at[i]) : -1;

        if (digit < 0)
            return false;
        *value = *value << 4 | (unsigned)digit;
    }
    return true;
}

/* Behind a mark, the digits of a byte, or "u" (a string's "x" for two) and those of a character.
 * Returns the place behind them; NULL: it is none. */
static const uint8_t *put_escaped(struct script *script, const uint8_t *at, const uint8_t *end,
                                  bool percent)
{
    unsigned value;

    if (at < end && *at == 'u' && read_hex(at + 1, end, 4, &value)) {
        put_character(script, value);
        return at + 5;
    }
    at += !percent;
    if ((!percent && at[-1] != 'x') || !read_hex(at, end, 2, &value))
        return NULL;
    put_byte(script, (uint8_t)value);
    return at + 2;
}

static void put_string_bytes(struct script *script, const struct token *token, bool percent)
{
    static const char letters[] = "nrtbfv0", values[] = "\n\r\t\b\f\v";
    const uint8_t *at = token->at, *const end = at + token->len;

    while (at < end) {
        const uint8_t byte = *at++;
        const uint8_t *behind = NULL;

        if (at < end && (byte == '\\' || (percent && byte == '%')))
            behind = put_escaped(script, at, end, byte == '%');
        if (behind != NULL) {
            at = behind;
        } else if (byte == '\\' && at < end) {
            const char *letter = *at != 0 ? strchr(letters, *at) : NULL;

            put_byte(script, letter != NULL ? (uint8_t)values[letter - letters] : *at);
            at++;
        } else {
            put_byte(script, byte);
        }
    }
}

/* A string, and those that are added to it. */
static void put_strings(struct script *script, struct token token, bool percent)
{
    put_text(script, "\"");
    while (token.type == STRING) {
        const uint8_t *behind;

        put_string_bytes(script, &token, percent);
        behind = script->at;
        token.type = END;
        if (accept(script, '+'))
            token = next_token(script);
        if (token.type != STRING)
            script->at = behind;
    }
    put_text(script, "\"");
}

/* "unescape" of strings is its result. */
static bool put_unescaped(struct script *script)
{
    const uint8_t *const at = script->at;

    if (accept(script, '(')) {
        const struct token token = next_token(script);

        if (token.type == STRING) {
            put_strings(script, token, true);
            (void)accept(script, ')');
            return true;
        }
    }
    script->at = at;
    return false;
}

static void put_number(struct script *script, const struct token *token)
{
    char text[64], written[64];

    snprintf(text, sizeof text, "%.*s", (int)(token->len < 60 ? token->len : 60),
             (const char *)token->at);
    if (memchr(token->at, '.', token->len) != NULL)
        snprintf(written, sizeof written, "%g", strtod(text, NULL));
    else
        snprintf(written, sizeof written, "%d", (int)strtol(text, NULL, 10));
    put_text(script, written);
}

static void put_word(struct script *script, const struct token *token)
{
    char name[16];
    const unsigned number = script->after_dot
                                ? SCRIPT_NO_NAME
                                : script_names_find(script->names, token->at, token->len);

    if (number != SCRIPT_NO_NAME) {
        snprintf(name, sizeof name, "n%03u", number);
        put_text(script, name);
        return;
    }
    for (size_t i = 0; i < token->len; i++)
        put_byte(script, token->at[i]);
}

static void put_token(struct script *script, const struct token *token)
{
    const bool is_wordy = token->type == WORD || token->type == NUMBER;
    enum token_type as = token->type;

    if (is_word(token, "unescape") && put_unescaped(script)) {
        as = STRING;
    } else {
        if (is_wordy && (script->last == WORD || script->last == NUMBER))
            put_text(script, " ");
        if (token->type == WORD)
            put_word(script, token);
        else if (token->type == NUMBER)
            put_number(script, token);
        else if (token->type == STRING)
            put_strings(script, *token, false);
        else
            put_byte(script, *token->at);
    }
    script->last = as;
}

/* ---- scopes ---------------------------------------------------------------------------------- */

static void enter_function(struct script *script)
{
    script->is_function = true;
    if (script->n_scopes < SCRIPT_SCOPES_MAX) {
        script->bodies[script->n_scopes++] = script->curly;
        script_names_enter(script->names);
    }
}

/* A function's scope is from its name to the end of its body. */
static void follow_function(struct script *script, const struct token *token)
{
    if (is_word(token, "function")) {
        enter_function(script);
    } else if (script->is_function && is(token, '(')) {
        script->is_function = false;
        script->in_head = true;
    } else if (!is(token, ',') && token->type != WORD) {
        script->is_function = script->in_head = false;
    }
    if (is(token, '{'))
        script->curly++;
    if (is(token, '}') && script->curly > 0) {
        script->curly--;
        if (script->n_scopes > 0 && script->bodies[script->n_scopes - 1] == script->curly) {
            script->n_scopes--;
            script_names_leave(script->names);
        }
    }
}

/* "var" declares the word behind it, and those behind its commas: for ClamAV, also those between
 * parentheses. */
static void follow_var(struct script *script, const struct token *token)
{
    if (is_word(token, "var")) {
        script->is_var = true;
        script->depth = 0;
    } else if (script->depth > 0 || !is(token, ',')) {
        script->is_var = false;
    }
    if (token->type == SIGN && strchr("[{", *token->at) != NULL)
        script->depth++;
    if (token->type == SIGN && strchr("]}", *token->at) != NULL)
        script->depth = script->depth > 0 ? script->depth - 1 : UINT32_MAX / 2;
    if (is(token, ';'))
        script->depth = UINT32_MAX / 2; /* until the next "var" */
    else if (is(token, ',') && script->depth == 0)
        script->is_var = true;
}

static bool declares(const struct script *script, const struct token *token)
{
    return token->type == WORD && !is_word(token, "function") &&
           (script->is_var || script->is_function || script->in_head);
}

/* False: no memory. */
static bool run(struct script *script, const uint8_t *text, size_t len, bool writes)
{
    bool ok = true;

    script->at = text;
    script->end = text + len;
    script->last = END;
    script->depth = UINT32_MAX / 2;
    script->is_var = script->is_function = script->in_head = script->after_dot = false;
    script->curly = script->n_scopes = 0;
    script_names_begin(script->names);
    for (struct token token = next_token(script); ok && token.type != END && !script->out->cut;
         token = next_token(script)) {
        if (!writes && declares(script, &token))
            ok = script_names_add(script->names, token.at, token.len);
        if (writes)
            put_token(script, &token);
        follow_var(script, &token);
        follow_function(script, &token);
        script->after_dot = is(&token, '.');
    }
    return ok;
}

bool script_normalize(const uint8_t *text, size_t len, struct unpack_buffer *out)
{
    struct script script = {.out = out, .names = script_names_create()};
    const bool ok =
        script.names != NULL && run(&script, text, len, false) && run(&script, text, len, true);

    script_names_free(script.names);
    return ok;
}
