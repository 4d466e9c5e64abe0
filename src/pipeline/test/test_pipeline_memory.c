/* SPDX-License-Identifier: MIT */
/* Once it runs the pipeline asks for no memory, on CPUs and on GPUs. */
#include "test.h"

#include <sched.h>

#include "counted_malloc.h"

#include "device/test/simulated.h"
#include "sluice/dissect.h"
#include "sluice/header.h"
#include "sluice/mpm.h"
#include "sluice/pipeline.h"
#include "sluice/sampling.h"

enum { BATCHES = 1000, SLOTS = 8, PACKET_LEN = 600 };

struct run {
    atomic_uint filled;
    uint32_t drained;
    uint64_t begin, end; /* allocations when all slots were open, and when the last was drained */
    uint64_t n_hits;
    uint8_t packets[64][PACKET_LEN];
};

/* Ethernet, IPv4 and TCP with SYN and FIN, around bytes in which words occur. */
static void make_packets(struct run *run)
{
    static const uint8_t headers[] = {
        2, 0,  0, 0, 0,  1, 2, 0, 0,  0, 0,    2,    8,    0,    0x45, 0, 0x02, 0x4A,
        0, 0,  0, 0, 64, 6, 0, 0, 10, 0, 0,    1,    10,   0,    0,    2, 0x30, 0x39,
        0, 80, 0, 0, 0,  1, 0, 0, 0,  1, 0x50, 0x03, 0xFF, 0xFF, 0,    0, 0,    0};
    uint64_t seed = 1;

    for (size_t p = 0; p < sizeof run->packets / sizeof *run->packets; p++) {
        for (size_t i = 0; i < PACKET_LEN; i++)
            run->packets[p][i] = (uint8_t)test_random(&seed);
        memcpy(run->packets[p], headers, sizeof headers);
        for (size_t i = 60; i + 20 < PACKET_LEN; i += 20 + test_below(&seed, 60))
            memcpy(run->packets[p] + i, "needle in a haystack", 20);
    }
}

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct run *run = user;

    (void)diag;
    for (size_t p = 0; p < sizeof run->packets / sizeof *run->packets; p++) {
        const uint32_t item = sl_batch_add(batch, run->packets[p], PACKET_LEN, 0);
        batch->origin[item].link_type = 1; /* Ethernet */
    }
    return atomic_fetch_add(&run->filled, 1) + 1 == BATCHES ? SL_END : SL_OK;
}

static enum sl_status prepare(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct sl_dissect_stats stats = {0};

    (void)user;
    (void)diag;
    sl_dissect(batch, &stats);
    return SL_OK;
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct run *run = user;

    (void)batch;
    (void)diag;
    for (int e = 0; e < 3; e++)
        run->n_hits += hits[e].n;
    if (++run->drained == 1) {
        /* All threads were started. Slots are opened beside the run, and the last is filled once
         * it is open, since none is free before this one is drained. */
        while (atomic_load(&run->filled) < SLOTS)
            sched_yield();
        run->begin = atomic_load(&n_allocations);
    }
    if (run->drained == BATCHES)
        run->end = atomic_load(&n_allocations);
    return SL_OK;
}

struct tables {
    struct sl_header_table *header;
    struct sl_mpm_table *matcher;
    struct sl_sampling_table *sampler;
};

static void build(struct tables *tables)
{
    static const struct sl_literal literals[] = {
        {(const uint8_t *)"needle", 6, 0}, {(const uint8_t *)"HAYSTACK", 8, SL_LITERAL_NOCASE}};
    struct sl_header_config header;
    struct sl_mpm_config mpm;
    struct sl_sampling_config sampling;

    sl_header_config_init(&header);
    sl_mpm_config_init(&mpm);
    mpm.algorithm = "gram";
    mpm.device = SL_DEVICE_CUDA; /* a table that CPUs use as well */
    sl_sampling_config_init(&sampling);
    assert_int_equal(sl_header_build(&tables->header, &header, NULL), SL_OK);
    assert_int_equal(sl_mpm_build(&tables->matcher, &mpm, literals, 2, NULL), SL_OK);
    assert_int_equal(sl_sampling_build(&tables->sampler, &sampling, NULL), SL_OK);
}

static void check(uint32_t n_gpus, const struct tables *tables)
{
    static struct run run;
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};

    memset(&run, 0, sizeof run);
    make_packets(&run);
    simulated_reset(n_gpus, 50);
    sl_pipeline_config_init(&config);
    for (uint32_t d = 0; d < n_gpus; d++) {
        config.devices[d].kind = SL_DEVICE_CUDA;
        config.devices[d].index = (int)d;
        config.n_devices = d + 1;
    }
    config.batch_len = 64 * (PACKET_LEN + SL_BATCH_ALIGN);
    config.batch_items = 64;
    config.n_batches = SLOTS;
    config.n_workers = 2;
    config.engines[0].engine = sl_header_engine();
    config.engines[0].table = tables->header;
    config.engines[1].engine = sl_mpm_engine(tables->matcher);
    config.engines[1].table = tables->matcher;
    config.engines[2].engine = sl_sampling_engine(tables->sampler);
    config.engines[2].table = tables->sampler;
    config.n_engines = 3;
    config.fill = fill;
    config.prepare = prepare;
    config.drain = drain;
    config.user = &run;
    config.latency = true;
    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    assert_int_equal(stats.batches, BATCHES);
    for (int e = 0; e < 3; e++)
        assert_true(stats.engine_hits[e] >= BATCHES);
    assert_int_equal(run.end - run.begin, 0);
}

static void test_no_allocation_once_it_runs(void **state)
{
    struct tables tables;
    const unsigned long long before = atomic_load(&n_allocations);

    (void)state;
    build(&tables);
    assert_true(atomic_load(&n_allocations) > before); /* they are counted */
    for (uint32_t n_gpus = 0; n_gpus <= 2; n_gpus++)
        check(n_gpus, &tables);
    sl_header_free(tables.header);
    sl_mpm_free(tables.matcher);
    sl_sampling_free(tables.sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_allocation_once_it_runs),
    };

    if (!ALLOCATIONS_ARE_COUNTED) {
        puts("skipped: the sanitizer has an allocator of its own");
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
