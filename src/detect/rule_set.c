/* SPDX-License-Identifier: MIT */
/* The rule set: its variables, its counts, and the rules that were not loaded. */
#include "rule_set.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "detect/compile/rule_compile.h"
#include "detect/data/rule_data.h"
#include "detect/parse/classification.h"
#include "detect/parse/reference.h"
#include "detect/parse/rule_list.h"

enum sl_status rule_set_no_memory(struct sl_diag *diag)
{
    return diag_set(diag, SL_ENOMEM, NULL, 0, "out of memory");
}

enum sl_status sl_rules_create(struct sl_rules **rules, struct sl_diag *diag)
{
    struct sl_rules *made = calloc(1, sizeof *made);

    if (made == NULL)
        return rule_set_no_memory(diag);

    made->threads = cpu_cores();
    for (int i = 0; i < RULE_N_ACTIONS; i++)
        made->action_place[i] = (uint8_t)i;
    pthread_mutex_init(&made->lock, NULL);
    enum sl_status status = rule_variable_defaults(made, diag);
    if (status == SL_OK)
        status = rule_class_defaults(made, diag);
    if (status == SL_OK)
        status = rule_reference_defaults(made, diag);
    if (status != SL_OK) {
        sl_rules_free(made);
        return status;
    }
    *rules = made;
    return SL_OK;
}

void sl_rules_free(struct sl_rules *rules)
{
    if (rules == NULL)
        return;
    rule_index_free(rules->index);
    free(rules->profile);
    free(rules->rule);
    free(rules->filter);
    free(rules->bad.note);
    free(rules->skipped.note);
    free(rules->unclassed.note);
    free(rules->skip);
    rule_map_free(&rules->variables);
    rule_map_free(&rules->lists[RULE_ADDRESSES]);
    rule_map_free(&rules->lists[RULE_PORTS]);
    rule_map_free(&rules->classes);
    rule_map_free(&rules->references);
    rule_map_free(&rules->chains);
    rule_map_free(&rules->skips);
    rule_map_free(&rules->lacks);
    rule_map_free(&rules->by_sid);
    rule_map_free(&rules->datasets);
    for (struct rule_dataset *dataset = rules->dataset; dataset != NULL; dataset = dataset->next)
        data_set_free(&dataset->set);
    rule_map_free(&rules->expressions);
    rule_expressions_free(rules->expression);
    rule_arena_free(&rules->arena);
    for (unsigned i = 0; i < SPREAD_THREADS_MAX; i++)
        rule_arena_free(&rules->of_thread[i]);
    rule_arena_free(&rules->shared);
    pthread_mutex_destroy(&rules->lock);
    free(rules);
}

enum sl_status rule_set_compiled(struct sl_diag *diag)
{
    return diag_set(diag, SL_EINVAL, NULL, 0, "the rules are compiled already");
}

enum sl_status sl_rules_set(struct sl_rules *rules, const char *name, const char *value,
                            struct sl_diag *diag)
{
    if (rules->compiled)
        return rule_set_compiled(diag);
    const enum sl_status status = rule_variable_set(rules, name, value, diag);

    rules->home_is_set |= status == SL_OK && strcmp(name, rule_home_variable) == 0;
    return status;
}

enum sl_status sl_rules_assign(struct sl_rules *rules, const char *assignment, struct sl_diag *diag)
{
    const char *equals = strchr(assignment, '=');
    char name[64];

    if (equals == NULL || equals == assignment || (size_t)(equals - assignment) >= sizeof name)
        return diag_set(diag, SL_EINVAL, NULL, 0, "'%s' is no variable (expected NAME=VALUE)",
                        assignment);
    memcpy(name, assignment, (size_t)(equals - assignment));
    name[equals - assignment] = '\0';
    return sl_rules_set(rules, name, equals + 1, diag);
}

/* The action that the word in front of a comma, or of the end, names; RULE_N_ACTIONS: none. */
static int action_named(const char *word, size_t len)
{
    static const char *const names[] = {[RULE_PASS] = "pass",
                                        [RULE_DROP] = "drop",
                                        [RULE_REJECT] = "reject",
                                        [RULE_ALERT] = "alert"};
    int action = 0;

    while (action < RULE_N_ACTIONS &&
           (strlen(names[action]) != len || strncmp(names[action], word, len) != 0))
        action++;
    return action;
}

enum sl_status sl_rules_order_actions(struct sl_rules *rules, const char *actions,
                                      struct sl_diag *diag)
{
    uint8_t place[RULE_N_ACTIONS] = {0}; /* from 1 on; 0: not named yet */
    const char *at = actions;
    uint8_t n = 0;

