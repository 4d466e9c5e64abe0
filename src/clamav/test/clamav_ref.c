/* SPDX-License-Identifier: MIT */
/* Slow and plain: every place, every width of every gap, every alternate is tried. */
#include "clamav_ref.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

enum { REF_MAX = 1 << 16, REF_BYTES_MAX = 1 << 19 };

struct ref {
    const uint8_t *bytes;
    size_t len;
    bool nocase, wide, fullword;
    uint8_t *begins; /* by place: a match's last part begins there */
    bool any;
};

static bool byte_is(const struct ref *ref, const char *hex, uint8_t byte)
{
    const int high = hex_digit(hex[0]), low = hex_digit(hex[1]);

    if (high >= 0 && low >= 0 && ref->nocase)
        return tolower(high << 4 | low) == tolower(byte);
    return (hex[0] == '?' || high == byte >> 4) && (hex[1] == '?' || low == (byte & 15));
}

static void go(struct ref *ref, const char *hex, size_t at, size_t part, bool fresh);

static bool ends_part(const char *hex)
{
    return *hex == '\0' || *hex == '*' || *hex == '{';
}

static bool left_border(const struct ref *ref, char class, size_t at)
{
    if (at == 0)
        return true;
    const uint8_t before = ref->bytes[at - 1];
    if (class == 'B')
        return strchr(" -/_.<@", before) != NULL && before != 0;
    if (class == 'L')
        return before == '\n';
    if (ref->wide)
        return at < 2 || !(isalnum(ref->bytes[at - 2]) && before == 0);
    return !isalnum(before);
}

static bool right_border(const struct ref *ref, char class, size_t at)
{
    if (at == ref->len)
        return true;
    const uint8_t behind = ref->bytes[at];
    if (class == 'B')
        return strchr(" -/_\n\r\"'=>", behind) != NULL && behind != 0;
    if (class == 'L')
        return behind == '\n' ||
               (behind == '\r' && at + 1 < ref->len && ref->bytes[at + 1] == '\n');
    if (ref->wide && at + 1 < ref->len)
        return !(isalnum(behind) && ref->bytes[at + 1] == 0);
    return !isalnum(behind);
}

static void go_class(struct ref *ref, char class, bool negated, const char *rest, size_t at,
                     size_t part, bool fresh)
{
    if (ends_part(rest)) {
        if (right_border(ref, class, at) != negated)
            go(ref, rest, at, part, false);
        return;
    }
    if (fresh && !negated) { /* negated it takes a byte: libclamav's way */
        if (left_border(ref, class, at))
            go(ref, rest, at, part, false);
        return;
    }
    if (at >= ref->len)
        return;
    const uint8_t byte = ref->bytes[at];
    if (class == 'W' && (!isalnum(byte)) != negated)
        go(ref, rest, at + 1, part, false);
    if (class == 'B' && (strchr(" -/_\n\r\"'=>.<@", byte) != NULL && byte != 0) != negated)
        go(ref, rest, at + 1, part, false);
    if (class == 'L' && !negated) {
        if (byte == '\n')
            go(ref, rest, at + 1, part, false);
        if (byte == '\r' && at + 1 < ref->len && ref->bytes[at + 1] == '\n')
            go(ref, rest, at + 2, part, false);
    }
}

/* The bytes that an alternate takes at a place, or -1 where it is not there. `total`: its length.
 */
static long alternate_at(const struct ref *ref, const char *hex, size_t n, size_t at, size_t *total)
{
    const size_t step = ref->wide ? 2 : 1, len = n / 2 * step;

    *total = len;
    if (at + len > ref->len)
        return -1;
    for (size_t i = 0; i < n / 2; i++) {
        if (!byte_is(ref, hex + 2 * i, ref->bytes[at + i * step]))
            return -1;
        if (ref->wide && ref->bytes[at + i * step + 1] != 0)
            return -1;
    }
    return (long)len;
}

