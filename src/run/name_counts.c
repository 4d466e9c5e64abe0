/* SPDX-License-Identifier: MIT */
#include "name_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { FIRST_SLOTS = 1024 };

enum sl_status name_counts_open(struct name_counts *counts, const struct sl_names *names,
                                struct sl_diag *diag)
{
    if (names == NULL)
        return SL_OK;
    counts->names = names;
    counts->events = name_events_create(names);
    return counts->events != NULL ? SL_OK
                                  : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for names");
}

void name_counts_clear(struct name_counts *counts)
{
    for (uint32_t i = 0; i < counts->n_slots; i++)
        if (counts->rules[i].rule != UINT32_MAX)
            free((char *)counts->rules[i].prefix);
    free(counts->rules);
    free(counts->listed);
    name_events_free(counts->events);
}

static struct sl_run_name_rule *slot_of(const struct name_counts *counts, uint32_t rule)
{
    uint32_t at = rule * 0x9E3779B1u >> 7;

    for (;; at++) {
        struct sl_run_name_rule *slot = &counts->rules[at & (counts->n_slots - 1)];

        if (slot->rule == rule || slot->rule == UINT32_MAX)
            return slot;
    }
}

static bool grow(struct name_counts *counts)
{
    struct sl_run_name_rule *old = counts->rules;
    const uint32_t n_old = counts->n_slots;
    const uint32_t n_slots = n_old == 0 ? FIRST_SLOTS : 2 * n_old;
    struct sl_run_name_rule *grown = malloc(n_slots * sizeof *grown);

    if (grown == NULL)
        return false;
    for (uint32_t i = 0; i < n_slots; i++)
        grown[i] = (struct sl_run_name_rule){.rule = UINT32_MAX};
    counts->rules = grown;
    counts->n_slots = n_slots;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i].rule != UINT32_MAX)
            *slot_of(counts, old[i].rule) = old[i];
    free(old);
    return true;
}

/* A rule that matches for the first time is kept with its name, which tables do not hold. */
static enum sl_status add_one(struct name_counts *counts, const struct sl_batch *batch,
                              const struct sl_hit *hit, struct sl_diag *diag)
{
    struct sl_names_answer answer;

    if (counts->n_rules >= counts->n_slots / 4 * 3 && !grow(counts))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the counts of rules");
    sl_packet_names_hit(counts->names, hit->id, &answer);
    struct sl_run_name_rule *slot = slot_of(counts, answer.rule);
    if (slot->rule == UINT32_MAX) {
        slot->prefix = strdup(name_events_prefix(counts->events, batch, hit));
        if (slot->prefix == NULL)
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the counts of rules");
        slot->rule = answer.rule;
        counts->n_rules++;
    }
    slot->n++;
    counts->n_matched++;
    return SL_OK;
}

enum sl_status name_counts_add(struct name_counts *counts, const struct sl_batch *batch,
                               const struct sl_hits *hits, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    if (counts->events == NULL)
        return SL_OK;
    name_events_begin(counts->events);
    for (size_t i = 0; i < hits->n && status == SL_OK; i++)
        status = add_one(counts, batch, &hits->hit[i], diag);
    return status;
}

bool name_counts_list(struct name_counts *counts)
{
    struct sl_run_name_rule *listed = malloc(((size_t)counts->n_rules + 1) * sizeof *listed);
    size_t n = 0;

    if (listed == NULL)
        return false;
    for (uint32_t i = 0; i < counts->n_slots; i++)
        if (counts->rules[i].rule != UINT32_MAX)
            listed[n++] = counts->rules[i];
    free(counts->listed);
    counts->listed = listed;
    return true;
}
