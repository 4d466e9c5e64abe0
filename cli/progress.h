/* SPDX-License-Identifier: MIT */
/* A line of progress on the user's terminal; nothing where stderr is none. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/batch.h"

struct progress {
    bool on, shown;
    uint64_t begin_ns, last_ns;
    uint64_t packets, bytes;
};

void progress_begin(struct progress *progress, bool quiet);
void progress_add(struct progress *progress, const struct sl_batch *batch);
void progress_end(struct progress *progress); /* takes the line away */

#endif
