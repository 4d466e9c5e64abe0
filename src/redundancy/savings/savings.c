/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "redundancy/match/matcher.h"
#include "savings.h"
#include "sluice/dissect.h"

enum {
    PORTS = 65536,
    RTT_MAX = 60000, /* ms */
    FLOWS_AHEAD = 8  /* parts between a prefetch of a flow and its use */
};

void sl_savings_config_init(struct sl_savings_config *config)
{
    *config = (struct sl_savings_config){.interval_len = 100000000};
    sl_redundancy_config_init(&config->redundancy);
}

/* Nanoseconds from a packet to its acknowledgement, in the mean. */
static int64_t delay_of(const struct sl_savings_config *config)
{
    return config->rtt_ms > 0 ? config->rtt_ms * INT64_C(1000000) + SL_FEEDBACK_MS * 500000 : 0;
}

enum sl_status sl_savings_create(struct sl_savings **savings,
                                 const struct sl_savings_config *config, struct sl_diag *diag)
{
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status == SL_OK && config->rtt_ms > RTT_MAX)
        status = diag_set(diag, SL_EINVAL, NULL, 0, "a round trip of %u ms (expected at most %d)",
                          config->rtt_ms, RTT_MAX);
    if (status != SL_OK)
        return status;
    struct sl_savings *s = calloc(1, sizeof *s);
    if (s == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to count savings");
    s->config = *config;
    s->ports[0] = calloc(PORTS, sizeof *s->ports[0]);
    s->ports[1] = calloc(PORTS, sizeof *s->ports[1]);

    status = shared_cache_create(&s->cache, &config->redundancy, 1, delay_of(config), diag);
    if (status == SL_OK && (s->ports[0] == NULL || s->ports[1] == NULL))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to count savings");
    if (status == SL_OK)
        *savings = s;
    else
        sl_savings_free(s);
    return status;
}

enum sl_status savings_set_in_flight(struct sl_savings *savings, uint32_t n, struct sl_diag *diag)
{
    shared_cache_free(&savings->cache);
    return shared_cache_create(&savings->cache, &savings->config.redundancy, n,
                               delay_of(&savings->config), diag);
}

