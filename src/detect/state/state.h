/* SPDX-License-Identifier: MIT */
#ifndef DETECT_STATE_H
#define DETECT_STATE_H

#include "detect/evaluate/rule_findings.h"

/* Settles each packet as the first of its flow, and concludes. */
void state_settle_alone(struct rule_findings *findings);

#endif
