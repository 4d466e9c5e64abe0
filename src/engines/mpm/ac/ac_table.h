/* SPDX-License-Identifier: MIT */
/* The Aho-Corasick automaton in a flat block.
 *
 * States 0 to n_rows - 1 are the first of the trie in breadth-first order. Each has a row of 256
 * next states, 16 bits each. A row leads to the longest suffix that has a row itself. So rows alone
 * are the automaton of the truncated trie. Its state is always the longest suffix, among those with
 * a row, of the whole automaton's state. All other transitions are exceptions: state s has those
 * whose target has no row.
 *
 * States are numbered anew so that one compare finds those that need more. Below n_plain a state
 * reports nothing and has no exceptions; from n_plain on it has a record. Compiled by C and by
 * nvcc. */
#ifndef AC_TABLE_H
#define AC_TABLE_H

#include "engines/mpm/mpm_table.h"

enum {
    AC_ROWS_MAX = 65536, /* all that 16 bits name: 32 MiB */
    AC_ROW_SHIFT = 8
};

/* A set of folded bytes with the transitions that are exceptions from a row. 48 bytes. */
struct ac_record {
    uint64_t exception[4]; /* bit b: byte b is an exception */
    uint8_t rank[4];       /* exceptions in the words before */
    uint32_t first;        /* its exceptions' targets begin here, in order of bytes */
    uint32_t row;    /* for all other bytes: the state itself or its longest suffix with a row */
    uint32_t report; /* group of literals that ends here, MPM_NONE: nothing ends here */
};

/* The report of a state that ends a group: its literals, then those of the next shorter group that
 * is a suffix (the output function). */
struct ac_output {
    uint32_t literal; /* first of the group */
    uint32_t end;     /* behind its last */
    uint32_t suffix;  /* group, or MPM_NONE */
};

/* The body of the block; offsets are bytes from its first byte. */
struct ac_table {
    uint32_t n_rows;
    uint32_t n_plain;
    uint32_t n_targets;
    uint32_t n_states;
    uint32_t n_groups;
    uint32_t pad;
    uint64_t rows;    /* uint16_t [n_rows][256] */
    uint64_t records; /* struct ac_record [n_states - n_plain] */
    uint64_t targets; /* uint32_t [n_targets]: exceptions of all records */
    uint64_t outputs; /* struct ac_output [n_groups] */
    uint64_t depths;  /* uint16_t [n_states]: the bytes of the prefix that a state stands for */
};

/* The same as pointers. */
struct ac_view {
    const uint16_t *rows;
    const struct ac_record *records;
    const uint32_t *targets;
    const struct ac_output *outputs;
    const uint16_t *depths;
    const struct mpm_literal *literals;
    const uint8_t *bytes; /* of the literals */
    uint32_t n_plain;
};

/* Of the automaton that lies `at` bytes behind the first of a table's body. */
MPM_CORE struct ac_view ac_view_at(const struct sl_mpm_table *table, uint64_t at)
{
    const struct ac_table *body = (const struct ac_table *)mpm_at(table, table->body + at);
    struct ac_view view;

    view.rows = (const uint16_t *)mpm_at(body, body->rows);
    view.records = (const struct ac_record *)mpm_at(body, body->records);
    view.targets = (const uint32_t *)mpm_at(body, body->targets);
    view.outputs = (const struct ac_output *)mpm_at(body, body->outputs);
    view.depths = (const uint16_t *)mpm_at(body, body->depths);
    view.literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    view.bytes = (const uint8_t *)mpm_at(table, table->bytes);
    view.n_plain = body->n_plain;
    return view;
}

MPM_CORE struct ac_view ac_view(const struct sl_mpm_table *table)
{
    return ac_view_at(table, 0);
}

MPM_CORE bool ac_has_exception(const struct ac_record *record, uint8_t folded)
{
    return (record->exception[folded / 64] >> folded % 64 & 1) != 0;
}

/* The place of an exception's target among the record's. */
MPM_CORE uint32_t ac_exception(const struct ac_record *record, uint8_t folded)
{
    const uint64_t mask = (UINT64_C(1) << folded % 64) - 1;
    const uint64_t before = record->exception[folded / 64] & mask;
    const uint32_t index = record->first + record->rank[folded / 64];

#ifdef __CUDA_ARCH__
    return index + (uint32_t)__popcll(before);
#else
    /* Most states have one exception; counting bits is a call where the CPU is not known to do it.
     */
    return before == 0 ? index : index + (uint32_t)__builtin_popcountll(before);
#endif
}

#endif
