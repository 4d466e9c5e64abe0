/* SPDX-License-Identifier: MIT */
/* The filter in front of the scanner: batches on their way through the matcher. While a GPU works
 * on one, the next is filled and the one before verified; a CPU has one, which is done at once.
 * They end in the order in which they were started. */
#ifndef CLAMAV_FILTER_H
#define CLAMAV_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/hits_sort.h"
#include "clamav/place.h"
#include "sluice/batch.h"
#include "sluice/device.h"
#include "sluice/engine.h"
#include "sluice/mpm.h"

enum {
    CLAM_FLIGHTS_MAX = 3, /* on a GPU: one is filled, one crosses, one is verified */
    CLAM_ITEMS_MAX = 4096 /* of a batch */
};

/* An object in a batch. */
struct clam_queued {
    void *token;
    struct clam_place place;
    const uint8_t *bytes; /* the caller's, or NULL: in the arena */
    uint64_t len;         /* bytes that are scanned */
    uint64_t full_len;    /* bytes it has */
    bool changed;
    int error;
};

/* Objects one behind another, or a piece of one alone. */
struct clam_flight {
    struct sl_batch *batch;
    struct clam_queued *queue; /* by item */
    bool is_piece;
    uint64_t base;  /* of a piece: where in the object it begins */
    bool submitted; /* and not waited for */
    struct sl_hits hits;
    struct sl_limits limits;
    struct sl_stage *stage; /* on a GPU */
    void *context;
};

struct clam_filter {
    const struct sl_backend *backend;
    const struct sl_mpm_table *table;
    struct clam_flight flights[CLAM_FLIGHTS_MAX];
    unsigned n_flights;
    struct hits_scratch scratch; /* for sorting */
    unsigned oldest, n_started;  /* those that were started follow one another in the ring */
};

/* All zero before; to be closed in any case. SL_ENOMEM, SL_EDEVICE. */
enum sl_status clam_filter_open(struct clam_filter *filter, const struct sl_mpm_table *table,
                                const struct sl_device *device, uint32_t batch_len,
                                struct sl_diag *diag);
void clam_filter_close(struct clam_filter *filter);

/* The one that is being filled. */
static inline struct clam_flight *clam_filter_filling(struct clam_filter *filter)
{
    return &filter->flights[(filter->oldest + filter->n_started) % filter->n_flights];
}

/* Starts the one that is being filled. There is none to be filled then where all are started: the
 * oldest is to be ended first. SL_EDEVICE. */
enum sl_status clam_filter_start(struct clam_filter *filter);

static inline bool clam_filter_is_full(const struct clam_filter *filter)
{
    return filter->n_started == filter->n_flights;
}

/* Waits for the oldest that was started; its hits are sorted. It stays the oldest, its batch as it
 * was, until it is given back. SL_ENOMEM, SL_EDEVICE. */
enum sl_status clam_filter_wait(struct clam_filter *filter, struct clam_flight **flight);
void clam_filter_give_back(struct clam_filter *filter);

/* Forgets all that was given. */
void clam_filter_drop(struct clam_filter *filter);

#endif
