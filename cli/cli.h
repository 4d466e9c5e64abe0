/* SPDX-License-Identifier: MIT */
/* What the subcommands share: exit statuses, errors and the printing of figures. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sluice/status.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 2 }; /* 1 is "found something" of the scanner's users */

/* Each subcommand gets argv from its own name on and returns the exit status. */
int command_run(int argc, char **argv);
int command_encode(int argc, char **argv);
int command_decode(int argc, char **argv);
int command_rules(int argc, char **argv);
int command_lookup(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_scan(int argc, char **argv);

/* Prints "sluice: ..." to stderr, as cli_printable writes it. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_diag(const struct sl_diag *diag);

/* After getopt returned '?' or ':' for argv[optind - 1]: the error, and EXIT_FAILED. */
int cli_bad_option(char **argv, const char *command);

/* Whether `out` is the file `in` by whatever name, which writing it would destroy; that was said.
 */
bool cli_is_input(const char *out, const char *in);

/* 12345678 as "12,345,678". Returns out. */
char *cli_count(uint64_t value, char out[32]);

/* Bytes as "9.8 MB" (powers of 1,000). Returns out. */
char *cli_bytes(double bytes, char out[32]);

/* Text from outside for a terminal: UTF-8, and each byte of what would control one, or is no UTF-8,
 * becomes \xNN, as in all sinks. What out has no room for is left out. Returns out. */
char *cli_printable(const char *text, char *out, size_t out_len);

#endif