    if (rules->compiled)
        return rule_set_compiled(diag);
    while (n < RULE_N_ACTIONS) {
        const size_t len = strcspn(at, ",");
        const int action = action_named(at, len);

        if (action == RULE_N_ACTIONS || place[action] != 0)
            break;
        place[action] = ++n;
        at += len + (n < RULE_N_ACTIONS && at[len] == ',');
    }
    if (n != RULE_N_ACTIONS || *at != '\0')
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "'%s' is no order of pass, drop, reject and alert", actions);
    memcpy(rules->action_place, place, sizeof place);
    return SL_OK;
}

/* Writes the reasons why rules were skipped, most frequent first. */
static void list_reasons(const struct sl_rules *rules, char *text, size_t text_len)
{
    enum { SHOWN = 5 };
    size_t len = 0;

    *text = '\0';
    for (size_t i = 0; i < rules->n_skips && i <= SHOWN && len < text_len; i++)
        if (i == SHOWN)
            len += (size_t)snprintf(text + len, text_len - len, ", ...");
        else
            len += (size_t)snprintf(text + len, text_len - len, "%s%s %zu",
                                    i == 0 ? ", by keyword: " : ", ", rules->skip[i]->keyword,
                                    rules->skip[i]->rules);
}

enum sl_status sl_rules_require(const struct sl_rules *rules, const char *name,
                                struct sl_diag *diag)
{
    char reasons[256];

    if (rules->count.loaded != 0)
        return SL_OK;
    list_reasons(rules, reasons, sizeof reasons);
    return diag_set(diag, SL_EINVAL, name, 0,
                    "no rule was loaded: %zu were read, %zu bad, %zu "
                    "skipped%s",
                    rules->count.lines, rules->count.bad, rules->count.skipped, reasons);
}

enum sl_status sl_rules_keep_data(struct sl_rules *rules, const char *folder, struct sl_diag *diag)
{
    const size_t len = strlen(folder);
    char *text = rule_arena_alloc(&rules->shared, len + 2);
    struct stat found;

    if (stat(folder, &found) != 0)
        return diag_set(diag, SL_EIO, folder, 0, "cannot be used: %s", strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return diag_set(diag, SL_EIO, folder, 0, "is no folder");
    if (text == NULL)
        return rule_set_no_memory(diag);
    memcpy(text, folder, len);
    text[len] = '/';
    rules->data_folder = text;
    return SL_OK;
}

bool sl_rules_lose_data(const struct sl_rules *rules)
{
    for (const struct rule_dataset *set = rules->dataset; set != NULL; set = set->next)
        if (set->changes && set->unsaved)
            return true;
    return false;
}

bool sl_rules_assume_home(const struct sl_rules *rules)
{
    return rules->home != NULL;
}

void sl_rules_count(const struct sl_rules *rules, struct sl_rules_count *count)
{
    *count = rules->count;
}

bool sl_rules_skip_reason(const struct sl_rules *rules, size_t i, struct sl_rules_lack *lack)
{
    if (i >= rules->n_skips)
        return false;
    *lack = *rules->skip[i];
    return true;
}

/* A rule set may skip tens of thousands of rules, and a diagnostic is a kilobyte: so they are made
 * when asked for. */
static const struct sl_diag *note_diag(const struct rule_notes *notes, size_t i)
{
    static _Thread_local struct sl_diag diag;

    if (i >= notes->n)
        return NULL;
    (void)diag_set(&diag, SL_EFORMAT, notes->note[i].file, notes->note[i].line, "%s",
                   notes->note[i].text);
    diag.column = notes->note[i].column;
    return &diag;
}

const struct sl_diag *sl_rules_bad_line(const struct sl_rules *rules, size_t i)
{
    return note_diag(&rules->bad, i);
}

const struct sl_diag *sl_rules_skipped_rule(const struct sl_rules *rules, size_t i)
{
    return note_diag(&rules->skipped, i);
}

const struct sl_diag *sl_rules_unknown_class(const struct sl_rules *rules, size_t i)
{
    return note_diag(&rules->unclassed, i);
}

bool sl_rules_store_file(const struct sl_rules *rules, size_t i)
{
    return i < rules->n_rules && rules->rule[i]->stores_file;
}

const struct sl_signature *sl_rules_signature(const struct sl_rules *rules, size_t i)
{
    return i < rules->n_rules ? &rules->rule[i]->signature : NULL;
}
