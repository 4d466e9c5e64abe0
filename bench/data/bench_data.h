/* SPDX-License-Identifier: MIT */
/* Data to run on, in batches: packets, payloads alone, pieces of files. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_input.h"
#include "sluice/batch.h"
#include "sluice/device.h"
#include "sluice/engine.h"

struct bench_data {
    struct sl_batch *batches; /* as engines see them; the memory is that of `owned` */
    size_t n_batches;
    struct sl_batch **owned;
    struct sl_stage *stage; /* of a batch that lies on the GPU, or NULL */
    uint64_t items, bytes;  /* bytes of packets, or of payload alone, without repeated bytes */
    uint64_t crossing;      /* bytes that cross to a GPU: arena and columns */
    bool is_partial;        /* a capture could not be read to its end; the reason was printed */
    char text[96];          /* of the rows */
};

/* Each of these fills a struct, which the caller unloads in any case. A zeroed struct can be
 * unloaded too. False: an error was printed. */

/* Dissected packets, at most about max_bytes. packets.c */
bool bench_load(struct bench_data *data, const struct bench_input *input, uint32_t batch_len,
                bool pinned, uint64_t max_bytes);

/* Payloads without their headers, or files in pieces that overlap by `overlap` bytes. payloads.c */
bool bench_load_payloads(struct bench_data *data, const struct bench_input *input,
                         uint16_t overlap);

/* The same packets in batches of another length. repack.c from here on */
bool bench_rebatch(struct bench_data *data, const struct bench_data *from, uint32_t batch_len,
                   bool pinned);

/* The items of `from`, n_times over, in batches of batch_len bytes, or in one where that is 0. */
bool bench_repack(struct bench_data *data, const struct bench_data *from, uint32_t batch_len,
                  bool pinned, uint32_t n_times);

/* Two halves: every second batch, or of a single batch the first and the second half of its items.
 * The other half is one batch. */
bool bench_split(struct bench_data *half, struct bench_data *other, const struct bench_data *from);

/* A batch of `from` on the GPU. */
bool bench_to_device(struct bench_data *data, const struct bench_data *from, size_t batch,
                     int device);

/* Items that a function makes. made_items.c */
struct bench_items {
    size_t n_batches;
    uint32_t n; /* a batch */
    uint32_t max_len;
    bool pinned;
    bool buckets;                                 /* each takes the room of the longest */
    uint32_t (*fill)(void *user, uint8_t *bytes); /* returns the length */
    void *user;
};

bool bench_fill(struct bench_data *data, const struct bench_items *items);

/* Returns the limits that contexts and stages need for any of its batches, without hits. */
struct sl_limits bench_limits(const struct bench_data *data, int device);

void bench_unload(struct bench_data *data);

#endif
