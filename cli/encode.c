/* SPDX-License-Identifier: MIT */
/* sluice encode: a capture, or any file, without its repeats. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cache_option.h"
#include "cli.h"
#include "file_pair.h"
#include "options.h"
#include "sluice/device.h"
#include "sluice/redundancy.h"

static const char usage[] =
    "usage: sluice encode [OPTION...] IN OUT\n\n"
    "Writes IN, a capture or any other file, to OUT without what it repeats; sluice decode\n"
    "gives it back bit for bit. '-' is standard input or output.\n\n"
    "  --sampler NAME    which positions are remembered: %s (default %s)\n"
    "  --period P        one position in P bytes (default %u)\n"
    "  --window W        bytes that are compared at a position (default %u)\n"
    "  --cache N         how far back repeats are found, in bytes, or with K, M or G "
    "(default %s);\n"
    "                    decoding needs as much memory\n"
    "  --cache FILE      go on with the cache that FILE holds, and leave it there for the next "
    "run;\n"
    "                    decode takes the same option; a FILE whose name begins with a digit is "
    "./FILE\n"
    "  --flush           write what is read at once, line by line where lines come so\n"
    "  --level N         zstd's level for what is left, 1 to %d (default %d)\n"
    "  --no-zstd         leave what is left as it is\n"
    "  --threads N       that work, 0: one a core (0)\n"
    "  --device D        auto, cpu, cuda or cuda:N (cpu): who finds repeats; zstd is the CPU's\n"
    "  -f, --force       overwrite OUT; without it a file that is there is kept, or you are asked\n"
    "  -q, --quiet       no progress, no summary and no question\n\n"
    "OUT appears when it is whole. Where encoding fails OUT is as it was.\n";

enum { LEVEL, NO_ZSTD, PERIOD, N_GIVEN }; /* options that exclude others */

struct options {
    struct sl_redundancy_file_config config;
    struct file_pair files;
    struct kept_cache cache;
    const char *device;
    bool given[N_GIVEN];
};

static void print_usage(void)
{
    struct sl_redundancy_file_config config;
    char samplers[256] = "", cache[32];

    sl_redundancy_file_config_init(&config);
    for (size_t i = 0, n = 0; sl_samplers()[i] != NULL; i++)
        n += (size_t)snprintf(samplers + n, n < sizeof samplers ? sizeof samplers - n : 0, "%s%s",
                              i > 0 ? ", " : "", sl_samplers()[i]);
    snprintf(cache, sizeof cache, "%lluM", (unsigned long long)(config.cache_len >> 20));
    printf(usage, samplers, config.sampling.sampler, config.sampling.period, config.sampling.window,
           cache, SL_REDUNDANCY_LEVEL_MAX, config.level);
}

/* A length, a file, or a length, a comma and a file. A length begins with a digit. */
static bool set_cache(struct options *options)
{
    char *const comma = strchr(optarg, ',');

    if (!isdigit((unsigned char)optarg[0])) {
        options->cache.path = optarg;
        return true;
    }
    if (comma != NULL) {
        *comma = '\0';
        options->cache.path = comma + 1;
    }
    if (cli_parse_bytes(optarg, &options->config.cache_len))
        return true;
    cli_error("--cache '%s' (expected bytes, or with K, M or G)", optarg);
    return false;
}

static bool set_option(struct options *options, int option)
{
    uint64_t number;

    switch (option) {
    case 's':
        options->config.sampling.sampler = optarg;
        return true;
    case 'p':
        if (!cli_parse_number_of("--period", optarg, 1, SL_SAMPLING_PERIOD_MAX, "", &number))
            return false;
        options->config.sampling.period = (uint32_t)number;
        options->given[PERIOD] = true;
        return true;
    case 'w':
        if (!cli_parse_number_of("--window", optarg, SL_SAMPLING_WINDOW_MIN, SL_SAMPLING_WINDOW_MAX,
                                 "", &number))
            return false;
        options->config.sampling.window = (uint32_t)number;
        return true;
    case 'c':
        return set_cache(options);
    case 'u':
        options->config.flush = true;
        return true;
    case 'l':
        if (!cli_parse_number_of("--level", optarg, 1, SL_REDUNDANCY_LEVEL_MAX, "", &number))
            return false;
        options->config.level = (int)number;
        options->given[LEVEL] = true;
        return true;
    case 'n':
        options->config.level = 0;
        options->given[NO_ZSTD] = true;
        return true;
    case 't':
        if (!cli_parse_number_of("--threads", optarg, 0, SL_REDUNDANCY_THREADS_MAX, "", &number))
            return false;
        options->config.n_threads = (uint32_t)number;
        return true;
    case 'd':
        options->device = optarg;
        return true;
    case 'f':
        options->files.force = true;
        return true;
    case 'q':
        options->files.quiet = true;
        return true;
    default:
        return false;
    }
}

