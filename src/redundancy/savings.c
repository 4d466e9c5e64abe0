/* SPDX-License-Identifier: MIT */
#include "sluice/redundancy.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "redundancy/frames/frame.h"
#include "redundancy/match/matcher.h"
#include "sluice/dissect.h"

enum {
    PORTS = 65536,
    FLOWS_LOG = 21 /* slots of the table of flows, half of which are used */
};

struct flow {
    uint64_t id; /* 0: the slot is free */
    uint16_t port;
    uint8_t protocol;
    struct sl_savings_count count;
};

struct sl_savings {
    struct sl_savings_config config;
    struct sl_matcher *matcher;
    uint8_t *references; /* those of a packet, as a frame has them */
    struct sl_savings_row total;
    struct sl_savings_count protocols[256];
    struct sl_savings_count *ports[2]; /* of TCP and UDP, PORTS each */
    struct flow *flows;
    size_t n_flows;
    struct sl_savings_row *intervals;
    size_t n_intervals, max_intervals;
};

void sl_savings_config_init(struct sl_savings_config *config)
{
    *config = (struct sl_savings_config){.interval_len = 100000000};
    sl_redundancy_config_init(&config->redundancy);
}

enum sl_status sl_savings_create(struct sl_savings **savings,
                                 const struct sl_savings_config *config, struct sl_diag *diag)
{
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status != SL_OK)
        return status;
    struct sl_savings *s = calloc(1, sizeof *s);
    if (s == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to count savings");
    s->config = *config;
    s->ports[0] = calloc(PORTS, sizeof *s->ports[0]);
    s->ports[1] = calloc(PORTS, sizeof *s->ports[1]);
    s->flows = calloc((size_t)1 << FLOWS_LOG, sizeof *s->flows);

    status = sl_matcher_create(&s->matcher, &config->redundancy, diag);
    if (status == SL_OK)
        s->references = malloc(((size_t)config->redundancy.frame_max / SL_REFERENCE_MIN + 1) *
                               FRAME_REFERENCE_MAX);
    if (status == SL_OK &&
        (s->references == NULL || s->ports[0] == NULL || s->ports[1] == NULL || s->flows == NULL))
        status = diag_set(diag, SL_ENOMEM, NULL, 0, "no memory to count savings");
    if (status == SL_OK)
        *savings = s;
    else
        sl_savings_free(s);
    return status;
}

void sl_savings_free(struct sl_savings *savings)
{
    if (savings == NULL)
        return;
    sl_matcher_free(savings->matcher);
    free(savings->references);
    free(savings->ports[0]);
    free(savings->ports[1]);
    free(savings->flows);
    free(savings->intervals);
    free(savings);
}

/* ---- counting -------------------------------------------------------------------------------- */

static void add(struct sl_savings_count *sum, const struct sl_savings_count *more)
{
    sum->packets += more->packets;
    sum->bytes += more->bytes;
    sum->matched_bytes += more->matched_bytes;
    sum->reference_bytes += more->reference_bytes;
}

/* The flow's entry; NULL where the table is full. Ids are never reused and count upwards. */
static struct flow *find_flow(struct sl_savings *savings, uint64_t id)
{
    const size_t mask = ((size_t)1 << FLOWS_LOG) - 1;
    size_t slot = (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> (64 - FLOWS_LOG));

    while (savings->flows[slot].id != 0 && savings->flows[slot].id != id)
        slot = (slot + 1) & mask;
    if (savings->flows[slot].id == 0) {
        if (savings->n_flows > mask / 2)
            return NULL;
        savings->n_flows++;
        savings->flows[slot].id = id;
    }
    return &savings->flows[slot];
}

/* The savings of one packet. */
static struct sl_savings_count count_item(const struct sl_savings *savings,
                                          const struct sl_batch *batch, uint32_t item,
                                          size_t *cursor)
{
    struct sl_savings_count count = {.packets = 1, .bytes = batch->payload[item].len};
    size_t n;
    const struct sl_match *matches = search_of_item(&savings->matcher->search, item, cursor, &n);
    const uint8_t *end =
        frame_write_references(savings->references, sl_matcher_position(savings->matcher, item),
                               matches, n < SL_REFERENCES_MAX ? n : SL_REFERENCES_MAX);

    for (size_t i = 0; i < n && i < SL_REFERENCES_MAX; i++)
        count.matched_bytes += matches[i].len;
    count.reference_bytes = (uint64_t)(end - savings->references);
    return count;
}

/* To the packet's protocol, port and flow. */
static void attribute(struct sl_savings *savings, const struct sl_batch *batch, uint32_t item,
                      const struct sl_savings_count *count)
{
    const bool to_server = (batch->origin[item].flow_flags & SL_FLOW_TO_SERVER) != 0;
    struct sl_tuple tuple = {0};
    uint16_t port = 0;

    if (sl_packet_tuple(batch, item, &tuple)) {
        port = to_server ? tuple.dst_port : tuple.src_port;
        add(&savings->protocols[tuple.protocol], count);
        if (tuple.protocol == SL_IP_TCP || tuple.protocol == SL_IP_UDP)
            add(&savings->ports[tuple.protocol == SL_IP_UDP][port], count);
    }
    if (batch->origin[item].flow == 0)
        return;
    struct flow *flow = find_flow(savings, batch->origin[item].flow);
    if (flow != NULL) {
        flow->port = port;
        flow->protocol = tuple.protocol;
        add(&flow->count, count);
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
static struct sl_savings_row *interval_of(struct sl_savings *savings, const struct sl_batch *batch)
{
    const int64_t time_ns = batch->origin[0].time_ns;
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

static void add_samples(struct sl_savings_row *row, const struct sl_batch *batch, uint32_t window,
                        uint64_t n_samples)
{
    row->samples += n_samples;
    for (uint32_t item = 0; item < batch->n_items; item++)
        if (batch->payload[item].len >= window)
            row->eligible += batch->payload[item].len - window + 1;
}

enum sl_status sl_savings_batch(struct sl_savings *savings, const struct sl_batch *batch,
                                struct sl_hits *hits, struct sl_diag *diag)
{
    const struct sl_match *matches;
    struct sl_savings_row *interval;
    size_t n_matches, cursor = 0;

    if (batch->n_items == 0)
        return SL_OK;
    enum sl_status status =
        sl_matcher_batch(savings->matcher, batch, hits, &matches, &n_matches, diag);
    if (status != SL_OK)
        return status;
    interval = interval_of(savings, batch);
    if (interval == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for one more interval");
    for (uint32_t item = 0; item < batch->n_items; item++) {
        if (batch->payload[item].len == 0)
            continue;
        const struct sl_savings_count count = count_item(savings, batch, item, &cursor);

        add(&savings->total.count, &count);
        add(&interval->count, &count);
        attribute(savings, batch, item, &count);
    }
    add_samples(&savings->total, batch, savings->config.redundancy.window, hits->n);
    add_samples(interval, batch, savings->config.redundancy.window, hits->n);
    return SL_OK;
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

    for (size_t slot = 0; slot < (size_t)1 << FLOWS_LOG; slot++) {
        const struct flow *flow = &savings->flows[slot];
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
