/* SPDX-License-Identifier: MIT */
/* sluice rules: reports which rules of files are understood or skipped, and why. It compiles their
 * literals for sluice run. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli.h"
#include "json_text.h"
#include "options.h"
#include "overwrite.h"
#include "rule_files.h"
#include "rule_settings.h"
#include "sluice/detect.h"
#include "sluice/device.h"
#include "sluice/mpm.h"

enum { EXIT_BAD = 1 }; /* --strict: a rule is bad, or its class unknown */

static const char usage[] =
    "usage: sluice rules [OPTION...] FILE... | --from-config FILE\n\n"
    "Reads rule files of Suricata, Snort 2 and Snort 3 and says what sluice understands of them.\n"
    "FILE may be a folder, whose files *.rules are read, but not those of its folders; or a "
    "pattern\n"
    "in quotes.\n\n"
    "  --set NAME=VALUE  set a variable ($NAME in rules)\n"
    "  --from-config FILE\n"
    "                    take variables, rule files and their configuration from suricata.yaml or\n"
    "                    snort.lua\n"
    "  --classification-file FILE, --reference-config-file FILE, --threshold-file FILE\n"
    "                    configuration as Suricata and Snort have it, in place of the files "
    "beside\n"
    "                    the rules\n"
    "  --list            list each skipped rule: file, line, and the keywords that it lacks\n"
    "  --explain SID     tell how the rule of this sid (or gid:sid) is evaluated, and no more\n"
    "  --strict          fail with exit status 1 where a rule is bad, or its class is unknown;\n"
    "                    skipped rules do not fail\n"
    "  --compile OUT     compile the rules' literals into the file OUT, for sluice run --compiled\n"
    "  --force           with --compile: overwrite OUT; without it you are asked, or it is kept\n"
    "  --device D        with --compile: for auto, cpu, cuda or cuda:N, as sluice run would\n"
    "  --json            print one JSON object instead of tables\n\n"
    "Exit status: 0 done, 1 a rule is bad or its class unknown (with --strict alone), 2 an "
    "error.\n";

/* The compiled literals; path is NULL where none are wanted. */
struct compiled {
    const char *path;
    bool force;         /* an existing file is overwritten */
    const char *device; /* NULL where none was named */
    struct sl_mpm_info info;
    double seconds;
};

struct options {
    struct rule_files files;
    struct compiled compiled;
    bool json, list, strict;
    const char *explained; /* SID or GID:SID; NULL: none */
};

typedef const struct sl_diag *diag_at(const struct sl_rules *rules, size_t i);

static void print_diags(const struct sl_rules *rules, diag_at *at, const char *indent)
{
    const struct sl_diag *diag;

    for (size_t i = 0; (diag = at(rules, i)) != NULL; i++) {
        char line[1100], safe[1100];

        sl_diag_format(diag, line, sizeof line);
        printf("%s%s\n", indent, cli_printable(line, safe, sizeof safe));
    }
}

static void print_lacks(const struct sl_rules *rules, size_t n_skipped)
{
    struct sl_rules_lack lack;
    char text[32], alone[32], safe[128];

    printf("%12s skipped", cli_count(n_skipped, text));
    if (n_skipped != 0)
        printf("; by keyword: rules that have it, and those that it stops alone");
    putchar('\n');
    for (size_t i = 0; sl_rules_skip_reason(rules, i, &lack); i++)
        printf("%14s%10s%10s  %s\n", "", cli_count(lack.rules, text), cli_count(lack.alone, alone),
               cli_printable(lack.keyword, safe, sizeof safe));
}

static void print_text(const struct sl_rules *rules, const struct options *options)
{
    const struct compiled *compiled = &options->compiled;
    static const char indent[] = "              ";
    struct sl_rules_count count;
    char text[32];

    rule_settings_print(&options->files, "", options->list, stdout);
    sl_rules_count(rules, &count);
    printf("%12s %s read\n", cli_count(count.lines, text), count.lines == 1 ? "rule" : "rules");
    printf("%12s understood", cli_count(count.loaded, text));
    if (count.without_literal != 0)
        printf("; without a literal, so evaluated on each packet of their protocol or port: %s",
               cli_count(count.without_literal, text));
    printf("\n%12s with the gid and sid of another (the highest rev stays)\n",
           cli_count(count.duplicates, text));
    if (count.unknown_class != 0)
        printf("%12s of an unknown class (priority 3)\n", cli_count(count.unknown_class, text));
    print_diags(rules, sl_rules_unknown_class, indent);
    printf("%12s bad\n", cli_count(count.bad, text));
    print_diags(rules, sl_rules_bad_line, indent);
    print_lacks(rules, count.skipped);
    if (options->list)
        print_diags(rules, sl_rules_skipped_rule, "");
    if (compiled->path != NULL) {
        char safe[512], bytes[32];

        printf("%12s literals compiled into %s: %s, %s, %.3f s\n",
               cli_count(compiled->info.n_literals, text),
               cli_printable(compiled->path, safe, sizeof safe), compiled->info.algorithm,
               cli_bytes((double)compiled->info.table_len, bytes), compiled->seconds);
    }
}

