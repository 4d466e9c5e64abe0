/* SPDX-License-Identifier: MIT */
/* sluice run: all that is switched on, over captures or an interface, in one pass. */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/rule_settings.h"
#include "metrics.h"
#include "progress.h"
#include "run_options.h"
#include "run_report.h"

/* ---- signals --------------------------------------------------------------------------------- */

/* The run that the next signal ends. The handler may be on any thread while the run is closed. The
 * closing thread takes the pointer away first, and waits until no handler holds it. */
static _Atomic(struct sl_run *) signalled_run;
static atomic_int signal_busy;
static atomic_bool signal_seen;

static void on_signal(int number)
{
    if (atomic_exchange(&signal_seen, true)) { /* the user insists */
        signal(number, SIG_DFL);
        (void)raise(number); /* it arrives when the handler returns */
    }
    atomic_fetch_add(&signal_busy, 1);
    struct sl_run *run = atomic_load(&signalled_run);
    if (run != NULL)
        sl_run_stop(run);
    atomic_fetch_sub(&signal_busy, 1);
}

/* From now on the first SIGINT or SIGTERM ends the run cleanly, a second one the process. */
static void take_signals(struct sl_run *run)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: reads return */

    atomic_store(&signalled_run, run);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void release_signals(void)
{
    atomic_store(&signalled_run, NULL);
    while (atomic_load(&signal_busy) != 0)
        ;
}

/* ---- notices --------------------------------------------------------------------------------- */

static void warn_of_rules(const struct sl_rules *rules)
{
    struct sl_rules_count count;
    const struct sl_diag *bad;

    sl_rules_count(rules, &count);
    for (size_t i = 0; i < 5 && (bad = sl_rules_bad_line(rules, i)) != NULL; i++)
        cli_diag(bad);
    if (count.bad > 5)
        cli_error("and %zu more bad rules (sluice rules FILE... lists them)", count.bad - 5);
}

static void on_notice(void *user, const struct sl_run_notice *notice)
{
    char n[32];

    (void)user;
    switch (notice->kind) {
    case SL_RUN_RULES_BAD:
        warn_of_rules(notice->rules);
        break;
    case SL_RUN_NAMES_IGNORED:
        name_tables_report_ignored(notice->names, false);
        break;
    case SL_RUN_DATABASES_SKIPPED:
        cli_error("%s (--debug lists them)", notice->diag->text);
        break;
    case SL_RUN_CHECKSUMS_OFFLOADED:
        cli_error("%s: %s (-k none turns their check off)", notice->diag->file, notice->diag->text);
        break;
    case SL_RUN_DATA_UNSAVED:
        cli_error("%s (--data-dir names their folder)", notice->diag->text);
        break;
    case SL_RUN_DEVICE_DROPPED:
        cli_error("cuda:%d is dropped: %s; batches to be done again elsewhere: %s",
                  notice->device->device.index, notice->device->why,
                  cli_count(notice->device->redone, n));
        break;
    default:
        cli_diag(notice->diag);
    }
}

/* ---- standard output ------------------------------------------------------------------------- */

static bool is_stdout(const char *spec)
{
    return strcmp(spec, "console") == 0 || strcmp(spec, "eve:-") == 0;
}

static bool writes_stdout(const struct sl_run_config *config)
{
    for (size_t i = 0; i < config->n_sinks; i++)
        if (strcmp(config->sinks[i], "eve:-") == 0)
            return true;
    return false;
}

/* Alerts on the user's terminal show the progress. */
static bool writes_terminal(const struct sl_run_config *config)
{
    for (size_t i = 0; i < config->n_sinks; i++)
        if (is_stdout(config->sinks[i]))
            return isatty(STDOUT_FILENO);
    return false;
}

/* Whether the sink is standard output, and a pipe without a reader. */
static bool reader_left(const struct sl_run_sink *sink)
{
    struct pollfd output = {.fd = STDOUT_FILENO};

    return sink->failed && is_stdout(sink->spec) && poll(&output, 1, 0) == 1 &&
           output.revents & POLLERR;
}

static bool any_reader_left(const struct sl_run_result *result)
{
    for (uint32_t i = 0; i < result->n_sinks; i++)
        if (reader_left(&result->sinks[i]))
            return true;
    return false;
}

/* A pipe without a reader ends the command by its signal, silently, as it ends other commands. It
 * is a failed write until all else is complete, other sinks above all. */
static void end_by_closed_pipes(const struct sl_run_result *result)
{
    signal(SIGPIPE, SIG_DFL);
    if (any_reader_left(result))
        raise(SIGPIPE);
}

