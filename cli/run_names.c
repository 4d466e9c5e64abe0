/* SPDX-License-Identifier: MIT */
#include "run_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "cli.h"

enum {
    TEXT_MAX = 4 * SL_NAME_LEN_MAX + 64, /* a written name: four characters a byte at most */
    FIRST_SLOTS = 1024
};

bool run_names_open(struct run_names *names, struct sl_pipeline_config *config)
{
    struct sl_diag diag = {0};

    names->engine = -1;
    if (names->tables.n == 0)
        return true;
    if (!name_tables_load(&names->tables, &names->names))
        return false;
    name_tables_report_ignored(names->names, false);
    names->bytes = malloc(SL_PACKET_NAMES_LEN);
    names->name = malloc(TEXT_MAX);
    names->host = malloc(TEXT_MAX);
    names->prefix = malloc(TEXT_MAX);
    if (names->bytes == NULL || names->name == NULL || names->host == NULL ||
        names->prefix == NULL) {
        cli_error("no memory for names");
        return false;
    }
    if (sl_names_watch_create(&names->watch, names->names, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    names->engine = (int)config->n_engines;
    config->engines[config->n_engines].engine = &sl_names_engine;
    config->engines[config->n_engines++].table = names->watch;
    return true;
}

void run_names_close(struct run_names *names)
{
    for (uint32_t i = 0; i < names->n_slots; i++)
        free(names->rules[i].prefix);
    free(names->rules);
    free(names->bytes);
    free(names->name);
    free(names->host);
    free(names->prefix);
    free(names->values_text);
    free(names->values);
    sl_names_watch_free(names->watch);
    sl_names_free(names->names);
}

/* ---- matches --------------------------------------------------------------------------------- */

void run_names_batch(struct run_names *names, const struct sl_batch *batch)
{
    names->batch = batch;
    names->item = UINT32_MAX;
}

/* The name at this offset of this item, found again. */
static const struct sl_packet_name *find(struct run_names *names, const struct sl_hit *hit)
{
    uint32_t misses;

    if (names->item != hit->item)
        names->n_found =
            sl_packet_names(names->batch, hit->item, names->found, names->bytes, &misses);
    names->item = hit->item;
    for (uint32_t i = 0; i < names->n_found; i++)
        if (names->found[i].offset == hit->offset)
            return &names->found[i];
    return NULL;
}

/* The rule's values as strings. False: no memory. */
static bool copy_values(struct run_names *names, const struct sl_names_answer *answer)
{
    size_t n = 0, text_len = 0, len;

    while (sl_names_value(names->names, answer, (uint32_t)n, &len) != NULL) {
        text_len += len + 1;
        n++;
    }
    if (n + 1 > names->max_values) {
        const char **grown = reallocarray(names->values, n + 1, sizeof *grown);

        if (grown == NULL)
            return false;
        names->values = grown;
        names->max_values = n + 1;
    }
    if (text_len > names->max_values_text) {
        char *grown = realloc(names->values_text, text_len);

        if (grown == NULL)
            return false;
        names->values_text = grown;
        names->max_values_text = text_len;
    }
    char *to = names->values_text;
    for (size_t i = 0; i < n; i++) {
        const char *value = sl_names_value(names->names, answer, (uint32_t)i, &len);

        names->values[i] = to;
        memcpy(to, value, len);
        to[len] = '\0';
        to += len + 1;
    }
    names->values[n] = NULL;
    return true;
}

/* The first len bytes of a name, in its syntax. */
static void write_part(const struct sl_name *name, uint32_t len, char *text)
{
    struct sl_name part = *name;

    part.len = len;
    if (part.host_len > len)
        part.host_len = len;
    (void)sl_name_write(&part, text, TEXT_MAX);
}

static bool describe(struct run_names *names, const struct sl_packet_name *found,
                     const struct sl_names_answer *answer)
{
    struct sl_name_match *match = &names->match;

    if (!copy_values(names, answer))
        return false;
    write_part(&found->name, found->name.len, names->name);
    write_part(&found->name, found->name.host_len, names->host);
    write_part(&found->name, answer->prefix_len, names->prefix);
    *match = (struct sl_name_match){.found = found,
                                    .name = names->name,
                                    .host = names->host,
                                    .prefix = names->prefix,
                                    .action = answer->action,
                                    .values = names->values,
                                    .line = answer->line};
    match->list = sl_names_list(names->names, answer->list, &match->format);
    return true;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static struct run_names_rule *slot_of(const struct run_names *names, uint32_t rule)
{
    uint32_t at = rule * 0x9E3779B1u >> 7;

    for (;; at++) {
        struct run_names_rule *slot = &names->rules[at & (names->n_slots - 1)];

        if (slot->rule == rule || slot->rule == UINT32_MAX)
            return slot;
    }
}

static bool grow_rules(struct run_names *names)
{
    struct run_names_rule *old = names->rules;
    const uint32_t n_old = names->n_slots;
    const uint32_t n_slots = n_old == 0 ? FIRST_SLOTS : 2 * n_old;
    struct run_names_rule *grown = malloc(n_slots * sizeof *grown);

    if (grown == NULL)
        return false;
    for (uint32_t i = 0; i < n_slots; i++)
        grown[i] = (struct run_names_rule){.rule = UINT32_MAX};
    names->rules = grown;
    names->n_slots = n_slots;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i].rule != UINT32_MAX)
            *slot_of(names, old[i].rule) = old[i];
    free(old);
    return true;
}

/* A rule that matches for the first time is kept with its name, which tables do not tell. */
static bool add_rule(struct run_names *names, const struct sl_packet_name *found,
                     const struct sl_names_answer *answer, struct run_names_rule *slot)
{
    write_part(&found->name, answer->prefix_len, names->prefix);
    slot->prefix = strdup(names->prefix);
    slot->rule = answer->rule;
    names->n_rules++;
    return slot->prefix != NULL;
}

enum sl_status run_names_take(struct run_names *names, const struct sl_hit *hit,
                              struct sl_event *event, struct sl_diag *diag)
{
    struct sl_names_answer answer;
    bool good = true;

    if (names->n_rules >= names->n_slots / 4 * 3 && !grow_rules(names))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the counts of rules");
    sl_names_hit(names->names, hit->id, &answer);
    struct run_names_rule *slot = slot_of(names, answer.rule);
    if (slot->rule == UINT32_MAX)
        good = add_rule(names, find(names, hit), &answer, slot);
    slot->n++;
    names->n_matched++;
    if (good && event != NULL) {
        good = describe(names, find(names, hit), &answer);
        event->kind = SL_EVENT_NAME;
        event->match = &names->match;
    }
    return good ? SL_OK : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a match of names");
}
