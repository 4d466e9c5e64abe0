/* SPDX-License-Identifier: MIT */
/* The results that a worker makes of a batch and its hits, before the batch is drained. */
#ifndef RUN_DIGEST_H
#define RUN_DIGEST_H

#include "community_ids.h"
#include "dns_messages.h"
#include "file_scan.h"
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
    const uint32_t *tagged; /* packets that rules have tagged */
    size_t n_tagged;
    const struct app_batch *apps;    /* of the batch, */
    const struct name_batch *joined; /* and its names across segments; NULL: there are none */
    struct late_mark *late_mark;     /* of flows that ended: by shard and index of the end */
    uint32_t n_late_marks, max_late_marks;
    struct dns_messages messages;        /* none where they are no events */
    struct payload_scan *scan;           /* NULL: payloads are not scanned */
    struct file_scan *file_scan;         /* NULL: files are not scanned */
    struct name_events *name_events;     /* NULL: names are not looked up */
    struct community_ids *community_ids; /* NULL: no sink shows them */
    struct held_events held[SL_RUN_SINKS_MAX];
};

/* The digest is NULL after a failure. */
enum sl_status run_digest_create(struct run_digest **digest, struct run_policy *policy,
                                 const struct run_sinks *sinks, struct sl_diag *diag);
void run_digest_free(struct run_digest *digest); /* accepts NULL */

/* The parts of a batch that rules see beside its packets. */
struct run_seen {
    const struct sl_stream_part *const *parts; /* see sl_evaluator_set_streams */
    const struct sl_stream_facts *facts;       /* of each item; NULL: none */
    const struct app_batch *apps;
};

/* Evaluates the rules and verifies the virus signatures of a batch; hits[e] are of engine e. */
enum sl_status run_digest_evaluate(struct run_digest *digest, const struct sl_batch *batch,
                                   const struct run_seen *seen, const struct sl_hits *hits,
                                   struct sl_diag *diag);

/* The facts of a flow that ended: the flow is settled with them before it goes. */
struct late_mark {
    const struct late_flow *flow;
    struct sl_flow_mark mark; /* its item is the packet that stands for the flow */
};

/* The packet that stands for the flow of an alert, in the batch of app_batch's rules.
 * SL_ALERT_NO_MESSAGE: the alert is of no flow that ended. */
static inline uint32_t run_digest_late(const struct run_digest *digest,
                                       const struct sl_alert *alert)
{
    const struct app_batch *apps = digest->apps;

    const struct sl_late *late;
    uint32_t index;

    if (apps == NULL || alert->message == SL_ALERT_NO_MESSAGE || alert->message < apps->n)
        return SL_ALERT_NO_MESSAGE;
    late = &apps->rules.late;
    index = alert->message - apps->n;
    return index < late->n_messages ? late->messages[index].item : index - late->n_messages;
}

/* Lists the marks of flows that ended. False: no memory. */
bool run_digest_mark_late(struct run_digest *digest);

/* Lists the facts that packets add to their flows: alerts of rules or viruses, application
 * protocols, and calls for candidates and messages. Returns how many there are; `mark` has room for
 * all packets of the batch. */
size_t run_digest_mark(const struct run_digest *digest, const struct sl_batch *batch,
                       struct sl_flow_mark *mark);

#endif