/* Prints the failures of sinks. False: there is one. */
static bool check_sinks(const struct sl_run_result *result)
{
    bool complete = true;

    for (uint32_t i = 0; i < result->n_sinks; i++) {
        const struct sl_run_sink *sink = &result->sinks[i];
        char text[32];

        if (!sink->failed)
            continue;
        complete = false;
        if (reader_left(sink))
            continue;
        if (sink->diag.text[0] != '\0')
            cli_diag(&sink->diag);
        cli_error("%s: %s events were written before that", sink->spec,
                  cli_count(sink->written, text));
    }
    return complete;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void print_training(const char *path, const struct sl_sampling_training *training)
{
    bool marker[256] = {false};
    char bytes[32];

    if (training->n_markers == 0) {
        cli_error("%s: nothing repeats in it, samplebyte keeps its generic markers", path);
        return;
    }
    fprintf(stderr, "trained    on %s, of which %.1f %% repeat: markers",
            cli_bytes((double)training->bytes_len, bytes),
            100 * (double)training->redundant / (double)training->bytes_len);
    for (uint32_t i = 0; i < training->n_markers; i++)
        marker[training->ranked[i]] = true;
    for (int byte = 0; byte < 256; byte++)
        if (marker[byte])
            fprintf(stderr, " %02x", (unsigned)byte);
    fputc('\n', stderr);
}

static bool train(struct sl_run *run, const char *path)
{
    struct sl_sampling_training training;
    struct sl_diag diag = {0};

    if (path == NULL)
        return true;
    if (sl_run_train(run, path, &training, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    print_training(path, &training);
    return true;
}

static void snapshot(void *user, struct sl_stats *stats)
{
    sl_run_snapshot(user, stats);
}

/* The summary of a live run is far away, so its begin says what of the rules was understood. */
static void print_loaded_rules(struct sl_run *run)
{
    struct sl_stats stats;
    char loaded[32], skipped[32], bad[32];

    sl_run_snapshot(run, &stats);
    if (stats.live && stats.has_rules)
        cli_error("rules: %s loaded, %s skipped, %s bad%s", cli_count(stats.rules.loaded, loaded),
                  cli_count(stats.rules.skipped, skipped), cli_count(stats.rules.bad, bad),
                  stats.rules.skipped + stats.rules.bad != 0 ? " (sluice rules FILE... says why)"
                                                             : "");
}

/* Opens the run, with a server of its counters. False: the reason is on stderr. */
static bool open_run(struct sl_run *run, const struct run_options *options, struct metrics *metrics)
{
    struct sl_diag diag = {0};

    if (!train(run, options->redundancy.train))
        return false;
    take_signals(run); /* before, a signal ends the process: nothing was begun */
    if (options->metrics != NULL && !metrics_listen(metrics, options->metrics))
        return false;
    if (sl_run_open(run, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    if (options->metrics != NULL && !metrics_serve(metrics, snapshot, run))
        return false;
    if (!options->quiet) {
        rule_settings_print(&options->rule_files, "sluice: ", false, stderr);
        print_loaded_rules(run);
    }
    return true;
}

/* Executes the run and prints its summary; the exit status. */
static int execute(struct sl_run *run, const struct run_options *options, struct metrics *metrics)
{
    struct progress progress = {0};
    struct sl_run_result result;
    struct sl_diag diag = {0};

    progress_begin(&progress, run, options->quiet || writes_terminal(&options->config));
    const enum sl_status status = sl_run_execute(run, &diag);
    progress_end(&progress);
    metrics_close(metrics);
    sl_run_result(run, &result);
    if (result.status != SL_OK && !any_reader_left(&result))
        cli_diag(&diag);
    const bool complete = check_sinks(&result);
    FILE *out = writes_stdout(&options->config) ? stderr : stdout;
    const bool drawn = run_redundancy_plot(&result, options->redundancy.plot);
    const bool profiled = run_profile_write(&result, &options->profile);
    end_by_closed_pipes(&result);
    if (result.found_capture && !options->quiet)
        (options->json ? run_report_json : run_report_text)(&result, options->stats,
                                                            options->profile.n, out);
    return status == SL_OK && drawn && profiled && complete && result.failed_sources == 0
               ? EXIT_DONE
               : EXIT_FAILED;
}

static int run(struct run_options *options)
{
    struct metrics metrics = {0};
    struct sl_diag diag = {0};
    struct sl_run *made;
    int exit_status = EXIT_FAILED;

    options->config.notice = on_notice;
    if (sl_run_create(&made, &options->config, &diag) != SL_OK)
        cli_diag(&diag);
    else if (open_run(made, options, &metrics))
        exit_status = execute(made, options, &metrics);
    metrics_close(&metrics);
    release_signals();
    sl_run_close(made);
    return exit_status;
}

int command_run(int argc, char **argv)
{
    struct run_options options = {0};
    int exit_status;

    signal(SIGPIPE, SIG_IGN); /* until end_by_closed_pipes */
    exit_status = run_options_parse(&options, argc, argv);
    if (exit_status == -1)
        exit_status = run(&options);
    run_options_free(&options);
    return exit_status;
}
