/* SPDX-License-Identifier: MIT */
/* A run: the state that its files share. */
#ifndef RUN_INTERNAL_H
#define RUN_INTERNAL_H

#include "own_checksums.h"
#include "run_batch.h"
#include "run_clock.h"
#include "run_counts.h"
#include "run_evidence.h"
#include "run_filestore.h"
#include "run_flows.h"
#include "run_paces.h"
#include "run_pinning.h"
#include "run_redundancy.h"
#include "run_sinks.h"

/* A thread that probes the devices of a run. */
struct run_prober {
    bool started;
    pthread_t thread;
    enum sl_status status; /* when it was joined */
    struct sl_diag diag;
};

/* What "auto" knows of runs before, and what this one adds. */
struct run_measures {
    uint64_t key;
    struct run_paces before;
    uint64_t created_ns, first_ns; /* CLOCK_MONOTONIC; the first batch was asked for */
    uint64_t gpu_ns;               /* spent on GPUs until then, and waited for */
    double cpu_rate, gpu_rate;     /* bytes a second of the engines; 0: no trial was made */
};

struct sl_run {
    struct sl_run_config config;
    struct run_notices notices;
    struct run_variants variants;
    struct run_source source;
    struct run_streams *streams; /* NULL: nothing reads them */
    struct run_viruses *viruses; /* NULL: none is looked for across segments */
    struct run_apps *apps;       /* NULL: nobody asks what flows say */
    struct sl_state *state;      /* NULL: no rule has any */
    struct run_redundancy redundancy;
    struct run_sinks sinks;
    struct run_counts counts;
    struct own_checksums own_checksums;
    struct run_evidence *evidence;   /* NULL: none is asked for */
    struct run_filestore *filestore; /* NULL: no file is stored */
    struct run_batch *batches;       /* all that are or were in flight */
    struct run_clock stats_clock, flush_clock;

    struct sl_pipeline_config pipeline;
    struct sl_pipeline_stats stats;
    struct sl_pipeline_monitor *monitor;
    char why[SL_WHY_LEN]; /* these devices */
    struct run_prober prober;
    struct run_pinning pinning;
    struct run_measures measures;
    bool opened, ready, executed; /* opening began, succeeded; executing began */
    bool started;                 /* a batch was filled: its packets are gone from the source */
    enum sl_status status;        /* of all but the closing of sinks */

    pthread_mutex_t lock;      /* guards the fields below */
    struct run_policy *policy; /* the published one; NULL until the tables are built */
    int64_t start_ns;          /* since 1970-01-01 UTC */
    uint64_t begin_ns;         /* CLOCK_MONOTONIC; 0 until the run begins */
};

/* The published policy, held; NULL: there is none yet. Any thread. */
struct run_policy *run_take_policy(struct sl_run *run);

/* Sets the pipeline's steps but the engines. */
void run_set_steps(struct sl_run *run);

/* Sets the shards of its steps, once there are flows. */
void run_set_shards(struct sl_run *run, const struct run_policy *policy);

/* Begins to resolve the config's devices. The context of a GPU takes as long as many rules, so a
 * thread makes it beside them. */
void run_probe_devices(struct sl_run *run);

/* Waits for that thread, if there is one. */
void run_join_prober(struct sl_run *run);

/* Resolves the config's devices: the pipeline has them from then on. */
enum sl_status run_choose_devices(struct sl_run *run, struct sl_diag *diag);

/* Where "auto" left the choice: keeps the faster devices, with a matcher for them. */
enum sl_status run_try_devices(struct sl_run *run, const struct run_policy_build *build,
                               struct run_policy *policy, struct sl_diag *diag);

/* Adds what the run took, which has ended well, to the file of paces. */
void run_keep_pace(struct sl_run *run);

/* Runs the pipeline; gives up a GPU that was only preferred and cannot be used for these tables. */
enum sl_status run_pipeline(struct sl_run *run, struct sl_diag *diag);

#endif
