/* SPDX-License-Identifier: MIT */
/* sluice lookup: names looked up in tables of routes and block lists. */
#include "lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lookup_options.h"

enum { EXIT_ABSENT = 1 }; /* --exit-status: a name was not found */

static atomic_bool stopped;
static int stop_fd; /* can be read from then on: any thread that waits sees it, however late */

static void on_signal(int number)
{
    const uint64_t one = 1;
    const int error = errno;

    /* The user insists. */
    if (atomic_exchange(&stopped, true) || write(stop_fd, &one, sizeof one) < 0) {
        signal(number, SIG_DFL);
        (void)raise(number); /* the signal comes when the handler returns */
    }
    errno = error;
}

static bool take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    stop_fd = eventfd(0, EFD_CLOEXEC);
    if (stop_fd < 0) {
        cli_error("cannot wait for signals: %s", strerror(errno));
        return false;
    }
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool say(enum sl_status status, const struct sl_diag *diag)
{
    if (status != SL_OK)
        cli_diag(diag);
    return status == SL_OK;
}

/* Of updates: the --format before them, else the format that all tables have. */
static const char *update_format(const struct lookup_options *options, const struct sl_names *names)
{
    const char *format, *first = NULL;

    if (options->update_format != NULL)
        return options->update_format;
    for (uint32_t i = 0; sl_names_list(names, i, &format) != NULL; i++) {
        if (first != NULL && strcmp(first, format) != 0) {
            cli_error(
                "--update '%s': the tables are of several formats (--format FORMAT says which "
                "the updates are of)",
                options->update);
            return NULL;
        }
        first = format;
    }
    return first;
}

/* ---- updates --------------------------------------------------------------------------------- */

/* A file of updates, which a thread of its own applies while look-ups go on. */
struct updates {
    struct sl_names *names;
    const char *path; /* "-": standard input */
    const char *format;
    struct sl_names_updated updated;
    bool failed; /* the reason is on stderr */
    bool running;
    pthread_t thread;
};

static void *apply_updates(void *user)
{
    struct updates *updates = user;
    const bool is_stdin = strcmp(updates->path, "-") == 0;
    /* The wait for a writer of a named pipe is one that a signal ends, and so not in open. */
    const int fd = is_stdin ? STDIN_FILENO : open(updates->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct sl_diag diag = {0};

    updates->failed = true;
    if (fd < 0) {
        cli_error("%s: %s", updates->path, strerror(errno));
        return NULL;
    }
    updates->failed =
        !say(sl_names_update_from(updates->names, is_stdin ? "standard input" : updates->path,
                                  updates->format, fd, stop_fd, &updates->updated, &diag),
             &diag);
    if (!is_stdin)
        close(fd);
    return NULL;
}

static bool start_updates(struct updates *updates)
{
    const int error = pthread_create(&updates->thread, NULL, apply_updates, updates);

    updates->running = error == 0;
    if (error != 0)
        cli_error("no thread for updates: %s", strerror(error));
    return updates->running;
}

/* Waits for the end of the file. False: an update failed. */
static bool join_updates(struct updates *updates)
{
    if (updates->running)
        pthread_join(updates->thread, NULL);
    updates->running = false;
    return !updates->failed;
}

/* ---- looking up ------------------------------------------------------------------------------ */

static bool bench(struct sl_names *names, const struct lookup_options *options)
{
    const struct lookup_bench of_names = {.names = names,
                                          .device = options->device,
                                          .syntax = options->syntax,
                                          .json = options->json,
                                          .stop_fd = stop_fd,
                                          .texts = options->from_stdin ? NULL : options->names,
                                          .n_texts = options->n_names};

    return lookup_bench(&of_names);
}

static enum sl_status look_up_arguments(struct sl_names_stream *stream,
                                        const struct lookup_options *options, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (int i = 0; status == SL_OK && i < options->n_names; i++)
        status = sl_names_stream_add(stream, options->names[i], strlen(options->names[i]), diag);
    return status == SL_OK ? sl_names_stream_flush(stream, diag) : status;
}

/* Looks the names up and writes the answers. */
static bool look_up(struct sl_names *names, struct lookup_options *options)
{
    struct sl_names_stream_config config;
    struct sl_names_stream *stream;
    struct sl_diag diag = {0};

    sl_names_stream_config_init(&config);
    config.names = names;
    config.device = options->device;
    config.syntax = options->syntax;
    config.out = STDOUT_FILENO;
    config.json = options->json;
    config.explain = options->explain;
    config.n_threads = options->n_threads;
    if (!say(sl_names_stream_open(&stream, &config, &diag), &diag))
        return false;
    const enum sl_status status = options->from_stdin
                                      ? sl_names_stream_read(stream, STDIN_FILENO, stop_fd, &diag)
                                      : look_up_arguments(stream, options, &diag);
    options->missing = sl_names_stream_missing(stream) > 0;
    sl_names_stream_close(stream);
    return say(status, &diag);
}

static bool report(const struct lookup_options *options, const struct lookup_report *report)
{
    /* Answers have standard output to themselves. */
    FILE *out = options->n_names > 0 ? stderr : stdout;

    if (options->n_names == 0 || options->build != NULL || options->update != NULL)
        (options->json ? lookup_report_json : lookup_report_text)(report, out);
    name_tables_report_ignored(report->names, options->ignored);
    return fflush(out) == 0;
}

static bool run(struct lookup_options *options, struct sl_names *names,
                struct lookup_report *result)
{
    struct updates updates = {.names = names, .path = options->update};
    struct sl_diag diag = {0};
    bool ok = true;

    if (options->update != NULL) {
        updates.format = update_format(options, names);
        ok = updates.format != NULL && start_updates(&updates);
        /* Names of the command line get the answers of afterwards. */
        if (ok && !options->from_stdin && !options->bench)
            ok = join_updates(&updates);
    }
    if (ok && options->n_names > 0)
        ok = options->bench ? bench(names, options) : look_up(names, options);
    ok = join_updates(&updates) && ok;
    result->updates = options->update != NULL;
    result->updated = updates.updated;
    if (ok && options->build != NULL)
        ok = say(sl_names_save(names, options->build, &diag), &diag);
    result->saved = options->build;
    return ok && report(options, result);
}

static int open_and_run(struct lookup_options *options)
{
    struct lookup_report report = {0};
    struct sl_names *names = NULL;
    bool ok = false;

    options->tables.updates = options->update != NULL || options->build != NULL;
    if (name_tables_open(&options->tables, &names)) {
        report.names = names;
        ok = run(options, names, &report);
    }
    sl_names_free(names);
    return !ok ? EXIT_FAILED : options->exit_status && options->missing ? EXIT_ABSENT : EXIT_DONE;
}

int command_lookup(int argc, char **argv)
{
    struct lookup_options options = {.device = "cpu"};
    int exit_status = lookup_options_parse(&options, argc, argv);

    if (exit_status == -1)
        exit_status = take_signals() ? open_and_run(&options) : EXIT_FAILED;
    lookup_options_free(&options);
    return exit_status;
}
