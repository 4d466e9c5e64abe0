/* SPDX-License-Identifier: MIT */
/* sluice decode: what sluice encode wrote, bit for bit. */
#include "cli.h"
#include "file_pair.h"
#include "options.h"
#include "sluice/redundancy.h"

static const char usage[] =
    "usage: sluice decode [OPTION...] IN OUT\n\n"
    "Writes to OUT the file that sluice encode made IN of. '-' is standard input or output.\n"
    "Only what has been checked is written; where a frame is damaged or missing, it is named,\n"
    "all before it has been written, and the exit status is 2. Where nothing could be decoded OUT\n"
    "is as it was.\n\n"
    "  --quiet           no progress\n";

static void print_failure(const struct file_pair *files, enum sl_status status, uint64_t bytes_out,
                          const struct sl_diag *diag)
{
    char text[32], safe[512], reason[600];

    if (status == SL_EIO)
        file_pair_print_refusal(files, diag);
    else if (!files->begun)
        cli_error("%s: %s; nothing was written", cli_printable(files->in_path, safe, sizeof safe),
                  cli_printable(diag->text, reason, sizeof reason));
    else
        cli_error("%s: %s; the %s bytes before it were written",
                  cli_printable(files->in_path, safe, sizeof safe),
                  cli_printable(diag->text, reason, sizeof reason), cli_count(bytes_out, text));
}

static int decode(struct file_pair *files, bool quiet)
{
    struct sl_redundancy_file_config config;
    struct sl_redundancy_file_stats stats;
    struct sl_diag diag = {0};
    int exit_status = EXIT_FAILED;

    if (file_pair_open(files, quiet)) {
        sl_redundancy_file_config_init(&config);
        config.progress = file_pair_progress;
        config.user = files;
        const enum sl_status status =
            sl_redundancy_decode_file(files->in, files->out, &config, &stats, &diag);
        file_pair_end(files);
        if (status == SL_OK)
            exit_status = EXIT_DONE;
        else
            print_failure(files, status, stats.bytes_out, &diag);
    }
    return file_pair_close(files) ? exit_status : EXIT_FAILED;
}

int command_decode(int argc, char **argv)
{
    static const struct option known[] = {
        {"quiet", no_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'}, {0}};
    struct cli_options options = {.command = "decode", .letters = "hq", .names = known};
    struct file_pair files = {0};
    bool quiet = false;
    int option;

    while ((option = cli_next_option(&options, argc, argv)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_DONE;
        }
        if (option != 'q')
            return EXIT_FAILED;
        quiet = true;
    }
    if (argc - optind != 2) {
        cli_error("%d files were named (usage: sluice decode [OPTION...] IN OUT)", argc - optind);
        return EXIT_FAILED;
    }
    files.in_path = argv[optind];
    files.out_path = argv[optind + 1];
    return decode(&files, quiet);
}
