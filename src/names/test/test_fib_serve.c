/* SPDX-License-Identifier: MIT */
/* Slots, crews and generations, with threads in the place of a GPU's blocks. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "device/wait.h"
#include "names/fib/fib_serve.h"

enum {
    N_CREW = 2,
    N_CLIENTS = 2, /* of a thread */
    N_THREADS = 2,
    N_ITEMS = 96,
    BLOCKS_MAX = 16,
    SLICE_NS = 500000,
    DEVICE = 5
};

/* ---- a GPU of threads ------------------------------------------------------------------------ */

struct gpu {
    struct sl_fib *fib;
    struct serve_host host;
    struct serve_device device;
    struct serve_server server;
    uint32_t version;       /* of what the next generation answers with */
    atomic_uint generation; /* how many there were */
    enum sl_status status;  /* of start and check */
    bool sleeps;            /* generations serve nothing */
    struct block {
        struct gpu *gpu;
        uint32_t number, n_slots, n_blocks, generation, version;
        pthread_t thread;
    } blocks[BLOCKS_MAX];
    uint32_t n_blocks;
};

/* The answers, in the kernel's order: tiles go to the blocks in turn. */
static void answer(const struct fib_items *job, uint32_t member, uint32_t version)
{
    for (uint32_t tile = member; tile * FIB_TILE_NAMES < job->n; tile += N_CREW)
        for (uint32_t i = tile * FIB_TILE_NAMES; i < (tile + 1) * FIB_TILE_NAMES && i < job->n; i++)
            job->next_hop[i] = version * 1000 + job->bytes[job->payload[i].offset];
}

static void *serve(void *user)
{
    struct block *block = user;
    struct gpu *gpu = block->gpu;
    const uint32_t member = block->number / block->n_slots, which = block->number % block->n_slots;
    struct serve_crew *crew = &gpu->device.crew[which];
    struct serve_slot *slot = &gpu->host.slot[which];
    const uint64_t late_ns = clock_ns() + SLICE_NS;
    uint16_t served = (uint16_t)serve_load(&slot->done);

    for (uint16_t nth = 1;; nth++) {
        uint64_t words[SERVE_WORDS];

        while (member == 0 ? !serve_lead(crew, slot, served, nth, clock_ns() > late_ns, words)
                           : !serve_follow(crew, nth, words))
            sched_yield();
        if (serve_stops(words))
            break;
        const struct fib_items job = serve_job(words);
        served = serve_job_number(words);
        answer(&job, member, block->version);
        serve_end_job(crew, slot, served, N_CREW);
    }
    serve_go(&gpu->device, &gpu->host, block->n_slots, block->n_blocks, block->generation);
    return NULL;
}

static void end_generation(struct gpu *gpu)
{
    while (gpu->n_blocks > 0)
        pthread_join(gpu->blocks[--gpu->n_blocks].thread, NULL);
}

static enum sl_status start(void *user, uint32_t n_slots, uint32_t generation)
{
    struct gpu *gpu = user;

    if (gpu->status != SL_OK)
        return gpu->status;
    end_generation(gpu);
    atomic_fetch_add(&gpu->generation, 1);
    gpu->n_blocks = gpu->sleeps ? 0 : n_slots * N_CREW;
    for (uint32_t i = 0; i < gpu->n_blocks; i++) {
        struct block *block = &gpu->blocks[i];

        block->gpu = gpu;
        block->number = i;
        block->n_slots = n_slots;
        block->n_blocks = gpu->n_blocks;
        block->generation = generation;
        block->version = gpu->version;
        pthread_create(&block->thread, NULL, serve, block);
    }
    return SL_OK;
}

static enum sl_status check(void *user)
{
    return ((struct gpu *)user)->status;
}

static struct gpu *open_gpu(void)
{
    struct gpu *gpu = calloc(1, sizeof *gpu);
    struct sl_fib_config config;

    assert_non_null(gpu);
    sl_fib_config_init(&config);
    assert_int_equal(sl_fib_build(&gpu->fib, &config, NULL, 0, NULL), SL_OK);
    gpu->server = (struct serve_server){
        .table = sl_fib_table(gpu->fib), .host = &gpu->host, .place = {gpu, start, check}};
    return gpu;
}

