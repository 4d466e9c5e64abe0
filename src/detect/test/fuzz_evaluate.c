/* SPDX-License-Identifier: MIT */
/* Any bytes as the payload of packets, on rules with each option that reads them. */
#include "fuzz_fixture.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_rules rules;
    const struct sl_alert *alerts;

    if (rules.evaluator == NULL)
        fuzz_open(&rules, text, 0);
    (void)fuzz_evaluate(&rules, data, size < 1400 ? (uint32_t)size : 1400, &alerts);
    return 0;
}
