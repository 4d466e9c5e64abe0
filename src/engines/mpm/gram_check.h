/* SPDX-License-Identifier: MIT */
#ifndef GRAM_CHECK_H
#define GRAM_CHECK_H

#include "mpm_internal.h"

/* A gram table from a file: struct mpm_algorithm's check. */
const char *gram_check(const struct sl_mpm_table *table);

#endif
