/* SPDX-License-Identifier: MIT */
/* A chain of transforms, which the first bytes choose, on the rest of the bytes. */
#include <stdlib.h>
#include <string.h>

#include "detect/expression.h"
#include "detect/rule.h"
#include "detect/transform/transform.h"
#include "sluice/detect.h"

enum { N_EXPRESSIONS = 6, EFFORT = 40000 };

/* Each has a group: long, empty, optional, costly, at an end, and of any bytes. */
static struct rule_expression *expressions[N_EXPRESSIONS];
static struct rule_matcher *matcher;
static struct sl_rules *rules;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const texts[N_EXPRESSIONS] = {"(\\w+)\\W",       "a()b", "A(B)?",
                                                     "((?:a|aa)+)[xy]", "(.)$", "\\x00([^\\n]*)"};
    struct sl_diag diag;
    char reason[128];
    size_t at;

    (void)argc;
    (void)argv;
    if (sl_rules_create(&rules, &diag) != SL_OK || (matcher = rule_matcher_create()) == NULL)
        abort();
    for (int i = 0; i < N_EXPRESSIONS; i++)
        if (rule_expression_read(rules, texts[i], strlen(texts[i]), RULE_CAPTURES, &expressions[i],
                                 reason, sizeof reason, &at) != SL_OK ||
            !rule_expression_make_fast(&rules->shared, expressions[i]))
            abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct transform_work work;
    struct transform_chain chain = {.n = 0};

    if (size < 4 || size > 65536)
        return 0;
    for (chain.n = 0; chain.n < 1u + data[0] % 3; chain.n++)
        chain.step[chain.n] = (struct transform){
            .kind = (enum transform_kind)(data[1 + chain.n] % (TRANSFORM_CAPTURE + 1)),
            .mode = (enum base64_mode)(data[0] / 4 % 3),
            .offset = data[0] / 12,
            .len = 1 + data[0] / 128, /* of what is unpacked, too */
            .key = data,
            .expression = expressions[data[0] % N_EXPRESSIONS],
        };
    work.matcher = matcher;
    work.effort = EFFORT;
    work.limited = false;

    uint32_t len = (uint32_t)size;
    const uint32_t room = transform_chain_room(&chain, len);
    uint8_t *bytes = malloc(room);

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    if (!transform_chain_apply(&chain, &work, bytes, &len) || len > room)
        abort();
    free(bytes);
    return 0;
}
