/* SPDX-License-Identifier: MIT */
/* What is about to be read, for tables that learn from it. */
#ifndef CLI_SAMPLE_H
#define CLI_SAMPLE_H

#include <stddef.h>

#include "sluice/batch.h"

/* The first 8 MiB of packets of capture files, dissected; who asks frees it. NULL: these are no
 * plain files, have no payload to speak of there, or cannot be read, which their reader will say.
 */
struct sl_batch *sample_read(const char **paths, size_t n_paths);

#endif
