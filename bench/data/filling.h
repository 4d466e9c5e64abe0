/* SPDX-License-Identifier: MIT */
/* Filling data with items: a batch is made as it is needed. */
#ifndef BENCH_FILLING_H
#define BENCH_FILLING_H

#include "bench_data.h"

enum { PAYLOAD_BATCH = 1 << 20 /* bytes of payload: cores that share the work end together */ };

struct filling {
    struct bench_data *data;
    uint32_t batch_len, max_items;
    bool pinned;
};

struct filling filling_begin(struct bench_data *data, uint32_t batch_len, bool pinned);

/* Begins the next batch. False: an error was printed. */
bool filling_add_batch(const struct filling *to);

/* Returns the batch that takes an item of len bytes next. NULL: an error was printed. */
struct sl_batch *filling_batch(const struct filling *to, uint32_t len);

/* Adds an item. False: an error was printed. */
bool filling_add(const struct filling *to, const uint8_t *bytes, uint32_t len, uint16_t overlap);

/* Ends filling: engines see the batches, without headers unless they hold packets. False: an error
 * was printed. */
bool filling_end(const struct filling *to, bool packets);

/* Adds a batch to the counts of data. */
void data_count_batch(struct bench_data *data, const struct sl_batch *batch);

/* Writes the text of the rows: bytes, and bytes of an item, as "packet". */
void data_describe(struct bench_data *data, bool generated, const char *item);

/* Returns false where enough was read; else *batch is the one to read into. */
typedef bool next_batch(void *user, struct sl_batch **batch);

/* Reads captures one after another. False: one could not be read to its end, and the reason was
 * printed; packets before it and the other captures were read. packets.c */
bool read_captures(const struct bench_input *input, next_batch *next, void *user);

#endif
