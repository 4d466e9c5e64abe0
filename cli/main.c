/* SPDX-License-Identifier: MIT */
/* The command: a table of subcommands. */
#include <string.h>

#include "cli.h"
#include "json_text.h"
#include "options.h"
#include "sluice/device.h"
#include "sluice/version.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *text;
} commands[] = {
    {"run", command_run, "read captures or an interface: header checks, signatures, alerts"},
    {"encode", command_encode, "write a capture without what it repeats"},
    {"decode", command_decode, "give back what encode was given, bit for bit"},
    {"scan", command_scan, "scan files for the signatures of ClamAV's databases"},
    {"rules", command_rules, "what of rule files is understood, what is skipped, and why"},
    {"lookup", command_lookup, "names in tables of routes and block lists"},
    {"tunnel", command_tunnel, "two boxes and a link that carries no repeats"},
    {"bench", command_bench, "rates of this machine, beside its ceilings"},
    {"devices", command_devices, "what can run here, what cannot, and why"},
};

enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
    fprintf(out, "usage: sluice COMMAND [OPTION...]\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].text);
    fprintf(
        out,
        "\n  sluice COMMAND --help lists its options; sluice --version prints the version.\n"
        "  Exit status: 0 done, 1 what scan, rules --strict and lookup --exit-status look for,\n"
        "  2 an error (docs/exit-status.md).\n");
}

static const char *nearest_command(const char *name)
{
    const char *names[N_COMMANDS + 1] = {NULL};

    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    return cli_nearest(name, names);
}

/* A misspelled limit would limit nothing; a limit beyond the CPU changes nothing. */
static bool is_misspelled(enum sl_status environment, const struct sl_diag *diag)
{
    if (environment != SL_OK)
        cli_diag(diag);
    return environment == SL_EINVAL;
}

int main(int argc, char **argv)
{
    struct sl_diag diag = {0};

    if (!cli_hold_descriptors())
        return EXIT_FAILED;
    cli_catch_bus_errors();
    cli_json_watch();
    const enum sl_status environment = sl_device_prepare(&diag);
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_FAILED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return cli_finish(EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("sluice %s\n", sl_version());
        return cli_finish(EXIT_DONE);
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return is_misspelled(environment, &diag)
                       ? EXIT_FAILED
                       : cli_finish(commands[i].run(argc - 1, argv + 1));
    const char *const nearest = nearest_command(argv[1]);
    cli_error("'%s' is no command%s%s%s (sluice --help lists them)", argv[1],
              nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
              nearest != NULL ? "'?" : "");
    return EXIT_FAILED;
}
