/* SPDX-License-Identifier: MIT */
#include "rule_block.h"

#include <stdlib.h>
#include <string.h>

#include "detect/parse/rule_parse.h"

enum { SHARE = 64 /* rules of a thread, at least */ };

struct reader {
    struct rule_parser parser;
    struct sl_diag diag; /* nobody reads it: a rule that fails is read again in its order */
};

struct readers {
    struct rule_block *block;
    struct sl_rules *rules;
    struct reader *of_thread;
};

bool rule_block_add(struct rule_block *block, struct rule_text line, uint32_t number)
{
    struct rule_read *grown = rule_grow(block->rule, &block->cap, block->n, sizeof *grown);

    if (grown == NULL)
        return false;
    block->rule = grown;
    block->rule[block->n++] = (struct rule_read){.line = line, .number = number};
    return true;
}

static void read_rule(void *context, unsigned thread, size_t i)
{
    const struct readers *readers = context;
    struct rule_read *read = &readers->block->rule[i];
    struct rule_parser *parser = &readers->of_thread[thread].parser;
    struct rule_arena *arena = &readers->rules->of_thread[thread];
    const struct rule_mark mark = rule_arena_mark(arena);

    parser->rules = readers->rules;
    parser->arena = arena;
    parser->diag = &readers->of_thread[thread].diag;
    parser->helps = true;
    if (memchr(read->line.at, '\0', read->line.len) != NULL ||
        rule_parse(parser, read->line, &read->rule) != SL_OK) {
        rule_arena_release(arena, mark);
        read->rule = NULL;
    }
    read->class = parser->class;
}

void rule_block_read(struct rule_block *block, struct sl_rules *rules)
{
    struct readers readers = {.block = block, .rules = rules};

    if (rules->threads < 2 || block->n < 2 * SHARE)
        return;
    readers.of_thread = calloc(SPREAD_THREADS_MAX, sizeof *readers.of_thread);
    if (readers.of_thread == NULL)
        return;
    spread(rules->threads, block->n, SHARE, read_rule, &readers);
    for (unsigned i = 0; i < SPREAD_THREADS_MAX; i++)
        rule_parser_free(&readers.of_thread[i].parser);
    free(readers.of_thread);
}

void rule_block_free(struct rule_block *block)
{
    free(block->rule);
}
