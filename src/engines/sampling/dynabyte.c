/* SPDX-License-Identifier: MIT */
/* DYNABYTE's controller: measures an interval's first half, computes the next interval's state.
 *
 * The mean distance between chosen positions is 1, plus what is skipped, plus what is waited for a
 * marker; the wait hardly hangs on the skip, so it is measured, and the skip follows from the
 * distance that is wanted. What a skip from half a period to a whole one cannot do, more or fewer
 * markers do, whose wait is in inverse proportion to how often they occur. */
#include "sluice/dynabyte.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "samplebyte.h"

/* How much more often others must occur than markers that are too rare, to take their place: the
 * most frequent of a sample seem more frequent than they are. */
#define LEAST_GAIN 1.125

enum {
    USUAL_MARKERS = 8, /* the paper's k */
    SETTLED = 6,       /* half intervals after which excess and lack are counted */
    LOOK = 20,         /* intervals from one look whether markers are too frequent to the next */
    COUNTED_BYTES = 1 << 16 /* of a half interval, about: enough to rank bytes */
};

/* Half an interval. */
struct half {
    uint64_t eligible;
    uint64_t n_hits;
    uint64_t n_pending;      /* batches begun and not ended */
    uint64_t n_of_byte[256]; /* runs of it, in a part of the items */
};

struct sl_dynabyte {
    struct sl_dynabyte_config config;
    uint32_t period; /* of this interval; config's is the next one's */
    struct sl_dynabyte_state state;
    uint32_t n_markers;
    uint64_t number;       /* of the half interval that batches are begun in */
    struct half halves[4]; /* the latest, by number; no older one can be pending */
    double excess;         /* hits above what was wanted, not made up for yet, */
    uint64_t counts_from;  /* of half intervals from this one on */
    uint32_t n_since_look;
    uint64_t n_items; /* of this half, for counting bytes of some */
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

    const enum sl_status status = sampling_check(config->window, config->period, diag);
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

enum sl_status sl_dynabyte_create(struct sl_dynabyte **dynabyte,
                                  const struct sl_dynabyte_config *config, struct sl_diag *diag)
{
    const enum sl_status status = check(config, diag);

    if (status != SL_OK)
        return status;

    struct sl_dynabyte *made = (struct sl_dynabyte *)calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for dynabyte's controller");
    made->config = *config;
    made->period = config->period;
    made->counts_from = SETTLED;
    made->state = samplebyte_first_state(config->marker, config->period);
    made->n_markers = count_markers(&made->state);
    *dynabyte = made;
    return SL_OK;
}

void sl_dynabyte_free(struct sl_dynabyte *dynabyte)
{
    free(dynabyte);
}

/* ---- the next state -------------------------------------------------------------------------- */

/* Byte values, the most frequent first. */
struct ranking {
    uint8_t byte[256];
    uint32_t n; /* values that occurred */
};

static void rank_bytes(struct ranking *ranking, const uint64_t n_of_byte[256])
{
    ranking->n = 0;
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t at = ranking->n;

        if (n_of_byte[byte] == 0)
            continue;
        for (; at > 0 && n_of_byte[ranking->byte[at - 1]] < n_of_byte[byte]; at--)
            ranking->byte[at] = ranking->byte[at - 1];
        ranking->byte[at] = (uint8_t)byte;
        ranking->n++;
    }
}

static double occurrences(const struct sl_dynabyte_state *state, const uint64_t n_of_byte[256])
{
    uint64_t sum = 0;

    for (uint32_t byte = 0; byte < 256; byte++)
        if (samplebyte_is_marker(state->marker, (uint8_t)byte))
            sum += n_of_byte[byte];
    return (double)sum;
}

/* What an interval told, and what the next one wants. */
struct measure {
    const uint64_t *n_of_byte;
    struct ranking ranking;
    double marked;   /* occurrences of the markers that were */
    double wait;     /* bytes waited for one of them */
    double distance; /* bytes wanted from one chosen position to the next */
    double least_skip, usual_skip, most_skip;
};

static double occurrences_of_ranks(const struct measure *measure, uint32_t first, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = first; i < first + n; i++)
        sum += (double)measure->n_of_byte[measure->ranking.byte[i]];
    return sum;
}

/* Bytes that would be waited for markers that occur so often. */
static double wait_for(const struct measure *measure, double occur)
{
    if (measure->marked > 0)
        return measure->wait * measure->marked / occur;
    return occurrences_of_ranks(measure, 0, measure->ranking.n) / occur - 1;
}

static double wanted_skip(const struct measure *measure, double wait)
{
    return measure->distance - 1 - wait;
}

/* Whether these ranks as markers would reach the rate with the usual skip. */
static bool suffice(const struct measure *measure, uint32_t first, uint32_t n)
{
    const double occur = occurrences_of_ranks(measure, first, n);

    return wanted_skip(measure, wait_for(measure, occur)) >= measure->usual_skip;
}

struct choice {
    uint32_t first, n; /* ranks */
};

