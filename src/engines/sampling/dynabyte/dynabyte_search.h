/* SPDX-License-Identifier: MIT */
/* DYNABYTE's next state, found by trying states on traffic that was seen. */
#ifndef DYNABYTE_SEARCH_H
#define DYNABYTE_SEARCH_H

#include "engines/sampling/samplebyte/samplebyte.h"

enum { DYNABYTE_SAMPLE_BYTES = 1 << 16 }; /* of a half interval, about */

/* Positions of an item at which a window fits and is not the piece before's: the first, and one
 * past the last. */
static inline void dynabyte_find_eligible(uint32_t window, const struct sl_batch *batch,
                                          uint32_t item, uint32_t *first, uint32_t *end)
{
    const uint32_t len = batch->payload[item].len;
    const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;

    *end = len >= window ? len - window + 1 : 0;
    *first = overlap >= window ? overlap - window + 1 : 0;
    if (*first > *end)
        *first = *end;
}

/* Some of the traffic. */
struct dynabyte_sample {
    struct sl_batch *items;
    uint64_t eligible; /* bytes of them */
};

/* SL_ENOMEM. */
enum sl_status dynabyte_sample_create(struct dynabyte_sample *sample, struct sl_diag *diag);
void dynabyte_sample_free(struct dynabyte_sample *sample);
void dynabyte_sample_reset(struct dynabyte_sample *sample);

/* An item of a batch more, where there is room: its first bytes, if it is long. */
void dynabyte_sample_add(struct dynabyte_sample *sample, uint32_t window,
                         const struct sl_batch *batch, uint32_t item);

/* How many positions of the sample's items from `first` on a state chooses. */
uint64_t dynabyte_sample_hits(const struct dynabyte_sample *sample, uint32_t window, uint32_t first,
                              const struct sl_dynabyte_state *state);

struct dynabyte_search {
    const struct dynabyte_sample *samples[2]; /* to try states on; */
    int n_samples;                            /* not all of them empty */
    uint32_t window, period;                  /* bytes */
    double distance; /* bytes wanted from one chosen position to the next; less or more than the
                        period where a lack or an excess is made up for */
    bool raise;      /* the configuration's */
    bool begins;     /* the markers are those of the beginning: others are wanted */
    bool checks;     /* a check for too frequent markers is due */
};

/* Another skip, and where no skip brings the distance other markers. */
void dynabyte_search(const struct dynabyte_search *search, struct sl_dynabyte_state *state);

#endif
