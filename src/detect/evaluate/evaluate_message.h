/* SPDX-License-Identifier: MIT */
/* A message of a flow as rules see it. */
#ifndef DETECT_EVALUATE_MESSAGE_H
#define DETECT_EVALUATE_MESSAGE_H

#include "detect/rule.h"
#include "evaluate_view.h"

/* The rules that are evaluated on the message: one of RULE_SEES_MESSAGES; 0: none are. */
uint16_t rule_message_sees(const struct sl_app_message *message);

/* Turns the view of the message's packet into one of the message, as its side sends it. */
void rule_view_message(const struct sl_app_message *message, uint16_t sees, struct rule_view *view);

/* The i-th value of a buffer. False: the message does not have it. */
bool rule_message_value(const struct rule_view *view, enum rule_buffer buffer, size_t i,
                        struct sl_app_value *value);

/* The first value, if it has `len` bytes; those are there, while others need not be. */
bool rule_message_opening(const struct rule_view *view, enum rule_buffer buffer, uint32_t len,
                          struct sl_app_value *value);

/* The first value, up to `most` bytes of it. */
bool rule_message_begin(const struct rule_view *view, enum rule_buffer buffer, uint32_t most,
                        struct sl_app_value *value);

/* Whether more of the buffer is to come. */
bool rule_message_goes_on(const struct rule_view *view, enum rule_buffer buffer);

/* Whether the message could have the buffer, and no later one has it. */
bool rule_message_lacks(const struct rule_view *view, enum rule_buffer buffer);

#endif