static void close_gpu(struct gpu *gpu)
{
    (void)serve_call_off(&gpu->server);
    end_generation(gpu);
    sl_fib_free(gpu->fib);
    free(gpu);
}

/* ---- clients --------------------------------------------------------------------------------- */

/* A client with what it asks for and is answered: the same memory again and again. */
struct caller {
    struct serve_client client;
    uint8_t bytes[N_ITEMS];
    struct sl_span payload[N_ITEMS];
    uint32_t next_hop[N_ITEMS], n;
};

static void join(struct gpu *gpu, struct caller *caller)
{
    fib_table_lock(gpu->server.table);
    assert_true(serve_join(&gpu->server, &caller->client));
    fib_table_unlock(gpu->server.table);
}

static void part(struct gpu *gpu, struct caller *caller)
{
    fib_table_lock(gpu->server.table);
    serve_part(&caller->client);
    fib_table_unlock(gpu->server.table);
}

static enum sl_status query(struct caller *caller, uint64_t *seed)
{
    caller->n = test_below(seed, N_ITEMS + 1);
    for (uint32_t i = 0; i < caller->n; i++) {
        caller->bytes[i] = (uint8_t)test_random(seed);
        caller->payload[i] = (struct sl_span){i, 1};
        caller->next_hop[i] = UINT32_MAX;
    }
    const struct fib_items job = {caller->bytes, caller->payload, caller->next_hop, NULL,
                                  caller->n};
    return serve_submit(&caller->client, &job);
}

/* All by one version, which comes back. */
static uint32_t hear(struct caller *caller)
{
    assert_int_equal(device_spin(DEVICE, 0, serve_answered, &caller->client), SL_OK);
    const uint32_t version = caller->n > 0 ? caller->next_hop[0] / 1000 : 0;
    for (uint32_t i = 0; i < caller->n; i++)
        assert_int_equal(caller->next_hop[i], version * 1000 + caller->bytes[i]);
    return version;
}

/* ---- tests ----------------------------------------------------------------------------------- */

struct crowd {
    struct gpu *gpu;
    uint32_t rounds;
    atomic_uint published, n_old;
    atomic_bool stop;
};

/* Jobs in several slots at once, whose threads come and go. */
static void *query_on(void *user)
{
    struct crowd *crowd = user;
    struct caller *callers = calloc(N_CLIENTS, sizeof *callers);
    uint64_t seed = (uintptr_t)callers;

    for (uint32_t round = 0; round < crowd->rounds; round++) {
        for (int c = 0; c < N_CLIENTS; c++)
            join(crowd->gpu, &callers[c]);
        for (int i = 0; i < 40; i++) {
            struct caller *caller = &callers[i % N_CLIENTS];
            const uint32_t published = atomic_load(&crowd->published);

            if (i >= N_CLIENTS)
                (void)hear(caller);
            if (query(caller, &seed) != SL_OK)
                fail();
            if (i % 8 == 7) /* alone, so that the version is known */
                atomic_fetch_add(&crowd->n_old, hear(caller) < published && caller->n > 0);
        }
        for (int c = 0; c < N_CLIENTS; c++) {
            (void)hear(&callers[c]);
            part(crowd->gpu, &callers[c]);
        }
    }
    free(callers);
    return NULL;
}

static void *publish_on(void *user)
{
    struct crowd *crowd = user;
    struct gpu *gpu = crowd->gpu;

    while (!atomic_load(&crowd->stop)) {
        fib_table_lock(gpu->server.table);
        const uint32_t version = ++gpu->version;
        const uint32_t generation = serve_call_off(&gpu->server);
        fib_table_unlock(gpu->server.table);
        while (!serve_has_ended(&gpu->server, generation))
            sched_yield();
        atomic_store(&crowd->published, version);
        sched_yield();
    }
    return NULL;
}

/* Jobs are served once and whole, by crews that come and go, and published versions are in force.
 */
