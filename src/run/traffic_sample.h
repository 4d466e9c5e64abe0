/* SPDX-License-Identifier: MIT */
/* What is about to be read, for tables that learn from it. */
#ifndef RUN_TRAFFIC_SAMPLE_H
#define RUN_TRAFFIC_SAMPLE_H

#include <stddef.h>

#include "sluice/batch.h"

/* The first 8 MiB of packets of capture files, dissected; who asks frees it. NULL: these are no
 * plain files, have no payload to speak of there, or cannot be read, which their reader will say.
 */
struct sl_batch *traffic_sample_read(const char *const *paths, size_t n_paths);

#endif
