/* SPDX-License-Identifier: MIT */
/* The machine's ceilings: reading and copying memory, and going to places at random. */
#include "bench_ceilings.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cpu.h"
#include "bench/frame/team.h"
#include "cli/console.h"
#include "device/device.h"

enum {
    LINE_LEN = 64,       /* bytes */
    ALIGN = 512,         /* of the parts that cores sweep */
    IN_FLIGHT = 16,      /* chains that one core follows side by side: as many as it has room for */
    STEPS = 200000,      /* of each chain a run */
    SWEPT_LEN = 1 << 30, /* bytes a run, about */
    RANDOM_LOG_LEN = 29, /* 512 MiB, more than caches hold of it */
    AREA_MIN = 64 << 20  /* to sweep: less would be a cache's rate */
};

/* Cores that go over one area. */
struct sweep {
    const struct bench_sweep *with;
    uint8_t *from, *to; /* to NULL: reading */
    size_t len;
    unsigned n_chains; /* 0: sweeping, else that many chains a core of the lines in `from` */
    struct bench_team *team;
    unsigned n_cores;
    unsigned n_repeats; /* of a sweep: a run lasts long beside what beginning it takes */
};

void bench_choose_cores(struct bench_ceilings *ceilings)
{
    const unsigned all = cpu_cores();
    unsigned cores = 1;

    ceilings->n = 0;
    while (cores < all && ceilings->n < BENCH_CORES_MAX - 1) {
        ceilings->cores[ceilings->n++] = cores;
        cores = all <= 4 ? cores + 1 : cores * 2;
    }
    ceilings->cores[ceilings->n++] = all;
}

static size_t part_len(const struct sweep *sweep)
{
    return sweep->len / sweep->n_cores / ALIGN * ALIGN;
}

static void sweep_part(struct sweep *sweep, unsigned member)
{
    const size_t part = part_len(sweep);
    const size_t first = part * member;
    volatile uint64_t sum = 0;

    for (unsigned n = 0; n < sweep->n_repeats; n++) {
        if (sweep->to != NULL)
            sweep->with->copy(sweep->to + first, sweep->from + first, part);
        else
            sum = sweep->with->read(sweep->from + first, part);
    }
    (void)sum;
}

/* Each line holds the number of the next: a chain's next load waits for the one before. */
static void follow_chains(struct sweep *sweep, unsigned member)
{
    const uint64_t n_lines = sweep->len / LINE_LEN;
    const unsigned n = sweep->n_chains;
    uint64_t at[IN_FLIGHT];
    volatile uint64_t sum = 0;

    for (unsigned c = 0; c < n; c++)
        at[c] = n_lines / (sweep->n_cores * n) * (member * n + c);
    for (unsigned step = 0; step < STEPS; step++)
        for (unsigned c = 0; c < n; c++)
            memcpy(&at[c], sweep->from + at[c] * LINE_LEN, sizeof at[c]);
    for (unsigned c = 0; c < n; c++)
        sum += at[c];
    (void)sum;
}

static void job(void *user, unsigned member)
{
    struct sweep *sweep = user;

    if (sweep->n_chains != 0)
        follow_chains(sweep, member);
    else
        sweep_part(sweep, member);
}

static double sweep_once(void *user)
{
    struct sweep *sweep = user;

    bench_team_run(sweep->team);
    if (sweep->n_chains != 0)
        return (double)sweep->n_cores * sweep->n_chains * STEPS;
    return (double)part_len(sweep) * sweep->n_cores * sweep->n_repeats;
}

static const struct bench_sweep *choose_sweep(void)
{
    return cpu_level() == CPU_AVX512 ? &bench_sweep_avx512
           : cpu_level() == CPU_AVX2 ? &bench_sweep_avx2
                                     : &bench_sweep_scalar;
}

/* A row, and its rate in *median. */
static bool print_sweep(struct sweep *sweep, const struct bench *bench, const char *series,
                        double *median)
{
    const double unit = sweep->n_chains != 0 ? 1e6 : 1e9;
    char variant[64], data[64], bytes[32];

    sweep->team = bench_team_start(sweep->n_cores, job, sweep);
    if (sweep->team == NULL)
        return false;
    const struct bench_rate rate = bench_measure(bench->frame.runs, sweep_once, sweep);
    bench_team_stop(sweep->team);
    *median = rate.median;
    snprintf(variant, sizeof variant, "%s, %u core%s", series, sweep->n_cores,
             sweep->n_cores == 1 ? "" : "s");
    snprintf(data, sizeof data, "%s of memory", cli_bytes((double)sweep->len, bytes));
    const struct bench_row row = {.what = "ceiling",
                                  .variant = variant,
                                  .data = data,
                                  .rate = rate,
                                  .unit = unit,
                                  .unit_name = sweep->n_chains != 0 ? "M reads/s" : "GB/s",
                                  .role = BENCH_CEILING,
                                  .series = series,
                                  .cores = sweep->n_cores};
    bench_print(&bench->frame, &row);
    return true;
}

static uint8_t *take_area(size_t len)
{
    uint8_t *area =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (area == MAP_FAILED) {
        cli_error("no memory for %zu bytes to measure with", len);
        return NULL;
    }
    (void)madvise(area, len, MADV_HUGEPAGE); /* as large tables have them, where there are any */
    return area;
}

