/* SPDX-License-Identifier: MIT */
/* The kernel that stays, on a GPU: many contexts at once, tables that are published meanwhile,
 * other work of the GPU, and a GPU that hangs. */
extern "C" {
#include "test.h"
}

#include <atomic>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/cuda_internal.h"
#include "device/wait.h"
#include "names/fib/fib_serve.h"
#include "sluice/fib.h"

enum { N_NAMES = 4096, N_THREADS = 4, N_LANES = 2, ARENA = 64 * N_NAMES };

static const uint64_t second = 1000000000;
static uint8_t names[N_NAMES][32];
static uint32_t name_lens[N_NAMES];

static const struct sl_fib_backend *find(const struct sl_fib_table *table, const char *name)
{
    const struct sl_fib_engine *engine = sl_fib_engine(table);

    for (size_t i = 0; engine->backends[i] != NULL; i++)
        if (strcmp(engine->backends[i]->name, name) == 0)
            return engine->backends[i];
    fail();
    return NULL;
}

static struct sl_fib *build(const char *plane)
{
    static struct sl_fib_entry entries[N_NAMES];
    struct sl_fib_config config;
    struct sl_fib *fib = NULL;

    for (uint32_t i = 0; i < N_NAMES; i++) {
        size_t len = 0;
        char text[16];

        snprintf(text, sizeof text, "%u", i);
        assert_true(sl_name_append(names[i], sizeof names[i], &len, 8, "s", 1) &&
                    sl_name_append(names[i], sizeof names[i], &len, 8, text, strlen(text)));
        name_lens[i] = (uint32_t)len;
        entries[i] = {names[i], (uint32_t)len, i};
    }
    sl_fib_config_init(&config);
    config.plane = plane;
    assert_int_equal(sl_fib_build(&fib, &config, entries, N_NAMES, NULL), SL_OK);
    return fib;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* A context, with a batch whose memory is filled anew each time. */
struct lane {
    const struct sl_fib_backend *backend;
    void *context;
    struct sl_batch *batch;
    struct sl_fib_answers answers;
    uint32_t which[N_NAMES];
    uint32_t version; /* that was published when it was begun */
};

static const struct sl_limits limits_of(uint32_t max_wait_ms)
{
    struct sl_limits limits = {};

    limits.max_items = N_NAMES;
    limits.max_bytes = ARENA;
    limits.max_wait_ms = max_wait_ms;
    return limits;
}

static void open_lane(struct lane *lane, struct sl_fib_table *table, const char *backend,
                      uint32_t max_wait_ms)
{
    const struct sl_limits limits = limits_of(max_wait_ms);
    struct sl_diag diag = {};

    lane->backend = find(table, backend);
    lane->answers = {(uint32_t *)device_pinned_alloc(N_NAMES * sizeof(uint32_t)),
                     (uint32_t *)device_pinned_alloc(N_NAMES * sizeof(uint32_t)), N_NAMES,
                     SL_MEMORY_PINNED};
    assert_non_null(lane->answers.next_hop);
    assert_int_equal(sl_device_batch_create(&lane->batch, SL_DEVICE_CUDA, ARENA, N_NAMES, &diag),
                     SL_OK);
    assert_int_equal(lane->backend->open(&lane->context, table, &limits, &diag), SL_OK);
}

static void close_lane(struct lane *lane)
{
    lane->backend->close(lane->context);
    sl_batch_free(lane->batch);
    device_pinned_free(lane->answers.next_hop);
    device_pinned_free(lane->answers.prefix_len);
}

static enum sl_status begin(struct lane *lane, uint64_t *seed)
{
    const uint32_t n = test_below(seed, test_below(seed, 8) == 0 ? N_NAMES : 300);

