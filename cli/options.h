/* SPDX-License-Identifier: MIT */
/* The options of a command line, as getopt_long reads them, and none without its effect. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

enum {
    CLI_OPTION_BARE = 1,  /* a bare argument, where the letters begin with '-' */
    CLI_OPTION_BAD = '?', /* the error was printed */
    CLI_OPTION_MAX = 320  /* above the value of every option */
};

struct cli_options {
    const char *command;        /* the subcommand, for the help that an error names */
    const char *letters;        /* as getopt has them */
    const struct option *names; /* as getopt_long has them, fewer than 128 */
    const int *repeated;        /* options that take effect each time, ended by 0; NULL: none */

    /* Whether a text is a value of this option, which may be left out; NULL: no option is so. */
    bool (*is_value)(int option, const char *text);

    const char *given[CLI_OPTION_MAX]; /* zeroed at first: the arguments so far, by option */
    bool ended;                        /* "--" was passed: only bare arguments follow */
};

/* The next option of argv, with its argument in optarg. -1: there is none. An option is bad that is
 * unknown, that lacks an argument or has one too many. It is also bad where another argument was
 * given before it, as that would have no effect. So is an option whose value may be left out before
 * an argument that is such a value: the value stands behind '='. Where the letters begin with '-',
 * arguments behind
 * "--" are bare ones, too. */
int cli_next_option(struct cli_options *options, int argc, char **argv);

/* The exit status where an option ends the command. 'h' prints the usage. Of any other the error
 * was printed. */
int cli_end(int option, const char *usage);

/* The one of the words, ended by NULL, that `word` is a misspelling of; NULL: of none. */
const char *cli_nearest(const char *word, const char *const *words);

#endif
