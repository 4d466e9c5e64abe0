/* SPDX-License-Identifier: MIT */
/* Devices are chosen by what they do, and the choice is reported. */
#include "test.h"

#include <unistd.h>

#include "batch/cpu_backend.h"
#include "device/test/simulated.h"
#include "pipeline/choose.h"
#include "sluice/dissect.h"
#include "sluice/header.h"

/* ---- the packets ----------------------------------------------------------------------------- */

/* They are what the dissector makes of their bytes, and no header check trips. */
static void test_packets_are_sound(void **state)
{
    struct sl_batch *batch, copy;
    struct sl_dissect_stats stats = {0};
    struct sl_header_config config;
    struct sl_header_table *table;
    struct sl_hit hit;
    struct sl_hits hits = {&hit, 1, 0, false};
    void *context;
    char why[SL_WHY_LEN];

    (void)state;
    assert_int_equal(sl_batch_create(&batch, 1 << 20, 65536, NULL), SL_OK);
    choose_fill(batch);
    assert_true(batch->bytes_len > (1 << 20) - 2000);

    copy = *batch;
    copy.packet = calloc(batch->n_items, sizeof *copy.packet);
    copy.payload = calloc(batch->n_items, sizeof *copy.payload);
    for (uint32_t i = 0; i < batch->n_items; i++) {
        copy.packet[i].offset = copy.payload[i].offset = batch->packet[i].offset;
        copy.packet[i].len = copy.payload[i].len = batch->packet[i].len;
        batch->origin[i].link_type = 1;
        batch->origin[i].wire_len = batch->packet[i].len;
    }
    sl_dissect(&copy, &stats);
    assert_memory_equal(copy.packet, batch->packet, batch->n_items * sizeof *copy.packet);
    assert_memory_equal(copy.payload, batch->payload, batch->n_items * sizeof *copy.payload);

    sl_header_config_init(&config);
    assert_int_equal(sl_header_build(&table, &config, NULL), SL_OK);
    const struct sl_backend *backend = sl_engine_choose(sl_header_engine(), SL_DEVICE_CPU, why);
    const struct sl_limits limits = {
        .max_items = batch->n_items, .max_bytes = batch->bytes_len, .max_hits = 1};
    assert_int_equal(backend->open(&context, table, &limits, NULL), SL_OK);
    assert_int_equal(backend->submit(context, batch, &hits), SL_OK);
    assert_int_equal(backend->wait(context), SL_OK);
    if (hits.n != 0)
        fail_msg("%zu hits, the first is check %u of item %u", hits.n, (unsigned)hit.id, hit.item);
    backend->close(context);
    sl_header_free(table);
    free(copy.packet);
    free(copy.payload);
    sl_batch_free(batch);
}

/* ---- the choice ------------------------------------------------------------------------------ */

static void check_choice(double gpus, uint32_t gpu_workers, double cpu, uint32_t cpu_workers,
                         bool with_gpus, bool with_cpu)
{
    const struct choose_rate of_gpus = {.rate = gpus, .n_workers = gpu_workers};
    const struct choose_rate of_cpu = {.rate = cpu, .n_workers = cpu_workers};
    const struct choose_choice choice = choose(&of_gpus, &of_cpu);

    assert_int_equal(choice.gpus, with_gpus);
    assert_int_equal(choice.cpu, with_cpu);
    assert_int_equal(choice.n_ahead > 0, with_gpus && with_cpu);
}

static void test_gpus_take_what_they_do_as_fast_as_the_cores(void **state)
{
    (void)state;
    check_choice(50e9, 8, 1e9, 2, true, false);
    check_choice(46e9, 8, 34e9, 32, true, false);
    check_choice(9e9, 2, 9e9, 16, true, false);
    check_choice(1e9, 2, 50e9, 64, false, true); /* a tenth is not worth it */
    check_choice(5e9, 2, 9e9, 16, true, true);
    check_choice(0.5e9, 2, 9e9, 16, false, true);
    check_choice(1.5e9, 16, 9e9, 16, false, true); /* its workers would hold up 96 */
}

/* ---- devices of several speeds --------------------------------------------------------------- */

/* An engine that takes its time on the CPU, and finds nothing. */
static uint32_t cpu_ns_a_kib;

static enum sl_status scan(struct cpu_context *cpu, const struct sl_batch *batch,
                           struct sl_hits *hits)
{
    (void)cpu;
    hits->n = 0;
    if (!simulated_is_device())
        usleep((uint32_t)((uint64_t)batch->bytes_len * cpu_ns_a_kib / 1024 / 1000));
    return SL_OK;
}

static enum sl_status submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    return cpu_backend_submit(context, batch, hits, scan);
}

static const struct sl_backend on_cpu = {.name = "slow",
                                         .device = SL_DEVICE_CPU,
                                         .usable = cpu_backend_usable,
                                         .open = cpu_backend_open,
                                         .submit = submit,
                                         .wait = cpu_backend_wait,
                                         .close = cpu_backend_close};
static const struct sl_backend on_gpu = {.name = "slow on GPUs", .device = SL_DEVICE_CUDA};
static const struct sl_backend *const backends[] = {&on_gpu, &on_cpu, NULL};
static const struct sl_engine engine = {.name = "slow", .backends = backends};

struct run {
    uint32_t n_batches, n_drained, n_dropped;
};

