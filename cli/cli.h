/* SPDX-License-Identifier: MIT */
/* The subcommands, and their shared parts. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "console.h"

/* From here on, reading a mapped file that was cut ends the command with an error. */
void cli_catch_bus_errors(void);

/* Each subcommand gets argv from its own name on and returns the exit status. */
int command_run(int argc, char **argv);
int command_encode(int argc, char **argv);
int command_decode(int argc, char **argv);
int command_rules(int argc, char **argv);
int command_lookup(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_scan(int argc, char **argv);
int command_tunnel(int argc, char **argv);

#endif
