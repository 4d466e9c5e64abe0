/* SPDX-License-Identifier: MIT */
/* Names for tables, as those of the look-up paper (section 5). */
#ifndef BENCH_NAME_SETS_H
#define BENCH_NAME_SETS_H

#include "bench_input.h"
#include "sluice/fib.h"
#include "sluice/names.h"

enum { NAME_SETS_SEED = 20130401 };

struct bench_names {
    struct sl_fib_entry *entries; /* in random order */
    size_t n;
    uint8_t *bytes; /* of all names */
    size_t bytes_len, bytes_cap;
    size_t n_read; /* of them from a file */
    char text[96];
};

/* n names: of the file, then others recombined from its labels; generated where no file was named.
 * All names but those that the file repeats are different. Next hops are 1 to 251, by hash. The
 * caller frees them in any case. False: an error was printed. */
bool bench_names_load(struct bench_names *names, const struct bench_input *input, size_t n);
void bench_names_free(struct bench_names *names);

/* Writes a random label, at most 16 bytes; returns its length. */
size_t bench_random_label(char *label, uint64_t *seed);

/* The names as routes to their next hops, built; for sl_names_free. NULL: an error was printed. */
struct sl_names *bench_names_table(const struct bench_names *from);

#endif
