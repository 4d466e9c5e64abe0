/* SPDX-License-Identifier: MIT */
/* Plays bytes of both sides to an application stream, and writes down all that it reports. */
#ifndef APP_TRIAL_H
#define APP_TRIAL_H

#include "app/app_stream.h"

enum { TRIAL_BODIES = 256 };

struct app_trial {
    struct app_stream *stream;
    struct app_text told;                  /* a line for each news, bodies joined */
    struct app_text body[2][TRIAL_BODIES]; /* by number of the transaction, modulo */
    uint64_t n_told, body_len, held_max;
    bool quiet, failed; /* quiet: counts alone */
};

void trial_begin(struct app_trial *trial);

/* Gives bytes of a side in pieces of 1 to 2 * mean - 1 bytes; mean 0: in one piece. */
void trial_give(struct app_trial *trial, enum app_side side, const void *bytes, uint32_t len,
                uint32_t mean, uint64_t *seed);
void trial_gap(struct app_trial *trial, enum app_side side, uint64_t len);
void trial_end_side(struct app_trial *trial, enum app_side side);

/* The flow is over. told.bytes ends with NUL. */
void trial_end(struct app_trial *trial);
void trial_free(struct app_trial *trial);

/* Plays any bytes as both sides of a flow, behind the first ones of its client. Aborts where the
 * reports depend on the cuts. Two bytes of each act say its side, whether it is a gap, and how long
 * it is. */
void trial_fuzz(const char *begin, uint32_t begin_len, const uint8_t *data, size_t size);

#endif
