/* SPDX-License-Identifier: MIT */
#include "rule_files.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static bool pattern_has(const char *pattern, const char *out)
{
    glob_t found;
    bool has = false;

    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !has; i++)
        has = cli_is_input(out, found.gl_pathv[i]);
    globfree(&found);
    return has;
}

bool rule_files_have(const struct rule_files *files, const char *out)
{
    static const char ending[] = ".rules";
    const size_t len = strlen(out);
    const bool is_read = len > strlen(ending) && strcmp(out + len - strlen(ending), ending) == 0;

    for (size_t i = 0; i < files->n_paths; i++) {
        const char *const path = files->paths[i];
        struct stat found;

        if (stat(path, &found) != 0
                ? pattern_has(path, out)
                : (!S_ISDIR(found.st_mode) || is_read) && cli_is_input(out, path))
            return true;
    }
    return false;
}

void rule_files_free(struct rule_files *files)
{
    free(files->paths);
    free(files->sets);
}
