/* SPDX-License-Identifier: MIT */
/* The results that a worker makes of a batch and its hits, before the batch is drained. */
#ifndef RUN_DIGEST_H
#define RUN_DIGEST_H

#include "community_ids.h"
#include "dns_messages.h"
#include "name_events.h"
#include "payload_scan.h"
#include "run_policy.h"
#include "run_streams.h"

struct run_sinks;

/* A mark's call: a candidate's index and 1, or 0, and whether its flow counts a DNS message. */
enum { CALL_CANDIDATE = 0x7FFFFFFF };
#define CALL_MESSAGE 0x80000000u

/* Events of a batch that are written ahead for a sink. */
struct held_events {
    struct sl_sink *sink; /* NULL: the sink takes events one by one alone */
    bool whole;           /* it has all of the batch at hand */
};

/* In memory that is kept from batch to batch. */
struct run_digest {
    struct run_policy *policy;      /* that it was made for; held */
    struct sl_evaluator *evaluator; /* NULL: there are no rules */
    const struct sl_alert *alerts;
    size_t n_alerts;
    struct dns_messages messages;        /* none where they are no events */
    struct payload_scan *scan;           /* NULL: payloads are not scanned */
    struct name_events *name_events;     /* NULL: names are not looked up */
    struct community_ids *community_ids; /* NULL: no sink shows them */
    struct held_events held[SL_RUN_SINKS_MAX];
};

/* The digest is NULL after a failure. */
enum sl_status run_digest_create(struct run_digest **digest, struct run_policy *policy,
                                 const struct run_sinks *sinks, struct sl_diag *diag);
void run_digest_free(struct run_digest *digest); /* accepts NULL */

/* Evaluates the rules and verifies the virus signatures of a batch; hits[e] are of engine e.
 * `streams` and `apps` have the batch's. */
enum sl_status run_digest_evaluate(struct run_digest *digest, const struct sl_batch *batch,
                                   const struct stream_batch *streams, const struct app_batch *apps,
                                   const struct sl_hits *hits, struct sl_diag *diag);

/* Lists what packets add to their flows: alerts of rules or viruses, application protocols, and
 * calls for candidates and messages. Returns how many there are; `mark` has room for all packets of
 * the batch. */
size_t run_digest_mark(const struct run_digest *digest, const struct sl_batch *batch,
                       struct sl_flow_mark *mark);

#endif
