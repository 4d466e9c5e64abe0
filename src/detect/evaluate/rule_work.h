/* SPDX-License-Identifier: MIT */
/* What the walks of a rule may spend on a packet, and where they work. */
#ifndef DETECT_RULE_WORK_H
#define DETECT_RULE_WORK_H

#include "detect/rule.h"
#include "rule_scan.h"

/* The bytes that a section decodes, while its later steps walk over them. */
struct rule_decoded {
    struct rule_scan scan;
    uint8_t *bytes; /* malloc'ed */
    uint32_t cap;
    bool no_memory; /* once set it stays */
};

void rule_decoded_free(struct rule_decoded *decoded);

/* The workspace that the walks of an evaluator share. */
struct rule_work {
    struct rule_matcher *matcher;       /* NULL: no rule has an expression */
    uint64_t effort_left;               /* of the rule at hand, */
    uint64_t search_left;               /* and of what its contents and cursors take */
    uint64_t named[RULE_NAMES_MAX + 1]; /* by its walks so far */
    struct rule_decoded decoded;
    bool stopped;       /* a part of its walk was left out */
    uint64_t n_stopped; /* such rules, of all packets of the batch */
    uint64_t given;     /* all that the rule at hand may spend */
    uint64_t spent;     /* by the rules before, and by transforms */
};

/* The effort that a rule may spend on a packet with so many payload bytes, beside half as much for
 * contents and cursors. A unit is a step of 1 to 2 ns. */
uint64_t rule_work_effort(uint32_t len);

/* The same for the expressions among the transforms of a buffer. */
uint64_t rule_work_transform_effort(uint32_t len);

/* The steps of all rules of the batch so far. */
uint64_t rule_work_spent(const struct rule_work *work);

/* Before a batch: nothing was spent, and no rule was stopped. */
void rule_work_reset(struct rule_work *work);

/* Readies the work for a rule, on a packet whose payload has so many bytes. */
void rule_work_begin(struct rule_work *work, uint32_t len);

/* Whether the rule may spend so much. False: it is stopped. */
bool rule_work_spend(struct rule_work *work, uint64_t effort);

/* The same for contents and cursors: steps behind a laborious expression can still be met. */
bool rule_work_search(struct rule_work *work, uint64_t effort);

/* A part of the rule's walk is left out. */
void rule_work_stop(struct rule_work *work);

#endif