static void go_block(struct ref *ref, const char *hex, bool negated, size_t at, size_t part,
                     bool fresh)
{
    const char *end = strchr(hex, ')');
    bool some = false;
    size_t total = 0;

    if (end - hex == 1 && strchr("BLW", *hex) != NULL) {
        go_class(ref, *hex, negated, end + 1, at, part, fresh);
        return;
    }
    for (const char *begin = hex; begin <= end;) {
        const size_t n = strcspn(begin, "|)");
        const long taken = alternate_at(ref, begin, n, at, &total);

        if (taken >= 0 && !negated)
            go(ref, end + 1, at + (size_t)taken, part, false);
        some |= taken >= 0;
        begin += n + 1;
    }
    if (negated && !some && at + total <= ref->len)
        go(ref, end + 1, at + total, part, false);
}

static void go_gap(struct ref *ref, const char *rest, size_t at, size_t part, long min, long max,
                   bool new_part)
{
    for (long gap = min; at + (size_t)gap <= ref->len && (max < 0 || gap <= max); gap++)
        go(ref, rest, at + (size_t)gap, new_part ? at + (size_t)gap : part, new_part);
}

static void go_range(struct ref *ref, const char *hex, size_t at, size_t part)
{
    const bool brace = *hex == '{';
    const char *rest = strchr(hex, brace ? '}' : ']') + 1;
    const char *dash = memchr(hex, '-', (size_t)(rest - hex));
    const long min = hex[1] == '-' ? 0 : strtol(hex + 1, NULL, 10);
    long max = min;

    if (dash != NULL)
        max = isdigit((unsigned char)dash[1]) ? strtol(dash + 1, NULL, 10) : -1;
    if (brace && dash == NULL && min > 0 && min < 128) {
        if (at + (size_t)min <= ref->len)
            go(ref, rest, at + (size_t)min, part, false);
        return;
    }
    go_gap(ref, rest, at, part, min, max, brace || ref->wide || ref->fullword);
}

/* All ways of matching the rest of a body from `at` on. */
static void go(struct ref *ref, const char *hex, size_t at, size_t part, bool fresh)
{
    const size_t step = ref->wide ? 2 : 1;

    switch (*hex) {
    case '\0':
        ref->any = true;
        ref->begins[part] = 1;
        return;
    case '*':
        go_gap(ref, hex + 1, at, part, 0, -1, true);
        return;
    case '{':
    case '[':
        go_range(ref, hex, at, part);
        return;
    case '!':
        go_block(ref, hex + 2, true, at, part, fresh);
        return;
    case '(':
        go_block(ref, hex + 1, false, at, part, fresh);
        return;
    default:
        if (at + step <= ref->len && byte_is(ref, hex, ref->bytes[at]) &&
            (!ref->wide || ref->bytes[at + 1] == 0))
            go(ref, hex + 2, at + step, part, false);
    }
}

/* Where a body may begin. */
static bool offset_range(const char *offset, size_t len, const struct ref_layout *layout,
                         long *from, long *to)
{
    const char *comma = strchr(offset, ',');
    const long shift = comma != NULL ? strtol(comma + 1, NULL, 10) : 0;
    long n = 0, section = 0, extent = 0;

    if (*offset == '*') {
        *from = 0;
        *to = (long)len;
        return true;
    }
    if (sscanf(offset, "EOF-%ld", &n) == 1) {
        *from = (long)len - n;
    } else if (strncmp(offset, "EP", 2) == 0) {
        if (layout == NULL || layout->entry < 0)
            return false;
        *from = layout->entry + strtol(offset + 2, NULL, 10);
    } else if (*offset == 'S') {
        if (layout == NULL || layout->n_sections == 0)
            return false;
        if (sscanf(offset, "SL+%ld", &n) == 1)
            section = layout->n_sections - 1;
        else if (sscanf(offset, "SE%ld", &section) == 1)
            extent = section < layout->n_sections ? layout->section_len[section] : 0;
        else
            sscanf(offset, "S%ld+%ld", &section, &n);
        if (section >= layout->n_sections)
            return false;
        *from = layout->section[section] + n;
    } else {
        *from = strtol(offset, NULL, 10);
    }
    *to = *from + extent + shift;
    return *from >= 0;
}

