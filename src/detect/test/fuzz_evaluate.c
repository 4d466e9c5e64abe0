/* SPDX-License-Identifier: MIT */
/* Any bytes as the payload of packets, on rules with each option that reads them. */
#include <stdlib.h>
#include <string.h>

#include "dissect/test/frame_fixture.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RULE(options, sid) "alert tcp any any -> any any (" options " sid:" #sid ";)\n"

static const char text[] = RULE(
    "content:\"a\"; distance:-9; within:10; content:!\"b\"; within:3; isdataat:!3,relative;",
    1) RULE("content:\"a\"; byte_test:8,>,9,-4,relative,little; byte_test:1,!&,2,0;",
            2) RULE("content:\"a\"; byte_test:23,<,99,0,relative,string; "
                    "byte_test:3,=,7,1,string,oct;",
                    3) RULE("content:\"a\"; byte_jump:4,-2,relative,multiplier 65535,align; "
                            "content:\"b\"; within:9;",
                            4)
    RULE("byte_jump:2,0,from_end,post_offset -9,bitmask 0xff0; byte_jump:0,0,from_beginning;",
         5) RULE("service:x; byte_jump:10,1,relative,string,hex; byte_jump:1,0,relative,from_end;",
                 6) RULE("content:\"a\"; byte_extract:1,0,n,relative; content:\"b\"; distance:n; "
                         "within:n;",
                         7) RULE("content:\"a\"; byte_extract:8,0,n,relative,multiplier 9,align 4; "
                                 "byte_test:n,>,n,n;",
                                 8)
        RULE("content:\"a\"; byte_math:bytes 4,offset -3,oper *,rvalue 99999,result n,relative; "
             "content:\"b\"; offset:n; depth:n; byte_jump:n,n,relative; isdataat:n,relative;",
             9) RULE("service:x; content:\"a\"; byte_math:bytes 2,offset 0,oper -,rvalue "
                     "300,result n,relative; "
                     "byte_math:bytes 1,offset n,oper <<,rvalue n,result m,relative; "
                     "content:\"b\"; distance:m;",
                     10) RULE("byte_extract:2,0,n; byte_math:bytes 2,offset 2,oper /,rvalue "
                              "n,result m; isdataat:!m;",
                              11) RULE("pcre:\"/(a+)+b|(?<=c)d?/\"; content:\"a\"; within:2;", 12)
            RULE("content:\"a\"; pcre:\"/^[ab]*?c\\K./Rs\"; byte_test:1,>,9,0,relative;", 13) RULE(
                "content:\"a\"; pcre:!\"/\\bb|(?<!a)c/R\"; pcre:\"/$/RE\"; isdataat:!1,relative;",
                14) RULE("pcre:\"/(?:a|aa)*x/Ri\"; pcre:!\"/b.b.b/A\"; pcre:\"/(a(?1)?b)/\";", 15)
                RULE("content:\"a\"; base64_decode:bytes 9,offset 1,relative; base64_data; "
                     "content:\"b\"; byte_jump:1,0,relative; pcre:\"/a|$/R\";",
                     16) RULE("service:x; content:\"a\"; base64_decode:relative; base64_data; "
                              "byte_extract:1,0,n; isdataat:!n;",
                              17);

/* The rules, with each literal claimed to be there. */
static void open_rules(struct sl_evaluator **evaluator, struct sl_hits *hits)
{
    const struct sl_literal *literals;
    struct sl_rules *rules;
    struct sl_rules_count count;
    size_t n_literals;

    if (sl_rules_create(&rules, NULL) != SL_OK ||
        sl_rules_load_text(rules, "fuzz", text, sizeof text - 1, NULL) != SL_OK ||
        sl_rules_compile(rules, &literals, &n_literals, NULL) != SL_OK ||
        sl_evaluator_create(evaluator, rules, NULL) != SL_OK)
        abort();
    sl_rules_count(rules, &count);
    if (count.loaded != count.lines)
        abort();
    hits->n = hits->cap = n_literals;
    hits->hit = calloc(n_literals + 1, sizeof *hits->hit);
    for (size_t i = 0; i < n_literals; i++)
        hits->hit[i] = (struct sl_hit){0, 1, i};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sl_evaluator *evaluator;
    static struct sl_hits hits;
    static struct frame f;
    const size_t len = size < 1400 ? size : 1400;
    struct sl_dissect_stats stats = {0};
    const struct sl_alert *alerts;
    struct sl_batch *batch;
    size_t n;

    if (evaluator == NULL)
        open_rules(&evaluator, &hits);
    /* A batch of its own, so that a read behind the payload leaves it. */
    f.len = 0;
    frame_ethernet(&f, 0x0800);
    const uint32_t begin = frame_ipv4(&f, 6, 0);
    frame_tcp(&f, 1024, 80, 0x18, 0);
    frame_bytes(&f, (const char *)data, (uint32_t)len);
    frame_end_ipv4(&f, begin);
    if (sl_batch_create(&batch, f.len, 1, NULL) != SL_OK)
        abort();
    const uint32_t item = sl_batch_add(batch, f.byte, f.len, 0);
    batch->origin[item].link_type = 1;
    batch->origin[item].wire_len = f.len;
    sl_dissect(batch, &stats);
    if (sl_evaluator_run(evaluator, batch, &hits, &alerts, &n) != SL_OK)
        abort();
    sl_batch_free(batch);
    return 0;
}
