/* SPDX-License-Identifier: MIT */
/* The body that a message's packets hold, joined when a rule asks for it first. */
#ifndef DETECT_RULE_BODY_H
#define DETECT_RULE_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/app.h"

/* Memory of an evaluator. Zeroed at first. */
struct rule_body {
    uint8_t *bytes;                  /* SL_APP_BODY_MAX; NULL: no rule has asked so far */
    const struct sl_app_part *first; /* of the body; NULL: none is joined */
    uint32_t len;                    /* that is joined */
    bool no_memory;
};

/* Before a batch: parts of the batch before are gone. */
void rule_body_begin(struct rule_body *body);

/* The first len bytes of a body of these parts. What an earlier message joined of it is there
 * still. NULL: no memory. */
const uint8_t *rule_body_join(struct rule_body *body, const struct sl_app_part *parts,
                              uint32_t len);

void rule_body_free(struct rule_body *body);

#endif
