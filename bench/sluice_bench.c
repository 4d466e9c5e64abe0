/* SPDX-License-Identifier: MIT */
/* sluice-bench: rates of this machine, beside its ceilings. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/engines/benchmarks.h"
#include "bench/frame/machine.h"
#include "bench/frame/results.h"
#include "bench/frame/row.h"
#include "bench/peers/vectorscan.h"
#include "bench/studies/studies.h"
#include "bench_options.h"
#include "cli/console.h"
#include "cli/json_text.h"
#include "cli/overwrite.h"
#include "sluice/device.h"

static bool run_named(const struct bench_options *options)
{
    const struct bench *bench = &options->bench;
    bool good = true;

    for (int i = 0; i < N_BENCHMARKS && good; i++)
        if (options->selected[i])
            good = bench->study != NULL ? bench_study(bench, benchmarks[i].name)
                                        : benchmarks[i].run(bench);
    return good;
}

static void set_default_counts(struct bench *bench, bool named)
{
    static const size_t sets[] = {1000, 5000, 18000, 30000}, whole[] = {18000, 86000};

    bench->n_counts = named ? 4 : 2;
    memcpy(bench->counts, named ? sets : whole, bench->n_counts * sizeof *bench->counts);
}

/* Benchmarks are of one device; of several GPUs only all engines together are measured. */
static bool choose_device(struct bench *bench)
{
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];

    if (sl_device_choose_list(bench->gpus, BENCH_GPUS_MAX, &bench->n_gpus, bench->device_name, why,
                              &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    bench->device = bench->gpus[0];
    while (bench->n_gpus > 0 && bench->gpus[bench->n_gpus - 1].kind == SL_DEVICE_CPU)
        bench->n_gpus--;
    return true;
}

static bool measure(struct bench_options *options)
{
    struct bench *bench = &options->bench;
    struct bench_input *input = &bench->input;
    bool any = false, traffic = false, together = false, starts = false;

    for (int i = 0; i < N_BENCHMARKS; i++) {
        any |= options->selected[i];
        traffic |= options->selected[i] && benchmarks[i].traffic;
        together |= options->selected[i] && benchmarks[i].together;
        starts |= options->selected[i] && benchmarks[i].run == bench_start;
    }
    if ((starts && !bench_start_measure(bench)) || !choose_device(bench))
        return false;
    if ((traffic || !any) && input->n_paths == 0 && input->n_file_paths == 0 &&
        !bench_generate(input))
        return false;
    bench->frame.results = bench_results_new(bench_machine(&bench->device));
    bench_record_command(&bench->frame, options->words);
    if (bench->n_counts == 0)
        set_default_counts(bench, any && !together);
    const struct bench_load begin = bench_load_now();
    const bool good = any ? run_named(options) : bench_whole(bench);
    if (good) {
        bench_print_head(&bench->frame);
        bench_record_others(&bench->frame, bench_load_of_others(&begin));
    }
    return good;
}

/* Prints the rows of a file as if they had been measured. */
static bool replay(struct bench_frame *frame, const char *from)
{
    frame->saved = true;
    frame->results = bench_results_load(from);
    if (frame->results == NULL)
        return false;
    bench_print_head(frame);
    const json_t *rows = json_object_get(frame->results, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++)
        bench_print_line(frame, json_array_get(rows, i));
    return true;
}

static bool any_is(const char *const *paths, size_t n, const char *out)
{
    for (size_t i = 0; i < n; i++)
        if (cli_is_input(out, paths[i]))
            return true;
    return false;
}

/* Whether the file is read. True: the error was printed. */
static bool is_input(const struct bench *bench, const char *out)
{
    const struct bench_input *input = &bench->input;

    return any_is(input->paths, input->n_paths, out) ||
           any_is(input->file_paths, input->n_file_paths, out) ||
           any_is(input->literal_paths, input->n_literal_paths, out) ||
           any_is(bench->database_paths, bench->n_database_paths, out) ||
           (input->names_path != NULL && cli_is_input(out, input->names_path)) ||
           rule_files_have(&input->rule_files, out);
}

/* Whether the files may be written that the options name. */
static bool may_write(const struct bench_options *options)
{
    const char *const files[] = {options->save, options->bench.plot};
    bool any = false;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] != NULL &&
            (is_input(&options->bench, files[i]) || !cli_may_write(files[i], options->force, true)))
            return false;
        any = any || files[i] != NULL;
    }
    if (options->force && !any)
        cli_error("--force needs --save or --plot");
    return any || !options->force;
}

/* Files that cannot be used are refused before minutes are spent. */
static bool run(struct bench_options *options)
{
    const struct bench *bench = &options->bench;
    struct bench_frame *frame = &options->bench.frame;
    json_t *before = NULL;
    bool good = bench_options_check(options);

    if (good && options->against != NULL)
        good = (before = bench_results_load(options->against)) != NULL;
    if (good && options->save != NULL)
        good = bench_results_writable(options->save);
    good = good && may_write(options);
    good = good && (options->from != NULL ? replay(frame, options->from) : measure(options));
    if (good && options->save != NULL)
        good = bench_results_save(frame->results, options->save);
    if (good && bench->plot != NULL && bench->study == NULL)
        good = bench_results_draw(frame->results, bench->plot);
    if (good && before != NULL)
        bench_results_compare(before, frame->results, options->against, frame->json);
    json_decref(before);
    json_decref(frame->results);
    return good;
}

int main(int argc, char **argv)
{
    static char name[] = "bench"; /* as `sluice bench` has it */
    struct bench_options options;
    struct sl_diag diag = {0};

    if (!cli_hold_descriptors())
        return EXIT_FAILED;
    cli_json_watch();
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0); /* links are to be full */
    const enum sl_status environment = sl_device_prepare(&diag);
    if (environment != SL_OK)
        cli_diag(&diag);
    if (environment == SL_EINVAL)
        return EXIT_FAILED;
    vectorscan_add();
    if (argc > 0)
        argv[0] = name;
    int exit_status = bench_options_parse(&options, argc, argv);
    if (exit_status == -1)
        exit_status = run(&options) ? EXIT_DONE : EXIT_FAILED;
    if (options.bench.input.generated[0] != '\0')
        unlink(options.bench.input.generated);
    bench_options_free(&options);
    return cli_finish(exit_status);
}
