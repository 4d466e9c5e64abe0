/* SPDX-License-Identifier: MIT */
/* Longest-prefix match of names: builds, look-ups of each backend, updates under look-ups. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_fib.h"
#include "cli/console.h"

enum {
    CPU_BATCH = 16384, /* names */
    CPU_BATCHES = 128,
    UPDATES = 4096,        /* a call */
    MAX_UPDATED = 1000000, /* names taken out and put in */
    PHASE_US = 500000      /* of look-ups without updates */
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

static bool print_backend(const struct fib_bench *fib, const struct sl_fib_backend *backend)
{
    for (int which = 0; which < 2; which++) {
        const struct fib_work work = {.backend = backend,
                                      .table = sl_fib_table(fib->fib),
                                      .data = &fib->trace[which],
                                      .wanted = fib->wanted[which],
                                      .n_lanes = 1};
        struct fib_result result;

        if (!fib_measure(fib->bench, &work, &result))
            return false;
        const struct bench_row row = {.what = fib->plane,
                                      .variant = backend->name,
                                      .data = fib->trace[which].text,
                                      .rate = result.rate,
                                      .unit = 1e6,
                                      .unit_name = "M names/s"};
        bench_print(fib->bench, &row);
    }
    return true;
}

/* A GPU that was asked for by name has its rows alone. */
static bool is_cuda_alone(const struct bench *bench)
{
    return bench->device.kind == SL_DEVICE_CUDA && strcmp(bench->device_name, "auto") != 0;
}

static bool is_measured(const struct fib_bench *fib, const struct sl_fib_backend *backend,
                        char why[SL_WHY_LEN])
{
    const bool cuda = backend->device == SL_DEVICE_CUDA;

    why[0] = '\0';
    if (cuda ? fib->bench->device.kind != SL_DEVICE_CUDA : is_cuda_alone(fib->bench))
        return false;
    return strncmp(backend->name, "tiled", 5) != 0 && backend->usable(why);
}

/* ---- updates --------------------------------------------------------------------------------- */

/* How many names of the table are taken out and put in: the last ones. */
static size_t n_updated(const struct fib_bench *fib)
{
    return fib->names.n / 2 < MAX_UPDATED ? fib->names.n / 2 : MAX_UPDATED;
}

/* Look-ups on a thread of their own, as long as they are wanted, of names that stay: those that are
 * gone for a while would be other work, not work that is disturbed. */
struct looker {
    const struct fib_bench *fib;
    struct bench_data trace;
    const struct sl_fib_backend *backend;
    void *context;
    struct sl_fib_answers answers;
    _Atomic uint64_t n; /* names so far */
    clockid_t clock;    /* the thread's */
    atomic_bool stop, failed;
};

