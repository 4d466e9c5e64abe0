/* SPDX-License-Identifier: MIT */
/* Names that arrive at a given rate, as from queues of a network card, one queue a thread. Each
 * thread again and again puts the arrived names into a batch and has a GPU look it up, while others
 * of its batches are in flight. So a batch is as small as the machine allows. */
#include "bench_fib_stream.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/frame/team.h"
#include "cli/console.h"
#include "device/device.h"

enum {
    RATE = 300000000, /* names a second, of all threads together */
    RUN_MS = 400,
    FEEDERS_MAX = 32,
    LANES = 3,         /* batches of a thread under way */
    BATCH_MAX = 16384, /* names */
    BATCH_LEN = BATCH_MAX * 160,
    WAITS_MAX = 1 << 17, /* of one queue */
    COPY_LEN = 64        /* of a name at once: more than most have, and room behind all */
};

struct stream;

/* How long the oldest name of a batch waited: none of the others did so longer. */
struct wait {
    double us;
    uint32_t n; /* names of the batch */
};

/* A batch of a queue. */
struct lane {
    void *context;
    struct sl_batch *owned, batch; /* without items: none is under way */
    struct sl_fib_answers answers;
    size_t first;  /* name of the trace */
    double due_ns; /* when that came, since the queues' begin */
};

/* A queue, and the thread that serves it. */
struct feeder {
    struct stream *stream;
    struct lane lanes[LANES];
    size_t next, n_wrong; /* name of the trace; wrong answers */
    uint64_t n_names, n_batches;
    struct wait *waits; /* WAITS_MAX at most */
    size_t n_waits;
    uint64_t end_ns;
    bool failed;
};

struct stream {
    const struct fib_bench *fib;
    const struct bench_data *trace;
    const struct sl_fib_backend *backend;
    struct feeder feeders[FEEDERS_MAX];
    unsigned n_feeders;
    struct wait *waits;  /* of all feeders */
    double names_per_ns; /* of one queue */
    _Atomic uint64_t begin_ns;
};

/* Both begin at multiples of SL_BATCH_ALIGN and may be read beyond their ends. */
static inline void copy_name(uint8_t *to, const uint8_t *from, uint32_t len)
{
    uint32_t at = 0;

    do {
        memcpy(to + at, from + at, COPY_LEN);
        at += COPY_LEN;
    } while (at < len);
}

static void take_names(struct feeder *feeder, struct lane *lane, uint64_t n)
{
    const struct sl_batch *from = &feeder->stream->trace->batches[0];
    struct sl_batch *batch = &lane->batch;

    lane->first = feeder->next;
    for (batch->n_items = 0, batch->bytes_len = 0; batch->n_items < n; batch->n_items++) {
        const struct sl_span span = from->payload[feeder->next];

        copy_name(batch->bytes + batch->bytes_len, from->bytes + span.offset, span.len);
        batch->payload[batch->n_items] = (struct sl_span){batch->bytes_len, span.len};
        batch->bytes_len += (span.len + (SL_BATCH_ALIGN - 1)) & ~(uint32_t)(SL_BATCH_ALIGN - 1);
        feeder->next = feeder->next + 1 < from->n_items ? feeder->next + 1 : 0;
    }
}

static size_t count_wrong(const struct feeder *feeder, const struct lane *lane)
{
    const uint32_t *wanted = feeder->stream->fib->wanted[0];
    size_t n_wrong = 0, at = lane->first;

    for (uint32_t i = 0; i < lane->batch.n_items; i++) {
        n_wrong += lane->answers.next_hop[i] != wanted[at];
        at = at + 1 < feeder->stream->trace->items ? at + 1 : 0;
    }
    return n_wrong;
}

static bool begin_batch(struct feeder *feeder, struct lane *lane, uint64_t n)
{
    take_names(feeder, lane, n);
    return feeder->stream->backend->submit(lane->context, &lane->batch, &lane->answers) == SL_OK;
}

