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
    /* No command line names more of each than it has arguments. */
    const size_t n = (size_t)argc + 1;

    files->paths = calloc(n, sizeof *files->paths);
    files->configurations = calloc(n, sizeof *files->configurations);
    files->sets = calloc(n, sizeof *files->sets);
    if (files->paths != NULL && files->configurations != NULL && files->sets != NULL)
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

/* ---- configurations -------------------------------------------------------------------------- */

static const struct sl_setting *first_setting(const struct rule_files *files,
                                              enum sl_setting_kind kind)
{
    const struct sl_setting *setting = NULL;

    for (size_t i = 0;
         files->settings != NULL && (setting = sl_settings_at(files->settings, i)) != NULL; i++)
        if (setting->kind == kind)
            break;
    return setting;
}

static size_t count(const struct rule_files *files, enum sl_setting_kind kind)
{
    const struct sl_setting *setting;
    size_t n = 0;

    for (size_t i = 0;
         files->settings != NULL && (setting = sl_settings_at(files->settings, i)) != NULL; i++)
        n += setting->kind == kind;
    return n;
}

/* Puts the settings of a kind in front of a list. False: no memory. */
static bool put_in_front(const struct rule_files *files, enum sl_setting_kind kind,
                         const char ***list, size_t *n)
{
    const size_t n_before = count(files, kind);
    const char **grown = reallocarray(*list, n_before + *n + 1, sizeof *grown);
    const struct sl_setting *setting;
    size_t k = 0;

    if (grown == NULL)
        return false;
    memmove(grown + n_before, grown, *n * sizeof *grown);
    for (size_t i = 0; k < n_before; i++) {
        setting = sl_settings_at(files->settings, i);
        if (setting->kind == kind)
            grown[k++] = setting->value;
    }
    *list = grown;
    *n += n_before;
    return true;
}

/* Lists the variables of all, those that prevail last. */
static bool list_variables(struct rule_files *files)
{
    if (files->home != NULL && asprintf(&files->home_variable, "HOME_NET=[%s]", files->home) < 0) {
        files->home_variable = NULL;
        return false;
    }
    files->variables = calloc(files->n_sets + 1, sizeof *files->variables);
    if (files->variables == NULL)
        return false;
    if (files->home != NULL)
        files->variables[files->n_variables++] = files->home_variable;
    for (size_t i = 0; i < files->n_sets; i++)
        files->variables[files->n_variables++] = files->sets[i];
    return put_in_front(files, SL_SETTING_VARIABLE, &files->variables, &files->n_variables);
}

/* Says which variable is wrong. */
static void print_variable(const struct rule_files *files, size_t i, const struct sl_diag *diag)
{
    const size_t n_settings = count(files, SL_SETTING_VARIABLE);

    if (i < n_settings) { /* the first settings are the variables */
        const struct sl_setting *setting = sl_settings_at(files->settings, i);

        cli_error("%s:%u: %s", setting->file, setting->line, diag->text);
    } else if (files->variables[i] == files->home_variable) {
        cli_error("--home '%s': %s", files->home, diag->text);
    } else {
        cli_error("--set '%s': %s", files->variables[i], diag->text);
    }
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Orders the actions of rules as the configuration does. */
static bool order_actions(const struct rule_files *files, struct sl_rules *rules)
{
    const struct sl_setting *setting = first_setting(files, SL_SETTING_ACTIONS);
    struct sl_diag diag = {0};

    if (setting == NULL || sl_rules_order_actions(rules, setting->value, &diag) == SL_OK)
        return true;
    cli_error("%s:%u: action-order: %s", setting->file, setting->line, diag.text);
    return false;
}

/* An empty set with the variables and the order of actions. */
static bool create_rules(const struct rule_files *files, struct sl_rules **rules)
{
    struct sl_diag diag = {0};

    *rules = NULL;
    if (sl_rules_create(rules, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    for (size_t i = 0; i < files->n_variables; i++)
        if (sl_rules_assign(*rules, files->variables[i], &diag) != SL_OK) {
            print_variable(files, i, &diag);
            return false;
        }
    return order_actions(files, *rules);
}

static bool check_variables(const struct rule_files *files)
{
    struct sl_rules *rules;
    const bool good = create_rules(files, &rules);

    sl_rules_free(rules);
    return good;
}

bool rule_files_finish(struct rule_files *files)
{
    struct sl_diag diag = {0};

    if (files->from_config != NULL &&
        sl_settings_open(&files->settings, files->from_config, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    if (!put_in_front(files, SL_SETTING_RULES, &files->paths, &files->n_paths) ||
        !put_in_front(files, SL_SETTING_CONFIGURE, &files->configurations,
                      &files->n_configurations) ||
        !list_variables(files)) {
        cli_error("no memory for rule files and variables");
        return false;
    }
    const struct sl_setting *actions = first_setting(files, SL_SETTING_ACTIONS);

    files->actions = actions != NULL ? actions->value : NULL;
    return files->n_paths == 0 || check_variables(files);
}

static bool configure(const struct rule_files *files, struct sl_rules *rules)
{
    struct sl_diag diag = {0};

    for (size_t i = 0; i < files->n_configurations; i++)
        if (sl_rules_configure(rules, files->configurations[i], &diag) != SL_OK) {
            cli_diag(&diag);
            return false;
        }
    return true;
}

bool rule_files_load(const struct rule_files *files, struct sl_rules **rules, bool *usable)
{
    struct sl_diag diag = {0};

    *usable = true;
    if (!create_rules(files, rules) || !configure(files, *rules))
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

    if (files->from_config != NULL && cli_is_input(out, files->from_config))
        return true;
    for (size_t i = 0; i < files->n_configurations; i++)
        if (cli_is_input(out, files->configurations[i]))
            return true;
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
    free(files->configurations);
    free(files->sets);
    free(files->variables);
    free(files->home_variable);
    sl_settings_close(files->settings);
}
