/* SPDX-License-Identifier: MIT */
/* The matcher of compiled rules on CPUs: an engine with a table of literals for each class of
 * items. Its hits are those of a table of all literals, without some that sl_rules_sift removes. */
#ifndef DETECT_CLASS_MATCHER_H
#define DETECT_CLASS_MATCHER_H

#include "engines/mpm/mpm_internal.h"
#include "match_class.h"

struct class_matcher;

/* `whole` is a table of all literals of the rules, whose algorithm is usable on this CPU; its
 * algorithm is that of all. The matcher borrows it. `config` is for the other tables,
 * and so is what was learned from its sample (mpm_build_one). The caller frees the matcher.
 * Statuses are those of sl_mpm_build. */
SL_CHECK enum sl_status class_matcher_build(struct class_matcher **matcher,
                                            const struct sl_rules *rules,
                                            const struct sl_mpm_table *whole,
                                            const struct sl_mpm_config *config,
                                            struct mpm_learned *learned, struct sl_diag *diag);

/* After its contexts. Accepts NULL. */
void class_matcher_free(struct class_matcher *matcher);

/* The engine, with the name and the backend of `whole`. It takes the matcher as its table. Valid as
 * long as the matcher. */
const struct sl_engine *class_matcher_engine(const struct class_matcher *matcher);

#endif
