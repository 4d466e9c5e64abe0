/* SPDX-License-Identifier: MIT */
/* Updates of a table of names, alone and under look-ups. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench_fib.h"
#include "cli/console.h"

enum {
    UPDATES = 4096,        /* a call */
    MAX_UPDATED = 1000000, /* names taken out and put in */
    PHASE_US = 500000      /* of look-ups without updates */
};

/* Work of one thread is timed by that thread's own clock, which excludes other work on the same
 * core. */
static uint64_t ns_of(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* How many names of the table are taken out and put in: the last ones. */
static size_t n_updated(const struct fib_bench *fib)
{
    return fib->names.n / 2 < MAX_UPDATED ? fib->names.n / 2 : MAX_UPDATED;
}

/* Look-ups on a thread of their own, until they are stopped, of names that stay in the table.
 * Look-ups of names that come and go would be other work, and not the same work disturbed. */
struct reader {
    const struct fib_bench *fib;
    struct bench_data trace;
    const struct sl_fib_backend *backend;
    void *context;
    struct sl_fib_answers answers;
    _Atomic uint64_t n; /* names so far */
    clockid_t clock;    /* the thread's */
    atomic_bool stop, failed;
};

static void *read_on(void *user)
{
    struct reader *reader = user;
    const struct bench_data *data = &reader->trace;

    while (!atomic_load(&reader->stop)) {
        for (size_t b = 0; b < data->n_batches && !atomic_load(&reader->stop); b++) {
            if (reader->backend->submit(reader->context, &data->batches[b], &reader->answers) !=
                    SL_OK ||
                reader->backend->wait(reader->context) != SL_OK)
                atomic_store(&reader->failed, true);
            atomic_fetch_add(&reader->n, data->batches[b].n_items);
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

/* Updates a second; 0: an error was printed. */
static double update_all(const struct updating *updating, enum sl_fib_verb verb)
{
    static struct sl_fib_update updates[UPDATES];
    const struct bench_names *names = &updating->fib->names;
    const struct sl_fib_entry *entries = names->entries + (names->n - updating->n);
    const uint64_t begin = clock_thread_ns(), began = ns_of(CLOCK_MONOTONIC);
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
           (double)(updating->pace != 0 ? ns_of(CLOCK_MONOTONIC) - began
                                        : clock_thread_ns() - begin);
}

void fib_print_rates(const struct fib_bench *fib, const char *variant, double *rates, uint32_t n,
                     const char *unit)
{
    const struct bench_row row = {.what = fib->plane,
                                  .variant = variant,
                                  .data = fib->names.text,
                                  .rate = bench_spread(rates, n),
                                  .unit = 1e6,
                                  .unit_name = unit};

    bench_print(&fib->bench->frame, &row);
}

/* The names that a reader has looked up, and the time of its own for them. */
struct progress {
    uint64_t n, ns;
};

static struct progress progress_of(struct reader *reader)
{
    return (struct progress){atomic_load(&reader->n), ns_of(reader->clock)};
}

static double lookup_rate(struct reader *reader, struct progress before)
{
    const struct progress now = progress_of(reader);

    return (double)(now.n - before.n) * 1e9 / (double)(now.ns - before.ns);
}

/* Names are removed and inserted, again and again: alone, or while another core looks up. */
static bool print_verbs(struct fib_bench *fib, const double paces[2], struct reader *reader)
{
    static const char *const texts[] = {[SL_FIB_INSERT] = "inserts", [SL_FIB_DELETE] = "deletes"};
    double updates[2][BENCH_RUNS_MAX], lookups[2][BENCH_RUNS_MAX];
    const uint32_t runs = fib->bench->frame.runs;
    char how[32], variant[64];

    for (uint32_t r = 0; r < runs; r++)
        for (int verb = SL_FIB_DELETE; verb >= SL_FIB_INSERT; verb--) {
            const struct updating updating = {fib, n_updated(fib), paces[verb]};
            struct progress before = {0};

            if (reader != NULL)
                before = progress_of(reader);
            updates[verb][r] = update_all(&updating, (enum sl_fib_verb)verb);
            if (updates[verb][r] == 0)
                return false;
            if (reader != NULL)
                lookups[verb][r] = lookup_rate(reader, before);
        }
    for (int verb = SL_FIB_DELETE; verb >= SL_FIB_INSERT; verb--) {
        if (paces[verb] != 0)
            snprintf(how, sizeof how, " at %.0f M/s", paces[verb] / 1e6);
        else
            snprintf(how, sizeof how, reader != NULL ? " at full speed" : ", alone");
        snprintf(variant, sizeof variant, "%s%s", texts[verb], how);
        fib_print_rates(fib, variant, updates[verb], runs, "M updates/s");
        if (reader == NULL)
            continue;
        snprintf(variant, sizeof variant, "look-ups, %s%s", texts[verb], how);
        fib_print_rates(fib, variant, lookups[verb], runs, "M names/s");
    }
    return true;
}

/* Work of a core that shares nothing with look-ups, but perhaps the core's own units. */
static void count_for(uint64_t ns)
{
    const uint64_t begin = ns_of(CLOCK_MONOTONIC);
    volatile uint64_t count = 0;

    while (ns_of(CLOCK_MONOTONIC) - begin < ns)
        for (int i = 0; i < 10000; i++)
            count = count + 1;
}

/* The look-ups that updates are compared with: while this thread sleeps, and while it counts. */
static void print_undisturbed(struct fib_bench *fib, struct reader *reader)
{
    double sleeping[BENCH_RUNS_MAX], counting[BENCH_RUNS_MAX];

    for (uint32_t r = 0; r < fib->bench->frame.runs; r++) {
        struct progress before = progress_of(reader);

        (void)usleep(PHASE_US);
        sleeping[r] = lookup_rate(reader, before);
        before = progress_of(reader);
        count_for(PHASE_US * UINT64_C(1000));
        counting[r] = lookup_rate(reader, before);
    }
    fib_print_rates(fib, "look-ups, no updates", sleeping, fib->bench->frame.runs, "M names/s");
    fib_print_rates(fib, "look-ups, another core counts", counting, fib->bench->frame.runs,
                    "M names/s");
}

static bool open_reader(struct reader *reader, const struct fib_bench *fib)
{
    const struct sl_limits limits = {.max_items = FIB_CPU_BATCH, .max_bytes = UINT32_MAX};
    struct sl_fib_table *table = sl_fib_table(fib->fib);
    struct bench_names stay = fib->names;

    stay.n -= n_updated(fib);
    reader->fib = fib;
    reader->backend = sl_fib_choose(sl_fib_engine(table), SL_DEVICE_CPU, NULL);
    reader->answers.next_hop = malloc(FIB_CPU_BATCH * sizeof *reader->answers.next_hop);
    reader->answers.cap = FIB_CPU_BATCH;
    return reader->answers.next_hop != NULL &&
           bench_names_trace(&reader->trace, &stay, false, FIB_CPU_BATCHES, FIB_CPU_BATCH, false) &&
           reader->backend->open(&reader->context, table, &limits, NULL) == SL_OK;
}

static void close_reader(struct reader *reader)
{
    reader->backend->close(reader->context);
    bench_unload(&reader->trace);
    free(reader->answers.next_hop);
}

static bool update_under(struct fib_bench *fib, struct reader *reader)
{
    static const double free[2] = {0, 0};
    static const double paces[2] = {[SL_FIB_INSERT] = 1e6, [SL_FIB_DELETE] = 2e6};
    pthread_t thread;

    if (pthread_create(&thread, NULL, read_on, reader) != 0) {
        cli_error("bench: no thread for look-ups");
        return false;
    }
    bool good = pthread_getcpuclockid(thread, &reader->clock) == 0;
    if (good) {
        (void)usleep(PHASE_US);
        print_undisturbed(fib, reader);
    }
    good = good && print_verbs(fib, free, reader) && print_verbs(fib, paces, reader);
    atomic_store(&reader->stop, true);
    pthread_join(thread, NULL);
    if (atomic_load(&reader->failed))
        cli_error("bench: %s.%s failed", fib->plane, reader->backend->name);
    return good && !atomic_load(&reader->failed);
}

bool fib_update_rows(struct fib_bench *fib)
{
    static const double free[2] = {0, 0};
    struct reader reader = {.fib = fib};

    if (!print_verbs(fib, free, NULL))
        return false;
    const bool opened = open_reader(&reader, fib);
    if (!opened)
        cli_error("bench: no memory for look-ups");
    const bool good = opened && update_under(fib, &reader);
    close_reader(&reader);
    return good;
}
