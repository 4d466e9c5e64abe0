/* SPDX-License-Identifier: MIT */
/* Lists of phishing: domains that links pretend to lead to (.pdb), links that are harmless (.wdb),
 * and hashes of addresses (.gdb, which may have domains, too). */
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "clamav/line_internal.h"

enum { LINE_LEN_MAX = 8188 /* ClamAV's, with its "/" */ };

/* Takes the levels from the end of a line, "FROM-" or "FROM-TO". A line may end otherwise. */
static enum clam_taken take_levels(struct sl_clamav_set *set, struct clam_text *line)
{
    const char *const colon = memrchr(line->at, ':', line->len);
    struct clam_text levels, least;
    uint64_t from = 0, to = UINT32_MAX;

    if (colon == NULL)
        return CLAM_TAKEN;
    levels = (struct clam_text){colon + 1, line->len - (size_t)(colon - line->at) - 1};
    if (!clam_text_cut(&levels, '-', &least) ||
        (least.len > 0 && !clam_text_number(least, UINT32_MAX, &from)) ||
        (levels.len > 0 && !clam_text_number(levels, UINT32_MAX, &to)))
        return CLAM_TAKEN;
    line->len = (size_t)(colon - line->at);
    return line_check_level(set, from, to);
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* The path of an address is not compared: what stands for it is taken out. */
static void cut_path(struct clam_text *expression)
{
    static const char *const paths[] = {"([/?].*)?", "([/?].*)"};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const size_t n = strlen(paths[i]);

        if (expression->len > n && memcmp(expression->at + expression->len - n, paths[i], n) == 0)
            expression->len -= n;
    }
}

/* "^" and "{n}" are none. But libclamav's filter takes them for bytes, so that an expression which
 * has them behind its last other operator matches nothing. */
static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || strchr("-_/:@%&=,~^{}", c) != NULL;
}

/* Writes the end of what an expression matches, where that is the same in all cases. */
static void find_tail(const char *text, char *tail)
{
    size_t at = strlen(text), n = 0;

    while (strchr(text, '|') == NULL && at > 0) {
        const char c = text[at - 1];
        const bool is_escaped = at > 1 && text[at - 2] == '\\' && (at < 3 || text[at - 3] != '\\');

        if (c == '\0' || (is_escaped ? isalnum((unsigned char)c) : !is_plain(c)))
            break;
        tail[n++] = c;
        at -= is_escaped ? 2 : 1;
    }
    tail[n] = '\0';
    for (size_t i = 0; i < n / 2; i++) {
        const char c = tail[i];

        tail[i] = tail[n - 1 - i];
        tail[n - 1 - i] = c;
    }
}

static enum clam_taken put_expression(struct sl_clamav_set *set, const char *text,
                                      struct clam_domain *domain)
{
    char tail[LINE_LEN_MAX + 1];
    regex_t regex;

    if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) != 0)
        return clam_bad(set, "is no regular expression");
    regfree(&regex);
    find_tail(text, tail);
    domain->is_expression = true;
    return line_put_text(set, (struct clam_text){tail, strlen(tail)}, &domain->tail);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum clam_taken read_names(struct sl_clamav_set *set, enum clam_array array,
                                  bool is_expression, struct clam_text names)
{
    struct clam_domain domain = {.text = 0}, *room;
    char text[LINE_LEN_MAX + 1];
    uint32_t index;

    if (names.len == 0)
        return clam_bad(set, "has no name");
    if (memchr(names.at, '\0', names.len) != NULL)
        return clam_bad(set, "has a NUL");
    if (is_expression)
        cut_path(&names);
    memcpy(text, names.at, names.len);
    text[names.len] = '/';
    text[names.len + 1] = '\0';
    enum clam_taken taken = is_expression ? put_expression(set, text, &domain) : CLAM_TAKEN;
    if (taken == CLAM_TAKEN)
        taken = line_put_text(set, (struct clam_text){text, names.len + 1}, &domain.text);
    if (taken != CLAM_TAKEN)
        return taken;
    room = clam_push(set, array, 1, &index);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    *room = domain;
    return CLAM_TAKEN;
}

