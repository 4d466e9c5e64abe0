/* SPDX-License-Identifier: MIT */
/* Hits are put in order on the device. A core takes 10 to 30 ns to move one of a hundred thousand
 * hits to its place. A GPU is idle while the link carries the next batch. For .cu files. */
#ifndef DEVICE_CUDA_ORDER_H
#define DEVICE_CUDA_ORDER_H

#include <cuda_runtime.h>

#include "sluice/engine.h"

/* Fewer hits are sorted on a core. */
enum { CUDA_ORDER_MIN = 2048 };

/* An item with more hits has them together, in no order. */
enum { CUDA_ORDER_ITEM_MAX = 256 };

/* Of one batch; all 0 before it. */
struct cuda_places {
    uint32_t ticket;   /* of the blocks that count */
    uint32_t is_full;  /* not 0: an item has too many hits */
    uint32_t begin[1]; /* where each item's hits begin, and behind the last one where they end */
};

/* Batches have two places in turn: kernels of one batch clear the place of the batch before. */
struct cuda_order {
    struct cuda_places *d_places[2];
    uint32_t n_items[2];    /* of the last batch that had them */
    uint32_t which;         /* the last batch had */
    uint32_t *d_ranks;      /* of each hit among those of its item */
    struct sl_hit *d_moved; /* hits by item */
};

struct cuda_delivery;
struct cuda_found;

/* For lists of up to max_hits in batches within the limits. close accepts what open failed on, zero
 * before. */
enum sl_status cuda_order_open(struct cuda_order *order, const struct sl_limits *limits,
                               struct sl_diag *diag);
void cuda_order_close(struct cuda_order *order, const struct sl_limits *limits);

/* Launches the kernels that put the first max_hits hits in order of item, offset and id. All items
 * are below n_items. The last kernel delivers the hits, and whether all are in order. */
cudaError_t cuda_order_launch(struct cuda_order *order, const struct cuda_delivery *delivery,
                              const struct sl_limits *limits, uint32_t n_items,
                              uint32_t n_multiprocessors, cudaStream_t stream);

#endif
