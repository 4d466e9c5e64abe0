/* SPDX-License-Identifier: MIT */
/* Parts that programs of sluice share: exit statuses, errors, and figures in text. */
#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sluice/status.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 2 }; /* 1: docs/exit-status.md */

/* Opens closed standard descriptors, so that no other file gets their numbers. False: it failed. */
bool cli_hold_descriptors(void);

/* Flushes standard output. Returns exit_status, or EXIT_FAILED where a write failed or JSON lacks
 * something. */
int cli_finish(int exit_status);

/* Prints "sluice: ..." to stderr, as cli_printable writes it. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_diag(const struct sl_diag *diag);

/* Whether both name one regular file, which need not be there yet. */
bool cli_is_one_file(const char *a, const char *b);

/* Whether `out` is a file that is there, and is `in` by any name, or lies right in the folder `in`:
 * writing would destroy it. True: the error was printed. */
bool cli_is_input(const char *out, const char *in);

/* Reads digits as a number of at most max. False: they are none. */
bool cli_parse_number(const char *text, uint64_t max, uint64_t *value);

/* Reads the number of an option, from lowest to highest. The error names the unit behind them, such
 * as " seconds". False: the error was printed. */
bool cli_parse_number_of(const char *option, const char *text, uint64_t lowest, uint64_t highest,
                         const char *unit, uint64_t *value);

/* Reads "12", "12K", "12M" or "12G" (powers of 1,024, either case) as bytes. False: it is none of
 * these. */
bool cli_parse_bytes(const char *text, uint64_t *bytes);

/* 12345678 as "12,345,678". Returns out. */
char *cli_count(uint64_t value, char out[32]);

/* Bytes as "9.8 MB" (powers of 1,000). Returns out. */
char *cli_bytes(double bytes, char out[32]);

/* Writes text from outside for a terminal, as UTF-8. Each byte of a control character, and each
 * byte that is no UTF-8, becomes \xNN, as in all sinks. Text beyond out's room is cut. Returns out.
 */
char *cli_printable(const char *text, char *out, size_t out_len);

#endif
