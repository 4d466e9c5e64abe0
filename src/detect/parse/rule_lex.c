/* SPDX-License-Identifier: MIT */
#include "rule_lex.h"

#include <stdlib.h>
#include <string.h>

#include "detect/rule_memory.h"
#include "rule_config.h"

void rule_lexer_init(struct rule_lexer *lexer, const char *text, size_t text_len)
{
    *lexer = (struct rule_lexer){.text = text, .len = text_len, .line = 1};
    if (text_len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        lexer->begin = lexer->at = 3;
}

void rule_lexer_free(struct rule_lexer *lexer)
{
    free(lexer->joined);
    free(lexer->lines);
}

const struct rule_action *rule_action_find(struct rule_text word)
{
    static const struct rule_action actions[] = {
        {"alert", true},    {"drop", true},      {"reject", true},    {"pass", true},
        {"log", true},      {"rejectsrc", true}, {"rejectdst", true}, {"rejectboth", true},
        {"sdrop", true},    {"block", true},     {"config", false},   {"activate", false},
        {"dynamic", false}, {"react", false},    {"rewrite", false},  {"accept", false},
        {"file_id", false},
    };
    static const struct rule_action scoped = {"", false};
    const char *colon = memchr(word.at, ':', word.len);

    if (colon != NULL)
        word.len = (size_t)(colon - word.at);
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (rule_text_is(word, actions[i].name))
            return colon != NULL ? &scoped : &actions[i];
    return NULL;
}

struct rule_text rule_word(struct rule_text *rest)
{
    size_t open = 0, len = 0;

    *rest = rule_trim(*rest);
    for (; len < rest->len; len++) {
        const char c = rest->at[len];

        if (open == 0 && (rule_blank(c) || c == '('))
            break;
        open += c == '[';
        open -= c == ']' && open != 0;
    }

    const struct rule_text word = {rest->at, len};

    rest->at += len;
    rest->len -= len;
    return word;
}

/* The line that begins at `at`, without its end. */
static struct rule_text line_at(const struct rule_lexer *lexer, size_t at)
{
    const char *begin = lexer->text + at;
    const char *end = memchr(begin, '\n', lexer->len - at);

    return (struct rule_text){begin, end != NULL ? (size_t)(end - begin) : lexer->len - at};
}

/* Moves to the line behind this one, which begins at `at`. */
static void pass_line(struct rule_lexer *lexer, struct rule_text line)
{
    lexer->at = (size_t)(line.at - lexer->text) + line.len;
    if (lexer->at < lexer->len) {
        lexer->at++;
        lexer->line++;
    }
}

/* Passes over the comment that begins here; false: it has no end. A missing end is searched for
 * once: otherwise a file of such lines would take the square of its length. */
static bool pass_comment(struct rule_lexer *lexer)
{
    const char *begin = lexer->text + lexer->at;
    const char *end = NULL;

    if (!lexer->no_comment_end)
        end = memmem(begin + 2, lexer->len - lexer->at - 2, "*/", 2);
    if (end == NULL) {
        lexer->no_comment_end = true;
        return false;
    }
    for (const char *at = begin; at < end; at++)
        lexer->line += *at == '\n';
    lexer->at = (size_t)(end - lexer->text) + 2;
    return true;
}

/* Whether a trimmed line is the first of a rule. */
static bool begins_rule(struct rule_text line)
{
    struct rule_text rest = line;
    const struct rule_text word = rule_word(&rest);

    return rest.len != 0 && rule_action_find(word) != NULL && !rule_config_line(line);
}

/* Whether a rule ends with this line: in ')', or a comment stands behind that. */
static bool is_closed(struct rule_text text)
{
    const char *close = memrchr(text.at, ')', text.len);

    if (close == NULL)
        return false;

    const struct rule_text behind =
        rule_trim((struct rule_text){close + 1, text.len - (size_t)(close + 1 - text.at)});
    return behind.len == 0 || behind.at[0] == '#';
}

static bool join(struct rule_lexer *lexer, struct rule_text line, uint32_t number)
{
    if (line.len != 0) {
        struct rule_line *lines =
            rule_grow(lexer->lines, &lexer->cap_lines, lexer->n_lines, sizeof *lines);

        if (lines == NULL)
            return false;
        lexer->lines = lines;
        lexer->lines[lexer->n_lines++] =
            (struct rule_line){lexer->joined_len, (size_t)(line.at - lexer->text), number};
    }
    while (lexer->joined_cap - lexer->joined_len < line.len + 1) {
        char *grown = rule_grow(lexer->joined, &lexer->joined_cap, lexer->joined_cap, 1);

        if (grown == NULL)
            return false;
        lexer->joined = grown;
    }
    memcpy(lexer->joined + lexer->joined_len, line.at, line.len);
    lexer->joined_len += line.len;
    lexer->joined[lexer->joined_len++] = ' ';
    return true;
}

/* A backslash at the line's end: the next one belongs to it. */
static bool take_backslash(struct rule_text *line)
{
    *line = rule_trim(*line);
    if (line->len == 0 || line->at[line->len - 1] != '\\')
        return false;
    line->len--;
    return true;
}

/* Joins the lines of the rule that begins with `line`. Lines that backslashes bind to the first are
 * its own in any case; of the others none, if the rule has no end. */
static enum sl_status join_rule(struct rule_lexer *lexer, struct rule_text *line)
{
    bool continued = take_backslash(line), bound = continued, closed = is_closed(*line);
    size_t at = lexer->at, len;
    uint32_t number = lexer->line;

    lexer->joined_len = 0;
    if (!join(lexer, *line, lexer->number))
        return SL_ENOMEM;
    len = lexer->joined_len;
    while (continued || !closed) {
        struct rule_text next = rule_trim(line_at(lexer, lexer->at));
        const uint32_t next_number = lexer->line;

        if (lexer->at >= lexer->len || begins_rule(next)) {
            lexer->at = at;
            lexer->line = number;
            lexer->joined_len = len;
            break;
        }
        pass_line(lexer, line_at(lexer, lexer->at));
        if (!continued && next.len != 0 && next.at[0] == '#')
            continue;
        continued = take_backslash(&next);
        closed = is_closed(next);
        if (!join(lexer, next, next_number))
            return SL_ENOMEM;
        if (bound) {
            at = lexer->at;
            number = lexer->line;
            len = lexer->joined_len;
        }
        bound = bound && continued;
    }
    *line = rule_trim((struct rule_text){lexer->joined, lexer->joined_len});
    return SL_OK;
}

enum sl_status rule_lexer_next(struct rule_lexer *lexer, struct rule_text *line, uint32_t *number)
{
    while (lexer->at < lexer->len) {
        const struct rule_text whole = line_at(lexer, lexer->at);

        *line = rule_trim(whole);
        if (line->len >= 2 && memcmp(line->at, "/*", 2) == 0) {
            lexer->at = (size_t)(line->at - lexer->text);
            if (pass_comment(lexer))
                continue;
        }
        *number = lexer->number = lexer->line;
        lexer->n_lines = 0;
        pass_line(lexer, whole);
        if (line->len == 0 || line->at[0] == '#')
            continue;
        if (begins_rule(*line) && (line->at[line->len - 1] == '\\' || !is_closed(*line)))
            return join_rule(lexer, line);
        return SL_OK;
    }
    return SL_END;
}

struct rule_place rule_lexer_place(const struct rule_lexer *lexer, uint32_t number, const char *at)
{
    const uintptr_t byte = (uintptr_t)at, text = (uintptr_t)lexer->text;
    size_t text_at, begin, n = lexer->n_lines;

    if (n == 0 || (byte >= text && byte <= text + lexer->len)) {
        text_at = (size_t)(at - lexer->text);
    } else {
        const size_t joined_at = (size_t)(at - lexer->joined);

        while (n > 1 && lexer->lines[n - 1].joined_at > joined_at)
            n--;
        text_at = lexer->lines[n - 1].text_at + (joined_at - lexer->lines[n - 1].joined_at);
        number = lexer->lines[n - 1].number;
    }
    begin = text_at;
    while (begin > lexer->begin && lexer->text[begin - 1] != '\n')
        begin--;
    return (struct rule_place){number, (uint32_t)(text_at - begin + 1)};
}
