/* SPDX-License-Identifier: MIT */
/* The policy that batches are evaluated with: header checks, rules, their matcher, virus signatures
 * and names. It is a counted snapshot, and immutable once a batch holds it. A batch holds the one
 * that was published when it was filled, until it is drained. So publishing another never changes a
 * batch in flight. */
#ifndef RUN_POLICY_H
#define RUN_POLICY_H

#include <stdatomic.h>

#include "app/app_messages.h"
#include "run_notices.h"
#include "run_streams.h"
#include "run_variant.h"

struct run_policy {
    atomic_uint holders;

    /* Each engine's index in the pipeline; -1: not switched on. */
    int header_engine, matcher_engine, virus_engine, names_engine;

    struct sl_header_table *header;

    struct sl_rules *rules;
    bool owns_rules;
    const struct sl_literal *literals; /* of the rules */
    size_t n_literals;
    struct sl_mpm_table *matcher;
    struct class_matcher *classes; /* of the CPU alone; NULL: the matcher has all items, */
    uint8_t *wanted;               /* and the classes that want each literal; or NULL */
    uint32_t buffers;              /* of the literals: SL_BUFFER_* */
    bool sees_streams;             /* rules inspect TCP streams, or ask for their facts: */
    bool asks_stream_facts;
    bool finds_app;   /* packets need their application protocol */
    bool reports_dns; /* each DNS message is an event */
    bool hears;       /* rules inspect messages of flows */
    bool reads_apps;  /* messages of flows are asked for: */
    struct app_config apps;

    struct sl_clamav_db *database;
    const struct sl_clamav_db *file_database; /* the same, where files are scanned */
    bool joins_viruses;                       /* viruses lie across segments, too */

    struct run_seams seams;
    struct seam_table *seam_table; /* of the rules; NULL: there is none */

    struct sl_names *names;
    struct sl_packet_names_watch *watch;
    bool joins_names; /* names lie across segments, too */
};

/* The inputs of building. */
struct run_policy_build {
    const struct sl_run_config *config;
    const struct run_variants *variants;
    struct run_notices *notices;
    struct sl_pipeline_config *pipeline; /* its devices are chosen; engines are added to it */
};

/* Whether the parts that streams get are looked at; whether streams are. */
static inline bool run_policy_takes_parts(const struct run_policy *policy)
{
    return policy->sees_streams || policy->joins_viruses;
}

static inline bool run_policy_has_streams(const struct run_policy *policy)
{
    return run_policy_takes_parts(policy) || policy->reads_apps || policy->joins_names;
}

/* An empty policy with one holder; NULL: no memory. */
struct run_policy *run_policy_create(void);
struct run_policy *run_policy_hold(struct run_policy *policy);

/* The last holder frees it. Accepts NULL. */
void run_policy_release(struct run_policy *policy);

/* Adds an engine to the pipeline; returns its index. */
int run_add_engine(struct sl_pipeline_config *pipeline, const struct sl_engine *engine,
                   const void *table);

/* Each builds its part, where the config switches it on, and adds its engine. Before the policy is
 * published. */
enum sl_status run_policy_build_header(struct run_policy *policy,
                                       const struct run_policy_build *build, struct sl_diag *diag);
enum sl_status run_policy_build_viruses(struct run_policy *policy,
                                        const struct run_policy_build *build, struct sl_diag *diag);
enum sl_status run_policy_build_names(struct run_policy *policy,
                                      const struct run_policy_build *build, struct sl_diag *diag);
/* Behind run_policy_load_rules. */
enum sl_status run_policy_build_matcher(struct run_policy *policy,
                                        const struct run_policy_build *build, struct sl_diag *diag);

/* Needs no device. */
enum sl_status run_policy_load_rules(struct run_policy *policy,
                                     const struct run_policy_build *build, struct sl_diag *diag);

/* Decides the values that flows are asked for. Behind the rules. `reports_flows`: their protocols
 * are events. */
void run_policy_choose_apps(struct run_policy *policy, const struct sl_run_config *config,
                            bool reports_flows);

/* Whether the values that files are asked for can be made. SL_EUNSUPPORTED, SL_ENOMEM. */
enum sl_status run_policy_check_files(const struct run_policy *policy, struct sl_diag *diag);

/* Builds the matcher, which is the last engine but for those that join it, anew for the CPU; of one
 * from a file its other tables. */
enum sl_status run_policy_match_on_cpu(struct run_policy *policy,
                                       const struct run_policy_build *build, struct sl_diag *diag);

#endif
