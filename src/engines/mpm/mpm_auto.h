/* SPDX-License-Identifier: MIT */
/* "auto": the algorithm that is fastest for a set of literals. */
#ifndef MPM_AUTO_H
#define MPM_AUTO_H

#include "mpm_set.h"

/* Builds the table of gram, or of ac where that is faster, as sl_mpm_build with "auto". */
enum sl_status mpm_auto_build(struct sl_mpm_table **table, const struct mpm_set *set,
                              const struct sl_mpm_config *config, struct sl_diag *diag);

#endif