static bool end_batch(struct feeder *feeder, struct lane *lane)
{
    const uint32_t n = lane->batch.n_items;

    if (n == 0)
        return true;
    if (feeder->stream->backend->wait(lane->context) != SL_OK)
        return false;
    feeder->end_ns = clock_ns();
    const uint64_t begin = atomic_load(&feeder->stream->begin_ns);
    if (feeder->n_waits < WAITS_MAX)
        feeder->waits[feeder->n_waits++] =
            (struct wait){((double)(feeder->end_ns - begin) - lane->due_ns) / 1e3, n};
    feeder->n_wrong += count_wrong(feeder, lane);
    feeder->n_batches++;
    lane->batch.n_items = 0;
    return true;
}

static void serve(void *user, unsigned member)
{
    struct stream *stream = user;
    struct feeder *feeder = &stream->feeders[member];
    const double rate = stream->names_per_ns;
    uint64_t none = 0, now = clock_ns();
    size_t turn = 0;

    /* The first thread sets the beginning. */
    (void)atomic_compare_exchange_strong(&stream->begin_ns, &none, now);
    const uint64_t begin = atomic_load(&stream->begin_ns);
    for (; !feeder->failed && now < begin + RUN_MS * UINT64_C(1000000); turn++) {
        struct lane *lane = &feeder->lanes[turn % LANES];

        feeder->failed = !end_batch(feeder, lane);
        now = clock_ns();
        const uint64_t come = (uint64_t)((double)(now > begin ? now - begin : 0) * rate);
        const uint64_t n = come - feeder->n_names < BATCH_MAX ? come - feeder->n_names : BATCH_MAX;
        if (n == 0 || feeder->failed)
            continue;
        lane->due_ns = (double)feeder->n_names / rate;
        feeder->failed = !begin_batch(feeder, lane, n);
        feeder->n_names += n;
    }
    for (int i = 0; i < LANES && !feeder->failed; i++, turn++) /* the oldest first */
        feeder->failed = !end_batch(feeder, &feeder->lanes[turn % LANES]);
}

/* ---- open and close -------------------------------------------------------------------------- */

static bool open_lane(struct stream *stream, struct feeder *feeder, struct lane *lane,
                      struct sl_diag *diag)
{
    const struct sl_limits limits = {
        .max_items = BATCH_MAX, .max_bytes = BATCH_LEN, .device = stream->fib->bench->device.index};
    const size_t len = BATCH_MAX * sizeof(uint32_t);

    lane->answers = (struct sl_fib_answers){
        .next_hop = device_pinned_alloc(len), .cap = BATCH_MAX, .memory = SL_MEMORY_PINNED};
    if (lane->answers.next_hop == NULL ||
        sl_device_batch_create(&lane->owned, SL_DEVICE_CUDA, BATCH_LEN, BATCH_MAX, diag) != SL_OK)
        return false;
    lane->batch = *lane->owned;
    lane->batch.packet = NULL;
    lane->batch.origin = NULL;
    if (stream->backend->open(&lane->context, sl_fib_table(stream->fib->fib), &limits, diag) !=
        SL_OK)
        return false;
    /* The steps that are slow the first time. */
    const bool good =
        begin_batch(feeder, lane, BATCH_MAX / 16) && stream->backend->wait(lane->context) == SL_OK;
    lane->batch.n_items = 0;
    return good;
}

static bool open_feeder(struct stream *stream, struct feeder *feeder, struct sl_diag *diag)
{
    bool good = true;

    feeder->stream = stream;
    feeder->next = stream->trace->items / FEEDERS_MAX * stream->n_feeders;
    feeder->waits = stream->waits + (size_t)stream->n_feeders * WAITS_MAX;
    for (int i = 0; i < LANES && good; i++)
        good = open_lane(stream, feeder, &feeder->lanes[i], diag);
    return good;
}

