/* SPDX-License-Identifier: MIT */
/* The argument of --events. */
#ifndef CLI_RUN_EVENTS_OPTION_H
#define CLI_RUN_EVENTS_OPTION_H

#include <stdbool.h>
#include <stdint.h>

struct run_events_option {
    const char *list; /* NULL: the library's default */
    bool all, stats;  /* it has "all", "stats" */
};

/* Sets the kinds of events from the list, if there is one. stats_seconds is that of the config.
 * False: an error was printed. */
bool run_events_option_parse(struct run_events_option *option, uint32_t *events,
                             uint32_t stats_seconds);

#endif
