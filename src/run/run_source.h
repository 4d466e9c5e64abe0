/* SPDX-License-Identifier: MIT */
/* The source of a run: capture files one after another, or an interface, dissected and tracked. */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <pthread.h>

#include "sluice/capture.h"
#include "sluice/dissect.h"
#include "sluice/flow.h"
#include "sluice/pipeline.h"
#include "sluice/stats.h"

struct source_open;
struct source_batch;

struct source {
    const char **paths; /* capture files; or, with an interface, none */
    size_t n_paths;
    const char *interface;   /* NULL: files */
    const char *filter;      /* NULL: all packets */
    uint64_t max_latency_ns; /* what packets of interfaces and pipes wait for others; 0: no bound */

    struct source_open *open;     /* the capture being read; NULL between two */
    struct source_batch *batches; /* what is known of each batch in flight */
    size_t next;                  /* index of the next path */
    struct sl_flow_table *flows;

    pthread_mutex_t lock;             /* guards what follows: captures end on any thread */
    size_t n_failed;                  /* files that could not be read to their end */
    struct sl_capture_stats captured; /* of the captures that are closed */
    struct sl_capture_stats live;     /* of the open interface, at most 200 ms old */
    uint64_t looked_ns;               /* when it was asked */
    uint64_t packets, bytes;          /* of the batches that were ordered: with */
    struct sl_dissect_stats dissected;
    struct sl_flow_stats flow_stats;
};

/* Opens the first capture, of a pipe when its header has come, so that a wrong name and what is no
 * capture fail before anything else is done. False: said on stderr. */
bool source_open(struct source *source);

/* From now on the first SIGINT or SIGTERM ends the capture cleanly, a second one the process. */
void source_take_signals(void);

/* Sizes of batches with which large files go in parts. */
void source_batches(struct sl_pipeline_config *config);

/* The steps of a batch, as sl_pipeline_config's fill, prepare, order and apply: packets, or a claim
 * on a part of a file; packets, dissected; what comes before them, and their flows; each packet's
 * number and flow. Files that cannot be read, or not to their end, are said on stderr and counted,
 * and the next one follows. */
enum sl_status source_fill(struct source *source, struct sl_batch *batch, struct sl_diag *diag);
enum sl_status source_prepare(struct source *source, struct sl_batch *batch);
enum sl_status source_order(struct source *source, struct sl_batch *batch);
void source_apply(struct sl_batch *batch);

/* Room for a pointer of whoever digests the batch; NULL at first. */
void **source_room(const struct sl_batch *batch);

/* What was counted so far, also while it is being read. The caller has zeroed *stats. */
void source_look(struct source *source, struct sl_stats *stats);

/* The name of a packet's source (origin.source). */
const char *source_name(const struct source *source, uint16_t index);

/* Closes the capture that a failed run left open, so that `captured` is whole. */
void source_end(struct source *source);

/* After source_end: whether there was anything to read, or all that was named is no capture. */
bool source_was_capture(const struct source *source);

void source_close(struct source *source);

#endif