    sl_batch_reset(lane->batch);
    for (uint32_t i = 0; i < n; i++) {
        lane->which[i] = test_below(seed, N_NAMES);
        sl_batch_add(lane->batch, names[lane->which[i]], name_lens[lane->which[i]], 0);
    }
    memset(lane->answers.next_hop, 0x55, N_NAMES * sizeof(uint32_t));
    return lane->backend->submit(lane->context, lane->batch, &lane->answers);
}

/* Next hops are i + 10,000 x the version, and all of a batch are of one version. */
static uint32_t count_wrong(const struct lane *lane)
{
    uint32_t n_wrong = 0;

    for (uint32_t i = 0; i < lane->batch->n_items; i++) {
        const uint32_t version = lane->answers.next_hop[i] / 10000;

        n_wrong += lane->answers.next_hop[i] % 10000 != lane->which[i] || version < lane->version ||
                   version != lane->answers.next_hop[0] / 10000 ||
                   lane->answers.prefix_len[i] != name_lens[lane->which[i]];
    }
    return n_wrong;
}

/* ---- look-ups at once ------------------------------------------------------------------------ */

struct crowd {
    struct sl_fib *fib;
    std::atomic<uint32_t> published, n_wrong, n_batches;
    std::atomic<bool> stop;
    std::atomic<uint64_t> longest_ns;
};

static void *lookup_thread(void *user)
{
    struct crowd *crowd = (struct crowd *)user;
    struct lane *lanes = (struct lane *)calloc(N_LANES, sizeof *lanes);
    uint64_t seed = (uint64_t)(uintptr_t)lanes | 1;

    for (uint32_t turn = 0; !crowd->stop; turn++) {
        struct lane *lane = &lanes[turn % N_LANES];

        if (lane->context == NULL) {
            open_lane(lane, sl_fib_table(crowd->fib), "cuda-persistent", 20000);
            lane->version = crowd->published;
        } else {
            const uint64_t since = clock_ns();

            crowd->n_wrong += lane->backend->wait(lane->context) != SL_OK;
            const uint64_t waited = clock_ns() - since;
            if (waited > crowd->longest_ns)
                crowd->longest_ns = waited;
            crowd->n_wrong += count_wrong(lane);
            crowd->n_batches++;
            lane->version = crowd->published;
        }
        if (turn % 256 == 255) { /* others come and go */
            close_lane(lane);
            open_lane(lane, sl_fib_table(crowd->fib), "cuda-persistent", 20000);
        }
        crowd->n_wrong += begin(lane, &seed) != SL_OK;
    }
    for (int i = 0; i < N_LANES; i++)
        if (lanes[i].context != NULL)
            close_lane(&lanes[i]); /* with a batch under way */
    free(lanes);
    return NULL;
}

static void publish(struct crowd *crowd, uint32_t version)
{
    static struct sl_fib_update updates[N_NAMES];
    size_t n;

    for (uint32_t i = 0; i < N_NAMES; i++)
        updates[i] = {{names[i], name_lens[i], 10000 * version + i}, SL_FIB_CHANGE, SL_FIB_DONE};
    assert_int_equal(sl_fib_apply(crowd->fib, updates, N_NAMES, &n, NULL), SL_OK);
    assert_int_equal(sl_fib_publish(crowd->fib, NULL), SL_OK);
    crowd->published = version;
}

static void lookup_by_threads(const char *plane)
{
    struct crowd crowd = {};
    pthread_t threads[N_THREADS];

    crowd.fib = build(plane);
    for (int t = 0; t < N_THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, lookup_thread, &crowd), 0);
    const uint64_t begin = clock_ns();
    /* On a busy GPU for longer, until there were look-ups; others come to the locks between. */
    for (uint32_t version = 1;
         clock_ns() - begin < second || (crowd.n_batches < 100 && clock_ns() - begin < 30 * second);
         version++) {
        publish(&crowd, version);
        (void)usleep(500);
    }
    crowd.stop = true;
    for (int t = 0; t < N_THREADS; t++)
        pthread_join(threads[t], NULL);
    printf("%s: %u batches, %u tables, the longest wait %.0f us\n", plane, crowd.n_batches.load(),
           crowd.published.load(), (double)crowd.longest_ns.load() / 1e3);
    assert_int_equal(crowd.n_wrong.load(), 0);
    assert_true(crowd.n_batches >= 100);
    sl_fib_free(crowd.fib);
}

static void tables_are_published_under_lookups(void **state)
{
    (void)state;
    lookup_by_threads("hash");
    lookup_by_threads("mata");
    lookup_by_threads("ata");
}

