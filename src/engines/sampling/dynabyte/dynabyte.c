/* SPDX-License-Identifier: MIT */
/* DYNABYTE's controller. It keeps some of the traffic, and tries states on it where the state may
 * change. The new state has a rate that compensates for earlier positions that were too many or too
 * few. */
#include "sluice/sampling.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "dynabyte_search.h"

enum {
    SETTLED = 6, /* half intervals after which excess and lack are counted */
    CHECK = 20,  /* intervals from one check for too frequent markers to the next */
    PARTS = 8,   /* of a half interval at first, */
    GROWTH = 64  /* and later parts as long as this part of all that was counted */
};

/* Share of the count: up to this excess or lack no state changes within an interval. */
static const double tolerance = 0.005;

/* Half an interval. */
struct half {
    uint64_t eligible;
    uint64_t n_hits;
    uint64_t n_pending; /* batches begun and not ended */
    double n_foreseen;  /* hits expected by its sample, of the parts that have ended */
};

/* Traffic with one state. */
struct part {
    uint64_t end; /* the half's eligible bytes at which it is over */

    /* Of the half, where the part began: */
    uint64_t eligible;
    uint64_t sampled;    /* eligible bytes of the sample */
    uint32_t first_item; /* of the sample */
};

struct sl_dynabyte {
    struct sl_dynabyte_config config;
    uint32_t period; /* of this interval; config's is the next one's */
    struct sl_dynabyte_state state;
    uint64_t number;                   /* of the half interval that batches are begun in */
    struct half halves[4];             /* the latest, by number; no older one can be pending */
    struct dynabyte_sample samples[2]; /* of the latest two */
    struct part part;
    uint64_t n_items;     /* of this half, for taking some as its sample */
    double excess;        /* hits above the wanted number that are not compensated yet, */
    uint64_t n_settled;   /* of the half intervals that ended, so many, */
    uint64_t counts_from; /* from this one on */
    uint64_t counted;     /* eligible bytes since */
    uint32_t n_since_check;
    uint64_t eligible;
    uint64_t n_hits;
};

void sl_dynabyte_config_init(struct sl_dynabyte_config *config)
{
    struct sl_sampling_config sampling;

    sl_sampling_config_init(&sampling);
    *config =
        (struct sl_dynabyte_config){.window = 32, .period = 32, .interval = 4 << 20, .raise = true};
    memcpy(config->marker, sampling.marker, sizeof config->marker);
}

static enum sl_status check(const struct sl_dynabyte_config *config, struct sl_diag *diag)
{
    bool any = false;

    for (int byte = 0; byte < 256; byte++)
        any |= config->marker[byte];

    enum sl_status status = reserved_check(config->reserved, diag);
    if (status == SL_OK)
        status = sampling_check(config->window, config->period, diag);
    if (status != SL_OK)
        return status;
    if (config->interval < 16 * (uint64_t)config->period)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "an interval of %llu bytes (expected at least 16 periods)",
                        (unsigned long long)config->interval);
    if (!any)
        return diag_set(diag, SL_EINVAL, NULL, 0, "no marker byte (expected at least one)");
    return SL_OK;
}

static uint32_t count_markers(const struct sl_dynabyte_state *state)
{
    uint32_t n = 0;

    for (int i = 0; i < 8; i++)
        n += (uint32_t)__builtin_popcount(state->marker[i]);
    return n;
}

/* The end of a part that begins behind so many eligible bytes of a half interval. While the count
 * is small, a wrong part weighs much. Compensation behind the end of a part may come too late. */
static uint64_t find_part_end(const struct sl_dynabyte *dynabyte, uint64_t number, uint64_t begin)
{
    const uint64_t half_len = dynabyte->config.interval / 2;
    const uint64_t grown = dynabyte->counted / GROWTH;
    const uint64_t len = grown > half_len / PARTS ? grown : half_len / PARTS;

    if (number < dynabyte->counts_from || begin + len + len / 2 > half_len)
        return half_len;
    return begin + len;
}

enum sl_status sl_dynabyte_create(struct sl_dynabyte **dynabyte,
                                  const struct sl_dynabyte_config *config, struct sl_diag *diag)
{
    enum sl_status status = check(config, diag);

    if (status != SL_OK)
        return status;

    struct sl_dynabyte *made = (struct sl_dynabyte *)calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for dynabyte's controller");
    made->config = *config;
    made->period = config->period;
    made->counts_from = SETTLED;
    made->state = samplebyte_first_state(config->marker, config->period);
    made->part.end = find_part_end(made, 0, 0);
    for (int i = 0; i < 2 && status == SL_OK; i++)
        status = dynabyte_sample_create(&made->samples[i], diag);
    if (status != SL_OK) {
        sl_dynabyte_free(made);
        return status;
    }
    *dynabyte = made;
    return SL_OK;
}

