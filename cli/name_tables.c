/* SPDX-License-Identifier: MIT */
#include "name_tables.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli.h"

void name_tables_print_formats(void)
{
    puts("formats of tables:");
    for (const struct sl_names_format *format = sl_names_formats; format->name != NULL; format++)
        printf("  %-12s %s\n", format->name, format->text);
}

bool name_tables_set_format(struct name_tables *tables, const char *option, const char *name)
{
    char known[256];
    size_t len = 0;

    tables->format = strcmp(name, "auto") == 0 ? NULL : name;
    if (tables->format == NULL)
        return true;
    for (const struct sl_names_format *format = sl_names_formats;
         format->name != NULL && len < sizeof known; format++) {
        if (strcmp(format->name, name) == 0)
            return true;
        len += (size_t)snprintf(known + len, sizeof known - len, ", %s", format->name);
    }
    cli_error("%s '%.64s' is no format of tables (known: auto%s)", option, name, known);
    return false;
}

bool name_tables_add(struct name_tables *tables, const char *option, const char *path)
{
    if (tables->n == NAME_TABLES_MAX) {
        cli_error("%s '%s': more than %d tables", option, path, NAME_TABLES_MAX);
        return false;
    }
    tables->table[tables->n].path = path;
    tables->table[tables->n++].format = tables->format;
    return true;
}

static bool say(enum sl_status status, const struct sl_diag *diag)
{
    if (status != SL_OK)
        cli_diag(diag);
    return status == SL_OK;
}

/* A saved table comes alone: it is built already. */
static bool open_saved(struct name_tables *tables, struct sl_names **names)
{
    struct sl_diag diag = {0};

    if (tables->n > 1) {
        for (int i = 0; i < tables->n; i++)
            if (sl_names_is_saved(tables->table[i].path))
                cli_error("%s: is a built table, which cannot be put together with others",
                          tables->table[i].path);
        return false;
    }
    const uint64_t begin = clock_ns();
    const bool ok = say(sl_names_open(names, tables->table[0].path, tables->updates, &diag), &diag);
    tables->load_ns = clock_ns() - begin;
    return ok;
}

bool name_tables_load(struct name_tables *tables, struct sl_names **names)
{
    struct sl_diag diag = {0};
    bool saved = false;

    *names = NULL;
    for (int i = 0; i < tables->n; i++)
        saved |= sl_names_is_saved(tables->table[i].path);
    if (saved)
        return open_saved(tables, names);

    const uint64_t begin = clock_ns();
    bool ok = say(sl_names_create(names, &diag), &diag);
    for (int i = 0; ok && i < tables->n; i++)
        ok = say(sl_names_load(*names, tables->table[i].path, tables->table[i].format, &diag),
                 &diag);
    const uint64_t loaded = clock_ns();
    tables->load_ns = loaded - begin;
    ok = ok && say(sl_names_build(*names, tables->plane, &diag), &diag);
    tables->build_ns = clock_ns() - loaded;
    return ok;
}

void name_tables_report_ignored(const struct sl_names *names, bool each)
{
    struct sl_names_count count;
    struct sl_diag diag = {0};
    const char *reason;
    uint64_t n;
    char text[32], all[32];

    sl_names_count(names, &count);
    if (count.ignored == 0)
        return;
    for (size_t i = 0; each && sl_names_ignored(names, i, &diag); i++)
        cli_diag(&diag);
    cli_error("%s of %s lines ignored%s", cli_count(count.ignored, text),
              cli_count(count.lines, all), each ? "" : " (sluice lookup --ignored lists them):");
    for (size_t i = 0; !each && sl_names_ignore_reason(names, i, &reason, &n); i++)
        fprintf(stderr, "%14s  %s\n", cli_count(n, text), reason);
}