/* The rarest eight neighbours in rank that suffice; where the first eight do not, more; where there
 * are no rarer ones, fewer. */
static struct choice choose_ranks(const struct sl_dynabyte *dynabyte, const struct measure *measure)
{
    const uint32_t there = measure->ranking.n;
    const uint32_t usual = there < USUAL_MARKERS ? there : USUAL_MARKERS;
    const uint32_t most = dynabyte->config.raise ? there : usual;
    struct choice choice = {.first = 0, .n = usual};

    while (choice.n < most && !suffice(measure, 0, choice.n))
        choice.n++;
    while (choice.first + choice.n < there && suffice(measure, choice.first + 1, choice.n))
        choice.first++;
    while (choice.n > 1 && suffice(measure, choice.first + 1, choice.n - 1)) {
        choice.first++;
        choice.n--;
    }
    return choice;
}

/* Short items begin a search each, and no skip thins them out: takes the more frequent half of the
 * markers away, or goes on to the next rarer one. */
static struct choice choose_thinner(const struct sl_dynabyte *dynabyte,
                                    const struct measure *measure)
{
    const struct ranking *ranking = &measure->ranking;
    uint32_t last = 0, n = 0;

    for (uint32_t i = 0; i < ranking->n; i++) {
        if (samplebyte_is_marker(dynabyte->state.marker, ranking->byte[i])) {
            last = i;
            n++;
        }
    }
    if (n > 1 && n / 2 <= last + 1)
        return (struct choice){.first = last + 1 - n / 2, .n = n / 2};
    return (struct choice){.first = last + 1 < ranking->n ? last + 1 : last, .n = 1};
}

/* Content is found again only where the markers are those by which it was sampled before, so they
 * change when the skip alone cannot bring the rate, and else only when a look is due and shows them
 * far too frequent: a long skip hides where content begins. */
static void choose_markers(struct sl_dynabyte *dynabyte, struct measure *measure)
{
    const double skip = wanted_skip(measure, measure->wait);
    const bool due = ++dynabyte->n_since_look >= LOOK;
    const bool over =
        skip > measure->most_skip || (due && skip > (measure->usual_skip + measure->most_skip) / 2);
    struct choice choice;
    double occur;

    if (due)
        dynabyte->n_since_look = 0;
    if (dynabyte->number != 2 && skip >= measure->least_skip && !over)
        return;
    if (skip > measure->most_skip && measure->wait < 1)
        choice = choose_thinner(dynabyte, measure);
    else
        choice = choose_ranks(dynabyte, measure);
    occur = occurrences_of_ranks(measure, choice.first, choice.n);
    if (skip < measure->least_skip && occur < LEAST_GAIN * measure->marked)
        return;
    measure->wait = wait_for(measure, occur);
    memset(dynabyte->state.marker, 0, sizeof dynabyte->state.marker);
    for (uint32_t i = choice.first; i < choice.first + choice.n; i++)
        dynabyte->state.marker[measure->ranking.byte[i] / 32] |= 1u
                                                                 << measure->ranking.byte[i] % 32;
    dynabyte->n_markers = choice.n;
}

/* Half of what is in excess is made up for in one interval, and no more than half of its
 * positions. What is lacking counts only where under-sampling is corrected. */
static double wanted_distance(struct sl_dynabyte *dynabyte, const struct half *half)
{
    const struct half *before = &dynabyte->halves[(dynabyte->number - 3) % 4];
    const double period = dynabyte->config.period;
    const double wanted = (double)dynabyte->config.interval / period;
    double repay;

    if (dynabyte->period != dynabyte->config.period) {
        dynabyte->excess = 0;
        dynabyte->counts_from = dynabyte->number + 2;
    }
    if (dynabyte->number - 2 >= dynabyte->counts_from)
        dynabyte->excess += (double)half->n_hits - (double)half->eligible / period;
    if (dynabyte->number - 2 > dynabyte->counts_from)
        dynabyte->excess += (double)before->n_hits - (double)before->eligible / period;
    if (dynabyte->excess > wanted)
        dynabyte->excess = wanted;
    if (dynabyte->excess < (dynabyte->config.raise ? -wanted : 0))
        dynabyte->excess = dynabyte->config.raise ? -wanted : 0;
    repay = dynabyte->excess / 2;
    if (repay > wanted / 2)
        repay = wanted / 2;
    if (repay < -wanted / 2)
        repay = -wanted / 2;
    return (double)dynabyte->config.interval / (wanted - repay);
}

