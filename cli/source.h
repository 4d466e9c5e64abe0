/* SPDX-License-Identifier: MIT */
/* The source of a run: capture files one after another, or an interface, dissected and tracked. */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "sluice/capture.h"
#include "sluice/dissect.h"
#include "sluice/flow.h"

struct source {
    const char **paths; /* capture files; or, with an interface, none */
    size_t n_paths;
    const char *interface; /* NULL: files */
    const char *filter;    /* NULL: all packets */

    struct sl_capture *capture; /* the open one; NULL between two */
    size_t next;                /* index of the next path */
    size_t n_failed;            /* files that could not be read to their end */
    struct sl_flow_table *flows;
    struct sl_dissect_stats dissected;
    struct sl_capture_stats captured; /* of the captures that are closed */
};

/* Opens the first capture, so that a wrong name fails before anything else is done, and takes
 * SIGINT and SIGTERM: the first ends the capture cleanly, a second one the process. False: said on
 * stderr. */
bool source_open(struct source *source);

/* Fills a batch with dissected, tracked packets. Files that cannot
 * be read, or not to their end, are said on stderr and counted, and the next one follows. */
enum sl_status source_fill(struct source *source, struct sl_batch *batch, struct sl_diag *diag);

/* The name of a packet's source (origin.source). */
const char *source_name(const struct source *source, uint16_t index);

/* Closes the capture that a failed run left open, so that `captured` is whole. */
void source_end(struct source *source);

void source_close(struct source *source);

#endif
