/* SPDX-License-Identifier: MIT */
/* Sampling: content-defined positions in the payloads of a batch, with a fingerprint each.
 *
 * A hit is (item, offset, fingerprint). A sampler chose the window of `window` bytes that begins at
 * `offset` of the item's payload span; `id` is the window's fingerprint. The bytes of the payload
 * alone determine the choice, so equal content is sampled equally wherever it lies. A window never
 * leaves its item. A window that lies wholly inside the item's overlap belongs to the piece before,
 * which reported it. All variants and backends of a sampler give the same set of hits.
 *
 * Samplers: rabin (M. O. Rabin, "Fingerprinting by random polynomials", 1981, with the selection of
 * "Redundant Network Traffic Elimination with GPU Accelerated Rabin Fingerprinting", TPDS 2016),
 * samplebyte (B. Aggarwal et al., "EndRE", NSDI 2010, section 4.2.3), dynabyte (E. Halepovic,
 * C. Williamson, M. Ghaderi, "DYNABYTE: A Dynamic Sampling Algorithm for Redundant Content
 * Detection"), maxp (A. Anand et al., SIGMETRICS 2009), every (each position: the upper bound). */
#ifndef SLUICE_SAMPLING_H
#define SLUICE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds of windows and periods, bytes. */
enum { SL_SAMPLING_WINDOW_MIN = 12, SL_SAMPLING_WINDOW_MAX = 64, SL_SAMPLING_PERIOD_MAX = 4096 };

/* The configuration of a sampler. */
struct sl_sampling_config {
    const char *sampler; /* a name of sl_samplers or of sl_sampling_variants */
    uint32_t window;     /* bytes, SL_SAMPLING_WINDOW_MIN to SL_SAMPLING_WINDOW_MAX */
    uint32_t period;     /* bytes from one chosen position to the next on average, 1 to
                            SL_SAMPLING_PERIOD_MAX; rabin takes powers of two alone */

    /* rabin: bit d is the coefficient of x^d; irreducible, of degree 53 to 63. */
    uint64_t polynomial;
    uint64_t magic; /* rabin: the low log2(period) bits of a fingerprint at a chosen position;
                       higher bits are ignored */

    /* samplebyte, and the first interval of dynabyte: the byte values that mark a position. */
    bool marker[256];
    uint64_t reserved[4]; /* 0: room to grow */
};

/* rabin, window 32, period 256, a fixed irreducible polynomial of degree 63, magic 0x78, the
 * generic markers: bytes 0x00, 0xFF, and those of " 0eist". */
SL_API void sl_sampling_config_init(struct sl_sampling_config *config);

/* A configured sampler: immutable; any number of threads and contexts share it. */
struct sl_sampling_table;

/* Makes a table. The caller frees it. SL_EINVAL: an unknown sampler (diag lists the known ones), a
 * value out of its range, a reducible polynomial. SL_EUNSUPPORTED: a paper's variant that this
 * build leaves out. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_sampling_build(struct sl_sampling_table **table,
                                                 const struct sl_sampling_config *config,
                                                 struct sl_diag *diag);

/* Frees a table, after its contexts. Accepts NULL. */
SL_API void sl_sampling_free(struct sl_sampling_table *table);

/* The engine whose backends run this table and take it as their `table`. The engine of a variant
 * has that variant's backend alone. Static storage; any thread. */
SL_API const struct sl_engine *sl_sampling_engine(const struct sl_sampling_table *table);

/* The names of all samplers, ended by NULL. Static storage; any thread. */
SL_API const char *const *sl_samplers(void);

/* The papers' variants of samplers. Each is a way to run a sampler that no default takes, as
 * "rabin-textbook" on the CPU and "rabin-buckets" on a GPU. Every build lists the same names; ended
 * by NULL. Static storage; any thread. */
SL_API const char *const *sl_sampling_variants(void);

/* Resolves the name of a sampler or of a variant to the name of the sampler, in static storage. Any
 * thread. SL_EINVAL: there is no such name; diag lists the known ones. SL_EUNSUPPORTED: a paper's
 * variant that this build leaves out. */
SL_CHECK SL_API enum sl_status sl_sampling_variant(const char **sampler, const char *name,
                                                   struct sl_diag *diag);

/* ---- training of samplebyte's markers -------------------------------------------------------- */

/* maxp finds the redundant content of sample traffic, and the byte values in it are ranked by their
 * frequency. The markers are the first few values: so many that they save 99 % of the most that any
 * number of them saves ("EndRE", section 4.2.3). A trainer belongs to one thread at a time. */
struct sl_sampling_trainer;

/* Makes a trainer that keeps at most bytes_len bytes of traffic, 1 to 1 GiB, in host memory. The
 * caller frees it. window and period are those of the sampler. chunks: savings are those of
 * sl_redundancy_config's chunks, which take more samples than expanded matches. SL_EINVAL: a number
 * is out of its range. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_sampling_trainer_create(struct sl_sampling_trainer **trainer,
                                                          uint32_t window, uint32_t period,
                                                          bool chunks, uint32_t bytes_len,
                                                          struct sl_diag *diag);

/* Copies a host batch's payloads without their overlaps. False: the trainer is full, or the batch
 * lies on a GPU. */
SL_API bool sl_sampling_trainer_add(struct sl_sampling_trainer *trainer,
                                    const struct sl_batch *batch);

enum { SL_SAMPLING_RANKED_MAX = 16 }; /* byte values that training ranks, at most */

