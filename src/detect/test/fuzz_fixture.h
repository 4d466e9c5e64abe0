/* SPDX-License-Identifier: MIT */
/* For fuzzers: rules whose literals are all claimed to be there, evaluated on one packet of TCP. */
#ifndef DETECT_FUZZ_FIXTURE_H
#define DETECT_FUZZ_FIXTURE_H

#include <stdlib.h>

#include "dissect/test/frame_fixture.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"

struct fuzz_rules {
    struct sl_evaluator *evaluator;
    struct sl_hits hits;
};

/* Each line of text must be a rule. Hits are in the buffers SL_BUFFER_*; 0: in the packet. */
static inline void fuzz_open(struct fuzz_rules *to, const char *text, uint32_t buffers)
{
    const struct sl_literal *literals;
    struct sl_rules *rules;
    struct sl_rules_count count;
    size_t n_literals;

    if (sl_rules_create(&rules, NULL) != SL_OK ||
        sl_rules_load_text(rules, "fuzz", text, strlen(text), NULL) != SL_OK ||
        sl_rules_compile(rules, &literals, &n_literals, NULL) != SL_OK ||
        sl_evaluator_create(&to->evaluator, rules, NULL) != SL_OK)
        abort();
    sl_rules_count(rules, &count);
    if (count.loaded != count.lines)
        abort();
    to->hits.n = to->hits.cap = n_literals;
    to->hits.hit = calloc(n_literals + 1, sizeof *to->hits.hit);
    if (to->hits.hit == NULL)
        abort();
    for (size_t i = 0; i < n_literals; i++)
        to->hits.hit[i] = (struct sl_hit){0, 1, (uint64_t)buffers << 32 | i};
}

/* Evaluates the rules on a packet. Returns the number of its alerts, which are the evaluator's. The
 * batch is of that packet alone, so that a read behind the payload leaves it. */
static inline size_t fuzz_evaluate(struct fuzz_rules *rules, const void *payload, uint32_t len,
                                   const struct sl_alert **alerts)
{
    static struct frame f;
    struct sl_dissect_stats stats = {0};
    struct sl_batch *batch;
    size_t n;

    f.len = 0;
    frame_ethernet(&f, 0x0800);
    const uint32_t begin = frame_ipv4(&f, 6, 0);
    frame_tcp(&f, 1024, 80, 0x18, 0);
    frame_bytes(&f, payload, len);
    frame_end_ipv4(&f, begin);
    if (sl_batch_create(&batch, f.len, 1, NULL) != SL_OK)
        abort();
    const uint32_t item = sl_batch_add(batch, f.byte, f.len, 0);
    batch->origin[item].link_type = 1;
    batch->origin[item].wire_len = f.len;
    sl_dissect(batch, &stats);
    if (sl_evaluator_run(rules->evaluator, batch, &rules->hits, alerts, &n) != SL_OK)
        abort();
    sl_batch_free(batch);
    return n;
}

#endif