static void jobs_are_served(void **state)
{
    struct crowd crowd = {.gpu = open_gpu(), .rounds = test_fewer(20, 10)};
    pthread_t threads[N_THREADS], publisher;

    (void)state;
    for (int t = 0; t < N_THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, query_on, &crowd), 0);
    assert_int_equal(pthread_create(&publisher, NULL, publish_on, &crowd), 0);
    for (int t = 0; t < N_THREADS; t++)
        pthread_join(threads[t], NULL);
    atomic_store(&crowd.stop, true);
    pthread_join(publisher, NULL);
    assert_int_equal(atomic_load(&crowd.n_old), 0);
    assert_true(atomic_load(&crowd.gpu->generation) > 4);
    close_gpu(crowd.gpu);
}

static void numbers_wrap(void **state)
{
    struct gpu *gpu = open_gpu();
    struct caller caller = {.n = 0};
    uint64_t seed = 1;

    (void)state;
    gpu->host.slot[0].done = UINT16_MAX - 2;
    for (int i = 0; i < SERVE_LEAVE; i++)
        gpu->host.slot[0].word[i] = UINT16_MAX - 2;
    join(gpu, &caller);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(query(&caller, &seed), SL_OK);
        (void)hear(&caller);
    }
    assert_int_equal(caller.client.number, 5);
    part(gpu, &caller);
    close_gpu(gpu);
}

/* A generation ends by itself, and the next one begins when somebody asks. */
static void nobody_is_served_for_ever(void **state)
{
    struct gpu *gpu = open_gpu();
    struct caller caller = {.n = 0};
    uint64_t seed = 2;

    (void)state;
    join(gpu, &caller);
    for (int i = 0; i < 4; i++) {
        const uint32_t before = atomic_load(&gpu->generation);

        assert_int_equal(query(&caller, &seed), SL_OK);
        (void)hear(&caller);
        assert_true(atomic_load(&gpu->generation) > before);
        const uint64_t begin = clock_ns();
        while (!serve_has_ended(&gpu->server, atomic_load(&gpu->generation)))
            assert_true(clock_ns() - begin < UINT64_C(60000000000));
    }
    part(gpu, &caller);
    close_gpu(gpu);
}

static void slots_are_few(void **state)
{
    struct gpu *gpu = open_gpu();
    struct serve_client clients[SERVE_SLOTS + 1];

    (void)state;
    for (uint32_t i = 0; i < SERVE_SLOTS; i++)
        assert_true(serve_join(&gpu->server, &clients[i]));
    assert_false(serve_join(&gpu->server, &clients[SERVE_SLOTS]));
    serve_part(&clients[7]);
    assert_true(serve_join(&gpu->server, &clients[SERVE_SLOTS]));
    assert_ptr_equal(clients[SERVE_SLOTS].slot, &gpu->host.slot[7]);
    close_gpu(gpu);
}

static void failures_are_reported(void **state)
{
    struct gpu *gpu = open_gpu();
    struct caller caller = {.n = 0};
    uint64_t seed = 3;

    (void)state;
    join(gpu, &caller);
    gpu->status = SL_EDEVICE; /* it does not begin, */
    assert_int_equal(query(&caller, &seed), SL_EDEVICE);
    gpu->status = SL_OK;
    (void)hear(&caller);
    gpu->sleeps = true; /* begins and fails, */
    while (!serve_has_ended(&gpu->server, atomic_load(&gpu->generation)))
        sched_yield();
    assert_int_equal(query(&caller, &seed), SL_OK);
    gpu->status = SL_EDEVICE;
    assert_int_equal(device_spin(DEVICE, 0, serve_answered, &caller.client), SL_EDEVICE);
    struct serve_awaited awaited = {&gpu->server, serve_call_off(&gpu->server), 0};
    assert_int_equal(device_spin(DEVICE, 0, serve_ended, &awaited), SL_EDEVICE);
    assert_false(device_is_hung(DEVICE));
    gpu->status = SL_OK; /* or hangs */
    assert_int_equal(device_spin(DEVICE, 30, serve_answered, &caller.client), SL_EDEVICE);
    assert_true(device_is_hung(DEVICE));
    device_set_hung(DEVICE, false);
    close_gpu(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_served),           cmocka_unit_test(numbers_wrap),
        cmocka_unit_test(nobody_is_served_for_ever), cmocka_unit_test(slots_are_few),
        cmocka_unit_test(failures_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
