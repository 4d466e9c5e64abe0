/* SPDX-License-Identifier: MIT */
/* The naive algorithm (thesis, section 3.3): each literal is tried at each position, byte by byte
 * up to the first difference. Compiled by C and by nvcc. */
#ifndef NAIVE_CORE_H
#define NAIVE_CORE_H

#include "engines/mpm/mpm_table.h"

/* A table as trials need it: the block's literals, and no more. */
struct naive_view {
    const struct mpm_literal *literals;
    const uint8_t *bytes;
    uint32_t n_literals;
};

MPM_CORE struct naive_view naive_view(const struct sl_mpm_table *table)
{
    struct naive_view view;

    view.literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    view.bytes = (const uint8_t *)mpm_at(table, table->bytes);
    view.n_literals = table->n_literals;
    return view;
}

/* One position of a text. */
struct naive_start {
    const uint8_t *text; /* from the position on */
    uint32_t rest;       /* bytes of it */
    uint32_t pos;
    uint32_t overlap; /* matches that end here or before are not wanted */
};

MPM_CORE struct naive_start naive_start(const uint8_t *text, uint32_t len, uint32_t overlap,
                                        uint32_t pos)
{
    const struct naive_start start = {text + pos, len - pos, pos, overlap};

    return start;
}

/* Whether a literal matches at the position, and is wanted. */
MPM_CORE bool naive_matches(const struct naive_view *view, const struct mpm_literal *literal,
                            const struct naive_start *start)
{
    const uint8_t *given = view->bytes + literal->bytes;

    if (literal->len > start->rest || start->pos + literal->len <= start->overlap)
        return false;
    for (uint32_t i = 0; i < literal->len; i++) {
        const uint8_t a = given[i];
        const uint8_t b = start->text[i];

        if (a != b && (literal->exact || mpm_fold(a) != mpm_fold(b)))
            return false;
    }
    return true;
}

#endif
