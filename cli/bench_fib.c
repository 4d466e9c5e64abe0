/* SPDX-License-Identifier: MIT */
/* Longest-prefix match of names: builds, look-ups of each backend, updates under look-ups. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_names.h"
#include "cli.h"
#include "device/device.h"

enum {
    CPU_BATCH = 16384, /* names */
    CPU_BATCHES = 128,
    CUDA_BATCH = 1 << 20,
    N_LANES = 4,           /* batches in flight to a GPU */
    UPDATES = 4096,        /* a call */
    MAX_UPDATED = 1000000, /* names put in and taken out */
    PHASE_US = 500000      /* of look-ups without updates */
};

/* What all rows of one table share. */
struct fib_bench {
    const struct bench *bench;
    struct bench_names names;
    struct bench_data trace[2]; /* average, heavy */
    uint32_t *wanted[2];        /* their answers */
    struct bench_data there[2]; /* on the GPU, one batch each */
    struct sl_fib *fib;
    const char *plane;
};

/* Work of one thread is timed by that thread's own clock: what others do on the same core meanwhile
 * is no part of it. */
static uint64_t ns_of(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t own_ns(void)
{
    return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

struct lane {
    void *context;
    struct sl_stage *stage;
    struct sl_batch view;
    struct sl_fib_answers answers;
    size_t first; /* name of the trace that the batch under way begins with */
    bool busy;
};

struct run {
    const struct sl_fib_backend *backend;
    const struct bench_data *data;
    const uint32_t *wanted; /* compared with while not NULL */
    struct lane lanes[N_LANES];
    unsigned n_lanes;
    struct device_timer *timer;
    uint64_t n_wrong;
    bool failed;
};

static void end_batch(struct run *run, struct lane *lane, uint32_t n)
{
    if (!lane->busy)
        return;
    run->failed |= run->backend->wait(lane->context) != SL_OK;
    lane->busy = false;
    if (run->wanted == NULL || lane->answers.memory == SL_MEMORY_DEVICE)
        return;
    for (uint32_t i = 0; i < n; i++)
        run->n_wrong += lane->answers.next_hop[i] != run->wanted[lane->first + i];
}

static void begin_batch(struct run *run, struct lane *lane, const struct sl_batch *batch)
{
    const struct sl_batch *there = batch;

    if (lane->stage != NULL) {
        run->failed |= sl_stage_upload(lane->stage, batch, &lane->view) != SL_OK;
        there = &lane->view;
    }
    if (run->timer != NULL)
        device_timer_begin(run->timer, there->stream);
    run->failed |= run->backend->submit(lane->context, there, &lane->answers) != SL_OK;
    if (run->timer != NULL)
        device_timer_end(run->timer, there->stream);
    lane->busy = !run->failed;
}

static double run_once(void *user)
{
    struct run *run = user;
    uint32_t in_lane[N_LANES] = {0};
    size_t first = 0;

    for (size_t b = 0; b < run->data->n_batches && !run->failed; b++) {
        const struct sl_batch *batch = &run->data->batches[b];
        struct lane *lane = &run->lanes[b % run->n_lanes];

        end_batch(run, lane, in_lane[b % run->n_lanes]);
        lane->first = first;
        in_lane[b % run->n_lanes] = batch->n_items;
        begin_batch(run, lane, batch);
        first += batch->n_items;
    }
    for (unsigned i = 0; i < run->n_lanes; i++)
        end_batch(run, &run->lanes[i], in_lane[i]);
    return (double)run->data->items;
}

static double run_by_gpu_clock(void *user)
{
    struct run *run = user;

    return run_once(run) / device_timer_seconds(run->timer);
}

static double run_by_own_clock(void *user)
{
    const uint64_t begin = own_ns();
    const double n = run_once(user);

    return n * 1e9 / (double)(own_ns() - begin);
}

static bool open_lane(const struct fib_bench *fib, const struct run *run, struct lane *lane,
                      struct sl_diag *diag)
{
    const struct sl_batch *batch = &run->data->batches[0];
    const bool cuda = run->backend->device == SL_DEVICE_CUDA;
    struct sl_limits limits = {.device = fib->bench->device.index};

    for (size_t i = 0; i < run->data->n_batches; i++) {
        if (run->data->batches[i].n_items > limits.max_items)
            limits.max_items = run->data->batches[i].n_items;
        if (run->data->batches[i].bytes_len > limits.max_bytes)
            limits.max_bytes = run->data->batches[i].bytes_len;
    }
    lane->answers.cap = (size_t)limits.max_items + 1; /* one where all batches are empty */
    const size_t len = lane->answers.cap * sizeof(uint32_t);
    lane->answers.next_hop = cuda ? device_pinned_alloc(len) : malloc(len);
    return lane->answers.next_hop != NULL &&
           run->backend->open(&lane->context, sl_fib_table(fib->fib), &limits, diag) == SL_OK &&
           (!cuda || batch->memory == SL_MEMORY_DEVICE ||
            sl_stage_open(&lane->stage, &limits, diag) == SL_OK);
}

static void close_lane(const struct run *run, struct lane *lane)
{
    run->backend->close(lane->context);
    sl_stage_close(lane->stage);
    if (run->backend->device == SL_DEVICE_CUDA)
        device_pinned_free(lane->answers.next_hop, lane->answers.cap * sizeof(uint32_t));
    else
        free(lane->answers.next_hop);
}

/* The rate, after a pass whose answers are all compared. False: said. */
static bool measure(struct fib_bench *fib, struct run *run, struct bench_rate *rate)
{
    struct sl_diag diag = {.text = "no memory for answers"};
    const uint32_t runs = fib->bench->runs;
    bool good = true;

    for (unsigned i = 0; i < run->n_lanes && good; i++)
        good = open_lane(fib, run, &run->lanes[i], &diag);
    if (!good) {
        cli_diag(&diag);
    } else {
        (void)run_once(run);
        run->wanted = NULL;
        *rate = run->timer != NULL                      ? bench_rates(runs, run_by_gpu_clock, run)
                : run->backend->device == SL_DEVICE_CPU ? bench_rates(runs, run_by_own_clock, run)
                                                        : bench_measure(runs, run_once, run);
        good = !run->failed && run->n_wrong == 0;
        if (!good)
            cli_error("bench: %s.%s: %llu wrong answers%s", fib->plane, run->backend->name,
                      (unsigned long long)run->n_wrong, run->failed ? ", and it failed" : "");
    }
    for (unsigned i = 0; i < run->n_lanes; i++)
        close_lane(run, &run->lanes[i]);
    return good;
}

static bool print_lookups(struct fib_bench *fib, const struct sl_fib_backend *backend, int which,
                          const struct bench_data *data, const char *how)
{
    const bool there = data->batches[0].memory == SL_MEMORY_DEVICE;
    struct run run = {.backend = backend,
                      .data = data,
                      .wanted = fib->wanted[which],
                      .n_lanes = backend->device == SL_DEVICE_CUDA && !there ? N_LANES : 1};
    struct bench_row row = {
        .what = fib->plane, .data = fib->trace[which].text, .unit = 1e6, .unit_name = "M names/s"};
    char variant[64];

    if (there)
        run.timer = device_timer_open(fib->bench->device.index);
    const bool good = measure(fib, &run, &row.rate);
    device_timer_close(run.timer);
    if (!good)
        return false;
    snprintf(variant, sizeof variant, "%s%s", backend->name, how);
    row.variant = variant;
    if (backend->device == SL_DEVICE_CUDA && !there)
        row.best_ceiling = device_link_rate(fib->bench->device.index, 64 << 20) /
                           ((double)data->crossing / (double)data->items);
    bench_print(fib->bench, &row);
    return true;
}

static bool print_backend(struct fib_bench *fib, const struct sl_fib_backend *backend)
{
    for (int which = 0; which < 2; which++) {
        if (backend->device == SL_DEVICE_CPU) {
            if (!print_lookups(fib, backend, which, &fib->trace[which], ""))
                return false;
            continue;
        }
        if (!print_lookups(fib, backend, which, &fib->there[which], ", on the device") ||
            (which == 0 &&
             !print_lookups(fib, backend, which, &fib->trace[which], ", from pinned memory")))
            return false;
    }
    return true;
}

/* Interwoven batches have a row of their own only on GPUs: for a CPU they are a detour. */
static bool is_measured(const struct fib_bench *fib, const struct sl_fib_backend *backend,
                        char why[SL_WHY_LEN])
{
    why[0] = '\0';
    if (backend->device == SL_DEVICE_CUDA && fib->bench->device.kind != SL_DEVICE_CUDA)
        return false;
    return strncmp(backend->name, "tiled", 5) != 0 && strstr(backend->name, "interwoven") == NULL &&
           backend->usable(why);
}

/* ---- updates --------------------------------------------------------------------------------- */

/* Look-ups on a thread of their own, as long as they are wanted. */
struct looker {
    struct fib_bench *fib;
    const struct sl_fib_backend *backend;
    struct run run;
    _Atomic uint64_t n; /* names so far */
    clockid_t clock;    /* the thread's */
    atomic_bool stop;
};

static void *look_on(void *user)
{
    struct looker *looker = user;

    while (!atomic_load(&looker->stop)) {
        for (size_t b = 0; b < looker->run.data->n_batches && !atomic_load(&looker->stop); b++) {
            begin_batch(&looker->run, &looker->run.lanes[0], &looker->run.data->batches[b]);
            end_batch(&looker->run, &looker->run.lanes[0], 0);
            atomic_fetch_add(&looker->n, looker->run.data->batches[b].n_items);
        }
    }
    return NULL;
}

/* The last names of the table, with one verb. */
struct updating {
    struct fib_bench *fib;
    size_t n;
    double pace; /* updates a second, 0: as many as there can be */
};

/* Sleeps until `at` updates are due. */
static void keep_pace(const struct updating *updating, uint64_t began, size_t at)
{
    const uint64_t due = began + (uint64_t)((double)at * 1e9 / updating->pace);
    const uint64_t now = ns_of(CLOCK_MONOTONIC);

    if (now < due)
        (void)usleep((useconds_t)((due - now) / 1000));
}

/* Updates a second; 0: failed, said. */
static double update_all(const struct updating *updating, enum sl_fib_verb verb)
{
    static struct sl_fib_update updates[UPDATES];
    const struct bench_names *names = &updating->fib->names;
    const struct sl_fib_entry *entries = names->entries + (names->n - updating->n);
    const uint64_t begin = own_ns(), began = ns_of(CLOCK_MONOTONIC);
    struct sl_diag diag = {0};

    for (size_t at = 0; at < updating->n;) {
        size_t m = updating->n - at < UPDATES ? updating->n - at : UPDATES;

        for (size_t i = 0; i < m; i++)
            updates[i] = (struct sl_fib_update){.entry = entries[at + i], .verb = verb};
        if (sl_fib_apply(updating->fib->fib, updates, m, &m, &diag) != SL_OK) {
            cli_diag(&diag);
            return 0;
        }
        at += m;
        if (updating->pace != 0)
            keep_pace(updating, began, at);
    }
    return (double)updating->n * 1e9 /
           (double)(updating->pace != 0 ? ns_of(CLOCK_MONOTONIC) - began : own_ns() - begin);
}

static void print_updates(const struct fib_bench *fib, const char *variant, double *rates,
                          uint32_t n, const char *unit)
{
    const struct bench_row row = {.what = fib->plane,
                                  .variant = variant,
                                  .data = fib->names.text,
                                  .rate = bench_spread(rates, n),
                                  .unit = 1e6,
                                  .unit_name = unit};

    bench_print(fib->bench, &row);
}

/* Names that a looker has looked up, and the time of its own that it took. */
struct looked {
    uint64_t n, ns;
};

static struct looked looked_so_far(struct looker *looker)
{
    return (struct looked){atomic_load(&looker->n), ns_of(looker->clock)};
}

static double looked_a_second(struct looker *looker, struct looked before)
{
    const struct looked now = looked_so_far(looker);

    return (double)(now.n - before.n) * 1e9 / (double)(now.ns - before.ns);
}

/* Names go out and come back, again and again: alone, or while another core looks up. */
static bool print_verbs(struct fib_bench *fib, const double paces[2], struct looker *looker)
{
    static const char *const texts[] = {[SL_FIB_INSERT] = "inserts", [SL_FIB_DELETE] = "deletes"};
    double updates[2][BENCH_RUNS_MAX], lookups[2][BENCH_RUNS_MAX];
    const uint32_t runs = fib->bench->runs;
    char how[32], variant[64];

    for (uint32_t r = 0; r < runs; r++)
        for (int verb = SL_FIB_DELETE; verb >= SL_FIB_INSERT; verb--) {
            const struct updating updating = {
                fib, fib->names.n / 2 < MAX_UPDATED ? fib->names.n / 2 : MAX_UPDATED, paces[verb]};
            struct looked before = {0};

            if (looker != NULL)
                before = looked_so_far(looker);
            updates[verb][r] = update_all(&updating, (enum sl_fib_verb)verb);
            if (updates[verb][r] == 0)
                return false;
            if (looker != NULL)
                lookups[verb][r] = looked_a_second(looker, before);
        }
    for (int verb = SL_FIB_DELETE; verb >= SL_FIB_INSERT; verb--) {
        if (paces[verb] != 0)
            snprintf(how, sizeof how, " at %.0f M/s", paces[verb] / 1e6);
        else
            snprintf(how, sizeof how, looker != NULL ? " at full speed" : ", alone");
        snprintf(variant, sizeof variant, "%s%s", texts[verb], how);
        print_updates(fib, variant, updates[verb], runs, "M updates/s");
        if (looker == NULL)
            continue;
        snprintf(variant, sizeof variant, "look-ups, %s%s", texts[verb], how);
        print_updates(fib, variant, lookups[verb], runs, "M names/s");
    }
    return true;
}

/* What a core does that shares nothing with look-ups but, it may be, the core's own units. */
static void count_for(uint64_t ns)
{
    const uint64_t begin = ns_of(CLOCK_MONOTONIC);
    volatile uint64_t count = 0;

    while (ns_of(CLOCK_MONOTONIC) - begin < ns)
        for (int i = 0; i < 10000; i++)
            count = count + 1;
}

/* The look-ups that updates are to be compared with: while this thread sleeps, and while it counts.
 */
static void print_undisturbed(struct fib_bench *fib, struct looker *looker)
{
    double sleeping[BENCH_RUNS_MAX], counting[BENCH_RUNS_MAX];

    for (uint32_t r = 0; r < fib->bench->runs; r++) {
        struct looked before = looked_so_far(looker);

        (void)usleep(PHASE_US);
        sleeping[r] = looked_a_second(looker, before);
        before = looked_so_far(looker);
        count_for(PHASE_US * UINT64_C(1000));
        counting[r] = looked_a_second(looker, before);
    }
    print_updates(fib, "look-ups, no updates", sleeping, fib->bench->runs, "M names/s");
    print_updates(fib, "look-ups, another core counts", counting, fib->bench->runs, "M names/s");
}

static bool bench_updates(struct fib_bench *fib)
{
    static const double free[2] = {0, 0};
    static const double paces[2] = {[SL_FIB_INSERT] = 1e6, [SL_FIB_DELETE] = 2e6};
    struct looker looker = {.fib = fib};
    struct sl_diag diag = {0};
    pthread_t thread;

    looker.backend = sl_fib_choose(sl_fib_engine(sl_fib_table(fib->fib)), SL_DEVICE_CPU, NULL);
    looker.run = (struct run){.backend = looker.backend, .data = &fib->trace[0], .n_lanes = 1};
    if (!print_verbs(fib, free, NULL))
        return false;
    if (!open_lane(fib, &looker.run, &looker.run.lanes[0], &diag) ||
        pthread_create(&thread, NULL, look_on, &looker) != 0 ||
        pthread_getcpuclockid(thread, &looker.clock) != 0) {
        cli_error("bench: no thread for look-ups");
        return false;
    }
    (void)usleep(PHASE_US);
    print_undisturbed(fib, &looker);
    const bool good = print_verbs(fib, free, &looker) && print_verbs(fib, paces, &looker);
    atomic_store(&looker.stop, true);
    pthread_join(thread, NULL);
    close_lane(&looker.run, &looker.run.lanes[0]);
    return good;
}

/* ---- one table ------------------------------------------------------------------------------- */

/* The last of the tables stays. */
static bool bench_build(struct fib_bench *fib)
{
    double rates[BENCH_RUNS_MAX + 1];
    struct sl_fib_config config;
    struct sl_fib_info info;
    struct sl_diag diag = {0};
    char variant[96];

    sl_fib_config_init(&config);
    config.plane = fib->plane;
    for (uint32_t r = 0; r <= fib->bench->runs; r++) { /* a warm-up first */
        sl_fib_free(fib->fib);
        fib->fib = NULL;
        const uint64_t begin = own_ns();
        if (sl_fib_build(&fib->fib, &config, fib->names.entries, fib->names.n, &diag) != SL_OK) {
            bench_print_why(fib->bench, fib->plane, "build", diag.text);
            return false;
        }
        rates[r] = (double)fib->names.n * 1e9 / (double)(own_ns() - begin);
    }
    sl_fib_info(fib->fib, &info);
    snprintf(variant, sizeof variant, "build, %.1f B a name, %.0f control",
             (double)info.plane_len / (double)info.n_entries,
             (double)info.control_len / (double)info.n_entries);
    print_updates(fib, variant, rates + 1, fib->bench->runs, "M names/s");
    return true;
}

/* The answers of the unaggregated table, once for all planes. */
static bool find_wanted(struct fib_bench *fib, int which)
{
    const struct bench_data *data = &fib->trace[which];
    size_t n = 0;

    if (fib->wanted[which] != NULL)
        return true;
    fib->wanted[which] = malloc(data->items * sizeof(uint32_t));
    if (fib->wanted[which] == NULL)
        return false;
    for (size_t b = 0; b < data->n_batches; b++) {
        const struct sl_batch *batch = &data->batches[b];

        for (uint32_t i = 0; i < batch->n_items; i++)
            fib->wanted[which][n++] =
                sl_fib_match(fib->fib, batch->bytes + batch->payload[i].offset,
                             batch->payload[i].len)
                    .next_hop;
    }
    return true;
}

static bool bench_plane(struct fib_bench *fib)
{
    const struct sl_fib_engine *engine;
    char why[SL_WHY_LEN];
    bool good = true;

    if (!bench_build(fib))
        return true;
    engine = sl_fib_engine(sl_fib_table(fib->fib));
    good = find_wanted(fib, 0) && find_wanted(fib, 1);
    for (size_t i = 0; engine->backends[i] != NULL && good; i++) {
        if (is_measured(fib, engine->backends[i], why))
            good = print_backend(fib, engine->backends[i]);
        else if (why[0] != '\0')
            bench_print_why(fib->bench, fib->plane, engine->backends[i]->name, why);
    }
    good = good && bench_updates(fib);
    sl_fib_free(fib->fib);
    fib->fib = NULL;
    return good;
}

static bool is_selected(const struct bench *bench, const char *plane)
{
    const size_t len = strlen(plane);

    if (bench->algorithms == NULL)
        return strcmp(plane, "stt") != 0; /* two thousand bytes a state */
    for (const char *at = bench->algorithms; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, plane, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

static bool bench_table(const struct bench *bench, size_t n_entries)
{
    const bool cuda = bench->device.kind == SL_DEVICE_CUDA;
    struct fib_bench fib = {.bench = bench};
    bool good = bench_names_load(&fib.names, bench, n_entries);

    for (int i = 0; i < 2 && good; i++)
        good = bench_names_trace(&fib.trace[i], &fib.names, i == 1, cuda ? 4 : CPU_BATCHES,
                                 cuda ? CUDA_BATCH : CPU_BATCH, cuda) &&
               (!cuda || bench_to_device(&fib.there[i], &fib.trace[i], 0, bench->device.index));
    for (size_t i = 0; sl_fib_planes[i] != NULL && good; i++) {
        fib.plane = sl_fib_planes[i];
        if (is_selected(bench, fib.plane))
            good = bench_plane(&fib);
    }
    for (int i = 0; i < 2; i++) {
        bench_unload(&fib.there[i]);
        bench_unload(&fib.trace[i]);
        free(fib.wanted[i]);
    }
    bench_names_free(&fib.names);
    return good;
}

bool bench_fib(const struct bench *bench)
{
    bool good = true;

    for (size_t i = 0; i < bench->n_entries && good; i++)
        good = bench_table(bench, bench->entries[i]);
    return good;
}
