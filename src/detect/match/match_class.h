/* SPDX-License-Identifier: MIT */
/* Classes of items, by what rules may ask of their packets. Most literals are wanted in one class
 * or two: those of values in no packet's own bytes, and few in bytes of either side. */
#ifndef DETECT_MATCH_CLASS_H
#define DETECT_MATCH_CLASS_H

#include "detect/compile/rule_compile.h"

enum match_class {
    MATCH_ANY,       /* items of no other class */
    MATCH_TO_CLIENT, /* packets of TCP from a server, or of no flow */
    MATCH_TO_SERVER, /* of TCP from a client */
    MATCH_UDP,
    MATCH_STREAM, /* made items with bytes of a stream */
    MATCH_BODY,   /* of a body */
    MATCH_HEAD,   /* values of HTTP for which there are few literals */
    MATCH_CLASSES
};

/* Bits of the classes in whose items the ends of runs suffice (sl_limits.run_ends): items of
 * streams alone have no text where an evaluator finds the hits between them. */
enum { MATCH_RUN_ENDS = (1 << MATCH_CLASSES) - 1 - (1 << MATCH_STREAM) };

/* Values of MATCH_HEAD. */
enum {
    MATCH_HEAD_BUFFERS = SL_BUFFER_HTTP_URI_RAW | SL_BUFFER_HTTP_HEADER |
                         SL_BUFFER_HTTP_HEADER_RAW | SL_BUFFER_HTTP_COOKIE | SL_BUFFER_HTTP_FIELD |
                         SL_BUFFER_HTTP_LINE
};

/* The class of an item of sl_batch_whole. */
enum match_class match_class_of(const struct sl_batch *batch, uint32_t item);

/* Writes the classes of the batch's items, made ones behind them, from `first` on: their kinds. */
void match_class_note(struct sl_batch *batch, uint32_t first);

/* Whether sl_rules_sift may leave a hit of the literal in an item of the class. */
bool match_class_wants(enum match_class class, const struct rule_wants *wants);

/* The same of all classes: bits of them. */
uint8_t match_classes_that_want(const struct rule_wants *wants);

#endif