static json_t *json_diag(const struct sl_diag *diag, const char *what)
{
    json_t *object =
        json_pack("{s:o, s:I, s:o}", "file", cli_json_text(diag->file, strlen(diag->file)), "line",
                  (json_int_t)diag->line, what, cli_json_text(diag->text, strlen(diag->text)));

    if (diag->column != 0)
        json_object_set_new(object, "column", json_integer((json_int_t)diag->column));
    return object;
}

static json_t *json_diags(const struct sl_rules *rules, diag_at *at, const char *what)
{
    json_t *array = json_array();
    const struct sl_diag *diag;

    for (size_t i = 0; (diag = at(rules, i)) != NULL; i++)
        json_array_append_new(array, json_diag(diag, what));
    return array;
}

static json_t *json_compiled(const struct compiled *compiled)
{
    return json_pack("{s:o, s:s, s:I, s:I, s:f}", "file",
                     cli_json_text(compiled->path, strlen(compiled->path)), "algorithm",
                     compiled->info.algorithm, "literals", (json_int_t)compiled->info.n_literals,
                     "bytes", (json_int_t)compiled->info.table_len, "seconds", compiled->seconds);
}

static void print_json(const struct sl_rules *rules, const struct options *options)
{
    const struct compiled *compiled = &options->compiled;
    struct sl_rules_count count;
    json_t *reasons = json_object(), *unlocked = json_object();
    struct sl_rules_lack lack;

    sl_rules_count(rules, &count);
    for (size_t i = 0; sl_rules_skip_reason(rules, i, &lack); i++) {
        json_object_set_new_nocheck(reasons, lack.keyword, json_integer((json_int_t)lack.rules));
        json_object_set_new_nocheck(unlocked, lack.keyword, json_integer((json_int_t)lack.alone));
    }

    json_t *root =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "rules", (json_int_t)count.lines,
                  "understood", (json_int_t)count.loaded, "without_literal",
                  (json_int_t)count.without_literal, "duplicates", (json_int_t)count.duplicates,
                  "bad", (json_int_t)count.bad, "skipped", (json_int_t)count.skipped,
                  "skipped_by_keyword", reasons, "unlocked_by_keyword", unlocked, "bad_lines",
                  json_diags(rules, sl_rules_bad_line, "reason"));
    if (count.unknown_class != 0)
        json_object_set_new(root, "unknown_classes",
                            json_diags(rules, sl_rules_unknown_class, "class"));
    if (options->files.settings != NULL)
        json_object_set_new(root, "from_config", rule_settings_json(&options->files));
    if (options->list)
        json_object_set_new(root, "skipped_rules",
                            json_diags(rules, sl_rules_skipped_rule, "keywords"));
    if (compiled->path != NULL)
        json_object_set_new(root, "compiled", json_compiled(compiled));
    json_dumpf(root, stdout, 0);
    putchar('\n');
    json_decref(root);
}

static enum sl_status compile_literals(struct sl_rules *rules, struct compiled *compiled,
                                       struct sl_diag *diag)
{
    const struct sl_literal *literals;
    size_t n_literals;
    struct sl_mpm_config config;
    struct sl_mpm_table *table;
    struct sl_device device;
    char why[SL_WHY_LEN];
    const char *name = compiled->device != NULL ? compiled->device : "auto";

    enum sl_status status = sl_device_choose(&device, name, why, diag);
    if (status != SL_OK)
        return status;
    sl_mpm_config_init(&config);
    config.device = device.kind;

    const uint64_t begin = clock_ns();
    status = sl_rules_compile(rules, &literals, &n_literals, diag);
    if (status == SL_OK)
        status = sl_mpm_build(&table, &config, literals, n_literals, diag);
    if (status != SL_OK)
        return status;
    compiled->seconds = (double)(clock_ns() - begin) / 1e9;
    sl_mpm_info(table, &compiled->info);
    status = sl_mpm_save(table, compiled->path, diag);
    sl_mpm_free(table);
    return status;
}

