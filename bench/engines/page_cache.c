/* SPDX-License-Identifier: MIT */
#include "page_cache.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/frame/row.h"
#include "bench/frame/team.h"
#include "cli/console.h"

enum { BLOCK_LEN = 4 << 20 /* as a run reads a file */ };

struct reading {
    int fd;
    uint64_t len;
    unsigned cores;
    uint8_t *blocks; /* one a core */
    struct bench_team *team;
    atomic_uint_fast64_t next;
};

/* Takes one block after another. */
static void read_blocks(void *user, unsigned member)
{
    struct reading *reading = user;
    uint8_t *block = reading->blocks + (size_t)member * BLOCK_LEN;

    for (;;) {
        const uint64_t at = atomic_fetch_add(&reading->next, BLOCK_LEN);

        if (at >= reading->len || pread(reading->fd, block, BLOCK_LEN, (off_t)at) <= 0)
            return;
    }
}

static double read_file(void *user)
{
    struct reading *reading = user;

    reading->next = 0;
    bench_team_run(reading->team);
    return (double)reading->len;
}

static void print(const struct bench *bench, const struct reading *reading,
                  const struct bench_rate *rate)
{
    char variant[64], data[64], bytes[32];

    snprintf(variant, sizeof variant, "page cache, %u core%s", reading->cores,
             reading->cores == 1 ? "" : "s");
    snprintf(data, sizeof data, "%s of a file", cli_bytes((double)reading->len, bytes));
    const struct bench_row row = {.what = "ceiling",
                                  .variant = variant,
                                  .data = data,
                                  .rate = *rate,
                                  .unit = 1e9,
                                  .unit_name = "GB/s",
                                  .role = BENCH_CEILING,
                                  .series = "page cache",
                                  .cores = reading->cores};
    bench_print(&bench->frame, &row);
}

bool bench_page_cache(const struct bench *bench, const char *path, unsigned cores, double *median)
{
    struct reading reading = {.fd = open(path, O_RDONLY | O_CLOEXEC), .cores = cores};
    struct stat status;
    bool good = reading.fd >= 0 && fstat(reading.fd, &status) == 0;

    reading.blocks = malloc((size_t)cores * BLOCK_LEN);
    if (!good || reading.blocks == NULL)
        cli_error("%s: cannot be measured", path);
    good = good && reading.blocks != NULL &&
           (reading.team = bench_team_start(cores, read_blocks, &reading)) != NULL;
    if (good) {
        reading.len = (uint64_t)status.st_size;
        const struct bench_rate rate = bench_measure(bench->frame.runs, read_file, &reading);

        *median = rate.median;
        print(bench, &reading, &rate);
    }
    bench_team_stop(reading.team);
    free(reading.blocks);
    if (reading.fd >= 0)
        close(reading.fd);
    return good;
}
