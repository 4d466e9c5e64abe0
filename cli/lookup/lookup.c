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
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "name_tables.h"
#include "options.h"
#include "overwrite.h"

static const char usage[] =
    "usage: sluice lookup [OPTION...] --table FILE [NAME...|-]\n\n"
    "Looks NDN names, domains and URLs up in tables and says what is to be done with them, one "
    "line a\n"
    "name: name, matched prefix, action, next hops or other values. - reads names from standard "
    "input,\n"
    "and answers each line once; an empty line, and one of more than 1 MiB, is invalid.\n"
    "Without names it tells what of the tables was understood.\n\n"
    "  --table FILE     a list of routes or domains, or what --build made; may be given several "
    "times,\n"
    "                   each with one FILE\n"
    "  --format FORMAT  of the tables and updates behind it (auto: found out from their first "
    "lines;\n"
    "                   help lists them)\n"
    "  --syntax S       of the names: auto, ndn, domain or url\n"
    "  --explain        also which list and which line of it won\n"
    "  --json           JSON lines\n"
    "  --ignored        list each line that was ignored (wrong) or skipped (not supported): file, "
    "line,\n"
    "                   reason\n"
    "  --build OUT      save the table into the file OUT\n"
    "  --force          with --build: overwrite OUT; without it you are asked, or it is kept\n"
    "  --update FILE    apply lines +RULE and -RULE of FILE (- standard input) while look-ups go "
    "on;\n"
    "                   NAMEs wait for its end\n"
    "  --exit-status    exit with 1 where a NAME was not found, or is no name\n"
    "  --bench          time look-ups of the names instead of printing answers\n"
    "  --plane P        data plane: auto, or one of sluice bench fib\n"
    "  --device D       auto, cpu, cuda or cuda:N (cpu)\n"
    "  --               what follows are NAMEs, also where they begin with a hyphen or are "
    "files\n\n"
    "Exit status: 0 done, 1 a NAME was not found (with --exit-status alone), 2 an error.\n";

enum { EXIT_ABSENT = 1 }; /* --exit-status: a name was not found */

struct options {
    struct name_tables tables;
    enum sl_name_syntax syntax;
    const char *build, *update, *device;
    const char *update_format; /* NULL: the one of all tables */
    bool explain, json, ignored, bench, exit_status, from_stdin, force;
    const char **names; /* room for each argument */
    int n_names;
    bool behind_table; /* the arguments before were --table FILE and bare ones */
    bool missing;      /* a name was not found */
};

static atomic_bool stopped;
static int stop_fd; /* can be read from then on: any thread that waits sees it, however late */

