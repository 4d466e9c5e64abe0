/* SPDX-License-Identifier: MIT */
/* sluice decode: what sluice encode wrote, bit for bit. */
#include <getopt.h>
#include <inttypes.h>
#include <unistd.h>

#include "cli.h"
#include "encode.h"
#include "sluice/redundancy.h"

static const char usage[] =
    "usage: sluice decode [OPTION...] IN OUT\n\n"
    "Writes to OUT the file that sluice encode made IN of. '-' is standard input or output.\n"
    "Only what has been checked is written; where a frame is damaged or missing, it is named,\n"
    "all before it has been written, and the exit status is 2.\n\n"
    "  --quiet           no progress\n";

struct decoding {
    const struct file_pair *files;
    struct byte_progress progress;
    bool has_begun, is_cut;
};

/* What the output had before is given up when the first frame has passed its checks. */
static void show(void *user, uint64_t bytes_in, uint64_t bytes_out)
{
    struct decoding *const decoding = (struct decoding *)user;

    if (!decoding->has_begun)
        decoding->is_cut = file_pair_cut(decoding->files, bytes_out);
    decoding->has_begun = true;
    byte_progress_show(&decoding->progress, bytes_in, bytes_out);
}

static int decode(struct file_pair *files, bool quiet)
{
    struct sl_redundancy_file_config config;
    struct sl_redundancy_file_stats stats;
    struct decoding decoding = {.files = files};
    struct sl_diag diag = {0};
    int exit_status = EXIT_FAILED;
    char text[32], safe[512];

    if (file_pair_open(files)) {
        sl_redundancy_file_config_init(&config);
        byte_progress_begin(&decoding.progress, quiet);
        config.progress = show;
        config.user = &decoding;
        const enum sl_status status =
            sl_redundancy_decode_file(files->in, files->out, &config, &stats, &diag);
        byte_progress_end(&decoding.progress);
        if (status == SL_OK) {
            exit_status = decoding.is_cut ? EXIT_DONE : EXIT_FAILED;
        } else {
            char reason[600];

            cli_error("%s: %s; the %s bytes before it were written",
                      cli_printable(files->in_path, safe, sizeof safe),
                      cli_printable(diag.text, reason, sizeof reason),
                      cli_count(stats.bytes_out, text));
        }
    }
    return file_pair_close(files) ? exit_status : EXIT_FAILED;
}

int command_decode(int argc, char **argv)
{
    static const struct option known[] = {
        {"quiet", no_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'}, {0}};
    struct file_pair files = {0};
    bool quiet = false;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "hq", known, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_DONE;
        }
        if (option != 'q')
            return cli_bad_option(argv, "decode");
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
