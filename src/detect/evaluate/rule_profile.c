/* SPDX-License-Identifier: MIT */
#include "rule_profile.h"

#include <stdlib.h>

#include "base/diag.h"
#include "detect/rule.h"
#include "detect/rule_set.h"

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void rule_profile_count(struct rule_profile *profile, uint64_t ticks, bool matched)
{
    uint64_t max = atomic_load_explicit(&profile->max_ticks, memory_order_relaxed);

    add(&profile->checks, 1);
    add(&profile->ticks, ticks);
    if (matched) {
        add(&profile->matches, 1);
        add(&profile->match_ticks, ticks);
    }
    while (max < ticks &&
           !atomic_compare_exchange_weak_explicit(&profile->max_ticks, &max, ticks,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

enum sl_status sl_rules_profile(struct sl_rules *rules, struct sl_diag *diag)
{
    if (!rules->compiled)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the rules are not compiled");
    if (rules->profile == NULL)
        rules->profile = calloc(rules->n_rules + 1, sizeof *rules->profile);
    return rules->profile != NULL ? SL_OK : rule_set_no_memory(diag);
}

bool sl_rules_profiled(const struct sl_rules *rules, size_t i, struct sl_rule_profile *profile)
{
    if (rules->profile == NULL || i >= rules->n_rules)
        return false;

    const struct rule_profile *of = &rules->profile[i];

    *profile = (struct sl_rule_profile){
        .checks = atomic_load_explicit(&of->checks, memory_order_relaxed),
        .matches = atomic_load_explicit(&of->matches, memory_order_relaxed),
        .ticks = atomic_load_explicit(&of->ticks, memory_order_relaxed),
        .match_ticks = atomic_load_explicit(&of->match_ticks, memory_order_relaxed),
        .max_ticks = atomic_load_explicit(&of->max_ticks, memory_order_relaxed),
    };
    return true;
}