static void on_signal(int number)
{
    const uint64_t one = 1;
    const int error = errno;

    /* The second time the user means it. */
    if (atomic_exchange(&stopped, true) || write(stop_fd, &one, sizeof one) < 0) {
        signal(number, SIG_DFL);
        (void)raise(number); /* which comes when the handler is left */
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

/* ---- the command line ------------------------------------------------------------------------ */

static bool set_syntax(struct options *options, const char *name)
{
    static const char *const names[] = {"auto", "ndn", "domain", "url"};

    for (int i = 0; i < 4; i++) {
        if (strcmp(names[i], name) == 0) {
            options->syntax = (enum sl_name_syntax)i;
            return true;
        }
    }
    cli_error("--syntax '%.64s' (expected auto, ndn, domain or url)", name);
    return false;
}

static bool is_file(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/* A file behind --table FILE was meant as a table, where a shell made several files of one. */
static bool add_name(struct options *options, const char *name, bool ended)
{
    if (!ended && options->behind_table && is_file(name)) {
        cli_error(
            "'%s' stands for a name, and is a file (each file needs a --table; names that are "
            "files stand behind --)",
            name);
        return false;
    }
    options->names[options->n_names++] = name;
    options->from_stdin |= strcmp(name, "-") == 0;
    return true;
}

/* -1: go on; otherwise the exit status. */
static int parse_option(struct options *options, int option)
{
    options->behind_table = option == 't';
    switch (option) {
    case 't':
        return name_tables_add(&options->tables, "--table", optarg) ? -1 : EXIT_FAILED;
    case 'f':
        if (strcmp(optarg, "help") == 0) {
            name_tables_print_formats();
            return EXIT_DONE;
        }
        return name_tables_set_format(&options->tables, "--format", optarg) ? -1 : EXIT_FAILED;
    case 's':
        return set_syntax(options, optarg) ? -1 : EXIT_FAILED;
    case 'e':
        options->explain = true;
        return -1;
    case 'j':
        options->json = true;
        return -1;
    case 'i':
        options->ignored = true;
        return -1;
    case 'o':
        options->build = optarg;
        return -1;
    case 'w':
        options->force = true;
        return -1;
    case 'u':
        options->update = optarg;
        options->update_format = options->tables.format;
        options->tables.unused = NULL;
        return -1;
    case 'x':
        options->exit_status = true;
        return -1;
    case 'b':
        options->bench = true;
        return -1;
    case 'p':
        options->tables.plane = optarg;
        return -1;
    case 'd':
        options->device = optarg;
        return -1;
    case 'h':
        fputs(usage, stdout);
        return EXIT_DONE;
    default:
        return EXIT_FAILED;
    }
}

static bool may_build(const struct options *options)
{
    const bool asks =
        !options->from_stdin && (options->update == NULL || strcmp(options->update, "-") != 0);

    return options->build == NULL || cli_may_write(options->build, options->force, asks);
}

/* A saved table may be built again in its place: it is loaded, and keeps what it has. */
static bool writes_input(const struct options *options)
{
    if (options->build != NULL && options->update != NULL &&
        cli_is_input(options->build, options->update))
        return true;
    for (int i = 0; options->build != NULL && i < options->tables.n; i++) {
        const char *table = options->tables.file[i].path;

        if (!sl_names_is_saved(table) && cli_is_input(options->build, table))
            return true;
    }
    return false;
}

static bool check_options(const struct options *options)
{
    if (options->tables.n == 0)
        cli_error("no table was named (--table FILE; sluice lookup --help)");
    else if (options->from_stdin && options->n_names > 1)
        cli_error("- and names exclude one another");
    else if (options->from_stdin && options->update != NULL && strcmp(options->update, "-") == 0)
        cli_error("names and updates cannot both come from standard input");
    else if (options->bench && options->n_names == 0)
        cli_error("--bench needs names (NAME... or -)");
    else if (options->bench && (options->explain || options->exit_status))
        cli_error("--bench and %s exclude one another",
                  options->explain ? "--explain" : "--exit-status");
    else if (options->exit_status && options->n_names == 0)
        cli_error("--exit-status needs names (NAME... or -)");
    else if (options->bench && options->update != NULL && strcmp(options->update, "-") == 0)
        cli_error("--bench needs updates from a file");
    else if (options->force && options->build == NULL)
        cli_error("--force needs --build");
    else
        return name_tables_check(&options->tables, "--format") && !writes_input(options) &&
               may_build(options);
    return false;
}

static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option long_options[] = {{"table", required_argument, NULL, 't'},
                                                 {"format", required_argument, NULL, 'f'},
                                                 {"syntax", required_argument, NULL, 's'},
                                                 {"explain", no_argument, NULL, 'e'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"ignored", no_argument, NULL, 'i'},
                                                 {"build", required_argument, NULL, 'o'},
                                                 {"force", no_argument, NULL, 'w'},
                                                 {"update", required_argument, NULL, 'u'},
                                                 {"exit-status", no_argument, NULL, 'x'},
                                                 {"bench", no_argument, NULL, 'b'},
                                                 {"plane", required_argument, NULL, 'p'},
                                                 {"device", required_argument, NULL, 'd'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {0}};
    static const int repeated[] = {'t', 'f', 0};
    struct cli_options known = {
        .command = "lookup", .letters = "-h", .names = long_options, .repeated = repeated};
    int option;

    options->names = calloc((size_t)argc, sizeof *options->names);
    if (options->names == NULL) {
        cli_error("no memory for names");
        return EXIT_FAILED;
    }
    while ((option = cli_next_option(&known, argc, argv)) != -1) {
        const bool is_name = option == CLI_OPTION_BARE;
        const int exit_status = !is_name ? parse_option(options, option)
                                : add_name(options, optarg, known.ended) ? -1
                                                                         : EXIT_FAILED;
        if (exit_status != -1)
            return exit_status;
    }
    return check_options(options) ? -1 : EXIT_FAILED;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool say(enum sl_status status, const struct sl_diag *diag)
{
    if (status != SL_OK)
        cli_diag(diag);
    return status == SL_OK;
}

/* Of updates: the --format before them, else the format that all tables have. */
static const char *update_format(const struct options *options, const struct sl_names *names)
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

static bool bench(struct sl_names *names, const struct options *options)
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
                                        const struct options *options, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (int i = 0; status == SL_OK && i < options->n_names; i++)
        status = sl_names_stream_add(stream, options->names[i], strlen(options->names[i]), diag);
    return status == SL_OK ? sl_names_stream_flush(stream, diag) : status;
}

/* Looks the names up and writes the answers. */
static bool answer(struct sl_names *names, const struct options *options,
                   struct lookup_answers *answers)
{
    struct sl_names_stream_config config;
    struct sl_names_stream *stream;
    struct sl_diag diag = {0};

    sl_names_stream_config_init(&config);
    config.names = names;
    config.device = options->device;
    config.syntax = options->syntax;
    config.take = lookup_answers_take;
    config.user = answers;
    if (!say(sl_names_stream_open(&stream, &config, &diag), &diag))
        return false;
    const enum sl_status status = options->from_stdin
                                      ? sl_names_stream_read(stream, STDIN_FILENO, stop_fd, &diag)
                                      : look_up_arguments(stream, options, &diag);
    sl_names_stream_close(stream);
    if (answers->error == 0)
        return say(status, &diag);
    cli_error("standard output: cannot be written: %s", strerror(answers->error));
    return false;
}

static bool look_up(struct sl_names *names, struct options *options)
{
    struct lookup_answers *answers = malloc(sizeof *answers);

    if (answers == NULL) {
        cli_error("no memory for look-ups");
        return false;
    }
    answers->names = names;
    answers->json = options->json;
    answers->explain = options->explain;
    answers->missing = false;
    answers->error = 0;
    answers->len = 0;
    const bool ok = answer(names, options, answers);
    options->missing = answers->missing;
    free(answers);
    return ok;
}

static bool report(const struct options *options, const struct lookup_report *report)
{
    /* Answers have standard output to themselves. */
    FILE *out = options->n_names > 0 ? stderr : stdout;

    if (options->n_names == 0 || options->build != NULL || options->update != NULL)
        (options->json ? lookup_report_json : lookup_report_text)(report, out);
    name_tables_report_ignored(report->names, options->ignored);
    return fflush(out) == 0;
}

static bool run(struct options *options, struct sl_names *names, struct lookup_report *told)
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
    told->updates = options->update != NULL;
    told->updated = updates.updated;
    if (ok && options->build != NULL)
        ok = say(sl_names_save(names, options->build, &diag), &diag);
    told->saved = options->build;
    return ok && report(options, told);
}

static int open_and_run(struct options *options)
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
    struct options options = {.device = "cpu"};
    int exit_status = parse_options(&options, argc, argv);

    if (exit_status == -1)
        exit_status = take_signals() ? open_and_run(&options) : EXIT_FAILED;
    free(options.names);
    return exit_status;
}