/* What is found where the address of a link has a hash of that kind. */
static const char *name_of(char kind)
{
    if (kind == '1')
        return "Heuristics.Phishing.URL.Blocked";
    return kind == '2' ? "Heuristics.Safebrowsing.Suspected-phishing_safebrowsing.clamav.net"
                       : "Heuristics.Safebrowsing.Suspected-malware_safebrowsing.clamav.net";
}

/* S1:F:HASH, S2:F:HASH, S:W:HASH of an address that is allowed, or S1:P:START of a hash, which
 * ClamAV reads and does not use. */
static enum clam_taken read_address(struct sl_clamav_set *set, char kind, struct clam_text rest)
{
    const size_t start_len = 8;
    struct clam_text use;
    uint8_t digest[32], start[4], hash_kind;
    uint32_t name;

    if (!clam_text_cut(&rest, ':', &use) || use.len != 1 || strchr("FPW", use.at[0]) == NULL)
        return clam_bad(set, "the use of the hash is not F, P or W");
    if (use.at[0] == 'P')
        return rest.len == start_len && line_read_hex(rest, start)
                   ? CLAM_TAKEN
                   : clam_bad(set, "the start of the hash has not 8 hexadecimal digits");
    if (!line_read_digest(rest, digest, &hash_kind) || hash_kind != CLAM_SHA256)
        return clam_bad(set, "the hash is no SHA-256 in hexadecimal");
    const char *const text = name_of(kind);
    const enum clam_taken taken = line_put_text(set, (struct clam_text){text, strlen(text)}, &name);
    if (taken != CLAM_TAKEN)
        return taken;
    struct clam_hash *const hash =
        clam_grow(&set->hashes[CLAM_OF_URL][CLAM_SHA256], clam_hash_step(CLAM_SHA256), 1);
    if (hash == NULL || name > CLAM_HASH_NAME_MAX)
        return CLAM_NO_MEMORY;
    hash->size = use.at[0] == 'W' ? CLAM_URL_ALLOWED : CLAM_URL_FOUND;
    hash->name = name & CLAM_HASH_NAME_MAX;
    hash->number = CLAM_NONE;
    hash->official = 1;
    memcpy(hash->digest, digest, sizeof digest);
    set->n_allowed += use.at[0] == 'W';
    return CLAM_TAKEN;
}

static enum clam_taken read_protected(struct sl_clamav_set *set, struct clam_text kind,
                                      struct clam_text rest)
{
    switch (kind.at[0]) {
    case 'R':
        return read_names(set, CLAM_A_PROTECTED, true, rest);
    case 'H':
        return read_names(set, CLAM_A_PROTECTED, false, rest);
    case 'S':
        return read_address(set, kind.len > 1 ? kind.at[1] : ':', rest);
    default:
        return clam_bad(set, "the kind is not R, H or S");
    }
}

static enum clam_taken read_harmless(struct sl_clamav_set *set, struct clam_text kind,
                                     struct clam_text rest)
{
    switch (kind.at[0]) {
    case 'X':
    case 'Y':
        return read_names(set, CLAM_A_HARMLESS, true, rest);
    case 'M':
        return read_names(set, CLAM_A_HARMLESS, false, rest);
    default:
        return clam_bad(set, "the kind is not X, Y or M");
    }
}

enum clam_taken line_read_domain(struct sl_clamav_set *set, enum clam_format format,
                                 struct clam_text line)
{
    struct clam_text kind;
    const enum clam_taken taken = take_levels(set, &line);

    if (taken != CLAM_TAKEN)
        return taken;
    if (line.len > LINE_LEN_MAX - 2)
        return clam_bad(set, "is longer than %d bytes", LINE_LEN_MAX - 2);
    if (!clam_text_cut(&line, ':', &kind) || kind.len == 0)
        return clam_bad(set, "has no kind and no ':' behind it");
    return format == CLAM_PDB ? read_protected(set, kind, line) : read_harmless(set, kind, line);
}
