/* SPDX-License-Identifier: MIT */
/* A construct that is not followed exactly becomes one that matches more: assertions match nothing
 * at any place, a back reference matches any bytes, and an atomic group gives back what it took. */
#include "syntax_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "detect/expression.h"

struct reader {
    struct syntax_tree *tree;
    const char *begin, *at, *end;
    uint32_t options; /* RULE_* at this place */
    bool failed;
};

static const struct byte_set all_bytes = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};

static uint32_t add_node(struct reader *reader, enum tree_kind kind)
{
    struct syntax_tree *tree = reader->tree;

    if (tree->n == tree->cap) {
        const uint32_t cap = 2 * tree->cap + 16;
        struct tree_node *grown = realloc(tree->node, cap * sizeof *grown);

        if (grown == NULL) {
            reader->failed = true;
            return TREE_NONE;
        }
        tree->node = grown;
        tree->cap = cap;
    }
    tree->node[tree->n] = (struct tree_node){.kind = kind, .child = TREE_NONE, .next = TREE_NONE};
    return tree->n++;
}

static uint32_t add_set(struct reader *reader, struct byte_set set)
{
    const uint32_t node = add_node(reader, TREE_SET);

    if (node != TREE_NONE)
        reader->tree->node[node].set = set;
    return node;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void set_range(struct byte_set *set, unsigned first, unsigned last)
{
    for (unsigned byte = first; byte <= last; byte++)
        set->word[byte / 64] |= UINT64_C(1) << byte % 64;
}

static void set_invert(struct byte_set *set)
{
    for (size_t i = 0; i < 4; i++)
        set->word[i] = ~set->word[i];
}

static void set_add(struct byte_set *set, const struct byte_set *other)
{
    for (size_t i = 0; i < 4; i++)
        set->word[i] |= other->word[i];
}

/* Both cases of its letters, where case is ignored. */
static struct byte_set set_folded(const struct reader *reader, struct byte_set set)
{
    for (unsigned byte = 'a'; byte <= 'z' && (reader->options & RULE_CASELESS) != 0; byte++)
        if (byte_set_has(&set, byte) || byte_set_has(&set, byte - 32)) {
            set_range(&set, byte, byte);
            set_range(&set, byte - 32, byte - 32);
        }
    return set;
}

/* The set of ranges of bytes, two characters each. */
static struct byte_set set_of(const char *ranges, size_t len)
{
    struct byte_set set = {{0}};

    for (size_t i = 0; i + 1 < len; i += 2)
        set_range(&set, (uint8_t)ranges[i], (uint8_t)ranges[i + 1]);
    return set;
}

/* A named set: of an escape, or of a POSIX name. */
struct named_set {
    const char *name;
    const char *ranges;
    uint8_t len;
};

static const struct named_set escapes[] = {
    {"d", "09", 2},           {"w", "09AZaz__", 8}, {"s", "\t\r  ", 4}, {"h", "\t\t  \xA0\xA0", 6},
    {"v", "\n\r\x85\x85", 4},
};

static const struct named_set posix_names[] = {
    {"alnum", "09AZaz", 6},
    {"alpha", "AZaz", 4},
    {"ascii", "\0\x7F", 2},
    {"blank", "\t\t  ", 4},
    {"cntrl", "\0\x1F\x7F\x7F", 4},
    {"digit", "09", 2},
    {"graph", "!~", 2},
    {"lower", "az", 2},
    {"print", " ~", 2},
    {"punct", "!/:@[`{~", 8},
    {"space", "\t\r  ", 4},
    {"upper", "AZ", 2},
    {"word", "09AZaz__", 8},
    {"xdigit", "09AFaf", 6},
};

/* The set of \d, or of \D and its like. */
static bool escape_set(char letter, struct byte_set *set)
{
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
        if ((letter | 0x20) == escapes[i].name[0] && letter != '\0') {
            *set = set_of(escapes[i].ranges, escapes[i].len);
            if (letter < 'a')
                set_invert(set);
            return true;
        }
    return false;
}

/* Reads "[:name:]" behind its first character. */
static bool read_posix(struct reader *reader, struct byte_set *set)
{
    const bool inverted = reader->end - reader->at > 1 && reader->at[1] == '^';
    const char *name = reader->at + 1 + inverted;

    for (size_t i = 0; i < sizeof posix_names / sizeof posix_names[0]; i++) {
        const size_t n = strlen(posix_names[i].name);

        if ((size_t)(reader->end - name) < n + 2 || memcmp(name, posix_names[i].name, n) != 0 ||
            memcmp(name + n, ":]", 2) != 0)
            continue;
        struct byte_set named =
            set_folded(reader, set_of(posix_names[i].ranges, posix_names[i].len));

        if (inverted)
            set_invert(&named);
        set_add(set, &named);
        reader->at = name + n + 2;
        return true;
    }
    return false;
}

/* ---- characters ------------------------------------------------------------------------------ */

static bool next_is(const struct reader *reader, const char *text)
{
    const size_t n = strlen(text);

    return (size_t)(reader->end - reader->at) >= n && memcmp(reader->at, text, n) == 0;
}

static bool skip(struct reader *reader, const char *text)
{
    const bool there = next_is(reader, text);

    reader->at += there ? strlen(text) : 0;
    return there;
}

/* The digits behind "\x", in braces or not. */
static bool read_hex(struct reader *reader, unsigned *byte)
{
    const bool braces = skip(reader, "{");

    *byte = 0;
    for (int i = 0; i < (braces ? 8 : 2) && reader->at < reader->end; i++) {
        const int digit = hex_digit(*reader->at);

        if (digit < 0)
            break;
        *byte = *byte * 16 + (unsigned)digit;
        if (*byte > 255)
            return false;
        reader->at++;
    }
    return !braces || skip(reader, "}");
}

/* A character that is escaped and stands for one byte; the escape's letter was passed. */
static bool read_byte(struct reader *reader, char letter, unsigned *byte)
{
    static const char letters[] = "nrtfae", bytes[] = "\n\r\t\f\a\x1B";
    const char *known = letter != '\0' ? strchr(letters, letter) : NULL;

    if (letter == 'x')
        return read_hex(reader, byte);
    if (known != NULL) {
        *byte = (uint8_t)bytes[known - letters];
        return true;
    }
    if (letter == '0') {
        *byte = 0;
        for (int i = 0;
             i < 2 && reader->at < reader->end && *reader->at >= '0' && *reader->at <= '7'; i++)
            *byte = *byte * 8 + (unsigned)(*reader->at++ - '0');
        return true;
    }
    *byte = (uint8_t)letter;
    return !((letter >= '1' && letter <= '9') ||
             ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'));
}

/* One member of a class: a byte, or a set. False: the class is not understood. */
static bool read_member(struct reader *reader, struct byte_set *set, bool *is_byte, unsigned *byte)
{
    const char c = *reader->at++;

    *is_byte = true;
    *byte = (uint8_t)c;
    if (c == '[' && next_is(reader, ":")) {
        *is_byte = false;
        return read_posix(reader, set);
    }
    if (c != '\\')
        return true;
    if (reader->at == reader->end)
        return false;

    const char letter = *reader->at++;
    struct byte_set escaped;

    if (escape_set(letter, &escaped)) {
        set_add(set, &escaped);
        *is_byte = false;
        return true;
    }
    if (letter == 'b') {
        *byte = '\b';
        return true;
    }
    return read_byte(reader, letter, byte);
}

/* A class behind its '['. */
static bool read_class_set(struct reader *reader, struct byte_set *set)
{
    const bool inverted = skip(reader, "^");
    bool first = true;

    *set = (struct byte_set){{0}};
    for (; reader->at < reader->end && (first || *reader->at != ']'); first = false) {
        unsigned from, to;
        bool is_byte, ends_byte = false;

        if (!read_member(reader, set, &is_byte, &from))
            return false;
        to = from;
        if (is_byte && reader->end - reader->at > 1 && reader->at[0] == '-' &&
            reader->at[1] != ']') {
            reader->at++;
            if (!read_member(reader, set, &ends_byte, &to) || !ends_byte || to < from)
                return false;
        }
        if (is_byte)
            set_range(set, from, to);
    }
    *set = set_folded(reader, *set);
    if (inverted)
        set_invert(set);
    return skip(reader, "]");
}

/* ---- constructs ------------------------------------------------------------------------------ */

static uint32_t read_alternatives(struct reader *reader);

static uint32_t fail(struct reader *reader)
{
    reader->failed = true;
    return TREE_NONE;
}

/* Nothing, in the place of a construct that is not followed. */
static uint32_t nothing(struct reader *reader)
{
    reader->tree->exact = false;
    reader->tree->looks = true;
    return add_node(reader, TREE_SEQUENCE);
}

static uint32_t repeat(struct reader *reader, uint32_t child, uint32_t min, uint32_t max)
{
    const uint32_t node = add_node(reader, TREE_REPEAT);

    if (node == TREE_NONE || child == TREE_NONE)
        return fail(reader);
    reader->tree->node[node].child = child;
    reader->tree->node[node].min = min;
    reader->tree->node[node].max = max;
    return node;
}

/* Any bytes, in the place of those that a back reference repeats. */
static uint32_t anything(struct reader *reader)
{
    reader->tree->exact = false;
    return repeat(reader, add_set(reader, all_bytes), 0, TREE_NONE);
}

static uint32_t read_anchor(struct reader *reader, char c)
{
    const bool multiline = (reader->options & RULE_MULTILINE) != 0;

    if (multiline != reader->tree->multiline && (c == '^' || c == '$'))
        return nothing(reader);
    return add_node(reader, c == '^' ? TREE_BEGIN : TREE_END);
}

/* An escape outside of classes, behind its backslash. */
static uint32_t read_escape(struct reader *reader)
{
    const char letter = reader->at < reader->end ? *reader->at++ : '\0';
    struct byte_set set = {{0}};
    unsigned byte;

    if (letter == '\0' || strchr("pPXRCKgkQEoNuUlL", letter) != NULL)
        return fail(reader); /* the rules of sensors have none of these, but for rare ones */
    if (strchr("bBAzZG", letter) != NULL)
        return nothing(reader);
    if (escape_set(letter, &set))
        return add_set(reader, set);
    if (letter >= '1' && letter <= '9')
        return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'
                   ? fail(reader)
                   : anything(reader);
    if (!read_byte(reader, letter, &byte))
        return fail(reader);
    set_range(&set, byte, byte);
    return add_set(reader, set_folded(reader, set));
}

/* Options behind "(?": up to ')' or ':', which is passed. False: they are not understood. */
static bool read_options(struct reader *reader)
{
    bool on = true;

    for (; reader->at < reader->end && *reader->at != ')' && *reader->at != ':'; reader->at++) {
        static const char letters[] = "imsx";
        static const uint32_t options[] = {RULE_CASELESS, RULE_MULTILINE, RULE_DOTALL,
                                           RULE_EXTENDED};
        const char *letter = *reader->at != '\0' ? strchr(letters, *reader->at) : NULL;

        if (next_is(reader, "xx")) /* blanks in classes as well */
            return false;
        if (*reader->at == '-') {
            on = false;
        } else if (letter != NULL) {
            reader->options &= ~options[letter - letters];
            reader->options |= on ? options[letter - letters] : 0;
        } else if (*reader->at != 'U' && *reader->at != 'J') {
            return false;
        }
    }
    return reader->at < reader->end;
}

static bool skip_behind(struct reader *reader, char c)
{
    const char *end = memchr(reader->at, c, (size_t)(reader->end - reader->at));

    if (end != NULL)
        reader->at = end + 1;
    return end != NULL;
}

/* The use that a group makes of its alternatives. */
enum group_use { GROUP_PLAIN, GROUP_ATOMIC, GROUP_ASSERTION, GROUP_NONE /* nothing follows */ };

/* The kind of the group behind "(?". False: it is not understood. */
static bool read_group_kind(struct reader *reader, enum group_use *use)
{
    *use = GROUP_PLAIN;
    if (skip(reader, ":") || skip(reader, "|"))
        return true;
    if (skip(reader, ">")) {
        *use = GROUP_ATOMIC;
        return true;
    }
    if (skip(reader, "=") || skip(reader, "!") || skip(reader, "<=") || skip(reader, "<!")) {
        *use = GROUP_ASSERTION;
        return true;
    }
    if (skip(reader, "P<") || skip(reader, "<"))
        return skip_behind(reader, '>');
    if (skip(reader, "'"))
        return skip_behind(reader, '\'');
    if (!read_options(reader))
        return false;
    *use = *reader->at++ == ')' ? GROUP_NONE : GROUP_PLAIN;
    return true;
}

/* A group behind its '('. */
static uint32_t read_group(struct reader *reader)
{
    const uint32_t options = reader->options;
    enum group_use use = GROUP_PLAIN;
    uint32_t node;

    if (skip(reader, "?P="))
        return skip_behind(reader, ')') ? anything(reader) : fail(reader);
    if (next_is(reader, "*") || (skip(reader, "?") && !read_group_kind(reader, &use)))
        return fail(reader);
    if (use == GROUP_NONE) /* options hold up to the end of the group around */
        return add_node(reader, TREE_SEQUENCE);
    node = read_alternatives(reader);
    reader->options = options;
    if (!skip(reader, ")"))
        return fail(reader);
    if (use == GROUP_ASSERTION)
        return nothing(reader);
    reader->tree->exact &= use != GROUP_ATOMIC;
    return node;
}

static uint32_t read_atom(struct reader *reader)
{
    const char c = *reader->at++;
    struct byte_set set = {{0}};

    switch (c) {
    case '(':
        return read_group(reader);
    case '[':
        return read_class_set(reader, &set) ? add_set(reader, set) : fail(reader);
    case '\\':
        return read_escape(reader);
    case '^':
    case '$':
        return read_anchor(reader, c);
    case '.':
        if ((reader->options & RULE_DOTALL) == 0)
            set_range(&set, '\n', '\n');
        set_invert(&set);
        return add_set(reader, set);
    default:
        set_range(&set, (uint8_t)c, (uint8_t)c);
        return add_set(reader, set_folded(reader, set));
    }
}

/* ---- repeats --------------------------------------------------------------------------------- */

static bool read_number(const char **at, const char *end, uint32_t *number)
{
    const char *begin = *at;

    for (*number = 0; *at < end && **at >= '0' && **at <= '9' && *number < 100000; ++*at)
        *number = *number * 10 + (uint32_t)(**at - '0');
    return *at != begin;
}

/* "{n}", "{n,}" or "{n,m}". False: the brace is a character, or it depends on PCRE2's version. */
static bool read_counts(struct reader *reader, uint32_t *min, uint32_t *max)
{
    const char *at = reader->at + 1;

    if (!read_number(&at, reader->end, min)) {
        reader->failed |= at < reader->end && (*at == ',' || *at == ' ' || *at == '\t');
        return false;
    }
    *max = *min;
    if (at < reader->end && *at == ',') {
        at++;
        if (!read_number(&at, reader->end, max))
            *max = TREE_NONE;
    }
    if (at == reader->end || *at != '}') {
        reader->failed |= at < reader->end && (*at == ' ' || *at == '\t');
        return false;
    }
    reader->at = at + 1;
    return true;
}

static bool read_quantifier(struct reader *reader, uint32_t *min, uint32_t *max)
{
    if (reader->at == reader->end)
        return false;
    if (*reader->at == '{')
        return read_counts(reader, min, max);
    if (*reader->at != '*' && *reader->at != '+' && *reader->at != '?')
        return false;
    *min = *reader->at == '+';
    *max = *reader->at == '?' ? 1 : TREE_NONE;
    reader->at++;
    return true;
}

/* Passes a comment from its first character up to its last. */
static void skip_comment(struct reader *reader, char last)
{
    if (!skip_behind(reader, last))
        reader->at = reader->end;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '\x85';
}

/* Comments, and the blanks and comments of RULE_EXTENDED. They may stand before each part of a
 * quantifier. */
static void skip_blanks(struct reader *reader)
{
    const bool extended = (reader->options & RULE_EXTENDED) != 0;

    while (reader->at < reader->end) {
        if (next_is(reader, "(?#"))
            skip_comment(reader, ')');
        else if (extended && *reader->at == '#')
            skip_comment(reader, '\n');
        else if (extended && is_blank(*reader->at))
            reader->at++;
        else
            return;
    }
}

/* An atom and the quantifiers behind it. */
static uint32_t read_piece(struct reader *reader)
{
    uint32_t min, max, node = read_atom(reader);

    skip_blanks(reader);
    while (!reader->failed && read_quantifier(reader, &min, &max)) {
        const uint32_t text_end = (uint32_t)(reader->at - reader->begin);

        node = repeat(reader, node, min, max);
        skip_blanks(reader);
        if (skip(reader, "+"))
            reader->tree->exact = false;
        else if (!skip(reader, "?") && !reader->failed)
            reader->tree->node[node].text_end = text_end;
        skip_blanks(reader);
    }
    return node;
}

/* Puts a child behind the last one of the parent. */
static void append(struct reader *reader, uint32_t parent, uint32_t *last, uint32_t child)
{
    if (reader->failed || child == TREE_NONE)
        return;
    if (*last == TREE_NONE)
        reader->tree->node[parent].child = child;
    else
        reader->tree->node[*last].next = child;
    *last = child;
}

static uint32_t read_sequence(struct reader *reader)
{
    const uint32_t node = add_node(reader, TREE_SEQUENCE);
    uint32_t last = TREE_NONE;

    for (skip_blanks(reader);
         !reader->failed && reader->at < reader->end && *reader->at != '|' && *reader->at != ')';
         skip_blanks(reader))
        append(reader, node, &last, read_piece(reader));
    return node;
}

static uint32_t read_alternatives(struct reader *reader)
{
    const uint32_t node = add_node(reader, TREE_ALTERNATIVE);
    uint32_t last = TREE_NONE;

    do
        append(reader, node, &last, read_sequence(reader));
    while (!reader->failed && skip(reader, "|"));
    return node;
}

bool syntax_tree_read(struct syntax_tree *tree, const char *text, size_t len, uint32_t options)
{
    struct reader reader = {tree, text, text, text + len, options, false};

    *tree = (struct syntax_tree){.exact = true,
                                 .multiline = (options & RULE_MULTILINE) != 0,
                                 .dollar_only = (options & RULE_DOLLAR_ENDONLY) != 0};
    tree->root = read_alternatives(&reader);
    return !reader.failed && reader.at == reader.end;
}