void sl_savings_free(struct sl_savings *savings)
{
    if (savings == NULL)
        return;
    shared_cache_free(&savings->cache);
    savings_job_free(savings->job);
    hits_scratch_free(&savings->scratch);
    free(savings->ports[0]);
    free(savings->ports[1]);
    savings_flows_free(&savings->flows);
    free(savings->intervals);
    free(savings);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* To the protocol, port and flow. */
static void attribute(struct sl_savings *savings, const struct savings_part *part)
{
    if (part->has_tuple) {
        savings_sum(&savings->protocols[part->protocol], &part->count);
        if (part->protocol == SL_IP_TCP || part->protocol == SL_IP_UDP)
            savings_sum(&savings->ports[part->protocol == SL_IP_UDP][part->port], &part->count);
    }
    struct savings_flow *flow =
        part->flow != 0 ? savings_flows_find(&savings->flows, part->flow) : NULL;
    if (flow != NULL) {
        flow->port = part->port;
        flow->protocol = part->protocol;
        savings_sum(&flow->count, &part->count);
    }
}

static bool interval_goes_on(const struct sl_savings_config *config,
                             const struct sl_savings_row *interval, int64_t time_ns)
{
    if (config->interval_len != 0)
        return interval->count.bytes < config->interval_len;
    return config->interval_ns == 0 || time_ns - interval->time_ns < config->interval_ns;
}

/* The interval that the batch belongs to; NULL: no memory for one more. */
static struct sl_savings_row *interval_of(struct sl_savings *savings, int64_t time_ns)
{
    const size_t n = savings->n_intervals;

    if (n == savings->max_intervals) {
        const size_t max = 2 * savings->max_intervals + 64;
        struct sl_savings_row *grown = realloc(savings->intervals, max * sizeof *grown);

        if (grown == NULL)
            return NULL;
        savings->intervals = grown;
        savings->max_intervals = max;
    }
    if (n != 0 && interval_goes_on(&savings->config, &savings->intervals[n - 1], time_ns))
        return &savings->intervals[n - 1];
    savings->intervals[n] = (struct sl_savings_row){.time_ns = time_ns};
    savings->n_intervals++;
    return &savings->intervals[n];
}

static void add_row(struct sl_savings_row *sum, const struct sl_savings_row *row)
{
    savings_sum(&sum->count, &row->count);
    sum->samples += row->samples;
    sum->eligible += row->eligible;
}

enum sl_status savings_add(struct sl_savings *savings, const struct savings_job *job,
                           struct sl_diag *diag)
{
    struct sl_savings_row *const interval = interval_of(savings, job->time_ns);

    if (interval == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for one more interval");
    const enum sl_status status = savings_flows_reserve(&savings->flows, job->n_parts, diag);
    if (status != SL_OK)
        return status;
    add_row(&savings->total, &job->row);
    add_row(interval, &job->row);
    for (uint32_t i = 0; i < job->n_parts; i++) {
        if (i + FLOWS_AHEAD < job->n_parts)
            savings_flows_prefetch(&savings->flows, job->parts[i + FLOWS_AHEAD].flow);
        attribute(savings, &job->parts[i]);
    }
    return SL_OK;
}

enum sl_status sl_savings_batch(struct sl_savings *savings, const struct sl_batch *batch,
                                struct sl_hits *hits, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    if (batch->n_items == 0)
        return SL_OK;
    if (savings->job == NULL)
        status = savings_job_create(&savings->job, savings, diag);
    if (status == SL_OK)
        status = matcher_sort_hits(hits, batch, &savings->scratch, diag);
    if (status == SL_OK)
        status = savings_sample(savings, savings->job, batch, hits, diag);
    if (status != SL_OK)
        return status;
    for (uint32_t part = 0; part < CACHE_PARTS; part++)
        savings_take(savings, savings->job, batch, part);
    savings_match(savings, savings->job, batch);
    return savings_add(savings, savings->job, diag);
}

/* ---- results --------------------------------------------------------------------------------- */

void sl_savings_total(const struct sl_savings *savings, struct sl_savings_row *total)
{
    *total = savings->total;
}

/* Inserts a row into those with the most matched bytes so far. */
static void rank(struct sl_savings_row *rows, size_t max, size_t *n,
                 const struct sl_savings_row *row)
{
    size_t at = *n < max ? (*n)++ : max;

    while (at > 0 && rows[at - 1].count.matched_bytes < row->count.matched_bytes) {
        if (at < max)
            rows[at] = rows[at - 1];
        at--;
    }
    if (at < max)
        rows[at] = *row;
}

size_t sl_savings_protocols(const struct sl_savings *savings, struct sl_savings_row *rows,
                            size_t max)
{
    size_t n = 0;

    for (unsigned protocol = 0; protocol < 256; protocol++) {
        const struct sl_savings_row row = {.protocol = (uint8_t)protocol,
                                           .count = savings->protocols[protocol]};

        if (row.count.packets != 0)
            rank(rows, max, &n, &row);
    }
    return n;
}

size_t sl_savings_ports(const struct sl_savings *savings, struct sl_savings_row *rows, size_t max)
{
    size_t n = 0;

    for (unsigned udp = 0; udp < 2; udp++)
        for (unsigned port = 0; port < PORTS; port++) {
            const struct sl_savings_row row = {.port = (uint16_t)port,
                                               .protocol = udp ? SL_IP_UDP : SL_IP_TCP,
                                               .count = savings->ports[udp][port]};

            if (row.count.packets != 0)
                rank(rows, max, &n, &row);
        }
    return n;
}

size_t sl_savings_flows(const struct sl_savings *savings, struct sl_savings_row *rows, size_t max)
{
    size_t n = 0;

    for (size_t slot = 0; slot < savings->flows.n_slots; slot++) {
        const struct savings_flow *flow = &savings->flows.slots[slot];
        const struct sl_savings_row row = {
            .flow = flow->id, .port = flow->port, .protocol = flow->protocol, .count = flow->count};

        if (flow->id != 0)
            rank(rows, max, &n, &row);
    }
    return n;
}

const struct sl_savings_row *sl_savings_intervals(const struct sl_savings *savings, size_t *n)
{
    *n = savings->n_intervals;
    return savings->intervals;
}
