/* SPDX-License-Identifier: MIT */
/* Answers as lines of tab-separated values or JSON. */
#ifndef NAMES_NAMES_LINES_H
#define NAMES_NAMES_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/names.h"

enum {
    NAMES_LINES_LEN = 2 << 20
}; /* bytes: of a block of names as a rule, with all that it reports */

/* An action and its values as columns, which many answers share. */
struct names_tail {
    uint32_t values; /* as in struct sl_names_answer */
    uint32_t len;    /* 0: none is kept here */
    char text[56];
};

enum { NAMES_TAILS = 512 }; /* a power of two */

/* Lines on their way to their end. Zeroed at first. */
struct names_lines {
    const struct sl_names *names;
    bool json, explain;
    void (*drain)(void *user, const char *bytes, size_t len);
    void *user;
    uint64_t n_missing; /* answers that no rule applies, or that the text is no name */
    struct names_tail tail[NAMES_TAILS]; /* at the last bits of its values */
    size_t len;                          /* bytes that wait in `bytes` */
    char bytes[NAMES_LINES_LEN];
};

/* Writes a line for each result, and drains the lines where they are many. `heads` are those of
 * names_texts_heads. */
void names_lines_put(struct names_lines *out, const struct sl_names_result *results,
                     const uint64_t *heads, uint32_t n);

/* Drains the lines that wait. */
void names_lines_end(struct names_lines *out);

#endif
