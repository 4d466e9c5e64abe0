/* SPDX-License-Identifier: MIT */
/* The buffers of a packet beside its payload: the one place that knows where their bytes lie. */
#ifndef DETECT_EVALUATE_BUFFER_H
#define DETECT_EVALUATE_BUFFER_H

#include "evaluate_names.h"
#include "evaluate_view.h"
#include "rule_values.h"

/* The result of a buffer's transforms. */
struct rule_made {
    size_t at; /* in rule_buffers.made */
    uint32_t len;
    bool limited; /* they took too much effort, and say nothing */
};

/* A buffer behind its transforms: one, or, where it repeats, all names of the message. */
struct rule_derived {
    const struct transform_chain *chain;
    enum rule_buffer buffer; /* of names the first */
    size_t first;            /* in rule_buffers.result */
};

/* Zeroed at first; rule_buffers_free at last. It grows to the largest packet. */
struct rule_buffers {
    struct rule_names names; /* of the packet at hand, once a rule asks for them */
    bool has_names;
    bool no_memory;               /* once set it stays */
    struct rule_derived *derived; /* of the view at hand, each once a rule asks for it */
    size_t n_derived, cap_derived;
    struct rule_made *result;
    size_t n_results, cap_results;
    uint8_t *made; /* the bytes of results */
    size_t made_len, made_cap;
    struct transform_work transform;
    struct rule_scan scan;
    bool keeps_values;          /* of the view at hand */
    struct rule_values *values; /* kept by sections that ask sets of data */
};

/* Begins with another view of a packet. */
static inline void rule_buffers_begin(struct rule_buffers *buffers)
{
    buffers->has_names = buffers->keeps_values = false;
    buffers->n_derived = buffers->n_results = buffers->made_len = 0;
}

/* Whether the n steps, which are a section, are satisfied by one of the packet's buffers that the
 * section is about. A packet without one never satisfies them. Where the section asks sets of data,
 * all that satisfy the other steps are kept. */
bool rule_buffers_match(struct rule_buffers *buffers, const struct rule_view *view,
                        const struct rule_payload *steps, size_t n, struct rule_work *work);

void rule_buffers_free(struct rule_buffers *buffers);

#endif