void sl_dynabyte_free(struct sl_dynabyte *dynabyte)
{
    if (dynabyte == NULL)
        return;
    for (int i = 0; i < 2; i++)
        dynabyte_sample_free(&dynabyte->samples[i]);
    free(dynabyte);
}

/* ---- the next state -------------------------------------------------------------------------- */

/* An excess is at most an interval's hits, and so is a lack, which counts only where under-sampling
 * is corrected. */
static double bounded(const struct sl_dynabyte *dynabyte, double excess)
{
    const double most = (double)dynabyte->config.interval / dynabyte->period;
    const double least = dynabyte->config.raise ? -most : 0;

    return excess < least ? least : excess > most ? most : excess;
}

/* The excess: counted for halves that ended, and expected for the others. */
static double find_excess(const struct sl_dynabyte *dynabyte)
{
    double excess = dynabyte->excess;

    for (uint64_t number = dynabyte->n_settled; number <= dynabyte->number; number++) {
        const struct half *half = &dynabyte->halves[number % 4];

        if (number >= dynabyte->counts_from)
            excess += half->n_foreseen - (double)half->eligible / dynabyte->period;
    }
    return bounded(dynabyte, excess);
}

/* The wanted distance from one chosen position to the next. It compensates for an excess within an
 * interval, but for at most half of the interval's positions. */
static double wanted_distance(const struct sl_dynabyte *dynabyte, double excess)
{
    const double wanted = (double)dynabyte->config.interval / dynabyte->period;

    if (excess > wanted / 2)
        excess = wanted / 2;
    if (excess < -wanted / 2)
        excess = -wanted / 2;
    return (double)dynabyte->config.interval / (wanted - excess);
}

/* The latest traffic is the most like the next. While there is little of this half, the half before
 * is tried too. */
static void adapt(struct sl_dynabyte *dynabyte, double excess, bool checks)
{
    const struct dynabyte_sample *latest = &dynabyte->samples[dynabyte->number % 2];
    const struct dynabyte_sample *before = &dynabyte->samples[(dynabyte->number + 1) % 2];
    const bool enough =
        dynabyte->halves[dynabyte->number % 4].eligible >= dynabyte->config.interval / 8;
    const struct dynabyte_search search = {.samples = {latest, before},
                                           .n_samples = enough ? 1 : 2,
                                           .window = dynabyte->config.window,
                                           .period = dynabyte->period,
                                           .distance = wanted_distance(dynabyte, excess),
                                           .raise = dynabyte->config.raise,
                                           .begins = dynabyte->number == 1,
                                           .checks = checks};

    dynabyte_search(&search, &dynabyte->state);
}

static void begin_interval(struct sl_dynabyte *dynabyte)
{
    const bool checks = ++dynabyte->n_since_check >= CHECK;

    if (checks)
        dynabyte->n_since_check = 0;
    if (dynabyte->period != dynabyte->config.period) {
        dynabyte->period = dynabyte->config.period;
        dynabyte->excess = 0;
        dynabyte->counted = 0;
        dynabyte->counts_from = dynabyte->number + 3;
    }
    adapt(dynabyte, find_excess(dynabyte), checks);
}

/* Within an interval the state changes only where the whole count is off. Content is found again
 * only by the state that sampled it. */
static void begin_part_within(struct sl_dynabyte *dynabyte)
{
    const double excess = find_excess(dynabyte);
    const double tolerated = tolerance * (double)dynabyte->counted / dynabyte->period;

    if (excess > tolerated || excess < -tolerated)
        adapt(dynabyte, excess, false);
}

/* ---- batches --------------------------------------------------------------------------------- */

static struct half *half_of(struct sl_dynabyte *dynabyte, uint64_t number)
{
    return &dynabyte->halves[number % 4];
}

/* Adds a batch to its half; of its items every n-th is sampled. */
static void count_batch(struct sl_dynabyte *dynabyte, const struct sl_batch *batch)
{
    const uint64_t nth = 1 + dynabyte->config.interval / 2 / DYNABYTE_SAMPLE_BYTES;
    const uint32_t window = dynabyte->config.window;
    struct half *half = half_of(dynabyte, dynabyte->number);
    uint64_t eligible = 0;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        uint32_t first, end;

        dynabyte_find_eligible(window, batch, item, &first, &end);
        if (first == end)
            continue;
        eligible += end - first;
        if (dynabyte->n_items++ % nth == 0)
            dynabyte_sample_add(&dynabyte->samples[dynabyte->number % 2], window, batch, item);
    }
    half->eligible += eligible;
    half->n_pending++;
    dynabyte->eligible += eligible;
    if (dynabyte->number >= dynabyte->counts_from)
        dynabyte->counted += eligible;
}

