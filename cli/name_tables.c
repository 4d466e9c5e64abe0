/* SPDX-License-Identifier: MIT */
#include "name_tables.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

void name_tables_print_formats(void)
{
    puts("formats of tables:");
    for (const struct sl_names_format *format = sl_names_formats(); format->name != NULL; format++)
        printf("  %-12s %s\n", format->name, format->text);
}

bool name_tables_check(const struct name_tables *tables, const char *option)
{
    if (tables->unused != NULL)
        cli_error("%s '%.64s' has no effect: it holds for the tables behind it, and there is none",
                  option, tables->unused);
    return tables->unused == NULL;
}

bool name_tables_set_format(struct name_tables *tables, const char *option, const char *name)
{
    char known[256];
    size_t len = 0;

    if (!name_tables_check(tables, option))
        return false;
    tables->unused = name;
    tables->format = strcmp(name, "auto") == 0 ? NULL : name;
    if (tables->format == NULL)
        return true;
    for (const struct sl_names_format *format = sl_names_formats();
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
    tables->file[tables->n++] = (struct sl_names_file){path, tables->format};
    tables->unused = NULL;
    return true;
}

bool name_tables_open(const struct name_tables *tables, struct sl_names **names)
{
    struct sl_names_config config;
    struct sl_diag diag = {0};

    sl_names_config_init(&config);
    config.files = tables->file;
    config.n_files = (size_t)tables->n;
    if (tables->plane != NULL)
        config.plane = tables->plane;
    config.updates = tables->updates;
    if (sl_names_open_files(names, &config, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

/* The lines whose reasons the table knows. A saved table has the number of such lines alone. */
static uint64_t known_lines(const struct sl_names *names)
{
    struct sl_names_reason reason;
    uint64_t n = 0;

    for (size_t i = 0; sl_names_ignore_reason(names, i, &reason); i++)
        n += reason.n_lines;
    return n;
}

void name_tables_report_ignored(const struct sl_names *names, bool each)
{
    struct sl_names_count count;
    struct sl_diag diag = {0};
    struct sl_names_reason reason;
    char text[32], all[32], skipped[32];
    const uint64_t known = known_lines(names);

    sl_names_count(names, &count);
    if (count.ignored + count.skipped == 0)
        return;
    for (size_t i = 0; each && sl_names_ignored(names, i, &diag); i++)
        cli_diag(&diag);
    cli_error("%s of %s lines ignored, %s skipped%s", cli_count(count.ignored, text),
              cli_count(count.lines, all), cli_count(count.skipped, skipped),
              each || known == 0 ? "" : " (sluice lookup --ignored lists them):");
    if (known < count.ignored + count.skipped)
        cli_error("%s of them are in the lists that a saved table was built from (sluice lookup "
                  "--table LIST --ignored lists them)",
                  cli_count(count.ignored + count.skipped - known, text));
    for (size_t i = 0; !each && sl_names_ignore_reason(names, i, &reason); i++)
        fprintf(stderr, "%14s  %s%s\n", cli_count(reason.n_lines, text),
                reason.skipped ? "skipped: " : "", reason.text);
}
