/* SPDX-License-Identifier: MIT */
/* A database as text: its lines, one after another, into a set. */
#include <string.h>

#include "base/diag.h"
#include "base/pages.h"
#include "clamav/set.h"

/* The name of a signature, to be listed with the reason. */
static struct clam_text name_in(enum clam_format format, struct clam_text line)
{
    struct clam_text rest = line, name = {NULL, 0};

    switch (format) {
    case CLAM_LDB:
    case CLAM_PWDB:
    case CLAM_CRB:
        clam_text_cut(&rest, ';', &name);
        break;
    case CLAM_DB:
        clam_text_cut(&rest, '=', &name);
        break;
    case CLAM_PDB:
    case CLAM_WDB:
        clam_text_cut(&rest, ':', &name);
        name = rest;
        break;
    case CLAM_NDB:
    case CLAM_CDB:
        clam_text_cut(&rest, ':', &name);
        break;
    default:
        for (int i = 0; i < 3; i++)
            clam_text_cut(&rest, ':', &name);
    }
    if (name.len > 200)
        name.len = 200;
    return name;
}

/* Without the line's end and, as clamscan has it, carriage returns before it. */
static struct clam_text next_line(const char **at, const char *end)
{
    const char *begin = *at;
    const char *newline = memchr(begin, '\n', (size_t)(end - begin));
    struct clam_text line = {begin, (size_t)((newline != NULL ? newline : end) - begin)};

    *at = newline != NULL ? newline + 1 : end;
    while (line.len > 0 && line.at[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* ---- unwanted programs ----------------------------------------------------------------------- */

/* PUA.Category.Name */
static bool has_category(const struct sl_clamav_pua *pua, struct clam_text name)
{
    struct clam_text prefix, category;

    if (!clam_text_cut(&name, '.', &prefix) || !clam_text_is(prefix, "PUA") ||
        !clam_text_cut(&name, '.', &category))
        return false;
    for (size_t i = 0; i < pua->n_categories; i++)
        if (clam_text_is(category, pua->categories[i]))
            return !pua->excludes;
    return pua->excludes;
}

static enum clam_taken check_pua(struct sl_clamav_set *set, struct clam_text name)
{
    if (set->pua == NULL)
        return clam_skip(set, "of an unwanted program (PUA)");
    if (set->pua->n_categories > 0 && !has_category(set->pua, name))
        return clam_skip(set, "of a category of unwanted programs that is not asked for");
    return CLAM_TAKEN;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum clam_taken read_line(struct sl_clamav_set *set, const char *name,
                                 enum clam_format format, struct clam_text line)
{
    enum clam_taken taken = CLAM_TAKEN;
    struct clam_mark mark;

    clam_mark_take(set, &mark);
    if (clam_is_of_pua(name))
        taken = check_pua(set, name_in(format, line));
    if (taken == CLAM_TAKEN)
        taken = format == CLAM_OTHER_FORMAT
                    ? clam_skip(set, "format %s is not supported", strrchr(name, '.'))
                    : clam_line_read(set, format, line);
    if (taken == CLAM_TAKEN)
        return CLAM_TAKEN;
    clam_mark_restore(set, &mark);
    return clam_note(set, taken, name_in(format, line)) ? taken : CLAM_NO_MEMORY;
}

/* `kept`: else the pages of lines that were read are given back. */
static enum sl_status read_text(struct sl_clamav_set *set, const char *name, const char *text,
                                size_t len, bool kept, struct sl_diag *diag)
{
    enum { STEP = 256 << 10 };
    const enum clam_format format = clam_format_of(name);
    const char *at = text, *end = text + len;
    const size_t n_bad = set->bad.n;
    bool any = false;

    if (!clam_set_add_file(set, name))
        return diag_set(diag, SL_ENOMEM, name, 0, "out of memory");
    for (set->line = 1; at < end; set->line++) {
        if (!kept && at - text >= STEP) {
            pages_discard(text, (size_t)(at - text));
            text = at;
        }
        const struct clam_text line = next_line(&at, end);
        if (line.len == 0 || line.at[0] == '#')
            continue;
        const enum clam_taken taken = read_line(set, name, format, line);
        if (taken == CLAM_NO_MEMORY)
            return diag_set(diag, SL_ENOMEM, name, set->line, "out of memory");
        any |= taken == CLAM_TAKEN;
    }
    if (any || set->bad.n == n_bad)
        return SL_OK;
    const struct clam_note *first = &set->bad.at[n_bad];
    return diag_set(diag, SL_EFORMAT, name, first->line,
                    "%s (no line of this database can be used)", first->text);
}

enum sl_status clam_text_read(struct sl_clamav_set *set, const char *name, char *text, size_t len,
                              bool official, struct sl_diag *diag)
{
    set->official = official;
    return read_text(set, name, text, len, false, diag);
}

enum sl_status sl_clamav_set_read_text(struct sl_clamav_set *set, const char *name,
                                       const char *text, size_t text_len, struct sl_diag *diag)
{
    const enum clam_format format = clam_format_of(name);

    if (format == CLAM_UNKNOWN || format == CLAM_CVD)
        return diag_set(diag, SL_EINVAL, name, 0,
                        "its name says no text format of ClamAV's (.ndb, .ldb, .hdb, ...)");
    set->official = false;
    return read_text(set, name, text, text_len, true, diag);
}
