/* SPDX-License-Identifier: MIT */
/* Flows: packets a second through the flow table, of the input and of flows that are all new. Keys
 * are read by one core. Shards are tracked by one core, and by all: each takes the shards in turn.
 * Settled means that the table keeps records of ended flows, as for events of flows. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench/data/bench_data.h"
#include "bench/data/random.h"
#include "bench/frame/row.h"
#include "bench/frame/team.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "sluice/dissect.h"

enum { BATCH_LEN = 4 << 20, NEW_BATCHES = 8, NEW_ITEMS = 16384, NEW_LEN = 42 };

/* Packets whose keys are read, and how they are tracked. */
struct tracking {
    const struct bench_data *data;
    struct sl_flow_config config;
    struct sl_flow_table *table;
    struct sl_flow_keys **keys; /* of each batch */
    unsigned n_cores;
    struct bench_team *team;
    bool failed;
};

static bool open_keys(struct tracking *tracking)
{
    struct sl_diag diag = {0};
    enum sl_status status;

    tracking->keys = calloc(tracking->data->n_batches, sizeof *tracking->keys);
    status = tracking->keys != NULL ? SL_OK : SL_ENOMEM;
    for (size_t i = 0; i < tracking->data->n_batches && status == SL_OK; i++)
        status =
            sl_flow_keys_create(&tracking->keys[i], tracking->data->owned[i]->max_items, &diag);
    if (status != SL_OK)
        cli_diag(&diag);
    return status == SL_OK;
}

static void close_keys(struct tracking *tracking)
{
    for (size_t i = 0; tracking->keys != NULL && i < tracking->data->n_batches; i++)
        sl_flow_keys_free(tracking->keys[i]);
    free(tracking->keys);
}

static double read_keys(void *user)
{
    struct tracking *tracking = user;

    for (size_t i = 0; i < tracking->data->n_batches; i++)
        sl_flow_keys_read(tracking->keys[i], tracking->table, tracking->data->owned[i]);
    return (double)tracking->data->items;
}

static void track_shards(void *user, unsigned member)
{
    const struct tracking *tracking = user;
    const uint32_t n = sl_flow_n_shards(tracking->table);

    for (uint32_t shard = member; shard < n; shard += tracking->n_cores)
        for (size_t i = 0; i < tracking->data->n_batches; i++) {
            sl_flow_track_shard(tracking->table, tracking->data->owned[i], tracking->keys[i],
                                shard);
            if (tracking->config.keep_ends)
                sl_flow_settle_shard(tracking->table, tracking->keys[i], shard, NULL);
        }
}

/* An empty table each time; making it is not timed. Its memory is that of the table before, so that
 * no page is touched for the first time. */
static double track_rate(void *user)
{
    struct tracking *tracking = user;
    struct sl_diag diag = {0};

    sl_flow_table_free(tracking->table);
    if (sl_flow_table_create(&tracking->table, &tracking->config, &diag) != SL_OK) {
        tracking->table = NULL;
        tracking->failed = true;
        return 0;
    }

    const uint64_t begin = clock_ns();

    for (size_t i = 0; i < tracking->data->n_batches; i++) {
        sl_flow_deal(tracking->table, tracking->data->owned[i], tracking->keys[i]);
        if (tracking->config.keep_ends)
            sl_flow_keys_mark(tracking->keys[i], NULL, 0);
    }
    bench_team_run(tracking->team);
    return (double)tracking->data->items * 1e9 / (double)(clock_ns() - begin);
}

static void print_rate(const struct bench *bench, const struct bench_data *data,
                       const char *variant, const struct bench_rate *rate)
{
    const struct bench_row row = {.what = "flow",
                                  .variant = variant,
                                  .data = data->text,
                                  .rate = *rate,
                                  .unit = 1e6,
                                  .unit_name = "M packets/s"};

    bench_print(&bench->frame, &row);
}

static bool track_on(const struct bench *bench, struct tracking *tracking, bool settles,
                     unsigned n_cores)
{
    char variant[64];

    tracking->config.keep_ends = settles;
    tracking->n_cores = n_cores;
    tracking->team = bench_team_start(n_cores, track_shards, tracking);
    if (tracking->team == NULL)
        return false;

    const struct bench_rate rate = bench_rates(bench->frame.runs, track_rate, tracking);

    bench_team_stop(tracking->team);
    snprintf(variant, sizeof variant, "tracked%s, %u %s", settles ? " and settled" : "", n_cores,
             n_cores == 1 ? "core" : "cores");
    if (!tracking->failed)
        print_rate(bench, tracking->data, variant, &rate);
    return !tracking->failed;
}

static bool bench_tracking(const struct bench *bench, const struct bench_data *data)
{
    struct tracking tracking = {.data = data};
    struct sl_diag diag = {0};
    bool good = false;

    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most there is */
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
    sl_flow_config_init(&tracking.config);
    if (sl_flow_table_create(&tracking.table, &tracking.config, &diag) != SL_OK) {
        cli_diag(&diag);
    } else if (open_keys(&tracking)) {
        const struct bench_rate keys = bench_measure(bench->frame.runs, read_keys, &tracking);

        print_rate(bench, data, "keys read, 1 core", &keys);
        good = track_on(bench, &tracking, false, 1) && track_on(bench, &tracking, true, 1) &&
               (cpu_cores() == 1 || (track_on(bench, &tracking, false, cpu_cores()) &&
                                     track_on(bench, &tracking, true, cpu_cores())));
    }
    close_keys(&tracking);
    sl_flow_table_free(tracking.table);
    return good;
}

/* ---- flows that are all new ------------------------------------------------------------------ */

/* Ethernet, IPv4 and UDP without payload, between random addresses. */
static uint32_t put_new(void *user, uint8_t *packet)
{
    uint64_t *random = user;

    memset(packet, 0, NEW_LEN);
    packet[12] = 0x08; /* IPv4 */
    packet[14] = 0x45;
    packet[17] = NEW_LEN - 14;
    packet[22] = 64;
    packet[23] = SL_IP_UDP;
    for (uint32_t at = 26; at < 38; at += 4) { /* addresses and ports */
        const uint32_t word = bench_random(random);

        memcpy(packet + at, &word, sizeof word);
    }
    packet[39] = 8; /* UDP's length */
    return NEW_LEN;
}

static bool bench_new_flows(const struct bench *bench)
{
    uint64_t random = 1;
    const struct bench_items items = {.n_batches = NEW_BATCHES,
                                      .n = NEW_ITEMS,
                                      .max_len = NEW_LEN,
                                      .fill = put_new,
                                      .user = &random};
    struct sl_dissect_stats stats = {0};
    struct bench_data data = {0};
    bool good = bench_fill(&data, &items);

    for (size_t i = 0; i < data.n_batches; i++) {
        struct sl_batch *batch = data.owned[i];

        for (uint32_t item = 0; item < batch->n_items; item++)
            batch->origin[item] = (struct sl_origin){.wire_len = NEW_LEN, .link_type = 1};
        sl_dissect(batch, &stats);
    }
    snprintf(data.text, sizeof data.text, "%d UDP packets, each a flow", NEW_BATCHES * NEW_ITEMS);
    good = good && bench_tracking(bench, &data);
    bench_unload(&data);
    return good;
}

bool bench_flow(const struct bench *bench)
{
    struct bench_data data = {0};
    const bool good = bench_load(&data, &bench->input, BATCH_LEN, false, (uint64_t)1 << 30) &&
                      bench_tracking(bench, &data) && bench_new_flows(bench);

    bench_unload(&data);
    return good;
}
