/* SPDX-License-Identifier: MIT */
#include "rule_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"

bool rule_files_init(struct rule_files *files, int argc)
{
    /* No command line names more of either than it has arguments. */
    files->paths = calloc((size_t)argc + 1, sizeof *files->paths);
    files->sets = calloc((size_t)argc + 1, sizeof *files->sets);
    if (files->paths != NULL && files->sets != NULL)
        return true;
    cli_error("no memory for %d arguments", argc);
    return false;
}

static bool apply_set(struct sl_rules *rules, const char *set)
{
    const char *equals = strchr(set, '=');
    struct sl_diag diag = {0};
    char name[64];

    if (equals == NULL || equals == set || (size_t)(equals - set) >= sizeof name) {
        cli_error("--set '%s' is no variable (expected NAME=VALUE)", set);
        return false;
    }
    memcpy(name, set, (size_t)(equals - set));
    name[equals - set] = '\0';
    if (sl_rules_set(rules, name, equals + 1, &diag) == SL_OK)
        return true;
    cli_error("--set '%s': %s", set, diag.text);
    return false;
}

static bool apply_home(struct sl_rules *rules, const char *home)
{
    struct sl_diag diag = {0};
    char value[1024];

    snprintf(value, sizeof value, "[%s]", home);
    if (sl_rules_set(rules, "HOME_NET", value, &diag) == SL_OK)
        return true;
    cli_error("--home '%s': %s", home, diag.text);
    return false;
}

/* An empty set with the variables. */
static bool create_rules(const struct rule_files *files, struct sl_rules **rules)
{
    struct sl_diag diag = {0};

    *rules = NULL;
    if (sl_rules_create(rules, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    if (files->home != NULL && !apply_home(*rules, files->home))
        return false;
    for (size_t i = 0; i < files->n_sets; i++)
        if (!apply_set(*rules, files->sets[i]))
            return false;
    return true;
}

bool rule_files_check_variables(const struct rule_files *files)
{
    struct sl_rules *rules;
    const bool good = create_rules(files, &rules);

    sl_rules_free(rules);
    return good;
}

bool rule_files_load(const struct rule_files *files, struct sl_rules **rules)
{
    struct sl_diag diag = {0};

    if (!create_rules(files, rules))
        return false;
    for (size_t i = 0; i < files->n_paths; i++) {
        if (sl_rules_load(*rules, files->paths[i], &diag) != SL_OK) {
            cli_diag(&diag);
            return false;
        }
    }
    return true;
}

bool rule_files_check(const struct rule_files *files, const struct sl_rules *rules)
{
    struct sl_rules_count count;
    const char *keyword;
    char reasons[256] = "";
    size_t n;

    sl_rules_count(rules, &count);
    if (count.loaded != 0)
        return true;
    for (size_t i = 0; i < 6 && sl_rules_skip_reason(rules, i, &keyword, &n); i++) {
        const size_t len = strlen(reasons);

        if (i == 5)
            snprintf(reasons + len, sizeof reasons - len, ", ...");
        else
            snprintf(reasons + len, sizeof reasons - len, "%s%s %zu",
                     i == 0 ? ", by keyword: " : ", ", keyword, n);
    }
    cli_error("%s%s: no rule was loaded: %zu were read, %zu bad, %zu skipped%s", files->paths[0],
              files->n_paths > 1 ? " and others" : "", count.lines, count.bad, count.skipped,
              reasons);
    return false;
}

void rule_files_free(struct rule_files *files)
{
    free(files->paths);
    free(files->sets);
}