static bool measure_sweeps(struct bench_ceilings *ceilings, const struct bench *bench, size_t len)
{
    struct sweep sweep = {.with = choose_sweep(),
                          .len = (len > AREA_MIN ? len : AREA_MIN) / ALIGN * ALIGN};
    uint8_t *to = take_area(sweep.len);
    bool good = to != NULL && (sweep.from = take_area(sweep.len)) != NULL;

    if (good) {
        memset(sweep.from, 1, sweep.len);
        memset(to, 1, sweep.len);
    }
    for (unsigned i = 0; i < ceilings->n && good; i++) {
        sweep.n_cores = ceilings->cores[i];
        sweep.n_repeats = (unsigned)(SWEPT_LEN / sweep.len) * sweep.n_cores + 1;
        sweep.to = NULL;
        good = print_sweep(&sweep, bench, "memory read", &ceilings->read[i]);
        sweep.to = to;
        good = good && print_sweep(&sweep, bench, "memory copy", &ceilings->copy[i]);
    }
    if (sweep.from != NULL)
        munmap(sweep.from, sweep.len);
    if (to != NULL)
        munmap(to, sweep.len);
    return good;
}

/* The chain is a generator of full period modulo the lines (Hull and Dobell: an odd step, a factor
 * of 4k + 1). It goes through all lines, and is written from the first to the last. */
static void lay_chain(uint8_t *area, uint64_t n_lines)
{
    for (uint64_t i = 0; i < n_lines; i++) {
        const uint64_t next =
            (i * UINT64_C(2862933555777941757) + UINT64_C(3037000493)) & (n_lines - 1);

        memcpy(area + i * LINE_LEN, &next, sizeof next);
    }
}

static bool measure_random(const struct bench_ceilings *ceilings, const struct bench *bench)
{
    struct sweep sweep = {.len = (size_t)1 << RANDOM_LOG_LEN};
    char in_flight[48];
    double median;
    bool good = (sweep.from = take_area(sweep.len)) != NULL;

    if (!good)
        return false;
    lay_chain(sweep.from, sweep.len / LINE_LEN);
    snprintf(in_flight, sizeof in_flight, "random reads, %d in flight", IN_FLIGHT);
    for (unsigned i = 0; i < ceilings->n && good; i++) {
        sweep.n_cores = ceilings->cores[i];
        sweep.n_chains = 1;
        good = print_sweep(&sweep, bench, "random reads, dependent", &median);
        sweep.n_chains = IN_FLIGHT;
        good = good && print_sweep(&sweep, bench, in_flight, &median);
    }
    munmap(sweep.from, sweep.len);
    return good;
}

/* ---- the GPU --------------------------------------------------------------------------------- */

struct on_device {
    struct device_ceilings *at;
    enum device_ceiling what;
    size_t block_len;
};

static double rate_on_device(void *user)
{
    const struct on_device *on = user;

    return device_ceiling(on->at, on->what, on->block_len);
}

/* The link, its blocks, and the device's memory; *link is the first row's rate. */
static void print_device(const struct bench *bench, struct device_ceilings *at, double *link)
{
    static const struct {
        const char *variant;
        enum device_ceiling what;
        size_t block_mib; /* of the link */
    } rows[] = {{"link to the GPU", DEVICE_LINK_TO, 16},
                {"link to the GPU, 4 MiB", DEVICE_LINK_TO, 4},
                {"link back", DEVICE_LINK_BACK, 16},
                {"link back, 4 MiB", DEVICE_LINK_BACK, 4},
                {"link, each way of both at once", DEVICE_LINK_BOTH, 16},
                {"GPU's memory read", DEVICE_MEMORY_READ, 0},
                {"GPU's memory copy", DEVICE_MEMORY_COPY, 0},
                {"GPU's random reads of 16 bytes", DEVICE_MEMORY_RANDOM, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct on_device on = {at, rows[i].what, rows[i].block_mib << 20};
        const bool random = rows[i].what == DEVICE_MEMORY_RANDOM;
        char data[64] = "1.0 GiB of its memory";

        if (on.block_len != 0)
            snprintf(data, sizeof data, "pinned blocks of %zu MiB", rows[i].block_mib);
        const struct bench_row row = {.what = "ceiling",
                                      .variant = rows[i].variant,
                                      .data = data,
                                      .rate = bench_rates(bench->frame.runs, rate_on_device, &on),
                                      .unit = random ? 1e6 : 1e9,
                                      .unit_name = random ? "M reads/s" : "GB/s",
                                      .role = BENCH_CEILING,
                                      .series = rows[i].variant};
        if (row.rate.min > 0)
            bench_print(&bench->frame, &row);
        else
            bench_print_why(&bench->frame, "ceiling", rows[i].variant, "cannot be measured");
        if (i == 0)
            *link = row.rate.median;
    }
}

void bench_measure_device(struct bench_ceilings *ceilings, const struct bench *bench)
{
    struct device_ceilings *at = device_ceilings_open(bench->device.index);

    if (at != NULL)
        print_device(bench, at, &ceilings->link);
    else
        bench_print_why(&bench->frame, "ceiling", "link to the GPU", "cannot be measured");
    device_ceilings_close(at);
}

bool bench_measure_ceilings(struct bench_ceilings *ceilings, const struct bench *bench,
                            size_t bytes_len)
{
    if (!measure_sweeps(ceilings, bench, bytes_len) || !measure_random(ceilings, bench))
        return false;
    ceilings->link = 0;
    if (bench->device.kind == SL_DEVICE_CUDA)
        bench_measure_device(ceilings, bench);
    return true;
}
