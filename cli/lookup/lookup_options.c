/* SPDX-License-Identifier: MIT */
#include "lookup_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/overwrite.h"

static const char usage[] =
    "usage: sluice lookup [OPTION...] --table FILE [NAME...|-]\n\n"
    "Looks NDN names, domains and URLs up in tables and says what is to be done with them, one "
    "line a\n"
    "name: name, matched prefix, action, next hops or other values. - reads names from standard "
    "input,\n"
    "and answers each line once; an empty line, and one of more than 1 MiB, is invalid.\n"
    "Without names it reports how many lines of the tables it understood.\n\n"
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
    "  --threads N      that answer the names of standard input, 0: one a core (0)\n"
    "  --               what follows are NAMEs, also where they begin with a hyphen or are "
    "files\n\n"
    "Exit status: 0 done, 1 a NAME was not found (with --exit-status alone), 2 an error.\n";

static bool set_syntax(struct lookup_options *options, const char *name)
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

static bool set_threads(struct lookup_options *options)
{
    uint64_t number;

    options->threads = true;
    if (!cli_parse_number_of("--threads", optarg, 0, SL_NAMES_THREADS_MAX, "", &number))
        return false;
    options->n_threads = (uint32_t)number;
    return true;
}

static bool is_file(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/* A file behind --table FILE was meant as a table, where a shell made several files of one. */
static bool add_name(struct lookup_options *options, const char *name, bool ended)
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
static int parse_option(struct lookup_options *options, int option)
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
    case 'n':
        return set_threads(options) ? -1 : EXIT_FAILED;
    default:
        return cli_end(option, usage);
    }
}

static bool may_build(const struct lookup_options *options)
{
    const bool may_prompt =
        !options->from_stdin && (options->update == NULL || strcmp(options->update, "-") != 0);

    return options->build == NULL || cli_may_write(options->build, options->force, may_prompt);
}

/* A saved table may be built again in its place: it is loaded, and keeps what it has. */
static bool writes_input(const struct lookup_options *options)
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

static bool check_options(const struct lookup_options *options)
{
    if (options->tables.n == 0)
        cli_error("no table was named (--table FILE; sluice lookup --help)");
    else if (options->from_stdin && options->n_names > 1)
        cli_error("- and names exclude one another");
    else if (options->from_stdin && options->update != NULL && strcmp(options->update, "-") == 0)
        cli_error("names and updates cannot both come from standard input");
    else if (options->bench && (options->explain || options->exit_status))
        cli_error("--bench and %s exclude one another",
                  options->explain ? "--explain" : "--exit-status");
    else if (options->threads && (options->bench || !options->from_stdin))
        cli_error("--threads needs names from standard input (-), without --bench");
    else if (options->of_names != NULL && options->n_names == 0)
        cli_error("--%s needs names (NAME... or -)", options->of_names);
    else if (options->bench && options->update != NULL && strcmp(options->update, "-") == 0)
        cli_error("--bench needs updates from a file");
    else if (options->force && options->build == NULL)
        cli_error("--force needs --build");
    else
        return name_tables_check(&options->tables, "--format") && !writes_input(options) &&
               may_build(options);
    return false;
}

static const char *name_of(const struct option *known, int option)
{
    while (known->val != option)
        known++;
    return known->name;
}

int lookup_options_parse(struct lookup_options *options, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"table", required_argument, NULL, 't'},  {"format", required_argument, NULL, 'f'},
        {"syntax", required_argument, NULL, 's'}, {"explain", no_argument, NULL, 'e'},
        {"json", no_argument, NULL, 'j'},         {"ignored", no_argument, NULL, 'i'},
        {"build", required_argument, NULL, 'o'},  {"force", no_argument, NULL, 'w'},
        {"update", required_argument, NULL, 'u'}, {"exit-status", no_argument, NULL, 'x'},
        {"bench", no_argument, NULL, 'b'},        {"plane", required_argument, NULL, 'p'},
        {"device", required_argument, NULL, 'd'}, {"threads", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},         {0}};
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
        if (strchr("sexbd", option) != NULL)
            options->of_names = name_of(long_options, option);
        const bool is_name = option == CLI_OPTION_BARE;
        const int exit_status = !is_name ? parse_option(options, option)
                                : add_name(options, optarg, known.ended) ? -1
                                                                         : EXIT_FAILED;
        if (exit_status != -1)
            return exit_status;
    }
    return check_options(options) ? -1 : EXIT_FAILED;
}

void lookup_options_free(struct lookup_options *options)
{
    free(options->names);
}
