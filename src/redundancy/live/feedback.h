/* SPDX-License-Identifier: MIT */
/* The messages of a decoder to its encoder: docs/frames.md.
 *
 * The sides are in step when every byte that the encoder may refer to is the same in the decoder's
 * log. Each state out of step ends with the feedback that names it, at the encoder:
 * 1. Epochs differ. A frame of a later epoch that refers to nothing begins it. Any other frame
 *    makes the decoder ask for one, twice where the epochs were 2^31 apart.
 * 2. The decoder began anew in the same epoch. Its number differs.
 * 3. Log is missing at the decoder. The first packet that refers to it is a miss.
 * 4. The encoder began anew in the same epoch. Feedback names log beyond its end. Or a frame
 *    requires a place that another packet has, and the decoder asks for an epoch. Or frames fail
 *    their check. */
#ifndef REDUNDANCY_FEEDBACK_H
#define REDUNDANCY_FEEDBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/redundancy.h"

enum {
    FEEDBACK_RUNS = 32,
    FEEDBACK_MISSES = 32,
    FEEDBACK_SPAN = 8 << 20 /* bytes of log before its end that feedback describes */
};

struct feedback_range {
    uint64_t position;
    uint64_t len;
};

struct feedback {
    bool has_epoch; /* epoch, start and runs are set */
    bool restart;   /* a new epoch is needed, by an encoder that is still in the epoch `heard` */
    uint32_t epoch, heard;
    uint32_t decoder; /* the decoder's number: another number is another log */
    uint64_t cache_len;
    uint64_t start; /* nothing before is here */
    uint32_t n_runs, n_misses;
    struct feedback_range runs[FEEDBACK_RUNS];     /* of log that is here, the newest ones */
    struct feedback_range misses[FEEDBACK_MISSES]; /* packets to be sent again */
};

/* Both keep the newest where there is no room for all. */
void feedback_add_run(struct feedback *feedback, uint64_t position, uint64_t len);
void feedback_miss(struct feedback *feedback, uint64_t position, uint32_t len);

uint32_t feedback_write(const struct feedback *feedback, uint8_t out[SL_FEEDBACK_MAX]);

/* False: no feedback of this version, or damaged. */
bool feedback_read(struct feedback *feedback, const uint8_t *bytes, size_t len);

#endif
