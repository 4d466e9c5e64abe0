/* SPDX-License-Identifier: MIT */
/* Names for tables, and traces of names, as the paper's (section 5). */
#ifndef CLI_BENCH_NAMES_H
#define CLI_BENCH_NAMES_H

#include "bench/engines/bench.h"
#include "sluice/fib.h"
#include "sluice/names.h"

struct bench_names {
    struct sl_fib_entry *entries; /* in random order */
    size_t n;
    uint8_t *bytes; /* of all names */
    size_t bytes_len, bytes_cap;
    size_t n_read; /* of them as a file had them */
    char text[96];
};

/* n names: of the file that was named, then others recombined from their labels; generated where
 * none was. All that the file did not have twice are different. Next hops are 1 to 251, by hash.
 * False: said. To be freed in any case. */
bool bench_names_load(struct bench_names *names, const struct bench *bench, size_t n);
void bench_names_free(struct bench_names *names);

/* The names as routes to their next hops, built. NULL: said. To be freed with sl_names_free. */
struct sl_names *bench_names_table(const struct bench_names *from);

/* Batches of names from the table, each with a random path behind it: of all, or of the longest
 * tenth. */
bool bench_names_trace(struct bench_data *data, const struct bench_names *names, bool heavy,
                       size_t n_batches, uint32_t n_items, bool pinned);

/* The same names interwoven by the host (section 4), in batches of the same names; *rate becomes
 * names a second that one core does so. False: said. */
bool bench_names_weave(struct bench_data *to, const struct bench_data *from, bool pinned,
                       double *rate);

#endif