/* The hits of the part that is over, by its sample; as many as wanted where it has none. */
static void foresee(struct sl_dynabyte *dynabyte)
{
    const struct dynabyte_sample *sample = &dynabyte->samples[dynabyte->number % 2];
    const uint64_t sampled = sample->eligible - dynabyte->part.sampled;
    struct half *half = half_of(dynabyte, dynabyte->number);
    const double eligible = (double)(half->eligible - dynabyte->part.eligible);

    if (sampled == 0)
        half->n_foreseen += eligible / dynabyte->period;
    else
        half->n_foreseen +=
            eligible / (double)sampled *
            (double)dynabyte_sample_hits(sample, dynabyte->config.window, dynabyte->part.first_item,
                                         &dynabyte->state);
}

/* A half ended: its count replaces the expectation. */
static void settle(struct sl_dynabyte *dynabyte)
{
    const struct half *half = half_of(dynabyte, dynabyte->n_settled);

    if (dynabyte->n_settled++ >= dynabyte->counts_from)
        dynabyte->excess = bounded(dynabyte, dynabyte->excess + (double)half->n_hits -
                                                 (double)half->eligible / dynabyte->period);
}

static void begin_half(struct sl_dynabyte *dynabyte)
{
    const uint64_t next = dynabyte->number + 1;

    if (next >= 2)
        settle(dynabyte);
    if (next % 2 == 0)
        begin_interval(dynabyte);
    else
        begin_part_within(dynabyte);
    dynabyte->number = next;
    *half_of(dynabyte, next) = (struct half){.eligible = 0};
    dynabyte_sample_reset(&dynabyte->samples[next % 2]);
    dynabyte->n_items = 0;
}

/* The next part begins, and with the last one of a half the next half. By then the half before that
 * one must have ended. */
static bool begin_part(struct sl_dynabyte *dynabyte)
{
    const uint64_t half_len = dynabyte->config.interval / 2;
    const bool half_is_over = half_of(dynabyte, dynabyte->number)->eligible >= half_len;

    if (half_is_over && dynabyte->number >= 1 &&
        half_of(dynabyte, dynabyte->number - 1)->n_pending != 0)
        return false;
    foresee(dynabyte);
    if (half_is_over)
        begin_half(dynabyte);
    else
        begin_part_within(dynabyte);

    const struct dynabyte_sample *sample = &dynabyte->samples[dynabyte->number % 2];
    const uint64_t eligible = half_of(dynabyte, dynabyte->number)->eligible;
    dynabyte->part = (struct part){.end = find_part_end(dynabyte, dynabyte->number, eligible),
                                   .eligible = eligible,
                                   .sampled = sample->eligible,
                                   .first_item = sample->items->n_items};
    return true;
}

enum sl_status sl_dynabyte_begin(struct sl_dynabyte *dynabyte, const struct sl_batch *batch,
                                 struct sl_dynabyte_state *state, uint64_t *ticket)
{
    if (batch->memory == SL_MEMORY_DEVICE)
        return SL_EINVAL;
    if (half_of(dynabyte, dynabyte->number)->eligible >= dynabyte->part.end &&
        !begin_part(dynabyte))
        return SL_EOVERFLOW;
    count_batch(dynabyte, batch);
    *state = dynabyte->state;
    *ticket = dynabyte->number;
    return SL_OK;
}

void sl_dynabyte_end(struct sl_dynabyte *dynabyte, uint64_t ticket, uint64_t n_hits)
{
    struct half *half = half_of(dynabyte, ticket);

    half->n_hits += n_hits;
    half->n_pending--;
    dynabyte->n_hits += n_hits;
}

uint64_t sl_dynabyte_room(const struct sl_dynabyte *dynabyte)
{
    const uint64_t eligible = dynabyte->halves[dynabyte->number % 4].eligible;

    if (eligible < dynabyte->part.end)
        return dynabyte->part.end - eligible;
    if (eligible >= dynabyte->config.interval / 2)
        return find_part_end(dynabyte, dynabyte->number + 1, 0);
    return find_part_end(dynabyte, dynabyte->number, eligible) - eligible;
}

enum sl_status sl_dynabyte_set_period(struct sl_dynabyte *dynabyte, uint32_t period)
{
    if (period < 1 || period > SL_SAMPLING_PERIOD_MAX ||
        dynabyte->config.interval < 16 * (uint64_t)period)
        return SL_EINVAL;
    dynabyte->config.period = period;
    return SL_OK;
}

void sl_dynabyte_info(const struct sl_dynabyte *dynabyte, struct sl_dynabyte_info *info)
{
    *info = (struct sl_dynabyte_info){.n_intervals = dynabyte->number / 2,
                                      .eligible = dynabyte->eligible,
                                      .n_hits = dynabyte->n_hits,
                                      .n_markers = count_markers(&dynabyte->state),
                                      .skip = dynabyte->state.skip};
}
