/* SPDX-License-Identifier: MIT */
/* maxp's table and scans. */
#ifndef MAXP_H
#define MAXP_H

#include "engines/sampling/sampling_internal.h"
#include "maxp_core.h"

struct maxp_table {
    struct sl_sampling_table head;
    uint32_t reach; /* positions */
};

typedef void maxp_scan(const struct maxp_table *table, const struct sl_batch *batch,
                       struct sl_hits *hits);

maxp_scan maxp_scan_scalar, maxp_scan_avx2, maxp_scan_avx512;
bool maxp_avx2_usable(char why[SL_WHY_LEN]);
bool maxp_avx512_usable(char why[SL_WHY_LEN]);

#endif
