/* SPDX-License-Identifier: MIT */
/* A byte of options, an expression up to a byte 0, and a text: the products of the expression
 * against PCRE2. */
#include "automaton_judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 1 ? memchr(data + 1, 0, size - 1) : NULL;
    const uint32_t known = RULE_CASELESS | RULE_MULTILINE | RULE_DOTALL | RULE_EXTENDED |
                           RULE_DOLLAR_ENDONLY | RULE_UNGREEDY;
    struct judge judge;

    if (end == NULL)
        return 0;

    const size_t len = (size_t)(data + size - end - 1);
    if (!judge_open(&judge, (const char *)data + 1, (size_t)(end - data - 1), data[0] & known))
        return 0;
    if (judge_try(&judge, end + 1, (uint32_t)(len < JUDGED_MAX ? len : JUDGED_MAX - 1)) != 0)
        abort();
    judge_close(&judge);
    return 0;
}
