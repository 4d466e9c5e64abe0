/* SPDX-License-Identifier: MIT */
#ifndef GRAM_CHECK_H
#define GRAM_CHECK_H

#include "engines/mpm/mpm_internal.h"

/* A gram table from a file: struct mpm_algorithm's check. */
const char *gram_check(const struct sl_mpm_table *table);

/* Whether it has what GPUs look for windows with; if not the diagnostic (may be NULL) says so. */
bool gram_is_for_gpus(const struct sl_mpm_table *table, struct sl_diag *diag);

#endif
