/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "console.h"

enum { WORDS_MAX = 128, WORD_LEN_MAX = 32 };

/* ---- misspellings ---------------------------------------------------------------------------- */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The edits that make one word the other: a letter more, less or another, or two swapped
 * (Damerau's distance, each letter edited once). Words of more than WORD_LEN_MAX are far. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[3][WORD_LEN_MAX + 1];
    const size_t a_len = strlen(a), b_len = strlen(b);

    if (a_len > WORD_LEN_MAX || b_len > WORD_LEN_MAX)
        return UINT32_MAX;
    for (size_t j = 0; j <= b_len; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        unsigned *const now = row[i % 3];
        const unsigned *const before = row[(i + 2) % 3];

        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            now[j] =
                least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], row[(i + 1) % 3][j - 2] + 1);
        }
    }
    return row[a_len % 3][b_len];
}

const char *cli_nearest(const char *word, const char *const *words)
{
    unsigned nearest = (unsigned)strlen(word) / 4 + 2;
    const char *found = NULL;

    for (; *words != NULL; words++) {
        const unsigned edits = distance(word, *words);

        if (edits < nearest) {
            nearest = edits;
            found = *words;
        }
    }
    return found;
}

/* ---- faults of options ----------------------------------------------------------------------- */

/* The option of this value that takes no argument, where "--NAME=..." names it; else NULL. */
static const struct option *find_bare(const struct cli_options *options, const char *argument,
                                      int value)
{
    if (strncmp(argument, "--", 2) != 0 || strchr(argument, '=') == NULL)
        return NULL;
    for (const struct option *option = options->names; option->name != NULL; option++)
        if (option->val == value && option->has_arg == no_argument &&
            strncmp(option->name, argument + 2, strcspn(argument + 2, "=")) == 0)
            return option;
    return NULL;
}

/* The names that begin so, as "--scan, --set"; how many there are. */
static unsigned list_names(const struct cli_options *options, const char *begin, size_t len,
                           char *text, size_t text_len)
{
    unsigned n = 0;
    size_t used = 0;

    for (const struct option *option = options->names; option->name != NULL; option++)
        if (strncmp(option->name, begin, len) == 0 && used < text_len)
            used += (size_t)snprintf(text + used, text_len - used, "%s--%s", n++ > 0 ? ", " : "",
                                     option->name);
    return n;
}

static void print_unknown_name(const struct cli_options *options, const char *name, size_t len)
{
    const char *words[WORDS_MAX] = {NULL};
    char text[256] = "", word[WORD_LEN_MAX + 2];
    size_t n = 0;

    if (list_names(options, name, len, text, sizeof text) > 0) {
        cli_error("option '--%.*s' is the begin of several (%s)", (int)len, name, text);
        return;
    }
    for (const struct option *option = options->names; option->name != NULL; option++)
        words[n++] = option->name;
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    const char *const nearest = cli_nearest(word, words);
    cli_error("option '--%.*s' is unknown%s%s%s (sluice %s --help)", (int)len, name,
              nearest != NULL ? "; did you mean '--" : "", nearest != NULL ? nearest : "",
              nearest != NULL ? "'?" : "", options->command);
}

/* getopt returns '?' for an option that is unknown, or that has an argument and takes none. At an
 * unknown letter it may not have gone to the next argument yet. */
static int refuse(const struct cli_options *options, char **argv)
{
    const char *const argument = argv[optind - 1];
    const struct option *const bare = find_bare(options, argument, optopt);

    if (optopt == 0)
        print_unknown_name(options, argument + 2, strcspn(argument + 2, "="));
    else if (bare != NULL)
        cli_error("option '--%s' takes no value (sluice %s --help)", bare->name, options->command);
    else
        cli_error("option '-%c' is unknown (sluice %s --help)", optopt, options->command);
    return CLI_OPTION_BAD;
}

/* An option as it is written. */
static const char *written(const struct cli_options *options, int value,
                           char text[WORD_LEN_MAX + 3])
{
    const struct option *option = options->names;

    while (option->name != NULL && option->val != value)
        option++;
    if (option->name != NULL)
        snprintf(text, WORD_LEN_MAX + 3, "--%s", option->name);
    else
        snprintf(text, WORD_LEN_MAX + 3, "-%c", value);
    return text;
}

static bool takes_effect_each_time(const struct cli_options *options, int value)
{
    for (const int *repeated = options->repeated; repeated != NULL && *repeated != 0; repeated++)
        if (*repeated == value)
            return true;
    return value == CLI_OPTION_BARE;
}

static bool check_given(struct cli_options *options, int value)
{
    char text[WORD_LEN_MAX + 3];
    const char **const before = &options->given[value];

    if (optarg == NULL || takes_effect_each_time(options, value))
        return true;
    if (*before != NULL && strcmp(*before, optarg) != 0) {
        cli_error("option '%s' is given twice, as '%s' and '%s' (expected one value)",
                  written(options, value, text), *before, optarg);
        return false;
    }
    *before = optarg;
    return true;
}

/* A value that may be left out stands behind '='. An argument of its own that is one was meant so.
 */
static bool check_behind(const struct cli_options *options, int value, int argc, char **argv)
{
    const struct option *option = options->names;

    if (options->is_value == NULL || optarg != NULL || optind >= argc ||
        strncmp(argv[optind - 1], "--", 2) != 0)
        return true;
    while (option->name != NULL && (option->val != value || option->has_arg != optional_argument))
        option++;
    if (option->name == NULL || !options->is_value(value, argv[optind]))
        return true;
    cli_error("option '--%s' takes its value behind '=' (expected --%s=%s)", option->name,
              option->name, argv[optind]);
    return false;
}

/* The next argument behind "--", which getopt does not advance over. */
static int next_bare(int argc, char **argv)
{
    if (optind >= argc)
        return -1;
    optarg = argv[optind];
    optind++;
    return CLI_OPTION_BARE;
}

int cli_next_option(struct cli_options *options, int argc, char **argv)
{
    if (options->ended)
        return next_bare(argc, argv);

    char letters[64], text[WORD_LEN_MAX + 3];
    const bool in_order = options->letters[0] == '-';

    /* A colon in front lets getopt say that an argument is missing. */
    snprintf(letters, sizeof letters, "%s:%s", in_order ? "-" : "", options->letters + in_order);
    opterr = 0;
    const int option = getopt_long(argc, argv, letters, options->names, NULL);

    if (option == '?')
        return refuse(options, argv);
    if (option == ':') {
        cli_error("option '%s' needs a value (sluice %s --help)", written(options, optopt, text),
                  options->command);
        return CLI_OPTION_BAD;
    }
    if (option != -1)
        return check_given(options, option) && check_behind(options, option, argc, argv)
                   ? option
                   : CLI_OPTION_BAD;
    if (!in_order || optind >= argc)
        return -1;
    options->ended = true;
    return next_bare(argc, argv);
}

int cli_end(int option, const char *usage)
{
    if (option != 'h')
        return EXIT_FAILED;
    fputs(usage, stdout);
    return EXIT_DONE;
}
