/* SPDX-License-Identifier: MIT */
/* sluice run --redundancy, and the options that go with it. */
#ifndef CLI_RUN_REDUNDANCY_OPTION_H
#define CLI_RUN_REDUNDANCY_OPTION_H

#include "sluice/run.h"

struct run_redundancy_option {
    const char *spec; /* SAMPLER[,p=N][,w=N][,cache=N][,interval=N|Ns][,rtt=MS][,chunks][,no-raise];
                         NULL: off */
    const char *plot; /* an SVG file; NULL: none */
    bool force;       /* the SVG file is overwritten */
    const char *train; /* a capture that samplebyte's markers are learned from; NULL: none */
};

/* Reads the options into the run's config, in which `compare` is set. False: the reason is on
 * stderr. */
bool run_redundancy_option_parse(const struct run_redundancy_option *option,
                                 struct sl_run_redundancy *redundancy);

#endif
