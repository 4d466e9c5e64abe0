/* SPDX-License-Identifier: MIT */
/* DYNABYTE's controller: which bytes mark a position, and how many bytes are skipped behind one,
 * so that one position in `period` is chosen whatever the traffic (E. Halepovic, C. Williamson,
 * M. Ghaderi, "DYNABYTE: A Dynamic Sampling Algorithm for Redundant Content Detection").
 *
 * The sampler's state is a value. While a batch is sampled it does not change, so all backends find
 * the same hits. A context samples with the state it was given last:
 *
 *     sl_dynabyte_begin(dynabyte, batch, &state, &ticket);  in the order of the traffic
 *     sl_dynabyte_use(context, &state);
 *     backend->submit(context, ...); backend->wait(context);
 *     sl_dynabyte_end(dynabyte, ticket, n_hits);            in any order
 *
 * Traffic is counted in eligible bytes: positions at which a window fits and is not the piece
 * before's. The state changes where an interval begins; while little of the traffic is past, also
 * within it, behind parts of a sixteenth of an interval and later longer ones, where the rate of
 * all that is past is off. It is found by trying states on copies of some items of the traffic
 * before (400 KB), for the rate wanted less what was chosen too often; what was chosen is known of
 * batches that ended, and foreseen of those of the latest half interval, which may be in flight.
 * So which state a batch gets depends on the traffic and on where its batches end, never on speed,
 * device, threads or the number in flight. Parts begin with a batch: who wants results that do not
 * depend on the length of batches, and the rate kept from the beginning, ends them where
 * sl_dynabyte_room says.
 *
 * Threads: a controller belongs to one thread at a time. */
#ifndef SLUICE_DYNABYTE_H
#define SLUICE_DYNABYTE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a batch is sampled. */
struct sl_dynabyte_state {
    uint32_t marker[8]; /* bit b % 32 of word b / 32: byte value b marks a position */
    uint32_t skip;      /* 1/256 byte: passed over behind a marker; the fraction is the share of
                           markers, picked by the bytes behind them, behind which one byte more is
                           passed over */
};

struct sl_dynabyte_config {
    uint32_t window;   /* bytes, as the sampler's */
    uint32_t period;   /* bytes: one position wanted in so many, 1 to SL_SAMPLING_PERIOD_MAX */
    uint64_t interval; /* eligible bytes, at least 16 x period; twice the eligible bytes that may be
                          in flight, or more */
    bool raise;        /* correct under-sampling too: by shorter skips than half a period, by more
                          markers than eight */
    bool marker[256];  /* of the first interval; at least one */
};

/* Window 32, period 32, 4 MiB, raise, the generic markers. */
SL_API void sl_dynabyte_config_init(struct sl_dynabyte_config *config);

struct sl_dynabyte;

/* SL_EINVAL: a value out of its range. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_dynabyte_create(struct sl_dynabyte **dynabyte,
                                                  const struct sl_dynabyte_config *config,
                                                  struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_dynabyte_free(struct sl_dynabyte *dynabyte);

/* Counts a host batch and says how it is to be sampled. SL_EOVERFLOW: the state hangs on a batch
 * that was begun and not ended; end those in flight and call again. Nothing was counted then. */
SL_CHECK SL_API enum sl_status sl_dynabyte_begin(struct sl_dynabyte *dynabyte,
                                                 const struct sl_batch *batch,
                                                 struct sl_dynabyte_state *state, uint64_t *ticket);

/* A batch was sampled: begin's ticket, and the hits found. */
SL_API void sl_dynabyte_end(struct sl_dynabyte *dynabyte, uint64_t ticket, uint64_t n_hits);

/* Eligible bytes until the part ends that the next batch belongs to, at least 1. */
SL_API uint64_t sl_dynabyte_room(const struct sl_dynabyte *dynabyte);

/* Another period for the intervals that follow. SL_EINVAL: not 1 to SL_SAMPLING_PERIOD_MAX, or the
 * interval is shorter than 16 of them. */
SL_CHECK SL_API enum sl_status sl_dynabyte_set_period(struct sl_dynabyte *dynabyte,
                                                      uint32_t period);

/* What the controller did: for reports. */
struct sl_dynabyte_info {
    uint64_t n_intervals; /* ended */
    uint64_t eligible;    /* bytes begun */
    uint64_t n_hits;      /* ended */
    uint32_t n_markers;   /* now */
    uint32_t skip;        /* 1/256 byte, now */
};

SL_API void sl_dynabyte_info(const struct sl_dynabyte *dynabyte, struct sl_dynabyte_info *info);

/* What a context of sampler "dynabyte", of any backend, samples with from its next submit on. Until
 * then it has the configuration's markers and skips half a period. Not between submit and wait. */
SL_API void sl_dynabyte_use(void *context, const struct sl_dynabyte_state *state);

#ifdef __cplusplus
}
#endif
#endif