/* Other kernels, and calls that wait for the whole GPU, have their turn. */
static void others_use_the_gpu(void **state)
{
    struct crowd crowd = {};
    pthread_t thread;
    struct lane lane;
    uint64_t seed = 7;

    (void)state;
    crowd.fib = build("hash");
    assert_int_equal(pthread_create(&thread, NULL, lookup_thread, &crowd), 0);
    while (crowd.n_batches < 100)
        ;
    const uint64_t begun = clock_ns();
    for (int i = 0; i < 20; i++) {
        void *d_memory = NULL;

        assert_int_equal(cudaMalloc(&d_memory, 1 << 20), cudaSuccess);
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
        assert_int_equal(cudaFree(d_memory), cudaSuccess);
        open_lane(&lane, sl_fib_table(crowd.fib), "cuda", 20000);
        lane.version = 0;
        assert_int_equal(begin(&lane, &seed), SL_OK);
        assert_int_equal(lane.backend->wait(lane.context), SL_OK);
        assert_int_equal(count_wrong(&lane), 0);
        close_lane(&lane);
    }
    const uint64_t took = clock_ns() - begun;
    printf("20 rounds of other work: %.0f ms\n", (double)took / 1e6);
    assert_true(took < 10 * second);
    crowd.stop = true;
    pthread_join(thread, NULL);
    assert_int_equal(crowd.n_wrong.load(), 0);
    sl_fib_free(crowd.fib);
}

static void wrong_memory_is_refused(void **state)
{
    struct sl_fib *fib = build("hash");
    struct lane lane;
    uint64_t seed = 9;

    (void)state;
    open_lane(&lane, sl_fib_table(fib), "cuda-persistent", 20000);
    lane.answers.memory = SL_MEMORY_HOST;
    assert_int_equal(begin(&lane, &seed), SL_EINVAL);
    lane.answers.memory = SL_MEMORY_PINNED;
    lane.batch->memory = SL_MEMORY_HOST;
    assert_int_equal(begin(&lane, &seed), SL_EINVAL);
    lane.batch->memory = SL_MEMORY_PINNED;
    assert_int_equal(begin(&lane, &seed), SL_OK);
    assert_int_equal(lane.backend->wait(lane.context), SL_OK);
    lane.version = 0;
    assert_int_equal(count_wrong(&lane), 0);
    close_lane(&lane);
    sl_fib_free(fib);
}

/* ---- a GPU that hangs ------------------------------------------------------------------------ */

enum { ALL_SHARED = 200 << 10 }; /* bytes: no other block fits beside */

__global__ static void hog(uint64_t ns)
{
    uint64_t begin, now;

    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

/* Look-ups of both kinds are given up in time, and all is closed. The GPU is then left alone until
 * the process ends. */
static void a_gpu_that_hangs_is_given_up(void **state)
{
    struct sl_fib *fib = build("hash");
    struct lane lanes[2];
    cudaStream_t stream;
    uint64_t seed = 8;

    (void)state;
    open_lane(&lanes[0], sl_fib_table(fib), "cuda-persistent", 200);
    open_lane(&lanes[1], sl_fib_table(fib), "cuda", 200);
    for (int i = 0; i < 2; i++) { /* a kernel's first launch waits for all others */
        assert_int_equal(begin(&lanes[i], &seed), SL_OK);
        assert_int_equal(lanes[i].backend->wait(lanes[i].context), SL_OK);
    }
    (void)usleep(3 * SERVE_SLICE_US); /* a generation has no place beside the kernel that comes */
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(
        cudaFuncSetAttribute(hog, cudaFuncAttributeMaxDynamicSharedMemorySize, ALL_SHARED),
        cudaSuccess);
    hog<<<512, 1024, ALL_SHARED, stream>>>(second);
    assert_int_equal(cudaGetLastError(), cudaSuccess);

    const uint64_t begun = clock_ns();
    assert_int_equal(begin(&lanes[0], &seed), SL_OK);
    assert_int_equal(lanes[0].backend->wait(lanes[0].context), SL_EDEVICE);
    assert_true(device_is_hung(0));
    assert_int_equal(begin(&lanes[0], &seed), SL_EDEVICE);
    assert_int_equal(begin(&lanes[1], &seed), SL_EDEVICE);
    for (int i = 0; i < 2; i++)
        close_lane(&lanes[i]);
    sl_fib_free(fib);
    assert_true(clock_ns() - begun < second);
}

/* "hung" is the last test alone, and without it are the others. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_memory_is_refused),
        cmocka_unit_test(tables_are_published_under_lookups),
        cmocka_unit_test(others_use_the_gpu),
    };
    const struct CMUnitTest hung[] = {cmocka_unit_test(a_gpu_that_hangs_is_given_up)};
    char why[SL_WHY_LEN];

    if (!device_cuda_usable(why)) {
        printf("skipped: %s\n", why);
        return 77;
    }
    return argc > 1 && strcmp(argv[1], "hung") == 0 ? cmocka_run_group_tests(hung, NULL, NULL)
                                                    : cmocka_run_group_tests(tests, NULL, NULL);
}