static void adapt(struct sl_dynabyte *dynabyte)
{
    const struct half *half = &dynabyte->halves[(dynabyte->number - 2) % 4];
    const double period = dynabyte->config.period;
    const double n_hits = half->n_hits != 0 ? (double)half->n_hits : 0.5;
    struct measure measure = {.n_of_byte = half->n_of_byte};

    rank_bytes(&measure.ranking, half->n_of_byte);
    if (measure.ranking.n == 0)
        return;
    measure.marked = occurrences(&dynabyte->state, half->n_of_byte);
    measure.wait = (double)half->eligible / n_hits - 1 - dynabyte->state.skip / 256.0;
    measure.distance = wanted_distance(dynabyte, half);
    measure.usual_skip = period / 2;
    measure.least_skip = dynabyte->config.raise ? period / 4 : period / 2;
    measure.most_skip = measure.distance > period ? measure.distance - 1 : period - 1;

    choose_markers(dynabyte, &measure);

    double skip = wanted_skip(&measure, measure.wait);
    if (skip > measure.most_skip)
        skip = measure.most_skip;
    if (skip < measure.least_skip)
        skip = measure.least_skip;
    dynabyte->state.skip = (uint32_t)(skip * 256 + 0.5);
    dynabyte->period = dynabyte->config.period;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Positions of an item at which a window fits and is not the piece before's: the first, and one
 * past the last. */
static void find_eligible(const struct sl_dynabyte *dynabyte, const struct sl_batch *batch,
                          uint32_t item, uint32_t *first, uint32_t *end)
{
    const uint32_t window = dynabyte->config.window;
    const uint32_t len = batch->payload[item].len;
    const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;

    *end = len >= window ? len - window + 1 : 0;
    *first = overlap >= window ? overlap - window + 1 : 0;
    if (*first > *end)
        *first = *end;
}

/* A run of one byte counts once: behind a skip it is over, or all of it is at hand, so what is
 * waited for is a run. */
static void count_runs(struct half *half, const uint8_t *bytes, uint32_t n)
{
    uint32_t n_of_byte[4][256] = {{0}}; /* four, so that an addition does not wait for the last */

    n_of_byte[0][bytes[0]] = 1;
    for (uint32_t i = 1; i < n; i++)
        n_of_byte[i % 4][bytes[i]] += bytes[i] != bytes[i - 1];
    for (uint32_t byte = 0; byte < 256; byte++)
        half->n_of_byte[byte] += (uint64_t)n_of_byte[0][byte] + n_of_byte[1][byte] +
                                 n_of_byte[2][byte] + n_of_byte[3][byte];
}

/* Adds a batch to its half; of one that is measured, the runs in every n-th item are counted. */
static void count_batch(struct sl_dynabyte *dynabyte, const struct sl_batch *batch)
{
    struct half *half = &dynabyte->halves[dynabyte->number % 4];
    const uint64_t nth = 1 + dynabyte->config.interval / 2 / COUNTED_BYTES;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        uint32_t first, end;

        find_eligible(dynabyte, batch, item, &first, &end);
        if (first == end)
            continue;
        half->eligible += end - first;
        if (dynabyte->number % 2 == 0 && dynabyte->n_items++ % nth == 0)
            count_runs(half, batch->bytes + batch->payload[item].offset + first, end - first);
    }
    half->n_pending++;
}

/* The next half begins; where it begins an interval, by a new state. The first half of the interval
 * before and, for what is in excess, the half before that must have ended. */
static bool begin_half(struct sl_dynabyte *dynabyte)
{
    const uint64_t next = dynabyte->number + 1;

    if (next % 2 == 0 && (dynabyte->halves[(next - 2) % 4].n_pending != 0 ||
                          (next > 2 && dynabyte->halves[(next - 3) % 4].n_pending != 0)))
        return false;
    dynabyte->number = next;
    if (next % 2 == 0)
        adapt(dynabyte);
    memset(&dynabyte->halves[next % 4], 0, sizeof dynabyte->halves[next % 4]);
    dynabyte->n_items = 0;
    return true;
}

enum sl_status sl_dynabyte_begin(struct sl_dynabyte *dynabyte, const struct sl_batch *batch,
                                 struct sl_dynabyte_state *state, uint64_t *ticket)
{
    if (batch->memory == SL_MEMORY_DEVICE)
        return SL_EINVAL;
    if (sl_dynabyte_room(dynabyte) == 0 && !begin_half(dynabyte))
        return SL_EOVERFLOW;

    const uint64_t before = dynabyte->halves[dynabyte->number % 4].eligible;
    count_batch(dynabyte, batch);
    dynabyte->eligible += dynabyte->halves[dynabyte->number % 4].eligible - before;
    *state = dynabyte->state;
    *ticket = dynabyte->number;
    return SL_OK;
}

void sl_dynabyte_end(struct sl_dynabyte *dynabyte, uint64_t ticket, uint64_t n_hits)
{
    struct half *half = &dynabyte->halves[ticket % 4];

    half->n_hits += n_hits;
    half->n_pending--;
    dynabyte->n_hits += n_hits;
}

uint64_t sl_dynabyte_room(const struct sl_dynabyte *dynabyte)
{
    const uint64_t half_len = dynabyte->config.interval / 2;
    const uint64_t eligible = dynabyte->halves[dynabyte->number % 4].eligible;

    return eligible < half_len ? half_len - eligible : 0;
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
                                      .n_markers = dynabyte->n_markers,
                                      .skip = dynabyte->state.skip};
}
