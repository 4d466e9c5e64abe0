/* SPDX-License-Identifier: MIT */
#ifndef GRAM_CHECK_H
#define GRAM_CHECK_H

#include "engines/mpm/mpm_internal.h"

/* A gram table from a file: struct mpm_algorithm's check. */
const char *gram_check(const struct sl_mpm_table *table);

/* Whether it has a sieve, with which GPUs search for windows; if not, the diagnostic (may be NULL)
 * names it. */
bool gram_is_for_gpus(const struct sl_mpm_table *table, struct sl_diag *diag);

#endif
