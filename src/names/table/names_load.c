/* SPDX-License-Identifier: MIT */
/* Filling a table: texts, their lines, and the rules of a line. */
#include "names_load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

const char names_no_memory_reading[] = "no memory left while reading";

/* Adds the rules of a line. *full: a name has no room for one of them. */
static enum sl_status add_rules(struct sl_names *names, const struct list_parse *parse,
                                uint32_t list, uint32_t line, bool *full)
{
    *full = false;
    for (uint32_t i = 0; i < parse->n_rules; i++) {
        const struct list_rule *rule = &parse->rules[i];
        uint32_t *kept = names_map_node(names->map, rule->name.bytes, rule->name.len);
        if (kept == NULL)
            return SL_ENOMEM;
        const uint32_t old = *kept;

        switch (names_node_add(names, kept, list, line, rule)) {
        case NAMES_CHANGED:
            if (old != NODE_NONE)
                names_node_free(names, old);
            break;
        case NAMES_SAME:
            names->n_repeated++;
            break;
        case NAMES_FULL:
            *full = true;
            break;
        case NAMES_NO_MEMORY:
            return SL_ENOMEM;
        }
    }
    return SL_OK;
}

/* Adds a line. */
static enum sl_status add_line(struct names_load *load, const char *text, size_t len)
{
    struct sl_names *names = load->names;
    struct list_parse *parse = load->parse;
    const char *why = list_parse_line(parse, text, len);
    bool skipped = parse->skipped, full = false;

    load->line += load->line < UINT32_MAX;
    if (why == NULL && parse->n_rules == 0)
        return SL_OK;
    names->n_lines++;
    load->n_lines++;
    if (why == NULL && add_rules(names, parse, load->list, load->line, &full) != SL_OK)
        return SL_ENOMEM;
    if (full) {
        why = names_too_many_rules;
        skipped = true;
    }
    if (why == NULL) {
        names->n_rules++;
        load->n_rules++;
        return SL_OK;
    }
    if (!skipped && load->wrong == NULL) {
        load->wrong = why;
        load->wrong_line = load->line;
    }
    return names_ignore(names, load->list, load->line, why, skipped) ? SL_OK : SL_ENOMEM;
}

/* NULL: the format is unknown, or none was named and none recognised. */
static const struct list_format *choose_format(const char *label, const char *format,
                                               const char *text, size_t text_len,
                                               struct sl_diag *diag)
{
    const struct list_format *found =
        format != NULL ? list_format_find(format, diag) : list_format_detect(text, text_len);
    char known[LIST_KNOWN_MAX];

    if (found == NULL && format == NULL)
        (void)diag_set(diag, SL_EFORMAT, label, 0,
                       "its first lines are of no format that is known (%s)",
                       list_known_formats(known));
    return found;
}

enum sl_status names_load_begin(struct names_load *load, struct sl_names *names, const char *label,
                                const char *format, const char *text, size_t text_len,
                                struct sl_diag *diag)
{
    *load = (struct names_load){.names = names, .label = label};
    if (names->map == NULL) {
        (void)diag_set(diag, SL_EINVAL, label, 0, "the table is built already");
        return SL_EINVAL;
    }
    const struct list_format *found = choose_format(label, format, text, text_len, diag);
    if (found == NULL)
        return format != NULL ? SL_EINVAL : SL_EFORMAT;
    const enum sl_status status = names_list_add(names, label, found->name, &load->list, diag);
    if (status != SL_OK)
        return status;
    load->parse = calloc(1, sizeof *load->parse);
    if (load->parse == NULL)
        return diag_set(diag, SL_ENOMEM, label, 0, "%s", names_no_memory_reading);
    load->parse->format = found;
    load->format = found->name;
    return SL_OK;
}

enum sl_status names_load_add(struct names_load *load, const char *text, size_t text_len,
                              struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    const char *line;
    size_t at = 0, len;

    while (status == SL_OK && list_next_line(text, text_len, &at, &line, &len))
        status = add_line(load, line, len);
    return status == SL_OK ? SL_OK
                           : diag_set(diag, status, load->label, 0, "%s", names_no_memory_reading);
}

enum sl_status names_load_end(struct names_load *load, enum sl_status status, struct sl_diag *diag)
{
    free(load->parse);
    if (status != SL_OK || load->n_rules != 0 || load->wrong == NULL)
        return status;
    return diag_set(diag, SL_EFORMAT, load->label, load->wrong_line,
                    "%s; none of %" PRIu64 " lines of the format '%s' can be used", load->wrong,
                    load->n_lines, load->format);
}

size_t names_load_mark_len(const char *text, size_t text_len)
{
    return text_len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

enum sl_status sl_names_load_text(struct sl_names *names, const char *label, const char *format,
                                  const char *text, size_t text_len, struct sl_diag *diag)
{
    const size_t mark = names_load_mark_len(text, text_len);
    struct names_load load;

    enum sl_status status =
        names_load_begin(&load, names, label, format, text + mark, text_len - mark, diag);
    if (status == SL_OK)
        status = names_load_add(&load, text + mark, text_len - mark, diag);
    return names_load_end(&load, status, diag);
}
