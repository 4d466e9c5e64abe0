/* SPDX-License-Identifier: MIT */
/* Whole runs, from the page cache to events that go nowhere: with each engine alone, with four and
 * with all, on one core up to all and on each GPU, beside the rates of the page cache, the link and
 * the GPU's memory. The time of a start is left out: bench_start.c has it. */
#include "benchmarks.h"
#include "run_places.h"

enum { LEN_DEFAULT = 500000000 };

static bool measure_sets(struct run_places *places)
{
    static const struct {
        const char *name;
        unsigned asked;
    } sets[] = {{"nothing", 0},
                {"header checks", RUN_HEADERS},
                {"rules", RUN_RULES},
                {"viruses", RUN_VIRUSES},
                {"names", RUN_NAMES},
                {"redundancy", RUN_REDUNDANCY},
                {"four", RUN_ALL & ~RUN_REDUNDANCY},
                {"all five", RUN_ALL}};
    bool good = true;

    for (size_t i = 0; i < sizeof sets / sizeof *sets && good; i++)
        good = run_places_measure(places, sets[i].name, sets[i].asked);
    return good;
}

static bool measure_captures(struct run_places *places, uint64_t bytes_len)
{
    const struct bench_input *input = &places->parts->input;
    const bool recorded = input->n_paths != 0;
    const bool good = (recorded ? bench_repeat_captures(places->path, input, bytes_len)
                                : bench_generate_traffic(places->path, BENCH_MIXED, bytes_len));

    places->data = recorded ? "recorded" : "generated, lengths as recorded";
    return good && run_places_measure_ceilings(places) && measure_sets(places);
}

static bool measure_long_packets(struct run_places *places, uint64_t bytes_len)
{
    const bool good = bench_generate_traffic(places->path, BENCH_EVEN, bytes_len);

    places->data = "generated, 800 bytes a packet";
    return good && run_places_measure(places, "all five, 800 bytes", RUN_ALL);
}

bool bench_runs(const struct bench *bench)
{
    const uint64_t bytes_len = bench->bytes != 0 ? bench->bytes : LEN_DEFAULT;
    struct run_parts parts;
    struct run_places places = {.bench = bench, .parts = &parts, .what = "run"};
    bool good = run_parts_open(&parts, bench);

    run_places_choose(&places);
    good = good && measure_captures(&places, bytes_len);
    run_places_remove(&places);
    good = good && measure_long_packets(&places, bytes_len);
    run_places_remove(&places);
    run_parts_close(&parts);
    return good;
}
