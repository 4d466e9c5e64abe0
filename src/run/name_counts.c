/* SPDX-License-Identifier: MIT */
#include "name_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "cli.h"

enum { FIRST_SLOTS = 1024 };

bool run_names_open(struct run_names *names, struct sl_pipeline_config *config)
{
    struct sl_diag diag = {0};

    names->engine = -1;
    if (names->tables.n == 0)
        return true;
    if (!name_tables_open(&names->tables, &names->names))
        return false;
    name_tables_report_ignored(names->names, false);
    names->teller = name_teller_create(names->names);
    if (names->teller == NULL) {
        cli_error("no memory for names");
        return false;
    }
    if (sl_names_watch_create(&names->watch, names->names, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    names->engine = (int)config->n_engines;
    config->engines[config->n_engines].engine = sl_packet_names_engine();
    config->engines[config->n_engines++].table = names->watch;
    return true;
}

void run_names_close(struct run_names *names)
{
    for (uint32_t i = 0; i < names->n_slots; i++)
        free(names->rules[i].prefix);
    free(names->rules);
    name_teller_free(names->teller);
    sl_names_watch_free(names->watch);
    sl_names_free(names->names);
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
static enum sl_status count_one(struct run_names *names, const struct sl_batch *batch,
                                const struct sl_hit *hit, struct sl_diag *diag)
{
    struct sl_names_answer answer;

    if (names->n_rules >= names->n_slots / 4 * 3 && !grow_rules(names))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the counts of rules");
    sl_names_hit(names->names, hit->id, &answer);
    struct run_names_rule *slot = slot_of(names, answer.rule);
    if (slot->rule == UINT32_MAX) {
        slot->prefix = strdup(name_teller_prefix(names->teller, batch, hit));
        if (slot->prefix == NULL)
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the counts of rules");
        slot->rule = answer.rule;
        names->n_rules++;
    }
    slot->n++;
    names->n_matched++;
    return SL_OK;
}

enum sl_status run_names_count(struct run_names *names, const struct sl_batch *batch,
                               const struct sl_hits *hits, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    name_teller_begin(names->teller);
    for (size_t i = 0; i < hits->n && status == SL_OK; i++)
        status = count_one(names, batch, &hits->hit[i], diag);
    return status;
}