/* How many places the body's last part begins at, over all its matches. */
static unsigned count_places(const char *hex, const char *options, const char *offset,
                             const uint8_t *bytes, size_t len, const struct ref_layout *layout)
{
    char framed[REF_MAX];
    static uint8_t begins[REF_BYTES_MAX];
    struct ref ref = {bytes,
                      len,
                      strchr(options, 'i') != NULL,
                      strchr(options, 'w') != NULL,
                      strchr(options, 'f') != NULL,
                      begins,
                      false};
    long from, to;
    unsigned n = 0;

    if (!offset_range(offset, len, layout, &from, &to))
        return 0;
    snprintf(framed, sizeof framed, ref.fullword ? "(W)%s(W)" : "%s", hex);
    for (int variant = 0; variant < 2; variant++) {
        memset(begins, 0, len + 1);
        for (long at = from; at <= to && at <= (long)len; at++)
            go(&ref, framed, (size_t)at, (size_t)at, true);
        for (size_t at = 0; at <= len; at++)
            n += begins[at];
        if (!ref.wide || strchr(options, 'a') == NULL)
            break;
        ref.wide = false; /* wide, and ascii too */
    }
    return n;
}

bool ref_ndb(const char *line, const uint8_t *bytes, size_t len, const struct ref_layout *layout)
{
    static char name[REF_MAX], offset[REF_MAX], hex[REF_MAX];
    int target;

    if (sscanf(line, "%65535[^:]:%d:%65535[^:]:%65535[^:\n]", name, &target, offset, hex) != 4)
        return false;
    return count_places(hex, "", offset, bytes, len, layout) > 0;
}

/* ---- expressions ----------------------------------------------------------------------------- */

struct ref_value {
    bool holds;
    unsigned long n;
    uint64_t subs;
};

static struct ref_value expression(const char **at, const unsigned *counts);

static struct ref_value operand(const char **at, const unsigned *counts)
{
    struct ref_value value = {false, 0, 0};
    bool block = **at == '(', modified = false;
    long sub = 0;
    char modifier = '\0';
    unsigned long want = 0, distinct = 0;

    if (block) {
        ++*at;
        value = expression(at, counts);
        ++*at;
    } else {
        sub = strtol(*at, (char **)at, 10);
        value.n = counts[sub];
        value.holds = value.n > 0;
        value.subs = UINT64_C(1) << sub;
    }
    while (**at != '\0' && strchr("=<>", **at) != NULL) {
        modifier = *(*at)++;
        modified = true;
    }
    if (modified) {
        want = strtoul(*at, (char **)at, 10);
        if (**at == ',') {
            ++*at;
            distinct = strtoul(*at, (char **)at, 10);
        }
        if (block && !value.holds)
            value.n = value.subs = 0;
        value.holds = modifier == '='   ? value.n == want
                      : modifier == '<' ? value.n < want
                                        : value.n > want;
        if (block && (unsigned)__builtin_popcountll(value.subs) < distinct)
            value.holds = false;
        if (block)
            value.subs = 0; /* of a block with a count only the matches add up further out */
    }
    if (!value.holds)
        value.n = value.subs = 0;
    return value;
}

/* Operators group to the right and have no precedence. */
static struct ref_value expression(const char **at, const unsigned *counts)
{
    struct ref_value left = operand(at, counts);
    const char operation = **at;

    if (operation != '&' && operation != '|')
        return left;
    ++*at;
    const struct ref_value right = expression(at, counts);
    const bool holds = operation == '&' ? left.holds && right.holds : left.holds || right.holds;
    left.n = holds ? left.n + right.n : 0;
    left.subs = holds ? left.subs | right.subs : 0;
    left.holds = holds;
    return left;
}

bool ref_ldb(const char *line, const uint8_t *bytes, size_t len, const struct ref_layout *layout)
{
    char *copy = strdup(line), *next = copy, *fields[70];
    unsigned counts[64] = {0};
    int n = 0;

    while (n < 70 && (fields[n] = strsep(&next, ";")) != NULL)
        n++;
    if (n < 3) {
        free(copy);
        return false;
    }
    for (int i = 3; i < n; i++) {
        char *options = strstr(fields[i], "::");
        char *colon;
        const char *offset = "*", *hex = fields[i];

        if (options != NULL) {
            *options = '\0';
            options += 2;
        }
        colon = strchr(fields[i], ':');
        if (colon != NULL) {
            *colon = '\0';
            offset = fields[i];
            hex = colon + 1;
        }
        counts[i - 3] =
            count_places(hex, options != NULL ? options : "", offset, bytes, len, layout);
    }
    const char *at = fields[2];
    const bool holds = expression(&at, counts).holds;
    free(copy);
    return holds;
}