/* An option that another takes the effect of is a misunderstanding. */
static bool check_options(const struct options *options)
{
    const bool every = strcmp(options->config.sampling.sampler, "every") == 0;

    if (options->given[LEVEL] && options->given[NO_ZSTD])
        cli_error("--level and --no-zstd exclude one another");
    else if (options->given[PERIOD] && every)
        cli_error("--period has no effect on the sampler every");
    else
        return true;
    return false;
}

static void print_summary(const struct sl_redundancy_file_stats *stats, double seconds)
{
    const double in = stats->bytes_in > 0 ? (double)stats->bytes_in : 1;
    char from[32], to[32], frames[32], rate[32];

    fprintf(stderr, "%s to %s (%.1f %%), %.1f %% found again, %s frames, %s/s\n",
            cli_bytes((double)stats->bytes_in, from), cli_bytes((double)stats->bytes_out, to),
            100 * (double)stats->bytes_out / in, 100 * (double)stats->match.matched_bytes / in,
            cli_count(stats->frames, frames), cli_bytes(in / (seconds > 0 ? seconds : 1), rate));
}

/* `auto` is the CPU: zstd is the CPU's in any case, and a GPU's start outlasts what it saves. */
static bool choose_device(struct options *options)
{
    const char *const name = strcmp(options->device, "auto") == 0 ? "cpu" : options->device;
    struct sl_device device;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];

    if (sl_device_choose(&device, name, why, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    options->config.whole_batches = device.kind == SL_DEVICE_CUDA;
    options->config.kind = device.kind;
    options->config.device = device.index;
    if (!options->config.whole_batches || (!options->config.flush && options->cache.path == NULL))
        return true;
    cli_error("--flush and --cache FILE are not with --device cuda");
    return false;
}

static int encode(struct options *options)
{
    struct file_pair *const files = &options->files;
    struct sl_redundancy_file_stats stats;
    struct sl_diag diag = {0};

    if (!kept_cache_open(&options->cache, &options->config))
        return EXIT_FAILED;
    if (!file_pair_open(files)) {
        kept_cache_close(&options->cache, false);
        return EXIT_FAILED;
    }
    options->config.progress = file_pair_progress;
    options->config.user = files;
    const enum sl_status status =
        sl_redundancy_encode_file(files->in, files->out, &options->config, &stats, &diag);
    file_pair_end(files);
    if (status == SL_EIO)
        file_pair_print_refusal(files, &diag);
    else if (status != SL_OK)
        cli_diag(&diag);
    const bool closed =
        file_pair_close(files, status == SL_OK ? FILE_PAIR_WHOLE : FILE_PAIR_NOTHING);
    if (!kept_cache_close(&options->cache, closed && status == SL_OK) || !closed || status != SL_OK)
        return EXIT_FAILED;
    if (files->shows)
        print_summary(&stats, (double)(clock_ns() - files->begin_ns) / 1e9);
    return EXIT_DONE;
}

int command_encode(int argc, char **argv)
{
    static const struct option known[] = {{"sampler", required_argument, NULL, 's'},
                                          {"period", required_argument, NULL, 'p'},
                                          {"window", required_argument, NULL, 'w'},
                                          {"cache", required_argument, NULL, 'c'},
                                          {"flush", no_argument, NULL, 'u'},
                                          {"level", required_argument, NULL, 'l'},
                                          {"no-zstd", no_argument, NULL, 'n'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"force", no_argument, NULL, 'f'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct cli_options parser = {.command = "encode", .letters = "fhq", .names = known};
    struct options options = {.device = "cpu"};
    int option;

    sl_redundancy_file_config_init(&options.config);
    while ((option = cli_next_option(&parser, argc, argv)) != -1) {
        if (option == 'h') {
            print_usage();
            return EXIT_DONE;
        }
        if (!set_option(&options, option))
            return EXIT_FAILED;
    }
    if (argc - optind != 2) {
        cli_error("%d files were named (usage: sluice encode [OPTION...] IN OUT)", argc - optind);
        return EXIT_FAILED;
    }
    if (!check_options(&options) || !choose_device(&options))
        return EXIT_FAILED;
    options.files.in_path = argv[optind];
    options.files.out_path = argv[optind + 1];
    return encode(&options);
}
