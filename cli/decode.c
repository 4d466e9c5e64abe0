/* SPDX-License-Identifier: MIT */
/* sluice decode: what sluice encode wrote, bit for bit. */
#include <stdio.h>

#include "base/clock.h"
#include "cache_option.h"
#include "cli.h"
#include "file_pair.h"
#include "options.h"
#include "sluice/redundancy.h"

static const char usage[] =
    "usage: sluice decode [OPTION...] IN OUT\n\n"
    "Writes to OUT the file that sluice encode made IN of, or the files where IN is several one\n"
    "after another. '-' is standard input or output; each frame is written as it comes.\n"
    "OUT appears when it is whole. Where a frame of IN is damaged or missing, it is named, and "
    "the\n"
    "exit status is 2. What comes before it is then in OUT, or in OUT.partial where OUT was "
    "there.\n\n"
    "  --cache FILE      go on with the cache that FILE holds, and leave it there for the next "
    "run\n"
    "  -f, --force       overwrite OUT; without it a file that is there is kept, or you are asked\n"
    "  --max-output N    an output of more bytes is an error, and OUT is as it was; bytes, or "
    "with\n"
    "                    K, M or G (no limit)\n"
    "  --threads N       that decode a file, 0: one a core (0)\n"
    "  -q, --quiet       no progress, no summary and no question\n";

static void print_summary(const struct sl_redundancy_file_stats *stats, double seconds)
{
    const double in = stats->bytes_in > 0 ? (double)stats->bytes_in : 1;
    const double out = (double)stats->bytes_out;
    char from[32], to[32], rate[32];

    fprintf(stderr, "%s to %s (%.2f times as much), %s/s\n", cli_bytes(in, from),
            cli_bytes(out, to), out / in, cli_bytes(out / (seconds > 0 ? seconds : 1), rate));
}

/* After the output was closed. */
static void print_failure(const struct file_pair *files, enum file_pair_end end, uint64_t bytes_out,
                          const struct sl_diag *diag)
{
    const char *const in = files->in_path, *const reason = diag->text;
    char text[32];

    (void)cli_count(bytes_out, text);
    if (bytes_out == 0 || (files->makes && end == FILE_PAIR_NOTHING))
        cli_error("%s: %s; nothing was written", in, reason);
    else if (files->makes && files->file.replaces)
        cli_error("%s: %s; the %s bytes before it were written to %s", in, reason, text,
                  files->file.path);
    else
        cli_error("%s: %s; the %s bytes before it were written", in, reason, text);
}

/* The part of the output that is kept. A damaged input has a part; a full disk and a limit have
 * none. */
static enum file_pair_end end_of(enum sl_status status, uint64_t bytes_out)
{
    if (status == SL_OK)
        return FILE_PAIR_WHOLE;
    return status != SL_EIO && status != SL_EOVERFLOW && bytes_out > 0 ? FILE_PAIR_PART
                                                                       : FILE_PAIR_NOTHING;
}

static int decode(struct file_pair *files, struct kept_cache *cache,
                  struct sl_redundancy_file_config *config)
{
    struct sl_redundancy_file_stats stats;
    struct sl_diag diag = {0};

    if (!kept_cache_open(cache, config))
        return EXIT_FAILED;
    if (!file_pair_open(files)) {
        kept_cache_close(cache, false);
        return EXIT_FAILED;
    }
    config->progress = file_pair_progress;
    config->user = files;
    const enum sl_status status =
        sl_redundancy_decode_file(files->in, files->out, config, &stats, &diag);
    const enum file_pair_end end = end_of(status, stats.bytes_out);

    file_pair_end(files);
    const bool closed = file_pair_close(files, end);
    if (!kept_cache_close(cache, closed && status == SL_OK) || !closed)
        return EXIT_FAILED;
    if (status == SL_EIO)
        file_pair_print_refusal(files, &diag);
    else if (status != SL_OK)
        print_failure(files, end, stats.bytes_out, &diag);
    else if (files->shows)
        print_summary(&stats, (double)(clock_ns() - files->begin_ns) / 1e9);
    return status == SL_OK ? EXIT_DONE : EXIT_FAILED;
}

static bool set_option(struct file_pair *files, struct kept_cache *cache,
                       struct sl_redundancy_file_config *config, int option)
{
    unsigned long number;

    switch (option) {
    case 'c':
        cache->path = optarg;
        return true;
    case 'f':
        files->force = true;
        return true;
    case 'q':
        files->quiet = true;
        return true;
    case 'm':
        if (cli_parse_bytes(optarg, &config->output_max) && config->output_max > 0)
            return true;
        cli_error("--max-output '%s' (expected bytes, or with K, M or G)", optarg);
        return false;
    case 't':
        if (!cli_parse_number_of("--threads", optarg, 0, SL_REDUNDANCY_THREADS_MAX, "", &number))
            return false;
        config->n_threads = (uint32_t)number;
        return true;
    default:
        return false;
    }
}

int command_decode(int argc, char **argv)
{
    static const struct option known[] = {{"cache", required_argument, NULL, 'c'},
                                          {"force", no_argument, NULL, 'f'},
                                          {"max-output", required_argument, NULL, 'm'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct cli_options options = {.command = "decode", .letters = "fhq", .names = known};
    struct sl_redundancy_file_config config;
    struct file_pair files = {0};
    struct kept_cache cache = {0};
    int option;

    sl_redundancy_file_config_init(&config);
    while ((option = cli_next_option(&options, argc, argv)) != -1) {
        if (option == 'h' || !set_option(&files, &cache, &config, option))
            return cli_end(option, usage);
    }
    if (argc - optind != 2) {
        cli_error("%d files were named (usage: sluice decode [OPTION...] IN OUT)", argc - optind);
        return EXIT_FAILED;
    }
    files.in_path = argv[optind];
    files.out_path = argv[optind + 1];
    return decode(&files, &cache, &config);
}