/* False: it failed, with an error printed. */
static bool compile(struct sl_rules *rules, struct compiled *compiled)
{
    struct sl_diag diag = {0};

    if (compiled->path == NULL || compile_literals(rules, compiled, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

/* Prints lines, whatever bytes a rule has in its texts. */
static void print_lines(char *text)
{
    char safe[4096];

    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        puts(cli_printable(line, safe, sizeof safe));
}

/* Reads a number of at most 32 bits up to `end`. False: it is none. */
static bool read_id(const char *text, char end, uint32_t *number, const char **behind)
{
    char *stop;
    const unsigned long long value = strtoull(text, &stop, 10);

    *number = (uint32_t)value;
    *behind = stop + 1;
    return text[0] >= '0' && text[0] <= '9' && *stop == end && value <= UINT32_MAX;
}

/* Prints how a rule is evaluated: that of SID, or of GID:SID. */
static int explain(struct sl_rules *rules, const char *id)
{
    enum { TEXT_LEN = 1 << 16 };
    uint32_t gid = 1, sid;
    const char *behind;

    if (!read_id(id, '\0', &sid, &behind) &&
        (!read_id(id, ':', &gid, &behind) || !read_id(behind, '\0', &sid, &behind))) {
        cli_error("--explain takes SID or GID:SID, not '%s'", id);
        return EXIT_FAILED;
    }

    const struct sl_literal *literals;
    size_t n_literals;
    struct sl_diag diag = {0};

    if (sl_rules_compile(rules, &literals, &n_literals, &diag) != SL_OK) {
        cli_diag(&diag);
        return EXIT_FAILED;
    }
    char *text = malloc(TEXT_LEN);
    const bool found = text != NULL && sl_rules_explain(rules, gid, sid, text, TEXT_LEN);

    if (found)
        print_lines(text);
    else
        cli_error("no rule of gid %u and sid %u is understood", gid, sid);
    free(text);
    return found ? EXIT_DONE : EXIT_FAILED;
}

/* Prints what of the rules is understood. Rules are compiled where the exit status is 0. */
static int compile_and_print(struct sl_rules *rules, int exit_status, struct options *options)
{
    struct compiled *compiled = &options->compiled;

    if (options->explained != NULL)
        return explain(rules, options->explained);
    if (exit_status != EXIT_DONE)
        compiled->path = NULL;
    if (!compile(rules, compiled))
        return EXIT_FAILED;
    (options->json ? print_json : print_text)(rules, options);
    return exit_status;
}

static int status_of(const struct sl_rules *rules, bool usable, bool strict)
{
    struct sl_rules_count count;

    sl_rules_count(rules, &count);
    if (!usable)
        return EXIT_FAILED;
    return strict && count.bad + count.unknown_class != 0 ? EXIT_BAD : EXIT_DONE;
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool check_options(const struct options *options)
{
    const struct rule_files *files = &options->files;
    const struct compiled *compiled = &options->compiled;

    if (files->n_paths == 0)
        cli_error("no rule file was named (usage: sluice rules FILE...)");
    else if (compiled->device != NULL && compiled->path == NULL)
        cli_error("--device '%s' needs --compile", compiled->device);
    else if (compiled->force && compiled->path == NULL)
        cli_error("--force needs --compile");
    else
        return compiled->path == NULL || (!rule_files_have(files, compiled->path) &&
                                          cli_may_write(compiled->path, compiled->force, true));
    return false;
}

/* -1: go on; otherwise the exit status. */
static int parse_option(struct options *options, int option)
{
    switch (option) {
    case 's':
        rule_files_set(&options->files, optarg);
        return -1;
    case 'F':
        options->files.from_config = optarg;
        return -1;
    case 'C':
        options->files.configurations[options->files.n_configurations++] = optarg;
        return -1;
    case 'l':
        options->list = true;
        return -1;
    case 'e':
        options->explained = optarg;
        return -1;
    case 'S':
        options->strict = true;
        return -1;
    case 'c':
        options->compiled.path = optarg;
        return -1;
    case 'd':
        options->compiled.device = optarg;
        return -1;
    case 'f':
        options->compiled.force = true;
        return -1;
    case 'j':
        options->json = true;
        return -1;
    default:
        return cli_end(option, usage);
    }
}

static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"set", required_argument, NULL, 's'},
        {"list", no_argument, NULL, 'l'},
        {"explain", required_argument, NULL, 'e'},
        {"strict", no_argument, NULL, 'S'},
        {"compile", required_argument, NULL, 'c'},
        {"force", no_argument, NULL, 'f'},
        {"device", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},
        {"from-config", required_argument, NULL, 'F'},
        {"classification-file", required_argument, NULL, 'C'},
        {"reference-config-file", required_argument, NULL, 'C'},
        {"threshold-file", required_argument, NULL, 'C'},
        {"help", no_argument, NULL, 'h'},
        {0}};
    static const int repeated[] = {'s', 'C', 0};
    struct cli_options known = {
        .command = "rules", .letters = "h", .names = long_options, .repeated = repeated};
    int option;

    if (!rule_files_init(&options->files, argc))
        return EXIT_FAILED;
    while ((option = cli_next_option(&known, argc, argv)) != -1) {
        const int exit_status = parse_option(options, option);

        if (exit_status != -1)
            return exit_status;
    }
    for (; optind < argc; optind++)
        options->files.paths[options->files.n_paths++] = argv[optind];
    return rule_files_finish(&options->files) && check_options(options) ? -1 : EXIT_FAILED;
}

int command_rules(int argc, char **argv)
{
    struct options options = {0};
    struct sl_rules *rules = NULL;
    bool usable;
    int exit_status = parse_options(&options, argc, argv);

    if (exit_status == -1)
        exit_status =
            rule_files_load(&options.files, &rules, &usable)
                ? compile_and_print(rules, status_of(rules, usable, options.strict), &options)
                : EXIT_FAILED;
    sl_rules_free(rules);
    rule_files_free(&options.files);
    return exit_status;
}
