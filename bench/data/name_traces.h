/* SPDX-License-Identifier: MIT */
/* Traces of names, as those of the look-up paper (sections 4 and 5). */
#ifndef BENCH_NAME_TRACES_H
#define BENCH_NAME_TRACES_H

#include "bench_data.h"
#include "name_sets.h"

/* Batches of names from the table, each with a random path behind it: of all names, or of the
 * longest tenth. False: an error was printed. */
bool bench_names_trace(struct bench_data *data, const struct bench_names *names, bool heavy,
                       size_t n_batches, uint32_t n_items, bool pinned);

/* The same names interwoven by the host (section 4), in batches of the same names; *rate becomes
 * names a second of one core. False: an error was printed. */
bool bench_names_weave(struct bench_data *to, const struct bench_data *from, bool pinned,
                       double *rate);

#endif
