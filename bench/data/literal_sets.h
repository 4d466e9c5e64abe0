/* SPDX-License-Identifier: MIT */
/* Literals to find, of files, of rules, or generated. */
#ifndef BENCH_LITERAL_SETS_H
#define BENCH_LITERAL_SETS_H

#include "bench_input.h"
#include "literal_file.h"

struct bench_literals {
    const struct sl_literal *literal;
    size_t n;
    struct literal_files files;
    struct sl_rules *rules;
    struct sl_literal *generated;
    uint8_t *bytes; /* of the generated ones */
};

/* Those of the files named, or n_generated. The caller frees them in any case. False: an error was
 * printed. */
bool bench_literals_load(struct bench_literals *literals, const struct bench_input *input,
                         size_t n_generated);
void bench_literals_free(struct bench_literals *literals);

/* n signatures of viruses that do not exist: 8 to 32 random bytes each. The caller frees them in
 * any case. False: an error was printed. */
bool bench_viruses_make(struct bench_literals *viruses, size_t n);

#endif