/* The outcome of training. */
struct sl_sampling_training {
    uint64_t bytes_len; /* of the traffic */
    uint64_t redundant; /* bytes of it that maxp finds again */
    uint64_t saved;     /* bytes that samplebyte saves with the markers, less 5 a match */
    uint32_t n_markers; /* 0: nothing repeats */
    uint32_t n_ranked;
    uint8_t ranked[SL_SAMPLING_RANKED_MAX]; /* byte values, the most frequent of what repeats first;
                                               the markers are the first of them */
};

/* Trains. Where something repeats, marker[] gets the markers, else it keeps its values. SL_ENOMEM.
 */
SL_CHECK SL_API enum sl_status sl_sampling_trainer_end(struct sl_sampling_trainer *trainer,
                                                       bool marker[256],
                                                       struct sl_sampling_training *training,
                                                       struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_sampling_trainer_free(struct sl_sampling_trainer *trainer);

/* ---- dynabyte's controller ------------------------------------------------------------------- */

/* The controller decides which bytes mark a position, and how many bytes the sampler passes over
 * behind a marker. So one position in `period` is chosen whatever the traffic.
 *
 * The sampler's state is a value. It is constant during a batch, so all backends find the same
 * hits. A context samples by the state that it received last:
 *
 *     sl_dynabyte_begin(dynabyte, batch, &state, &ticket);       in the order of the traffic
 *     sl_dynabyte_use(context, &state);
 *     backend->submit(context, ...); backend->wait(context);
 *     sl_dynabyte_end(dynabyte, ticket, n_hits);                 in any order
 *
 * Traffic is counted in eligible bytes: positions at which a window fits and that do not belong to
 * the piece before. The state changes at the begin of an interval. It also changes within an early
 * interval, where the rate of all traffic so far is off. It does so at the ends of parts, which are
 * a sixteenth of an interval at first and grow. The controller tries states on copies of earlier
 * items (400 KB) and corrects the wanted rate by what it chose too often. It knows the hits of
 * batches that ended, and estimates those of the latest half interval, which may be in flight.
 *
 * So a batch's state depends on the traffic and on the ends of its batches. It never depends on
 * speed, device, threads or the number of batches in flight. Parts begin with a batch. Batches that
 * end where sl_dynabyte_room says make the results independent of the batches' length, and keep
 * the rate from the first byte.
 *
 * A controller belongs to one thread at a time. */
struct sl_dynabyte;

/* How a batch is sampled. */
struct sl_dynabyte_state {
    uint32_t marker[8]; /* bit b % 32 of word b / 32: byte value b marks a position */
    uint32_t skip;      /* 1/256 byte: passed over behind a marker. The fraction is the share of
                           markers, picked by the bytes behind them, with one byte more */
};

/* The configuration of a controller. */
struct sl_dynabyte_config {
    uint32_t window;   /* bytes, as the sampler's */
    uint32_t period;   /* bytes from one chosen position to the next on average, 1 to
                          SL_SAMPLING_PERIOD_MAX */
    uint64_t interval; /* eligible bytes, at least 16 x period, and at least twice the eligible
                          bytes that may be in flight */
    bool raise;       /* correct under-sampling too, by shorter skips than half a period and by more
                         markers than eight */
    bool marker[256]; /* of the first interval; at least one */
    uint64_t reserved[4]; /* 0: room to grow */
};

/* Window 32, period 32, 4 MiB, raise, the generic markers. */
SL_API void sl_dynabyte_config_init(struct sl_dynabyte_config *config);

/* Makes a controller. The caller frees it. SL_EINVAL: a value is out of its range. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_dynabyte_create(struct sl_dynabyte **dynabyte,
                                                  const struct sl_dynabyte_config *config,
                                                  struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_dynabyte_free(struct sl_dynabyte *dynabyte);

/* Counts a host batch and sets *state to its state. SL_EOVERFLOW: the state depends on a batch that
 * has not ended. Nothing was counted; the caller ends the batches in flight and repeats the call.
 * SL_EINVAL: the batch lies on a device. */
SL_CHECK SL_API enum sl_status sl_dynabyte_begin(struct sl_dynabyte *dynabyte,
                                                 const struct sl_batch *batch,
                                                 struct sl_dynabyte_state *state, uint64_t *ticket);

/* Counts the hits of a sampled batch, once; the ticket is sl_dynabyte_begin's. */
SL_API void sl_dynabyte_end(struct sl_dynabyte *dynabyte, uint64_t ticket, uint64_t n_hits);

/* Returns the eligible bytes, at least 1, until the end of the part to which the next batch
 * belongs. */
SL_API uint64_t sl_dynabyte_room(const struct sl_dynabyte *dynabyte);

/* Sets the period of the intervals that follow. SL_EINVAL: it is not 1 to SL_SAMPLING_PERIOD_MAX,
 * or the interval is shorter than 16 periods. */
SL_CHECK SL_API enum sl_status sl_dynabyte_set_period(struct sl_dynabyte *dynabyte,
                                                      uint32_t period);

/* The work of the controller: for reports. */
struct sl_dynabyte_info {
    uint64_t n_intervals; /* ended */
    uint64_t eligible;    /* bytes begun */
    uint64_t n_hits;      /* ended */
    uint32_t n_markers;   /* now */
    uint32_t skip;        /* 1/256 byte, now */
};

/* Copies the facts. */
SL_API void sl_dynabyte_info(const struct sl_dynabyte *dynabyte, struct sl_dynabyte_info *info);

/* Sets the state by which a context of the sampler "dynabyte" samples from its next submit on.
 * Before the first call a context has the configuration's markers and passes over half a period.
 * The call does not come between submit and wait. SL_EINVAL: the context is of another engine or
 * sampler. */
SL_CHECK SL_API enum sl_status sl_dynabyte_use(void *context,
                                               const struct sl_dynabyte_state *state);

#ifdef __cplusplus
}
#endif
#endif