static void *look_on(void *user)
{
    struct looker *looker = user;
    const struct bench_data *data = &looker->trace;

    while (!atomic_load(&looker->stop)) {
        for (size_t b = 0; b < data->n_batches && !atomic_load(&looker->stop); b++) {
            if (looker->backend->submit(looker->context, &data->batches[b], &looker->answers) !=
                    SL_OK ||
                looker->backend->wait(looker->context) != SL_OK)
                atomic_store(&looker->failed, true);
            atomic_fetch_add(&looker->n, data->batches[b].n_items);
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
            const struct updating updating = {fib, n_updated(fib), paces[verb]};
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

static bool open_looker(struct looker *looker, const struct fib_bench *fib)
{
    const struct sl_limits limits = {.max_items = CPU_BATCH, .max_bytes = UINT32_MAX};
    struct sl_fib_table *table = sl_fib_table(fib->fib);
    struct bench_names stay = fib->names;

    stay.n -= n_updated(fib);
    looker->fib = fib;
    looker->backend = sl_fib_choose(sl_fib_engine(table), SL_DEVICE_CPU, NULL);
    looker->answers.next_hop = malloc(CPU_BATCH * sizeof *looker->answers.next_hop);
    looker->answers.cap = CPU_BATCH;
    return looker->answers.next_hop != NULL &&
           bench_names_trace(&looker->trace, &stay, false, CPU_BATCHES, CPU_BATCH, false) &&
           looker->backend->open(&looker->context, table, &limits, NULL) == SL_OK;
}

static void close_looker(struct looker *looker)
{
    looker->backend->close(looker->context);
    bench_unload(&looker->trace);
    free(looker->answers.next_hop);
}

static bool update_under(struct fib_bench *fib, struct looker *looker)
{
    static const double free[2] = {0, 0};
    static const double paces[2] = {[SL_FIB_INSERT] = 1e6, [SL_FIB_DELETE] = 2e6};
    pthread_t thread;

    if (pthread_create(&thread, NULL, look_on, looker) != 0) {
        cli_error("bench: no thread for look-ups");
        return false;
    }
    bool good = pthread_getcpuclockid(thread, &looker->clock) == 0;
    if (good) {
        (void)usleep(PHASE_US);
        print_undisturbed(fib, looker);
    }
    good = good && print_verbs(fib, free, looker) && print_verbs(fib, paces, looker);
    atomic_store(&looker->stop, true);
    pthread_join(thread, NULL);
    if (atomic_load(&looker->failed))
        cli_error("bench: %s.%s failed", fib->plane, looker->backend->name);
    return good && !atomic_load(&looker->failed);
}

static bool bench_updates(struct fib_bench *fib)
{
    static const double free[2] = {0, 0};
    struct looker looker = {.fib = fib};

    if (!print_verbs(fib, free, NULL))
        return false;
    const bool opened = open_looker(&looker, fib);
    if (!opened)
        cli_error("bench: no memory for look-ups");
    const bool good = opened && update_under(fib, &looker);
    close_looker(&looker);
    return good;
}

/* ---- one table ------------------------------------------------------------------------------- */

/* The last of the tables stays. A GPU's rows need but one. */
static bool bench_build(struct fib_bench *fib)
{
    const uint32_t runs = is_cuda_alone(fib->bench) ? 0 : fib->bench->runs;
    double rates[BENCH_RUNS_MAX + 1];
    struct sl_fib_config config;
    struct sl_fib_info info;
    struct sl_diag diag = {0};
    char variant[96];

    sl_fib_config_init(&config);
    config.plane = fib->plane;
    for (uint32_t r = 0; r <= runs; r++) { /* a warm-up first */
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
    print_updates(fib, variant, rates + (runs > 0), runs > 0 ? runs : 1, "M names/s");
    return true;
}

/* Once for all planes. */
static bool find_wanted(struct fib_bench *fib, int which)
{
    if (fib->wanted[which] == NULL)
        fib->wanted[which] = fib_wanted(fib->fib, &fib->trace[which]);
    return fib->wanted[which] != NULL;
}

static bool bench_backends(struct fib_bench *fib)
{
    const struct sl_fib_engine *engine = sl_fib_engine(sl_fib_table(fib->fib));
    char why[SL_WHY_LEN];
    bool good = true;

    for (size_t i = 0; engine->backends[i] != NULL && good; i++) {
        const struct sl_fib_backend *backend = engine->backends[i];

        if (is_measured(fib, backend, why))
            good = backend->device == SL_DEVICE_CUDA ? fib_cuda_rows(fib, fib->cuda, backend)
                                                     : print_backend(fib, backend);
        else if (why[0] != '\0')
            bench_print_why(fib->bench, fib->plane, backend->name, why);
    }
    return good;
}

static bool bench_plane(struct fib_bench *fib)
{
    if (!bench_build(fib))
        return true;
    const bool good = find_wanted(fib, 0) && find_wanted(fib, 1) && bench_backends(fib) &&
                      (is_cuda_alone(fib->bench) || (fib_swap_row(fib) && bench_updates(fib)));
    sl_fib_free(fib->fib);
    fib->fib = NULL;
    return good;
}

static bool bench_table(const struct bench *bench, size_t n_entries)
{
    struct fib_bench fib = {.bench = bench};
    bool good = bench_names_load(&fib.names, bench, n_entries);

    for (int i = 0; i < 2 && good; i++)
        good = bench_names_trace(&fib.trace[i], &fib.names, i == 1, CPU_BATCHES, CPU_BATCH, false);
    if (good && bench->device.kind == SL_DEVICE_CUDA)
        good = (fib.cuda = fib_cuda_load(&fib)) != NULL;
    for (size_t i = 0; sl_fib_planes()[i] != NULL && good; i++) {
        fib.plane = sl_fib_planes()[i];
        if (fib_is_selected(bench, fib.plane, false)) /* stt: two thousand bytes a state */
            good = bench_plane(&fib);
    }
    fib_cuda_unload(fib.cuda);
    for (int i = 0; i < 2; i++) {
        bench_unload(&fib.trace[i]);
        free(fib.wanted[i]);
    }
    bench_names_free(&fib.names);
    return good;
}

bool bench_fib(const struct bench *bench)
{
    bool good = true;

    if (bench->study != NULL)
        return fib_study(bench);
    for (size_t i = 0; i < bench->n_entries && good; i++)
        good = bench_table(bench, bench->entries[i]);
    return good;
}
