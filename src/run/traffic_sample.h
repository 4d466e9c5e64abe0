/* SPDX-License-Identifier: MIT */
/* The first packets of a run, for tables that learn from them. */
#ifndef RUN_TRAFFIC_SAMPLE_H
#define RUN_TRAFFIC_SAMPLE_H

#include <stddef.h>

#include "sluice/batch.h"

/* The first 8 MiB of packets of capture files, dissected. The caller frees the batch. NULL: these
 * are no plain files, have little payload there, or cannot be read, which their reader will report.
 */
struct sl_batch *traffic_sample_read(const char *const *paths, size_t n_paths);

#endif