static void close_feeder(const struct stream *stream, struct feeder *feeder)
{
    for (int i = 0; i < LANES; i++) {
        struct lane *lane = &feeder->lanes[i];

        stream->backend->close(lane->context);
        sl_batch_free(lane->owned);
        device_pinned_free(lane->answers.next_hop);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int compare_waits(const void *left, const void *right)
{
    const double a = ((const struct wait *)left)->us, b = ((const struct wait *)right)->us;

    return a < b ? -1 : a > b;
}

/* The wait that so many of the names do not exceed. */
static double wait_of(const struct wait *waits, size_t n, uint64_t names)
{
    uint64_t sum = 0;
    size_t i = 0;

    while (i + 1 < n && (sum += waits[i].n) < names)
        i++;
    return waits[i].us;
}

static bool check(const struct stream *stream)
{
    for (unsigned i = 0; i < stream->n_feeders; i++) {
        const struct feeder *feeder = &stream->feeders[i];

        if (feeder->failed || feeder->n_wrong != 0 || feeder->n_batches == 0) {
            cli_error("bench: %s: %zu wrong answers%s", stream->backend->name, feeder->n_wrong,
                      feeder->failed ? ", and it failed" : "");
            return false;
        }
    }
    return true;
}

static void print_stream(const struct stream *stream)
{
    struct wait *all = stream->waits;
    uint64_t names = 0, batches = 0, waited = 0, end = 0;
    size_t n = 0;
    char variant[96];

    for (unsigned i = 0; i < stream->n_feeders; i++) {
        const struct feeder *feeder = &stream->feeders[i];

        memmove(all + n, feeder->waits, feeder->n_waits * sizeof *all);
        n += feeder->n_waits;
        names += feeder->n_names;
        batches += feeder->n_batches;
        end = feeder->end_ns > end ? feeder->end_ns : end;
    }
    qsort(all, n, sizeof *all, compare_waits);
    for (size_t i = 0; i < n; i++)
        waited += all[i].n;
    snprintf(variant, sizeof variant, "%s, as they come, %u cores, %.0f each",
             stream->backend->name, stream->n_feeders, (double)names / (double)batches);
    const double rate = (double)names * 1e9 / (double)(end - atomic_load(&stream->begin_ns));
    const struct bench_row row = {.what = stream->fib->plane,
                                  .variant = variant,
                                  .data = stream->trace->text,
                                  .rate = {.median = rate, .min = rate, .max = rate},
                                  .unit = 1e6,
                                  .unit_name = "M names/s",
                                  .ceiling = RATE,
                                  .ceiling_of = "that came",
                                  .p50_us = wait_of(all, n, waited / 2),
                                  .p99_us = wait_of(all, n, waited - waited / 100)};
    bench_print(&stream->fib->bench->frame, &row);
}

static bool measure(const struct fib_bench *fib, const struct bench_data *trace,
                    const struct sl_fib_backend *backend, unsigned n)
{
    struct sl_diag diag = {.text = "no memory for queues"};
    struct stream stream = {
        .fib = fib, .trace = trace, .backend = backend, .names_per_ns = RATE / 1e9 / n};
    struct bench_team *team = NULL;

    stream.waits = malloc(n * WAITS_MAX * sizeof *stream.waits);
    bool good = stream.waits != NULL;

    for (; stream.n_feeders < n && good; stream.n_feeders++)
        good = open_feeder(&stream, &stream.feeders[stream.n_feeders], &diag);
    if (!good)
        cli_diag(&diag);
    else
        good = (team = bench_team_start(n, serve, &stream)) != NULL;
    if (good) {
        bench_team_run(team);
        good = check(&stream);
    }
    if (good)
        print_stream(&stream);
    bench_team_stop(team);
    for (unsigned i = 0; i < stream.n_feeders; i++)
        close_feeder(&stream, &stream.feeders[i]);
    free(stream.waits);
    return good;
}

bool fib_stream_rows(const struct fib_bench *fib, const struct bench_data *trace,
                     const struct sl_fib_backend *backend)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    for (unsigned n = 4; n <= FEEDERS_MAX && n <= cores; n += 4)
        if (!measure(fib, trace, backend, n))
            return false;
    return true;
}
