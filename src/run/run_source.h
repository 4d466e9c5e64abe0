/* SPDX-License-Identifier: MIT */
/* The source of a run: capture files one after another, an interface, or the caller's function. */
#ifndef RUN_SOURCE_H
#define RUN_SOURCE_H

#include <pthread.h>
#include <stdatomic.h>

#include "run_fragments.h"
#include "run_notices.h"
#include "sluice/capture.h"
#include "sluice/dissect.h"
#include "sluice/stats.h"

struct run_capture;

struct run_source {
    const struct sl_run_config *config;
    struct run_notices *notices;

    struct run_capture *capture;     /* the capture being read; NULL between two */
    size_t next;                     /* index of the next file */
    uint64_t filled;                 /* packets of the caller's function */
    struct run_hosts *hosts;         /* NULL: all are alike */
    struct run_fragments *fragments; /* one batch at a time, in order */
    bool joins;                      /* datagrams are looked at beyond single packets */
    struct sl_flow_table *flows;
    bool totals;  /* rules ask what flows have sent, or events of flows show it in alerts, too */
    bool settles; /* flows keep the facts that packets bring: for events, or for rules */

    /* A first file that fails ends the opening with its reason, unless a later one opens. */
    bool opening, has_pending;
    struct sl_diag pending;

    /* The capture that a stop ends. A stop may run on any thread while the filling thread closes
     * the capture. The closing thread clears the pointer first, and waits until no stop holds it.
     */
    _Atomic(struct sl_capture *) to_stop;
    atomic_int stopping;
    atomic_bool stopped;

    pthread_mutex_t lock;             /* guards the fields below: captures end on any thread */
    uint64_t n_failed;                /* files that could not be read to their end */
    struct sl_capture_stats captured; /* of the captures that are closed */
    struct sl_capture_stats live;     /* of the open interface, at most 200 ms old */
    uint64_t queried_ns;              /* when the kernel was asked for it */
    uint64_t packets, bytes;          /* of the batches that were applied, and: */
    struct sl_dissect_stats dissected;
    struct sl_flow_stats flow_stats;
    struct sl_fragment_stats fragment_stats;
};

/* Keeps the config. Frees nothing that run_source_clear does not. */
void run_source_init(struct run_source *source, const struct sl_run_config *config,
                     struct run_notices *notices);

/* Whether all captures are files, as opposed to pipes and interfaces. *len: bytes of all. */
bool run_source_is_files(const struct sl_run_config *config, uint64_t *len);

/* Opens the first capture, of a pipe when its header has come. Without one that opens, the status
 * is the last file's. */
enum sl_status run_source_open(struct run_source *source, struct sl_diag *diag);

/* Makes the table of flows with the slots of modules that keep something in them. */
enum sl_status run_source_open_flows(struct run_source *source, const struct sl_flow_slot *slots,
                                     uint32_t n_slots, bool keeps_ends, struct sl_diag *diag);

/* Whether flows that end are events, and a sink or a function takes events. */
bool run_source_reports_flows(const struct run_source *source);

/* Ends the capture; any thread, and signal handlers. */
void run_source_stop(struct run_source *source);

/* The counters so far, also while batches are read. Any thread. */
void run_source_snapshot(struct run_source *source, struct sl_stats *stats);

/* The name of a packet's source (origin.source). */
const char *run_source_name(const struct run_source *source, uint16_t index);

/* Whether there was anything to read. False: of the files none is a capture. */
bool run_source_found(const struct run_source *source);

/* No batch has a part of a capture any more. */
void run_source_clear(struct run_source *source);

/* ---- for the batches of the source ----------------------------------------------------------- */

/* An open capture. The filling thread holds it, and each part of it that is not joined yet. */
struct run_capture {
    struct sl_capture *capture;
    atomic_uint holders;
};

/* Opens files until one opens. SL_END: there are no more, or the run is stopped. */
enum sl_status run_source_next(struct run_source *source, struct sl_diag *diag);

/* The last holder closes the capture. */
void run_source_release(struct run_source *source, struct run_capture *capture);

/* The filling thread has no more to do with its capture. */
void run_source_end_capture(struct run_source *source);

/* Counts a file that failed and gives notice of it. */
void run_source_fail_file(struct run_source *source, const struct sl_diag *diag);

#endif
