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

void rule_files_set(struct rule_files *files, const char *set)
{
    static const char *const groups[] = {"vars.address-groups.", "vars.port-groups."};

    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strncmp(set, groups[i], strlen(groups[i])) == 0)
            set += strlen(groups[i]);
    if (memchr(set, '.', strcspn(set, "=")) == NULL)
        files->sets[files->n_sets++] = set;
}

static bool assign(struct sl_rules *rules, const char *option, const char *value,
                   const char *assignment)
{
    struct sl_diag diag = {0};

    if (sl_rules_assign(rules, assignment, &diag) == SL_OK)
        return true;
    cli_error("%s '%s': %s", option, value, diag.text);
    return false;
}

static bool assign_home(struct sl_rules *rules, const char *home)
{
    char assignment[1024];

    snprintf(assignment, sizeof assignment, "HOME_NET=[%s]", home);
    return assign(rules, "--home", home, assignment);
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
    if (files->home != NULL && !assign_home(*rules, files->home))
        return false;
    for (size_t i = 0; i < files->n_sets; i++)
        if (!assign(*rules, "--set", files->sets[i], files->sets[i]))
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

bool rule_files_load(const struct rule_files *files, struct sl_rules **rules, bool *usable)
{
    struct sl_diag diag = {0};

    *usable = true;
    if (!create_rules(files, rules))
        return false;
    for (size_t i = 0; i < files->n_paths; i++) {
        const enum sl_status status = sl_rules_load(*rules, files->paths[i], &diag);

        if (status != SL_OK)
            cli_diag(&diag);
        if (status != SL_OK && status != SL_EFORMAT)
            return false;
        *usable = *usable && status == SL_OK;
    }
    if (*usable && sl_rules_require(*rules, files->paths[0], &diag) != SL_OK) {
        cli_diag(&diag);
        *usable = false;
    }
    return true;
}

void rule_files_free(struct rule_files *files)
{
    free(files->paths);
    free(files->sets);
}
