/* SPDX-License-Identifier: MIT */
/* every's table. */
#ifndef EVERY_H
#define EVERY_H

#include "engines/sampling/sampling_internal.h"
#include "every_core.h"

enum { EVERY_TILE = 2048 }; /* positions that a warp takes at a time */

struct every_table {
    struct sl_sampling_table head;
    uint64_t power; /* EVERY_BASE to the power of the window's length */
};

#endif