static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct run *run = user;

    (void)diag;
    choose_fill(batch);
    return ++run->n_batches < 60 ? SL_OK : SL_END;
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    (void)batch;
    (void)hits;
    (void)diag;
    ((struct run *)user)->n_drained++;
    return SL_OK;
}

static void dropped(void *user, const struct sl_pipeline_device *device)
{
    ((struct run *)user)->n_dropped += device->dropped;
}

static void configure(struct sl_pipeline_config *config, struct run *run, uint32_t n_gpus)
{
    sl_pipeline_config_init(config);
    for (uint32_t i = 0; i < n_gpus; i++)
        config->devices[i] =
            (struct sl_device){.kind = SL_DEVICE_CUDA, .index = (int)i, .usable = true};
    config->devices[n_gpus] = (struct sl_device){.kind = SL_DEVICE_CPU, .usable = true};
    config->n_devices = n_gpus + 1;
    config->n_workers = 2;
    config->batch_len = 256 << 10;
    config->engines[0].engine = &engine;
    config->n_engines = 1;
    config->fill = fill;
    config->drain = drain;
    config->dropped = dropped;
    config->user = run;
}

/* The chosen devices take part in the run, and no others. */
static void check_devices(uint32_t gpu_ns, uint32_t cpu_ns, bool with_gpu, bool with_cpu,
                          const char *says)
{
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};
    struct run run = {0};
    char why[SL_WHY_LEN] = "";
    uint64_t batches = 0;

    cpu_ns_a_kib = cpu_ns;
    /* Other work on the machine's cores is in what is measured: once it is not. */
    for (int i = 0; i < 200 && strstr(why, says) == NULL; i++) {
        simulated_reset(1, 0);
        simulated_pace(0, gpu_ns);
        configure(&config, &run, 1);
        assert_int_equal(sl_pipeline_choose(&config, why, &diag), SL_OK);
        assert_int_equal(simulated_n_open(), 0);
    }
    if (strstr(why, says) == NULL || strstr(why, "GB/s, 2 cores") == NULL)
        fail_msg("GPU %u ns a KiB, CPU %u: '%s'", gpu_ns, cpu_ns, why);
    assert_int_equal(config.n_devices, with_gpu + with_cpu);
    assert_int_equal(config.devices[0].kind, with_gpu ? SL_DEVICE_CUDA : SL_DEVICE_CPU);

    assert_int_equal(sl_pipeline_run(&config, &stats, &diag), SL_OK);
    assert_int_equal(run.n_drained, 60);
    for (uint32_t d = 0; d < stats.n_devices; d++)
        batches += stats.devices[d].batches;
    assert_int_equal(batches, 60);
}

static void test_measured_speed_decides(void **state)
{
    (void)state;
    check_devices(1000, 200000, true, false, "the GPU works");
    check_devices(400000, 2000, false, true, "the CPU works");
    check_devices(60000, 20000, true, true, "both work");
}

static void test_a_gpu_that_cannot_is_dropped(void **state)
{
    static const enum simulated_step steps[] = {SIMULATED_OPEN, SIMULATED_STAGE, SIMULATED_PINNED,
                                                SIMULATED_UPLOAD, SIMULATED_WAIT};

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct sl_pipeline_config config;
        struct sl_diag diag = {0};
        struct run run = {0};
        char why[SL_WHY_LEN] = "";

        simulated_reset(2, 0);
        simulated_pace(1, 1000);
        cpu_ns_a_kib = 2000000; /* however busy the machine is, the GPU's are less */
        simulated_fail(0, steps[i], 1, steps[i] == SIMULATED_WAIT ? SL_EDEVICE : SL_ENOMEM);
        configure(&config, &run, 2);
        assert_int_equal(sl_pipeline_choose(&config, why, &diag), SL_OK);
        assert_int_equal(run.n_dropped, 1);
        assert_int_equal(config.n_devices, 1); /* the other GPU */
        assert_int_equal(config.devices[0].index, 1);
        assert_int_equal(simulated_n_open(), 0);

        simulated_reset(1, 0);
        simulated_fail(0, steps[i], 1, SL_EDEVICE);
        run = (struct run){0};
        configure(&config, &run, 1);
        assert_int_equal(sl_pipeline_choose(&config, why, &diag), SL_OK);
        assert_int_equal(run.n_dropped, 1);
        assert_int_equal(config.n_devices, 1);
        assert_int_equal(config.devices[0].kind, SL_DEVICE_CPU);
        assert_non_null(strstr(why, "cuda:0 cannot be used: "));
        assert_int_equal(simulated_n_open(), 0);
    }
}

static void test_one_kind_is_no_choice(void **state)
{
    struct sl_pipeline_config config;
    struct sl_diag diag = {0};
    struct run run = {0};
    char why[SL_WHY_LEN] = "asked for";

    (void)state;
    simulated_reset(0, 0);
    cpu_ns_a_kib = 0;
    configure(&config, &run, 0);
    assert_int_equal(sl_pipeline_choose(&config, why, &diag), SL_OK);
    assert_int_equal(config.n_devices, 1);
    assert_string_equal(why, "asked for");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets_are_sound),
        cmocka_unit_test(test_gpus_take_what_they_do_as_fast_as_the_cores),
        cmocka_unit_test(test_measured_speed_decides),
        cmocka_unit_test(test_a_gpu_that_cannot_is_dropped),
        cmocka_unit_test(test_one_kind_is_no_choice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
